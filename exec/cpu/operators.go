package cpu

import "github.com/radish-sql/radish/column"

// source gives the morsels of a pipeline. Its methods other than open are called before the workers start.
type source interface {
	morsels() int
	// rows returns an upper bound of the rows that the source gives.
	rows() int
	// open returns a reader for a worker that pushes into next.
	open(w *Worker, next op) (reader, error)
}

// reader reads morsels for one worker.
type reader interface {
	read(morsel int) error
}

// op is a step of a worker's chain. push takes a batch, of at least one selected row, which it may narrow and add columns
// to; the batch is the caller's again when push returns. Vectors in it are read-only.
type op interface {
	push(b *batch) error
}

// sink collects what pipelines end in.
type sink interface {
	// local returns the worker's part for a pipeline of the given layout. A worker keeps its part over the pipelines
	// that end in the sink.
	local(w *Worker, l *layout) (localSink, error)
	// finish is called once, when all pipelines that end in the sink have run.
	finish() error
}

// localSink is a worker's part of a sink.
type localSink interface {
	op
	begin(seq int)     // rows of the morsel seq follow
	end(seq int) error // the morsel is complete
}

// batch is what flows from one operator to the next.
type batch = column.Batch

// morsel is the rows from .. to-1 of a source's group of rows.
type morsel struct{ group, from, to int }

// cutMorsels appends the morsels of size rows that make up the rows of a group.
func cutMorsels(dst []morsel, group, rows, size int) []morsel {
	for from := 0; from < rows; from += size {
		dst = append(dst, morsel{group, from, min(from+size, rows)})
	}
	return dst
}
