package session

import (
	"context"
	"sync/atomic"

	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/catalog"
)

// Ctx implements [write.Statement].
func (st *Statement) Ctx() context.Context { return st.Context }

// Expressions returns what expressions may know of the statement.
func (st *Statement) Expressions() *expr.Context {
	if st.Exprs == nil {
		s := st.Session
		loc := s.Vars.Location
		st.Exprs = &expr.Context{
			Ctx: st.Context, Now: s.Vars.Now().In(loc), Location: loc, SQLMode: s.Vars.ExprMode, Collation: s.Vars.Collation("collation_connection"), Warnings: s.Warnings,
			Writing: writes(st.Node), Variables: &s.Vars,
			Session: expr.SessionFacts{
				Database: s.Database, User: "root@localhost", ConnID: s.ID, RowCount: s.Last.RowCount, FoundRows: s.Last.FoundRows, LastInsertID: s.LastInsertID, GaveInsertID: new(atomic.Bool),
			},
			Locks: s.DB.Locks.Of(s.ID),
			Added: s.DB.Added, Effects: st.Effects, Strings: st.accounts.strings.Set,
		}
		st.accounts.strings = memory.Account{Budget: st.Budget(), Operator: "the values of expressions"}
	}
	return st.Exprs
}

// Binder returns a binder for the statement over the catalog as it is now.
func (st *Statement) Binder() *bind.Binder {
	s := st.Session
	return &bind.Binder{
		Catalog: st.CatalogView(), Database: s.Database, Ctx: st.Expressions(), Params: st.Given, Alias: st.Alias,
		Locate: st.Locate, Rows: st.Rows,
	}
}

// Snapshot implements [write.Statement].
func (st *Statement) Snapshot() *catalog.Snapshot { return st.Session.Snapshot() }

// Setting implements [write.Statement].
func (st *Statement) Setting(name string) int64 { return st.Session.Vars.Integer(name) }

// StoresZero implements [write.Statement].
func (st *Statement) StoresZero() bool {
	return st.Session.Vars.ParseMode&mysql.ModeNoAutoValueOnZero != 0
}

// Making returns the account of what the statement makes to be stored; operation is what errors call it.
func (st *Statement) Making(operation string) *memory.Account {
	st.accounts.made.Budget, st.accounts.made.Operator = st.Session.DB.Stored.Budget, operation
	return &st.accounts.made
}

// EachBatch runs a query and calls f with each of its batches. The bytes that f keeps of a batch count against the
// statement's memory budget, under the operator's name, until EachBatch's caller calls release.
func (st *Statement) EachBatch(q *logical.Query, operator string, f func(*column.Batch) (kept int64, err error)) (release func(), err error) {
	account := &memory.Account{Budget: st.Budget(), Operator: operator}
	take := func(b *column.Batch) error {
		kept, err := f(b)
		if err != nil {
			return err
		}
		return account.Add(kept)
	}
	err = st.Batches(q, operator, take)
	if err == nil && st.Further != nil && st.Further.Query == q {
		err = st.Further.Each(operator, take)
	}
	if err != nil {
		account.Close()
		return nil, err
	}
	return account.Close, nil
}

// Batches runs a query and calls f with each of its batches.
func (st *Statement) Batches(q *logical.Query, operator string, f func(*column.Batch) error) error {
	st.Takes = operator
	res, err := st.Session.run(st, q)
	st.Takes = ""
	if err != nil {
		return err
	}
	defer res.Close() // ends the query; the error that matters is that of what follows
	for {
		b, err := res.Next(st.Context)
		if err != nil || b == nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

// Publish makes what the statement has made visible, to the session alone while it is in a transaction; see [database.Database.Change].
func (st *Statement) Publish(operation string, edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
	if tx := st.Session.Tx; tx != nil {
		return tx.change(st.Making(operation), edit)
	}
	return st.Session.DB.Change(st.Making(operation), edit)
}
