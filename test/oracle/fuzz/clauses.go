package fuzz

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// aliased are the columns of a select that have names of their own, as the clauses behind it see them, constants aside.
func aliased(items *Node, types []Type) []named {
	var cols []named
	for i, item := range items.Kids {
		if i < len(types) && strings.Contains(item.Format, "$ AS ") && hasColumn.MatchString(item.SQL()) {
			cols = append(cols, named{alias(item), types[i]})
		}
	}
	return cols
}

// aggregates finds what makes a select a grouped one.
var aggregates = regexp.MustCompile(`\b(COUNT|SUM|MIN|MAX|AVG|BIT_OR|BIT_AND|BIT_XOR|GROUP_CONCAT)\(`)

// orderKeys draws expressions over the named columns of a select to sort by first, or nothing.
func (g *generator) orderKeys(q *Node, types []Type) *Node {
	if g.dialect != nil || !strings.HasPrefix(q.Format, "SELECT ") || q.has(" OVER ") || q.has(withRollup) || aggregates.MatchString(q.outputs()[0].SQL()) || !g.chance(40) {
		return nil
	}
	e := &env{cols: aliased(q.outputs()[0], types), rows: 1, depth: 1, noSub: g.chance(80)}
	if len(e.cols) == 0 {
		return nil
	}
	g.mark("ORDER BY expression")
	keys := list("", "", 0)
	for len(keys.Kids) == 0 || g.chance(30) {
		x := g.expr(e, pick(g.r, e.cols).t.Kind, 1+g.r.IntN(2))
		if !x.n.uses(e.cols) {
			break // a constant could be taken for a position
		}
		keys.Kids = append(keys.Kids, op(Other, pick(g.r, []string{"$, ", "$ DESC, "}), x.n))
	}
	if len(keys.Kids) == 0 {
		return nil
	}
	return keys
}

// byName writes group keys that are output columns by their names or positions.
func (g *generator) byName(group, items *Node) {
	for i, key := range group.Kids {
		at := slices.IndexFunc(items.Kids, func(n *Node) bool { return n.Kids[0].SQL() == key.SQL() })
		if at < 0 || !g.chance(35) {
			continue
		}
		g.mark("GROUP BY name or position")
		item := items.Kids[at]
		if strings.HasPrefix(item.Format, "$ AS ") && g.chance(60) {
			group.Kids[i] = lit(key.Kind, alias(item))
			continue
		}
		group.Kids[i] = lit(Other, strconv.Itoa(at+1))
	}
}

// havingNames draws HAVING of a select that has no groups, over the names of its output columns, or nothing.
func (g *generator) havingNames(having, items *Node, types []Type) {
	e := &env{cols: aliased(items, types), rows: 1, depth: 1, noSub: true}
	if len(e.cols) == 0 || !g.chance(25) {
		return
	}
	if c := g.condition(e, 1); c.uses(e.cols) {
		g.mark("HAVING without groups")
		having.Kids = append(having.Kids, c)
	}
}

// nested sometimes makes one operand of a join of two, in parentheses. rows is how many it has then.
func (g *generator) nested(left *Node, cols []named, e *env, before, rows float64) (n *Node, all []named, _ float64, ok bool) {
	if g.dialect != nil || !g.chance(8) {
		return left, cols, rows, false
	}
	s := g.source(e.rows*before*rows, e)
	more := rows * max(s.rows, 1)
	if e.rows*before*more > mostRows {
		return left, cols, rows, false
	}
	g.mark("join in parentheses")
	right, others := g.factor(s)
	all = slices.Concat(cols, others)
	on := g.on(&env{cols: all, rows: e.rows * before * rows, depth: e.depth + 1, noSub: true, noDiv: e.noDiv}, cols, others)
	kind := pick(g.r, []string{" JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN "})
	return op(Factor, "($"+kind+"$ ON $)", left, right, on), all, more, true
}

// valuesTable draws VALUES ROW(...), ... as a table.
func (g *generator) valuesTable() *source {
	g.mark("VALUES ROW")
	s := &source{list: true, rows: float64(1 + g.r.IntN(5))}
	for len(s.cols) == 0 || len(s.cols) < 4 && g.chance(50) {
		s.cols = append(s.cols, named{g.name("n"), Type{g.anyKind(nil), 3, 1}})
	}
	rows := list("VALUES ", ", ", 1)
	for i := range int(s.rows) {
		row := list("", ", ", len(s.cols))
		for _, c := range s.cols {
			n := lit(Other, literal(g.r, c.t))
			if i > 0 && g.chance(12) {
				n.Format = "NULL"
			}
			row.Kids = append(row.Kids, n)
		}
		rows.Kids = append(rows.Kids, op(Other, "ROW($)", row).judged("($1)"))
	}
	s.sub = rows
	return s
}

// rowComparison compares two values with two others.
func (g *generator) rowComparison(e *env, depth int) *Node {
	g.mark("row comparison")
	plain := *e
	plain.window = nil
	e = &plain
	kinds := []Kind{g.anyKind(e), g.anyKind(e)}
	row := func() *Node { return op(Other, "($, $)", g.expr(e, kinds[0], depth).n, g.expr(e, kinds[1], 0).n) }
	// MariaDB takes such a comparison for one that cannot be NULL, and a condition that no NULL satisfies.
	compare := func(format string, a, b *Node) *Node {
		test := strings.Replace(strings.Replace(format, "$", "$1", 1), " $", " $2", 1)
		test = strings.Replace(test, "($)", "($2)", 1)
		return op(Bool, "("+format+")", a, b).judged("CASE WHEN " + test + " THEN 1 WHEN NOT (" + test + ") THEN 0 END")
	}
	if g.chance(60) {
		return compare(pick(g.r, comparisons), row(), row())
	}
	rows := list("", ", ", 1, row())
	for len(rows.Kids) < 4 && g.chance(60) {
		rows.Kids = append(rows.Kids, row())
	}
	return compare(pick(g.r, []string{"$ IN ($)", "$ NOT IN ($)"}), row(), rows)
}

// rowless draws a select that reads no table.
func (g *generator) rowless(e *env, kinds []Kind, aliases bool) (*Node, []Type, float64) {
	g.mark("SELECT without a table")
	for open := kinds == nil; kinds == nil || open && g.chance(50) && len(kinds) < 4; {
		kinds = append(kinds, g.anyKind(nil))
	}
	in := &env{outer: e.outer, rows: max(e.rows, 1), depth: e.depth, noDiv: e.noDiv}
	items := &Node{Role: Items, Sep: ", ", Min: 1}
	var types []Type
	for _, kind := range kinds {
		x := g.expr(in, kind, 1+g.r.IntN(2))
		types = append(types, Type{kind, x.t.Digits, x.t.Scale})
		format := "$"
		if aliases || g.chance(30) {
			format += " AS " + g.name("c")
		}
		items.Kids = append(items.Kids, op(Other, format, x.n))
	}
	where := list(" FROM DUAL WHERE ", " AND ", 0)
	for g.chance(45) && len(where.Kids) < 2 {
		where.Kids = append(where.Kids, g.condition(in, 1))
	}
	return op(Query, "SELECT $$", items, where), types, 1
}
