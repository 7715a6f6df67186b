package database

import (
	"github.com/radish-sql/radish/engine/udf"
	"github.com/radish-sql/radish/sql/expr"
)

// AddScalar makes a function callable in the engine's SQL. The name must be free.
func (db *Database) AddScalar(fn *expr.Function) error { return db.Added.AddScalar(fn) }

// AddAggregate makes an aggregate function callable in the engine's SQL; see expr.UserFunctions.
func (db *Database) AddAggregate(name string, row, finish *expr.Function) error {
	return db.Added.AddAggregate(name, row, finish)
}

// AddTable makes a table function callable in FROM: `name(1, 'x')`, in backticks.
func (db *Database) AddTable(name string, f udf.TableFunction) error {
	return db.Added.AddTable(name, f)
}
