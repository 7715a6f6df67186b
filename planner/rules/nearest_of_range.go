package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// maxNearest bounds OFFSET and LIMIT together, so that no number leaves its type.
const maxNearest = 1 << 32

// nearestOfRange handles a subquery whose LIMIT, with OFFSET perhaps, goes by the value that an inequality compares, outwards from it, such as
// the three prices before each trade:
//
//	SELECT t.*, p.price FROM t, LATERAL (SELECT * FROM p WHERE p.day < t.day ORDER BY p.day DESC LIMIT 3) AS p
//
// The rows are numbered the other way, from the far end on. If an outer row matches n of them, these have the numbers 1 to n, and the nearest ones
// the last of these. It returns nil where the subquery is of another form, or accumulate does not count the rows.
func (d *decorrelator) nearestOfRange(a *logical.Apply, x *limited, conds []expr.Expr, ranges []*matchedRange) logical.Node {
	switch {
	case x == nil || !goesBy(x, ranges) || a.Kind == logical.SingleJoin && x.count > 1:
		return nil
	case x.keys[0].Desc != ranges[0].ascending():
		return d.farthestOfRange(a, x, conds, ranges)
	}
	r := ranges[0]
	order := make([]logical.SortKey, len(x.keys))
	for i, k := range x.keys {
		order[i] = logical.SortKey{Expr: k.Expr, Desc: !k.Desc}
	}
	fn := expr.LookupWindow("row_number")
	number := d.w.alloc.New("", fn.Name, types.Uint64, false)
	var in logical.Node = &logical.Window{
		Input: withoutNulls(x.in, ranges), Partition: r.innerKeys(), Order: order,
		Items: []logical.WindowItem{{Col: number, Fn: fn, Frame: logical.WholePartition}},
	}
	signed := logical.NewItem(d.w.alloc, fn.Name, &expr.Cast{Arg: number, To: types.Int64})
	in = logical.NewProject(in, append(logical.PassItems(x.in.Schema()), signed))
	rows, again, cols := d.w.readTwice(in)
	m := columnsAs(cols) // as they are read again
	count := d.w.newAgg(countStar, "count(*)")
	matched := &logical.Apply{
		Kind: logical.LeftJoin, Left: a.Left,
		Right: &logical.Aggregate{Input: logical.NewFilter(again, substituteAll(conds, m)...), Aggs: []logical.AggItem{count}, Scalar: true},
	}
	l := d.accumulate(matched)
	if l == logical.Node(matched) {
		return nil
	}
	behind := func(n int64) expr.Expr {
		return &expr.Call{Fn: expr.Lookup("sub"), Args: []expr.Expr{count.Col, &expr.Const{Value: types.IntValue(n)}}, Typ: types.Int64, Null: count.Col.Null}
	}
	last := logical.NewItem(d.w.alloc, "last", behind(x.offset))
	items := append(logical.PassItems(l.Schema()), last)
	var on []expr.Expr
	for _, k := range r.keys {
		on = append(on, k)
	}
	if x.count == 1 {
		on = append(on, &expr.Compare{Op: expr.EQ, Left: last.Col, Right: signed.Col})
	} else {
		before := logical.NewItem(d.w.alloc, "before", behind(x.offset+x.count))
		items = append(items, before)
		on = append(on, &expr.Compare{Op: expr.LE, Left: signed.Col, Right: last.Col}, &expr.Compare{Op: expr.GT, Left: signed.Col, Right: before.Col})
	}
	return d.joinChosen(a, &logical.Join{Left: logical.NewProject(l, items), Right: rows, On: on}, x.above, signed.Col)
}

// farthestOfRange handles the same from the far end on, such as the first three prices of a day before each trade. The rows that an outer row matches are the first ones of those
// that agree with it in the keys, so LIMIT may count before the inequality is looked at.
func (d *decorrelator) farthestOfRange(a *logical.Apply, x *limited, conds []expr.Expr, ranges []*matchedRange) logical.Node {
	rows := d.numbered(withoutNulls(x.in, ranges), ranges[0].innerKeys(), x.keys, x.count, x.offset)
	schema := rows.Schema()
	return d.joinChosen(a, &logical.Join{Left: a.Left, Right: rows, On: slices.Clone(conds)}, x.above, schema[len(schema)-1])
}

// goesBy says whether LIMIT takes rows by the value that a single inequality compares.
func goesBy(x *limited, ranges []*matchedRange) bool {
	return len(ranges) == 1 && len(x.keys) > 0 && x.count > 0 && x.count <= maxNearest && x.offset <= maxNearest &&
		ranges[0].op != expr.NE && expr.Equal(x.keys[0].Expr, ranges[0].inner)
}
