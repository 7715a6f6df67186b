package enginetest

import (
	"fmt"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// win makes a window function.
func (g *Gen) win(name string, frame logical.Frame, args ...expr.Expr) logical.WindowItem {
	fn := expr.LookupWindow(name)
	if fn == nil {
		panic("no window function " + name)
	}
	sig, err := fn.Resolve(args)
	if err != nil {
		panic(err)
	}
	return logical.WindowItem{Col: g.Alloc.New("", name, sig.Result, true), Fn: fn, Args: args, Frame: frame}
}

// frame makes a frame with bounds of random kinds and offsets. values are, for offsets in FrameRange, columns of what the key can
// differ by: the key less and more the offset.
func (g *Gen) frame(unit logical.FrameUnit, key *expr.Column, values [2]*expr.Column, desc bool) logical.Frame {
	f := logical.Frame{Unit: unit}
	for {
		a, b := logical.BoundKind(g.R.IntN(4)), logical.BoundKind(1+g.R.IntN(4))
		if a > b {
			continue
		}
		f.Start, f.End = logical.FrameBound{Kind: a}, logical.FrameBound{Kind: b}
		break
	}
	for _, b := range []*logical.FrameBound{&f.Start, &f.End} {
		if b.Kind != logical.Preceding && b.Kind != logical.Following {
			continue
		}
		b.Offset = int64(g.R.IntN(6))
		if unit == logical.FrameRange {
			f.Key, f.Desc = key, desc
			b.Value = values[0]
			if (b.Kind == logical.Following) != desc {
				b.Value = values[1]
			}
		}
	}
	return f
}

func windowCases() []Case {
	partitions := []struct {
		name string
		keys []int
	}{
		{"no partition", nil}, {"integer", []int{colKey}}, {"nullable", []int{colNull, colWord}}, {"text", []int{colString}},
		{"double", []int{colFloat}}, {"wide decimal", []int{colBig}}, {"all NULL", []int{colNone}}, {"one row each", []int{colUnique}},
		{"mixed", []int{colBool, colDate, colUns}},
	}
	orders := []struct {
		name   string
		keys   []int
		unique bool // the order tells all rows apart
	}{
		{"nothing", nil, false}, {"unique", []int{colUnique}, true}, {"integer", []int{colKey}, false}, {"nullable", []int{colNull}, false},
		{"double", []int{colFloat}, false}, {"word and unique", []int{colWord, colUnique}, true}, {"text", []int{colString}, false},
		{"decimal", []int{colBig, colUns, colUnique}, true},
	}
	var cs []Case
	for _, p := range partitions {
		for _, o := range orders {
			cs = append(cs, Case{Name: fmt.Sprintf("window by %s order by %s", p.name, o.name), Plan: func(g *Gen) *physical.Plan {
				return windowPlan(g, p.keys, o.keys, o.unique)
			}})
		}
	}
	for _, name := range []string{"row_number", "rank"} {
		cs = append(cs, Case{Name: "window keeps few by " + name, Plan: func(g *Gen) *physical.Plan {
			t, c := g.Scan(g.Table(min(g.Size, 3000), []int{g.Size/8 + 1, 3}[g.R.IntN(2)])) // partitions of few rows, or of many
			number := g.win(name, logical.WholePartition)
			top := int64(1 + g.R.IntN(4))
			w := &physical.Window{Partition: exprs(pick(c, colKey)), Cols: pick(c, colUnique, colString, colWord), Top: top,
				Items: []logical.WindowItem{number, g.win("sum", logical.Frame{Unit: logical.FrameRange, End: logical.FrameBound{Kind: logical.CurrentRow}}, c[colDec]),
					g.win("lag", logical.WholePartition, c[colString], &expr.Const{Value: types.IntValue(1)}, c[colWord]), g.win("max", logical.WholePartition, c[colBig])}}
			w.Order = []logical.SortKey{{Expr: c[colNull], Desc: g.R.IntN(2) == 0}}
			if name == "row_number" || g.R.IntN(2) == 0 {
				w.Order = append(w.Order, logical.SortKey{Expr: c[colUnique]})
			} else {
				w.Items = append(w.Items[:2], w.Items[3]) // LAG depends on the order of peers
			}
			if g.R.IntN(2) == 0 {
				w.Items = w.Items[:1] // nothing looks at rows that come later, so these need not be kept
				if g.R.IntN(2) == 0 {
					w.Order[0].Expr = c[colUnique]
				}
			}
			g.Pipe(t, w)
			out := w.Cols
			for _, it := range w.Items {
				out = append(out[:len(out):len(out)], it.Col)
			}
			return g.Result(g.Read(w, out), out, &physical.Filter{Preds: []expr.Expr{compareTo(expr.LE, number.Col, types.IntValue(top))}})
		}})
	}
	cs = append(cs, Case{Name: "window sum overflows", Plan: func(g *Gen) *physical.Plan {
		t, c := g.Scan(g.Table(min(g.Size, 500), 1))
		it := g.win("sum", logical.WholePartition, c[colBig])
		it.Col.Typ = types.Decimal(19, 4)
		w := &physical.Window{Items: []logical.WindowItem{it}}
		g.Pipe(t, w)
		return g.Result(g.Read(w, []*expr.Column{it.Col}), []*expr.Column{it.Col})
	}})
	return cs
}

func windowPlan(g *Gen, partition, order []int, unique bool) *physical.Plan {
	// The reference looks at all pairs of rows of a partition.
	n := g.Size
	switch {
	case len(partition) == 0 || partition[0] == colNone || len(partition) == 3:
		n = min(n, 120)
	case partition[0] != colKey && partition[0] != colUnique: // an eighth of the rows has a NULL there
		n = min(n, 700)
	}
	t, c := g.Scan(g.Table(n, n/(1+g.R.IntN(20))+1))
	w := &physical.Window{Partition: exprs(pick(c, partition...)), Cols: pick(c, colUnique, colString, colWord, colNull)}
	for _, k := range order {
		w.Order = append(w.Order, logical.SortKey{Expr: c[k], Desc: g.R.IntN(2) == 0})
	}
	units := []logical.FrameUnit{logical.FrameGroups}
	if unique {
		units = append(units, logical.FrameRows)
	}
	var key *expr.Column
	var values [2]*expr.Column
	var before []physical.Transform
	if len(order) == 1 && (order[0] == colKey || order[0] == colNull || order[0] == colUnique) {
		// Frames by value: the key less and more an offset.
		units = append(units, logical.FrameRange)
		key = c[order[0]]
		by := &expr.Const{Value: types.IntValue(int64(g.R.IntN(12)))}
		project := &physical.Project{}
		for i, op := range []string{"sub", "add"} {
			e, err := expr.NewCall(op, key, by)
			if err != nil {
				panic(err)
			}
			it := logical.NewItem(&g.Alloc, op, e)
			values[i] = it.Col
			project.Items = append(project.Items, it)
		}
		before = append(before, project)
	}
	frame := func() logical.Frame {
		if g.R.IntN(4) == 0 {
			return [...]logical.Frame{logical.WholePartition, {Unit: logical.FrameRange, End: logical.FrameBound{Kind: logical.CurrentRow}}}[g.R.IntN(2)]
		}
		return g.frame(units[g.R.IntN(len(units))], key, values, len(w.Order) > 0 && w.Order[0].Desc)
	}
	add := func(name string, args ...expr.Expr) {
		it := g.win(name, frame(), args...)
		if unique && it.Fn.Kind == expr.WinAggregate && g.R.IntN(3) == 0 {
			it.Frame = logical.Frame{Unit: logical.FrameRows, End: logical.FrameBound{Kind: logical.CurrentRow}, Op: []expr.Op{expr.LT, expr.LE, expr.GT, expr.GE}[g.R.IntN(4)],
				Compared: c[[]int{colUnique, colNull, colKey, colString, colFloat, colBig, colNone}[g.R.IntN(7)]]}
		}
		w.Items = append(w.Items, it)
	}
	addFunctions(g, c, unique, add)
	// Not every function each time: the fewer there are, the more of them run by themselves.
	g.R.Shuffle(len(w.Items), func(i, j int) { w.Items[i], w.Items[j] = w.Items[j], w.Items[i] })
	w.Items = w.Items[:1+g.R.IntN(len(w.Items))]
	g.Pipe(t, w, before...)
	out := w.Cols
	for _, it := range w.Items {
		out = append(out[:len(out):len(out)], it.Col)
	}
	return g.Result(g.Read(w, out), out)
}

// addFunctions adds every window function over columns c. unique says that no rows are peers.
func addFunctions(g *Gen, c []*expr.Column, unique bool, add func(name string, args ...expr.Expr)) {
	for _, name := range []string{"rank", "dense_rank", "percent_rank", "cume_dist"} {
		add(name)
	}
	add("count(*)")
	for _, k := range []int{colNull, colString} {
		add("count", c[k])
	}
	for _, k := range []int{colKey, colDec, colBig, colFloat, colUns, colNone} {
		add("sum", c[k])
		add("avg", c[k])
	}
	for _, k := range []int{colNull, colBig, colFloat, colWord, colString, colUns, colNone} {
		add("min", c[k])
		add("max", c[k])
	}
	for _, name := range []string{"var_pop", "var_samp", "stddev_pop", "stddev_samp"} {
		add(name, c[colFloat])
	}
	for _, name := range []string{"bit_and", "bit_or", "bit_xor"} {
		add(name, c[colUns])
	}
	if unique { // what depends on the order of peers
		at := func(x int) expr.Expr { return &expr.Const{Value: types.IntValue(int64(x))} }
		add("row_number")
		add("ntile", at(1+g.R.IntN(7)))
		add("first_value", c[colString])
		add("last_value", c[colBig])
		add("nth_value", c[colWord], at(1+g.R.IntN(4)))
		add("lag", c[colString])
		add("lead", c[colWord], at(g.R.IntN(4)))
		add("lag", c[colNull], at(g.R.IntN(4)), c[colKey])
		add("lead", c[colString], at(2), c[colWord])
		add("lag", c[colFloat], at(1), &expr.Const{Value: types.FloatValue(2.5)})
	}
}
