package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// with draws common table expressions, which the query then reads as it does tables; nil: none.
func (g *generator) with() *Node {
	g.ctes, g.favour = nil, false
	if !g.chance(16) {
		return nil
	}
	with := list("WITH ", ", ", 0)
	for range 1 + g.r.IntN(2) {
		var definition *Node
		var s *source
		if g.dialect == nil && g.chance(45) {
			definition, s = g.recursive()
			with.Format = "WITH RECURSIVE "
		} else {
			definition, s = g.expression()
		}
		if s == nil || s.rows > 5000 {
			continue
		}
		with.Kids = append(with.Kids, definition)
		g.ctes = append(g.ctes, s)
	}
	if len(with.Kids) == 0 {
		return nil
	}
	g.favour = g.chance(50)
	return with
}

// expression is a common table expression that is none of itself.
func (g *generator) expression() (*Node, *source) {
	q, types, rows := g.query(&env{depth: 1, rows: 1}, nil, true)
	s := &source{name: g.name("w"), rows: rows}
	for i, item := range q.outputs()[0].Kids {
		s.cols = append(s.cols, named{alias(item), types[i]})
	}
	return op(Other, s.name+" AS ($)", q), s
}

// held makes a value of the kind that a column of a recursive expression can hold in every round: its types are those
// of the first members, and what grows from round to round would leave them.
func held(kind Kind, n *Node) *Node {
	switch kind {
	case Int:
		return op(Int, "CAST($ % 1000 AS SIGNED)", n)
	case Dec:
		return op(Dec, "CAST($ % 1000 AS DECIMAL(12,3))", n)
	case Str:
		return op(Str, "CAST(LEFT($, 20) AS CHAR(20))", n)
	case Date:
		return op(Date, "CAST($ AS DATE)", n)
	}
	panic("recursive expressions have no such columns")
}

var heldTypes = map[Kind]Type{Int: {Int, 3, 0}, Dec: {Dec, 3, 3}, Str: {Str, 20, 0}, Date: {Date, 0, 0}}

// member renders a select of a recursive expression.
func member(items []*Node, from *Node, where *Node) *Node {
	return op(Query, "SELECT $ FROM $$", &Node{Role: Items, Sep: ", ", Min: 1, Kids: items}, from, where)
}

// recursive draws an expression that reads itself: a count with columns that change from row to row, the tree that a
// table's keys make, or what can be reached in it.
func (g *generator) recursive() (*Node, *source) {
	g.mark("recursive CTE")
	var trees []*Table
	for _, t := range g.schema.Tables {
		if t.Columns[0].Unique && t.column("k").Type.Kind == Int && len(t.Rows) < 400 {
			trees = append(trees, t)
		}
	}
	if len(trees) > 0 && g.chance(55) {
		return g.tree(pick(g.r, trees))
	}
	return g.counter()
}

// define makes the definition from its members; the first ones do not read it.
func (g *generator) define(s *source, union string, members ...*Node) (*Node, *source) {
	names := make([]string, len(s.cols))
	for i, c := range s.cols {
		names[i] = c.sql
	}
	format := s.name + "(" + strings.Join(names, ", ") + ") AS ($" + strings.Repeat(union+"$", len(members)-1) + ")"
	// Columns cannot go: their names stand in the definition.
	for _, m := range members {
		m.Kids[0].Min = len(names)
	}
	return op(Other, format, members...), s
}

func (g *generator) counter() (*Node, *source) {
	s := &source{name: g.name("w")}
	s.cols = []named{{g.name("n"), Type{Int, 4, 0}}}
	for len(s.cols) < 4 && g.chance(55) {
		s.cols = append(s.cols, named{g.name("n"), heldTypes[pick(g.r, []Kind{Int, Dec, Str, Date})]})
	}
	union := pick(g.r, []string{" UNION ALL ", " UNION ALL ", " UNION "})
	bound := 1 + g.r.IntN(40)
	var members []*Node
	seeds := 1 + g.r.IntN(3)/2
	for range seeds {
		items := []*Node{op(Int, "CAST($ AS SIGNED)", lit(Int, fmt.Sprint(g.r.IntN(5))))}
		for _, c := range s.cols[1:] {
			items = append(items, held(c.t.Kind, g.constant(c.t.Kind).n))
		}
		from, where := lit(Factor, "DUAL"), list(" WHERE ", " AND ", 0)
		if g.chance(30) {
			if t := pick(g.r, g.schema.Tables); len(t.Rows) <= 40 {
				x := g.name("x")
				e := &env{noSub: true, noDiv: true, rows: 1}
				for _, c := range t.Columns {
					e.cols = append(e.cols, named{x + "." + c.Name, c.Type})
				}
				from = lit(Factor, t.Name+" AS "+x)
				for i, c := range s.cols[1:] {
					items[i+1] = held(c.t.Kind, g.small(e, c.t.Kind))
				}
				if g.chance(50) {
					where.Kids = append(where.Kids, g.condition(e, 1))
				}
				s.rows += float64(len(t.Rows) * bound)
			}
		}
		s.rows += float64(bound)
		members = append(members, member(items, from, where))
	}
	again := 1
	if g.chance(15) {
		again, bound = 2, min(bound, 6)
		s.rows *= 4
	}
	for i := range again {
		x := g.name("x")
		e := &env{noSub: true, noDiv: true, rows: 1}
		for _, c := range s.cols {
			e.cols = append(e.cols, named{x + "." + c.sql, c.t})
		}
		n := e.cols[0].sql
		items := []*Node{op(Int, fmt.Sprintf("%s + %d", n, 1+i+g.r.IntN(2)))}
		for _, c := range s.cols[1:] {
			items = append(items, held(c.t.Kind, g.small(e, c.t.Kind)))
		}
		where := list(" WHERE ", " AND ", 1, lit(Bool, fmt.Sprintf("%s < %d", n, bound)))
		if g.chance(30) {
			where.Kids = append(where.Kids, g.condition(e, 1))
			where.Min = 2
		}
		members = append(members, member(items, lit(Factor, s.name+" AS "+x), where))
	}
	return g.define(s, union, members...)
}

// small draws an expression whose remainder is no large number's.
func (g *generator) small(e *env, kind Kind) *Node {
	for range 5 {
		if x := g.expr(e, kind, 1+g.r.IntN(2)); x.t.Digits <= 15 || kind == Str || kind == Date {
			return x.n
		}
	}
	return g.constant(kind).n
}

// tree walks from rows of a table to those that name them as their parent in column k, or the other way. Every row names
// one parent, so that a round has no more rows than the table; cycles end by a level, or by UNION.
func (g *generator) tree(t *Table) (*Node, *source) {
	s := &source{name: g.name("w"), rows: float64(len(t.Rows))}
	w, first, next := g.name("x"), g.name("x"), g.name("x")
	column := func(name string, typ Type) named {
		c := named{name, typ}
		s.cols = append(s.cols, c)
		return named{w + "." + name, typ}
	}
	id := column(g.name("n"), t.Columns[0].Type)
	parent := column(g.name("n"), t.column("k").Type)
	levels, level := 2+g.r.IntN(6), named{}
	union := pick(g.r, []string{" UNION ALL ", " UNION "})
	if union == " UNION ALL " || g.chance(40) {
		level = column(g.name("n"), Type{Int, 2, 0})
		s.rows *= float64(levels)
	}
	var extra []named
	if level.sql != "" && g.chance(50) {
		extra = append(extra, column(g.name("n"), heldTypes[pick(g.r, []Kind{Int, Dec, Str})]))
	}
	cols := func(of string) []named {
		var all []named
		for _, c := range t.Columns {
			all = append(all, named{of + "." + c.Name, c.Type})
		}
		return all
	}
	items := func(of, lvl string, e *env) []*Node {
		all := []*Node{lit(Int, of+".id"), lit(Int, of+".k")}
		if level.sql != "" {
			all = append(all, lit(Int, lvl))
		}
		for _, c := range extra {
			all = append(all, held(c.t.Kind, g.small(e, c.t.Kind)))
		}
		return all
	}
	e := &env{cols: cols(first), noSub: true, noDiv: true, rows: 1}
	where := list(" WHERE ", " AND ", 0)
	if g.chance(70) {
		where.Kids = append(where.Kids, g.condition(e, 1))
	}
	seed := member(items(first, "CAST(1 AS SIGNED)", e), lit(Factor, t.Name+" AS "+first), where)

	e = &env{cols: append(cols(next), slices.Concat([]named{id, parent}, extra)...), noSub: true, noDiv: true, rows: 1}
	meet := next + ".k = " + id.sql
	if g.chance(40) {
		meet = next + ".id = " + parent.sql
	}
	where = list(" WHERE ", " AND ", 0)
	if level.sql != "" {
		where.Kids, where.Min = append(where.Kids, lit(Bool, fmt.Sprintf("%s < %d", level.sql, levels))), 1
	}
	if g.chance(30) {
		where.Kids = append(where.Kids, g.condition(e, 1))
	}
	where.Min = len(where.Kids)
	from := op(Factor, pick(g.r, []string{
		s.name + " AS " + w + " JOIN " + t.Name + " AS " + next + " ON $",
		t.Name + " AS " + next + " JOIN " + s.name + " AS " + w + " ON $",
	}), lit(Other, meet))
	again := member(items(next, level.sql+" + 1", e), from, where)
	return g.define(s, union, seed, again)
}
