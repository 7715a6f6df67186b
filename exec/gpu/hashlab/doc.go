// Package hashlab measures hash functions of keys: on a GPU how fast they are, anywhere how well they spread. Queries do not use it. docs/internals/hashing.md says what it found.
//
//	Function   function.go  a hash function: for which keys it is, and what writes its program
//	           registry.go  all of them
//	           family.go    those that are made of an addition, a multiplication or an exclusive or for each 32 bits of a key; FNV-1a
//	           others.go    those of Radish's kernels and of its operators for the CPU, and published ones to compare with
//	Program    program.go   what a function computes of keys of one length: operations in a row, without branches
//	           evaluate.go  the program in Go, for many keys at once
//	           text.go      the program in CUDA C++, and the kernels that measure it
//	Keys       keys.go      sets of keys
//	Quality    quality.go   collisions, spread, neighbours, avalanche, partitions and slots
//	Lab        device.go    a function's kernels on a device: their hashes, compared with those of Go, and their times
//
// A function is described once, as a program. Go and a GPU therefore compute the same hashes.
package hashlab
