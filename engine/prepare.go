package engine

import (
	"context"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/assign"
	"github.com/radish-sql/radish/engine/change"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// standIns are values that stand for those of all ? markers while a statement is only checked. What a statement is depends on
// its markers' types, so it is wrong only if it is with each of these. The first suits the positions that take no other, LIMIT's,
// so it is the one whose error is shown.
var standIns = []types.Value{types.IntValue(1), types.NullOf(types.Null), types.StringValue("1")}

// Prepare checks a query or a change of rows against the catalog as it is now: unknown names and wrong numbers of arguments show before it runs. It
// returns the columns of the result; one whose type depends on those of the markers' values has the type NULL. ok is false for other statements,
// which are not checked. If a GPU may run the query, its kernels are compiled in the background.
//
// The bound statement is dropped. Execute binds again or takes a kept plan (package plans).
func (s *Session) Prepare(ctx context.Context, stmt parse.Statement) (columns []result.ResultColumn, ok bool, err error) {
	return prepare(ctx, s.Session, stmt)
}

func prepare(ctx context.Context, s *session.Session, stmt parse.Statement) (columns []result.ResultColumn, ok bool, err error) {
	if err := s.DB.Alive(); err != nil {
		return nil, false, err
	}
	defer s.DB.Stored.Enter()()
	own := *s // whose warnings and hints are no one else's
	own.Warnings = &sqlerr.Warnings{}
	if _, err := own.ApplyHints(stmt.Node); err != nil {
		return nil, false, err
	}
	ctx = fileaccess.LookOnce(ctx)
	tries := standIns
	var bound *session.Statement // and its query, with markers' values that it takes
	var toRun *logical.Query
	if len(stmt.Params) == 0 {
		tries = standIns[:1]
	}
	var first error
	for _, value := range tries {
		st := &session.Statement{Context: ctx, Statement: stmt, Session: &own}
		for range stmt.Params {
			st.Given = append(st.Given, value)
		}
		var found []result.ResultColumn
		known := false
		err := sqlerr.Guard(func() (err error) {
			defer st.End()
			var q *logical.Query
			if found, q, known, err = bindOnly(st); q != nil && toRun == nil && err == nil && !query.NamesFiles(st) {
				bound, toRun = st, q
			}
			return err
		})
		switch {
		case err != nil && first == nil:
			first = err
		case err != nil:
		case !known:
			return nil, false, nil
		case !ok:
			ok, columns = true, found
		default:
			joinTypes(columns, found)
		}
	}
	if !ok {
		err := locate(&own, &stmt, sqlerr.From(first))
		prepares(s, err)
		return nil, false, err
	}
	prepares(s, nil)
	if toRun != nil {
		query.CompileAhead(bound, toRun)
	}
	return columns, true, nil
}

// prepareText runs PREPARE: the text, or that of a user variable, is parsed and bound, and kept under its name.
func prepareText(st *session.Statement, n *ast.PrepareStmt) (*result.Result, error) {
	s := st.Session
	name := strings.ToLower(n.Name)
	s.Values.Deallocate(name)        // also if what follows fails
	text := strings.Clone(n.SQLText) // not the statement that it is a piece of
	if n.SQLVar != nil {
		v, _ := s.Vars.UserVariable(n.SQLVar.Name)
		text = v.Text()
		if v.Null {
			text = "NULL" // as MySQL reads it
		}
	}
	parsing := memory.Account{Budget: st.Budget(), Operator: "parsing"}
	defer parsing.Close()
	stmt, err := parse.OneWithin(text, s.Vars.ParseMode, parsing.Add)
	if err != nil {
		return nil, err
	}
	switch stmt.Node.(type) {
	case *ast.PrepareStmt, *ast.ExecuteStmt, *ast.DeallocateStmt:
		return nil, sqlerr.New(sqlerr.CodeUnsupportedPrepare, sqlerr.User, "This command is not supported in the prepared statement protocol yet")
	}
	if _, _, err := prepare(st.Context, s, stmt); err != nil {
		return nil, err
	}
	if err := s.Values.Prepare(name, stmt); err != nil {
		return nil, err
	}
	return &result.Result{}, nil
}

// executePrepared runs EXECUTE: the prepared statement with the values of user variables.
func executePrepared(st *session.Statement, n *ast.ExecuteStmt) (*result.Result, error) {
	s := st.Session
	stmt, err := preparedFor(s, n)
	if err != nil {
		return nil, err
	}
	var params []types.Value
	for _, e := range n.UsingVars {
		v := types.NullOf(types.Text)
		if x, ok := e.(*ast.VariableExpr); ok {
			if value, set := s.Vars.UserVariable(x.Name); set {
				v = value
			}
		}
		params = append(params, v)
	}
	st.Statement, st.Given, st.Exprs = stmt, params, nil
	if err := st.TakeTree(stmt.Memory); err != nil {
		return nil, err
	}
	return dispatch(st)
}

// preparedFor returns the statement that an EXECUTE names, whose number of values must be right; one without a node is not known (see Check).
func preparedFor(s *session.Session, n *ast.ExecuteStmt) (parse.Statement, error) {
	stmt, ok := s.Values.Prepared[strings.ToLower(n.Name)]
	if !ok {
		return stmt, sqlerr.New(sqlerr.CodeUnknownStatement, sqlerr.User, "Unknown prepared statement handler (%s) given to EXECUTE", n.Name)
	}
	if stmt.Node != nil && len(n.UsingVars) != len(stmt.Params) {
		return stmt, sqlerr.WrongArguments("EXECUTE").WithHint("the statement has %d markers ?, and USING names %d variables", len(stmt.Params), len(n.UsingVars))
	}
	return stmt, nil
}

func deallocate(s *session.Session, n *ast.DeallocateStmt) (*result.Result, error) {
	name := strings.ToLower(n.Name)
	if !s.Values.Deallocate(name) {
		return nil, sqlerr.New(sqlerr.CodeUnknownStatement, sqlerr.User, "Unknown prepared statement handler (%s) given to DEALLOCATE PREPARE", n.Name)
	}
	return &result.Result{}, nil
}

// bindOnly binds a statement of a kind that can be without being run; known is false for the others. columns are those of
// the result, which a query has.
func bindOnly(st *session.Statement) (columns []result.ResultColumn, q *logical.Query, known bool, err error) {
	b := st.Binder()
	switch n := st.Node.(type) {
	case *ast.SelectStmt:
		if assign.Assigning(st) {
			return nil, nil, false, nil
		}
		return bindQuery(st, n)
	case *ast.SetOprStmt:
		return bindQuery(st, n)
	case *ast.InsertStmt:
		var ins *bind.Insert
		if ins, err = b.Insert(n); err == nil && st.Rows != nil {
			if more := change.MoreRows(st, n, ins); more != nil {
				err = more.BindAll(len(ins.Given))
			}
		}
	case *ast.UpdateStmt:
		if bind.IsMulti(n) {
			_, err = b.UpdateMulti(n)
		} else {
			_, err = b.Update(n)
		}
	case *ast.DeleteStmt:
		if n.IsMultiTable {
			_, err = b.DeleteMulti(n)
		} else {
			_, err = b.Delete(n)
		}
	default:
		return nil, nil, false, nil
	}
	return nil, nil, true, err
}

// bindQuery binds a query, which may write to a file or to variables.
func bindQuery(st *session.Statement, n ast.Node) (columns []result.ResultColumn, q *logical.Query, known bool, err error) {
	plain, into := query.OutfileOf(n)
	q, err = st.Binder().Query(plain)
	if err != nil || into != nil || len(st.Into) > 0 {
		return nil, nil, true, err
	}
	return query.ResultColumns(q.Cols, q.Names), q, true, nil
}

// joinTypes makes NULL of the types of columns that are others in more.
func joinTypes(columns, more []result.ResultColumn) {
	for i := range columns {
		if columns[i].Type != more[i].Type {
			columns[i].Type = types.Null
		}
		columns[i].Nullable = columns[i].Nullable || more[i].Nullable
	}
}
