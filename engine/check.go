package engine

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/delimited"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
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
	if err := s.checkUnset(&statement{Statement: stmt, session: s}); err != nil {
		return s.locate(&stmt, sqlerr.From(err))
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
			if text, set := s.vars.UserVariable(v.Name); !set || text.Null {
				s.values.prepared[strings.ToLower(n.Name)] = parse.Statement{} // a statement that did not run gives it its text
				return nil
			}
		}
	case *ast.ExecuteStmt:
		return s.checkExecute(ctx, n)
	case *ast.KillStmt:
		return nil
	}
	s.checking = true
	defer func() { s.checking = false }()
	res, err := s.Execute(ctx, stmt, nil)
	if err != nil {
		return err
	}
	res.Close()
	return nil
}

// checkQuery binds a query. If it would write a file, later statements find one there, without rows; if it would set variables, they are set.
func (s *Session) checkQuery(ctx context.Context, stmt parse.Statement) error {
	plain, into := outfileOf(stmt.Node)
	query := stmt
	query.Node = plain.(ast.StmtNode)
	columns, _, err := s.Prepare(ctx, query)
	if err != nil {
		return err
	}
	for _, name := range stmt.Into {
		if err := s.values.set(name, types.NullOf(types.Null)); err != nil {
			return err
		}
	}
	if into == nil {
		return nil
	}
	path, err := filepath.Abs(into.FileName)
	if err == nil {
		_, _, err = s.outfileFormat(into, stmt.Outfile)
	}
	if err != nil {
		return s.locate(&stmt, sqlerr.From(err))
	}
	if keys := stmt.Outfile.PartitionBy; len(keys) > 0 { // a file as there would be
		if _, err := keyColumnsOf(columns, keys); err != nil {
			return s.locate(&stmt, err)
		}
		path = filepath.Join(path, strings.Repeat(partitionFolder, len(keys)), "data_0."+folderFormat(stmt.Outfile))
	}
	schema := &table.Schema{Name: into.FileName}
	for _, c := range columns {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: c.Name, Type: c.Type, Nullable: true})
	}
	if s.outfiles == nil {
		s.outfiles = map[string]*table.Version{}
	}
	s.outfiles[path] = table.New(schema)
	return nil
}

// wouldBe returns the file that a statement which Check has seen would have written; nil: there is none of that name or pattern.
func (s *Session) wouldBe(name string) *table.Version {
	if len(s.outfiles) == 0 {
		return nil
	}
	source, _, err := files.ParseName(name)
	if err != nil {
		return nil
	}
	pattern, err := filepath.Abs(source.Pattern)
	if err != nil {
		return nil
	}
	if v := s.outfiles[pattern]; v != nil {
		return v
	}
	for path, v := range s.outfiles {
		if match, err := filepath.Match(pattern, path); err == nil && match {
			return v
		}
		folders := strings.Repeat("*/", strings.Count(path, partitionFolder))
		if match, err := filepath.Match(strings.Replace(pattern, "**/", folders, 1), path); err == nil && match && folders != "" {
			return v
		}
	}
	return nil
}

// checkBinding binds a statement of a kind that Prepare does not look at.
func (s *Session) checkBinding(ctx context.Context, stmt parse.Statement) error {
	if err := s.engine.alive(); err != nil {
		return err
	}
	defer s.engine.stored.Enter()()
	st := &statement{ctx: fileaccess.LookOnce(ctx), Statement: stmt, session: s}
	defer st.end()
	if err := sqlerr.Guard(func() error { return s.bindUnlike(st) }); err != nil {
		return s.locate(&stmt, sqlerr.From(err))
	}
	return nil
}

// bindUnlike binds what becomes another statement when it runs, and expressions that stand alone.
func (s *Session) bindUnlike(st *statement) error {
	var list []ast.ExprNode
	switch n := st.Node.(type) {
	case *ast.LoadDataStmt:
		if _, err := loadRulesOf(n); err != nil {
			return err
		}
		return s.bindLoad(st, n)
	case *ast.ImportIntoStmt:
		insert, load, _, err := s.importAs(st, n)
		if err != nil {
			return err
		}
		if insert == nil {
			return s.bindLoad(st, load)
		}
		_, err = st.binder().Insert(insert)
		return err
	case *ast.DoStmt:
		list = n.Exprs
	case *ast.CallStmt:
		list = n.Procedure.Args
	case *ast.SetStmt:
		for _, a := range n.Variables {
			if !a.IsSystem && a.Name != ast.SetNames && a.Name != ast.SetCharset {
				list = append(list, a.Value)
				defer func() { _ = s.values.set(a.Name, types.NullOf(types.Null)) }() // one without memory is not known to be set
			}
		}
	}
	for _, e := range list {
		if _, err := st.binder().Scalar(e); err != nil {
			return err
		}
	}
	if call, is := st.Node.(*ast.CallStmt); is && len(list) > 0 && !works(list[0]) {
		g := generated.Lookup(call.Procedure.FnName.L)
		if g == nil {
			return nil
		}
		v, err := s.evaluate(st, list[0])
		if err == nil {
			_, err = scaleFactor(g, v)
		}
		return err
	}
	return nil
}

// bindLoad binds the INSERT of a LOAD DATA over a file without records.
func (s *Session) bindLoad(st *statement, n *ast.LoadDataStmt) error {
	fields, err := loadFields(st, n)
	if err != nil {
		return err
	}
	ts := make([]types.Type, len(fields))
	for i := range ts {
		ts[i] = types.Text
	}
	stmt, insert, err := loadInsert(n, fields)
	if err != nil {
		return err
	}
	st.Statement, st.context, st.files.loaded = stmt, nil, delimited.Empty(ts)
	_, err = st.binder().Insert(insert)
	return withoutPosition(err)
}

// checkExecute checks the statement that was prepared. One whose text is not known, since it comes of a statement that did not run, is
// not looked at.
func (s *Session) checkExecute(ctx context.Context, n *ast.ExecuteStmt) error {
	stmt, err := s.preparedFor(n)
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
