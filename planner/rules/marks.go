package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const simplifyMarksDoc = `Simplify marks: turn a mark join whose mark is a condition of the filter above into a semi or anti join.

Legal for a mark that must be TRUE, since NULL and FALSE drop the row alike. For NOT mark only where the comparison is
never NULL:
  SELECT * FROM t WHERE NOT (a IN (SELECT b FROM u))
drops a row whose comparison with some b is NULL; an anti join would keep it.`

func simplifyMarks(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		f, ok := n.(*logical.Filter)
		if !ok {
			return n
		}
		in := f.Input
		var preds []expr.Expr
		for i, p := range f.Preds {
			arg, positive := p, true
			if not, ok := p.(*expr.Not); ok {
				arg, positive = not.Arg, false
			}
			if c, ok := arg.(*expr.Column); ok {
				if r := replaceMark(in, c.ID, positive); r != nil {
					in = r
					if preds == nil {
						preds = append(preds, f.Preds[:i]...)
					}
					continue
				}
			}
			if in != f.Input {
				preds = append(preds, p)
			}
		}
		if in == f.Input {
			return n
		}
		return logical.NewFilter(in, preds...)
	})
	return nil
}

// replaceMark replaces the mark join that makes mark, at n or reached through others and filters, or returns nil.
func replaceMark(n logical.Node, mark expr.ColumnID, positive bool) logical.Node {
	switch x := n.(type) {
	case *logical.Filter:
		if in := replaceMark(x.Input, mark, positive); in != nil {
			return &logical.Filter{Input: in, Preds: x.Preds}
		}
	case *logical.Join:
		if x.Kind != logical.MarkJoin || x.Mark.ID != mark {
			switch x.Kind {
			case logical.MarkJoin, logical.SemiJoin, logical.AntiJoin, logical.InnerJoin, logical.LeftJoin, logical.SingleJoin:
				if l := replaceMark(x.Left, mark, positive); l != nil {
					return x.WithInputs([]logical.Node{l, x.Right})
				}
			}
			return nil
		}
		kind := logical.SemiJoin
		if !positive {
			kind = logical.AntiJoin
			for _, e := range x.On {
				if e.Nullable() {
					return nil
				}
			}
		}
		on := append(x.On[:len(x.On):len(x.On)], x.Corr...)
		j := &logical.Join{Kind: kind, Left: x.Left, Right: x.Right, On: on, Hint: x.Hint}
		// The mark is now known; something above may still show it.
		items := append(logical.PassItems(x.Left.Schema()), logical.Item{Col: withNull(x.Mark, false), Expr: pick(positive, expr.True, expr.False)})
		return &logical.Project{Input: j, Items: items}
	}
	return nil
}
