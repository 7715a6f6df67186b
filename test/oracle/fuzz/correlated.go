package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// Queries over two or three of the schema's tables, in shapes that planners treat in ways of their own. There are subqueries that look up the first
// of an order, or what two inequalities leave. There are joins by bands, aggregates over joins with strings among the group keys, and rollups.

// shaped draws one of them, where there are tables small enough.
func (g *generator) shaped() *Node {
	if n := float64(len(g.smallest().Rows)); n*n > mostPairs {
		return g.next()
	}
	switch n := g.r.IntN(100); {
	case n < 50:
		return g.lookup()
	case n < 70:
		return g.band()
	}
	return g.groupedJoin()
}

// mostPairs bounds the pairs of rows that the oracle's nested loops look at.
const mostPairs = 2e5

// side is a table under an alias.
type side struct {
	table *Table
	alias string
	cols  []named
}

func (g *generator) side(t *Table) side {
	alias := g.name("x")
	return side{t, alias, qualified(t, alias)}
}

func (s side) factor() *Node { return lit(Factor, s.table.Name+" AS "+s.alias) }

// smallest is the table of fewest rows.
func (g *generator) smallest() *Table {
	return slices.MinFunc(g.schema.Tables, func(a, b *Table) int { return len(a.Rows) - len(b.Rows) })
}

// sides draws two tables whose rows make few enough pairs: the smallest one twice where no others do.
func (g *generator) sides() (x, y side) {
	for range 20 {
		a, b := pick(g.r, g.schema.Tables), pick(g.r, g.schema.Tables)
		if float64(len(a.Rows))*float64(len(b.Rows)) <= mostPairs {
			return g.side(a), g.side(b)
		}
	}
	return g.side(g.smallest()), g.side(g.smallest())
}

// alikeColumns draws a column of each list, both of one kind, or says that there are none.
func (g *generator) alikeColumns(a, b []named) (x, y named, ok bool) {
	for range 30 {
		x, y = pick(g.r, a), pick(g.r, b)
		if x.t.Kind == y.t.Kind && x.t.Kind != Time {
			return x, y, true
		}
	}
	return x, y, false
}

func column(c named) *Node { return lit(c.t.Kind, c.sql) }

// bound is a column, or one that is moved a little.
func (g *generator) bound(c named) *Node {
	if g.chance(50) {
		return column(c)
	}
	n := g.r.IntN(9) - 3
	switch {
	case c.t.Kind == Int && c.t.Digits <= mostDigits:
		return op(Int, fmt.Sprintf("(CAST($ AS SIGNED) + %d)", n), column(c))
	case c.t.Kind == Dec && c.t.Digits+c.t.Scale <= 26:
		return op(Dec, fmt.Sprintf("($ + %d.5)", max(n, 0)), column(c))
	case c.t.Kind == Dbl:
		return op(Dbl, fmt.Sprintf("($ + %d.25e0)", max(n, 0)), column(c))
	case c.t.Kind == Date:
		return op(Date, fmt.Sprintf("CAST(($ + INTERVAL %d DAY) AS DATE)", 10*max(n, 0)), column(c))
	case c.t.Kind == DateTime:
		return op(DateTime, fmt.Sprintf("($ + INTERVAL %d HOUR)", 10*max(n, 0)), column(c))
	}
	return column(c)
}

// meeting draws the conditions under which a row of y meets one of x. equal asks for an equality among them.
func (g *generator) meeting(x, y side, equal int) *Node {
	all := list("", " AND ", 1)
	add := func(format string, kids ...*Node) { all.Kids = append(all.Kids, op(Bool, format, kids...)) }
	if a, b, ok := g.alikeColumns(x.cols, y.cols); ok && g.chance(equal) {
		add("$ = $", column(b), column(a))
	}
	less := []string{"$ < $", "$ <= $", "$ > $", "$ >= $"}
	switch n := g.r.IntN(100); {
	case n < 25: // y's columns around x's
		if a, b, ok := g.alikeColumns(x.cols, y.cols); ok {
			c := b
			for range 10 {
				if d := pick(g.r, y.cols); d.t.Kind == b.t.Kind {
					c = d
				}
			}
			add("$ BETWEEN $ AND $", column(a), column(b), g.bound(c))
		}
	case n < 45: // x's bounds around y's column
		if a, b, ok := g.alikeColumns(x.cols, y.cols); ok {
			add("$ BETWEEN $ AND $", column(b), column(a), g.bound(a))
		}
	case n < 85:
		for range 1 + g.r.IntN(2) {
			if a, b, ok := g.alikeColumns(x.cols, y.cols); ok {
				add(pick(g.r, less), column(b), g.bound(a))
			}
		}
	}
	if a, b, ok := g.alikeColumns(x.cols, y.cols); ok && (len(all.Kids) == 0 || g.chance(20)) {
		add(pick(g.r, []string{"$ <> $", "$ <> $", "$ <= $"}), column(b), column(a))
	}
	if g.chance(15) {
		all.Kids = append(all.Kids, g.condition(&env{cols: y.cols, rows: 1, noSub: true, noDiv: true, depth: 2}, 1))
	}
	if len(all.Kids) == 0 {
		add("$ IS NOT NULL", column(pick(g.r, y.cols)))
	}
	return all
}

// first is a subquery that gives one value of the first row of an order. Rows that the order leaves equal have the same value.
func (g *generator) first(x, y side, of named) *Node {
	by := pick(g.r, y.cols)
	format := fmt.Sprintf("(SELECT %s FROM $ WHERE $ ORDER BY %s%s, 1%s LIMIT 1", of.sql, by.sql, g.any("", " DESC", " DESC"), g.any("", " DESC"))
	if g.chance(15) {
		format += " OFFSET " + g.any("1", "2")
	}
	return op(of.t.Kind, format+")", y.factor(), g.meeting(x, y, 65))
}

// folded is a subquery that gives an aggregate.
func (g *generator) folded(x, y side, of named) *Node {
	call, kind := g.any("COUNT(*)", "MIN(@)", "MAX(@)", "COUNT(@)", "COUNT(DISTINCT @)"), of.t.Kind
	if strings.HasPrefix(call, "COUNT") {
		kind = Int
	} else if kind == Int && of.t.Digits <= 10 && g.chance(30) {
		call, kind = "SUM(@)", Dec
	}
	return op(kind, "(SELECT "+strings.ReplaceAll(call, "@", of.sql)+" FROM $ WHERE $)", y.factor(), g.meeting(x, y, 50))
}

// lookup draws a select with correlated subqueries in its list, its condition, or both.
func (g *generator) lookup() *Node {
	g.mark("lookups by correlated subqueries")
	x, y := g.sides()
	items := &Node{Role: Items, Sep: ", ", Min: 1}
	for range 1 + g.r.IntN(2) {
		items.Kids = append(items.Kids, op(Other, "$", column(pick(g.r, x.cols))))
	}
	where := list(" WHERE ", " AND ", 0)
	inList := g.chance(65)
	if inList {
		of := pick(g.r, y.cols)
		if g.chance(60) {
			items.Kids = append(items.Kids, op(Other, "$", g.first(x, y, of)))
		} else {
			items.Kids = append(items.Kids, op(Other, "$", g.folded(x, y, of)))
		}
	}
	if !inList || g.chance(25) {
		where.Kids = append(where.Kids, g.chosen(x, g.side(y.table)))
	}
	q := op(Query, "SELECT $ FROM $$", items, x.factor(), where)
	if inList && g.chance(25) { // what reads few of the columns, or groups them
		for _, k := range items.Kids {
			k.Format += " AS " + g.name("c")
		}
		last := alias(items.Kids[len(items.Kids)-1])
		outer := &Node{Role: Items, Sep: ", ", Min: 1, Kids: []*Node{lit(Other, "COUNT(*)"), lit(Other, "MAX("+last+")"), lit(Other, "COUNT(DISTINCT "+last+")")}}
		items.Min = len(items.Kids)
		return op(Query, "SELECT $ FROM ($) AS "+g.name("x"), outer, q)
	}
	return q
}

// chosen is a condition on x by a subquery of y.
func (g *generator) chosen(x, y side) *Node {
	a, b, ok := g.alikeColumns(x.cols, y.cols)
	switch n := g.r.IntN(100); {
	case n < 45 || !ok:
		return op(Bool, pick(g.r, []string{"EXISTS (SELECT 1 FROM $ WHERE $)", "NOT EXISTS (SELECT 1 FROM $ WHERE $)"}), y.factor(), g.meeting(x, y, 40))
	case n < 75:
		return op(Bool, pick(g.r, []string{"$ IN (SELECT " + b.sql + " FROM $ WHERE $)", "$ NOT IN (SELECT " + b.sql + " FROM $ WHERE $)"}), column(a), y.factor(), g.meeting(x, y, 30))
	case n < 90:
		return op(Bool, pick(g.r, []string{"$ = $", "$ <> $", "$ >= $", "$ < $"}), column(a), g.first(x, y, b))
	}
	return op(Bool, "$ > $", lit(Int, g.any("0", "1", "2", "3")), op(Int, "(SELECT COUNT(*) FROM $ WHERE $)", y.factor(), g.meeting(x, y, 50)))
}

// band draws a join whose condition is a range.
func (g *generator) band() *Node {
	g.mark("joins by bands")
	x, y := g.sides()
	cols := append(append([]named(nil), x.cols...), y.cols...)
	join := op(Other, "$"+pick(g.r, []string{" JOIN ", " JOIN ", " LEFT JOIN "})+"$ ON $", x.factor(), y.factor(), g.meeting(x, y, 45))
	where := list(" WHERE ", " AND ", 0)
	if g.chance(30) {
		where.Kids = append(where.Kids, g.condition(&env{cols: cols, rows: 1, noSub: true, noDiv: true, depth: 2}, 1))
	}
	items := &Node{Role: Items, Sep: ", ", Min: 1}
	if g.chance(50) {
		for range 1 + g.r.IntN(3) {
			items.Kids = append(items.Kids, op(Other, "$", column(pick(g.r, cols))))
		}
		return op(Query, "SELECT $ FROM $$", items, join, where)
	}
	key := pick(g.r, x.cols)
	items.Kids = append(items.Kids, op(Other, "$", column(key)), lit(Other, "COUNT(*)"), lit(Other, g.plainAggregate(cols)))
	return op(Query, "SELECT $ FROM $$ GROUP BY $", items, join, where, column(key))
}

// plainAggregate is an aggregate of a column.
func (g *generator) plainAggregate(cols []named) string {
	c := pick(g.r, cols)
	calls := []string{"COUNT(@)", "COUNT(DISTINCT @)", "MIN(@)", "MAX(@)"}
	switch {
	case c.t.Kind == Int && c.t.Digits <= 10:
		calls = append(calls, "SUM(@)", "SUM(DISTINCT @)")
		if g.dialect == nil {
			calls = append(calls, "AVG(@)", "AVG(@)", "AVG(@)")
		}
	case c.t.Kind == Dec && c.t.Digits <= 15 && g.dialect == nil:
		calls = append(calls, "SUM(@)", "AVG(@)", "AVG(@)")
	case c.t.Kind == Dbl:
		calls = append(calls, "SUM(@)", "AVG(@)", "AVG(@)")
	}
	return strings.ReplaceAll(pick(g.r, calls), "@", c.sql)
}

// groupedJoin draws aggregates over a join, or over a table, grouped by columns, strings first of all; often a rollup.
func (g *generator) groupedJoin() *Node {
	g.mark("aggregates over joins")
	x, y := g.sides()
	cols, from := x.cols, x.factor()
	if a, b, ok := g.alikeColumns(x.cols, y.cols); ok && g.chance(75) {
		from = op(Other, "$"+pick(g.r, []string{" JOIN ", " JOIN ", " LEFT JOIN "})+"$ ON $ = $", from, y.factor(), column(a), column(b))
		cols = append(append([]named(nil), x.cols...), y.cols...)
	}
	var keys []named
	taken := map[string]bool{}
	for len(keys) == 0 || len(keys) < 3 && g.chance(55) {
		c := pick(g.r, cols)
		for range 4 {
			if c.t.Kind != Str {
				c = pick(g.r, cols)
			}
		}
		if taken[c.sql] {
			break
		}
		taken[c.sql] = true
		keys = append(keys, c)
	}
	rollup := g.chance(45) && (g.dialect == nil || g.dialect.Rollup)
	items, group := &Node{Role: Items, Sep: ", ", Min: 1}, list("", ", ", 1)
	var free []named // what is no key: aggregates of keys are NULL in the totals of some engines
	for _, c := range cols {
		if !taken[c.sql] {
			free = append(free, c)
		}
	}
	for _, k := range keys {
		group.Kids = append(group.Kids, column(k))
		if g.dialect == nil && rollup && uniqueColumn.MatchString(k.sql) {
			rollup = false
		}
		items.Kids = append(items.Kids, op(Other, "$", column(k)))
	}
	items.Kids = append(items.Kids, lit(Other, "COUNT(*)"))
	for range 1 + g.r.IntN(3) {
		if len(free) > 0 {
			items.Kids = append(items.Kids, lit(Other, g.plainAggregate(free)))
		}
	}
	where := list(" WHERE ", " AND ", 0)
	if g.chance(30) {
		where.Kids = append(where.Kids, g.condition(&env{cols: cols, rows: 1, noSub: true, noDiv: true, depth: 2}, 1))
	}
	grouping := op(Other, " GROUP BY $", group)
	if rollup {
		g.mark("ROLLUP")
		grouping = op(Other, " GROUP BY $"+withRollup, group)
		if g.dialect != nil {
			grouping.judged(" GROUP BY ROLLUP ($1)")
			var named []string
			for _, k := range keys {
				named = append(named, k.sql)
			}
			items.Kids = append(items.Kids, lit(Other, "GROUPING("+strings.Join(named, ", ")+")"))
			group.Min = len(group.Kids)
		}
	}
	having := list(" HAVING ", " AND ", 0)
	if rollup && g.dialect != nil { // in MySQL no rows have no total
		having.Kids, having.Min = append(having.Kids, lit(Bool, "COUNT(*) > 0")), 1
	}
	if g.chance(25) {
		having.Kids = append(having.Kids, lit(Bool, g.any("COUNT(*) > 1", "COUNT(*) <= 2", "COUNT(*) <> 3")))
	}
	return op(Query, "SELECT $ FROM $$$$", items, from, where, grouping, having)
}
