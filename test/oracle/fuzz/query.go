package fuzz

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// generator draws statements over one schema.
type generator struct {
	r      *rand.Rand
	schema *Schema
	big    bool      // tables of many rows: joins on keys only, no correlated subqueries
	names  int       // aliases given out
	ctes   []*source // common table expressions of the query being drawn
	favour bool      // reads them more than once, if it can
	labels []string  // what is in the statement
	target []*Table  // of the change being drawn, which reads them nowhere else

	dialect *Dialect // nil: MySQL's, less what exclusions.go lists
}

// source is something to select from.
type source struct {
	name string // of a table or CTE; empty for a derived table
	sub  *Node  // a derived table's query
	cols []named
	rows float64
	list bool // its columns are named behind its alias
	// common are the columns that USING and NATURAL may name.
	common []string
}

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// mostRows bounds what the oracle's nested loops have to look at.
const mostRows = 6e4

// source draws a table, a CTE or a derived table whose rows, times rows, stay in bounds.
func (g *generator) source(rows float64, e *env) *source {
	depth := e.depth
	if g.dialect == nil && g.chance(3) {
		return g.valuesTable()
	}
	if depth < 2 && g.chance(12) && !(g.big && rows > 1) {
		q, types, n := g.query(&env{depth: depth + 1, rows: 1, noDiv: e.noDiv}, nil, true)
		constant := func(item *Node) bool { return !hasColumn.MatchString(item.SQL()) }
		if n*rows <= mostRows && (g.target == nil || !slices.ContainsFunc(q.outputs()[0].Kids, constant)) {
			s := &source{sub: q, rows: n}
			for i, item := range q.outputs()[0].Kids {
				s.cols = append(s.cols, named{alias(item), types[i]})
			}
			if g.dialect == nil && len(g.ctes) == 0 && g.chance(20) {
				g.mark("column list")
				s.list = true
				for i := range s.cols {
					s.cols[i].sql = g.name("n")
				}
			}
			return s
		}
	}
	if len(g.ctes) > 0 && (g.favour || g.chance(45)) && !(g.big && rows > 1) {
		if c := pick(g.r, g.ctes); c.rows*rows <= mostRows {
			return c
		}
	}
	var fit []*Table
	var smallest *Table
	for _, t := range g.schema.Tables {
		if slices.Contains(g.target, t) {
			continue
		}
		if g.big || float64(len(t.Rows))*rows <= mostRows {
			fit = append(fit, t)
		}
		if smallest == nil || len(t.Rows) < len(smallest.Rows) {
			smallest = t
		}
	}
	t := smallest
	if len(fit) > 0 {
		t = pick(g.r, fit)
	}
	s := &source{name: t.Name, rows: float64(len(t.Rows))}
	for _, c := range t.Columns {
		s.cols = append(s.cols, named{c.Name, c.Type})
		if c.Name == "id" || c.Name == "k" {
			s.common = append(s.common, c.Name)
		}
	}
	return s
}

// alias is the name that an item of a select list is given: the text after its last " AS ".
func alias(item *Node) string {
	return item.Format[strings.LastIndex(item.Format, " AS ")+4:]
}

// factor renders a source under a new alias and returns its columns, qualified.
func (g *generator) factor(s *source) (*Node, []named) {
	name := g.name("x")
	n := lit(Factor, s.name+" AS "+name)
	if s.sub != nil {
		n = op(Factor, "($) AS "+name, s.sub)
	}
	if s.list {
		names := make([]string, len(s.cols))
		for i, c := range s.cols {
			names[i] = c.sql
		}
		columns := "(" + strings.Join(names, ", ") + ")"
		// MariaDB 10.11 names columns so in WITH alone.
		n = op(Factor, n.Format+columns, s.sub).judged("(WITH z" + columns + " AS ($1) SELECT * FROM z) AS " + name)
	}
	cols := make([]named, len(s.cols))
	for i, c := range s.cols {
		cols[i] = named{name + "." + c.sql, c.t}
	}
	return n, cols
}

// from draws a FROM clause.
func (g *generator) from(e *env) (*Node, []named, float64) {
	first := g.source(e.rows, e)
	n, cols := g.factor(first)
	rows := max(first.rows, 1)
	joins := list("", "", 1, n)
	count := pick(g.r, []int{0, 0, 0, 1, 1, 1, 1, 2, 2, 3})
	if e.depth > 0 {
		count = min(count, pick(g.r, []int{0, 0, 1, 2}))
	}
	for i := range count {
		s := g.source(e.rows*rows, e)
		if g.big {
			if right, more, on := g.keyJoin(s, cols); right != nil {
				joins.Kids = append(joins.Kids, op(Other, pick(g.r, []string{" JOIN ", " LEFT JOIN "})+"$ ON $", right, on))
				cols = append(append([]named(nil), cols...), more...)
			}
			continue
		}
		if e.rows*rows*s.rows > mostRows {
			break
		}
		right, more := g.factor(s)
		right, more, times, nested := g.nested(right, more, e, rows, max(s.rows, 1))
		all := append(append([]named(nil), cols...), more...)
		on := &env{cols: all, outer: e.outer, rows: e.rows * rows, depth: e.depth + 1, noSub: g.chance(85), noDiv: e.noDiv}
		kind := pick(g.r, []string{" JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " CROSS JOIN ", ", "})
		if i > 0 && joins.Kids[1].Format == ", $" {
			kind = ", " // JOIN would bind tighter, and its ON not see what stands before the comma
		} else if i > 0 && kind == ", " {
			kind = " CROSS JOIN "
		}
		switch {
		case i == 0 && !nested && s.sub == nil && first.sub == nil && len(s.common) > 0 && len(first.common) > 0 && g.chance(20):
			using := g.using(first.common, s.common)
			if kind == ", " || kind == " CROSS JOIN " {
				kind = " JOIN "
			}
			natural := strings.Replace(kind, " ", " NATURAL ", 1)
			if len(using) == 0 || g.chance(30) {
				joins.Kids = append(joins.Kids, op(Other, natural+"$", right))
			} else {
				joins.Kids = append(joins.Kids, op(Other, kind+"$ USING ("+strings.Join(using, ", ")+")", right))
				for _, c := range using {
					all = append(all, named{c, Type{Int, 10, 0}})
				}
			}
			// What follows would find the common names ambiguous.
			count = 0
		case kind == ", " || kind == " CROSS JOIN ":
			joins.Kids = append(joins.Kids, op(Other, kind+"$", right))
		default:
			outer := on.outer
			if kind != " JOIN " && g.dialect == nil {
				on.outer = nil
			}
			condition := g.on(on, cols, more)
			if kind != " JOIN " && g.dialect == nil && g.chance(40) {
				if c := g.across(all, outer); c != nil {
					condition.Kids = append(condition.Kids, c)
				}
			}
			joins.Kids = append(joins.Kids, op(Other, kind+"$ ON $", right, condition))
		}
		cols = all
		rows *= times
		if count == 0 {
			break
		}
	}
	return joins, cols, rows
}

// keyJoin joins a base table on its key, so that the result has no more rows than the left side.
func (g *generator) keyJoin(s *source, left []named) (right *Node, cols []named, on *Node) {
	if s.sub != nil || len(s.common) < 2 {
		return nil, nil, nil
	}
	var fit []named
	for _, c := range left {
		if c.t.Kind == Int {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return nil, nil, nil
	}
	right, cols = g.factor(s)
	c := pick(g.r, fit)
	on = list("", " AND ", 1, op(Bool, "$ = $", lit(Int, c.sql), lit(Int, cols[0].sql)))
	if g.chance(25) {
		all := append(append([]named(nil), left...), cols...)
		on.Kids = append(on.Kids, g.condition(&env{cols: all, noSub: true, noDiv: true}, 1))
	}
	return right, cols, on
}

func (g *generator) using(a, b []string) []string {
	var both []string
	for _, c := range a {
		for _, d := range b {
			if c == d && g.chance(70) {
				both = append(both, c)
			}
		}
	}
	return both
}

// on draws a join condition: mostly an equality, often with more.
func (g *generator) on(e *env, left, right []named) *Node {
	conjuncts := list("", " AND ", 1)
	if g.chance(75) {
		for range 20 {
			a, b := pick(g.r, left), pick(g.r, right)
			if a.t.Kind == b.t.Kind {
				eq := pick(g.r, []string{"$ = $", "$ = $", "$ = $", "$ = $", "$ <=> $"})
				conjuncts.Kids = append(conjuncts.Kids, op(Bool, eq, lit(a.t.Kind, a.sql), lit(b.t.Kind, b.sql)))
				if g.chance(70) {
					break
				}
			}
		}
	}
	for len(conjuncts.Kids) == 0 || g.chance(25) {
		conjuncts.Kids = append(conjuncts.Kids, g.condition(e, g.r.IntN(3)))
	}
	for _, k := range conjuncts.Kids {
		if g.dialect != nil || k.Format != "$ <=> $" {
			continue
		}
		a, b := k.Kids[0].SQL(), k.Kids[1].SQL()
		if text := conjuncts.SQL(); strings.Contains(text, a+" = "+b) || strings.Contains(text, b+" = "+a) {
			k.Format = "$ = $"
		}
	}
	return conjuncts
}

// across compares a column of one list with one of the other, or is nil.
func (g *generator) across(a, b []named) *Node {
	for range 10 {
		if len(b) == 0 {
			break
		}
		x, y := pick(g.r, a), pick(g.r, b)
		if x.t.Kind == y.t.Kind {
			return op(Bool, "$ "+pick(g.r, []string{"=", "<>", "<", ">="})+" $", lit(x.t.Kind, x.sql), lit(y.t.Kind, y.sql))
		}
	}
	return nil
}

// query draws a query. kinds asks for columns of those kinds; nil leaves them open. named gives every column an
// alias of its own. It returns the types of the columns and an estimate of the rows.
func (g *generator) query(e *env, kinds []Kind, aliases bool) (*Node, []Type, float64) {
	if g.dialect == nil && g.chance(3) {
		return g.rowless(e, kinds, aliases)
	}
	if g.dialect == nil && e.depth < 3 && g.chance(6) {
		if (kinds == nil || len(kinds) == 1 && kinds[0] == Int) && g.chance(50) {
			return g.counted(e, aliases)
		}
		if !e.noLimit && !e.noCut {
			return g.alike(e, kinds, aliases)
		}
	}
	if e.depth < 2 && g.chance(15) {
		for open := kinds == nil; kinds == nil || open && g.chance(35) && len(kinds) < 4; {
			kinds = append(kinds, g.anyKind(nil))
		}
		return g.setOperation(e, kinds, aliases)
	}
	return g.selectQuery(e, kinds, aliases)
}

// The last two stand alone only: among others they send MariaDB 10.11 into an endless loop.
var setOperators = []string{"UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"}

func (g *generator) setOperation(e *env, kinds []Kind, aliases bool) (*Node, []Type, float64) {
	inner := *e
	inner.depth++
	left, types, rows := g.operand(&inner, kinds, aliases)
	format := "$"
	kids := []*Node{left}
	more := 1
	if g.chance(30) {
		more = 2
	}
	if g.dialect == nil && (len(e.outer) > 0 || e.simple) || g.dialect != nil && !g.dialect.Nested {
		more = 1 // MariaDB wraps longer ones into derived tables, which see no outer columns
	}
	operators := setOperators
	if g.dialect != nil {
		if !g.dialect.Nested {
			operators = setOperators[:5]
		}
	} else if more > 1 || e.depth > 0 {
		operators = setOperators[:5]
	} else if g.chance(40) {
		operators = setOperators[5:]
	}
	if g.dialect == nil && e.noLimit {
		operators = setOperators[:3]
	}
	for range more {
		n, t, r := g.operand(&inner, kinds, false)
		for i := range types {
			types[i] = common(types[i], t[i])
		}
		rows += r
		format += " " + pick(g.r, operators) + " $"
		kids = append(kids, n)
	}
	return op(Query, format, kids...), types, rows
}

// operand is a select, in parentheses where it has an ORDER BY of its own.
func (g *generator) operand(e *env, kinds []Kind, aliases bool) (*Node, []Type, float64) {
	if (g.dialect == nil || g.dialect.Nested) && g.chance(15) && e.depth < 3 && len(e.outer) == 0 {
		inner := *e
		inner.simple = true
		n, t, rows := g.query(&inner, kinds, aliases) // below the top: no INTERSECT ALL, EXCEPT ALL in here
		if n.Role != Loose && g.chance(50) && !e.noLimit && !e.noCut {
			n, rows = g.limited(n, t, rows)
		}
		return op(Query, "($)", n), t, rows
	}
	return g.selectQuery(e, kinds, aliases)
}

// limited orders a query by all its columns and cuts it: equal rows apart, one result is right.
func (g *generator) limited(q *Node, types []Type, rows float64) (*Node, float64) {
	columns := len(q.outputs()[0].Kids)
	n := &Node{Kind: Query, Role: Ordered, Kids: []*Node{q}}
	if first := g.orderKeys(q, types); first != nil {
		n.Kids = append(n.Kids, first)
	}
	for _, i := range g.r.Perm(columns) {
		p := i + 1
		if g.chance(40) {
			p = -p
		}
		n.Perm = append(n.Perm, p)
	}
	limit := pick(g.r, []int{0, 1, 2, 5, 10, 30})
	n.Limit = fmt.Sprintf(" LIMIT %d", limit)
	if g.chance(25) && (g.dialect != nil || !strings.HasPrefix(q.Format, "SELECT DISTINCT")) {
		n.Limit += fmt.Sprintf(" OFFSET %d", g.r.IntN(8))
	}
	return n, min(rows, float64(limit))
}

// selectQuery draws SELECT ... FROM ... with all that may follow but ORDER BY and LIMIT.
func (g *generator) selectQuery(e *env, kinds []Kind, aliases bool) (*Node, []Type, float64) {
	open := kinds == nil
	from, cols, rows := g.from(e)
	inner := &env{cols: cols, outer: e.outer, rows: e.rows * rows, depth: e.depth, noDiv: e.noDiv}
	where := list(" WHERE ", " AND ", 0)
	for g.chance(55) && len(where.Kids) < 3 {
		where.Kids = append(where.Kids, g.condition(inner, 1+g.r.IntN(2)))
	}
	group, having := list(" GROUP BY ", ", ", 0), list(" HAVING ", " AND ", 0)
	out := inner
	var keys []expr
	grouping := group
	var over *windows
	plain := (g.dialect == nil || g.dialect.Windows) && len(e.outer) == 0 && !e.noLimit
	if !e.noGroup && g.chance(30) {
		out = &env{grouped: true, base: inner, outer: e.outer, rows: e.rows * rows, depth: e.depth, noDiv: e.noDiv}
		if g.chance(85) {
			for range 1 + g.r.IntN(3) {
				if key := g.groupKey(inner); g.dialect != nil || !confusing(keys, key.n) {
					keys = append(keys, key)
					group.Kids = append(group.Kids, key.n)
					if len(key.n.Kids) == 0 {
						out.cols = append(out.cols, named{key.n.Format, key.t})
					}
				}
			}
		} else {
			rows = 1
		}
		if g.dialect == nil && plain && len(keys) > 0 && apart(keys) && g.chance(20) {
			grouping, aliases, out.rollup = op(Other, "$"+withRollup, group), true, true
			g.mark("ROLLUP")
		} else if plain && !e.noGroup && g.chance(14) && (g.dialect != nil || !mayBeUnique(keys)) {
			over = g.newWindows(out, cols, keys)
		}
		out.all = g.dialect == nil && (over != nil || out.rollup)
		if (over == nil || g.dialect != nil) && g.chance(35) {
			from := *out
			if out.rollup {
				from.cols = nil
			}
			having.Kids = append(having.Kids, g.condition(&from, 1))
		}
	} else if plain && !e.noGroup && g.chance(14) {
		over = g.newWindows(out, cols, keys)
	}
	for kinds == nil || open && g.chance(60) && len(kinds) < 6 {
		kinds = append(kinds, g.anyKind(inner))
	}
	if over != nil {
		with := *out
		with.window, with.noSub = over, true
		out = &with
		g.mark("window functions")
	}
	items, types := g.selectList(out, kinds, keys, grouping != group, aliases)
	if g.dialect == nil && e.noLimit && slices.ContainsFunc(items.Kids, func(n *Node) bool { return !n.uses(cols) }) {
		having.Kids = nil
	}
	if g.dialect == nil {
		if grouping == group {
			g.byName(group, items)
		}
		if !out.grouped && over == nil && !e.noLimit {
			g.havingNames(having, items, types)
		}
	}
	distinct := "SELECT $ FROM $$$$"
	if !out.grouped && g.chance(15) {
		distinct = "SELECT DISTINCT $ FROM $$$$"
	}
	if over != nil {
		return op(Query, distinct+"$", items, from, where, group, having, over.clause), types, rows
	}
	return op(Query, distinct, items, from, where, grouping, having), types, rows
}

// selectList draws the items of a query, and returns their types. once: a key stands in one of them at most.
func (g *generator) selectList(out *env, kinds []Kind, keys []expr, once, aliases bool) (*Node, []Type) {
	items := &Node{Role: Items, Sep: ", ", Min: 1}
	types := make([]Type, len(kinds))
	for i, kind := range kinds {
		x := g.item(g.rolled(out), kind, keys)
		if out.grouped && len(keys) == 0 && i == 0 {
			// Without keys it is an aggregate that makes the query a grouped one.
			x, _ = g.aggregate(out, kind)
		}
		if once {
			x = g.once(out, keys, items.Kids, kind, x)
		}
		types[i] = x.t
		types[i].Kind = kind
		format := "$"
		if aliases || g.chance(30) {
			format += " AS " + g.name("c")
		}
		items.Kids = append(items.Kids, op(Other, format, x.n))
	}
	return items, types
}

// mayBeUnique says whether groups are by one column that is UNIQUE, perhaps under another name.
func mayBeUnique(keys []expr) bool {
	return len(keys) == 1 && uniqueColumn.MatchString(keys[0].n.Format)
}

var uniqueColumn = regexp.MustCompile(`\.(id|u|[cn]\d+)$`)

// confusing says whether a key has the name of another one: USING (k) makes k, x1.k and x2.k three columns.
func confusing(keys []expr, key *Node) bool {
	base := func(n *Node) string { return n.Format[strings.LastIndex(n.Format, ".")+1:] }
	return slices.ContainsFunc(keys, func(k expr) bool {
		return base(k.n) == base(key) && strings.Contains(k.n.Format, ".") != strings.Contains(key.Format, ".")
	})
}

// hasColumn finds the columns of an expression.
var hasColumn = regexp.MustCompile(`\bx\d+\.`)

// groupKey is a column, or an expression over columns.
func (g *generator) groupKey(e *env) expr {
	plain := *e
	plain.noSub, plain.outer = true, nil
	c := pick(g.r, e.cols)
	if g.chance(75) {
		return expr{lit(c.t.Kind, c.sql), c.t}
	}
	x := g.expr(&plain, c.t.Kind, 1)
	// A key without a column would be constant, or a position.
	if !x.n.uses(e.cols) || len(x.n.Kids) == 0 {
		return expr{lit(c.t.Kind, c.sql), c.t}
	}
	return x
}

// item is an output column: over groups sometimes a whole group key.
func (g *generator) item(e *env, kind Kind, keys []expr) expr {
	for _, k := range keys {
		if k.t.Kind == kind && g.chance(50) {
			return expr{k.n.clone(), k.t}
		}
	}
	if e.window != nil && g.chance(30) {
		if x, ok := g.windowCall(e.window, kind); ok {
			return x
		}
	}
	return g.expr(e, kind, 1+g.r.IntN(2))
}

// values draws the subquery that IN, ANY or ALL compares left with. equality says that it does so by = or <>.
func (g *generator) values(e *env, equality bool, left ...expr) *Node {
	sub := g.inside(e)
	sub.noLimit = true
	var kinds []Kind
	for _, x := range left {
		kinds = append(kinds, x.n.Kind)
	}
	if g.dialect != nil {
		q, _, _ := g.query(sub, kinds, false)
		return q
	}
	for _, x := range left {
		if x.n.has("SELECT") || e.grouped {
			sub.outer = nil
		}
	}
	if len(left) == 1 && (kinds[0] == Date || kinds[0] == DateTime || kinds[0] == Time) {
		sub.noGroup = true
	}
	draw := g.query
	if !equality {
		if len(sub.outer) > 0 {
			draw = g.selectQuery
		}
	}
	q, _, _ := draw(sub, kinds, false)
	if len(sub.outer) > 0 && (q.has("COUNT(DISTINCT ") || q.has("SUM(DISTINCT ")) {
		sub.outer = nil
		q, _, _ = draw(sub, kinds, false)
	}
	return q
}

// inside is the environment of a subquery: the columns around it become outer ones.
func (g *generator) inside(e *env) *env {
	sub := &env{depth: e.depth + 1, rows: max(e.rows, 1), noDiv: e.noDiv}
	if g.big {
		sub.rows = 1
		return sub
	}
	if g.chance(65) {
		for _, c := range append(append([]named(nil), e.cols...), e.outer...) {
			// A bare name, of USING, would be looked up in the subquery's own tables first.
			if strings.Contains(c.sql, ".") {
				sub.outer = append(sub.outer, c)
			}
		}
	}
	return sub
}

// scalarSubquery gives one value: an aggregate over everything, or the first of an order.
func (g *generator) scalarSubquery(e *env, kind Kind) expr {
	sub := g.inside(e)
	from, cols, rows := g.from(sub)
	in := &env{cols: cols, outer: sub.outer, rows: sub.rows * rows, depth: sub.depth, noSub: true, noDiv: e.noDiv}
	where := list(" WHERE ", " AND ", 0)
	for g.chance(70) && len(where.Kids) < 2 {
		where.Kids = append(where.Kids, g.condition(in, 1))
	}
	if g.chance(75) {
		if x, ok := g.aggregate(&env{grouped: true, base: in, depth: in.depth}, kind); ok {
			items := &Node{Role: Items, Sep: ", ", Min: 1, Kids: []*Node{op(Other, "$", x.n)}}
			return expr{op(kind, "($)", op(Query, "SELECT $ FROM $$", items, from, where)), x.t}
		}
	}
	if g.dialect == nil && e.grouped {
		in.outer = nil
	}
	x := g.expr(in, kind, 1)
	items := &Node{Role: Items, Sep: ", ", Min: 1, Kids: []*Node{op(Other, "$", x.n)}}
	q := &Node{Kind: Query, Role: Ordered, Perm: []int{1}, Limit: " LIMIT 1", Kids: []*Node{op(Query, "SELECT $ FROM $$", items, from, where)}}
	return expr{op(kind, "($)", q), x.t}
}

// compared draws what IN, ANY or ALL compares.
func (g *generator) compared(e *env, depth int) expr {
	kind := g.anyKind(e)
	x := g.expr(e, kind, depth)
	if g.dialect == nil && e.grouped && (len(e.cols) == 0 || !hasColumn.MatchString(x.n.SQL())) {
		return g.constant(kind)
	}
	return x
}

func (g *generator) subqueryCondition(e *env) *Node {
	switch n := g.r.IntN(100); {
	case n < 30:
		sub := g.inside(e)
		sub.noCut = true
		q, _, _ := g.query(sub, nil, false)
		for g.dialect == nil && q.has(withRollup) && (q.has(" INTERSECT ") || q.has(" EXCEPT ")) {
			q, _, _ = g.query(sub, nil, false)
		}
		if g.dialect == nil && g.chance(12) {
			g.mark("LIMIT without an order")
			if q = g.loose(q); strings.Contains(q.SQL(), " GROUP BY ") {
				q.Limit = pick(g.r, []string{" LIMIT 0", " LIMIT 1", " LIMIT 3"})
			}
		}
		return op(Bool, pick(g.r, []string{"EXISTS ($)", "(NOT EXISTS ($))"}), q)
	case n < 65:
		left := g.compared(e, 1)
		return op(Bool, pick(g.r, []string{"($ IN ($))", "($ NOT IN ($))"}), left.n, g.values(e, true, left))
	case n < 75 && g.dialect == nil:
		a, b := g.compared(e, 0), g.compared(e, 0)
		return op(Bool, pick(g.r, []string{"(($, $) IN ($))", "(($, $) NOT IN ($))"}), a.n, b.n, g.values(e, true, a, b))
	case n < 88 && (g.dialect == nil || g.dialect.Quantified):
		left := g.compared(e, 1)
		cmp := pick(g.r, []string{"=", "<>", "<", "<=", ">", ">="})
		if g.dialect == nil && left.n.Kind == Uint {
			cmp = pick(g.r, []string{"=", "<>"})
		}
		return op(Bool, "($ "+cmp+" "+pick(g.r, []string{"ANY", "ALL"})+" ($))", left.n, g.values(e, cmp == "=" || cmp == "<>", left))
	default:
		kind := g.anyKind(e)
		return op(Bool, "("+pick(g.r, comparisons)+")", g.expr(e, kind, 1).n, g.scalarSubquery(e, kind).n)
	}
}
