// Package program turns pipelines of a physical plan into a Program: CUDA kernels, and what their launches need. It is data. Neither a device nor a running
// query is known here; a Target says what kernels depend on.
//
//	New                 new.go                   decides, then writes; nothing changes afterwards (program.go)
//	outliner            outline.go               what is decided of each pipeline (kernel.Outline): forms of values, how rows are stored (stored.go), which columns are used (columns.go)
//	writer.generate     generate.go, write.go    the text of one: source, transforms, sink, each written inside the one before
//	  scans             scanoutline.go, scan.go  tiles of table rows; scanrange.go: filters by ranges of stored offsets
//	  joins             package join             one file for each algorithm
//	  groups            package groupby          one file for each way
//	  sorts             package sort             one file for each step
//	  rows              package kernel           appending them
//	sinks               sinks.go, order.go       what each kind of sink does; how its rows are ordered
//	  expressions       package codegen
//
// A kernel's parameters are keys, such as "address of column 3 of this scan" or "capacity of this sink" (package kernel). The runner resolves a key when it
// launches the kernel. How much memory a sink wants, how many rows a launch may have, and which kernels run after another, stand in the forms and in
// kernel.Kernel.
package program
