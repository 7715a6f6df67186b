package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// The text that a view keeps means later what it means when the view is made, whatever is added to its tables (MySQL manual, section
// 15.1.23). So what a query leaves open is written into it: the columns that * stands for, the tables of columns, the conditions of NATURAL
// and USING, the database of tables, and the names of derived tables' columns.

// recording is what a Binder notes of a query for that. Its nodes are the query's own, not those of views below it.
type recording struct {
	selects []*ast.SelectStmt
	fields  map[*ast.SelectStmt][]fieldMeaning
	names   map[*ast.ColumnName]scopeColumn
	joins   map[*ast.Join][][2]scopeColumn // the pairs of columns that NATURAL and USING compare
	tables  map[*ast.TableName]string      // the databases of tables that are named without
	undo    []func()
	exists  map[*ast.SelectStmt]bool // under EXISTS, which asks for rows alone
}

// fieldMeaning is what an item of a select list stands for.
type fieldMeaning struct {
	columns []scopeColumn // of a *
	name    string        // of any other
}

// Settle rewrites the query of a view of database db so that its text names all that it means. undo makes the query what it was, since a prepared
// statement uses it again.
func (b *Binder) Settle(query ast.Node, db string) (undo func(), err error) {
	b.record = &recording{
		fields: map[*ast.SelectStmt][]fieldMeaning{}, names: map[*ast.ColumnName]scopeColumn{}, joins: map[*ast.Join][][2]scopeColumn{},
		tables: map[*ast.TableName]string{}, exists: map[*ast.SelectStmt]bool{},
	}
	r := b.record
	_, err = b.Query(query)
	b.record = nil
	undo = func() {
		for _, f := range slices.Backward(r.undo) {
			f()
		}
	}
	if err != nil {
		return undo, err
	}
	for _, s := range r.selects {
		if err := r.settleFields(s); err != nil {
			return undo, err
		}
	}
	for n, c := range r.names {
		if c.table != "" {
			change(r, n, *columnName(c))
		}
	}
	for j, pairs := range r.joins {
		r.settleJoin(j, pairs)
	}
	for n, of := range r.tables {
		if !strings.EqualFold(of, db) {
			change(r, &n.Schema, ast.NewCIStr(of))
		}
	}
	return undo, nil
}

// change sets a part of the query.
func change[T any](r *recording, part *T, to T) {
	old := *part
	r.undo = append(r.undo, func() { *part = old })
	*part = to
}

// recording returns where to note what the nodes of the statement mean; nil: nowhere.
func (b *Binder) recording() *recording {
	if len(b.viewing) > 0 {
		return nil
	}
	return b.record
}

// columnName writes a column with its table.
func columnName(c scopeColumn) *ast.ColumnName {
	n := &ast.ColumnName{Table: ast.NewCIStr(c.table), Name: ast.NewCIStr(c.name)}
	if c.db != "" && c.alike {
		n.Schema = ast.NewCIStr(c.db)
	}
	return n
}

// settleFields writes down the columns that * stands for and the names that other items have.
func (r *recording) settleFields(s *ast.SelectStmt) error {
	if r.exists[s] && s.Kind == ast.SelectStmtKindSelect && s.Having == nil && s.OrderBy == nil && !s.Distinct && len(s.Fields.Fields) == 1 {
		if s.Fields.Fields[0].WildCard != nil {
			change(r, &s.Fields.Fields, []*ast.SelectField{{Expr: ast.NewValueExpr(1, "", "")}})
		}
		return nil // nobody looks at the column
	}
	var out []*ast.SelectField
	for i, f := range r.fields[s] {
		if f.columns == nil {
			field := s.Fields.Fields[i]
			if _, isColumn := parse.WithoutParentheses(field.Expr).(*ast.ColumnNameExpr); field.AsName.O == "" && !isColumn && f.name == strings.TrimSpace(f.name) {
				change(r, &field.AsName, ast.NewCIStr(f.name))
			}
			out = append(out, field)
			continue
		}
		seen := map[string]bool{}
		for _, c := range f.columns {
			full := strings.ToLower(c.db + "." + c.table + "." + c.name)
			if seen[full] {
				return sqlerr.DupFieldName(c.name)
			}
			seen[full] = true
			out = append(out, &ast.SelectField{Expr: &ast.ColumnNameExpr{Name: columnName(c)}})
		}
	}
	if s.Kind == ast.SelectStmtKindTable {
		change(r, &s.Kind, ast.SelectStmtKindSelect)
		change(r, &s.SelectStmtOpts, &ast.SelectStmtOpts{SQLCache: true})
	}
	change(r, &s.Fields, &ast.FieldList{Fields: out})
	return nil
}

// settleJoin makes a condition of NATURAL or USING, unless its columns have no tables, as those that a FULL JOIN has merged.
func (r *recording) settleJoin(j *ast.Join, pairs [][2]scopeColumn) {
	var on ast.ExprNode
	for _, p := range pairs {
		if p[0].table == "" || p[1].table == "" {
			return
		}
		var eq ast.ExprNode = &ast.BinaryOperationExpr{Op: opcode.EQ, L: &ast.ColumnNameExpr{Name: columnName(p[0])}, R: &ast.ColumnNameExpr{Name: columnName(p[1])}}
		if on == nil {
			on = eq
		} else {
			on = &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: on, R: eq}
		}
	}
	if on == nil {
		on = ast.NewValueExpr(1, "", "") // nothing in common: all pairs of rows
	}
	change(r, &j.NaturalJoin, false)
	change(r, &j.Using, nil)
	change(r, &j.On, &ast.OnCondition{Expr: on})
}

// recordFields notes what the items of a select list stand for; starts are the positions of each one's first item in items.
func (b *Binder) recordFields(s *ast.SelectStmt, sc *scope, items []selectItem, starts []int) {
	r := b.recording()
	if r == nil {
		return
	}
	if _, again := r.fields[s]; again { // a common table expression is bound at each reference
		return
	}
	var out []fieldMeaning
	for i, from := range starts {
		to := len(items)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		hasStar := s.Kind == ast.SelectStmtKindTable || s.Fields.Fields[i].WildCard != nil
		if !hasStar {
			out = append(out, fieldMeaning{name: items[from].name})
			continue
		}
		m := fieldMeaning{}
		for _, it := range items[from:to] {
			m.columns = append(m.columns, sc.described(it.e.(*expr.Column), it.db, it.table, it.name))
		}
		out = append(out, m)
	}
	r.selects = append(r.selects, s)
	r.fields[s] = out
}

// recordExists notes that nobody looks at the columns of a query.
func (b *Binder) recordExists(query ast.Node) {
	if s, is := query.(*ast.SelectStmt); is && b.recording() != nil {
		b.record.exists[s] = true
	}
}

// recordName notes which column of a scope a name means.
func (b *Binder) recordName(n *ast.ColumnName, sc *scope, c scopeColumn) {
	if r := b.recording(); r != nil {
		r.names[n] = sc.described(c.col, c.db, c.table, c.name)
	}
}

// recordJoin notes which columns a join by NATURAL or USING compares. FULL JOINs keep their words, since they merge the columns.
func (b *Binder) recordJoin(j *ast.Join, sc *scope, pairs [][2]scopeColumn) {
	r := b.recording()
	if r == nil {
		return
	}
	for i, p := range pairs {
		for k, c := range p {
			pairs[i][k] = sc.described(c.col, c.db, c.table, c.name)
		}
	}
	r.joins[j] = pairs
}

// described says of a column of s whether its table has to be named with its database, since another one has its name too.
func (s *scope) described(col *expr.Column, db, table, name string) scopeColumn {
	c := scopeColumn{col: col, db: db, table: table, name: name}
	for _, other := range s.cols {
		c.alike = c.alike || strings.EqualFold(other.table, table) && !strings.EqualFold(other.db, db)
	}
	return c
}
