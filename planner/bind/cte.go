package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// cteScope is the common table expressions in sight: a chain from the innermost WITH outwards.
type cteScope struct {
	parent *cteScope
	name   string
	def    *ast.CommonTableExpression
	outer  *scope // the query around the WITH
	plan   *logical.SharedPlan
	// recursive: the definition sees its own name.
	recursive bool
	cols      []scopeColumn
	// binding is set while the definition itself is bound: a reference is then recursive.
	binding   bool
	recursion *recursion // while its recursive members are bound
}

// enterWith brings the expressions of a WITH clause into sight and returns the function that takes them out again.
func (b *Binder) enterWith(w *ast.WithClause, outer *scope) (leave func(), err error) {
	saved := b.ctes
	leave = func() { b.ctes = saved }
	if w == nil {
		return leave, nil
	}
	for _, def := range w.CTEs {
		c := &cteScope{parent: b.ctes, name: def.Name.O, def: def, outer: outer}
		for p := b.ctes; p != saved; p = p.parent {
			if strings.EqualFold(p.name, c.name) {
				leave()
				return nil, sqlerr.NonUniqTable(c.name)
			}
		}
		if c.recursive = w.IsRecursive; c.recursive {
			b.ctes = c
		}
		rel, err := b.bindCTEBody(c)
		if err != nil {
			leave()
			return nil, err
		}
		b.ctes = c
		c.cols = rel.cols
		if len(rel.node.FreeColumns()) == 0 {
			b.shared++
			c.plan = &logical.SharedPlan{ID: b.shared, Name: def.Name.O, Root: rel.node}
		}
	}
	return leave, nil
}

func (b *Binder) bindCTEBody(c *cteScope) (*relation, error) {
	var rel *relation
	var err error
	if c.recursive {
		rel, _, err = b.bindRecursiveBody(c)
	} else {
		rel, err = b.bindQuery(c.def.Query.Query, c.outer)
	}
	if err != nil {
		return nil, err
	}
	b.keepMerged(rel)
	if len(c.def.ColNameList) > 0 {
		if len(c.def.ColNameList) != len(rel.cols) {
			return nil, b.at(sqlerr.ViewColumnList(), c.def)
		}
		for i, n := range c.def.ColNameList {
			rel.cols[i].name = n.O
		}
	}
	rel.node, rel.cols = b.distinctIDs(rel.node, rel.cols)
	return rel, nil
}

// bindCTE binds a reference to a common table expression; ok is false if the name is none.
func (b *Binder) bindCTE(name, alias string, sc *scope) (node logical.Node, ok bool, err error) {
	c := b.ctes
	for c != nil && !strings.EqualFold(c.name, name) {
		c = c.parent
	}
	if c == nil {
		return nil, false, nil
	}
	if c.binding {
		node, err := b.recursiveReference(c, alias, sc)
		return node, true, err
	}
	cols := make([]scopeColumn, len(c.cols))
	if c.plan == nil {
		// The expression uses columns of the query around it, so it is bound anew for each reference.
		saved := b.ctes
		if b.ctes = c.parent; c.recursive {
			b.ctes = c
		}
		rel, err := b.bindCTEBody(c)
		b.ctes = saved
		if err != nil {
			return nil, true, err
		}
		for i, rc := range rel.cols {
			cols[i] = scopeColumn{col: rc.col, table: alias, name: rc.name}
		}
		return rel.node, true, sc.add(cols)
	}
	reader := &logical.Shared{Plan: c.plan}
	for i, pc := range c.cols {
		col := b.alloc.New(alias, pc.name, pc.col.Typ, pc.col.Null)
		col.Coercibility = pc.col.Coercibility
		if long := pc.col.Long; long != nil {
			col.Long = b.alloc.New(alias, pc.name, long.Typ, long.Null)
			reader.Cols, reader.From = append(reader.Cols, col.Long), append(reader.From, long)
		}
		reader.Cols = append(reader.Cols, col.Shown())
		reader.From = append(reader.From, pc.col)
		cols[i] = scopeColumn{col: col, table: alias, name: pc.name}
	}
	return reader, true, sc.add(cols)
}
