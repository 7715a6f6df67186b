package pipeline

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// IDSet is a set of column IDs.
type IDSet []uint64

func (s *IDSet) Add(id expr.ColumnID) {
	w := int(id) >> 6
	for len(*s) <= w {
		*s = append(*s, 0)
	}
	(*s)[w] |= 1 << (uint(id) & 63)
}

func (s IDSet) Has(id expr.ColumnID) bool {
	w := int(id) >> 6
	return w < len(s) && s[w]>>(uint(id)&63)&1 != 0
}

func (s *IDSet) AddExprs(es ...expr.Expr) {
	for _, e := range es {
		expr.Columns(e, s.Add)
	}
}

func (s IDSet) clone() IDSet { return append(IDSet(nil), s...) }

// Layout says where the columns of a pipeline lie and until when they are needed.
type Layout struct {
	Slots map[expr.ColumnID]int
	// Needs[i] holds what transform i or anything after it reads; the last entry is what the sink reads.
	Needs []IDSet
	// uses[i] holds what transform i (or, at the end, the sink) itself reads.
	uses []IDSet
	// Numbered says that the source's rows are numbered for messages (column.Batch.FirstRow): no other pipeline fills the sink.
	Numbered bool

	p *physical.Pipeline
}

// NewLayout returns the layout of a pipeline, whose columns have no slots yet.
func NewLayout(p *physical.Pipeline, numbered bool) (*Layout, error) {
	l := &Layout{Slots: make(map[expr.ColumnID]int, 16), Numbered: numbered, p: p}
	if err := l.collectUses(p); err != nil {
		return nil, err
	}
	return l, nil
}

// madeBefore returns the columns that exist before transform i.
func (l *Layout) madeBefore(i int) IDSet {
	var have IDSet
	switch s := l.p.Source.(type) {
	case *physical.TableScan:
		AddColumns(&have, s.Cols)
	case *physical.SinkScan:
		AddColumns(&have, s.Cols)
	case *physical.ValuesScan:
		AddColumns(&have, s.Cols)
	case *physical.UnmatchedScan:
		AddColumns(&have, s.Build.Payload)
		AddColumns(&have, s.Nulls)
	}
	for _, t := range l.p.Transforms[:i] {
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				have.Add(it.Col.ID)
			}
		case *physical.Probe:
			if t.Mark != nil {
				have.Add(t.Mark.ID)
			}
			AddColumns(&have, t.Build.Payload)
		case *physical.Unnest:
			AddColumns(&have, t.Cols)
		}
	}
	return have
}

func (l *Layout) Slot(id expr.ColumnID) int {
	s, ok := l.Slots[id]
	if !ok {
		s = len(l.Slots)
		l.Slots[id] = s
	}
	return s
}

// Lookup returns the slot of a column that must exist.
func (l *Layout) Lookup(c *expr.Column) (int, error) {
	s, ok := l.Slots[c.ID]
	if !ok {
		return 0, sqlerr.Bug("column %s (#%d) is not in the pipeline", c, c.ID)
	}
	return s, nil
}

func (l *Layout) collectUses(p *physical.Pipeline) error {
	n := len(p.Transforms)
	uses := make([]IDSet, n+1)
	for i, t := range p.Transforms {
		u := &uses[i]
		switch t := t.(type) {
		case *physical.Filter:
			u.AddExprs(t.Preds...)
		case *physical.Project:
			for _, it := range t.Items {
				u.AddExprs(it.Expr)
			}
		case *physical.Probe:
			u.AddExprs(t.Keys...)
			u.AddExprs(t.Residual...)
		case *physical.Repeat:
			u.AddExprs(t.Count)
		case *physical.Unnest:
			u.AddExprs(t.Doc)
		case *physical.Limit:
		default:
			return sqlerr.Bug("unknown transform %T", t)
		}
	}
	u := &uses[n]
	switch s := p.Sink.(type) {
	case *physical.Build:
		u.AddExprs(s.Keys...)
		AddColumns(u, s.Payload)
	case *physical.Aggregate:
		for _, g := range s.Groups {
			u.AddExprs(g.Expr)
		}
		for _, a := range s.Aggs {
			u.AddExprs(a.Args...)
			for _, k := range a.OrderBy {
				u.AddExprs(k.Expr)
			}
		}
	case *physical.Sort:
		for _, k := range s.Keys {
			u.AddExprs(k.Expr)
		}
		AddColumns(u, s.Cols)
	case *physical.Materialize:
		AddColumns(u, s.Cols)
	case *physical.Recursion:
		AddColumns(u, s.Cols)
	case *physical.Window:
		u.AddExprs(s.Exprs()...)
		AddColumns(u, s.Cols)
	case *physical.Result:
		for _, id := range s.In {
			u.Add(id)
		}
	default:
		return sqlerr.Bug("unknown sink %T", s)
	}
	needs := make([]IDSet, n+1)
	needs[n] = uses[n]
	for i := n - 1; i >= 0; i-- {
		needs[i] = needs[i+1].clone()
		for w, x := range uses[i] {
			for len(needs[i]) <= w {
				needs[i] = append(needs[i], 0)
			}
			needs[i][w] |= x
		}
	}
	l.uses, l.Needs = uses, needs
	return nil
}

func AddColumns(s *IDSet, cols []*expr.Column) {
	for _, c := range cols {
		s.Add(c.ID)
	}
}

// LoadStage returns the first stage that reads a column, or -1.
func (l *Layout) LoadStage(id expr.ColumnID) int {
	for i, u := range l.uses {
		if u.Has(id) {
			return i
		}
	}
	return -1
}

// carried returns the slots that transform i has to carry into the batches that it makes: columns read later, except
// those that it makes itself.
func (l *Layout) carried(i int, made ...*expr.Column) []int {
	var own IDSet
	AddColumns(&own, made)
	before := l.madeBefore(i)
	var slots []int
	for id, s := range l.Slots {
		if l.Needs[i+1].Has(id) && !own.Has(id) && before.Has(id) {
			slots = append(slots, s)
		}
	}
	return slots
}

// Stage is where a transform stands in its pipeline.
type Stage struct {
	Layout *Layout
	Index  int // of the transform
	// Late decodes the source's columns that are first read after the transform, for the rows of sel: a transform that makes new batches has to
	// do so before it makes them. nil: there are none.
	Late func(b *column.Batch, sel []int32) error
	Next Op
}

// Carried returns the slots that the transform has to carry into the batches that it makes, but for those that it makes itself.
func (s *Stage) Carried(made ...*expr.Column) []int { return s.Layout.carried(s.Index, made...) }

// SlotsOf returns the slots of columns that must exist.
func (l *Layout) SlotsOf(cols []*expr.Column) ([]int, error) {
	slots := make([]int, len(cols))
	for i, c := range cols {
		s, err := l.Lookup(c)
		if err != nil {
			return nil, err
		}
		slots[i] = s
	}
	return slots, nil
}

func ColumnTypes(cols []*expr.Column) []types.Type {
	ts := make([]types.Type, len(cols))
	for i, c := range cols {
		ts[i] = c.Typ
	}
	return ts
}
