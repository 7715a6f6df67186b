package kernel

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Outline is what is decided of a pipeline before its kernel is written. It does not change while the text is written.
type Outline struct {
	Pipelines *Pipelines
	Pipeline  *physical.Pipeline
	Forms     *codegen.Forms // of the columns that come to the sink

	MaxRows   float64 // a bound of the rows into the sink; Unbounded if none is known
	GivesMany bool    // a row of the source may give several
	Stops     bool    // it has loops that end when the query is cancelled
	Tiled     bool    // each thread takes its rows of a scan's tile in turn, to the sink
	// TilesRows says that stored rows come in tiles, too, of which each thread takes its rows in turn: they go to partitions.
	TilesRows bool
	Apart     bool // the sink stands in another kernel than the source, behind a join in partitions
	// Together says that a row's matches come one at a time, and those of a block's rows together: what GivesMany would have appended one by one is appended by block.
	Together bool
	// Hurried says that the kernel is to be compiled soon, or that few rows come: they get their numbers one by one, which is less code than a block's together.
	Hurried   bool
	Appends   bool // the sink numbers the rows that come
	Shorter   bool // the kernel would be compiled sooner if it were hurried: see program.Hurried
	ScanItems int  // rows that a thread takes at once of a table, which both the scan and the sink choose
	// SourceShared is the bytes of a block's shared memory that what stands in front of the sink takes.
	SourceShared int64
	// DefersTo is the probe whose long runs are put off, so that several threads come for each; nil: none are. A scan takes its rows one by one then, since a row may come again.
	DefersTo *physical.Probe

	Scan   fmt.Stringer   // how a table is scanned; nil: the source is none
	Probes []fmt.Stringer // how transforms look rows up, in their order
	Feed   fmt.Stringer   // how rows come to the sink
}

// NewOutline returns a pipeline's, of which nothing is decided yet.
func NewOutline(g *Pipelines, p *physical.Pipeline) *Outline {
	return &Outline{Pipelines: g, Pipeline: p, ScanItems: ThreadItems, Forms: codegen.NewForms(g.Ctx, g.Answers, codegen.Ranges{})}
}

// Decisions says what was decided, from the source to the sink. It names no literals and no estimates, which may differ between queries of one kernel.
func (o *Outline) Decisions() []string {
	var all []string
	if o.Scan != nil {
		all = append(all, o.Scan.String())
	}
	for _, p := range o.Probes {
		all = append(all, p.String())
	}
	if o.Stops {
		all = append(all, "loops: end when the query is cancelled")
	}
	if o.Feed != nil {
		all = append(all, o.Feed.String())
	}
	return all
}

// Stored decides how a value of the pipeline is stored as column at of its sink's rows.
func (o *Outline) Stored(f *RowForm, at int, id expr.ColumnID, e expr.Expr) error {
	v, err := o.Forms.Of(e)
	if err != nil {
		return err
	}
	return o.StoredForm(f, at, id, v)
}

// StoredForm is Stored of a value of a form.
func (o *Outline) StoredForm(f *RowForm, at int, id expr.ColumnID, v codegen.Form) error {
	v.Known = v.Known && !o.Pipelines.IsShared(o.Pipeline.Sink)
	return f.Add(at, id, v)
}

// Bind makes columns known that are stored as rows: cols[i] is column at[i]. missing says that there may be no row, so that all is NULL.
func (f *RowForm) Bind(to *codegen.Forms, at []int, cols []*expr.Column, missing bool) {
	for i, col := range cols {
		c := f.Cols[at[i]].Form
		c.IsNullable = c.IsNullable || missing
		to.Bind(col.ID, c, false)
	}
}

// SharedBytes is how many bytes of a block's shared memory the sink may take.
func (o *Outline) SharedBytes() int64 { return o.Pipelines.Target.SharedBytes - o.SourceShared }

// FromOrder says whether the source's rows have an order.
func (o *Outline) FromOrder() bool {
	scan, ok := o.Pipeline.Source.(*physical.SinkScan)
	if !ok {
		return false
	}
	switch scan.From.(type) {
	case *physical.Sort, *physical.Window:
		return true
	}
	return false
}

// InOrder says whether the sink has to keep the source's order: not one that other pipelines end in too, a union's.
func (o *Outline) InOrder() bool { return o.FromOrder() && !o.Pipelines.IsShared(o.Pipeline.Sink) }

// KeepsPositions says whether the rows that come to a transform are the source's, in order, so that their numbers there say how many came before.
func (o *Outline) KeepsPositions(t physical.Transform) bool {
	for _, before := range o.Pipeline.Transforms {
		if before == t {
			return o.FromOrder()
		}
		if p, ok := before.(*physical.Probe); ok && KeepsRows(p.Kind) && !Multiplies(p) {
			continue
		}
		if _, ok := before.(*physical.Project); !ok {
			return false
		}
	}
	return false
}

// Multiplies says whether a transform can give several rows for one.
func Multiplies(t physical.Transform) bool {
	switch t := t.(type) {
	case *physical.Repeat:
		return true
	case *physical.Probe:
		switch t.Kind {
		case logical.InnerJoin, logical.LeftJoin, logical.FullJoin:
			return !t.Build.Unique || t.Build.On(physical.GPU) == physical.NestedLoopJoin
		}
	}
	return false
}

// KeepsRows says whether a join gives each probe row exactly once if no row has several matches.
func KeepsRows(kind logical.JoinKind) bool {
	switch kind {
	case logical.LeftJoin, logical.FullJoin, logical.MarkJoin, logical.SingleJoin:
		return true
	}
	return false
}
