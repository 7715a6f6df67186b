package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// scopeColumn is a column that a name can mean.
type scopeColumn struct {
	col   *expr.Column
	db    string // of a base table; empty otherwise
	table string // the table's alias
	name  string
	// merged marks the right-hand twin of a USING or NATURAL column: only a qualified name finds it.
	merged bool
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
	// aliases are the select list's names, where a clause may use them; see resolveAlias.
	aliases []aliasItem
	// aliasFirst says that aliases win over columns (a name in ORDER BY, HAVING).
	aliasFirst bool
	// listed are the columns of cols that stand in the select list as they are, where names mean no others: in HAVING without
	// GROUP BY, outside its aggregates and subqueries; nil: all.
	listed map[expr.ColumnID]bool
	// windows collects the window functions; nil where there can be none.
	windows *windowing
	// noAggregates says why an aggregate function is not allowed in the clause; empty: it is.
	noAggregates bool
	// inserted are the columns that VALUES(name) means in ON DUPLICATE KEY UPDATE, by their lower-case names.
	inserted map[string]*expr.Column
	// rowNumbers: the base tables of a FROM show the numbers of their rows, under the name rowNumber.
	rowNumbers bool
}

// aliasItem is an item of the select list that a later clause may name.
type aliasItem struct {
	name string
	e    expr.Expr
	// bare: a column as it is.
	bare bool
	// table: a qualified name of this table's column means it too, as it was assigned.
	table string
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

// resolve finds the column that n means, in s or around it.
func (b *Binder) resolve(n *ast.ColumnName, s *scope) (expr.Expr, error) {
	db, table, name := n.Schema.O, n.Table.O, n.Name.O
	for sc := s; sc != nil; sc = sc.parent {
		if sc.aliasFirst {
			if e, ambiguous := sc.alias(table, name); ambiguous {
				return nil, sqlerr.AmbiguousColumn(n.OrigColName(), s.clauseName())
			} else if e != nil {
				return e, nil
			}
		}
		found := sc.lookup(db, table, name)
		if sc == s && sc.listed != nil {
			found = slices.DeleteFunc(found, func(c scopeColumn) bool { return !sc.listed[c.col.ID] })
		}
		if len(found) > 1 && !sameColumn(found) {
			return nil, sqlerr.AmbiguousColumn(n.OrigColName(), s.clauseName())
		}
		if len(found) > 0 {
			return found[0].col, nil
		}
		if table == "" && !sc.aliasFirst {
			if e, ambiguous := sc.alias("", name); ambiguous {
				return nil, sqlerr.AmbiguousColumn(n.OrigColName(), s.clauseName())
			} else if e != nil {
				return e, nil
			}
		}
	}
	unknown := sqlerr.UnknownColumn(n.OrigColName(), s.clauseName(), s.suggest(name))
	if s.listed != nil && len(s.lookup(db, table, name)) > 0 {
		unknown = unknown.WithHint("HAVING sees the select list, and other columns in aggregates only: add the column to it, or write WHERE")
	}
	return nil, unknown
}

// alias returns the select item called name, with a table what was assigned to its column. As in MySQL (find_item_in_list) two bare
// columns of that name are ambiguous, unless they are the same one or an expression of that name stands before the second; of expressions the first is meant.
func (s *scope) alias(table, name string) (e expr.Expr, ambiguous bool) {
	for _, a := range s.aliases {
		switch {
		case !strings.EqualFold(a.name, name) || table != "" && !strings.EqualFold(a.table, table):
		case !a.bare:
			return a.e, false
		case e != nil && !expr.Equal(e, a.e):
			return nil, true
		default:
			e = a.e
		}
	}
	return e, false
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
