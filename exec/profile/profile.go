// Package profile holds what a query cost, operator by operator: the values behind EXPLAIN ANALYZE. Every backend
// fills the same records.
package profile

import "time"

// Operator is the cost of one operator of one pipeline, summed over its workers.
type Operator struct {
	Name    string
	RowsIn  int64 // Uncounted where nobody counted
	RowsOut int64 // of an aggregation: its groups
	Batches int64
	// CPU is the time that workers spent in the operator itself, without those after it; of a sink also the time that it
	// took, by the clock, to finish. Decoding a column counts for the operator before the first that reads it.
	CPU    time.Duration
	Memory int64 // bytes that a sink holds when it is finished
	Bytes  int64 // encoded bytes of the columns that a scan reads
	// Note says what the executor chose itself: the form of an aggregation's groups. Empty: there was nothing to choose.
	Note string
	// Fused says that the operator is part of a kernel and was not measured.
	Fused bool
}

// Uncounted is in the place of a number of rows that was not counted.
const Uncounted = -1

// Pipeline is the cost of one pipeline: its source, transforms and sink in this order.
type Pipeline struct {
	ID        int
	Workers   int
	Morsels   int
	Wall      time.Duration
	Finish    time.Duration // part of Wall after the last row: building tables, merging, sorting
	Operators []Operator
	GPU       *GPU // nil: it ran on the CPU
}

// GPU is what a pipeline cost on a GPU.
type GPU struct {
	Kernel   time.Duration // on the device
	Fill     time.Duration // on the device before: its sink's memory gets its first state
	Launches int
	Bytes    int64         // of table columns that were scanned
	ReadRate float64       // bytes of its memory that the device can read in a second; 0: that is not known
	BusRate  float64       // bytes that the device copies from the host in a second, of a table that was read in windows; 0: that is not known
	Compile  time.Duration // 0 if the kernel was found in a cache
	Cache    string        // where it was found: "memory", "disk", "compiled"
	Uploaded int64         // bytes of table columns that were not on the device yet
	Windows  int           // in which a table was read that is larger than the memory for its columns; 0: all at once
	Held     int64         // bytes of the device's memory that the query held at the most until then, table columns apart

	// Of a query on several GPUs, where the sums above are those of all, and times the longest ones.
	Places   []Place   // each GPU that ran the pipeline
	Exchange *Exchange // how the pipeline's rows were moved afterwards; nil: they stayed
}

// Place is what a pipeline cost on one of several GPUs.
type Place struct {
	Device  string
	Rows    int64         // into the sink; Uncounted where nobody counted
	Kernel  time.Duration // on the device, memory that gets its first state included
	Idle    time.Duration // how much longer the slowest one took
	Bytes   int64         // of table columns that were scanned
	In, Out int64         // bytes of rows that came from other GPUs afterwards, and that others got
}

// Exchange is a movement of stored rows between GPUs.
type Exchange struct {
	Kind     string
	Link     string        // what the bytes go over
	LinkRate float64       // bytes a second that one GPU copies from another; 0: that is not known
	Rows     int64         // those that stayed where they were included
	Took     time.Duration // by the clock
}

// Plan is the cost of a query.
type Plan struct {
	Pipelines  []Pipeline
	Wall       time.Duration
	PeakMemory int64
	Downloaded int64 // bytes that came from the GPU
	// Fallback says why the CPU ran what had been placed on the GPU; empty: it did not.
	Fallback string
}
