package fuzz

import (
	"regexp"
	"slices"
	"strings"
)

// Statement is one thing to put to both engines, or a script of them.
type Statement struct {
	Tree   *Node
	Check  []string // of changes and scripts: the queries that show their effect; none for a query
	Labels []string // what is in it
}

// mark notes what is in the statement.
func (g *generator) mark(label string) {
	if !slices.Contains(g.labels, label) {
		g.labels = append(g.labels, label)
	}
}

// statement draws a statement or a script.
func (g *generator) statement() *Statement {
	g.labels, g.target, g.ctes = nil, nil, nil
	s := &Statement{}
	switch n := g.r.IntN(200); {
	case g.dialect == nil && n < 10:
		s = g.change()
	case g.dialect == nil && n < 13:
		s = g.transaction()
	case g.dialect == nil && n < 17:
		s.Tree = g.view()
	case g.dialect == nil && n < 17+scratchShare:
		s.Tree = g.scratch()
	case n >= 40 && n < 40+keyedShare && (g.dialect == nil || g.dialect.Keyed):
		s.Tree = g.keyed()
	case n >= 200-shapedShare:
		s.Tree = g.shaped()
	default:
		s.Tree = g.next()
	}
	s.Labels = g.labels
	return s
}

// scratchShare of 200 statements are scripts over tables of their own.
const scratchShare = 16

// keyedShare of 200 statements are scripts of single rows where the dialect has them, shapedShare queries of the shapes in correlated.go.
const (
	keyedShare  = 6
	shapedShare = 34
)

// next draws a whole query.
func (g *generator) next() *Node {
	with := g.with()
	e := &env{rows: 1}
	var q *Node
	switch n := g.r.IntN(100); {
	case n < 4 && g.dialect == nil:
		from, cols, rows := g.from(e)
		where := list(" WHERE ", " AND ", 0, g.condition(&env{cols: cols, rows: rows}, 2))
		items := &Node{Role: Items, Sep: ", ", Min: 1, Kids: []*Node{lit(Other, "*")}}
		q = op(Query, "SELECT $ FROM $$", items, from, where)
	case n < 15:
		q = g.finals(e)
	default:
		var types []Type
		q, types, _ = g.query(e, nil, false)
		switch {
		case q.Role == Loose:
		case g.chance(30):
			q, _ = g.limited(q, types, 0)
		case g.chance(20):
			q, _ = g.limited(q, types, 0)
			q.Limit = ""
			if len(q.Perm) > 1 && g.chance(50) {
				q.Perm = q.Perm[:1]
			}
		}
	}
	if with != nil {
		g.mark("WITH")
		q = op(Query, "$ $", with, q)
	}
	return q
}

// likeInList is LIKE as the left side of IN, of which MariaDB keeps another text of a view.
var likeInList = regexp.MustCompile(`LIKE [^()]*\)+ (NOT )?IN \(`)

// view draws a script that makes a view, queries it and drops it.
func (g *generator) view() *Node {
	g.mark("view")
	q, types, rows := g.query(&env{rows: 1}, nil, true)
	for q.has(withRollup) || !hasColumn.MatchString(q.outputs()[0].SQL()) || likeInList.MatchString(q.SQL()) {
		q, types, rows = g.query(&env{rows: 1}, nil, true)
	}
	s := &source{name: "v", rows: rows}
	var names []string
	renamed := g.chance(40)
	for i, item := range q.outputs()[0].Kids {
		name := alias(item)
		if renamed {
			name = g.name("n")
		}
		names = append(names, name)
		if hasColumn.MatchString(item.SQL()) {
			s.cols = append(s.cols, named{name, types[i]})
		}
	}
	list := ""
	if renamed {
		list = "(" + strings.Join(names, ", ") + ")"
	}
	made := op(Other, "CREATE OR REPLACE VIEW v"+list+" AS $", q)
	g.ctes, g.favour = []*source{s}, true
	read, _, _ := g.query(&env{rows: 1}, nil, false)
	return &Node{Role: Script, Sep: ";\n", Min: 1, Kids: []*Node{made, read, lit(Other, "DROP VIEW v")}}
}

// finals is a select of expressions that are shown only.
func (g *generator) finals(e *env) *Node {
	from, cols, rows := g.from(e)
	in := &env{cols: cols, rows: rows}
	where := list(" WHERE ", " AND ", 0)
	if g.chance(50) {
		where.Kids = append(where.Kids, g.condition(in, 1))
	}
	group := list(" GROUP BY ", ", ", 0)
	out := in
	if g.chance(50) {
		c := pick(g.r, cols)
		group.Kids = append(group.Kids, lit(c.t.Kind, c.sql))
		out = &env{grouped: true, base: in, rows: rows, cols: []named{c}}
	}
	items := &Node{Role: Items, Sep: ", ", Min: 1}
	var over *windows
	if (g.dialect == nil || g.dialect.Windows) && len(group.Kids) == 0 && g.chance(30) {
		if over = g.newWindows(out, cols, nil); over != nil {
			g.mark("window functions")
		}
	}
	for range 1 + g.r.IntN(3) {
		x := g.final
		if over != nil {
			x = func(*env) expr { return g.windowFinal(over) }
		}
		items.Kids = append(items.Kids, op(Other, "$", x(out).n))
	}
	if over != nil {
		return op(Query, "SELECT $ FROM $$$$", items, from, where, group, over.clause)
	}
	return op(Query, "SELECT $ FROM $$$", items, from, where, group)
}

// orderOf finds the sort of a whole query, past a WITH clause.
func orderOf(n *Node) []int {
	if n.Role == Ordered {
		return n.order()
	}
	if n.Format == "$ $" && n.Kind == Query {
		return orderOf(n.Kids[1])
	}
	return nil
}
