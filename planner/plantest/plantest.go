// Package plantest binds statements of tests over tables of tests, without an engine.
package plantest

import (
	"context"
	"strings"
	"time"

	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// Tables are the tables of the database db by their names in lower case. They are a bind.Catalog without views.
type Tables map[string]*table.Version

func (c Tables) Table(db, name string) (*table.Version, error) {
	if v := c[strings.ToLower(name)]; v != nil {
		return v, nil
	}
	return nil, sqlerr.NoSuchTable(db+"."+name, "")
}

func (Tables) View(string, string) (bind.View, bool)     { return bind.View{}, false }
func (Tables) File(string) (*table.Version, bool, error) { return nil, false, nil }
func (Tables) HasDatabase(db string) bool                { return db == "db" }
func (c Tables) Permanent() bind.Catalog                 { return c }

// Bind binds a query over the tables.
func (c Tables) Bind(sql string, ctx *expr.Context) (*logical.Query, error) {
	stmt, err := parse.One(sql, parse.DefaultMode)
	if err != nil {
		return nil, err
	}
	return (&bind.Binder{Catalog: c, Database: "db", Ctx: ctx, Locate: stmt.Locate}).Query(stmt.Node)
}

// Context is that of a statement on a leap day, in UTC and the default SQL mode. It collects warnings.
func Context() *expr.Context {
	return &expr.Context{
		Ctx: context.Background(), Now: time.Date(2024, 2, 29, 13, 14, 15, 0, time.UTC), Location: time.UTC, SQLMode: expr.DefaultSQLMode,
		Warnings: &sqlerr.Warnings{},
	}
}
