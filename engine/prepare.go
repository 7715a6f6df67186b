package engine

import (
	"context"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// probes are values that stand for those of all ? markers while a statement is only checked. What a statement is depends on
// its markers' types, so it is wrong only if it is with each of these. The first suits the positions that take no other, LIMIT's,
// so it is the one whose error is shown.
var probes = []types.Value{types.IntValue(1), types.NullOf(types.Null), types.StringValue("1")}

// Prepare checks a query or a change of rows against the catalog as it is now: unknown names and wrong numbers of arguments show before it runs. It
// returns the columns of the result; one whose type depends on those of the markers' values has the type NULL. ok is false for other statements,
// which are not checked. If a GPU may run the query, its kernels are compiled in the background.
//
// The bound statement is dropped. Execute binds again or takes a kept plan (sessionplans.go, sharedplans.go).
func (s *Session) Prepare(ctx context.Context, stmt parse.Statement) (columns []ResultColumn, ok bool, err error) {
	if err := s.engine.alive(); err != nil {
		return nil, false, err
	}
	defer s.engine.stored.Enter()()
	own := *s // whose warnings and hints are no one else's
	own.warnings = &sqlerr.Warnings{}
	if _, err := own.applyHints(stmt.Node); err != nil {
		return nil, false, err
	}
	ctx = fileaccess.LookOnce(ctx)
	tries := probes
	var bound *statement // and its query, with markers' values that it takes
	var query *logical.Query
	if len(stmt.Params) == 0 {
		tries = probes[:1]
	}
	var first error
	for _, value := range tries {
		st := &statement{ctx: ctx, Statement: stmt, session: &own}
		for range stmt.Params {
			st.params = append(st.params, value)
		}
		var found []ResultColumn
		known := false
		err := sqlerr.Guard(func() (err error) {
			defer st.end()
			var q *logical.Query
			if found, q, known, err = own.bindOnly(st); q != nil && query == nil && err == nil && !st.namesFiles() {
				bound, query = st, q
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
		err := own.locate(&stmt, sqlerr.From(first))
		s.prepares(err)
		return nil, false, err
	}
	s.prepares(nil)
	if query != nil {
		own.compileAhead(bound, query)
	}
	return columns, true, nil
}

// prepareText runs PREPARE: the text, or that of a user variable, is parsed and bound, and kept under its name.
func (s *Session) prepareText(st *statement, n *ast.PrepareStmt) (*Result, error) {
	name := strings.ToLower(n.Name)
	s.values.deallocate(name)        // also if what follows fails
	text := strings.Clone(n.SQLText) // not the statement that it is a piece of
	if n.SQLVar != nil {
		v, _ := s.vars.UserVariable(n.SQLVar.Name)
		text = v.Text()
		if v.Null {
			text = "NULL" // as MySQL reads it
		}
	}
	parsing := memory.Account{Budget: st.memory(), Operator: "parsing"}
	defer parsing.Close()
	stmt, err := parse.OneWithin(text, s.vars.parseMode, parsing.Add)
	if err != nil {
		return nil, err
	}
	switch stmt.Node.(type) {
	case *ast.PrepareStmt, *ast.ExecuteStmt, *ast.DeallocateStmt:
		return nil, sqlerr.New(sqlerr.CodeUnsupportedPrepare, sqlerr.User, "This command is not supported in the prepared statement protocol yet")
	}
	if _, _, err := s.Prepare(st.ctx, stmt); err != nil {
		return nil, err
	}
	if err := s.values.prepare(name, stmt); err != nil {
		return nil, err
	}
	return &Result{}, nil
}

// executePrepared runs EXECUTE: the prepared statement with the values of user variables.
func (s *Session) executePrepared(st *statement, n *ast.ExecuteStmt) (*Result, error) {
	stmt, err := s.preparedFor(n)
	if err != nil {
		return nil, err
	}
	var params []types.Value
	for _, e := range n.UsingVars {
		v := types.NullOf(types.Text)
		if x, ok := e.(*ast.VariableExpr); ok {
			if value, set := s.vars.UserVariable(x.Name); set {
				v = value
			}
		}
		params = append(params, v)
	}
	st.Statement, st.params, st.context = stmt, params, nil
	if err := st.takeTree(stmt.Memory); err != nil {
		return nil, err
	}
	return s.dispatch(st)
}

// preparedFor returns the statement that an EXECUTE names, whose number of values must be right; one without a node is not known (see Check).
func (s *Session) preparedFor(n *ast.ExecuteStmt) (parse.Statement, error) {
	stmt, ok := s.values.prepared[strings.ToLower(n.Name)]
	if !ok {
		return stmt, sqlerr.New(sqlerr.CodeUnknownStatement, sqlerr.User, "Unknown prepared statement handler (%s) given to EXECUTE", n.Name)
	}
	if stmt.Node != nil && len(n.UsingVars) != len(stmt.Params) {
		return stmt, sqlerr.WrongArguments("EXECUTE").WithHint("the statement has %d markers ?, and USING names %d variables", len(stmt.Params), len(n.UsingVars))
	}
	return stmt, nil
}

func (s *Session) deallocate(n *ast.DeallocateStmt) (*Result, error) {
	name := strings.ToLower(n.Name)
	if !s.values.deallocate(name) {
		return nil, sqlerr.New(sqlerr.CodeUnknownStatement, sqlerr.User, "Unknown prepared statement handler (%s) given to DEALLOCATE PREPARE", n.Name)
	}
	return &Result{}, nil
}

// bindOnly binds a statement of a kind that can be without being run; known is false for the others. columns are those of
// the result, which a query has.
func (s *Session) bindOnly(st *statement) (columns []ResultColumn, q *logical.Query, known bool, err error) {
	b := st.binder()
	switch n := st.Node.(type) {
	case *ast.SelectStmt:
		if st.assigning() {
			return nil, nil, false, nil
		}
		return s.bindQuery(st, n)
	case *ast.SetOprStmt:
		return s.bindQuery(st, n)
	case *ast.InsertStmt:
		var ins *bind.Insert
		if ins, err = b.Insert(n); err == nil && st.Rows != nil {
			st.moreRows(n, ins)
			err = st.rest.bindAll(len(ins.Given))
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
func (s *Session) bindQuery(st *statement, n ast.Node) (columns []ResultColumn, q *logical.Query, known bool, err error) {
	plain, into := outfileOf(n)
	q, err = st.binder().Query(plain)
	if err != nil || into != nil || len(st.Into) > 0 {
		return nil, nil, true, err
	}
	return resultColumns(q.Cols, q.Names), q, true, nil
}

// joinTypes makes NULL of the types of columns that are others in more.
func joinTypes(columns, more []ResultColumn) {
	for i := range columns {
		if columns[i].Type != more[i].Type {
			columns[i].Type = types.Null
		}
		columns[i].Nullable = columns[i].Nullable || more[i].Nullable
	}
}
