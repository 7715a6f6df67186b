package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const removeEmptyDoc = `Remove what gives no rows: a filter that is FALSE, LIMIT 0, a scan for values beyond the least and the greatest of their
column, whatever only passes on rows of an empty input, and joins whose condition is FALSE.

Legal except where no rows still make a row:
  SELECT COUNT(*) FROM t WHERE FALSE
gives 0, and the left side of an outer or anti join with nothing stays. That a column has no such values holds for the version of
the table that the plan reads, so a plan must not be kept for a later one.`

func removeEmpty(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		if isEmptyNode(n) {
			if logical.IsEmpty(n) {
				return n
			}
			return logical.NoRows(n.Schema())
		}
		switch x := n.(type) {
		case *logical.Join:
			if !logical.IsEmpty(x.Right) && !neverMatches(x) {
				return n
			}
			switch x.Kind {
			case logical.AntiJoin:
				return x.Left
			case logical.LeftJoin, logical.SingleJoin, logical.FullJoin:
				return &logical.Project{Input: x.Left, Items: append(logical.PassItems(x.Left.Schema()), nullItems(x.Right.Schema())...)}
			case logical.MarkJoin:
				return &logical.Project{Input: x.Left, Items: append(logical.PassItems(x.Left.Schema()), logical.Item{Col: withNull(x.Mark, false), Expr: expr.False})}
			}
		case *logical.SetOp:
			return withoutEmptyInputs(x)
		}
		return n
	})
	return nil
}

// neverMatches says whether no row on the left of a join finds one on the right, and none on the right has to be kept.
func neverMatches(x *logical.Join) bool {
	switch x.Kind {
	case logical.AntiJoin, logical.LeftJoin, logical.SingleJoin:
		return anyFalse(x.On)
	case logical.MarkJoin:
		return anyFalse(x.Corr) || slices.ContainsFunc(x.On, isFalse) // a NULL in On makes the mark NULL
	}
	return false
}

// isEmptyNode says whether n gives no rows, its inputs being simplified already.
func isEmptyNode(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Values:
		return len(x.Rows) == 0
	case *logical.Scan:
		return anyFalse(x.Filter) || anyOutOfRange(x)
	case *logical.Filter:
		return logical.IsEmpty(x.Input) || anyFalse(x.Preds)
	case *logical.Project:
		return logical.IsEmpty(x.Input)
	case *logical.Window:
		return logical.IsEmpty(x.Input)
	case *logical.Unnest:
		return logical.IsEmpty(x.Input) || !x.Outer && isNullConst(x.Doc)
	case *logical.Recursive:
		return logical.IsEmpty(x.Seed)
	case *logical.Aggregate:
		return !x.Scalar && logical.IsEmpty(x.Input)
	case *logical.Sort:
		return x.Count == 0 || logical.IsEmpty(x.Input)
	case *logical.Limit:
		return x.Count == 0 || logical.IsEmpty(x.Input)
	case *logical.Join:
		l, r := logical.IsEmpty(x.Left), logical.IsEmpty(x.Right)
		switch x.Kind {
		case logical.InnerJoin, logical.SemiJoin:
			return l || r || anyFalse(x.On)
		case logical.FullJoin:
			return l && r
		}
		return l
	case *logical.SetOp:
		switch x.Kind {
		case logical.Intersect, logical.IntersectAll:
			return logical.IsEmpty(x.All[0]) || logical.IsEmpty(x.All[1])
		case logical.Except, logical.ExceptAll:
			return logical.IsEmpty(x.All[0])
		}
		for _, in := range x.All {
			if !logical.IsEmpty(in) {
				return false
			}
		}
		return true
	}
	return false
}

// anyFalse says whether some condition is never TRUE.
func anyFalse(preds []expr.Expr) bool {
	for _, p := range preds {
		if isFalse(p) || isNullConst(p) {
			return true
		}
	}
	return false
}

// anyOutOfRange says whether some condition of a scan asks for values of a column that the table does not have.
func anyOutOfRange(s *logical.Scan) bool {
	for _, p := range s.Filter {
		b, ok := boundOf(p)
		if !ok {
			continue
		}
		col, ok := b.arg.(*expr.Column)
		if !ok || col.Typ.Kind == types.KindJSON { // bounds are those of the text
			continue
		}
		at := slices.IndexFunc(s.Cols, func(c *expr.Column) bool { return c.ID == col.ID })
		if at < 0 || s.Ordinals[at] < 0 {
			continue
		}
		if st := s.Table.Zones(s.Ordinals[at]); !st.Min.Null && !st.Max.Null && b.beyond(st.Min, st.Max) {
			return true
		}
	}
	return false
}

// beyond says whether no value from lo to hi satisfies b.
func (b bound) beyond(lo, hi types.Value) bool {
	if b.list != nil {
		return !slices.ContainsFunc(b.list.List, func(v types.Value) bool { return !(bound{op: expr.EQ, val: v}).beyond(lo, hi) })
	}
	if !alike(lo.Type, b.val.Type) {
		return false
	}
	least, greatest := compareValues(b.val, lo), compareValues(b.val, hi)
	switch b.op {
	case expr.EQ:
		return least < 0 || greatest > 0
	case expr.LT:
		return least <= 0
	case expr.LE:
		return least < 0
	case expr.GT:
		return greatest >= 0
	case expr.GE:
		return greatest > 0
	}
	return false
}

func nullItems(cols []*expr.Column) []logical.Item {
	items := make([]logical.Item, len(cols))
	for i, c := range cols {
		items[i] = logical.Item{Col: withNull(c, true), Expr: nullOf(c)}
	}
	return items
}

// withoutEmptyInputs drops inputs of a union that give no rows. A single input left of UNION DISTINCT is still made
// distinct.
func withoutEmptyInputs(s *logical.SetOp) logical.Node {
	if s.Kind != logical.UnionAll && s.Kind != logical.Union {
		if (s.Kind == logical.ExceptAll || s.Kind == logical.Except) && logical.IsEmpty(s.All[1]) {
			return onlyInput(s, 0, s.Kind == logical.Except)
		}
		return s
	}
	out := &logical.SetOp{Kind: s.Kind, Cols: s.Cols}
	last := 0
	for i, in := range s.All {
		if !logical.IsEmpty(in) {
			out.All, out.InCols, last = append(out.All, in), append(out.InCols, s.InCols[i]), i
		}
	}
	switch len(out.All) {
	case len(s.All):
		return s
	case 1:
		return onlyInput(s, last, s.Kind == logical.Union)
	}
	return out
}

func onlyInput(s *logical.SetOp, i int, distinct bool) logical.Node {
	items := make([]logical.Item, len(s.Cols))
	for k, c := range s.Cols {
		items[k] = logical.Item{Col: c, Expr: s.InCols[i][k]}
	}
	if distinct {
		return &logical.Aggregate{Input: s.All[i], Groups: items}
	}
	return &logical.Project{Input: s.All[i], Items: items}
}
