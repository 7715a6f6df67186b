// Package program turns pipelines of a physical plan into a Program: CUDA kernels, and what their launches need. It is data. Neither a device nor a running
// query is known here; a Target says what kernels depend on.
//
//	New                 program.go               the forms of what is stored between pipelines, and kernels for each pipeline
//	writer.generate     write.go                 the text of one: source, transforms, sink, each written inside the one before
//	  scans             scan.go, scanrange.go    tiles of table rows, and filters by ranges of stored offsets
//	  joins             build.go, probe.go       dense arrays, bitmaps, hash chains, loops; keyfilter.go: filters in front of them
//	  groups            package groupby          one file for each way
//	  sorts, rows       sort.go, sink.go         comparing rows; appending them
//	  expressions       package codegen
//
// A kernel's parameters are keys, such as "address of column 3 of this scan" or "capacity of this sink" (package kernel). The runner resolves a key when it
// launches the kernel. How much memory a sink wants, how many rows a launch may have, and which kernels run after another, stand in the forms and in
// kernel.Kernel.
package program
