package engine

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/assign"
	"github.com/radish-sql/radish/engine/change"
	"github.com/radish-sql/radish/engine/define"
	"github.com/radish-sql/radish/engine/fileio"
	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/show"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// dispatch runs a statement by its kind: queries, then what changes rows, then what concerns the session.
func dispatch(st *session.Statement) (*result.Result, error) {
	s := st.Session
	if err := s.Enter(st); err != nil {
		return nil, err
	}
	if err := assign.CheckUnset(st); err != nil {
		return nil, err
	}
	switch n := st.Node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return dispatchQuery(st)
	case *ast.ExplainStmt:
		if described, ok := n.Stmt.(*ast.ShowStmt); ok { // DESCRIBE table
			return show.Run(st, described)
		}
		return query.Explain(st, n)
	case *ast.InsertStmt:
		return change.Insert(st, n)
	case *ast.UpdateStmt:
		return change.Update(st, n)
	case *ast.DeleteStmt:
		return change.Delete(st, n)
	case *ast.LoadDataStmt:
		return fileio.LoadData(st, n)
	case *ast.ImportIntoStmt:
		return fileio.ImportInto(st, n)
	case *ast.TruncateTableStmt:
		return change.Truncate(st, n)
	case *ast.PrepareStmt:
		return prepareText(st, n)
	case *ast.ExecuteStmt:
		return executePrepared(st, n)
	case *ast.DeallocateStmt:
		return deallocate(s, n)
	case *ast.UseStmt:
		return use(s, n.DBName)
	case *ast.SetStmt:
		return assign.Set(st, n)
	case *ast.ShowStmt:
		return show.Run(st, n)
	case *ast.CallStmt:
		return call(st, n)
	case *ast.DoStmt:
		return do(st, n)
	case *ast.AnalyzeTableStmt:
		return show.Analyze(s, n)
	case *ast.KillStmt:
		return kill(st, n)
	}
	return dispatchDefinition(st)
}

// dispatchQuery runs a SELECT or a set operation: for its rows, for variables or a file, or for the variables that it assigns.
func dispatchQuery(st *session.Statement) (*result.Result, error) {
	if len(st.Into) > 0 {
		return assign.SelectIntoVariables(st, st.Node)
	}
	if plain, into := query.OutfileOf(st.Node); into != nil {
		return fileio.SelectInto(st, plain, into)
	}
	if n, ok := st.Node.(*ast.SelectStmt); ok && assign.Assigning(st) {
		return assign.SelectAssigning(st, n)
	}
	return query.Query(st, st.Node)
}

// dispatchDefinition runs a statement that makes, changes or drops tables, views or databases.
func dispatchDefinition(st *session.Statement) (*result.Result, error) {
	switch n := st.Node.(type) {
	case *ast.CreateTableStmt:
		return define.CreateTable(st, n)
	case *ast.AlterTableStmt:
		return define.AlterTable(st, n)
	case *ast.RenameTableStmt:
		return define.RenameTable(st, n)
	case *ast.DropTableStmt:
		return define.DropTable(st, n)
	case *ast.CreateIndexStmt:
		return define.CreateIndex(st, n)
	case *ast.DropIndexStmt:
		return define.DropIndex(st, n)
	case *ast.CreateViewStmt:
		return define.CreateView(st, n)
	case *ast.CreateDatabaseStmt:
		return define.CreateDatabase(st, n)
	case *ast.DropDatabaseStmt:
		return define.DropDatabase(st, n)
	}
	return dispatchTransaction(st)
}

// dispatchTransaction runs a statement that begins or ends a transaction or locks tables.
func dispatchTransaction(st *session.Statement) (*result.Result, error) {
	s := st.Session
	switch n := st.Node.(type) {
	case *ast.BeginStmt:
		return beginStatement(st, n)
	case *ast.CommitStmt:
		return commitStatement(st, n)
	case *ast.RollbackStmt:
		return rollbackStatement(s, n)
	case *ast.SavepointStmt:
		return savepoint(s, n)
	case *ast.ReleaseSavepointStmt:
		return releaseSavepoint(s, n)
	case *ast.LockTablesStmt:
		return lockTables(st, n)
	case *ast.UnlockTablesStmt:
		return unlockTables(st)
	}
	return nil, sqlerr.NotSupportedf("this statement", "%s%s", session.FirstWords(st.Text), insteadOf(st.Node))
}

// insteadOf says, behind a comma, what can be done instead of a statement that there is none of.
func insteadOf(n ast.StmtNode) string {
	switch n.(type) {
	case *ast.GrantStmt, *ast.RevokeStmt, *ast.GrantRoleStmt, *ast.RevokeRoleStmt, *ast.CreateUserStmt, *ast.AlterUserStmt, *ast.DropUserStmt, *ast.SetPwdStmt:
		return "; there are no users: whoever runs the process can use all of its data"
	case *ast.FlushStmt:
		return "; there is nothing to write out or to read anew"
	case *ast.OptimizeTableStmt:
		return "; tables keep themselves in order, and ANALYZE TABLE takes statistics"
	case *ast.ProcedureInfo, *ast.DropProcedureStmt:
		return "; functions are added by Go programs (docs/guide/driver.md)"
	case *ast.HelpStmt:
		return "; the shell has .help, and docs/reference lists statements and functions"
	}
	return ""
}

// do runs DO: expressions whose values nobody wants.
func do(st *session.Statement, n *ast.DoStmt) (*result.Result, error) {
	for _, e := range n.Exprs {
		if _, err := st.Evaluate(e); err != nil {
			return nil, err
		}
	}
	return &result.Result{}, nil
}

func use(s *session.Session, db string) (*result.Result, error) {
	snap := s.Snapshot()
	if !snap.HasDatabase(db) && !strings.EqualFold(db, infoschema.Name) {
		return nil, sqlerr.UnknownDatabase(db, sqlerr.Suggest(db, snap.Databases()))
	}
	s.Database = db
	return &result.Result{}, nil
}
