package engine

import (
	"context"

	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/catalog"
)

// A statement that writes is a [Statement].
var _ write.Statement = (*statement)(nil)

// Ctx implements [Statement].
func (st *statement) Ctx() context.Context { return st.ctx }

// Expressions implements [Statement].
func (st *statement) Expressions() *expr.Context { return st.exprContext() }

// Binder implements [Statement].
func (st *statement) Binder() *bind.Binder { return st.binder() }

// Snapshot implements [Statement].
func (st *statement) Snapshot() *catalog.Snapshot { return st.session.snapshot() }

// Setting implements [Statement].
func (st *statement) Setting(name string) int64 { return st.session.vars.integer(name) }

// StoresZero implements [Statement].
func (st *statement) StoresZero() bool {
	return st.session.vars.parseMode&mysql.ModeNoAutoValueOnZero != 0
}

// Making implements [Statement].
func (st *statement) Making(operation string) *memory.Account { return st.making(operation) }

// EachBatch implements [Statement].
func (st *statement) EachBatch(q *logical.Query, operator string, f func(*column.Batch) (kept int64, err error)) (release func(), err error) {
	return st.session.eachBatch(st, q, operator, f)
}

// Publish implements [Statement].
func (st *statement) Publish(operation string, edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
	return st.change(operation, edit)
}
