package engine

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// dispatch runs a statement by its kind: queries, then what changes rows, then what concerns the session.
func (s *Session) dispatch(st *statement) (*Result, error) {
	if err := s.enter(st); err != nil {
		return nil, err
	}
	if err := s.checkUnset(st); err != nil {
		return nil, err
	}
	switch n := st.Node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return s.dispatchQuery(st)
	case *ast.ExplainStmt:
		return s.explain(st, n)
	case *ast.InsertStmt:
		return s.insert(st, n)
	case *ast.UpdateStmt:
		return s.update(st, n)
	case *ast.DeleteStmt:
		return s.delete(st, n)
	case *ast.LoadDataStmt:
		return s.loadData(st, n)
	case *ast.ImportIntoStmt:
		return s.importInto(st, n)
	case *ast.TruncateTableStmt:
		return s.truncate(st, n)
	case *ast.PrepareStmt:
		return s.prepareText(st, n)
	case *ast.ExecuteStmt:
		return s.executePrepared(st, n)
	case *ast.DeallocateStmt:
		return s.deallocate(n)
	case *ast.UseStmt:
		return s.use(n.DBName)
	case *ast.SetStmt:
		return s.set(st, n)
	case *ast.ShowStmt:
		return s.show(st, n)
	case *ast.CallStmt:
		return s.call(st, n)
	case *ast.DoStmt:
		return s.do(st, n)
	case *ast.AnalyzeTableStmt:
		return s.analyze(n)
	case *ast.KillStmt:
		return s.kill(st, n)
	}
	return s.dispatchDefinition(st)
}

// dispatchQuery runs a SELECT or a set operation: for its rows, for variables or a file, or for the variables that it assigns.
func (s *Session) dispatchQuery(st *statement) (*Result, error) {
	if len(st.Into) > 0 {
		return s.selectIntoVariables(st, st.Node)
	}
	if plain, into := outfileOf(st.Node); into != nil {
		return s.selectInto(st, plain, into)
	}
	if n, ok := st.Node.(*ast.SelectStmt); ok && st.assigning() {
		return s.selectAssigning(st, n)
	}
	return s.query(st, st.Node)
}

// dispatchDefinition runs a statement that makes, changes or drops tables, views or databases.
func (s *Session) dispatchDefinition(st *statement) (*Result, error) {
	switch n := st.Node.(type) {
	case *ast.CreateTableStmt:
		return s.createTable(st, n)
	case *ast.AlterTableStmt:
		return s.alterTable(st, n)
	case *ast.RenameTableStmt:
		return s.renameTable(st, n)
	case *ast.DropTableStmt:
		return s.dropTable(st, n)
	case *ast.CreateIndexStmt:
		return s.createIndex(st, n)
	case *ast.DropIndexStmt:
		return s.dropIndex(st, n)
	case *ast.CreateViewStmt:
		return s.createView(st, n)
	case *ast.CreateDatabaseStmt:
		return s.createDatabase(st, n)
	case *ast.DropDatabaseStmt:
		return s.dropDatabase(st, n)
	}
	return s.dispatchTransaction(st)
}

// dispatchTransaction runs a statement that begins or ends a transaction or locks tables.
func (s *Session) dispatchTransaction(st *statement) (*Result, error) {
	switch n := st.Node.(type) {
	case *ast.BeginStmt:
		return s.beginStatement(st, n)
	case *ast.CommitStmt:
		return s.commitStatement(st, n)
	case *ast.RollbackStmt:
		return s.rollbackStatement(n)
	case *ast.SavepointStmt:
		return s.savepoint(n)
	case *ast.ReleaseSavepointStmt:
		return s.releaseSavepoint(n)
	case *ast.LockTablesStmt:
		return s.lockTables(st, n)
	case *ast.UnlockTablesStmt:
		return s.unlockTables(st)
	}
	return nil, sqlerr.NotSupportedf("this statement", "%s%s", firstWords(st.Text), insteadOf(st.Node))
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

// firstWords returns the head of a statement for a message.
func firstWords(text string) string {
	const most = 40
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "..."
		}
	}
	return text
}
