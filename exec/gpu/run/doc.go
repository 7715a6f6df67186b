// Package run executes programs on a device. It compiles their kernels, takes memory for what they read and write, launches them, and waits where the host
// depends on what they have counted, and runs them again where something was too small.
//
// A [Runner] is what queries share on one device, and is safe for concurrent use. [Runner.Start] makes a [Query] of a program, which serves one goroutine:
//
//	Query.RunPipeline   pipeline.go runs one pipeline, whose inputs have been run, or put in by Query.PutRows
//	  open.go                       memory for sinks, by estimates or by what came before (package sizes); it is larger in a second attempt
//	  launch.go                     launches, and their parameters
//	  wait.go                       what was counted, and what follows from it
//	  order.go                      the order of rows (package rowsort)
//	  radix.go, merge.go            the sides of joins in partitions, and of sorted ones
//	  stream.go                     scans that are read in windows; putoff.go: long runs of a probe's key, which several threads share
//	  meeting.go                    rows that move between the places of a query (places.go), of joins and by package exchange
//	Query.Rows          rows.go     what a sink holds, and how many rows; package results brings them to the host
//	Query.Close         query.go    frees everything; due whatever happened
//
// Query (query.go) consists of what knows how things are done and knows nothing of Query; each may use those above it:
//
//	control.Block  package control  errors, warnings and counters, which kernels write
//	load.Loader    package load  kernels
//	progress       progress.go   which pipelines have run, and which are pending; what they cost
//	sizes.Sizes    package sizes  how many rows came to sinks before
//	inputs         inputs.go     columns of tables, borrowed of package residency, dictionaries and constants
//	outputs        outputs.go    what pipelines have put into their sinks
//	control.Cancellation  package control  what ends with the query's context
//	measure.Clock  package measure  what EXPLAIN ANALYZE measures
//	moving         places.go     the places that share the query, and what of rows they show each other
//	launch         launch.go     the rows of the kernel that is about to be launched
//
// Packages below it know no query. outofcore chooses what is read in windows, devicemem allocates memory.
//
// Nothing here knows the CPU's executor: a pipeline that has no kernel is not run here.
package run
