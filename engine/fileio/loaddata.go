package fileio

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/change"
	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/delimited"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// LoadData runs LOAD DATA [LOCAL] INFILE: the file's fields become a table of strings, and INSERT ... SELECT from that converts and
// stores them, so that defaults, keys, checks and sql_mode mean what they mean in INSERT.
func LoadData(st *session.Statement, n *ast.LoadDataStmt) (*result.Result, error) {
	rules, err := LoadRulesOf(n)
	if err != nil {
		return nil, err
	}
	return load(st, n, rules)
}

// load reads the file of a LOAD DATA or IMPORT INTO by the given rules and stores what is in it.
func load(st *session.Statement, n *ast.LoadDataStmt, rules *delimited.LoadRules) (*result.Result, error) {
	s := st.Session
	fields, err := LoadFields(st, n)
	if err != nil {
		return nil, err
	}
	rules.IsLenient = n.OnDuplicate == ast.OnDuplicateKeyHandlingIgnore || n.FileLocRef == ast.FileLocClient || st.Expressions().SQLMode&expr.ModeStrict == 0
	rules.Warnings = s.Warnings
	loaded, err := rules.Read(table.WithMeter(st.Context, st.Making("LOAD DATA").Set), s.Vars.Access, n.Path, fieldTypes(st, n, fields))
	if err != nil {
		return nil, err
	}
	stmt, insert, err := LoadInsert(n, fields)
	if err != nil {
		return nil, err
	}
	st.Statement, st.Exprs, st.Files.Loaded = stmt, nil, loaded
	res, err := change.Insert(st, insert)
	return res, inRecord(WithoutPosition(err), fileaccess.Shown(n.Path), rules.Skip)
}

// inRecord adds to an error about a row where it stands in the file whose first records were skipped.
func inRecord(err error, path string, skipped uint64) error {
	if err == nil {
		return nil
	}
	e := sqlerr.From(err)
	at := strings.LastIndex(e.Message, " at row ")
	if at < 0 || e.Hint != "" {
		return err
	}
	row, nan := strconv.ParseUint(e.Message[at+len(" at row "):], 10, 63)
	if nan != nil {
		return err
	}
	return e.WithHint("it is record %d of '%s'", row+skipped, path)
}

// WithoutPosition takes the position from an error: it lies in the text of an INSERT that nobody has written.
func WithoutPosition(err error) error {
	if err == nil {
		return nil
	}
	e := *sqlerr.From(err)
	e.Pos, e.Text = sqlerr.Position{}, ""
	return &e
}

// LoadFields returns what the fields of a LOAD DATA's records go to: what it names, else all columns.
func LoadFields(st *session.Statement, n *ast.LoadDataStmt) ([]*ast.ColumnNameOrUserVar, error) {
	columns, err := st.Binder().InsertColumns(refsOf(n.Table))
	if err != nil {
		return nil, err
	}
	fields := n.ColumnsAndUserVars
	if len(fields) == 0 {
		for _, name := range columns {
			fields = append(fields, &ast.ColumnNameOrUserVar{ColumnName: &ast.ColumnName{Name: ast.NewCIStr(name)}})
		}
	}
	return fields, nil
}

// fieldTypes returns the types as which a file's fields may be read, if all of them are written plainly: those of the columns that they are
// stored in. All others are strings, which INSERT converts.
func fieldTypes(st *session.Statement, n *ast.LoadDataStmt, fields []*ast.ColumnNameOrUserVar) []types.Type {
	s := st.Session
	out := make([]types.Type, len(fields))
	for i := range out {
		out[i] = types.Text
	}
	db := n.Table.Schema.O
	if db == "" {
		db = s.Database
	}
	v, err := st.CatalogView().Table(db, n.Table.Name.O)
	if err != nil || len(n.ColumnAssignments) > 0 { // a view, or expressions over strings
		return out
	}
	for i, f := range fields {
		if f.UserVar != nil {
			continue
		}
		if c := v.Schema.Ordinal(f.ColumnName.Name.O); c >= 0 && textfile.HasValues(v.Schema.Columns[c].Type) {
			out[i] = v.Schema.Columns[c].Type
		}
	}
	return out
}

// LoadInsert returns the INSERT that a LOAD DATA means.
func LoadInsert(n *ast.LoadDataStmt, fields []*ast.ColumnNameOrUserVar) (stmt parse.Statement, insert *ast.InsertStmt, err error) {
	verb := "INSERT INTO "
	switch {
	case n.OnDuplicate == ast.OnDuplicateKeyHandlingReplace:
		verb = "REPLACE INTO "
	case n.OnDuplicate == ast.OnDuplicateKeyHandlingIgnore || n.FileLocRef == ast.FileLocClient:
		verb = "INSERT IGNORE INTO "
	}
	target := definition.QuoteName(n.Table.Name.O)
	if n.Table.Schema.O != "" {
		target = definition.QuoteName(n.Table.Schema.O) + "." + target
	}
	var columns, values []string
	variables := map[string]string{} // by "@name", and columns by "name": what SET may read
	for i, f := range fields {
		field := definition.QuoteName(fmt.Sprintf("f%d", i+1))
		if f.UserVar != nil {
			variables["@"+strings.ToLower(f.UserVar.Name)] = field
			continue
		}
		variables[f.ColumnName.Name.L] = field
		columns, values = append(columns, definition.QuoteName(f.ColumnName.Name.O)), append(values, field)
	}
	for _, a := range n.ColumnAssignments {
		e, _ := a.Expr.Accept(&fieldReplacer{variables})
		text, err := parse.Restore(e, 0)
		if err != nil {
			return stmt, nil, sqlerr.Bug("the text of an assignment cannot be written: %v", err)
		}
		columns, values = append(columns, definition.QuoteName(a.Column.Name.O)), append(values, text)
	}
	text := verb + target + " (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") + " FROM " + definition.QuoteName(delimited.TableName)
	if stmt, err = parse.One(text, parse.DefaultMode); err != nil {
		return stmt, nil, sqlerr.Bug("the INSERT of LOAD DATA: %v", err)
	}
	insert, ok := stmt.Node.(*ast.InsertStmt)
	if !ok {
		return stmt, nil, sqlerr.Bug("the INSERT of LOAD DATA is %T", stmt.Node)
	}
	return stmt, insert, nil
}

// fieldReplacer replaces the user variables and columns that LOAD DATA reads a file's fields into by these.
type fieldReplacer struct{ fields map[string]string }

func (r *fieldReplacer) Enter(n ast.Node) (ast.Node, bool) { return n, false }

func (r *fieldReplacer) Leave(n ast.Node) (ast.Node, bool) {
	name := ""
	switch x := n.(type) {
	case *ast.VariableExpr:
		if !x.IsSystem {
			name = "@" + strings.ToLower(x.Name)
		}
	case *ast.ColumnNameExpr:
		name = x.Name.Name.L
	}
	if field, ok := r.fields[name]; ok {
		return &ast.ColumnNameExpr{Name: &ast.ColumnName{Name: ast.NewCIStr(strings.Trim(field, "`"))}}, true
	}
	return n, true
}
