package session

import (
	"context"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Statement is a statement while it runs.
type Statement struct {
	parse.Statement
	Context  context.Context // ends with the caller's, with the engine, or after max_execution_time
	Given    []types.Value   // of its markers
	Session  *Session
	Exprs    *expr.Context // what [Statement.Expressions] has made; nil: nothing yet
	accounts accounts
	Files    FilesRead
	Takes    string         // what errors call who takes the rows of its query; empty: the client does
	Target   *table.Version // who takes them stores them behind its rows, as they are; nil: nobody does
	Plan     *plans.Run     // what the session keeps of it; nil: it was bound
	Further  *FurtherRows   // of a long INSERT ... VALUES; nil: there are none
	relies   bool           // on the tables that it reads: see Transaction.rely
	Runs     bool           // it is being executed, not only looked at
	Once     bool           // it has effects besides its result: see Statement.Effects
	Began    bool           // some of it was evaluated
	Reads    *TableReads    // what binding it asks of the catalog; nil: nobody wants to know
}

// FurtherRows are the rows of a long INSERT ... VALUES that its tree leaves out. They follow those of the query that the tree was bound to.
type FurtherRows struct {
	Query *logical.Query
	Each  func(operator string, f func(*column.Batch) error) error
}

// accounts count the memory of a statement that is not its query's.
type accounts struct {
	budget  *memory.Budget // of the statement as a whole; nil until somebody asks
	strings memory.Account // strings that functions make outside of queries
	made    memory.Account // what it has made so far to be stored
	tree    memory.Account // what a long text became
}

func (a *accounts) close() {
	a.made.Close()
	a.strings.Close()
	a.tree.Close()
	a.budget.End()
}

// FilesRead are the data files that a statement reads.
type FilesRead struct {
	Uses       map[string]*FileUse // by the names in the statement
	held       []func()            // give back what they hold
	ByOutlines bool                // they are planned for by their outlines: nothing of them is read
	Fetched    Fetched             // what reading them into memory has cost
	Loaded     *table.Version      // the fields of the file of LOAD DATA
}

// giveBack ends the use of the files, which are looked at anew when the statement names them again.
func (f *FilesRead) giveBack() {
	for _, giveBack := range f.held {
		giveBack()
	}
	f.held, f.Uses = nil, nil
}

// TakeTree counts what a long text became, or long values.
func (st *Statement) TakeTree(bytes int64) error {
	if bytes == 0 {
		return nil
	}
	st.accounts.tree.Budget, st.accounts.tree.Operator = st.Budget(), "the statement and its values"
	return st.accounts.tree.Add(bytes)
}

// StoredParams returns the bytes of long values that a statement stores: they are copied on their way.
func StoredParams(n ast.StmtNode, params []types.Value) int64 {
	const long = 1 << 20
	bytes := int64(0)
	for i := range params {
		bytes += int64(len(params[i].S))
	}
	if bytes < long || !writes(n) {
		return 0
	}
	return bytes
}

// End gives back what the statement holds besides its query's memory.
func (st *Statement) End() {
	st.Files.giveBack()
	st.accounts.close()
}

// Budget returns the budget of the statement, which lies within the engine's.
func (st *Statement) Budget() *memory.Budget {
	if st.accounts.budget == nil {
		s := st.Session
		st.accounts.budget = s.DB.Statements.Child(s.Vars.MemoryLimit())
	}
	return st.accounts.budget
}

// writes says whether a statement stores values, so that strict mode makes errors of warnings.
func writes(n ast.StmtNode) bool {
	switch x := n.(type) {
	case *ast.InsertStmt:
		return !x.IgnoreErr
	case *ast.UpdateStmt:
		return !x.IgnoreErr
	case *ast.DeleteStmt:
		return !x.IgnoreErr
	case *ast.CreateTableStmt, *ast.ImportIntoStmt:
		return true
	}
	return false
}

// CatalogView returns the catalog as the session sees it now.
func (st *Statement) CatalogView() *CatalogView {
	return &CatalogView{Statement: st, Session: st.Session, Snap: st.Session.Snapshot()}
}

// A statement that writes is a [write.Statement].
var _ write.Statement = (*Statement)(nil)

// FirstWords returns the head of a statement for a message.
func FirstWords(text string) string {
	const most = 40
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "..."
		}
	}
	return text
}
