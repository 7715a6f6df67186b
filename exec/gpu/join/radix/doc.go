// Package radix writes the kernels of joins that have both sides in partitions of their keys. It knows no device and no running query.
//
//	Candidate  choose.go  which joins are partitioned
//	Join       join.go    keys and rows as they are packed, partitions, the table of one
//	texts      text.go    the sinks that partition, and the kernel that joins
//
// The pipelines of the build and of the probe end in packed rows, and a third kernel goes over pieces of work: rows of the probe's side of a partition, and as many rows of the build's side of
// it as a block's shared memory holds in a table (gpukernels/device/radix.cuh). The rest of the probe's pipeline and its sink stand in that kernel's loop over matches.
//
// A row has its key mixed by a bijection, so that different keys stay different, and the key itself follows from it.
package radix

// Name is what EXPLAIN calls such a join.
const Name = "radix partitions"
