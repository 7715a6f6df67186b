package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// A name without a table can mean a column of FROM, an item of the select list or a key of GROUP BY. This file says which one it
// means in each clause. docs/reference/statements.md has the rules as a table; they are MySQL's (sql/item.cc, resolve_ref_in_select_and_group,
// and sql/sql_resolver.cc, find_order_in_list).

// preference says which of several things that have a name the name means. The first one that exists wins.
type preference uint8

const (
	// columnsFirst: the columns of FROM, then the select list. It holds in GROUP BY, in expressions of ORDER BY, and inside
	// the aggregates and subqueries of HAVING and ORDER BY.
	columnsFirst preference = iota
	// listFirst: the select list, then the columns. It holds for a name that is a whole key of ORDER BY.
	listFirst
	// keysFirst: the keys of GROUP BY, then the select list, then the columns. It holds in HAVING.
	keysFirst
	// assignedFirst: what was assigned to a column, then the columns, in subqueries too. It holds in writes and for views
	// through which rows are written.
	assignedFirst
)

// inside is the preference for names in an aggregate or a subquery of the clause.
func (p preference) inside() preference {
	if p == assignedFirst {
		return p
	}
	return columnsFirst
}

// aliasItem is an item of the select list that a clause may name.
type aliasItem struct {
	name string
	e    expr.Expr
	// bare: a column as it is.
	bare bool
	// table: a qualified name of this table's column means it too, as it was assigned.
	table string
}

// resolve finds what n means, in s or around it.
func (b *Binder) resolve(n *ast.ColumnName, s *scope) (expr.Expr, error) {
	for sc := s; sc != nil; sc = sc.parent {
		prefer := sc.prefer
		if sc != s {
			prefer = prefer.inside()
		}
		e, err := b.resolveIn(n, sc, prefer, s.clauseName(), sc == s)
		if e != nil || err != nil {
			return e, err
		}
	}
	db, table, name := n.Schema.O, n.Table.O, n.Name.O
	unknown := sqlerr.UnknownColumn(n.OrigColName(), s.clauseName(), s.suggest(name))
	if s.listed != nil && len(s.lookup(db, table, name)) > 0 {
		unknown = unknown.WithHint("HAVING sees the select list, and other columns only inside aggregates: add the column to the select list, or use WHERE")
	}
	return nil, unknown
}

// resolveIn finds what n means in sc alone; nil: nothing has the name. own says that n stands in the clause of sc itself, not in a
// subquery of it.
func (b *Binder) resolveIn(n *ast.ColumnName, sc *scope, prefer preference, clause string, own bool) (expr.Expr, error) {
	db, table, name := n.Schema.O, n.Table.O, n.Name.O
	if sc.earlier != nil {
		return sc.earlier.resolve(n)
	}
	ambiguous := func() (expr.Expr, error) { return nil, sqlerr.AmbiguousColumn(n.OrigColName(), clause) }
	fromList := func() (expr.Expr, error) {
		if table != "" && prefer != assignedFirst {
			return nil, nil
		}
		e, twice := sc.alias(table, name)
		if twice {
			return ambiguous()
		}
		if e != nil && sc.noAggregates && sc.grouped != nil && sc.grouped.isAggregated(e) {
			return nil, sqlerr.IllegalReference(name, "reference to group function")
		}
		return e, nil
	}
	if prefer == keysFirst && table == "" {
		e, err := fromList()
		if err != nil {
			return nil, err
		}
		key, twice := sc.grouped.keyNamed(name)
		switch {
		case twice:
			return nil, sqlerr.AmbiguousColumn(name, clause).WithHint("several keys of GROUP BY have this name: write the table before it, as in t.k")
		case key == nil:
		case e != nil && !expr.Equal(e, key):
			b.Ctx.Warnings.AddError(sqlerr.AmbiguousColumn(name, clause))
			e = key
		default:
			e = key
		}
		if e == nil {
			if e, twice = sc.renamed(name); twice {
				return ambiguous()
			}
		}
		if c, is := e.(*expr.Column); is {
			b.recordName(n, sc, sc.column(c))
		}
		if e != nil {
			return e, nil
		}
	}
	if prefer == listFirst || prefer == assignedFirst {
		if e, err := fromList(); e != nil || err != nil {
			return e, err
		}
	}
	found := sc.lookup(db, table, name)
	if own && sc.listed != nil {
		found = slices.DeleteFunc(found, func(c scopeColumn) bool { return !sc.listed[c.col.ID] })
	}
	if len(found) > 1 && !sameColumn(found) {
		return ambiguous()
	}
	if len(found) > 0 {
		if err := found[0].readable(); err != nil {
			return nil, err
		}
		b.recordName(n, sc, found[0])
		return found[0].col, nil
	}
	if prefer == columnsFirst {
		return fromList()
	}
	return nil, nil
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

// renamed returns the column called name that stands in the select list under another name.
func (s *scope) renamed(name string) (e expr.Expr, ambiguous bool) {
	for _, a := range s.aliases {
		if !a.bare || !s.isNamed(a.e, name) {
			continue
		}
		if e != nil && !expr.Equal(e, a.e) {
			return nil, true
		}
		e = a.e
	}
	return e, false
}

// isNamed says whether e is a column of s called name.
func (s *scope) isNamed(e expr.Expr, name string) bool {
	c, is := e.(*expr.Column)
	return is && slices.ContainsFunc(s.cols, func(have scopeColumn) bool { return have.col.ID == c.ID && strings.EqualFold(have.name, name) })
}

// column describes a column of s.
func (s *scope) column(col *expr.Column) scopeColumn {
	for _, c := range s.cols {
		if c.col.ID == col.ID {
			return c
		}
	}
	return scopeColumn{}
}

// keyNamed returns the column called name that is a key of GROUP BY. Two different ones are ambiguous.
func (g *grouping) keyNamed(name string) (e expr.Expr, ambiguous bool) {
	for _, k := range g.keys {
		if !g.from.isNamed(k, name) {
			continue
		}
		if e != nil && !expr.Equal(e, k) {
			return nil, true
		}
		e = k
	}
	return e, false
}

// groupName finds what n, a whole key of GROUP BY, means. A name that is ambiguous among the columns of FROM means the item of the
// select list.
func (b *Binder) groupName(n *ast.ColumnName, list *scope) (expr.Expr, error) {
	if n.Table.O != "" {
		return b.resolve(n, list)
	}
	listed, ambiguous := list.alias("", n.Name.O)
	if ambiguous {
		return nil, sqlerr.AmbiguousColumn(n.OrigColName(), list.clauseName())
	}
	if found := list.lookup("", "", n.Name.O); listed != nil && (len(found) == 0 || !sameColumn(found)) {
		return listed, nil
	}
	e, err := b.resolve(n, list)
	if err == nil && listed != nil && !expr.Equal(listed, e) {
		b.Ctx.Warnings.AddError(sqlerr.AmbiguousColumn(n.Name.O, list.clauseName()))
	}
	return e, err
}

// isAggregated says whether e uses an aggregate of the select.
func (g *grouping) isAggregated(e expr.Expr) bool {
	var made logical.ColSet
	for _, a := range g.aggs {
		made.Add(a.Col.ID)
	}
	return logical.UsesAny(e, made)
}
