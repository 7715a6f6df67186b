package stats

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Estimator answers questions about the nodes of one statement's plans. Nodes being immutable, answers stay valid while
// rules rewrite the tree. It serves one goroutine.
type Estimator struct {
	rows     map[logical.Node]float64
	cols     map[colKey]*Column
	ranges   map[colKey]valueRange // of columns of shared plans, and of those that expressions give
	uniques  map[proofKey]bool
	closures map[proofKey]logical.ColSet
	samples  map[*table.Version][]triedFilter
	loops    map[*logical.Loop]*logical.Recursive
}

// proofKey is a question about the columns cols of a join or a shared plan. The answers are kept: joins ask about their inputs
// more than once, and a shared plan has several readers, so that the questions would double at each level.
type proofKey struct {
	node       logical.Node
	cols       string
	nullsEqual bool
}

// valueRange is what columnBounds returns.
type valueRange struct {
	lo, hi int64
	ok     bool
}

type colKey struct {
	node logical.Node
	id   expr.ColumnID
}

// NewEstimator returns an estimator that has seen nothing yet.
func NewEstimator() *Estimator { return &Estimator{} }

// Column is what is estimated of one column of a node.
type Column struct {
	Distinct float64 // values other than NULL in the node's rows
	// Domain is how many values there were to choose from: Distinct before conditions on other columns dropped rows. An
	// equality of two columns matches by it, if one side's values contain the other's.
	Domain   float64
	NullFrac float64
	Min, Max types.Value        // NULL if unknown
	Base     *table.ColumnStats // of the stored column that the values come from, or nil
	IsTotal  bool               // the result of COUNT, SUM or AVG
}

// MaxRows is the largest estimate: products of many relations stay numbers that can be compared, added up and put into an
// int64.
const MaxRows = 1e15

// Know tells the estimator which recursion the work tables of a loop belong to.
func (e *Estimator) Know(r *logical.Recursive) {
	if e.loops == nil {
		e.loops = map[*logical.Loop]*logical.Recursive{}
	}
	e.loops[r.Loop] = r
}

// Rows returns the estimated number of rows of n.
func (e *Estimator) Rows(n logical.Node) float64 {
	if r, ok := e.rows[n]; ok {
		return r
	}
	r := e.computeRows(n)
	if !(r <= MaxRows) { // NaN too
		r = MaxRows
	}
	if e.rows == nil {
		e.rows = map[logical.Node]float64{}
	}
	e.rows[n] = r
	return r
}

func (e *Estimator) computeRows(n logical.Node) float64 {
	switch x := n.(type) {
	case *logical.Scan:
		rows := float64(x.Table.Rows())
		if len(x.Filter) == 0 || rows == 0 {
			return rows
		}
		return atLeastOne(rows*e.scanShare(x), rows)
	case *logical.Values:
		return float64(len(x.Rows))
	case *logical.Filter:
		if s, ok := x.Input.(*logical.Scan); ok {
			return e.Rows(s.WithExprs(slices.Concat(s.Filter, x.Preds)))
		}
		rows := e.Rows(x.Input)
		return atLeastOne(rows*e.Selectivity(x.Preds, x.Input), rows)
	case *logical.Project:
		return e.Rows(x.Input)
	case *logical.Window:
		return e.Rows(x.Input)
	case *logical.Unnest:
		return documentRows * e.Rows(x.Input)
	case *logical.Recursive:
		return recursiveGrowth * e.Rows(x.Seed)
	case *logical.WorkTable:
		return workTableRows
	case *logical.Join:
		return e.joinRows(x.Kind, x.Left, x.Right, x.On, x.Corr)
	case *logical.Apply:
		return e.joinRows(x.Kind, x.Left, x.Right, x.On, x.Corr)
	case *logical.Aggregate:
		if x.Scalar {
			return 1
		}
		keys := make([]expr.Expr, len(x.Groups))
		for i, g := range x.Groups {
			keys[i] = g.Expr
		}
		return e.Groups(x.Input, keys)
	case *logical.Sort:
		return limited(e.Rows(x.Input), x.Count, x.Offset)
	case *logical.Limit:
		return limited(e.Rows(x.Input), x.Count, x.Offset)
	case *logical.SetOp:
		return e.setRows(x)
	case *logical.Shared:
		return e.Rows(x.Plan.Root)
	}
	return 1
}

// What is assumed of recursions: how many times its first rows one gives in all, and the rows of a round.
const (
	recursiveGrowth = 10
	workTableRows   = 100
)

// documentRows is what is assumed of the rows of a document.
const documentRows = 8

// atLeastOne keeps estimates of relations that are not known to be empty away from zero.
func atLeastOne(rows, of float64) float64 { return min(max(rows, 1), of) }

func limited(rows float64, count, offset int64) float64 {
	rows = max(rows-float64(offset), 0)
	if count != logical.NoLimit {
		rows = min(rows, float64(count))
	}
	return rows
}

// setRows estimates the result of a set operation from its inputs' rows, or from the distinct ones among them if the result's are
// distinct.
func (e *Estimator) setRows(s *logical.SetOp) float64 {
	rows := func(input int) float64 { return e.Rows(s.All[input]) }
	switch s.Kind {
	case logical.Union, logical.Intersect, logical.Except:
		rows = func(input int) float64 { return e.InputGroups(s, input) }
	}
	switch s.Kind {
	case logical.UnionAll, logical.Union:
		sum := 0.0
		for i := range s.All {
			sum += rows(i)
		}
		return sum
	case logical.Intersect, logical.IntersectAll:
		return 0.5 * min(rows(0), rows(1))
	}
	first := rows(0)
	return max(0.5*first, first-rows(1))
}

// InputGroups returns the estimated number of distinct rows in an input of s.
func (e *Estimator) InputGroups(s *logical.SetOp, input int) float64 {
	keys := make([]expr.Expr, len(s.InCols[input]))
	for i, c := range s.InCols[input] {
		keys[i] = c
	}
	return e.Groups(s.All[input], keys)
}

// Groups returns the estimated number of distinct combinations of keys in n.
func (e *Estimator) Groups(n logical.Node, keys []expr.Expr) float64 {
	rows := e.Rows(n)
	groups := 1.0
	for _, k := range keys {
		d := e.distinctOf(n, k)
		if k.Nullable() {
			d++
		}
		groups *= max(d, 1)
		if groups >= rows { // further keys make no more
			return rows
		}
	}
	return min(groups, rows)
}

// distinctOf estimates the distinct values of k over n's rows.
func (e *Estimator) distinctOf(n logical.Node, k expr.Expr) float64 {
	switch x := k.(type) {
	case *expr.Column:
		return e.Column(n, x.ID).Distinct
	case *expr.Const:
		return 1
	case *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.IsNull, *expr.In:
		return 2
	}
	most := e.Rows(n)
	if _, call := k.(*expr.Call); call {
		if lo, hi, ok := e.Bounds(n, k); ok {
			most = min(most, float64(hi)-float64(lo)+1)
		}
	}
	d := 1.0
	var seen logical.ColSet
	expr.Columns(k, func(id expr.ColumnID) {
		if !seen.Has(id) && logical.Out(n).Has(id) {
			seen.Add(id)
			d = min(d*max(e.Column(n, id).Distinct, 1), most)
		}
	})
	return max(d, 1)
}

// Column returns the estimates of the column id, which n gives.
func (e *Estimator) Column(n logical.Node, id expr.ColumnID) *Column {
	k := colKey{n, id}
	if c := e.cols[k]; c != nil {
		return c
	}
	c := e.computeColumn(n, id)
	if rows := e.Rows(n); c.Distinct > rows {
		d := *c
		d.Distinct = rows
		c = &d
	}
	if e.cols == nil {
		e.cols = map[colKey]*Column{}
	}
	e.cols[k] = c
	return c
}

// unknown is what is assumed of a column of which nothing is known.
func unknown(rows float64, c *expr.Column) *Column {
	out := &Column{Distinct: max(rows/2, 1), Domain: max(rows/2, 1)}
	if c != nil && c.Null {
		out.NullFrac = 0.05
	}
	return out
}

func (e *Estimator) computeColumn(n logical.Node, id expr.ColumnID) *Column {
	switch x := n.(type) {
	case *logical.Scan:
		return e.scanColumn(x, id)
	case *logical.Filter:
		c := e.Column(x.Input, id)
		return e.filtered(c, restrict(c, x.Preds, id), e.Rows(x.Input), e.Rows(x))
	case *logical.Project:
		for _, it := range x.Items {
			if it.Col.ID == id {
				return e.ofExpr(x.Input, it.Expr)
			}
		}
	case *logical.Join:
		return e.joinColumn(x, id)
	case *logical.Aggregate:
		return e.aggregateColumn(x, id)
	case *logical.Window:
		if logical.Out(x.Input).Has(id) {
			return e.Column(x.Input, id)
		}
	case *logical.Unnest:
		if logical.Out(x.Input).Has(id) {
			return e.Column(x.Input, id)
		}
	case *logical.Sort:
		return e.sampled(e.Column(x.Input, id), e.Rows(x.Input), e.Rows(x))
	case *logical.Limit:
		return e.sampled(e.Column(x.Input, id), e.Rows(x.Input), e.Rows(x))
	case *logical.SetOp:
		for i, c := range x.Cols {
			if c.ID == id {
				out := Column{}
				nulls, rows := 0.0, 0.0
				for k, in := range x.All {
					ic := e.Column(in, x.InCols[k][i].ID)
					out.Distinct = max(out.Distinct, ic.Distinct)
					out.Domain = max(out.Domain, ic.Domain)
					nulls += ic.NullFrac * e.Rows(in)
					rows += e.Rows(in)
				}
				out.NullFrac = nulls / max(rows, 1)
				return &out
			}
		}
	case *logical.Shared:
		for i, c := range x.Cols {
			if c.ID == id {
				return e.Column(x.Plan.Root, x.From[i].ID)
			}
		}
	}
	return unknown(e.Rows(n), logical.FindColumn(n, id))
}

func (e *Estimator) scanColumn(s *logical.Scan, id expr.ColumnID) *Column {
	rows := float64(s.Table.Rows())
	for i, c := range s.Cols {
		if c.ID != id {
			continue
		}
		if s.Ordinals[i] == logical.RowIDOrdinal {
			return &Column{Distinct: rows, Domain: rows}
		}
		st := s.Table.Stats(s.Ordinals[i])
		d := max(st.Distinct, 1)
		base := &Column{Distinct: d, Domain: d, NullFrac: st.NullFraction(), Min: st.Min, Max: st.Max, Base: st}
		if len(s.Filter) == 0 {
			return base
		}
		return e.filtered(base, e.narrowedBySample(s, s.Ordinals[i], restrict(base, s.Filter, id)), rows, e.Rows(s))
	}
	return unknown(rows, nil)
}

// filtered is own, which is c narrowed by the conditions on it, after the loss of rows to other conditions.
func (e *Estimator) filtered(c, own *Column, before, after float64) *Column {
	// What share of the rows do the conditions on this column alone keep?
	share := 1.0
	if c.Domain > 0 {
		share = own.Domain / c.Domain
	}
	return e.sampled(own, before*share, after)
}

// sampled is c in after rows drawn from before: each of d values survives unless all of its rows are left out.
func (e *Estimator) sampled(c *Column, before, after float64) *Column {
	if before <= 0 || after >= before {
		return c
	}
	out := *c
	out.Distinct = Drawn(c.Distinct, before, after)
	return &out
}

// Drawn is the expected number of distinct values in k rows drawn of n that hold d values equally often (Yao 1977, by
// Cardenas' approximation).
func Drawn(d, n, k float64) float64 {
	if d <= 0 || n <= 0 {
		return 0
	}
	per := n / d // rows of a value
	p := 1 - math.Pow(max(1-k/n, 0), per)
	return max(min(d*p, k), min(1, k))
}

func (e *Estimator) ofExpr(n logical.Node, x expr.Expr) *Column {
	switch x := x.(type) {
	case *expr.Column:
		if logical.Out(n).Has(x.ID) {
			return e.Column(n, x.ID)
		}
	case *expr.Cast:
		in := e.ofExpr(n, x.Arg)
		return &Column{Distinct: in.Distinct, Domain: in.Domain, NullFrac: in.NullFrac}
	case *expr.Const:
		if x.Value.Null {
			return &Column{NullFrac: 1}
		}
	}
	if c := e.shifted(n, x); c != nil {
		return c
	}
	d := e.distinctOf(n, x)
	return &Column{Distinct: d, Domain: d}
}

// shifted returns the estimates of a column of integers plus or less a constant; nil: x is none.
func (e *Estimator) shifted(n logical.Node, x expr.Expr) *Column {
	call, ok := x.(*expr.Call)
	if !ok || call.Fn.Name != "add" && call.Fn.Name != "sub" {
		return nil
	}
	by, ok := call.Args[1].(*expr.Const)
	in := e.columnOf(call.Args[0], n)
	if !ok || in == nil || by.Value.Null || !by.Value.Type.IsInteger() || !call.Args[0].Type().IsInteger() {
		return nil
	}
	out := &Column{Distinct: in.Distinct, Domain: in.Domain, NullFrac: in.NullFrac, Min: types.NullOf(x.Type()), Max: types.NullOf(x.Type())}
	if lo, hi, ok := numbers(in.Min, in.Max); ok && x.Type().Phys() == types.PhysInt64 && in.Min.Type.Phys() == types.PhysInt64 && math.Abs(lo)+math.Abs(hi)+math.Abs(float64(by.Value.I)) < 1<<53 {
		d := by.Value.I
		if call.Fn.Name == "sub" {
			d = -d
		}
		out.Min, out.Max = types.Value{Type: x.Type(), I: in.Min.I + d}, types.Value{Type: x.Type(), I: in.Max.I + d}
	}
	return out
}

func (e *Estimator) joinColumn(j *logical.Join, id expr.ColumnID) *Column {
	if j.Mark != nil && j.Mark.ID == id {
		return &Column{Distinct: 2, Domain: 2}
	}
	side := j.Left
	if !logical.Out(side).Has(id) {
		side = j.Right
	}
	c := e.Column(side, id)
	before, after := e.Rows(side), e.Rows(j)
	if j.Kind == logical.InnerJoin || j.Kind == logical.SemiJoin {
		// An equality leaves only values that both sides have.
		for _, p := range j.On {
			l, r, ok := equality(p)
			if !ok || l.ID != id && r.ID != id {
				continue
			}
			other := l
			if l.ID == id {
				other = r
			}
			for _, s := range [2]logical.Node{j.Left, j.Right} {
				if s != side && logical.Out(s).Has(other.ID) {
					c = c.meeting(e.Column(s, other.ID))
				}
			}
		}
	}
	if side == j.Right && (j.Kind == logical.LeftJoin || j.Kind == logical.SingleJoin) {
		out := *c
		out.NullFrac = 1 - (1-c.NullFrac)*min(e.matched(j.Left, j.Right, j.On)*e.Rows(j.Left)/max(after, 1), 1)
		c = &out
	}
	return e.sampled(c, before, after)
}

func (e *Estimator) aggregateColumn(a *logical.Aggregate, id expr.ColumnID) *Column {
	for _, g := range a.Groups {
		if g.Col.ID == id {
			return e.ofExpr(a.Input, g.Expr)
		}
	}
	for i := range a.Aggs {
		agg := &a.Aggs[i]
		if agg.Col.ID != id || len(agg.Args) == 0 {
			continue
		}
		switch agg.Fn.Kind {
		case expr.AggMin, expr.AggMax, expr.AggAnyValue, expr.AggSingle:
			in := *e.ofExpr(a.Input, agg.Args[0])
			in.Base = nil
			return &in
		}
	}
	rows := max(e.Rows(a), 1)
	for i := range a.Aggs {
		if agg := &a.Aggs[i]; agg.Col.ID == id && (agg.Fn.Kind == expr.AggCount || agg.Fn.Kind == expr.AggCountStar) { // k different counts are of k(k-1)/2 rows at least
			rows = min(rows, math.Sqrt(2*max(e.Rows(a.Input), 1))+1)
		}
	}
	return &Column{Distinct: rows, Domain: rows, IsTotal: true}
}

// equality returns the sides of an equality of two columns.
func equality(p expr.Expr) (l, r *expr.Column, ok bool) {
	c, isCompare := p.(*expr.Compare)
	if !isCompare || c.Op != expr.EQ && c.Op != expr.NSEQ {
		return nil, nil, false
	}
	l, lok := c.Left.(*expr.Column)
	r, rok := c.Right.(*expr.Column)
	return l, r, lok && rok
}
