package parse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Restore writes the text of a tree for Parse under DefaultMode, full joins and JSON_VALUE included, which the tree's own Restore does not know.
// more are flags beside those that every text needs.
func Restore(n ast.Node, more format.RestoreFlags) (string, error) {
	n.Accept(onceWith{})
	var values clauseWriter
	n.Accept(&values)
	defer values.restore()
	var words analystsWriter
	n.Accept(&words)
	defer words.restore()
	full := slices.DeleteFunc(joinsOf(n), func(j *ast.Join) bool { return j.Tp != FullJoin })
	defer func() {
		for _, j := range full {
			j.Tp = FullJoin
		}
	}()
	write := func(tp ast.JoinType) (string, error) {
		for _, j := range full {
			j.Tp = tp
		}
		var b strings.Builder
		err := n.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags|format.RestoreStringEscapeBackslash|more, &b))
		return b.String(), err
	}
	left, err := write(ast.LeftJoin)
	if err != nil || len(full) == 0 {
		return left, err
	}
	right, err := write(ast.RightJoin)
	if err != nil {
		return "", err
	}
	// The two texts differ in the words LEFT and RIGHT of these joins alone.
	var b strings.Builder
	for left != "" {
		same := 0
		for same < len(left) && left[same] == right[same] {
			same++
		}
		b.WriteString(left[:same])
		if left, right = left[same:], right[same:]; left == "" {
			break
		}
		var isLeft, isRight bool
		left, isLeft = strings.CutPrefix(left, "LEFT")
		if right, isRight = strings.CutPrefix(right, "RIGHT"); !isLeft || !isRight {
			return "", sqlerr.Bug("a FULL JOIN cannot be written")
		}
		b.WriteString("FULL")
	}
	return b.String(), nil
}

// onceWith takes the WITH of a SELECT in parentheses away from the list that holds it alone: the parser leaves it in both, and both
// would write it.
type onceWith struct{}

func (onceWith) Enter(n ast.Node) (ast.Node, bool) {
	if list, is := n.(*ast.SetOprSelectList); is && len(list.Selects) == 1 {
		if s, is := list.Selects[0].(*ast.SelectStmt); is && s.With == list.With {
			list.With = nil
		}
	}
	return n, false
}

func (onceWith) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// WithoutParentheses returns an expression without those around it.
func WithoutParentheses(e ast.ExprNode) ast.ExprNode {
	for {
		p, is := e.(*ast.ParenthesesExpr)
		if !is {
			return e
		}
		e = p.Expr
	}
}
