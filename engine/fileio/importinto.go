package fileio

import (
	"path/filepath"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/change"
	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/delimited"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
)

// ImportInto runs IMPORT INTO, TiDB's: a CSV file is read by LOAD DATA's rules, with quotes and either line end; any other that can be read, and
// a query, by INSERT ... SELECT, JSON lines by the names of their keys. Unlike in TiDB the table need not be empty.
func ImportInto(st *session.Statement, n *ast.ImportIntoStmt) (*result.Result, error) {
	insert, data, rules, err := ImportAs(st, n)
	switch {
	case err != nil:
		return nil, err
	case insert != nil:
		return change.Insert(st, insert)
	}
	return load(st, data, rules)
}

// ImportAs returns the INSERT ... SELECT that an IMPORT INTO means, or the LOAD DATA with its rules.
func ImportAs(st *session.Statement, n *ast.ImportIntoStmt) (insert *ast.InsertStmt, load *ast.LoadDataStmt, rules *delimited.LoadRules, err error) {
	if n.Select != nil {
		if len(n.Options) > 0 || len(n.ColumnAssignments) > 0 {
			return nil, nil, nil, sqlerr.NotSupportedf("options and SET of IMPORT INTO ... FROM SELECT", "the query says what is stored")
		}
		columns, err := importColumns(n)
		return &ast.InsertStmt{Table: refsOf(n.Table), Columns: columns, Select: n.Select}, nil, nil, err
	}
	format := files.FormatOf(n.Path)
	if n.Format != nil {
		switch named := files.FormatNamed(*n.Format); {
		case named == files.Unknown:
			return nil, nil, nil, sqlerr.NotSupportedf("FORMAT '"+*n.Format+"'", "IMPORT INTO reads %s", files.FormatNames())
		case named == files.CSV:
			format = named // a text may have any name
		case named != format:
			return nil, nil, nil, sqlerr.NotSupportedf("FORMAT '"+*n.Format+"' of '"+fileaccess.Shown(n.Path)+"'", "the name of such a file ends in %s", strings.Join(named.Endings(), " or "))
		}
	}
	if format != files.CSV {
		insert, err = importWhole(st, n)
		return insert, nil, nil, err
	}
	rules = &delimited.LoadRules{Rules: delimited.Rules{Terminated: ",", Ending: "\n", Enclosed: '"', Escaped: '\\'}, AnyLineEnd: true}
	if d := files.CSVOptions(n.Path).Delimiter; d != 0 {
		rules.Terminated = string(rune(d)) // of .tsv and .psv
	}
	for _, o := range n.Options {
		if err := setLoadOption(rules, o); err != nil {
			return nil, nil, nil, err
		}
	}
	return nil, &ast.LoadDataStmt{Path: n.Path, Table: n.Table, ColumnsAndUserVars: n.ColumnsAndUserVars, ColumnAssignments: n.ColumnAssignments}, rules, nil
}

// setLoadOption takes one of the options of IMPORT INTO, as far as they say how the file is read.
func setLoadOption(r *delimited.LoadRules, o *ast.LoadDataOpt) error {
	value, isText := "", false
	count := int64(-1)
	if v, is := o.Value.(ast.ValueExpr); is {
		switch x := v.GetValue().(type) {
		case string:
			value, isText = x, true
		case int64:
			count = x
		}
	}
	wrong := sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "Incorrect arguments to option %s", o.Name)
	one := func(to *byte) error {
		if !isText || len(value) > 1 {
			return wrong.WithHint("it is one character, or '' for none")
		}
		if *to = 0; value != "" {
			*to = value[0]
		}
		return nil
	}
	switch o.Name {
	case "fields_terminated_by":
		if r.Terminated = value; value == "" {
			return wrong
		}
	case "fields_enclosed_by":
		return one(&r.Enclosed)
	case "fields_escaped_by":
		return one(&r.Escaped)
	case "lines_terminated_by":
		if r.Ending, r.AnyLineEnd = value, value == "\n"; value == "" {
			return wrong
		}
	case "skip_rows":
		if count < 0 {
			return wrong
		}
		r.Skip = uint64(count)
	case "character_set":
		if c := strings.ToLower(value); c != "utf8mb4" && c != "utf8" && c != "binary" {
			return sqlerr.NotSupportedf("character_set = '"+value+"'", "files are UTF-8")
		}
	case "thread", "max_write_speed", "checksum_table", "disk_quota", "record_errors":
		// how the work is done is not the user's to choose
	default:
		return sqlerr.NotSupportedf("the option "+o.Name, "fields_terminated_by, fields_enclosed_by, fields_escaped_by, lines_terminated_by, skip_rows and character_set are known")
	}
	return nil
}

// importWhole returns the INSERT of the rows of a file whose columns have types and names.
func importWhole(st *session.Statement, n *ast.ImportIntoStmt) (*ast.InsertStmt, error) {
	s := st.Session
	if len(n.Options) > 0 || len(n.ColumnAssignments) > 0 {
		return nil, sqlerr.NotSupportedf("options and SET of IMPORT INTO from '"+filepath.Base(fileaccess.PathOf(n.Path))+"'", "write INSERT INTO t SELECT ... FROM `file`")
	}
	if _, err := s.Vars.Access.Stat(st.Context, n.Path); err != nil {
		return nil, files.Missing(st.Context, s.Vars.Access, n.Path, err)
	}
	columns, err := importColumns(n)
	if err != nil {
		return nil, err
	}
	chosen := "*"
	hasKeys, err := files.HasKeys(n.Path)
	if err != nil {
		return nil, err
	}
	if hasKeys {
		if chosen, err = keysOf(st, n.Path, &columns); err != nil {
			return nil, err
		}
	}
	stmt, err := parse.One("SELECT "+chosen+" FROM "+definition.QuoteName(n.Path), parse.DefaultMode)
	if err != nil {
		return nil, sqlerr.Bug("the query of IMPORT INTO: %v", err)
	}
	query, ok := stmt.Node.(ast.ResultSetNode)
	if !ok {
		return nil, sqlerr.Bug("the query of IMPORT INTO is %T", stmt.Node)
	}
	return &ast.InsertStmt{Table: refsOf(n.Table), Columns: columns, Select: query}, nil
}

// keysOf returns the select list of the columns that are to be filled from a file of JSON lines by their names: all that the file has, which columns
// becomes then, unless they are named.
func keysOf(st *session.Statement, path string, columns *[]*ast.ColumnName) (string, error) {
	if *columns == nil {
		v, err := st.File(path)
		if err != nil {
			return "", err
		}
		for _, c := range v.Schema.Columns {
			*columns = append(*columns, &ast.ColumnName{Name: ast.NewCIStr(c.Name)})
		}
	}
	var names []string
	for _, c := range *columns {
		names = append(names, definition.QuoteName(c.Name.O))
	}
	return strings.Join(names, ", "), nil
}

func importColumns(n *ast.ImportIntoStmt) (columns []*ast.ColumnName, err error) {
	for _, c := range n.ColumnsAndUserVars {
		if c.UserVar != nil {
			return nil, sqlerr.NotSupportedf("variables among the columns of this IMPORT INTO", "write INSERT INTO t SELECT ...")
		}
		columns = append(columns, c.ColumnName)
	}
	return columns, nil
}

// refsOf makes the reference to a single table.
func refsOf(t *ast.TableName) *ast.TableRefsClause {
	return &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: t}}}
}
