// Package radix writes the kernels of joins that have both sides in partitions of their keys, or sorted by them. It knows no device and no running query.
//
//	Candidate  choose.go  which joins are partitioned; cost.go: when it is worth it
//	Sorted     sorted.go  which joins are sorted, and what is decided of one
//	Join       join.go    what is decided of one in partitions: partitions, rows, the table of a partition
//	keys       keys.go    how keys become radix keys, and radix keys keys again
//	texts      text.go    the sinks that partition, and the loops of the kernel that joins
//	kinds      match.go   what becomes of a row, by the kind of join; the build's rows without a match
//	merge      merge.go   of sorted sides: the sinks, the loops over tiles and pairs, and what becomes of a row
//
// The pipelines of the build and of the probe end in packed rows, and a third kernel goes over pieces of work. A piece has rows of the probe's side of a partition, and as many rows of the build's side of
// it as a block's shared memory holds in a table (gpukernels/device/radix.cuh). The rest of the probe's pipeline and its sink stand in that kernel's loop over matches.
//
// Where sides are sorted, their pipelines append radix keys and values, which the library's radix sort brings into order; the third kernel goes over tiles of both sides in their common order
// (gpukernels/device/merge.cuh).
//
// In partitions, a row has its key mixed by a bijection, so that different keys stay different, and the key itself follows from it. Keys that do not pack into 64 bits are hashed, carried and compared. A radix key
// that is sorted is the packed key as it is.
package radix

// Name is what EXPLAIN calls a join in partitions, MergeName one whose sides are sorted.
const (
	Name      = "radix partitions"
	MergeName = "sort-merge"
)
