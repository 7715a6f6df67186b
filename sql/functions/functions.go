// Package functions is the list of MySQL's scalar functions that Radish has, by the chapters of MySQL's Reference Manual. Each chapter is a
// package; each of its files begins with the list of the functions that it holds. Importing this package puts them all into the registry of
// package expr, from which the binder takes them, and from which the tables of the docs are made.
//
// Package expr registers the operators itself that its trees are built of: arithmetic, LIKE, COALESCE and the like. Aggregate functions and
// window functions stand there too (sql/expr/aggregates.go, sql/expr/windows.go), as executors compute them.
package functions

import (
	"slices"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/bit"
	"github.com/radish-sql/radish/sql/functions/datetime"
	"github.com/radish-sql/radish/sql/functions/encryption"
	"github.com/radish-sql/radish/sql/functions/information"
	"github.com/radish-sql/radish/sql/functions/jsonfn"
	"github.com/radish-sql/radish/sql/functions/locking"
	"github.com/radish-sql/radish/sql/functions/miscellaneous"
	"github.com/radish-sql/radish/sql/functions/numeric"
	"github.com/radish-sql/radish/sql/functions/stringfn"
)

func init() {
	expr.Register(slices.Concat(
		bit.Functions(),
		datetime.Functions(),
		encryption.Functions(),
		information.Functions(),
		jsonfn.Functions(),
		locking.Functions(),
		miscellaneous.Functions(),
		numeric.Functions(),
		stringfn.Functions(),
	))
}
