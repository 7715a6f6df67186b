package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/jsontable"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// This file evaluates logical plans in the most direct way: every operator by its definition, subqueries and Apply once
// per row. What rules do to a plan must not change what it gives.

type env map[expr.ColumnID]types.Value

func (e env) with(o env) env {
	out := make(env, len(e)+len(o))
	for k, v := range e {
		out[k] = v
	}
	for k, v := range o {
		out[k] = v
	}
	return out
}

type reference struct {
	ctx    *expr.Context
	shared map[*logical.SharedPlan][]env
	work   map[*logical.Loop][][]types.Value // the rows of the last round, by position
}

// failure carries an error of the statement through the evaluation.
type failure struct{ err error }

// run returns the rows of a query as text, in order.
func run(q *logical.Query) (rows []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	r := &reference{ctx: plantest.Context(), shared: map[*logical.SharedPlan][]env{}}
	for _, e := range r.node(q.Root, env{}) {
		parts := make([]string, len(q.Cols))
		for i, c := range q.Cols {
			v, ok := e[c.ID]
			if !ok {
				panic(failure{fmt.Errorf("output column %s#%d is not given", c, c.ID)})
			}
			parts[i] = (&expr.Const{Value: v}).String()
		}
		rows = append(rows, strings.Join(parts, "|"))
	}
	return rows, nil
}

func (r *reference) value(e expr.Expr, row env) types.Value {
	switch x := e.(type) { // the common cases, to save time
	case *expr.Column:
		if v, ok := row[x.ID]; ok && v.Type == x.Typ {
			return v
		}
	case *expr.Const:
		return x.Value
	case *expr.Compare:
		if x.Op == expr.EQ {
			l, r := r.value(x.Left, row), r.value(x.Right, row)
			if l.Null || r.Null {
				return types.NullOf(types.Bool)
			}
			return three[types.Compare(l, r) == 0]
		}
	}
	constant := expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch x := e.(type) {
		case *expr.Column:
			v, ok := row[x.ID]
			if !ok {
				panic(failure{fmt.Errorf("column %s#%d has no value", x, x.ID)})
			}
			if !v.Null {
				v.Type = x.Typ
			} else {
				v = types.NullOf(x.Typ)
			}
			return &expr.Const{Value: v}
		case *expr.Subquery:
			return &expr.Const{Value: r.subquery(x, row)}
		}
		return e
	})
	if c, ok := constant.(*expr.Const); ok {
		return c.Value
	}
	v, err := expr.Eval1(constant, r.ctx)
	if err != nil {
		panic(failure{err})
	}
	return v
}

var three = map[bool]types.Value{true: types.BoolValue(true), false: types.BoolValue(false)}

// subquery evaluates a subquery whose operands are constants.
func (r *reference) subquery(q *expr.Subquery, row env) types.Value {
	rows := r.node(q.Rel.(logical.Node), row)
	switch q.Kind {
	case expr.ScalarSubquery:
		switch len(rows) {
		case 0:
			return types.NullOf(q.Typ)
		case 1:
			return rows[0][q.Out[0].ID]
		}
		panic(failure{sqlerr.SubqueryNo1Row()})
	case expr.ExistsSubquery:
		return three[len(rows) > 0]
	}
	op := q.Op
	if q.Kind == expr.InSubquery {
		op = expr.EQ
	}
	some, all, null := false, true, false
	for _, in := range rows {
		conds := make([]expr.Expr, len(q.Args))
		for i, a := range q.Args {
			conds[i] = &expr.Compare{Op: op, Left: a, Right: &expr.Const{Value: in[q.Out[i].ID]}}
		}
		v := r.value(expr.AndOf(conds), row)
		switch {
		case v.Null:
			null = true
		case v.I != 0:
			some = true
		default:
			all = false
		}
	}
	if q.Kind == expr.AllSubquery {
		if !all || !null {
			return three[all]
		}
		return types.NullOf(types.Bool)
	}
	if some || !null {
		return three[some]
	}
	return types.NullOf(types.Bool)
}

func (r *reference) all(preds []expr.Expr, row env) (pass, null bool) {
	pass = true
	for _, p := range preds {
		v := r.value(p, row)
		if v.Null {
			null, pass = true, false
		} else if v.I == 0 {
			return false, false
		}
	}
	return pass, null
}

func (r *reference) node(n logical.Node, outer env) []env {
	var out []env
	switch x := n.(type) {
	case *logical.Scan:
		for i := range x.Table.Rows() {
			values, _ := x.Table.Row(i)
			row := env{}
			for k, c := range x.Cols {
				row[c.ID] = values[x.Ordinals[k]]
			}
			if pass, _ := r.all(x.Filter, outer.with(row)); pass {
				out = append(out, row)
			}
		}
	case *logical.Values:
		for _, vals := range x.Rows {
			row := env{}
			for i, c := range x.Cols {
				row[c.ID] = r.value(vals[i], outer)
			}
			out = append(out, row)
		}
	case *logical.Filter:
		for _, row := range r.node(x.Input, outer) {
			if pass, _ := r.all(x.Preds, outer.with(row)); pass {
				out = append(out, row)
			}
		}
	case *logical.Project:
		for _, row := range r.node(x.Input, outer) {
			out = append(out, r.items(x.Items, outer.with(row)))
		}
	case *logical.Join:
		out = r.join(x.Kind, x.Left, x.Right, x.On, x.Corr, x.Mark, outer)
	case *logical.Apply:
		out = r.join(x.Kind, x.Left, x.Right, x.On, x.Corr, x.Mark, outer)
	case *logical.Aggregate:
		out = r.aggregate(x, outer)
	case *logical.Window:
		out = r.window(x, outer)
	case *logical.Unnest:
		out = r.unnest(x, outer)
	case *logical.Recursive:
		out = r.recursive(x, outer)
	case *logical.WorkTable:
		for _, values := range r.work[x.Loop] {
			row := env{}
			for i, c := range x.Cols {
				row[c.ID] = values[i]
			}
			out = append(out, row)
		}
	case *logical.Sort:
		out = r.node(x.Input, outer)
		slices.SortStableFunc(out, func(a, b env) int {
			for _, k := range x.Keys {
				c := compareNullable(r.value(k.Expr, outer.with(a)), r.value(k.Expr, outer.with(b)))
				if k.Desc {
					c = -c
				}
				if c != 0 {
					return c
				}
			}
			return 0
		})
		out = slice(out, x.Count, x.Offset)
	case *logical.Limit:
		out = slice(r.node(x.Input, outer), x.Count, x.Offset)
	case *logical.SetOp:
		out = r.setOp(x, outer)
	case *logical.Shared:
		rows, ok := r.shared[x.Plan]
		if !ok {
			rows = r.node(x.Plan.Root, env{})
			r.shared[x.Plan] = rows
		}
		for _, in := range rows {
			row := env{}
			for i, c := range x.Cols {
				v, ok := in[x.From[i].ID]
				if !ok {
					panic(failure{fmt.Errorf("shared plan does not give %s#%d", x.From[i], x.From[i].ID)})
				}
				row[c.ID] = v
			}
			out = append(out, row)
		}
	default:
		panic(fmt.Sprintf("%T", n))
	}
	return out
}

func (r *reference) unnest(x *logical.Unnest, outer env) (out []env) {
	reader := jsontable.NewReader(x.Table, r.ctx, r.ctx.Conversion(), x.Ordinals)
	for _, in := range r.node(x.Input, outer) {
		row := func() {
			made := in.with(nil)
			for i, c := range x.Cols {
				made[c.ID] = reader.Row[x.Ordinals[i]]
			}
			out = append(out, made)
		}
		some := false
		if doc := r.value(x.Doc, outer.with(in)); !doc.Null {
			tree, err := jsondoc.Reread(r.ctx, doc.S, "json_table", 1)
			if err == nil {
				some, err = reader.Each(tree, func() error { row(); return nil })
			}
			if err != nil {
				panic(failure{err})
			}
		}
		if !some && x.Outer {
			row()
		}
	}
	return out
}

func compareNullable(a, b types.Value) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return -1
	case b.Null:
		return 1
	}
	return types.Compare(a, b)
}

func slice(rows []env, count, offset int64) []env {
	rows = rows[min(int(offset), len(rows)):]
	if count != logical.NoLimit {
		rows = rows[:min(int(count), len(rows))]
	}
	return rows
}

func (r *reference) items(items []logical.Item, row env) env {
	out := env{}
	for _, it := range items {
		out[it.Col.ID] = r.value(it.Expr, row)
	}
	return out
}

func nullRow(cols []*expr.Column) env {
	out := env{}
	for _, c := range cols {
		out[c.ID] = types.NullOf(c.Typ)
	}
	return out
}

func (r *reference) join(kind logical.JoinKind, left, right logical.Node, on, corr []expr.Expr, mark *expr.Column, outer env) []env {
	var out []env
	matchedRight := map[int]bool{}
	lefts := r.node(left, outer)
	var rows []env
	depends := correlated(right, logical.Out(left))
	if !depends && (len(lefts) > 0 || kind == logical.FullJoin) {
		rows = r.node(right, outer)
	}
	for _, l := range lefts {
		scope := outer.with(l)
		if depends {
			rows = r.node(right, scope)
		}
		matches, nulls := 0, false
		for i, rr := range rows {
			both := scope.with(rr)
			if member, _ := r.all(corr, both); !member {
				continue
			}
			pass, null := r.all(on, both)
			nulls = nulls || null
			if !pass {
				continue
			}
			matches++
			matchedRight[i] = true
			switch kind {
			case logical.InnerJoin, logical.LeftJoin, logical.FullJoin:
				out = append(out, l.with(rr))
			case logical.SingleJoin:
				if matches > 1 {
					panic(failure{sqlerr.SubqueryNo1Row()})
				}
				out = append(out, l.with(rr))
			}
		}
		switch kind {
		case logical.LeftJoin, logical.FullJoin, logical.SingleJoin:
			if matches == 0 {
				out = append(out, l.with(nullRow(right.Schema())))
			}
		case logical.SemiJoin:
			if matches > 0 {
				out = append(out, l)
			}
		case logical.AntiJoin:
			if matches == 0 {
				out = append(out, l)
			}
		case logical.MarkJoin:
			v := three[matches > 0]
			if matches == 0 && nulls {
				v = types.NullOf(types.Bool)
			}
			out = append(out, l.with(env{mark.ID: v}))
		}
	}
	return out
}

func key(row env, cols []*expr.Column) string {
	var b strings.Builder
	for _, c := range cols {
		v := row[c.ID]
		if v.Null {
			b.WriteString("\x00N")
			continue
		}
		fmt.Fprintf(&b, "\x00%d,%v,%v,%q", v.I, v.F, v.D, v.S)
	}
	return b.String()
}

func (r *reference) setOp(x *logical.SetOp, outer env) []env {
	var inputs [][]env
	for i, in := range x.All {
		var rows []env
		for _, row := range r.node(in, outer) {
			o := env{}
			for k, c := range x.Cols {
				v, ok := row[x.InCols[i][k].ID]
				if !ok {
					panic(failure{fmt.Errorf("input %d does not give column %d", i, k)})
				}
				o[c.ID] = v
			}
			rows = append(rows, o)
		}
		inputs = append(inputs, rows)
	}
	var out []env
	if x.Kind == logical.UnionAll || x.Kind == logical.Union {
		seen := map[string]bool{}
		for _, rows := range inputs {
			for _, row := range rows {
				k := key(row, x.Cols)
				if x.Kind == logical.UnionAll || !seen[k] {
					seen[k] = true
					out = append(out, row)
				}
			}
		}
		return out
	}
	count := map[string]int{}
	for _, row := range inputs[1] {
		count[key(row, x.Cols)]++
	}
	given := map[string]int{}
	for _, row := range inputs[0] {
		k := key(row, x.Cols)
		given[k]++
		var keep bool
		switch x.Kind {
		case logical.Intersect:
			keep = count[k] > 0 && given[k] == 1
		case logical.IntersectAll:
			keep = given[k] <= count[k]
		case logical.Except:
			keep = count[k] == 0 && given[k] == 1
		case logical.ExceptAll:
			keep = given[k] > count[k]
		}
		if keep {
			out = append(out, row)
		}
	}
	return out
}

func (r *reference) aggregate(x *logical.Aggregate, outer env) []env {
	type group struct {
		keys env
		rows []env
	}
	var order []*group
	found := map[string]*group{}
	cols := make([]*expr.Column, len(x.Groups))
	for i, g := range x.Groups {
		cols[i] = g.Col
	}
	if x.Scalar {
		g := &group{keys: env{}}
		found[""] = g
		order = append(order, g)
	}
	for _, row := range r.node(x.Input, outer) {
		row := outer.with(row)
		keys := r.items(x.Groups, row)
		k := key(keys, cols)
		g := found[k]
		if g == nil {
			g = &group{keys: keys}
			found[k] = g
			order = append(order, g)
		}
		g.rows = append(g.rows, row)
	}
	var out []env
	for _, g := range order {
		row := g.keys
		for i := range x.Aggs {
			row[x.Aggs[i].Col.ID] = r.agg(&x.Aggs[i], g.rows)
		}
		out = append(out, row)
	}
	return out
}

func (r *reference) agg(a *logical.AggItem, rows []env) types.Value {
	t := a.Col.Typ
	if a.Fn.Kind == expr.AggCountStar {
		return types.Value{Type: t, I: int64(len(rows))}
	}
	var values []types.Value
	seen := map[string]bool{}
rows:
	for _, row := range rows {
		args := env{}
		var cols []*expr.Column
		for i, e := range a.Args {
			v := r.value(e, row)
			if v.Null && a.Fn.Kind != expr.AggAnyValue && a.Fn.Kind != expr.AggSingle {
				continue rows
			}
			c := &expr.Column{ID: expr.ColumnID(i + 1)}
			cols = append(cols, c)
			args[c.ID] = v
		}
		k := key(args, cols)
		if a.Distinct && seen[k] {
			continue
		}
		seen[k] = true
		values = append(values, args[1])
	}
	if a.Fn.Kind == expr.AggCount {
		return types.Value{Type: t, I: int64(len(values))}
	}
	switch a.Fn.Kind {
	case expr.AggBitXor:
		x := types.Value{Type: t}
		for _, v := range values {
			x.I ^= v.I
		}
		return x
	case expr.AggBitAnd:
		x := types.Value{Type: t, I: -1}
		for _, v := range values {
			x.I &= v.I
		}
		return x
	}
	if len(values) == 0 {
		return types.NullOf(t)
	}
	switch a.Fn.Kind {
	case expr.AggMin:
		return slices.MinFunc(values, types.Compare)
	case expr.AggMax:
		return slices.MaxFunc(values, types.Compare)
	case expr.AggAnyValue:
		return values[0]
	case expr.AggSingle:
		if len(values) > 1 {
			panic(failure{sqlerr.SubqueryNo1Row()})
		}
		return values[0]
	case expr.AggSum, expr.AggAvg:
		return sumOf(a, values)
	}
	panic("the reference does not know " + a.Fn.Name)
}

func sumOf(a *logical.AggItem, values []types.Value) types.Value {
	t := a.Col.Typ
	if t.IsFloat() {
		sum := 0.0
		for _, v := range values {
			sum += v.F
		}
		if a.Fn.Kind == expr.AggAvg {
			sum /= float64(len(values))
		}
		return types.Value{Type: t, F: sum}
	}
	var sum types.Int128
	scale := 0
	for _, v := range values {
		d := types.Int128FromInt64(v.I)
		if v.Type.Phys() == types.PhysInt128 {
			d = v.D
		}
		if v.Type.Kind == types.KindDecimal {
			scale = int(v.Type.Scale)
		}
		sum, _ = sum.Add(d)
	}
	if a.Fn.Kind == expr.AggAvg {
		sum, _ = types.DecimalDiv(sum, scale, types.Int128FromInt64(int64(len(values))), 0, int(t.Scale))
	} else {
		sum, _ = types.Rescale(sum, scale, int(t.Scale))
	}
	if t.Phys() == types.PhysInt128 {
		return types.Value{Type: t, D: sum}
	}
	i, _ := sum.Int64()
	return types.Value{Type: t, I: i}
}
