package physical

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsontable"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Plan is an executable query. Lowering makes it and nothing changes it afterwards, so several statements may run it at once; a [Placement] says where
// its pipelines run. Pipelines are in an order in which each comes after those that it depends on; the last
// ends in a Result.
type Plan struct {
	Pipelines []*Pipeline
	Cols      []*expr.Column // the result's columns
	Names     []string
	// Ordered says that the result's order was asked for (ORDER BY), else any order will do.
	Ordered bool
	Logical logical.Node // the optimized plan, for EXPLAIN
}

// Pipeline is a source, transforms and a sink.
type Pipeline struct {
	ID         int
	Source     Source
	Transforms []Transform
	Sink       Sink
	Deps       []*Pipeline // pipelines that must have finished: those whose sinks are read here
	EstRows    float64     // estimated rows into the sink
}

// Source gives the rows of a pipeline.
type Source interface{ source() }

// TableScan reads a table version. Filters are conjuncts over Cols; the executor evaluates what it can on encoded data
// and skips row groups by their zone maps. RuntimeFilters come from builds that this pipeline depends on. Rows come in
// the table's order within a morsel.
type TableScan struct {
	Table          *table.Version
	Alias          string
	Cols           []*expr.Column
	Ordinals       []int // table column of each; logical.RowIDOrdinal for the row number
	Filters        []expr.Expr
	RuntimeFilters []RuntimeFilterUse
	EstRows        float64
}

// RuntimeFilterUse applies the filter of a finished build to a column of a scan.
type RuntimeFilterUse struct {
	Build *Build
	Key   int // which of the build's keys
	Col   expr.ColumnID
	Drops float64 // estimate: the share of the rows that the probe gets and whose value is not among the key's
}

// SinkScan reads what an earlier pipeline's sink stored: groups, sorted rows (in order), materialised rows.
type SinkScan struct {
	From Sink // *Aggregate, *Sort, *Window or *Materialize
	// Cols are given under these names; From's column for each.
	Cols []*expr.Column
	Ins  []expr.ColumnID
}

// UnmatchedScan reads the rows of a build that no probe matched: the right side of a full join. The left side's
// columns are NULL.
type UnmatchedScan struct {
	Build *Build
	Nulls []*expr.Column // columns of the probe side, all NULL here
}

// ValuesScan gives a few rows of constant expressions.
type ValuesScan struct {
	Cols  []*expr.Column
	Rows  [][]expr.Expr
	First int64 // as logical.Values.First
}

// Transform is a step that stores nothing.
type Transform interface{ transform() }

// Filter keeps rows for which all conditions are TRUE.
type Filter struct{ Preds []expr.Expr }

// Project adds computed columns; Keep lists the columns alive after it (the items' and those passed through).
type Project struct {
	Items []logical.Item
	Keep  []expr.ColumnID
}

// Probe looks up each row in a build, by Kind:
//
//   - InnerJoin: each matching pair; LeftJoin and FullJoin: each matching pair, and the row with NULLs if none.
//   - SemiJoin, AntiJoin: the row if there is a match, or none.
//   - MarkJoin: the row, and Mark: TRUE if some build row matches; else NULL if a comparison with some build row
//     (that passes Residual) gave NULL; else FALSE. Over an empty build Mark is FALSE even for a NULL key.
//   - SingleJoin: as LeftJoin; a second match is error 1242.
//
// Whatever the kind, a build with KeepUnmatched notes which of its rows matched.
//
// Two keys match if all their parts are equal and none is NULL, except parts marked in Build.NullSafe, where NULL equals NULL. A pair also
// has to satisfy Residual, conjuncts over both sides' columns. Without keys every pair is a candidate (nested loop).
type Probe struct {
	Kind     logical.JoinKind
	Build    *Build
	Keys     []expr.Expr // probe side, of the same physical types as Build.Keys
	Residual []expr.Expr
	Mark     *expr.Column
	// Keep lists the columns alive afterwards: of the probe side and of the build's payload.
	Keep    []expr.ColumnID
	EstRows float64
}

// Limit passes rows Offset .. Offset+Count-1, whichever come first, and then stops its pipeline.
type Limit struct{ Count, Offset int64 }

// Repeat gives each row as many times as Count, a BIGINT >= 0, says: INTERSECT ALL and EXCEPT ALL.
type Repeat struct {
	Count expr.Expr
	Keep  []expr.ColumnID
}

// Unnest gives each row once for every row that its document has by Table, in their order, with those rows' columns Cols: a document that is NULL has none. With
// Outer a row whose document has none comes once, with NULLs. A column that may fail is computed even if it is not among Cols.
type Unnest struct {
	Doc      expr.Expr // a string or JSON
	Table    *jsontable.Table
	Cols     []*expr.Column
	Ordinals []int // the column of Table that each is
	Outer    bool
	Keep     []expr.ColumnID
	EstRows  float64
}

// Sink is where a pipeline ends. Several pipelines may end in one sink (UNION ALL); it is ready when all have finished.
type Sink interface{ sink() }

// JoinAlgorithm is how a build is organised.
type JoinAlgorithm uint8

// The join algorithms. The planner chooses; Build.On says what becomes of its choice on a device.
const (
	HashJoin       JoinAlgorithm = iota
	DenseJoin                    // one integer key of known small range: a direct-address array
	NestedLoopJoin               // no equality: every pair
	RangeJoin                    // an inequality on a sort key, perhaps others in Residual: sorted build, binary search per probe row
)

func (a JoinAlgorithm) String() string {
	return [...]string{"hash", "dense", "nested loop", "binary search"}[a]
}

// Build stores rows for Probes to look up.
type Build struct {
	Algorithm JoinAlgorithm
	Reason    string
	Keys      []expr.Expr
	NullSafe  []bool // per key; nil: none
	// Payload are the columns that probes read. Without any (semi, anti and mark joins without residuals) only the
	// set of keys is kept.
	Payload []*expr.Column
	// Unique says that no two rows have equal keys: proven from keys or grouping, never guessed.
	Unique bool
	// DenseMin and DenseMax bound the key of a DenseJoin (inclusive; values outside do not occur).
	DenseMin, DenseMax int64
	// Searched says that a device sorts the rows of a NestedLoopJoin by their only key, an integer, and searches them: Build.On.
	Searched bool
	// Hashed says that a hint wants keys looked up by hash, whatever statistics say.
	Hashed bool
	// Sorted says that a hint wants both sides sorted by their keys and merged, where a device can do that.
	Sorted bool
	// KeepUnmatched says that an UnmatchedScan will ask for rows that found no match.
	KeepUnmatched bool
	// Range of a RangeJoin: the probe row p matches build rows b with RangeOp(p.Keys[0], b.Keys[0]), where Keys has one
	// element on each side. The condition itself stands in Residual too, so an executor may also test every pair.
	RangeOp expr.Op
	// Inequalities of a RangeJoin are what a GPU searches by: see FindInequalities.
	Inequalities []Inequality
	// MakeFilter says which keys a RuntimeFilterUse will ask for.
	MakeFilter []bool
	// FilterDrops is for each key the greatest Drops of its uses: what a filter is worth.
	FilterDrops []float64
	EstRows     float64
}

// AggAlgorithm is how groups are found.
type AggAlgorithm uint8

// The aggregation algorithms.
const (
	HashAggregate   AggAlgorithm = iota // thread-local hash tables, radix-partitioned merge
	DenseAggregate                      // keys of small known domains: an array indexed by the mixed-radix key
	ScalarAggregate                     // no keys: one row always
	StreamAggregate                     // input sorted by the key, an integer column: groups are runs
)

func (a AggAlgorithm) String() string {
	return [...]string{"hash", "dense", "scalar", "stream"}[a]
}

// Aggregate groups rows by Groups, NULLs being equal, and computes Aggs:
//
//   - COUNT counts rows or values that are not NULL; the others skip NULLs and give NULL over none.
//   - SUM and AVG of integers and decimals are exact (128 bits); overflow of the result type is error 1690.
//     SUM and AVG of floats give the same result in two runs at one thread count.
//   - Distinct aggregates see each value once per group.
type Aggregate struct {
	Algorithm AggAlgorithm
	Reason    string
	Groups    []logical.Item
	Aggs      []logical.AggItem
	Dense     []DenseDomain // of DenseAggregate, per group
	Bounds    []Bound       // per group, or nil: what its values lie between, where that is known
	EstGroups float64
	// Enough is how many groups a LIMIT asks for, whichever they are; 0: all are asked for. Executors may give more. There are no Aggs then.
	Enough int64
	// Hashed says that a hint wants groups found by hash, whatever is known of the keys.
	Hashed bool
	// Ranges says into how many ranges of a key the groups are divided, if it is more than 1. Each executor has one range. EstGroups are the
	// groups of one range; what is known of keys holds for those of all.
	Ranges int
}

// DenseDomain is the domain of a dense group key: integers Min..Max, or the codes of a column's dictionary; and NULL.
type DenseDomain struct {
	Min, Max     int64
	IsDictionary bool
	IsNullable   bool
}

// Bound says that the integers of a column lie within Min..Max, NULLs aside, if it is Known. Executors may pack keys by it,
// but have to notice a value outside.
type Bound struct {
	Min, Max int64
	Known    bool
}

// Sort stores its rows in order. NULLs come first ascending, last descending. The sort is not stable: ties come in any
// order, but the same in two runs at one thread count. With Count >= 0 only rows Offset ..
// Offset+Count-1 are kept (top-N).
type Sort struct {
	Keys          []logical.SortKey
	Cols          []*expr.Column // what is kept
	Count, Offset int64
}

// Window stores its rows partition by partition, each in order, and a column for every function beside them:
//
//   - A partition is the rows that agree in all of Partition, NULLs being equal. In it rows are ordered by Order, NULLs first
//     ascending and last descending; rows that agree in all of Order are peers. Peers come in any order, but the same in two
//     runs at one thread count, and the same for all functions.
//   - A framed function looks at the rows of its frame: see [logical.Frame]. A frame may be empty: then COUNT is 0, the BIT
//     functions give what they give over no rows, and all else is NULL. An offset in FrameRows and FrameGroups counts rows or groups
//     of peers; bounds beyond the partition are its ends. In FrameRange a bound with a Value begins at the first row whose Key does not
//     come before the Value in the order, or ends at the last whose Key does not come after; the frame of a row whose Key is NULL
//     begins or ends with its peers there.
//   - Aggregates are as in Aggregate: exact for integers and decimals, error 1690 where the result's type overflows. A sum of
//     doubles is that of its frame's values alone: what has left the frame leaves no error behind.
//   - LAG and LEAD count rows of the partition. NTILE(n) cuts it into n buckets of rows, the first ones larger by one.
//
// Every expression in it is a column or a constant, except for Key and Values of frames, which are columns.
type Window struct {
	Partition []expr.Expr
	Order     []logical.SortKey
	Items     []logical.WindowItem
	Cols      []*expr.Column // the input's columns that are kept
	// Top, if it is not 0, says that rows behind which RANK() is above it are of no use: a filter drops them. They may be left out
	// once the functions are computed.
	Top int64
}

// Materialize stores rows as they come: shared sub-plans, inputs of nested loops, unions.
type Materialize struct{ Cols []*expr.Column }

// Result hands rows to the client. In says which column of the pipeline each result column is (a column may stand twice).
type Result struct {
	In []expr.ColumnID
}

func (*TableScan) source()     {}
func (*SinkScan) source()      {}
func (*UnmatchedScan) source() {}
func (*ValuesScan) source()    {}

func (*Filter) transform()  {}
func (*Project) transform() {}
func (*Probe) transform()   {}
func (*Limit) transform()   {}
func (*Repeat) transform()  {}
func (*Unnest) transform()  {}

func (*Build) sink()       {}
func (*Aggregate) sink()   {}
func (*Sort) sink()        {}
func (*Window) sink()      {}
func (*Materialize) sink() {}
func (*Result) sink()      {}

// Types returns the types of the result's columns.
func (p *Plan) Types() []types.Type {
	out := make([]types.Type, len(p.Cols))
	for i, c := range p.Cols {
		out[i] = c.Typ
	}
	return out
}

// SinkColumns lists the columns of the rows that a SinkScan can read of a sink.
func SinkColumns(s Sink) []*expr.Column {
	switch s := s.(type) {
	case *Materialize:
		return s.Cols
	case *Sort:
		return s.Cols
	case *Recursion:
		return s.Cols
	case *Window:
		cols := slices.Clone(s.Cols)
		for _, it := range s.Items {
			cols = append(cols, it.Col)
		}
		return cols
	case *Aggregate:
		var cols []*expr.Column
		for _, it := range s.Groups {
			cols = append(cols, it.Col)
		}
		for _, it := range s.Aggs {
			cols = append(cols, it.Col)
		}
		return cols
	}
	return nil
}
