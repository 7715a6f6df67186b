package schedule

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/physical"
)

// Run is one query's part on one device. Its methods are called one after another, those of a Step and Close perhaps by another goroutine than
// the others. For each pipeline these are: Put for what another device has stored, Begin, Step.Run.
//
// All pipelines that end in one sink run on one device, and so do a build and what probes it. Only the rows that a SinkScan reads cross over.
type Run interface {
	// Begin begins a pipeline whose dependencies have run: as far as the device can without handing over rows of the result. last says that no later pipeline ends
	// in its sink. An error ends the query.
	Begin(p *physical.Pipeline, last bool) (Step, error)
	// Put takes the rows of a sink that another device has filled, for p, which is the first here to read them.
	Put(p *physical.Pipeline, s physical.Sink, from Run) error
	// Rows hands over what a sink holds once its last pipeline has run, in its order. The batches have no selections and the columns of
	// physical.SinkColumns; they are the receiver's, and read-only. An error of give ends it and is returned.
	Rows(s physical.Sink, give func(*column.Batch) error) error
	// Close gives everything back. It is called once, when nothing of the query runs any more.
	Close()
}

// Step is a pipeline that has begun.
type Step interface {
	// IsSmall says of a pipeline that ends in the result that its rows are so few that all may be kept before the client reads the first.
	IsSmall() bool
	// Run brings the pipeline to its end, and finishes its sink if it is the last that ends there. Rows of the result go to Query.Out, ErrStop if the
	// client wants no more. Until it is called for a pipeline that ends in the result, the query can be run again by another backend.
	Run() error
}

// Opener begins a query on a device.
type Opener func(q *Query) (Run, error)
