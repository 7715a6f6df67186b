package engine

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
)

// Collations in statements: SET NAMES, COLLATE of columns and tables, and the variables behind them. What they do to queries is
// planner/bind's and sql/expr's matter.

// setCollation takes the name of a collation of text.
func setCollation(_ *variables, value string) (string, error) {
	c, err := expr.ParseTextCollation(value)
	return c.String(), err
}

// collation returns the value of a variable that holds a collation, utf8mb4_bin unless it was set.
func (v *variables) collation(name string) types.Collation {
	c, _ := types.CollationByName(v.values[name])
	return c
}

// collationOfNames returns the collation of SET NAMES: the default if it has none.
func collationOfNames(a *ast.VariableAssignment) string {
	if a.ExtendValue != nil {
		return a.ExtendValue.GetString()
	}
	return types.CollationBin.String()
}

// databaseCollation returns the collation of new tables in a database that name none.
func (s *Session) databaseCollation(db string) types.Collation {
	if c, ok := s.snapshot().Collation(db); ok {
		return c
	}
	return s.vars.collation("collation_server")
}

// collationDatabase is the value of @@collation_database.
func collationDatabase(v *variables) string {
	return v.session.databaseCollation(v.session.database).String()
}

// withDatabaseOptions applies the options of CREATE DATABASE.
func withDatabaseOptions(snap *catalog.Snapshot, db string, options []*ast.DatabaseOption) (*catalog.Snapshot, error) {
	for _, o := range options {
		if o.Tp != ast.DatabaseOptionCollate {
			continue
		}
		c, err := expr.ParseTextCollation(o.Value)
		if err != nil {
			return nil, err
		}
		if snap, err = snap.WithCollation(db, c); err != nil {
			return nil, err
		}
	}
	return snap, nil
}
