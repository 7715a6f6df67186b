// Package radix writes the kernels of joins that have both sides in partitions of their keys. It knows no device and no running query.
//
//	Candidate  choose.go  which joins are partitioned
//	Join       join.go    what is decided of one: partitions, rows, the table of a partition
//	keys       keys.go    how keys become places, and places keys again
//	texts      text.go    the sinks that partition, and the loops of the kernel that joins
//	kinds      match.go   what becomes of a row, by the kind of join; the build's rows without a match
//
// The pipelines of the build and of the probe end in packed rows, and a third kernel goes over pieces of work: rows of the probe's side of a partition, and as many rows of the build's side of
// it as a block's shared memory holds in a table (gpukernels/device/radix.cuh). The rest of the probe's pipeline and its sink stand in that kernel's loop over matches.
//
// A row has its key mixed by a bijection, so that different keys stay different, and the key itself follows from it. Keys that do not pack into 64 bits are hashed, carried and compared.
package radix

// Name is what EXPLAIN calls such a join.
const Name = "radix partitions"
