package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const splitOrDoc = `Split joins by an OR of equalities: each branch becomes a join of its own, by a hash table, where no other equality decides.

Legal where nothing can fail, since an OR does not compute what follows a branch that is true. A pair that two branches match must come
once: in
  SELECT * FROM a JOIN b ON b.x = a.x OR b.y = a.y
a later branch leaves out what an earlier one has, though not what is NULL there. Semi and anti joins ask each branch for a match.`

// Of joins with fewer pairs the rows are not read twice, nor those of joins with more branches.
const (
	minSplitPairs = 1 << 21
	maxOrBranches = 4
)

func splitOr(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		if j, ok := n.(*logical.Join); ok && !w.stopped() {
			if s := w.orJoinOf(j); s != nil {
				return s.split()
			}
		}
		return n
	})
	return nil
}

// orJoin is a join by an OR, of which each branch has an equality.
type orJoin struct {
	w        *rewriter
	j        *logical.Join
	branches [][]expr.Expr // conjuncts
	rest     []expr.Expr   // the other conditions
	sides    [2]logical.Node
}

// orJoinOf takes a join apart, or returns nil.
func (w *rewriter) orJoinOf(j *logical.Join) *orJoin {
	switch j.Kind {
	case logical.InnerJoin, logical.LeftJoin, logical.SemiJoin, logical.AntiJoin:
	default:
		return nil
	}
	left, right := logical.Out(j.Left), logical.Out(j.Right)
	s := &orJoin{w: w, j: j, sides: [2]logical.Node{j.Left, j.Right}}
	for i, p := range j.On {
		if joinsByEquality(p, left, right) {
			return nil
		}
		if o, ok := p.(*expr.Or); ok && s.branches == nil && len(o.Args) <= maxOrBranches {
			for _, b := range o.Args {
				s.branches = append(s.branches, expr.Conjuncts(nil, b))
			}
			if slices.ContainsFunc(s.branches, func(b []expr.Expr) bool {
				return !slices.ContainsFunc(b, func(e expr.Expr) bool { return joinsByEquality(e, left, right) })
			}) {
				s.branches = nil
				continue
			}
			s.rest = slices.Delete(slices.Clone(j.On), i, i+1)
		}
	}
	if s.branches == nil || !w.eager && w.est.Rows(j.Left)*w.est.Rows(j.Right) < minSplitPairs {
		return nil
	}
	pairs := &logical.Join{Kind: logical.InnerJoin, Left: j.Left, Right: j.Right}
	for _, p := range j.On {
		if expr.IsVolatile(p) || !w.est.CannotFail(pairs, p) {
			return nil
		}
	}
	for _, side := range s.sides {
		if len(side.FreeColumns()) > 0 || !isCheapWith(side, true) && readsLoop(side) {
			return nil
		}
	}
	return s
}

// joinsByEquality says whether a condition is an equality of the sides of a join.
func joinsByEquality(e expr.Expr, left, right logical.ColSet) bool {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ && c.Op != expr.NSEQ || !usesColumns(c.Left) || !usesColumns(c.Right) {
		return false
	}
	return logical.UsedWithin(c.Left, left) && logical.UsedWithin(c.Right, right) || logical.UsedWithin(c.Left, right) && logical.UsedWithin(c.Right, left)
}

func (s *orJoin) split() logical.Node {
	if s.j.Kind == logical.SemiJoin || s.j.Kind == logical.AntiJoin {
		m := map[expr.ColumnID]expr.Expr{}
		left := s.read(0, m)
		items := make([]logical.Item, 0, len(s.j.Left.Schema()))
		for _, c := range s.j.Left.Schema() {
			items = append(items, logical.Item{Col: c, Expr: m[c.ID]})
		}
		return &logical.Project{Input: s.matching(left, m, s.j.Kind == logical.SemiJoin), Items: items}
	}
	out := &logical.SetOp{Kind: logical.UnionAll, Cols: s.j.Schema()}
	add := func(n logical.Node, m map[expr.ColumnID]expr.Expr) {
		cols := make([]*expr.Column, len(out.Cols))
		for i, c := range out.Cols {
			cols[i] = m[c.ID].(*expr.Column)
		}
		out.All, out.InCols = append(out.All, n), append(out.InCols, cols)
	}
	for i, b := range s.branches {
		m := map[expr.ColumnID]expr.Expr{}
		left, right := s.read(0, m), s.read(1, m)
		on := slices.Concat(b, s.rest)
		for _, before := range s.branches[:i] {
			on = append(on, notTrue(expr.AndOf(before)))
		}
		add(&logical.Join{Kind: logical.InnerJoin, Left: left, Right: right, On: substituteAll(on, m)}, m)
	}
	if s.j.Kind == logical.LeftJoin {
		m := map[expr.ColumnID]expr.Expr{}
		left := s.read(0, m)
		items := logical.PassItems(left.Schema())
		n := s.matching(left, m, false)
		for _, c := range s.j.Right.Schema() {
			null := logical.Item{Col: withNull(s.w.alloc.Like(c), true), Expr: nullOf(c)}
			items = append(items, null)
			m[c.ID] = null.Col
		}
		add(&logical.Project{Input: n, Items: items}, m)
	}
	return out
}

// read reads a side once more, under names that it adds to m.
func (s *orJoin) read(side int, m map[expr.ColumnID]expr.Expr) logical.Node {
	var again logical.Node
	var cols map[expr.ColumnID]*expr.Column
	if n := s.sides[side]; isCheapWith(n, true) {
		again, cols = logical.Copy(n, s.w.alloc)
	} else {
		s.sides[side], again, cols = s.w.readTwice(n)
	}
	for id, c := range cols {
		m[id] = c
	}
	return again
}

// matching keeps the rows of the left side, read under the names of m, that have a match in some branch, or those that have none.
func (s *orJoin) matching(left logical.Node, m map[expr.ColumnID]expr.Expr, found bool) logical.Node {
	marks := make([]expr.Expr, len(s.branches))
	for i, b := range s.branches {
		right := s.read(1, m)
		mark := s.w.alloc.New("", "exists", types.Bool, false)
		left = &logical.Join{Kind: logical.MarkJoin, Left: left, Right: right, Corr: substituteAll(slices.Concat(b, s.rest), m), Mark: mark}
		marks[i] = mark
	}
	some := expr.OrOf(marks)
	if !found {
		some = &expr.Not{Arg: some}
	}
	return logical.NewFilter(left, some)
}

// notTrue says whether a condition is FALSE or NULL.
func notTrue(e expr.Expr) expr.Expr {
	return &expr.Case{Whens: []expr.When{{Cond: e, Then: expr.False}}, Else: expr.True, Typ: types.Bool}
}
