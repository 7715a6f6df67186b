package enginetest

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// windowed is the reference for Window: every row of a partition is asked whether it is in the frame of every other.
func windowed(s *physical.Window, ins []*rel) (*rel, error) {
	out := newRel()
	for _, c := range s.Cols {
		out.add(c.ID)
	}
	for _, it := range s.Items {
		out.add(it.Col.ID)
	}
	partitions := map[string][]row{}
	var names []string
	var r *rel
	for _, r = range ins {
		for _, x := range r.rows {
			var key row
			for _, e := range s.Partition {
				key = append(key, r.eval(e, x))
			}
			k := keyString(key)
			if partitions[k] == nil {
				names = append(names, k)
			}
			partitions[k] = append(partitions[k], x)
		}
	}
	for _, k := range names {
		p := &refPartition{s: s, r: r, rows: partitions[k]}
		slices.SortStableFunc(p.rows, p.compare)
		for i, x := range p.rows {
			if i > 0 && p.compare(p.rows[i-1], x) != 0 {
				p.group = append(p.group, p.group[i-1]+1)
			} else if i > 0 {
				p.group = append(p.group, p.group[i-1])
			} else {
				p.group = append(p.group, 0)
			}
		}
		for i, x := range p.rows {
			var y row
			for _, c := range s.Cols {
				y = append(y, x[r.at[c.ID]])
			}
			for k := range s.Items {
				v, err := p.value(&s.Items[k], i)
				if err != nil {
					return nil, err
				}
				y = append(y, v)
			}
			out.rows = append(out.rows, y)
		}
	}
	return out, nil
}

type refPartition struct {
	s     *physical.Window
	r     *rel
	rows  []row
	group []int // the number of each row's group of peers
}

func (p *refPartition) compare(a, b row) int {
	for _, k := range p.s.Order {
		if c := ordered(p.r.eval(k.Expr, a), p.r.eval(k.Expr, b), k.Desc); c != 0 {
			return c
		}
	}
	return 0
}

func ordered(a, b types.Value, desc bool) int {
	if desc {
		return -compareNulls(a, b)
	}
	return compareNulls(a, b)
}

// within says whether row j does not lie before the start of row i's frame, or with end not behind its end.
func (p *refPartition) within(f *logical.Frame, b *logical.FrameBound, i, j int, end bool) bool {
	sign := 1
	if end {
		sign = -1
	}
	switch {
	case b.Kind == logical.UnboundedPreceding || b.Kind == logical.UnboundedFollowing:
		return true
	case f.Unit == logical.FrameRange && b.Kind != logical.CurrentRow:
		return sign*ordered(p.r.eval(f.Key, p.rows[j]), p.r.eval(b.Value, p.rows[i]), f.Desc) >= 0
	}
	distance := j - i
	if f.Unit != logical.FrameRows {
		distance = p.group[j] - p.group[i]
	}
	offset := int(b.Offset)
	switch b.Kind {
	case logical.CurrentRow:
		offset = 0
	case logical.Preceding:
		offset = -offset
	}
	return sign*(distance-offset) >= 0
}

// compared says whether what the frame compares lets row j into row i's frame.
func (p *refPartition) compared(f *logical.Frame, i, j int) bool {
	if f.Compared == nil {
		return true
	}
	x, own := p.r.eval(f.Compared, p.rows[j]), p.r.eval(f.Compared, p.rows[i])
	if x.Null || own.Null {
		return false
	}
	c := compareNulls(x, own)
	switch f.Op {
	case expr.LT:
		return c < 0
	case expr.LE:
		return c <= 0
	case expr.GT:
		return c > 0
	}
	return c >= 0
}

// bucketOf is NTILE's number of row i of n. It deals the sizes out, bucket by bucket.
func bucketOf(i, n, buckets int) int {
	for b := 0; ; b++ {
		size := n / buckets
		if b < n%buckets {
			size++
		}
		if i < size {
			return b + 1
		}
		i -= size
	}
}

// value is what a function gives for row i.
func (p *refPartition) value(it *logical.WindowItem, i int) (types.Value, error) {
	t := it.Col.Typ
	n := len(p.rows)
	arg := func(k, j int) types.Value { return p.r.eval(it.Args[k], p.rows[j]) }
	constant := func(k int) int { return int(it.Args[k].(*expr.Const).Value.I) }
	before, peers := 0, 0
	for j := range n {
		if p.group[j] < p.group[i] {
			before++
		} else if p.group[j] == p.group[i] {
			peers++
		}
	}
	number := func(x int) (types.Value, error) { return types.Value{Type: t, I: int64(x)}, nil }
	switch it.Fn.Kind {
	case expr.WinRowNumber:
		return number(i + 1)
	case expr.WinRank:
		return number(before + 1)
	case expr.WinDenseRank:
		return number(p.group[i] + 1)
	case expr.WinPercentRank:
		if n == 1 {
			return types.FloatValue(0), nil
		}
		return types.FloatValue(float64(before) / float64(n-1)), nil
	case expr.WinCumeDist:
		return types.FloatValue(float64(before+peers) / float64(n)), nil
	case expr.WinNtile:
		return number(bucketOf(i, n, constant(0)))
	case expr.WinLag, expr.WinLead:
		by := 1
		if len(it.Args) > 1 {
			by = constant(1)
		}
		if it.Fn.Kind == expr.WinLag {
			by = -by
		}
		switch {
		case i+by >= 0 && i+by < n:
			return arg(0, i+by), nil
		case len(it.Args) > 2:
			return arg(2, i), nil
		}
		return types.NullOf(t), nil
	}
	var frame []int
	for j := range n {
		if p.within(&it.Frame, &it.Frame.Start, i, j, false) && p.within(&it.Frame, &it.Frame.End, i, j, true) && p.compared(&it.Frame, i, j) {
			frame = append(frame, j)
		}
	}
	at := 0
	switch it.Fn.Kind {
	case expr.WinAggregate:
		var rows []row
		for _, j := range frame {
			rows = append(rows, p.rows[j])
		}
		return aggregateOf(&logical.AggItem{Col: it.Col, Fn: it.Fn.Agg, Args: it.Args}, p.r, rows)
	case expr.WinFirstValue:
	case expr.WinLastValue:
		at = len(frame) - 1
	case expr.WinNthValue:
		at = constant(1) - 1
	default:
		panic(fmt.Sprintf("window function %s", it.Fn.Name))
	}
	if at < 0 || at >= len(frame) {
		return types.NullOf(t), nil
	}
	return arg(0, frame[at]), nil
}
