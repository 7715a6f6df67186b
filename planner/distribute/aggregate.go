package distribute

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// aggregate settles groups.
//
//   - Where all rows of a group are at one place already, it stays as it is.
//   - Where groups are many, and who runs the plan can move rows while it groups them, it does so.
//   - Where the aggregates can be computed in parts, each place has the parts of its rows' groups. These move, and are put together.
//   - Else rows move: to place 0, or to the owners of their groups.
func (x *planner) aggregate(a *physical.Aggregate, all []*stream) {
	st := &stored{sink: a, rows: a.EstGroups}
	x.stored[a] = st
	switch together(all) {
	case common:
		if reason := differs(a); reason != "" {
			for _, s := range all {
				lower(s, reason)
			}
			st.reason = reason
			return
		}
		st.lay, st.reason = common, reasonOf(all, common)
		return
	case one:
		st.reason = reasonOf(all, one)
		return
	}
	if homes := x.atHome(a, all); homes != nil {
		st.lay, st.homes, st.reason = spread, homes, "all rows of a group are on one GPU"
		a.EstGroups /= float64(x.places)
		if slices.ContainsFunc(homes, func(h home) bool { return h.by.slices != nil }) {
			a.Ranges = x.places
		}
		return
	}
	if x.movesGroups(a, all) {
		x.exchanges[a] = Exchange{Kind: Repartition, Reason: "groups are many, so the rows of a group move to one GPU while they are grouped"}
		h := home{by: owners{hash: fmt.Sprintf("of groups %d", len(x.exchanges)), isFixed: true}}
		for _, g := range a.Groups {
			h.cols = append(h.cols, []expr.ColumnID{g.Col.ID})
		}
		st.lay, st.homes, st.reason = spread, []home{h}, "all rows of a group came to one GPU"
		return
	}
	why := inParts(a)
	switch {
	case why == "" && x.shrinks(a, rowsOf(all)):
		x.parts(a, all, st)
	case len(a.Groups) == 0:
		x.rowsTo(a, all, st, Exchange{Kind: Gather, Reason: why})
	default:
		if why == "" {
			why = "most groups have few rows"
		}
		x.rowsTo(a, all, st, Exchange{Kind: Repartition, Reason: why + ", so the rows of a group come to one GPU"})
	}
}

// movesGroups says whether rows are to move while they are grouped.
func (x *planner) movesGroups(a *physical.Aggregate, all []*stream) bool {
	if x.t.Moves == nil || !x.t.Moves(x.origins[a]) || len(all) != 1 || len(a.Groups) == 0 || len(x.ownKeys(a)) < len(a.Groups) {
		return false
	}
	_, scan := all[0].p.Source.(*physical.TableScan)
	places := float64(x.places)
	return scan && all[0].lay == spread && a.EstGroups*places > x.t.GatherGroups && rowsOf(all) <= x.t.MovedRows*places*a.EstGroups
}

// differs says why an aggregation over the same rows may give another result at each place, which meet their rows in another order each; "" if it does not. Of an aggregate that is not
// listed here nobody knows.
func differs(a *physical.Aggregate) string {
	for i := range a.Aggs {
		it := &a.Aggs[i]
		switch it.Fn.Kind {
		case expr.AggCountStar, expr.AggCount, expr.AggMin, expr.AggMax, expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor, expr.AggSingle, expr.AggApproxCountDistinct:
		case expr.AggAnyValue:
			if !logical.PassesValue(it) {
				return "ANY_VALUE gives whichever value comes first, which differs between GPUs"
			}
		case expr.AggGroupConcat:
			return "the order of the strings of GROUP_CONCAT differs between GPUs"
		case expr.AggSum, expr.AggAvg, expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
			if it.Args[0].Type().IsFloat() {
				return "the last digit of a sum of doubles may differ between GPUs"
			}
		default:
			return fmt.Sprintf("%s may differ between GPUs, which meet rows in different orders", it.Fn.Name)
		}
	}
	return ""
}

// inParts says why the aggregates cannot be put together from those of parts of the rows; "" if they can.
func inParts(a *physical.Aggregate) string {
	for i := range a.Aggs {
		it := &a.Aggs[i]
		distinct := it.Distinct
		switch it.Fn.Kind {
		case expr.AggMin, expr.AggMax, expr.AggBitAnd, expr.AggBitOr:
			distinct = false // duplicates change nothing
		case expr.AggAnyValue:
			if len(a.Groups) == 0 {
				return "ANY_VALUE over all rows must not be the NULL of a GPU without rows"
			}
			distinct = false
		case expr.AggCountStar, expr.AggCount, expr.AggBitXor:
		case expr.AggSum, expr.AggAvg:
			if it.Args[0].Type().IsFloat() && !it.Col.Typ.IsFloat() {
				return fmt.Sprintf("%s of doubles is not exact in parts", it.Fn.Name)
			}
		case expr.AggSingle:
			return "a scalar subquery gives one row of all GPUs"
		default:
			return fmt.Sprintf("%s is not computed in parts", it.Fn.Name)
		}
		if distinct {
			return fmt.Sprintf("%s(DISTINCT) is not computed in parts", it.Fn.Name)
		}
	}
	return ""
}

// shrinks says whether far fewer groups than rows leave the places. Estimates of computed keys, of which no statistics are kept, are not believed: most have few values.
func (x *planner) shrinks(a *physical.Aggregate, rows float64) bool {
	for _, g := range a.Groups {
		if c, ok := g.Expr.(*expr.Column); !ok || c.Table == "" {
			return true
		}
	}
	groups := float64(x.places) * a.EstGroups
	return x.t.ShrinkRows*groups <= rows || groups <= x.t.GatherGroups
}

// atHome returns the homes of the groups if all rows of each are at one place, else nil.
func (x *planner) atHome(a *physical.Aggregate, all []*stream) (homes []home) {
	if slices.ContainsFunc(all, func(s *stream) bool { return s.lay != spread }) {
		return nil
	}
	for _, h := range mapHomes(shared(all), func(id expr.ColumnID) (out []expr.ColumnID) {
		for _, g := range a.Groups {
			if c, ok := g.Expr.(*expr.Column); ok && c.ID == id {
				out = append(out, g.Col.ID)
			}
		}
		return out
	}) {
		if h.by.slices == nil || h.by.slices.separate(h.by.ordinal, x.places) {
			homes = append(homes, h)
		}
	}
	return homes
}

// parts computes an aggregation in two steps.
func (x *planner) parts(a *physical.Aggregate, all []*stream, st *stored) {
	part := &physical.Aggregate{Algorithm: a.Algorithm, Reason: a.Reason, Groups: a.Groups, Dense: a.Dense, Bounds: a.Bounds, Hashed: a.Hashed}
	whole := &physical.Aggregate{Reason: "the parts of all GPUs are put together", Bounds: a.Bounds, EstGroups: a.EstGroups, Hashed: a.Hashed}
	for _, g := range a.Groups {
		whole.Groups = append(whole.Groups, logical.Item{Col: g.Col, Expr: g.Col})
	}
	switch {
	case a.Algorithm == physical.ScalarAggregate:
		whole.Algorithm = physical.ScalarAggregate
	case a.Algorithm == physical.DenseAggregate && !slices.ContainsFunc(a.Dense, func(d physical.DenseDomain) bool { return d.IsDictionary }):
		whole.Algorithm, whole.Dense = physical.DenseAggregate, a.Dense
	}
	st.values = map[expr.ColumnID]expr.Expr{}
	for _, it := range a.Aggs {
		x.split(it, part, whole, st.values)
	}
	rows := rowsOf(all)
	part.EstGroups = min(a.EstGroups, max(rows/float64(x.places), 1))
	for _, s := range all {
		x.detach(a, s)
		x.end(s, part, s.p.EstRows)
	}
	moved := part.EstGroups * float64(x.places)
	x.stored[part] = &stored{sink: part, lay: spread, rows: moved, reason: "each GPU has groups of its own rows"}
	s := x.reread(part)
	m := &physical.Materialize{Cols: physical.SinkColumns(part)}
	x.end(s, m, moved)
	e := Exchange{Kind: Gather, Reason: "few groups of each GPU are put together"}
	if len(a.Groups) == 0 {
		e.Reason = "one row of each GPU is put together"
	} else if moved > x.t.GatherGroups {
		e = Exchange{Kind: Repartition, Reason: "the parts of a group come to one GPU"}
		for _, i := range x.ownKeys(a) {
			e.Keys = append(e.Keys, a.Groups[i].Col.ID)
		}
		whole.EstGroups /= float64(x.places)
	}
	s = x.exchanged(m, s, e)
	x.end(s, whole, moved)
	st.sink, st.lay, st.homes = whole, s.lay, s.homes
	st.reason = "the groups of all GPUs are on the first GPU"
	if s.lay == spread {
		st.reason = "all parts of a group came to one GPU"
	}
}

// split computes an aggregate in part, and in whole from the parts. Where that gives something else than its value, values says how to compute it.
func (x *planner) split(it logical.AggItem, part, whole *physical.Aggregate, values map[expr.ColumnID]expr.Expr) {
	add := func(fn *expr.Aggregate, args []expr.Expr, t types.Type, null bool) *expr.Column {
		col := x.alloc.New("", nameOf(fn, args), t, null)
		part.Aggs = append(part.Aggs, logical.AggItem{Col: col, Fn: fn, Args: args})
		return col
	}
	combine := func(fn *expr.Aggregate, col, from *expr.Column) {
		whole.Aggs = append(whole.Aggs, logical.AggItem{Col: col, Fn: fn, Args: []expr.Expr{from}})
	}
	switch it.Fn.Kind {
	case expr.AggCountStar, expr.AggCount:
		combine(sum, it.Col, add(it.Fn, it.Args, it.Col.Typ, false))
	case expr.AggSum:
		t := it.Col.Typ
		if e := exactSum(it.Args[0].Type()); !t.IsFloat() && e.Scale != t.Scale || t.IsFloat() && !e.IsFloat() {
			t = e // no digit is lost before the end
		}
		combine(it.Fn, it.Col, add(it.Fn, it.Args, t, true))
	case expr.AggAvg:
		t := exactSum(it.Args[0].Type())
		total := x.alloc.New("", nameOf(sum, it.Args), t, true)
		combine(sum, total, add(sum, it.Args, t, true))
		t = types.Decimal(types.MaxDecimalPrecision, 0)
		n := x.alloc.New("", nameOf(count, it.Args), t, true)
		combine(sum, n, add(count, it.Args, types.Int64, false))
		values[it.Col.ID] = expr.Average(total, n, it.Col.Typ)
	default: // what is put together as it is computed
		it.Distinct = false
		if logical.PassesValue(&it) {
			part.Aggs, whole.Aggs = append(part.Aggs, it), append(whole.Aggs, it)
			return
		}
		combine(it.Fn, it.Col, add(it.Fn, it.Args, it.Col.Typ, it.Col.Null))
	}
}

// The aggregates that parts are made of.
var (
	sum   = &expr.Aggregate{Kind: expr.AggSum, Name: "sum", EmptyIsNull: true}
	count = &expr.Aggregate{Kind: expr.AggCount, Name: "count"}
)

// nameOf is what EXPLAIN calls an aggregate.
func nameOf(fn *expr.Aggregate, args []expr.Expr) string {
	if len(args) == 0 {
		return fn.Name
	}
	return fmt.Sprintf("%s(%s)", fn.Name, args[0])
}

// exactSum is the type of a sum of values of a type that drops no digit behind the point.
func exactSum(t types.Type) types.Type {
	if t.IsFloat() {
		return types.Double
	}
	return types.Decimal(types.MaxDecimalPrecision, int(types.AsDecimal(t).Scale))
}

// rowsTo moves rows before they are grouped.
func (x *planner) rowsTo(a *physical.Aggregate, all []*stream, st *stored, e Exchange) {
	var items []logical.Item
	for _, i := range x.ownKeys(a) {
		g := a.Groups[i]
		c, ok := g.Expr.(*expr.Column)
		if !ok {
			it := logical.NewItem(&x.alloc, g.Col.Name, g.Expr)
			items = append(items, it)
			c, a.Groups[i].Expr = it.Col, it.Col
		}
		e.Keys = append(e.Keys, c.ID)
	}
	if a.Algorithm == physical.StreamAggregate || slices.ContainsFunc(a.Dense, func(d physical.DenseDomain) bool { return d.IsDictionary }) {
		a.Algorithm, a.Dense, a.Reason = physical.HashAggregate, nil, "rows come from other GPUs"
	}
	var moved *stream
	for _, s := range all {
		addItems(s, items)
		if moved = s; s.lay == spread || e.Kind == Repartition {
			moved = x.moveBefore(a, s, e)
		}
	}
	st.lay, st.reason = moved.lay, "the first GPU has all rows"
	if moved.lay == spread {
		st.homes, st.reason = x.atHome(a, x.ends[a]), "all rows of a group came to one GPU"
		a.EstGroups /= float64(x.places)
	}
}

// ownKeys are the keys, by their numbers, by which groups are given to places: all of them, or those by which the only reader groups them again, as COUNT(DISTINCT) does; then nothing has to move twice.
func (x *planner) ownKeys(a *physical.Aggregate) (keys []int) {
	var again *physical.Aggregate
	var scan *physical.SinkScan
	readers := 0
	for _, p := range x.plan.Pipelines {
		from, ok := p.Source.(*physical.SinkScan)
		if !ok || from.From != physical.Sink(a) {
			continue
		}
		readers++
		if !slices.ContainsFunc(p.Transforms, func(t physical.Transform) bool { _, is := t.(*physical.Filter); return !is }) {
			again, _ = p.Sink.(*physical.Aggregate)
			scan = from
		}
	}
	if readers == 1 && again != nil && again.EstGroups >= x.t.EvenGroups*float64(x.places) {
		for i, g := range a.Groups {
			at := slices.Index(scan.Ins, g.Col.ID)
			if at >= 0 && slices.ContainsFunc(again.Groups, func(o logical.Item) bool {
				c, ok := o.Expr.(*expr.Column)
				return ok && c.ID == scan.Cols[at].ID
			}) {
				keys = append(keys, i)
			}
		}
	}
	if len(keys) == 0 {
		for i := range a.Groups {
			keys = append(keys, i)
		}
	}
	return keys
}

// addItems computes further columns at the end of a stream.
func addItems(s *stream, items []logical.Item) {
	if len(items) == 0 {
		return
	}
	t := &physical.Project{Items: items}
	for _, c := range s.p.AliveBefore(len(s.p.Transforms)) {
		t.Keep = append(t.Keep, c.ID)
	}
	for _, it := range items {
		t.Keep = append(t.Keep, it.Col.ID)
	}
	s.p.Transforms = append(s.p.Transforms, t)
	s.homes = project(s.homes, t)
}

// compute has a stream over a sink compute those of the columns of src that the sink does not have.
func (x *planner) compute(s *stream, src *physical.SinkScan, values map[expr.ColumnID]expr.Expr) {
	t := &physical.Project{}
	read := *src
	src.Cols, src.Ins = nil, nil
	var extra logical.ColSet
	for i, c := range read.Cols {
		t.Keep = append(t.Keep, c.ID)
		e := values[read.Ins[i]]
		if e == nil {
			src.Cols, src.Ins = append(src.Cols, c), append(src.Ins, read.Ins[i])
			continue
		}
		t.Items = append(t.Items, logical.Item{Col: c, Expr: e})
		extra.AddExpr(e)
	}
	for _, c := range physical.SinkColumns(src.From) {
		if extra.Has(c.ID) {
			src.Cols, src.Ins = append(src.Cols, c), append(src.Ins, c.ID)
		}
	}
	if len(t.Items) > 0 {
		s.p.Transforms = append(s.p.Transforms, t)
	}
}
