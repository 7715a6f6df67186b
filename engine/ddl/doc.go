// Package ddl makes the definitions of tables that CREATE TABLE, ALTER TABLE and CREATE INDEX ask for, and checks them against the definitions of other tables.
// It changes no catalog and no rows: package engine locks tables, fills them and publishes what was made. Package definition writes definitions as statements again.
package ddl

import (
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/expr"
)

// Statement is the running statement that defines a table.
type Statement interface {
	// Expressions is what expressions may know of the statement, which has the list of its warnings.
	Expressions() *expr.Context
	// Binder binds expressions and queries over the catalog as the statement sees it.
	Binder() *bind.Binder
	// Setting returns the value of a system variable that is a number.
	Setting(name string) int64
}
