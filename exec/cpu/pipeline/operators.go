// Package pipeline is the contract between the operators of a pipeline: sources, steps, sinks, and where columns lie in a batch.
//
// The runner, package cpu, makes a Layout for each pipeline, opens a Reader of its Source for every worker, and puts Ops in front of the
// worker's LocalSink. A worker reads a morsel at a time and pushes batches down its chain; operators of different workers share nothing
// but the Source and the Sink.
package pipeline

import (
	"errors"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
)

// Source gives the morsels of a pipeline. Its methods other than Open are called before the workers start; Open may be called by several at once.
type Source interface {
	// Morsels returns the number of morsels.
	Morsels() int
	// Rows returns an upper bound of the rows that the source gives.
	Rows() int
	// Open returns a reader for one worker, which pushes what it reads into next.
	Open(w *task.Worker, next Op) (Reader, error)
}

// Reader reads morsels for one worker.
type Reader interface {
	// Read pushes all batches of a morsel. An error of a push ends it and is returned: schedule.ErrStop if no more rows are asked for.
	Read(morsel int) error
}

// Op is a step of a worker's chain.
type Op interface {
	// Push takes a batch of at least one selected row, which it may narrow and add columns to. The batch is the caller's again when Push returns,
	// with the memory of its vectors, which are read-only: who keeps values copies them.
	Push(b *column.Batch) error
}

// Sink collects the rows of the pipelines that end in it. Its memory is the query's and is given back with it.
type Sink interface {
	// Local returns the worker's part for a pipeline of the given layout. A worker keeps its part over the pipelines
	// that end in the sink. Workers may ask for their parts at once.
	Local(w *task.Worker, l *Layout) (LocalSink, error)
	// Finish is called once, when all pipelines that end in the sink have run.
	Finish() error
}

// Stored is a sink whose rows a pipeline can read.
type Stored interface {
	Sink
	// Relation returns the rows, once the sink is finished.
	Relation() *rowstore.Relation
}

// Describer is a sink that tells EXPLAIN ANALYZE more than rows went in.
type Describer interface {
	// Describe returns how many rows a finished sink holds, less than 0 if it is not known before they are read, and which form it has chosen for them.
	Describe() (rows int64, note string)
}

// LocalSink is a worker's part of a sink. Morsels are numbered over all pipelines of a query; a worker gets its own in ascending order.
type LocalSink interface {
	Op
	// Begin says that the rows of the morsel seq follow.
	Begin(seq int)
	// End says that the morsel is complete. It is not called after an error.
	End(seq int) error
}

// Sharer is a LocalSink whose results depend on which morsels it gets one after the other, whoever it belongs to. A worker's morsels come in shares then: runs of
// morsels that follow each other, which do not depend on the number of workers.
type Sharer interface {
	LocalSink
	// EndShare says that a share is complete.
	EndShare() error
}

// ErrFull is what a LocalSink's Push returns if the worker's part needs no more rows, whatever the other workers have. The worker ends then, the others do not.
var ErrFull = errors.New("pipeline: the worker's part of the sink is full")

// Morsel is the rows from .. to-1 of a source's group of rows.
type Morsel struct{ Group, From, To int }

// CutMorsels appends the morsels of size rows that make up the rows of a group.
func CutMorsels(dst []Morsel, group, rows, size int) []Morsel {
	for from := 0; from < rows; from += size {
		dst = append(dst, Morsel{group, from, min(from+size, rows)})
	}
	return dst
}
