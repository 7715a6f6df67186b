// Package cpu runs pipelines on the processor's cores.
//
// Package schedule asks for one pipeline after another (Open). Each runs on all workers: a worker takes a morsel (some vectors of a source), pushes it
// through a chain of operators of its own, and the chain ends in the worker's part of the sink. When the last morsel is done the parts are
// merged (Leis, Boncz, Kemper, Neumann 2014, "Morsel-driven parallelism"). Nothing is locked and no interface is called
// per row; vectors of 2,048 rows with selections flow (Boncz, Zukowski, Nes 2005).
//
// prepared.go makes a pipeline ready, running.go runs it, deal.go says which worker gets which morsels, and dispatch.go finds its source and its
// sink. The operators themselves lie in packages below this one, except for those that store nothing (transforms.go), rows that are only kept
// (materialize.go), the result (result.go) and recursion (recursion.go), whose rounds run pipelines again.
//
// Whatever order matters to (results, ties of a sort, float sums) follows from the numbers of morsels and from nothing
// that the scheduler does. So two runs of a query at one thread count give the same rows in the same order.
package cpu
