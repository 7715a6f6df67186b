package physical

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Estimator is what lowering asks about a logical node; planner/stats answers.
type Estimator interface {
	// Rows is the estimated number of rows of a node.
	Rows(n logical.Node) float64
	// Groups is the estimated number of distinct combinations of cols in a node.
	Groups(n logical.Node, cols []expr.Expr) float64
	// InputGroups is the estimated number of distinct rows in an input of a set operation.
	InputGroups(n *logical.SetOp, input int) float64
	// MostFrequent is the estimated number of rows of a node that agree in all of keys at most.
	MostFrequent(n logical.Node, keys []expr.Expr) float64
	// Bounds are proven bounds of an integer-valued expression over a node's rows.
	Bounds(n logical.Node, e expr.Expr) (lo, hi int64, ok bool)
	// CannotFail says whether it is proven that an expression has a value, or NULL, in every row that a node may have.
	CannotFail(n logical.Node, e expr.Expr) bool
	// Unique says whether it is proven that no two rows of a node agree in cols, none of which is NULL.
	Unique(n logical.Node, cols []expr.ColumnID) bool
	// Distinct says whether it is proven that no two rows of a node agree in cols, NULLs being equal.
	Distinct(n logical.Node, cols logical.ColSet) bool
}

// Options steer lowering.
type Options struct {
	Estimator Estimator
	// NoRuntimeFilters switches runtime filters off.
	NoRuntimeFilters bool
	// Device is where the plan is expected to run. It runs on any.
	Device Device
	// Interrupted returns an error once the statement has been cancelled; nil: it never is.
	Interrupted func() error
}

// poll asks whether the statement has been cancelled.
func poll(interrupted func() error) error {
	if interrupted == nil {
		return nil
	}
	return interrupted()
}

// Lower turns an optimized query into pipelines.
//
// A node is opened: that gives the pipelines, still without sinks, that deliver its rows (several for UNION ALL and
// outer joins). Operators that store nothing add a transform to each; pipeline breakers close them with a sink and open
// a new one that reads it.
func Lower(q *logical.Query, opts Options) (*Plan, error) {
	l := &lowering{opts: opts, est: opts.Estimator, alloc: q.Alloc, shared: map[*logical.SharedPlan]Sink{}, sharers: map[Sink][]*Pipeline{}}
	open, err := l.open(q.Root)
	if err != nil {
		return nil, err
	}
	in := make([]expr.ColumnID, len(q.Cols))
	for i, c := range q.Cols {
		in[i] = c.ID
	}
	l.close(open, &Result{In: in}, l.est.Rows(q.Root))
	plan := &Plan{Pipelines: l.done, Cols: q.Cols, Names: q.Names, Ordered: ordered(q.Root), Logical: q.Root}
	for i, p := range plan.All() {
		p.ID = i
	}
	if err := prune(plan, opts.Interrupted); err != nil {
		return nil, err
	}
	return plan, nil
}

// ordered says whether the rows of n come in an order that was asked for.
func ordered(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Sort:
		return true
	case *logical.Limit:
		return ordered(x.Input)
	case *logical.Project:
		return ordered(x.Input)
	case *logical.Filter:
		return ordered(x.Input)
	}
	return false
}

type lowering struct {
	opts    Options
	est     Estimator
	alloc   *expr.Allocator
	done    []*Pipeline
	shared  map[*logical.SharedPlan]Sink
	sharers map[Sink][]*Pipeline // the pipelines that end in a shared plan's sink
	work    map[*logical.Loop]*WorkTable
}

// close ends pipelines in one sink.
func (l *lowering) close(open []*Pipeline, s Sink, rows float64) {
	for _, p := range open {
		p.Sink, p.EstRows = s, rows
		l.done = append(l.done, p)
	}
}

// reopen starts a pipeline that reads what closed pipelines stored in s.
func (l *lowering) reopen(closed []*Pipeline, s Sink, cols []*expr.Column) []*Pipeline {
	scan := &SinkScan{From: s, Cols: cols}
	for _, c := range cols {
		scan.Ins = append(scan.Ins, c.ID)
	}
	return []*Pipeline{{Source: scan, Deps: closed}}
}

func (l *lowering) open(n logical.Node) ([]*Pipeline, error) {
	if err := poll(l.opts.Interrupted); err != nil {
		return nil, err
	}
	switch x := n.(type) {
	case *logical.Scan:
		return []*Pipeline{{Source: &TableScan{
			Table: x.Table, Alias: x.Alias, Cols: x.Cols, Ordinals: x.Ordinals, Filters: x.Filter, EstRows: l.est.Rows(x),
		}}}, nil
	case *logical.Values:
		return []*Pipeline{{Source: &ValuesScan{Cols: x.Cols, Rows: x.Rows, First: x.First}}}, nil
	case *logical.Filter:
		preds := make([]expr.Expr, len(x.Preds))
		for i, e := range x.Preds {
			preds[i] = l.narrow(x.Input, e)
		}
		if w, ok := x.Input.(*logical.Window); ok {
			open, err := l.window(w, topOf(w, x.Preds))
			return addTransform(open, &Filter{Preds: preds}), err
		}
		return l.transform(x.Input, &Filter{Preds: preds})
	case *logical.Project:
		return l.project(x)
	case *logical.Join:
		return l.join(x)
	case *logical.Aggregate:
		return l.aggregate(x)
	case *logical.Window:
		return l.window(x, 0)
	case *logical.Unnest:
		return l.transform(x.Input, &Unnest{
			Doc: x.Doc, Table: x.Table, Cols: x.Cols, Ordinals: x.Ordinals, Outer: x.Outer, Keep: ids(x.Schema()), EstRows: l.est.Rows(x),
		})
	case *logical.Recursive:
		return l.recursive(x)
	case *logical.WorkTable:
		return l.workTable(x)
	case *logical.Sort:
		return l.sort(x)
	case *logical.Limit:
		return l.limit(x)
	case *logical.SetOp:
		return l.setOp(x)
	case *logical.Shared:
		return l.share(x)
	}
	return nil, sqlerr.Bug("no physical operator for %T", n)
}

// transform opens n and adds t to each of its pipelines.
func (l *lowering) transform(n logical.Node, t Transform) ([]*Pipeline, error) {
	open, err := l.open(n)
	if err != nil {
		return nil, err
	}
	return addTransform(open, t), nil
}

func addTransform(open []*Pipeline, t Transform) []*Pipeline {
	for _, p := range open {
		p.Transforms = append(p.Transforms, t)
	}
	return open
}

// limit counts the rows of all pipelines that give them: each of several passes what may be asked for, and what they store is counted
// together.
func (l *lowering) limit(x *logical.Limit) ([]*Pipeline, error) {
	open, err := l.open(x.Input)
	if err != nil {
		return nil, err
	}
	bounded := x.Count != logical.NoLimit && x.Count <= math.MaxInt64-x.Offset
	if bounded {
		limitGroups(x.Input, open, x.Offset+x.Count)
	}
	if len(open) > 1 {
		if bounded {
			most := x.Offset + x.Count
			for _, p := range open {
				if !p.limitedTo(most) {
					p.Transforms = append(p.Transforms, &Limit{Count: most})
				}
			}
		}
		m := &Materialize{Cols: x.Input.Schema()}
		l.close(open, m, l.est.Rows(x.Input))
		open = l.reopen(open, m, m.Cols)
	}
	return addTransform(open, &Limit{Count: x.Count, Offset: x.Offset}), nil
}

// limitGroups lets an aggregation that computes nothing but its groups end when it has so many.
func limitGroups(n logical.Node, open []*Pipeline, groups int64) {
	if x, ok := n.(*logical.Aggregate); !ok || len(x.Aggs) > 0 || x.Scalar || len(open) != 1 || groups == 0 {
		return
	}
	if source, ok := open[0].Source.(*SinkScan); ok && len(open[0].Transforms) == 0 {
		if a, ok := source.From.(*Aggregate); ok {
			a.Enough = groups
		}
	}
}

// limitedTo says whether a limit of the pipeline's own passes so many rows at most.
func (p *Pipeline) limitedTo(rows int64) bool {
	for _, t := range slices.Backward(p.Transforms) {
		switch t := t.(type) {
		case *Project, *Filter:
		case *Limit:
			return t.Count != logical.NoLimit && t.Count <= rows
		default:
			return false
		}
	}
	return false
}

func (l *lowering) project(x *logical.Project) ([]*Pipeline, error) {
	t := &Project{}
	for _, it := range x.Items {
		if c, ok := it.Expr.(*expr.Column); !ok || c.ID != it.Col.ID {
			t.Items = append(t.Items, it)
		}
		t.Keep = append(t.Keep, it.Col.ID)
	}
	if len(t.Items) == 0 {
		return l.open(x.Input) // only passes columns through
	}
	return l.transform(x.Input, t)
}

// narrow lets the exact arithmetic of e run in 64 bits where the bounds of its columns prove that enough.
func (l *lowering) narrow(n logical.Node, e expr.Expr) expr.Expr {
	wide := false
	expr.Walk(e, func(e expr.Expr) bool {
		wide = wide || e.Type().Phys() == types.PhysInt128
		return !wide
	})
	if !wide {
		return e
	}
	ranges := expr.Ranges{}
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Column); ok && c.Typ.Phys() == types.PhysInt64 {
			if lo, hi, ok := l.est.Bounds(n, c); ok {
				ranges[c.ID] = [2]int64{lo, hi}
			}
		}
		return true
	})
	return expr.NarrowDecimals(e, ranges)
}

func (l *lowering) aggregate(x *logical.Aggregate) ([]*Pipeline, error) {
	open, err := l.open(x.Input)
	if err != nil {
		return nil, err
	}
	a := &Aggregate{Algorithm: HashAggregate, Groups: x.Groups, Aggs: slices.Clone(x.Aggs)}
	for i := range a.Aggs {
		switch a.Aggs[i].Fn.Kind {
		case expr.AggSum, expr.AggAvg: // the others give their operand's type
			a.Aggs[i].Args = []expr.Expr{l.narrow(x.Input, a.Aggs[i].Args[0])}
		}
	}
	keys := make([]expr.Expr, len(x.Groups))
	for i, g := range x.Groups {
		keys[i] = g.Expr
	}
	switch {
	case len(x.Groups) == 0 && x.Scalar:
		a.Algorithm, a.Reason, a.EstGroups = ScalarAggregate, "no GROUP BY", 1
	default:
		a.EstGroups = l.est.Groups(x.Input, keys)
		for _, k := range keys {
			b := Bound{}
			if k.Type().Phys() == types.PhysInt64 {
				b.Min, b.Max, b.Known = l.est.Bounds(x.Input, k)
			}
			a.Bounds = append(a.Bounds, b)
		}
		a.Reason = "the range of the keys is large or unknown"
		if x.Hint == logical.HintHashAgg {
			a.Hashed, a.Reason = true, "hint HASH_AGG"
		} else if dense, size, ok := l.denseDomains(x.Input, keys); ok && size <= groupsPlanned {
			a.Algorithm, a.Dense = DenseAggregate, dense
			a.Reason = "the keys can take " + count(size) + " values in all"
		} else if key, ok := streamKey(open, a); ok && (a.EstGroups > streamGroups || x.Hint == logical.HintStreamAgg) {
			a.Algorithm, a.Reason = StreamAggregate, "the input is sorted by "+key.String()
		}
	}
	l.close(open, a, l.est.Rows(x.Input))
	return l.reopen(open, a, x.Schema()), nil
}

// denseDomains returns the domains of group keys if all are bounded integers or dictionary-coded strings, and the
// number of combinations, a slot for NULL in each counted.
func (l *lowering) denseDomains(input logical.Node, keys []expr.Expr) (dense []DenseDomain, size int64, ok bool) {
	size = 1
	for _, k := range keys {
		d := DenseDomain{IsNullable: k.Nullable()}
		lo, hi, known := l.est.Bounds(input, k)
		if !known || hi-lo < 0 || hi-lo >= groupsPlanned {
			return nil, 0, false
		}
		d.Min, d.Max, d.IsDictionary = lo, hi, k.Type().IsString()
		dense = append(dense, d)
		n := hi - lo + 1
		if d.IsNullable {
			n++
		}
		if size *= n; size > groupsPlanned {
			return nil, 0, false
		}
	}
	return dense, size, len(keys) > 0
}

func (l *lowering) sort(x *logical.Sort) ([]*Pipeline, error) {
	open, err := l.open(x.Input)
	if err != nil {
		return nil, err
	}
	s := &Sort{Keys: x.Keys, Cols: x.Schema(), Count: x.Count, Offset: x.Offset}
	l.close(open, s, l.est.Rows(x.Input))
	return l.reopen(open, s, s.Cols), nil
}

// share opens a reader of a plan that is run once.
func (l *lowering) share(x *logical.Shared) ([]*Pipeline, error) {
	sink := l.shared[x.Plan]
	if sink == nil {
		open, err := l.open(x.Plan.Root)
		if err != nil {
			return nil, err
		}
		m := &Materialize{Cols: x.Plan.Root.Schema()}
		l.close(open, m, l.est.Rows(x.Plan.Root))
		l.shared[x.Plan], l.sharers[m] = m, open
		sink = m
	}
	scan := &SinkScan{From: sink, Cols: x.Cols}
	for _, c := range x.From {
		scan.Ins = append(scan.Ins, c.ID)
	}
	return []*Pipeline{{Source: scan, Deps: l.sharers[sink]}}, nil
}

// rename gives the columns from under the names to, by position.
func rename(from, to []*expr.Column) *Project {
	t := &Project{}
	for i, c := range from {
		t.Items = append(t.Items, logical.Item{Col: to[i], Expr: c})
		t.Keep = append(t.Keep, to[i].ID)
	}
	return t
}

// count prints a number for a reason.
func count(n int64) string { return types.IntValue(n).Text() }
