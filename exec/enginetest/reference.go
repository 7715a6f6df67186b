package enginetest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The reference runs a plan row by row and value by value, with nothing in common with a backend but the plan: loops
// over all pairs, Go maps from printed keys, big integers. It knows the expressions that the cases use.

type row []types.Value

// rel is rows under named columns.
type rel struct {
	at   map[expr.ColumnID]int
	rows []row
}

func newRel(ids ...expr.ColumnID) *rel {
	r := &rel{at: map[expr.ColumnID]int{}}
	for _, id := range ids {
		r.add(id)
	}
	return r
}

func (r *rel) add(id expr.ColumnID) int {
	if at, ok := r.at[id]; ok {
		return at
	}
	r.at[id] = len(r.at)
	return r.at[id]
}

type refBuild struct {
	p       *physical.Build
	rel     *rel // payload
	keys    []row
	byKey   map[string][]int
	matched map[int]bool
}

type reference struct {
	stored map[physical.Sink]*rel
	builds map[*physical.Build]*refBuild
	inputs map[physical.Sink][]*rel
	err    error
}

// Reference returns the rows of a plan, or the error that it has to give.
func Reference(plan *physical.Plan) ([]row, error) {
	f := &reference{stored: map[physical.Sink]*rel{}, builds: map[*physical.Build]*refBuild{}, inputs: map[physical.Sink][]*rel{}}
	left := map[physical.Sink]int{}
	for _, p := range plan.Pipelines {
		left[p.Sink]++
	}
	out := f.pipelines(plan.Pipelines, left)
	return out, f.err
}

// pipelines runs pipelines; left counts those that end in each sink.
func (f *reference) pipelines(list []*physical.Pipeline, left map[physical.Sink]int) (out []row) {
	for _, p := range list {
		r := f.source(p.Source)
		for _, t := range p.Transforms {
			r = f.transform(r, t)
		}
		if f.err != nil {
			return nil
		}
		if res, ok := p.Sink.(*physical.Result); ok {
			for _, x := range r.rows {
				var y row
				for _, id := range res.In {
					y = append(y, x[r.at[id]])
				}
				out = append(out, y)
			}
			continue
		}
		f.inputs[p.Sink] = append(f.inputs[p.Sink], r)
		if left[p.Sink]--; left[p.Sink] == 0 {
			f.sink(p.Sink)
			if f.err != nil {
				return nil
			}
		}
	}
	return out
}

func (f *reference) source(s physical.Source) *rel {
	switch s := s.(type) {
	case *physical.TableScan:
		r := newRel()
		for _, c := range s.Cols {
			r.add(c.ID)
		}
		for _, g := range s.Table.Groups() {
			for i := range g.Rows {
				if g.Deleted != nil && g.Deleted.Get(i) {
					continue
				}
				x := make(row, len(s.Cols))
				for c, o := range s.Ordinals {
					if o == logical.RowIDOrdinal {
						x[c] = types.IntValue(g.First + int64(i))
					} else {
						x[c] = g.Columns[o].At(i)
					}
				}
				if r.all(s.Filters, x) {
					r.rows = append(r.rows, x)
				}
			}
		}
		return r
	case *physical.SinkScan:
		from := f.stored[s.From]
		r := newRel()
		for _, c := range s.Cols {
			r.add(c.ID)
		}
		for _, x := range from.rows {
			y := make(row, len(s.Cols))
			for c := range s.Cols {
				y[c] = x[from.at[s.Ins[c]]]
			}
			r.rows = append(r.rows, y)
		}
		return r
	case *physical.UnmatchedScan:
		b := f.builds[s.Build]
		r := newRel()
		for _, c := range s.Build.Payload {
			r.add(c.ID)
		}
		var nulls row
		for _, c := range s.Nulls {
			r.add(c.ID)
			nulls = append(nulls, types.NullOf(c.Typ))
		}
		for i, x := range b.rel.rows {
			if !b.matched[i] {
				r.rows = append(r.rows, append(slices.Clone(x), nulls...))
			}
		}
		return r
	case *physical.ValuesScan:
		r := newRel()
		for _, c := range s.Cols {
			r.add(c.ID)
		}
		for _, es := range s.Rows {
			x := row{}
			for _, e := range es {
				x = append(x, r.eval(e, nil))
			}
			r.rows = append(r.rows, x)
		}
		return r
	}
	panic(fmt.Sprintf("source %T", s))
}

func (f *reference) transform(r *rel, t physical.Transform) *rel {
	out := &rel{at: r.at}
	switch t := t.(type) {
	case *physical.Filter:
		for _, x := range r.rows {
			if r.all(t.Preds, x) {
				out.rows = append(out.rows, x)
			}
		}
	case *physical.Project:
		for _, it := range t.Items {
			out.add(it.Col.ID)
		}
		for _, x := range r.rows {
			y := make(row, len(out.at))
			copy(y, x)
			for _, it := range t.Items {
				y[out.at[it.Col.ID]] = r.eval(it.Expr, x)
			}
			out.rows = append(out.rows, y)
		}
	case *physical.Limit:
		from := min(t.Offset, int64(len(r.rows)))
		to := int64(len(r.rows))
		if t.Count >= 0 {
			to = min(to, from+t.Count)
		}
		out.rows = r.rows[from:to]
	case *physical.Repeat:
		for _, x := range r.rows {
			for range r.eval(t.Count, x).I {
				out.rows = append(out.rows, x)
			}
		}
	case *physical.Unnest:
		f.unnest(r, out, t)
	case *physical.Probe:
		f.probe(r, out, t)
	default:
		panic(fmt.Sprintf("transform %T", t))
	}
	return out
}

// probe joins the rows of r with those of a build.
func (f *reference) probe(r, out *rel, t *physical.Probe) {
	b := f.builds[t.Build]
	out.at = map[expr.ColumnID]int{}
	for id, at := range r.at {
		out.at[id] = at
	}
	width := len(r.at)
	for _, c := range t.Build.Payload {
		out.add(c.ID)
	}
	if t.Mark != nil {
		out.add(t.Mark.ID)
	}
	for _, x := range r.rows {
		joined := func(i int) row { // with row i of the build; less than 0: with NULLs
			y := make(row, len(out.at))
			copy(y, x)
			for c, col := range t.Build.Payload {
				if i < 0 {
					y[width+c] = types.NullOf(col.Typ)
				} else {
					y[width+c] = b.rel.rows[i][c]
				}
			}
			return y
		}
		matches, unknown := out.matches(t, b, r, x, joined)
		switch t.Kind {
		case logical.LeftJoin, logical.FullJoin:
			if matches == 0 {
				out.rows = append(out.rows, joined(-1))
			}
		case logical.SingleJoin:
			if matches == 0 {
				out.rows = append(out.rows, joined(-1))
			} else if matches > 1 {
				f.err = sqlerr.New(sqlerr.CodeSubqueryNo1Row, sqlerr.User, "Subquery returns more than 1 row")
				return
			}
		case logical.SemiJoin:
			if matches > 0 {
				out.rows = append(out.rows, x)
			}
		case logical.AntiJoin:
			if matches == 0 {
				out.rows = append(out.rows, x)
			}
		case logical.MarkJoin:
			y := joined(-1)
			mark := types.BoolValue(matches > 0)
			if matches == 0 && unknown {
				mark = types.NullOf(types.Bool)
			}
			y[out.at[t.Mark.ID]] = mark
			out.rows = append(out.rows, y)
		}
	}
}

// matches adds row x of r, joined with each row of a build that it matches, and says how many these are and whether others would be, but for a NULL.
func (out *rel) matches(t *physical.Probe, b *refBuild, r *rel, x row, joined func(i int) row) (matches int, unknown bool) {
	key := make(row, len(t.Keys))
	for i, e := range t.Keys {
		key[i] = r.eval(e, x)
	}
	candidates := b.byKey[keyString(key)]
	if len(t.Keys) == 0 || t.Build.Algorithm == physical.RangeJoin || t.Kind == logical.MarkJoin {
		candidates = make([]int, len(b.keys))
		for i := range candidates {
			candidates[i] = i
		}
	}
	for _, i := range candidates {
		m := compareKeys(t.Build, key, b.keys[i])
		if m == no || m == maybe && t.Kind != logical.MarkJoin {
			continue
		}
		y := joined(i)
		if !out.all(t.Residual, y) {
			continue
		}
		if m == maybe {
			unknown = true
			continue
		}
		matches++
		switch t.Kind {
		case logical.InnerJoin, logical.LeftJoin, logical.SingleJoin:
			out.rows = append(out.rows, y)
		case logical.FullJoin:
			out.rows = append(out.rows, y)
			b.matched[i] = true
		}
	}
	return matches, unknown
}

func keyString(key row) string {
	var b strings.Builder
	for _, v := range key {
		if v.Null {
			b.WriteString("N;")
			continue
		}
		if v.Type.Phys() == types.PhysFloat64 && v.F == 0 {
			v.F = 0 // -0 is 0
		}
		fmt.Fprintf(&b, "%d:%d:%v:%q;", v.I, math.Float64bits(v.F+0), v.D, v.S)
	}
	return b.String()
}

func (f *reference) sink(s physical.Sink) {
	ins := f.inputs[s]
	switch s := s.(type) {
	case *physical.Build:
		b := &refBuild{p: s, rel: newRel(), byKey: map[string][]int{}, matched: map[int]bool{}}
		for _, r := range ins {
			for _, x := range r.rows {
				var key, pay row
				for _, e := range s.Keys {
					key = append(key, r.eval(e, x))
				}
				for _, c := range s.Payload {
					pay = append(pay, x[r.at[c.ID]])
				}
				b.byKey[keyString(key)] = append(b.byKey[keyString(key)], len(b.keys))
				b.keys = append(b.keys, key)
				b.rel.rows = append(b.rel.rows, pay)
			}
		}
		f.builds[s] = b
	case *physical.Materialize:
		out := newRel()
		for _, c := range s.Cols {
			out.add(c.ID)
		}
		for _, r := range ins {
			for _, x := range r.rows {
				var y row
				for _, c := range s.Cols {
					y = append(y, x[r.at[c.ID]])
				}
				out.rows = append(out.rows, y)
			}
		}
		f.stored[s] = out
	case *physical.Sort:
		f.stored[s] = sorted(s, ins)
	case *physical.Aggregate:
		f.stored[s], f.err = aggregated(s, ins)
	case *physical.Window:
		f.stored[s], f.err = windowed(s, ins)
	case *physical.Recursion:
		f.recursion(s, ins)
	default:
		panic(fmt.Sprintf("sink %T", s))
	}
}

func sorted(s *physical.Sort, ins []*rel) *rel {
	type keyed struct{ key, row row }
	var all []keyed
	out := newRel()
	for _, c := range s.Cols {
		out.add(c.ID)
	}
	for _, r := range ins {
		for _, x := range r.rows {
			var k keyed
			for _, sk := range s.Keys {
				k.key = append(k.key, r.eval(sk.Expr, x))
			}
			for _, c := range s.Cols {
				k.row = append(k.row, x[r.at[c.ID]])
			}
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		for i, sk := range s.Keys {
			c := compareNulls(a.key[i], b.key[i])
			if sk.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	from := min(int(s.Offset), len(all))
	to := len(all)
	if s.Count >= 0 {
		to = min(to, from+int(s.Count))
	}
	for _, k := range all[from:to] {
		out.rows = append(out.rows, k.row)
	}
	return out
}

func compareNulls(a, b types.Value) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return -1
	case b.Null:
		return 1
	}
	return compare(a, b)
}
