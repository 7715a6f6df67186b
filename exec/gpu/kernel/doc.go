// Package kernel is what every writer of CUDA kernels needs: a Kernel that is being written, what its launch needs, and how rows lie between pipelines.
//
//	Kernel      kernel.go      the text, and the launch: threads, shared memory, rows, kernels that run after it
//	Pipelines   pipelines.go   what the kernels of one plan share; Target, what they depend on of the device
//	Outline     outline.go     what is decided of a pipeline before its kernel is written
//	Spans       spans.go       which row groups a scan has to read
//	Memory      memory.go      arrays and numbers that builds and groups need, by the keys of parameters
//	RowForm     rows.go        arrays of stored rows, and how kernels write and read them
//	Append      append.go      the sink that appends rows
//	loops       source.go      over the rows of a source
//	keys        words.go       of parameters, which the runner resolves at each launch; rangewords.go: those of filters by a range
//	Tuning      tuning.go      numbers that choose between ways which give the same result; units.go: sizes in whole units
//
// It is data and text: no device, no running query.
package kernel
