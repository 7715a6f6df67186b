// Package groupby writes the kernels that group rows. It knows no device and no running query.
//
// Form (form.go) says how an aggregation's groups lie: their shape, accumulators, arrays (settle.go). Feed says how a pipeline brings its rows there. Both are
// decided before any text is written (outline.go, which has the list of algorithms). Each algorithm has a file, which says when it applies, and writes the row, what stands in front of the loop
// over rows and what a block does behind it:
//
//	scalar.go          one group: registers, then warps, blocks and the device
//	shared.go          groups that fit a block's shared memory (sharedwords.go: the words of one); few of them lie there in copies
//	local.go           keys that are hashed, in a table of each block in front of the one in device memory
//	perfecthash.go     the same, with a perfect hash of keys that were seen before
//	partition.go       many groups: rows are partitioned first; partitionrow.go: those of frequent keys, and those of a partition;
//	                   partitiontables.go: a partition's groups, by an array or a perfect hash; hashed.go: by a search or by numbers
//	runs.go            rows that come in the order of a key
//
// sink.go writes the end of a pipeline, slots.go the search of a group's slot and what adds a row to it. sums.go has sums that are exact
// until they are rounded. read.go writes kernels that read groups. memory.go says what the runner needs to know: memory, and what follows from counts.
package groupby
