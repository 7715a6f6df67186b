// Package targets says which tables an UPDATE or DELETE changes, and whether an index finds their rows, as sql_safe_updates wants it.
package targets

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// CheckSafe refuses an UPDATE or DELETE that may change all rows of a table. For MySQL that is one that finds rows without an index. Here it is one whose
// WHERE and ON compare no index's first column with other things.
//
// changed says which of several tables are written to; nil: the only one. schemaOf gives the schema of a table; nil: it has none.
func CheckSafe(from *ast.TableRefsClause, where ast.ExprNode, changed func(*Table) bool, schemaOf func(*ast.TableName) *table.Schema) error {
	conditions := innerConditions([]ast.ExprNode{where}, from.TableRefs)
	var tables []*Table
	sources := Sources(from.TableRefs)
	for _, source := range sources {
		if t := TableOf(source, schemaOf); t != nil {
			t.only = len(sources) == 1
			tables = append(tables, t)
		}
	}
	for again := true; again; {
		again = false
		for _, t := range tables {
			if !t.found && slices.ContainsFunc(conditions, func(e ast.ExprNode) bool { return t.finds(e, tables) }) {
				t.found, again = true, true
			}
		}
	}
	for _, t := range tables {
		if !t.found && (t.only || changed == nil || changed(t)) {
			return sqlerr.UpdateWithoutKey()
		}
	}
	return nil
}

// Sources returns the tables and subqueries of a FROM.
func Sources(n ast.ResultSetNode) []*ast.TableSource {
	switch x := n.(type) {
	case *ast.Join:
		left := Sources(x.Left)
		if x.Right == nil {
			return left
		}
		return append(left, Sources(x.Right)...)
	case *ast.TableSource:
		return []*ast.TableSource{x}
	}
	return nil
}

// innerConditions adds the conditions of a FROM's inner joins to list.
func innerConditions(list []ast.ExprNode, n ast.ResultSetNode) []ast.ExprNode {
	x, is := n.(*ast.Join)
	if !is {
		return list
	}
	if x.On != nil && x.Tp == ast.CrossJoin {
		list = append(list, x.On.Expr)
	}
	list = innerConditions(list, x.Left)
	if x.Right != nil {
		list = innerConditions(list, x.Right)
	}
	return list
}

// TableOf returns what is known of a source that is a table; nil: it is a subquery.
func TableOf(source *ast.TableSource, schemaOf func(*ast.TableName) *table.Schema) *Table {
	name, is := source.Source.(*ast.TableName)
	if !is {
		return nil
	}
	t := &Table{name: name.Name.O}
	if source.AsName.O != "" {
		t.name = source.AsName.O
	}
	t.schema = schemaOf(name)
	return t
}

// Updated says which tables of an UPDATE it assigns to; a column without a table's name may be of any that has it.
func Updated(n *ast.UpdateStmt) func(*Table) bool {
	return func(t *Table) bool {
		return slices.ContainsFunc(n.List, func(a *ast.Assignment) bool { return t.means(a.Column) })
	}
}

// Deleted says which tables of a DELETE lose rows.
func Deleted(n *ast.DeleteStmt) func(*Table) bool {
	if n.Tables == nil {
		return nil
	}
	return func(t *Table) bool {
		return slices.ContainsFunc(n.Tables.Tables, func(x *ast.TableName) bool { return strings.EqualFold(x.Name.O, t.name) })
	}
}

// Table is a table whose rows are looked for.
type Table struct {
	name   string
	schema *table.Schema // nil: of a view
	only   bool          // columns without a table's name are its
	found  bool          // an index finds its rows
}

// finds says whether a condition lets an index of the table find the rows for which it is TRUE, those of tables that are found being known.
func (t *Table) finds(e ast.ExprNode, tables []*Table) bool {
	compares := func(operand ast.ExprNode, others ...ast.ExprNode) bool {
		return t.isKey(operand) && !slices.ContainsFunc(others, func(e ast.ExprNode) bool { return usesUnknown(e, tables) })
	}
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return t.finds(x.Expr, tables)
	case *ast.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd:
			return t.finds(x.L, tables) || t.finds(x.R, tables)
		case opcode.LogicOr:
			return t.finds(x.L, tables) && t.finds(x.R, tables)
		case opcode.EQ, opcode.NullEQ, opcode.LT, opcode.LE, opcode.GT, opcode.GE:
			return compares(x.L, x.R) || compares(x.R, x.L)
		}
	case *ast.BetweenExpr:
		return !x.Not && compares(x.Expr, x.Left, x.Right)
	case *ast.PatternInExpr:
		return !x.Not && compares(x.Expr, x.List...)
	case *ast.IsNullExpr:
		return !x.Not && t.isKey(x.Expr)
	case *ast.PatternLikeOrIlikeExpr:
		pattern, is := x.Pattern.(ast.ValueExpr)
		return !x.Not && is && t.isKey(x.Expr) && !strings.HasPrefix(pattern.GetString(), "%") && !strings.HasPrefix(pattern.GetString(), "_")
	}
	return false
}

// isKey says whether e is the first column of an index.
func (t *Table) isKey(e ast.ExprNode) bool {
	c, is := parse.WithoutParentheses(e).(*ast.ColumnNameExpr)
	if !is || t.schema == nil || !t.means(c.Name) {
		return false
	}
	return slices.ContainsFunc(t.schema.Keys, func(k table.Key) bool {
		return strings.EqualFold(t.schema.Columns[k.Columns[0]].Name, c.Name.Name.O)
	})
}

// means says whether a name may be that of a column of the table.
func (t *Table) means(n *ast.ColumnName) bool {
	if n.Table.O != "" {
		return strings.EqualFold(n.Table.O, t.name)
	}
	return t.only || t.schema == nil || slices.ContainsFunc(t.schema.Columns, func(c table.ColumnDef) bool { return strings.EqualFold(c.Name, n.Name.O) })
}

// usesUnknown says whether columns of tables whose rows no index finds stand in e.
func usesUnknown(e ast.ExprNode, tables []*Table) bool {
	f := unknownFinder{tables: tables}
	e.Accept(&f)
	return f.found
}

type unknownFinder struct {
	tables []*Table
	found  bool
}

// Enter is part of ast.Visitor.
func (f *unknownFinder) Enter(n ast.Node) (ast.Node, bool) {
	if c, is := n.(*ast.ColumnName); is && !slices.ContainsFunc(f.tables, func(t *Table) bool { return t.found && t.means(c) }) {
		f.found = true
	}
	return n, f.found
}

// Leave is part of ast.Visitor.
func (f *unknownFinder) Leave(n ast.Node) (ast.Node, bool) { return n, !f.found }
