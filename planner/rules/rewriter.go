package rules

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/planner/joinorder"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// rewriter is the state of one call of Optimize.
type rewriter struct {
	root    logical.Node
	output  []*expr.Column
	alloc   *expr.Allocator
	fold    *expr.Context
	est     *stats.Estimator
	device  physical.Device // that is expected to run the plan
	joins   joinorder.Model
	shape   shape
	changed bool
	eager   bool // costs do not matter

	pairsOnly   bool // accumulate_ranges is switched off
	keepsBuilds bool // filter_builds is switched off

	plans int // shared plans made, for their IDs
	nodes int // of the plan, when shape was found
	polls int
	err   error // the statement was cancelled while a rule ran
}

// stopped says whether the statement has been cancelled. Whatever walks over a plan asks it at each node, and leaves alone what it
// has not come to: the plan is thrown away.
func (w *rewriter) stopped() bool {
	if w.polls++; w.err == nil && w.polls&7 == 0 {
		w.err = w.fold.Interrupted()
	}
	return w.err != nil
}

// shape is a set of properties of a plan, found in one walk, that say which rules have something to do.
type shape uint32

const (
	hasConditions shape = 1 << iota
	hasSubquery
	hasApply
	hasMark
	hasJoin
	hasOuterJoin
	hasAggregate
	hasSort
	hasLimit
	hasSetOp
	hasShared
	hasRepeatedScan
	hasEmpty
	hasWindow
	always
)

// look finds the shape and the size of the plan, its subqueries and its shared plans.
func (w *rewriter) look() {
	v := shaper{found: always, est: w.est}
	v.visit(w.root)
	w.shape, w.nodes = v.found, v.nodes
}

// TableRows returns the rows of all tables that a query scans, at each scan.
func TableRows(q *logical.Query) float64 {
	v := shaper{}
	v.visit(q.Root)
	return v.rows
}

type shaper struct {
	found shape
	nodes int
	rows  float64 // of the tables scanned
	plans map[*logical.SharedPlan]bool
	scans map[*table.Version]bool
	est   *stats.Estimator // learns of recursions; nil: none does
}

func (v *shaper) visit(n logical.Node) {
	v.nodes++
	switch x := n.(type) {
	case *logical.Scan:
		if len(x.Filter) > 0 {
			v.found |= hasConditions
			v.exprs(x.Filter)
		}
		v.scan(x.Table)
		return
	case *logical.Values:
		if len(x.Rows) == 0 {
			v.found |= hasEmpty
		}
		for _, r := range x.Rows {
			v.exprs(r)
		}
		return
	case *logical.Filter:
		v.found |= hasConditions
		v.exprs(x.Preds)
		v.visit(x.Input)
		return
	case *logical.Project:
		for i := range x.Items {
			v.expr(x.Items[i].Expr)
		}
		v.visit(x.Input)
		return
	case *logical.Join:
		v.join(x.Kind)
		v.found |= hasJoin
		if len(x.On) > 0 {
			v.found |= hasConditions
		}
		v.exprs(x.On)
		v.exprs(x.Corr)
		v.visit(x.Left)
		v.visit(x.Right)
		return
	case *logical.Apply:
		v.join(x.Kind)
		v.found |= hasApply
		v.exprs(x.On)
	case *logical.Aggregate:
		v.found |= hasAggregate
		v.exprs(x.Exprs())
	case *logical.Window:
		v.found |= hasWindow
		v.exprs(x.Exprs())
	case *logical.Unnest:
		v.expr(x.Doc)
		if x.Outer {
			v.found |= hasOuterJoin
		}
	case *logical.Sort:
		v.found |= hasSort
		for i := range x.Keys {
			v.expr(x.Keys[i].Expr)
		}
		if x.Count != logical.NoLimit {
			v.found |= hasLimit
		}
	case *logical.Limit:
		v.found |= hasLimit
	case *logical.SetOp:
		v.found |= hasSetOp
	case *logical.Shared:
		v.shared(x.Plan)
	case *logical.Recursive:
		if v.est != nil {
			v.est.Know(x)
		}
	}
	for _, in := range n.Inputs() {
		v.visit(in)
	}
}

func (v *shaper) scan(t *table.Version) {
	v.rows += float64(t.Rows())
	if v.scans[t] {
		v.found |= hasRepeatedScan
		return
	}
	if v.scans == nil {
		v.scans = map[*table.Version]bool{}
	}
	v.scans[t] = true
}

// shared visits a shared plan once.
func (v *shaper) shared(p *logical.SharedPlan) {
	v.found |= hasShared
	if v.plans[p] {
		return
	}
	if v.plans == nil {
		v.plans = map[*logical.SharedPlan]bool{}
	}
	v.plans[p] = true
	v.visit(p.Root)
}

func (v *shaper) join(kind logical.JoinKind) {
	switch kind {
	case logical.LeftJoin, logical.FullJoin, logical.SingleJoin:
		v.found |= hasOuterJoin
	case logical.MarkJoin:
		v.found |= hasMark
	}
}

func (v *shaper) exprs(es []expr.Expr) {
	for _, e := range es {
		v.expr(e)
	}
}

// expr looks for subqueries and for constant conditions that make a relation empty.
func (v *shaper) expr(e expr.Expr) {
	switch x := e.(type) {
	case *expr.Column:
	case *expr.Const:
		v.found |= hasEmpty // perhaps: a condition that is FALSE
	case *expr.Subquery:
		v.found |= hasSubquery
		v.exprs(x.Args)
		v.visit(x.Rel.(logical.Node))
	case *expr.Compare:
		v.operand(x.Left)
		v.operand(x.Right)
	case *expr.Case:
		v.found |= hasConditions
		for _, c := range x.Children() {
			v.operand(c)
		}
	default:
		for _, c := range x.Children() {
			v.operand(c)
		}
	}
}

func (v *shaper) operand(e expr.Expr) {
	if _, ok := e.(*expr.Const); !ok {
		v.expr(e)
	}
}

// each replaces the root and the roots of the shared plans by f's results. Plans come before their readers.
func (w *rewriter) each(f func(logical.Node) (logical.Node, error)) error {
	if w.shape&hasShared != 0 {
		for _, p := range w.sharedPlans() {
			if w.stopped() {
				return w.err
			}
			n, err := f(p.Root)
			if err != nil {
				return err
			}
			if n != p.Root {
				p.Root, w.changed = n, true
			}
		}
	}
	n, err := f(w.root)
	if err != nil {
		return err
	}
	if n != w.root {
		w.root, w.changed = n, true
	}
	return nil
}

// sharedPlans is logical.SharedPlans of the root; without subqueries there is no need to look into expressions.
func (w *rewriter) sharedPlans() []*logical.SharedPlan {
	if w.shape&hasSubquery != 0 {
		return logical.SharedPlans(w.root)
	}
	var out []*logical.SharedPlan
	var visit func(n logical.Node) bool
	visit = func(n logical.Node) bool {
		if s, ok := n.(*logical.Shared); ok && !slices.Contains(out, s.Plan) {
			logical.Walk(s.Plan.Root, visit)
			out = append(out, s.Plan)
		}
		return true
	}
	logical.Walk(w.root, visit)
	return out
}

// eachNode replaces every node, inputs first, by f's result, in the root, in the shared plans and in subqueries. It asks before and behind a node's inputs
// whether planning was stopped: f may take long over each of very many nodes.
func (w *rewriter) eachNode(f func(logical.Node) logical.Node) {
	var visit func(logical.Node) logical.Node
	var inExpr func(expr.Expr) expr.Expr
	if w.shape&hasSubquery != 0 {
		inExpr = func(e expr.Expr) expr.Expr {
			return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
				q, ok := e.(*expr.Subquery)
				if !ok {
					return e
				}
				rel := q.Rel.(logical.Node)
				n := visit(rel)
				if n == rel {
					return e
				}
				c := *q
				c.Rel = n
				return &c
			})
		}
	}
	visit = func(n logical.Node) logical.Node {
		if w.stopped() {
			return n
		}
		if n = logical.MapInputs(n, visit); w.stopped() {
			return n
		}
		if inExpr != nil {
			n = logical.MapExprs(n, inExpr)
		}
		return f(n)
	}
	// The function never fails.
	_ = w.each(func(n logical.Node) (logical.Node, error) { return visit(n), nil })
}

// ownShared gives the plan shared plans of its own, so that rules may replace their roots: the bound tree may be in use
// elsewhere.
func (w *rewriter) ownShared() {
	own := map[*logical.SharedPlan]*logical.SharedPlan{}
	for _, p := range logical.SharedPlans(w.root) {
		own[p] = &logical.SharedPlan{ID: p.ID, Name: p.Name, Root: p.Root}
		w.plans = max(w.plans, p.ID)
	}
	replace := func(n logical.Node) logical.Node {
		if s, ok := n.(*logical.Shared); ok && own[s.Plan] != nil {
			return &logical.Shared{Plan: own[s.Plan], Cols: s.Cols, From: s.From}
		}
		return n
	}
	// Readers inside plans first: SharedPlans gives a plan after those that it reads.
	sub := &rewriter{shape: w.shape &^ hasShared}
	for old, p := range own {
		sub.root = old.Root
		sub.eachNode(replace)
		p.Root = sub.root
	}
	sub.root = w.root
	sub.eachNode(replace)
	w.root = sub.root
}

// newShared makes a plan that several nodes are to read.
func (w *rewriter) newShared(name string, root logical.Node) *logical.SharedPlan {
	w.plans++
	return &logical.SharedPlan{ID: w.plans, Name: name, Root: root}
}

// outputColumns returns the output columns as the final plan gives them.
func (w *rewriter) outputColumns() []*expr.Column {
	var out []*expr.Column
	final := make(map[expr.ColumnID]*expr.Column, len(w.output))
	for _, c := range w.root.Schema() {
		final[c.ID] = c
	}
	for i, c := range w.output {
		f := final[c.ID]
		if f != nil && f != c {
			if out == nil {
				out = append(out, w.output...)
			}
			out[i] = f
		}
	}
	if out == nil {
		return w.output
	}
	return out
}

func (w *rewriter) check(rule string) error {
	err := logical.Check(w.root)
	if err == nil && !logical.SetOfCols(w.output).Within(logical.Out(w.root)) {
		err = fmt.Errorf("an output column is lost")
	}
	if err != nil {
		return sqlerr.Bug("rule %s made a wrong plan: %v\n%s", rule, err, logical.Format(w.root))
	}
	return nil
}

// passes says whether the item passes a column through.
func passes(it logical.Item) bool {
	c, ok := it.Expr.(*expr.Column)
	return ok && c.ID == it.Col.ID
}

// itemMap maps the items' columns to their expressions, those that pass through left out.
func itemMap(items []logical.Item) map[expr.ColumnID]expr.Expr {
	var m map[expr.ColumnID]expr.Expr
	for _, it := range items {
		if !passes(it) {
			if m == nil {
				m = make(map[expr.ColumnID]expr.Expr, len(items))
			}
			m[it.Col.ID] = it.Expr
		}
	}
	return m
}

func substituteAll(es []expr.Expr, m map[expr.ColumnID]expr.Expr) []expr.Expr {
	if len(m) == 0 {
		return es
	}
	return logical.MapEach(es, func(e expr.Expr) expr.Expr { return expr.Substitute(e, m) })
}

func columnMap(from, to []*expr.Column) map[expr.ColumnID]expr.Expr {
	m := make(map[expr.ColumnID]expr.Expr, len(from))
	for i, c := range from {
		m[c.ID] = to[i]
	}
	return m
}

// withInput gives n, which has one input, old, the input in.
func withInput(n, old, in logical.Node) logical.Node {
	if in == old {
		return n
	}
	return n.WithInputs([]logical.Node{in})
}
