package logical

import (
	"sync/atomic"

	"github.com/radish-sql/radish/sql/expr"
)

// memo keeps what a node computes of itself. Since it must not be copied with a node that is then changed, nodes are
// copied field by field; go vet watches over it.
type memo struct {
	schema atomic.Pointer[[]*expr.Column]
	out    atomic.Pointer[ColSet]
	free   atomic.Pointer[[]expr.ColumnID]
}

func (m *memo) schemaOf(compute func() []*expr.Column) []*expr.Column {
	if p := m.schema.Load(); p != nil {
		return *p
	}
	s := compute()
	m.schema.Store(&s)
	return s
}

// Out returns the set of the columns that n gives. It must not be changed.
func Out(n Node) ColSet {
	m := memoOf(n)
	if p := m.out.Load(); p != nil {
		return *p
	}
	s := SetOfCols(n.Schema())
	m.out.Store(&s)
	return s
}

func memoOf(n Node) *memo {
	switch x := n.(type) {
	case *Scan:
		return &x.memo
	case *Values:
		return &x.memo
	case *Filter:
		return memoOf(x.Input)
	case *Project:
		return &x.memo
	case *Join:
		return &x.memo
	case *Apply:
		return &x.memo
	case *Aggregate:
		return &x.memo
	case *Window:
		return &x.memo
	case *Unnest:
		return &x.memo
	case *Recursive:
		return &x.memo
	case *WorkTable:
		return &x.memo
	case *Sort:
		return memoOf(x.Input)
	case *Limit:
		return memoOf(x.Input)
	case *SetOp:
		return &x.memo
	case *Shared:
		return &x.memo
	}
	panic("logical: unknown node")
}

// Schema returns the columns read.
func (s *Scan) Schema() []*expr.Column { return s.Cols }

// Schema returns the columns of the rows.
func (v *Values) Schema() []*expr.Column { return v.Cols }

// Schema is the input's.
func (f *Filter) Schema() []*expr.Column { return f.Input.Schema() }

// Schema returns the items' columns.
func (p *Project) Schema() []*expr.Column {
	return p.memo.schemaOf(func() []*expr.Column { return itemCols(nil, p.Items) })
}

// Schema depends on the kind: both sides' columns, only the left side's, or those and the mark. Columns of a side that
// can be filled up with NULLs are nullable, whatever they were below.
func (j *Join) Schema() []*expr.Column {
	return j.memo.schemaOf(func() []*expr.Column { return joinSchema(j.Kind, j.Left, j.Right, j.Mark) })
}

// Schema is as of a Join.
func (a *Apply) Schema() []*expr.Column {
	return a.memo.schemaOf(func() []*expr.Column { return joinSchema(a.Kind, a.Left, a.Right, a.Mark) })
}

// Schema returns the groups' columns, then the aggregates'.
func (a *Aggregate) Schema() []*expr.Column {
	return a.memo.schemaOf(func() []*expr.Column {
		out := itemCols(make([]*expr.Column, 0, len(a.Groups)+len(a.Aggs)), a.Groups)
		for i := range a.Aggs {
			out = append(out, a.Aggs[i].Col)
		}
		return out
	})
}

// Schema is the input's.
func (s *Sort) Schema() []*expr.Column { return s.Input.Schema() }

// Schema is the input's.
func (l *Limit) Schema() []*expr.Column { return l.Input.Schema() }

// Schema returns the columns that the inputs' columns become.
func (s *SetOp) Schema() []*expr.Column { return s.Cols }

// Schema returns this reader's columns.
func (s *Shared) Schema() []*expr.Column { return s.Cols }

func itemCols(dst []*expr.Column, items []Item) []*expr.Column {
	if dst == nil {
		dst = make([]*expr.Column, 0, len(items))
	}
	for i := range items {
		dst = append(dst, items[i].Col)
	}
	return dst
}

func joinSchema(kind JoinKind, left, right Node, mark *expr.Column) []*expr.Column {
	switch kind {
	case SemiJoin, AntiJoin:
		return left.Schema()
	case MarkJoin:
		l := left.Schema()
		return append(l[:len(l):len(l)], mark)
	}
	l, r := left.Schema(), right.Schema()
	out := make([]*expr.Column, 0, len(l)+len(r))
	if kind == FullJoin {
		out = appendNullable(out, l)
	} else {
		out = append(out, l...)
	}
	if kind == InnerJoin {
		return append(out, r...)
	}
	return appendNullable(out, r)
}

func appendNullable(dst, cols []*expr.Column) []*expr.Column {
	for _, c := range cols {
		if !c.Null {
			n := *c
			n.Null = true
			c = &n
		}
		dst = append(dst, c)
	}
	return dst
}
