// Package tablelab measures hash tables on a GPU. Queries do not use it. docs/internals/hashtables.md says what moves in them and what that costs at least.
//
//	Shape      shape.go      a table: widths of keys and values, how many slots are looked at together, by how many threads, and which follow
//	           text.go       the kernels of open addressing
//	           chain.go      those of chains, in device memory and in the shared memory of blocks
//	           partition.go  those that put rows in the order of their slots first
//	Data       data.go       keys, values and what to look up, with the totals that the tables must give
//	Lab        lab.go        data on a device, the check of what was found, and times
//	           open.go       runs of open addressing
//	           chained.go    runs of chains
//
// Go makes the data, and adds up what must be found while it does.
package tablelab
