package program

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// end is what a GPU does with the rows that come to one kind of sink. A new kind takes a type below, and a case of endOf.
type end interface {
	// reads lists what the sink computes of a row: expressions, or columns that it stores.
	reads() []expr.Expr
	// keeps says whether the sink does no more with a row than keep it.
	keeps() bool
	// begin refuses what the GPU cannot do, before anything else is decided of the pipeline.
	begin(o *outliner) error
	// decide decides how rows are stored. What they consist of is known.
	decide(o *outliner) error
	// write returns what writes the end of the kernel.
	write(k *writer) kernel.Sink
	// order fills x with how the rows are brought into order once all of them are there. It returns false if they stay as they come.
	order(g *Program, x *Order) bool
}

// endOf returns what a GPU does with the rows that come to a pipeline's sink; nil: nothing.
func endOf(p *physical.Pipeline) end {
	switch s := p.Sink.(type) {
	case *physical.Aggregate:
		return groupEnd{s: s}
	case *physical.Build:
		return buildEnd{s: s}
	case *physical.Sort:
		return sortEnd{s: s}
	case *physical.Materialize:
		return storeEnd{p: p, title: "materialize"}
	case *physical.Result:
		return storeEnd{p: p, title: "result"}
	}
	return nil
}

// refusal says why a GPU does nothing with the rows that come to a pipeline's sink.
func refusal(p *physical.Pipeline) error {
	if _, ok := p.Sink.(*physical.Window); ok {
		return codegen.Refuse("window functions run on the CPU only")
	}
	return codegen.Refuse("%s runs on the CPU only", physical.SinkName(p, physical.GPU))
}

// Order returns the order of a sink's rows; nil if they stay as they come, or are not on the device.
func (g *Program) Order(s physical.Sink) *Order {
	feeders := g.Feeders[s]
	if len(feeders) == 0 || g.IsHost(s) {
		return nil
	}
	x := &Order{Expected: sort.Expected{Most: g.Bound(s), Tuning: g.Target.Tuning.Sort}}
	for _, p := range feeders {
		x.Rows += p.EstRows
	}
	x.Wanted = math.Inf(1)
	if end := endOf(feeders[0]); end == nil || !end.order(g, x) {
		return nil
	}
	return x
}

// appended is embedded by ends that store rows as they come.
type appended struct{}

func (appended) begin(*outliner) error       { return nil }
func (appended) order(*Program, *Order) bool { return false }

// groupEnd adds rows to their groups.
type groupEnd struct {
	appended
	s *physical.Aggregate
}

func (x groupEnd) reads() (all []expr.Expr) {
	for _, it := range x.s.Groups {
		all = append(all, it.Expr)
	}
	for _, it := range x.s.Aggs {
		all = append(all, it.Args...)
	}
	return all
}

func (groupEnd) keeps() bool                 { return false }
func (x groupEnd) begin(o *outliner) error   { return o.g.Aggs.Add(x.s) }
func (x groupEnd) decide(o *outliner) error  { return o.g.Aggs.Outline(o.Outline, x.s) }
func (groupEnd) write(k *writer) kernel.Sink { return groupby.NewSink(k.Kernel) }

// buildEnd fills the build side of a join.
type buildEnd struct {
	appended
	s *physical.Build
}

func (x buildEnd) reads() []expr.Expr { return append(columns(x.s.Payload), x.s.Keys...) }

func (buildEnd) keeps() bool { return false }

func (x buildEnd) decide(o *outliner) error {
	again, err := o.g.Builds.Outline(o.Outline, x.s, o.g.choices)
	o.again = o.again || again
	return err
}

func (x buildEnd) write(k *writer) kernel.Sink { return k.g.Builds.NewSink(k.Kernel, x.s) }

func (x buildEnd) order(g *Program, o *Order) bool {
	f := g.Builds[x.s]
	if f == nil {
		return false
	}
	key, other, ok := f.Order()
	if !ok {
		return false
	}
	o.Columns, o.At = []sort.Column{sort.ColumnOf(&g.Sinks[x.s].Cols[key].Form, false)}, []int{key}
	if other >= 0 {
		o.Then, o.ThenOf = f.Tree(), other
	}
	return true
}

// sortEnd stores rows and their keys, which are then brought into order.
type sortEnd struct {
	appended
	s *physical.Sort
}

func (x sortEnd) reads() []expr.Expr {
	all := columns(x.s.Cols)
	for _, key := range x.s.Keys {
		all = append(all, key.Expr)
	}
	return all
}

func (sortEnd) keeps() bool { return true }

func (x sortEnd) decide(o *outliner) error { return sort.Outline(o.Outline, x.s) }

func (x sortEnd) write(k *writer) kernel.Sink {
	values, _ := sort.Values(x.s)
	return kernel.NewAppend(k.Kernel, x.s, values, "rows to be sorted")
}

func (x sortEnd) order(g *Program, o *Order) bool {
	if !sort.IsHere(g.Pipelines, x.s) {
		return false
	}
	if x.s.Count >= 0 {
		o.Wanted = float64(x.s.Offset) + float64(x.s.Count)
	}
	o.Columns, o.At = sort.Shape(g.Pipelines, x.s)
	return true
}

// storeEnd stores rows.
type storeEnd struct {
	appended
	p     *physical.Pipeline
	title string // what kernels call it
}

func (storeEnd) keeps() bool { return true }

func (x storeEnd) reads() []expr.Expr {
	values, _, err := storedValues(x.p)
	if err != nil {
		return nil // decide refuses
	}
	return values
}

func (x storeEnd) decide(o *outliner) error {
	values, ids, err := storedValues(x.p)
	if err != nil {
		return err
	}
	return o.StoredAll(x.p.Sink, values, ids)
}

func (x storeEnd) write(k *writer) kernel.Sink {
	values, _, _ := storedValues(x.p) // decide has found them all
	return kernel.NewAppend(k.Kernel, x.p.Sink, values, x.title)
}

// columns are columns as expressions.
func columns(cols []*expr.Column) []expr.Expr {
	all := make([]expr.Expr, len(cols))
	for i, c := range cols {
		all[i] = c
	}
	return all
}
