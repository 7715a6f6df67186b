package session

import (
	"context"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/locks"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Transactions are snapshot isolation (Berenson et al., "A Critique of ANSI SQL Isolation Levels", 1995). Versions of tables that nobody else sees
// hold their changes. COMMIT puts these onto the catalog as it is then (table.Merge), and fails if a row that the transaction wrote was changed since.
//
//   - Nothing waits for anything but COMMIT for its turn among the statements that write.
//   - What a transaction has checked for foreign keys has to hold for what it meets at COMMIT too (write.CheckCommit).
//   - SERIALIZABLE asks besides that the tables which a transaction that writes has read are the same at COMMIT, and so do
//     SELECT ... FOR UPDATE and FOR SHARE of those that they read (backward validation: Kung and Robinson 1981).

// Transaction is what a session has begun and not ended.
type Transaction struct {
	engine       *database.Database
	ReadOnly     bool
	Serializable bool

	base, current *catalog.Snapshot // nil before the first statement that looks at tables
	leave         func()            // of stored.Memory.Enter
	saved         []savepoint
	counted       []*table.Version // versions that only the transaction has, in the memory ledger
	relied        map[*table.Version]bool
}

// savepoint is a state to which a transaction can go back.
type savepoint struct {
	name  string
	state *catalog.Snapshot // nil: before the first statement
}

// Start takes the snapshot, unless the transaction has one already.
func (tx *Transaction) Start(snap *catalog.Snapshot) {
	if tx.base == nil {
		tx.leave = tx.engine.Stored.Enter()
		tx.base = snap
		tx.current = tx.base
	}
}

// rely notes that the transaction has read a table and must not be committed if others change it.
func (tx *Transaction) rely(v *table.Version) {
	if tx.relied == nil {
		tx.relied = map[*table.Version]bool{}
	}
	tx.relied[v] = true
}

// change makes a change visible to the transaction's next statements; building is as for [database.Database.Change].
func (tx *Transaction) change(building *memory.Account, edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
	after, err := edit(tx.current)
	if err != nil {
		return err
	}
	stored := tx.engine.Stored
	var steps []*table.Replacement
	added := int64(0)
	counted := slices.Clone(tx.counted)
	for _, c := range catalog.Changes(tx.current, after) {
		before := c.Before
		i := slices.Index(counted, before)
		if i >= 0 && len(tx.saved) == 0 {
			counted = slices.Delete(counted, i, i+1)
		} else {
			before = nil // others have it, or a savepoint
		}
		step := stored.Ledger.Replace(before, c.After)
		added += step.Added
		steps = append(steps, step)
		counted = append(counted, c.After)
	}
	if err := building.Leave(added); err != nil {
		for _, step := range steps {
			stored.Budget.Release(step.Undo())
		}
		return err
	}
	dropped := int64(0)
	for _, step := range steps {
		dropped += step.Commit()
	}
	stored.Retire(dropped)
	tx.current, tx.counted = after, counted
	return nil
}

// forget gives back the memory of versions that neither the transaction's state nor a savepoint has any more.
func (tx *Transaction) forget() {
	keep := map[*table.Version]bool{}
	states := []*catalog.Snapshot{tx.current}
	for _, p := range tx.saved {
		states = append(states, p.state)
	}
	for _, state := range states {
		if state != nil && state != tx.base {
			for _, c := range catalog.Changes(tx.base, state) {
				keep[c.After] = true
			}
		}
	}
	dropped := int64(0)
	tx.counted = slices.DeleteFunc(tx.counted, func(v *table.Version) bool {
		if !keep[v] {
			dropped += tx.engine.Stored.Ledger.Replace(v, nil).Commit()
		}
		return !keep[v]
	})
	tx.engine.Stored.Retire(dropped)
}

// end drops the transaction and what only it has.
func (tx *Transaction) end() {
	tx.saved, tx.current = nil, tx.base
	tx.forget()
	if tx.leave != nil {
		tx.leave()
		tx.leave = nil
	}
}

// commit puts the transaction's changes onto the catalog as it is now.
func (tx *Transaction) commit(ctx context.Context, s *Session) error {
	if tx.current == tx.base {
		return nil
	}
	unlock, err := s.lockWritesTo(ctx, func() (uses []locks.Use) {
		for _, c := range catalog.Changes(tx.base, tx.current) {
			uses = append(uses, locks.Use{Table: catalog.IDOf(c.Before.Schema), Writes: true})
		}
		return uses
	})
	if err != nil {
		return err
	}
	defer unlock()
	building := &memory.Account{Budget: tx.engine.Stored.Budget, Operator: "COMMIT"}
	defer building.Close()
	return tx.engine.Change(building, func(now *catalog.Snapshot) (*catalog.Snapshot, error) {
		theirs := now
		for v := range tx.relied {
			if theirs, err := now.Table(v.Schema.Database, v.Schema.Name); err != nil || theirs != v {
				return nil, sqlerr.WriteConflict("table '%s', which the transaction has read, was changed meanwhile", v.Schema.Name)
			}
		}
		for _, c := range catalog.Changes(tx.base, tx.current) {
			schema := c.Before.Schema
			theirs, err := now.Table(schema.Database, schema.Name)
			if err != nil {
				return nil, sqlerr.WriteConflict("table '%s' was dropped or renamed meanwhile", schema.Name)
			}
			merged, err := table.Merge(ctx, c.Before, c.After, theirs)
			if err != nil {
				return nil, err
			}
			// The memory ledger knows the transaction's own version by its address until the transaction ends.
			if now, err = now.ReplaceTable(merged.WithSchema(merged.Schema)); err != nil {
				return nil, err
			}
		}
		return now, s.keepsReferences(ctx, tx, theirs, now)
	})
}

// oneShot are the characteristics that SET TRANSACTION gives the next transaction only.
type oneShot struct {
	isolation string
	readOnly  string
}

// InTransaction says whether the session has begun a transaction that is not ended.
func (s *Session) InTransaction() bool { return s.Tx != nil }

// Close ends the session: a transaction that is not committed is rolled back.
func (s *Session) Close() {
	s.Rollback()
	s.dropTemporary()
	s.DB.Locks.Of(s.ID).ReleaseAll()
	s.ReleaseTables()
	s.DB.Sessions.Remove(s.ID)
	s.Values.Close()
}

// Begin begins a transaction; the one before has been ended.
func (s *Session) Begin(readOnly bool) {
	isolation := s.Vars.Text("transaction_isolation")
	if s.next.isolation != "" {
		isolation = s.next.isolation
	}
	if s.next.readOnly != "" {
		readOnly = readOnly || s.next.readOnly == "1"
	} else {
		readOnly = readOnly || s.Vars.Integer("transaction_read_only") == 1
	}
	s.next = oneShot{}
	s.Tx = &Transaction{engine: s.DB, ReadOnly: readOnly, Serializable: isolation == variables.Serializable}
}

// Rollback ends the session's transaction, if there is one, without its changes.
func (s *Session) Rollback() {
	if s.Tx != nil {
		s.Tx.end()
		s.Tx = nil
	}
}

// Commit ends the session's transaction, if there is one. If it fails the transaction is rolled back.
func (s *Session) Commit(ctx context.Context) error {
	tx := s.Tx
	if tx == nil {
		return nil
	}
	s.Tx = nil
	defer tx.end()
	return tx.commit(ctx, s)
}

// Snapshot returns the catalog as the session sees it.
func (s *Session) Snapshot() *catalog.Snapshot {
	if s.Tx != nil && s.Tx.current != nil {
		return s.Tx.current
	}
	if s.Reading != nil {
		return s.Reading
	}
	return s.DB.Catalog.Load()
}

// LockWrites waits for the statement's turn among those that write. In a transaction nobody sees what it writes, so it
// need not wait.
func (s *Session) LockWrites(st *Statement) (unlock func(), err error) {
	if s.Tx != nil {
		return func() {}, nil
	}
	return s.lockWritesTo(st.Context, func() []locks.Use {
		_, all := s.uses(st.Node)
		return all
	})
}

// lockWritesTo waits for a turn among those that write in which no other session's LOCK TABLES forbids what will be used. LOCK TABLES
// takes a turn too, so what it locks stays as it is.
func (s *Session) lockWritesTo(ctx context.Context, uses func() []locks.Use) (unlock func(), err error) {
	tables := s.DB.TableLocks
	for {
		if unlock, err = s.DB.LockWrites(ctx); err != nil || s.Locked != nil || !tables.IsHeld() {
			return unlock, err
		}
		used := uses()
		if tables.Allows(s.ID, used) {
			return unlock, nil
		}
		unlock()
		if err := tables.Await(ctx, s.ID, used, s.Vars.LockWait()); err != nil {
			return nil, err
		}
	}
}

// access is what a kind of statement means for transactions.
type access uint8

const (
	accessNone   access = iota // it is not part of one
	accessRead                 // it reads tables
	accessWrite                // it changes rows
	accessDefine               // it commits the one before it, and itself
)

func accessOf(n ast.StmtNode) access {
	if isTemporary(n) {
		return accessRead // what other sessions see stays as it is
	}
	switch x := n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.DoStmt:
		return accessRead
	case *ast.ExplainStmt:
		if x.Stmt == nil {
			return accessNone
		}
		if _, describes := x.Stmt.(*ast.ShowStmt); describes {
			return accessNone
		}
		return accessRead
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.LoadDataStmt, *ast.ImportIntoStmt:
		return accessWrite
	case *ast.SetStmt:
		if hasSubquery(x) {
			return accessRead
		}
		return accessNone
	case *ast.CreateTableStmt, *ast.AlterTableStmt, *ast.DropTableStmt, *ast.TruncateTableStmt, *ast.RenameTableStmt, *ast.CreateViewStmt,
		*ast.CreateIndexStmt, *ast.DropIndexStmt, *ast.CreateDatabaseStmt, *ast.DropDatabaseStmt, *ast.AnalyzeTableStmt, *ast.CallStmt,
		*ast.LockTablesStmt:
		return accessDefine
	}
	return accessNone
}

// subqueryFinder looks for subqueries in a statement.
type subqueryFinder struct{ found bool }

func (f *subqueryFinder) Enter(n ast.Node) (ast.Node, bool) {
	_, is := n.(*ast.SubqueryExpr)
	f.found = f.found || is
	return n, f.found
}

func (f *subqueryFinder) Leave(n ast.Node) (ast.Node, bool) { return n, !f.found }

func hasSubquery(n ast.Node) bool {
	var f subqueryFinder
	n.Accept(&f)
	return f.found
}

// Enter prepares the session's transaction for a statement: it begins one where autocommit is off, ends it before a
// statement that defines things, and refuses to write where it may only read.
func (s *Session) Enter(st *Statement) error {
	kind := accessOf(st.Node)
	if kind == accessNone {
		return nil
	}
	settled, err := s.settled(st)
	if err != nil {
		return err
	}
	if kind == accessDefine {
		if err := s.Commit(st.Context); err != nil {
			return err
		}
	}
	if kind != accessRead && s.readOnly() {
		return sqlerr.ReadOnlyTransaction()
	}
	if kind == accessDefine {
		return nil
	}
	if s.Tx == nil && s.Vars.Integer("autocommit") == 0 {
		s.Begin(false)
	}
	if s.Tx != nil {
		s.Tx.Start(settled)
		st.relies = s.Tx.Serializable || locksRows(st.Node)
		return nil
	}
	switch st.Node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		s.Reading = settled
	}
	return nil
}

// readOnly says whether the session may only read now.
func (s *Session) readOnly() bool {
	switch {
	case s.Tx != nil:
		return s.Tx.ReadOnly
	case s.next.readOnly != "":
		return s.next.readOnly == "1"
	}
	return s.Vars.Integer("transaction_read_only") == 1
}

// locksRows says whether a query asks for what it reads to stay as it is: FOR UPDATE, FOR SHARE.
func locksRows(n ast.StmtNode) bool {
	sel, ok := n.(*ast.SelectStmt)
	return ok && sel.LockInfo != nil && sel.LockInfo.LockType != ast.SelectLockNone
}

// Save gives the state of now a name, to which the transaction can go back.
func (tx *Transaction) Save(name string) {
	tx.saved = slices.DeleteFunc(tx.saved, func(p savepoint) bool { return strings.EqualFold(p.name, name) })
	tx.saved = append(tx.saved, savepoint{strings.Clone(name), tx.current})
}

// RollbackTo goes back to the state of a savepoint. Those behind it are forgotten.
func (s *Session) RollbackTo(savepoint string) error {
	i, err := s.findSavepoint(savepoint)
	if err != nil {
		return err
	}
	tx := s.Tx
	tx.saved = tx.saved[:i+1]
	if tx.current = tx.saved[i].state; tx.current == nil {
		tx.current = tx.base
	}
	tx.forget()
	return nil
}

// ForgetSavepoint forgets a savepoint, and those behind it.
func (s *Session) ForgetSavepoint(savepoint string) error {
	i, err := s.findSavepoint(savepoint)
	if err != nil {
		return err
	}
	s.Tx.saved = s.Tx.saved[:i]
	s.Tx.forget()
	return nil
}

func (s *Session) findSavepoint(name string) (int, error) {
	if s.Tx != nil {
		if i := slices.IndexFunc(s.Tx.saved, func(p savepoint) bool { return strings.EqualFold(p.name, name) }); i >= 0 {
			return i, nil
		}
	}
	return 0, sqlerr.NoSuchSavepoint(name)
}

// SetTransaction gives the next transaction an isolation level or access mode: SET TRANSACTION without SESSION or GLOBAL.
func (s *Session) SetTransaction(name, value string) error {
	if s.Tx != nil {
		return sqlerr.TransactionRunning()
	}
	if name == "transaction_read_only" {
		s.next.readOnly = value
		return nil
	}
	level, err := variables.SetIsolation(&s.Vars, value)
	s.next.isolation = level
	return err
}

// keepsReferences checks foreign keys at COMMIT; see [write.CheckCommit].
func (s *Session) keepsReferences(ctx context.Context, tx *Transaction, theirs, merged *catalog.Snapshot) error {
	st := &Statement{Context: ctx, Session: s}
	defer st.End()
	return write.CheckCommit(st, tx.base, tx.current, theirs, merged)
}
