package distribute

import (
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/table"
)

// Spread is how the rows of a pipeline lie over the places.
type Spread uint8

// The spreads. A pipeline runs at place 0 if it is Single, else at every place.
const (
	// Single: place 0 alone runs the pipeline, over all rows.
	Single Spread = iota
	// Sliced: each place runs the pipeline over rows of its own: its Part of a scanned table, or what it has stored.
	Sliced
	// Replicated: each place runs the pipeline over all rows, and so has all that it gives.
	Replicated
	// Partitioned: as Sliced, and rows that agree in certain keys are at one place.
	Partitioned
)

func (s Spread) String() string {
	return [...]string{"single", "sliced", "replicated", "partitioned"}[s]
}

// Everywhere says whether every place runs a pipeline of this spread.
func (s Spread) Everywhere() bool { return s != Single }

// Choice is the spread of a pipeline, and why it is that one.
type Choice struct {
	Spread Spread
	Reason string
}

// ExchangeKind is where rows move.
type ExchangeKind uint8

// The kinds of exchanges.
const (
	// Gather: place 0 gets the rows of all places; the others have none.
	Gather ExchangeKind = iota
	// Broadcast: every place gets the rows of all places.
	Broadcast
	// Repartition: each place gets the rows whose keys it owns.
	Repartition
)

func (k ExchangeKind) String() string {
	return [...]string{"gather", "broadcast", "repartition"}[k]
}

// Exchange moves the rows of a sink, by the sink's kind:
//
//   - Of a Materialize: once all pipelines that end in it have run at their places. These places have disjoint rows: none is Replicated.
//   - Of a Build, a Repartition without Keys: the join itself moves the rows of the build and of its only probe, those with equal keys to
//     one place, by a function that nothing else follows. Rows that match nothing may be at any place.
//   - Of an Aggregate, without Keys as well: the aggregation itself moves them. Its only pipeline runs over a table's rows, of which those
//     of a group come to one place while they are grouped, by a function that nothing else follows.
type Exchange struct {
	Kind ExchangeKind
	// Keys of Repartition are columns of the sink. The owner of a row follows from their values in this order and from the number of places alone. So rows of two
	// sinks whose keys are equal one by one have one owner. NULL equals NULL here, and values that a join or a group takes for equal are equal (-0 and 0). The
	// keys have the same physical types and scales in both sinks.
	Keys   []expr.ColumnID
	Reason string
}

// Distributed is a plan for several places.
type Distributed struct {
	Plan      *physical.Plan
	Places    int
	Spread    map[*physical.Pipeline]Choice // of every pipeline
	Exchanges map[physical.Sink]Exchange    // of some Materialize sinks, Builds and Aggregates
	// Parts says, for scans in Sliced and Partitioned pipelines, what each place scans. Those of the build side of a join may overlap. Scans of other pipelines have all rows.
	Parts map[*physical.TableScan][]table.Slice
	// Origins are the sinks of the plan that was given, by the sinks that were made of them.
	Origins map[physical.Sink]physical.Sink
}
