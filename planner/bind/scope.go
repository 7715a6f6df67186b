package bind

import (
	"strings"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// scopeColumn is a column that a name can mean.
type scopeColumn struct {
	col   *expr.Column
	db    string // of a base table; empty otherwise
	table string // the table's alias
	name  string
	// ordinal is the column's position in its table.
	ordinal int
	// merged marks the right-hand twin of a USING or NATURAL column: only a qualified name finds it.
	merged bool
	// alike: another table of the same name stands beside the column's, so that its database tells them apart. For a view's text.
	alike bool
	// foreign is the type of a file's column that no query can read (see [table.ColumnDef]).
	foreign string
}

// readable returns an error for a column that no query can read.
func (c *scopeColumn) readable() error {
	if c.foreign == "" {
		return nil
	}
	return sqlerr.ForeignColumn(c.name, c.foreign)
}

// scope is what the names in a clause can mean.
type scope struct {
	parent *scope
	cols   []scopeColumn
	clause string // "where clause" and so on, for messages
	// lateral is what a LATERAL derived table in a FROM sees beside parent: the tables on its left; nil: nothing.
	lateral *scope
	// grouped is set while the clauses after GROUP BY are bound: aggregates are collected there.
	grouped *grouping
	// aliases are the select list's names, where a clause may use them; see names.go.
	aliases []aliasItem
	// prefer says what a name means that several things have.
	prefer preference
	// listed are the columns of cols that stand in the select list as they are, where names mean no others: in HAVING without
	// GROUP BY, outside its aggregates and subqueries; nil: all.
	listed map[expr.ColumnID]bool
	// windows collects the window functions; nil where there can be none.
	windows *windowing
	// noAggregates says why an aggregate function is not allowed in the clause; empty: it is.
	noAggregates bool
	// inserted are the columns that VALUES(name) means in ON DUPLICATE KEY UPDATE, by their lower-case names.
	inserted map[string]*expr.Column
	// earlier are the columns that expressions of VALUES may name; nil: none.
	earlier *insertedRow
	// showsRowNumbers: the base tables of a FROM show the numbers of their rows, under the name rowNumber.
	showsRowNumbers bool
}

// lookup finds the columns called name in s alone. Empty db or table match any.
func (s *scope) lookup(db, table, name string) (found []scopeColumn) {
	for _, c := range s.cols {
		if c.merged && table == "" {
			continue
		}
		if strings.EqualFold(c.name, name) &&
			(table == "" || strings.EqualFold(c.table, table)) &&
			(db == "" || strings.EqualFold(c.db, db)) {
			found = append(found, c)
		}
	}
	return found
}

func sameColumn(cols []scopeColumn) bool {
	for _, c := range cols[1:] {
		if c.col.ID != cols[0].col.ID {
			return false
		}
	}
	return true
}

func (s *scope) clauseName() string {
	if s.clause == "" {
		return "field list"
	}
	return s.clause
}

func (s *scope) suggest(name string) string {
	var names []string
	for sc := s; sc != nil; sc = sc.parent {
		for _, c := range sc.cols {
			names = append(names, c.name)
		}
		for _, a := range sc.aliases {
			names = append(names, a.name)
		}
	}
	return sqlerr.Suggest(name, names)
}

// within returns a scope over the same columns for another clause.
func (s *scope) within(clause string) *scope {
	out := *s
	out.clause = clause
	return &out
}
