package cpu

import (
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// idSet is a set of column IDs.
type idSet []uint64

func (s *idSet) add(id expr.ColumnID) {
	w := int(id) >> 6
	for len(*s) <= w {
		*s = append(*s, 0)
	}
	(*s)[w] |= 1 << (uint(id) & 63)
}

func (s idSet) has(id expr.ColumnID) bool {
	w := int(id) >> 6
	return w < len(s) && s[w]>>(uint(id)&63)&1 != 0
}

func (s *idSet) addExprs(es ...expr.Expr) {
	for _, e := range es {
		expr.Columns(e, s.add)
	}
}

func (s idSet) clone() idSet { return append(idSet(nil), s...) }

// layout says where the columns of a pipeline lie and until when they are needed.
type layout struct {
	slots map[expr.ColumnID]int
	// needs[i] holds what transform i or anything after it reads; the last entry is what the sink reads.
	needs []idSet
	// uses[i] holds what transform i (or, at the end, the sink) itself reads.
	uses []idSet
	// made[i] holds the columns that exist before transform i.
	made []idSet
	// numbered says that the source's rows are numbered for messages (column.Batch.FirstRow): no other pipeline fills the sink.
	numbered bool
}

// newLayout returns the layout of a pipeline, whose columns have no slots yet.
func newLayout(p *physical.Pipeline, numbered bool) (*layout, error) {
	l := &layout{slots: make(map[expr.ColumnID]int, 16), numbered: numbered}
	if err := l.collectUses(p); err != nil {
		return nil, err
	}
	l.collectMade(p)
	return l, nil
}

// collectMade finds the columns that exist before each transform.
func (l *layout) collectMade(p *physical.Pipeline) {
	var have idSet
	switch s := p.Source.(type) {
	case *physical.TableScan:
		addColumns(&have, s.Cols)
	case *physical.SinkScan:
		addColumns(&have, s.Cols)
	case *physical.ValuesScan:
		addColumns(&have, s.Cols)
	case *physical.UnmatchedScan:
		addColumns(&have, s.Build.Payload)
		addColumns(&have, s.Nulls)
	}
	l.made = make([]idSet, len(p.Transforms))
	for i, t := range p.Transforms {
		l.made[i] = have.clone()
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				have.add(it.Col.ID)
			}
		case *physical.Probe:
			if t.Mark != nil {
				have.add(t.Mark.ID)
			}
			addColumns(&have, t.Build.Payload)
		}
	}
}

func (l *layout) slot(id expr.ColumnID) int {
	s, ok := l.slots[id]
	if !ok {
		s = len(l.slots)
		l.slots[id] = s
	}
	return s
}

// lookup returns the slot of a column that must exist.
func (l *layout) lookup(c *expr.Column) (int, error) {
	s, ok := l.slots[c.ID]
	if !ok {
		return 0, sqlerr.Bug("column %s (#%d) is not in the pipeline", c, c.ID)
	}
	return s, nil
}

func (l *layout) collectUses(p *physical.Pipeline) error {
	n := len(p.Transforms)
	uses := make([]idSet, n+1)
	for i, t := range p.Transforms {
		u := &uses[i]
		switch t := t.(type) {
		case *physical.Filter:
			u.addExprs(t.Preds...)
		case *physical.Project:
			for _, it := range t.Items {
				u.addExprs(it.Expr)
			}
		case *physical.Probe:
			u.addExprs(t.Keys...)
			u.addExprs(t.Residual...)
		case *physical.Repeat:
			u.addExprs(t.Count)
		case *physical.Limit:
		default:
			return sqlerr.Bug("unknown transform %T", t)
		}
	}
	u := &uses[n]
	switch s := p.Sink.(type) {
	case *physical.Build:
		u.addExprs(s.Keys...)
		addColumns(u, s.Payload)
	case *physical.Aggregate:
		for _, g := range s.Groups {
			u.addExprs(g.Expr)
		}
		for _, a := range s.Aggs {
			u.addExprs(a.Args...)
			for _, k := range a.OrderBy {
				u.addExprs(k.Expr)
			}
		}
	case *physical.Sort:
		for _, k := range s.Keys {
			u.addExprs(k.Expr)
		}
		addColumns(u, s.Cols)
	case *physical.Materialize:
		addColumns(u, s.Cols)
	case *physical.Recursion:
		addColumns(u, s.Cols)
	case *physical.Window:
		u.addExprs(s.Exprs()...)
		addColumns(u, s.Cols)
	case *physical.Result:
		for _, id := range s.In {
			u.add(id)
		}
	default:
		return sqlerr.Bug("unknown sink %T", s)
	}
	needs := make([]idSet, n+1)
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
	l.uses, l.needs = uses, needs
	return nil
}

func addColumns(s *idSet, cols []*expr.Column) {
	for _, c := range cols {
		s.add(c.ID)
	}
}

// loadStage returns the first stage that reads a column, or -1.
func (l *layout) loadStage(id expr.ColumnID) int {
	for i, u := range l.uses {
		if u.has(id) {
			return i
		}
	}
	return -1
}

// carried returns the slots that transform i has to carry into the batches that it makes: columns read later, except
// those that it makes itself.
func (l *layout) carried(i int, made ...*expr.Column) []int {
	var own idSet
	addColumns(&own, made)
	var slots []int
	for id, s := range l.slots {
		if l.needs[i+1].has(id) && !own.has(id) && l.made[i].has(id) {
			slots = append(slots, s)
		}
	}
	return slots
}

// stage is where a transform stands in its pipeline.
type stage struct {
	layout *layout
	index  int // of the transform
	// late decodes the source's columns that are first read after the transform, for the rows of sel: a transform that makes new batches has to
	// do so before it makes them. nil: there are none.
	late func(b *batch, sel []int32)
	next op
}

// carried returns the slots that the transform has to carry into the batches that it makes, but for those that it makes itself.
func (s *stage) carried(made ...*expr.Column) []int { return s.layout.carried(s.index, made...) }

// slotsOf returns the slots of columns that must exist.
func (l *layout) slotsOf(cols []*expr.Column) ([]int, error) {
	slots := make([]int, len(cols))
	for i, c := range cols {
		s, err := l.lookup(c)
		if err != nil {
			return nil, err
		}
		slots[i] = s
	}
	return slots, nil
}

func columnTypes(cols []*expr.Column) []types.Type {
	ts := make([]types.Type, len(cols))
	for i, c := range cols {
		ts[i] = c.Typ
	}
	return ts
}
