// Package partition writes the kernels' parts that bring rows together by bits of a number, their radix key: radix partitioning, for groups (package groupby) and joins
// (package join). The device code is gpukernels/device/partition.cuh.
//
//	Form       form.go    passes, bits and bytes of a row; what a pass takes of shared memory
//	passes     pass.go    what a pass declares, and the kernel that splits partitions again
//	Layout     layout.go  how values are packed into the words of a row, and read back
//	Sink       sink.go    the end of a pipeline that writes such rows
//
// A pass gives each partition a capacity. Its counters go on counting past that, so the host knows how large each partition must be. What becomes of a row without a slot is
// the user's business: groups add it up at once, a join runs the pass again.
package partition
