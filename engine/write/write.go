package write

import (
	"context"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Statement is the running statement that writes.
type Statement interface {
	// Ctx ends when the statement is cancelled.
	Ctx() context.Context
	// Expressions is what expressions may know of the statement.
	Expressions() *expr.Context
	// Binder binds queries over the catalog as the statement sees it.
	Binder() *bind.Binder
	// Snapshot is the catalog as the statement sees it.
	Snapshot() *catalog.Snapshot
	// Setting returns the value of a system variable that is a number.
	Setting(name string) int64
	// StoresZero says that 0 is a value of an AUTO_INCREMENT column like any other (sql_mode NO_AUTO_VALUE_ON_ZERO).
	StoresZero() bool
	// Budget is the statement's memory.
	Budget() *memory.Budget
	// Making returns the account of what the statement makes to be stored. operation is what errors call it.
	Making(operation string) *memory.Account
	// EachBatch runs a query and calls f with each of its batches. The bytes that f keeps count against the statement's memory, under the operator's name, until release is called.
	EachBatch(q *logical.Query, operator string, f func(*column.Batch) (kept int64, err error)) (release func(), err error)
	// Publish makes what the statement has made visible.
	Publish(operation string, edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error
}

// Builder returns a builder of rows that follow those of v, counted as what the statement makes.
func Builder(st Statement, v *table.Version, operation string) *table.Builder {
	return table.NewBuilder(v).Meter(table.WithMeter(st.Ctx(), st.Making(operation).Set))
}

// BulkRows is the number of rows from which rows go through a table builder rather than one by one.
const BulkRows = 4096

// BulkBytes is the memory of rows from which they go through a builder, which counts what it makes of them.
const BulkBytes = 4 << 20

// AppendRowIDs appends the selected values of a batch's first column.
func AppendRowIDs(ids []int64, b *column.Batch) []int64 {
	v := b.Cols[0]
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		if v.Const {
			at = 0
		}
		ids = append(ids, v.I64[at])
	}
	return ids
}
