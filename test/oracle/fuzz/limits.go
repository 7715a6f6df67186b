package fuzz

import "fmt"

// loose cuts a query that has no order by LIMIT: which rows remain is open, how many is not. It is no Query, so that a reduction
// does not show what is open.
func (g *generator) loose(q *Node) *Node {
	n := &Node{Kind: Other, Role: Loose, Kids: []*Node{q}}
	count, offset := pick(g.r, []int{0, 1, 1, 2, 3, 5, 10, 30, 100, 1000}), pick(g.r, []int{0, 1, 2, 4, 8, 20, 90})
	forgets := g.dialect == nil && q.has("SELECT DISTINCT")
	if g.dialect == nil && !forgets && g.chance(10) {
		n.Limit = fmt.Sprintf(" LIMIT %d, 18446744073709551615", offset)
		return n
	}
	n.Limit = fmt.Sprintf(" LIMIT %d", count)
	if !forgets && g.chance(40) {
		n.Limit += fmt.Sprintf(" OFFSET %d", offset)
	}
	return n
}

// counted asks for the number of rows that a cut query without an order has.
func (g *generator) counted(e *env, aliases bool) (*Node, []Type, float64) {
	g.mark("LIMIT without an order")
	q, _, _ := g.query(&env{depth: e.depth + 1, rows: 1, noDiv: e.noDiv}, nil, true)
	for q.Role == Loose {
		q = q.Kids[0]
	}
	format := "COUNT(*)"
	if aliases {
		format += " AS " + g.name("c")
	}
	items := &Node{Role: Items, Sep: ", ", Min: 1, Kids: []*Node{lit(Other, format)}}
	return op(Query, "SELECT $ FROM ($) AS "+g.name("x"), items, g.loose(q)), []Type{{Int, 7, 0}}, 1
}

// alike draws a cut query without an order whose rows are all the same.
func (g *generator) alike(e *env, kinds []Kind, aliases bool) (*Node, []Type, float64) {
	g.mark("LIMIT without an order")
	if kinds == nil {
		kinds = []Kind{g.anyKind(nil)}
	}
	var types []Type
	var texts []*Node
	for _, k := range kinds {
		c := g.constant(k)
		types, texts = append(types, c.t), append(texts, lit(Other, c.n.Format))
	}
	arms := 1 + g.r.IntN(6)/3 + g.r.IntN(5)/4
	rows := 0.0
	format := ""
	var kids []*Node
	for i := range arms {
		from, cols, n := g.from(e)
		in := &env{cols: cols, outer: e.outer, rows: e.rows * n, depth: e.depth, noDiv: e.noDiv}
		where := list(" WHERE ", " AND ", 0)
		for g.chance(50) && len(where.Kids) < 2 {
			where.Kids = append(where.Kids, g.condition(in, 1))
		}
		items := &Node{Role: Items, Sep: ", ", Min: 1}
		for _, t := range texts {
			item := t.clone()
			if i == 0 && aliases {
				item.Format += " AS " + g.name("c")
			}
			items.Kids = append(items.Kids, item)
		}
		if i > 0 {
			format += " UNION ALL "
		}
		format += "$"
		kids = append(kids, op(Query, "SELECT $ FROM $$", items, from, where))
		rows += n
	}
	n := g.loose(op(Query, format, kids...))
	n.Kind = Query
	return n, types, rows
}
