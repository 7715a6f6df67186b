package plans

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/radish-sql/radish/engine/direct"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// Keepable returns the table of a statement of which all that is bound follows from its text, its table and the session's variables; nil: there
// is more to it.
func Keepable(n ast.StmtNode) *ast.TableName {
	f := &keepableFinder{}
	switch x := n.(type) {
	case *ast.SelectStmt:
		if x.From == nil || x.With != nil || x.SelectStmtOpts != nil && x.CalcFoundRows || x.LockInfo != nil || len(x.TableHints) > 0 {
			return nil
		}
	case *ast.InsertStmt:
		if x.Select != nil {
			return nil
		}
	case *ast.UpdateStmt:
		if bind.IsMulti(x) || x.With != nil || x.IgnoreErr {
			return nil
		}
	case *ast.DeleteStmt:
		if x.IsMultiTable || x.With != nil {
			return nil
		}
	default:
		return nil
	}
	n.Accept(f)
	if f.refused || len(f.tables) != 1 {
		return nil
	}
	return f.tables[0]
}

// keepableFinder looks for parts of a statement whose meaning depends on more than names and values.
type keepableFinder struct {
	tables  []*ast.TableName
	refused bool
}

// Enter is part of ast.Visitor.
func (f *keepableFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableName:
		f.tables = append(f.tables, x)
	case *ast.SelectStmt, *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.TableRefsClause, *ast.Join, *ast.TableSource, *ast.FieldList,
		*ast.SelectField, *ast.WildCardField, *ast.ColumnName, *ast.ColumnNameExpr, *ast.Assignment, *ast.ParenthesesExpr, *ast.BinaryOperationExpr,
		*ast.UnaryOperationExpr, *ast.PatternInExpr, *ast.BetweenExpr, *ast.IsNullExpr, *ast.OrderByClause, *ast.ByItem, *ast.Limit, *ast.DefaultExpr,
		*ast.ValuesExpr, *driver.ValueExpr, *driver.ParamMarkerExpr:
	default:
		f.refused = true
	}
	return n, f.refused
}

// Leave is part of ast.Visitor.
func (f *keepableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, !f.refused }

// MarkersAreValues says whether markers stand only where nothing but their value matters: compared with a column, stored in one, or as operands
// of sums that are stored. A literal at another position may decide a type.
func MarkersAreValues(p *Bound, markers []*expr.Column, further []expr.Expr) bool {
	is := map[expr.ColumnID]bool{}
	for _, m := range markers {
		is[m.ID] = true
	}
	uses := func(e expr.Expr) (found bool) {
		expr.Columns(e, func(id expr.ColumnID) { found = found || is[id] })
		return found
	}
	if slices.ContainsFunc(further, uses) {
		return false
	}
	marker := func(e expr.Expr) bool {
		c, ok := e.(*expr.Column)
		return ok && is[c.ID]
	}
	var safe func(e expr.Expr) bool // of a condition
	safe = func(e expr.Expr) bool {
		switch x := e.(type) {
		case *expr.Compare:
			return comparesColumn(x.Left, x.Right, marker) || comparesColumn(x.Right, x.Left, marker) || !uses(x)
		case *expr.And, *expr.Or, *expr.Not:
			return !slices.ContainsFunc(x.Children(), func(e expr.Expr) bool { return !safe(e) })
		}
		return !uses(e)
	}
	stored := func(e expr.Expr) bool { return marker(e) || storesMarker(e, marker, uses) || !uses(e) }
	chain, source := direct.Chain(p.Query.Root)
	if _, ok := source.(*logical.Values); ok && slices.ContainsFunc(source.Exprs(), func(e expr.Expr) bool { return !stored(e) }) {
		return false
	}
	for _, n := range chain {
		ok := stored
		switch n.(type) {
		case *logical.Filter:
			ok = safe
		case *logical.Sort:
			ok = func(e expr.Expr) bool { return !uses(e) }
		case *logical.Project:
			if p.Insert == nil && p.Update == nil {
				ok = func(e expr.Expr) bool { return !uses(e) }
			}
		}
		if slices.ContainsFunc(n.Exprs(), func(e expr.Expr) bool { return !ok(e) }) {
			return false
		}
	}
	return true
}

// comparesColumn says whether a is a column, or its key under a collation, and b a marker, as it is or its key.
func comparesColumn(a, b expr.Expr, marker func(expr.Expr) bool) bool {
	if text, _, ok := expr.CollationKeyOf(a); ok {
		a = text
	}
	if text, _, ok := expr.CollationKeyOf(b); ok {
		b = text
	}
	_, isColumn := a.(*expr.Column)
	if !isColumn || marker(a) || !marker(b) {
		return false
	}
	s, t := a.Type(), b.Type() // a constant of another kind would be converted by its value
	return s.IsInteger() && t.IsInteger() || s.IsString() && t.IsString() || s == t
}

// storesMarker says whether e stores a marker, or a sum, difference or product of integers or of doubles of which it is an operand.
func storesMarker(e expr.Expr, marker, uses func(expr.Expr) bool) bool {
	if c, ok := e.(*expr.Cast); ok && c.Column != "" {
		e = c.Arg
	}
	var sum func(e expr.Expr) bool
	sum = func(e expr.Expr) bool {
		if t := e.Type(); !uses(e) || marker(e) && (t.IsInteger() || t.IsFloat()) {
			return true
		}
		call, ok := e.(*expr.Call)
		if !ok || call.Fn.Name != "add" && call.Fn.Name != "sub" && call.Fn.Name != "mul" || !call.Typ.IsInteger() && !call.Typ.IsFloat() {
			return false
		}
		return !slices.ContainsFunc(call.Args, func(e expr.Expr) bool { return !sum(e) })
	}
	return marker(e) || sum(e)
}
