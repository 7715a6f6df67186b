package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// The positions of errors: the evaluator and the tables know none and say what an error is about, and here that is
// looked for in the text.

// locate gives an error that has no position yet the position of what it names in the statement: a table, file, database, column or key, or the
// expression whose value is at fault.
func locate(s *session.Session, stmt *parse.Statement, e *sqlerr.Error) *sqlerr.Error {
	if e.Pos.Known() || strings.HasPrefix(e.Message, "in view ") {
		return e
	}
	located := locateValue(s, stmt, e)
	if !located.Pos.Known() {
		located = locateName(s, stmt, e)
	}
	if x := e.Expression(); len(x.Names) > 0 && !located.Pos.Known() {
		located = stmt.LocateExpression(e, s.Vars.ParseMode, x)
	}
	return located
}

// locateName looks for what the message of an error names.
func locateName(s *session.Session, stmt *parse.Statement, e *sqlerr.Error) *sqlerr.Error {
	mode := s.Vars.ParseMode
	name := quotedName(e)
	switch {
	case e.Code == sqlerr.CodeSubqueryNo1Row:
		return stmt.LocateSubquery(e, mode)
	case name == "":
		return e
	case e.Code == sqlerr.CodeDataOutOfRange:
		return stmt.LocateText(e, mode, name)
	}
	parts := strings.SplitN(name, ".", 2)
	switch e.Code {
	case sqlerr.CodeNoSuchTable, sqlerr.CodeUnknownTable, sqlerr.CodeUnknownTableIn, sqlerr.CodeTableExists, sqlerr.CodeUnknownDatabase:
	case sqlerr.CodeUnknownColumn:
		return stmt.LocateName(e, mode, strings.Split(name, ".")...)
	case sqlerr.CodeBadNull, sqlerr.CodeKeyColumnMissing, sqlerr.CodeCantDropFieldOrKey, sqlerr.CodeKeyDoesNotExist, sqlerr.CodeCheckNotFound, sqlerr.CodeUnknownVariable,
		sqlerr.CodeNonupdateableColumn, sqlerr.CodeOutOfRangeForColumn, sqlerr.CodeDataTooLong, sqlerr.CodeDataTruncated, sqlerr.CodeWrongValueForField,
		sqlerr.CodeInvalidJSONText:
		return stmt.LocateColumn(e, mode, name)
	case sqlerr.CodeDupFieldName, sqlerr.CodeNonUniqTable:
		return stmt.LocateLast(e, mode, name)
	case sqlerr.CodeNotGroupBy, sqlerr.CodeMixOfGroupFunc:
		for parts = strings.Split(name, "."); len(parts) > 0; parts = parts[1:] { // the text need not name the table
			if located := stmt.LocateColumn(e, mode, parts...); located.Pos.Known() {
				return located
			}
		}
		return e
	default:
		return e
	}
	located := stmt.LocateName(e, mode, parts...)
	switch {
	case located.Pos.Known():
	case len(parts) == 2: // the message names the database, the text need not
		located = stmt.LocateName(e, mode, parts[1])
	case e.Code == sqlerr.CodeUnknownDatabase, e.Code == sqlerr.CodeUnknownTableIn: // db.table, table.*
		located = stmt.LocateName(e, mode, name, "*")
	}
	return located
}

// locateValue gives an error about the value of a column the position of that value in INSERT INTO t VALUES ..., which names no columns.
func locateValue(s *session.Session, stmt *parse.Statement, e *sqlerr.Error) *sqlerr.Error {
	n, ok := stmt.Node.(*ast.InsertStmt)
	if !ok || len(n.Lists) == 0 || len(n.Columns) > 0 {
		return e
	}
	switch e.Code {
	case sqlerr.CodeBadNull, sqlerr.CodeOutOfRangeForColumn, sqlerr.CodeDataTooLong, sqlerr.CodeDataTruncated, sqlerr.CodeWrongValueForField, sqlerr.CodeInvalidJSONText:
	default:
		return e
	}
	source, ok := n.Table.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return e
	}
	name, ok := source.Source.(*ast.TableName)
	if !ok {
		return e
	}
	db, found, err := s.Find(name)
	if err != nil {
		return e
	}
	t, err := s.Snapshot().Table(db, found)
	if err != nil {
		return e
	}
	column := t.Schema.Ordinal(quotedName(e))
	row := 0
	switch _, number, numbered := strings.Cut(e.Message, "' at row "); {
	case column < 0:
		return e
	case numbered:
		if row, err = strconv.Atoi(number); err != nil {
			return e
		}
		row--
	case e.Code == sqlerr.CodeBadNull:
		row = nullRow(stmt, n.Lists, column)
	case len(n.Lists) > 1 || stmt.Rows != nil:
		return e
	}
	if row < 0 {
		return e
	}
	return stmt.LocateValue(e, s.Vars.ParseMode, row, column)
}

// nullRow returns the first row whose value for a column is NULL as it is written; -1: there is none.
func nullRow(stmt *parse.Statement, lists [][]ast.ExprNode, column int) int {
	in := func(lists [][]ast.ExprNode) int {
		return slices.IndexFunc(lists, func(values []ast.ExprNode) bool {
			if column >= len(values) {
				return false
			}
			v, ok := values[column].(ast.ValueExpr)
			return ok && v.GetValue() == nil
		})
	}
	if row := in(lists); row >= 0 || stmt.Rows == nil {
		return row
	}
	n := len(lists)
	for c := stmt.Rows.Cursor(); ; {
		fields, plain, done := c.Plain()
		switch {
		case done:
			return -1
		case plain:
			if column < len(fields) && fields[column].Kind == parse.FieldNull {
				return n
			}
			n++
			continue
		}
		block, err := c.Special()
		if err != nil {
			return -1
		}
		lists := block.Node.(*ast.InsertStmt).Lists
		if row := in(lists); row >= 0 {
			return n + row
		}
		n += len(lists)
	}
}

// quotedName is what stands in quotes in an error's message: mostly the name that it is about.
func quotedName(e *sqlerr.Error) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(e.Message, "Can't"), "'")
	switch e.Code {
	case sqlerr.CodeWrongValueForField, sqlerr.CodeInvalidJSONText:
		_, rest, _ = strings.Cut(e.Message, "for column '")
	case sqlerr.CodeDataOutOfRange: // an expression, in which there may be quotes
		return strings.TrimSuffix(rest, "'")
	}
	name, _, quoted := strings.Cut(rest, "'")
	if !quoted {
		return ""
	}
	return name
}
