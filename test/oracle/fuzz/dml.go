package fuzz

import "fmt"

// change draws an INSERT ... SELECT, UPDATE or DELETE. Divisors are constants, as a division by zero is an error
// here; the target is not read in subqueries, which MySQL refuses.
func (g *generator) change() *Statement {
	t := pick(g.r, g.schema.Tables)
	cols := make([]named, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = named{c.Name, c.Type}
	}
	e := &env{cols: cols, rows: 1, noSub: true, noDiv: true}
	s := &Statement{Check: "SELECT * FROM " + t.Name}
	switch n := g.r.IntN(10); {
	case n < 3:
		s.Tree = g.insertSelect(t, e)
	case n < 8:
		set := list("", ", ", 1)
		for len(set.Kids) == 0 {
			for _, c := range t.Columns {
				if !c.Unique && g.chance(40) {
					set.Kids = append(set.Kids, op(Other, c.Name+" = $", g.fitting(e, c)))
				}
			}
		}
		s.Tree = op(Other, "UPDATE "+t.Name+" SET $$", set, list(" WHERE ", " AND ", 0, g.condition(e, 2)))
	default:
		s.Tree = op(Other, "DELETE FROM "+t.Name+"$", list(" WHERE ", " AND ", 1, g.condition(e, 2), g.condition(e, 1)))
	}
	return s
}

// insertSelect fills a table from itself if it has a key, whose new values then lie above all that it holds.
func (g *generator) insertSelect(t *Table, e *env) *Node {
	items := &Node{Role: List, Sep: ", ", Min: len(t.Columns)}
	source := t
	if !t.Columns[0].Unique {
		source = pick(g.r, g.schema.Tables)
		e.cols = nil
		for _, c := range source.Columns {
			e.cols = append(e.cols, named{c.Name, c.Type})
		}
	}
	for _, c := range t.Columns {
		if c.Unique {
			items.Kids = append(items.Kids, lit(Other, fmt.Sprintf("%s + %d", c.Name, 20000*(1+g.names))))
			g.names++
			continue
		}
		items.Kids = append(items.Kids, g.fitting(e, c))
	}
	where := list(" WHERE ", " AND ", 0, g.condition(e, 2))
	if len(source.Rows) > 300 {
		where.Kids = append(where.Kids, op(Bool, "k = $", g.constant(Int).n))
	}
	return op(Other, "INSERT INTO "+t.Name+" SELECT $ FROM "+source.Name+"$", items, where)
}

// fitting draws a value that the column can hold.
func (g *generator) fitting(e *env, c Column) *Node {
	x := g.expr(e, c.Type.Kind, 2)
	n := x.n
	switch c.Type.Kind {
	case Int, Uint:
		if x.t.Digits >= c.Type.Digits {
			n = op(x.t.Kind, "($ % 100)", n)
		}
	case Dec:
		if x.t.Digits >= c.Type.Digits {
			n = op(Dec, "($ % 50)", n)
		}
	case Str:
		n = op(Str, fmt.Sprintf("LEFT($, %d)", c.Type.Digits), n)
	}
	if c.NotNull {
		n = op(c.Type.Kind, "COALESCE($, "+literal(g.r, c.Type)+")", n)
	}
	return n
}
