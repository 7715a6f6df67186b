package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// window evaluates a Window by its definition: each row looks at all rows of its partition.
func (r *reference) window(x *logical.Window, outer env) []env {
	rows := r.node(x.Input, outer)
	var out []env
	same := func(es []expr.Expr, a, b env) bool {
		for _, e := range es {
			if compareNullable(r.value(e, outer.with(a)), r.value(e, outer.with(b))) != 0 {
				return false
			}
		}
		return true
	}
	compare := func(a, b env) int {
		for _, k := range x.Order {
			c := compareNullable(r.value(k.Expr, outer.with(a)), r.value(k.Expr, outer.with(b)))
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
	for i, row := range rows {
		var part []env
		at := 0
		for j, other := range rows {
			if same(x.Partition, row, other) {
				part = append(part, other)
				// Peers stay in the order in which they came, as a stable sort leaves them.
				if c := compare(other, row); c < 0 || c == 0 && j < i {
					at++
				}
			}
		}
		slices.SortStableFunc(part, compare)
		values := env{}
		for k := range x.Items {
			values[x.Items[k].Col.ID] = r.windowValue(&x.Items[k], part, at, compare, outer)
		}
		out = append(out, row.with(values))
	}
	return out
}

// windowValue is an item's value for the row part[at]. Frames by value and by groups are not asked for here.
func (r *reference) windowValue(it *logical.WindowItem, part []env, at int, compare func(a, b env) int, outer env) types.Value {
	t := it.Col.Typ
	arg := func(k, j int) types.Value { return r.value(it.Args[k], outer.with(part[j])) }
	switch it.Fn.Kind {
	case expr.WinRowNumber:
		return types.Value{Type: t, I: int64(at + 1)}
	case expr.WinRank:
		n := int64(1)
		for _, o := range part {
			if compare(o, part[at]) < 0 {
				n++
			}
		}
		return types.Value{Type: t, I: n}
	case expr.WinLag:
		if at == 0 {
			return types.NullOf(t)
		}
		return arg(0, at-1)
	}
	var frame []env
	for j := range part {
		in := func(b logical.FrameBound) int {
			switch {
			case b.Kind == logical.UnboundedPreceding:
				return 1
			case b.Kind == logical.UnboundedFollowing:
				return -1
			case it.Frame.Unit != logical.FrameRows:
				return compare(part[j], part[at])
			case b.Kind == logical.Preceding:
				return j - at + int(b.Offset)
			case b.Kind == logical.Following:
				return j - at - int(b.Offset)
			}
			return j - at
		}
		if in(it.Frame.Start) >= 0 && in(it.Frame.End) <= 0 && r.compared(&it.Frame, outer.with(part[j]), outer.with(part[at])) {
			frame = append(frame, outer.with(part[j]))
		}
	}
	if it.Fn.Kind == expr.WinFirstValue {
		if len(frame) == 0 {
			return types.NullOf(t)
		}
		return r.value(it.Args[0], frame[0])
	}
	if it.Fn.Agg == nil {
		panic("the reference does not know " + it.Fn.Name)
	}
	return r.agg(&logical.AggItem{Col: it.Col, Fn: it.Fn.Agg, Args: it.Args}, frame)
}

// compared says whether what the frame compares lets a row into the frame of another.
func (r *reference) compared(f *logical.Frame, row, own env) bool {
	if f.Compared == nil {
		return true
	}
	value := func(e env) expr.Expr { return &expr.Const{Value: r.value(f.Compared, e)} }
	v := r.value(&expr.Compare{Op: f.Op, Left: value(row), Right: value(own)}, own)
	return !v.Null && v.I != 0
}
