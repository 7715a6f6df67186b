package engine

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/assign"
	"github.com/radish-sql/radish/engine/fileio"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/delimited"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/generated"
	"github.com/radish-sql/radish/storage/table"
)

// Check finds errors in a statement without its work. Queries and changes of rows are bound and do not run, but files that queries name are read.
//
// What later statements refer to is made: a CREATE TABLE ... AS SELECT runs without its rows, tpch_generate at the least scale factor. So Check needs a
// database of its own.
func (s *Session) Check(ctx context.Context, stmt parse.Statement) error {
	if len(stmt.Params) > 0 {
		_, _, err := s.Prepare(ctx, stmt)
		return err
	}
	if err := assign.CheckUnset(&session.Statement{Statement: stmt, Session: s.Session}); err != nil {
		return locate(s.Session, &stmt, sqlerr.From(err))
	}
	switch n := stmt.Node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return s.checkQuery(ctx, stmt)
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		_, _, err := s.Prepare(ctx, stmt)
		return err
	case *ast.LoadDataStmt, *ast.ImportIntoStmt, *ast.DoStmt:
		return s.checkBinding(ctx, stmt)
	case *ast.SetStmt:
		if works(n) {
			return s.checkBinding(ctx, stmt)
		}
	case *ast.CallStmt:
		if err := s.checkBinding(ctx, stmt); err != nil {
			return err
		}
		if name := n.Procedure.FnName.L; (name == "radish_calibrate" || name == "radish_forget") && len(n.Procedure.Args) == 0 {
			return nil
		}
		if g := generated.Lookup(n.Procedure.FnName.L); g != nil && len(n.Procedure.Args) > 0 {
			n.Procedure.Args[0] = ast.NewValueExpr(g.MinScale, "", "")
		}
	case *ast.ShowStmt:
		if n.Where != nil && works(n.Where) {
			n.Where = nil
		}
	case *ast.ExplainStmt:
		n.Analyze = false
	case *ast.PrepareStmt:
		if v := n.SQLVar; v != nil {
			if text, set := s.Vars.UserVariable(v.Name); !set || text.Null {
				s.Values.Prepared[strings.ToLower(n.Name)] = parse.Statement{} // a statement that did not run gives it its text
				return nil
			}
		}
	case *ast.ExecuteStmt:
		return s.checkExecute(ctx, n)
	case *ast.KillStmt:
		return nil
	}
	s.Checking = true
	defer func() { s.Checking = false }()
	res, err := s.Execute(ctx, stmt, nil)
	if err != nil {
		return err
	}
	res.Close()
	return nil
}

// checkQuery binds a query. If it would write a file, later statements find one there, without rows; if it would set variables, they are set.
func (s *Session) checkQuery(ctx context.Context, stmt parse.Statement) error {
	plain, into := query.OutfileOf(stmt.Node)
	query := stmt
	query.Node = plain.(ast.StmtNode)
	columns, _, err := s.Prepare(ctx, query)
	if err != nil {
		return err
	}
	for _, name := range stmt.Into {
		if err := s.Values.Set(name, types.NullOf(types.Null)); err != nil {
			return err
		}
	}
	if into == nil {
		return nil
	}
	path, err := filepath.Abs(into.FileName)
	if err == nil {
		_, _, err = fileio.OutfileFormat(s.Session, into, stmt.Outfile)
	}
	if err != nil {
		return locate(s.Session, &stmt, sqlerr.From(err))
	}
	if keys := stmt.Outfile.PartitionBy; len(keys) > 0 { // a file as there would be
		if _, err := fileio.KeyColumnsOf(columns, keys); err != nil {
			return locate(s.Session, &stmt, err)
		}
		path = filepath.Join(path, strings.Repeat(session.PartitionFolder, len(keys)), "data_0."+fileio.FolderFormat(stmt.Outfile))
	}
	schema := &table.Schema{Name: into.FileName}
	for _, c := range columns {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: c.Name, Type: c.Type, Nullable: true})
	}
	if s.Outfiles == nil {
		s.Outfiles = map[string]*table.Version{}
	}
	s.Outfiles[path] = table.New(schema)
	return nil
}

// checkBinding binds a statement of a kind that Prepare does not look at.
func (s *Session) checkBinding(ctx context.Context, stmt parse.Statement) error {
	if err := s.engine.Alive(); err != nil {
		return err
	}
	defer s.engine.Stored.Enter()()
	st := &session.Statement{Context: fileaccess.LookOnce(ctx), Statement: stmt, Session: s.Session}
	defer st.End()
	if err := sqlerr.Guard(func() error { return bindUnlike(st) }); err != nil {
		return locate(s.Session, &stmt, sqlerr.From(err))
	}
	return nil
}

// bindUnlike binds what becomes another statement when it runs, and expressions that stand alone.
func bindUnlike(st *session.Statement) error {
	s := st.Session
	var list []ast.ExprNode
	switch n := st.Node.(type) {
	case *ast.LoadDataStmt:
		if _, err := fileio.LoadRulesOf(n); err != nil {
			return err
		}
		return bindLoad(st, n)
	case *ast.ImportIntoStmt:
		insert, load, _, err := fileio.ImportAs(st, n)
		if err != nil {
			return err
		}
		if insert == nil {
			return bindLoad(st, load)
		}
		_, err = st.Binder().Insert(insert)
		return err
	case *ast.DoStmt:
		list = n.Exprs
	case *ast.CallStmt:
		list = n.Procedure.Args
	case *ast.SetStmt:
		for _, a := range n.Variables {
			if !a.IsSystem && a.Name != ast.SetNames && a.Name != ast.SetCharset {
				list = append(list, a.Value)
				defer func() { _ = s.Values.Set(a.Name, types.NullOf(types.Null)) }() // one without memory is not known to be set
			}
		}
	}
	for _, e := range list {
		if _, err := st.Binder().Scalar(e); err != nil {
			return err
		}
	}
	if call, is := st.Node.(*ast.CallStmt); is && len(list) > 0 && !works(list[0]) {
		g := generated.Lookup(call.Procedure.FnName.L)
		if g == nil {
			return nil
		}
		v, err := st.Evaluate(list[0])
		if err == nil {
			_, err = scaleFactor(g, v)
		}
		return err
	}
	return nil
}

// bindLoad binds the INSERT of a LOAD DATA over a file without records.
func bindLoad(st *session.Statement, n *ast.LoadDataStmt) error {
	fields, err := fileio.LoadFields(st, n)
	if err != nil {
		return err
	}
	ts := make([]types.Type, len(fields))
	for i := range ts {
		ts[i] = types.Text
	}
	stmt, insert, err := fileio.LoadInsert(n, fields)
	if err != nil {
		return err
	}
	st.Statement, st.Exprs, st.Files.Loaded = stmt, nil, delimited.Empty(ts)
	_, err = st.Binder().Insert(insert)
	return fileio.WithoutPosition(err)
}

// checkExecute checks the statement that was prepared. One whose text is not known, since it comes of a statement that did not run, is
// not looked at.
func (s *Session) checkExecute(ctx context.Context, n *ast.ExecuteStmt) error {
	stmt, err := preparedFor(s.Session, n)
	if err != nil || stmt.Node == nil {
		return err
	}
	return s.Check(ctx, stmt)
}

// works says whether what a statement or an expression computes takes queries or time.
func works(n ast.Node) bool {
	w := &workFinder{}
	n.Accept(w)
	return w.found
}

// workFinder finds subqueries, and functions that take their time.
type workFinder struct{ found bool }

func (w *workFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SubqueryExpr:
		w.found = true
	case *ast.FuncCallExpr:
		w.found = w.found || x.FnName.L == "sleep" || x.FnName.L == "benchmark"
	}
	return n, w.found
}

func (w *workFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
