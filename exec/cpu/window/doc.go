// Package window is the sink of window functions: rows go in, and come out in order with the functions' values.
//
// New makes the sink (sink.go), which stores and sorts rows by means of package orderby. Finish finds partitions and peers, computes functions for blocks of
// rows on all threads (function.go, aggregate.go; frames: frame.go, those of values: compared.go; long frames: fold.go), and assembles the result (output.go).
package window
