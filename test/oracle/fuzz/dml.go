package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// change draws a statement that changes rows. Divisors are constants, as a division by zero is an error here; what is
// changed is not read in subqueries, which MySQL refuses.
func (g *generator) change() *Statement {
	tree, tables := g.changeOf(g.schema.Tables, false)
	return &Statement{Tree: tree, Check: checks(tables)}
}

// checks are the queries that show what is in tables.
func checks(tables []*Table) []string {
	var all []string
	for _, t := range tables {
		all = append(all, "SELECT * FROM "+t.Name)
	}
	return all
}

// changeOf draws a change of one of the tables, or of two. alone says that it reads no others.
func (g *generator) changeOf(from []*Table, alone bool) (*Node, []*Table) {
	t := pick(g.r, from)
	g.target, g.ctes, g.favour = []*Table{t}, nil, false
	defer func() { g.target = nil }()
	e := &env{cols: bare(t), rows: 1, noSub: alone || g.chance(70), noDiv: true}
	keyed := t.Columns[0].Unique
	switch n := g.r.IntN(100); {
	case n < 12:
		return g.insertSelect(t, alone), g.target
	case n < 38:
		if keyed {
			return g.upsert(t, alone), g.target
		}
		return g.insertValues(t, "INSERT INTO "), g.target
	case n < 65 || alone:
		if n%5 < 2 {
			return g.deletion(t, e), g.target
		}
		return g.update(t, e), g.target
	case n < 75:
		return g.deletion(t, e), g.target
	}
	if n := g.joined(t); n != nil {
		return n, g.target
	}
	g.target = []*Table{t}
	return g.update(t, e), g.target
}

// bare are a table's columns without qualification.
func bare(t *Table) []named {
	cols := make([]named, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = named{c.Name, c.Type}
	}
	return cols
}

// qualified are a table's columns under an alias.
func qualified(t *Table, alias string) []named {
	cols := bare(t)
	for i := range cols {
		cols[i].sql = alias + "." + cols[i].sql
	}
	return cols
}

// limitedTo draws ORDER BY and LIMIT, or neither. Rows that the order leaves equal are equal in all columns.
func (g *generator) limitedTo(t *Table, prefix string, percent int) *Node {
	if !g.chance(percent) {
		return lit(Other, "")
	}
	free := list("", "", 0)
	for len(free.Kids) < 2 && g.chance(50) {
		c := pick(g.r, t.Columns)
		free.Kids = append(free.Kids, op(Other, pick(g.r, []string{"$, ", "$ DESC, "}), lit(c.Type.Kind, prefix+c.Name)))
	}
	var keys []string
	for _, c := range t.Columns {
		keys = append(keys, prefix+c.Name+pick(g.r, []string{"", " DESC"}))
		if c.Unique {
			break
		}
	}
	return op(Other, fmt.Sprintf(" ORDER BY $%s LIMIT %d", strings.Join(keys, ", "), g.r.IntN(8)), free)
}

func (g *generator) where(e *env, most int) *Node {
	where := list(" WHERE ", " AND ", 0)
	for len(where.Kids) < most && g.chance(75) {
		where.Kids = append(where.Kids, g.condition(e, 1+g.r.IntN(2)))
	}
	return where
}

// update draws an UPDATE of one table; SET takes its assignments from left to right.
func (g *generator) update(t *Table, e *env) *Node {
	g.mark("UPDATE")
	set := list("", ", ", 1)
	where := g.where(e, 2)
	assigned := *e
	assigned.noSub = e.noSub || g.chance(50)
	for len(set.Kids) == 0 {
		for _, c := range t.Columns {
			if !c.Unique && g.chance(40) {
				set.Kids = append(set.Kids, op(Other, c.Name+" = $", g.fitting(&assigned, c)))
			}
		}
	}
	for _, c := range t.Columns {
		if c.Unique && g.chance(12) {
			set.Kids = append(set.Kids, lit(Other, fmt.Sprintf("%s = %s + %d", c.Name, c.Name, g.fresh())))
		}
	}
	return op(Other, "UPDATE "+t.Name+" SET $$$", set, where, g.limitedTo(t, "", 35))
}

// fresh is a number to add to keys, so that they lie above all that are there.
func (g *generator) fresh() int {
	g.names++
	return 20000 * g.names
}

func (g *generator) deletion(t *Table, e *env) *Node {
	g.mark("DELETE")
	where := g.where(e, 3)
	limit := g.limitedTo(t, "", 50)
	if len(where.Kids) == 0 && limit.Format == "" {
		where.Kids = append(where.Kids, g.condition(e, 1))
	}
	return op(Other, "DELETE FROM "+t.Name+"$$", where, limit)
}

// insertSelect fills a table from another or itself. Keys are new.
func (g *generator) insertSelect(t *Table, alone bool) *Node {
	g.mark("INSERT ... SELECT")
	if !alone && !t.Columns[0].Unique && g.chance(30) {
		var kinds []Kind
		for _, c := range t.Columns {
			kinds = append(kinds, c.Type.Kind)
		}
		q, _, _ := g.alike(&env{rows: 1, depth: 1, noDiv: true}, kinds, false)
		return op(Other, "INSERT INTO "+t.Name+" $", q)
	}
	_, items, from, where := g.selected(t, alone, func(id string) string { return fmt.Sprintf("%s + %d", id, g.fresh()) })
	return op(Other, "INSERT INTO "+t.Name+" SELECT $ FROM $$", items, from, where)
}

// selected draws the select list and condition of what fills table t, whose key column is given an expression.
func (g *generator) selected(t *Table, alone bool, key func(id string) string) (alias string, items, factor, where *Node) {
	from := t
	if !alone && !g.chance(40) {
		var fit []*Table
		for _, u := range g.schema.Tables {
			if u.Columns[0].Unique || !t.Columns[0].Unique {
				fit = append(fit, u)
			}
		}
		from = pick(g.r, fit)
	}
	alias = g.name("x")
	e := &env{cols: qualified(from, alias), rows: 1, noSub: alone || g.chance(70), noDiv: true}
	items = &Node{Role: List, Sep: ", ", Min: len(t.Columns)}
	for _, c := range t.Columns {
		if c.Unique {
			items.Kids = append(items.Kids, lit(Other, key(alias+".id")))
			continue
		}
		items.Kids = append(items.Kids, g.fitting(e, c))
	}
	where = list(" WHERE ", " AND ", 0, g.condition(e, 2))
	if len(from.Rows) > 300 {
		where.Kids = append(where.Kids, op(Bool, alias+".k = $", g.constant(Int).n))
	}
	return alias, items, lit(Factor, from.Name+" AS "+alias), where
}

// value is a literal for a column, or NULL.
func (g *generator) value(c Column) *Node {
	if !c.NotNull && g.chance(15) {
		return lit(c.Type.Kind, "NULL")
	}
	return lit(c.Type.Kind, literal(g.r, c.Type))
}

// insertValues draws an INSERT or REPLACE of literals, whose keys may be there already, or stand twice in it.
func (g *generator) insertValues(t *Table, verb string) *Node {
	g.mark("INSERT ... VALUES")
	rows := list("", ", ", 1)
	var columns []int
	var names []string
	some := g.chance(30) // the others take their default, NULL
	for j, c := range t.Columns {
		if !some || c.NotNull || g.chance(60) {
			columns, names = append(columns, j), append(names, c.Name)
		}
	}
	into := t.Name
	if some && len(columns) > 0 {
		g.r.Shuffle(len(columns), func(i, j int) {
			columns[i], columns[j] = columns[j], columns[i]
			names[i], names[j] = names[j], names[i]
		})
		into += "(" + strings.Join(names, ", ") + ")"
	}
	for len(rows.Kids) == 0 || len(rows.Kids) < 6 && g.chance(65) {
		row := list("", ", ", len(columns))
		for _, j := range columns {
			switch c := t.Columns[j]; {
			case c.Unique && len(t.Rows) > 0 && g.chance(50):
				row.Kids = append(row.Kids, lit(Int, pick(g.r, t.Rows)[j]))
			case c.Unique:
				row.Kids = append(row.Kids, lit(Int, fmt.Sprint(g.r.IntN(3*len(t.Rows)+10))))
			case strings.Contains(verb, "IGNORE") && g.chance(8):
				row.Kids = append(row.Kids, g.unfit(c))
			default:
				row.Kids = append(row.Kids, g.value(c))
			}
		}
		rows.Kids = append(rows.Kids, op(Other, "($)", row))
	}
	return op(Other, verb+into+" VALUES $", rows)
}

// unfit is a value that IGNORE cuts down to what the column can hold.
func (g *generator) unfit(c Column) *Node {
	switch c.Type.Kind {
	case Int, Dec:
		return lit(c.Type.Kind, pick(g.r, []string{"9999999999999999999", "-9999999999999999999"}))
	case Uint:
		return lit(Uint, pick(g.r, []string{"99999999999999999999", "-1"}))
	case Str:
		return lit(Str, "'"+strings.Repeat("long ", 10)+"'")
	}
	return g.value(c)
}

// upsert draws the statements that meet rows with their keys: REPLACE, INSERT IGNORE and ON DUPLICATE KEY UPDATE.
func (g *generator) upsert(t *Table, alone bool) *Node {
	verb, label := "INSERT INTO ", "ON DUPLICATE KEY UPDATE"
	switch g.r.IntN(10) {
	case 0, 1, 2:
		verb, label = "REPLACE INTO ", "REPLACE"
	case 3, 4, 5:
		verb, label = "INSERT IGNORE INTO ", "INSERT IGNORE"
	case 6:
		label = "" // an error, if a key is there
	}
	var n *Node
	if g.chance(60) {
		n = g.insertValues(t, verb)
	} else {
		g.mark("INSERT ... SELECT")
		alias, items, from, where := g.selected(t, alone, func(id string) string { return fmt.Sprintf("%s + %d", id, g.r.IntN(12)) })
		n = op(Other, verb+t.Name+" SELECT $ FROM $$ ORDER BY "+alias+".id"+pick(g.r, []string{"", " DESC"}), items, from, where)
	}
	if label == "" {
		return n
	}
	g.mark(label)
	if label != "ON DUPLICATE KEY UPDATE" {
		return n
	}
	var assigned []Column
	for len(assigned) == 0 {
		for _, c := range t.Columns {
			if !c.Unique && g.chance(50) || c.Name == "u" && g.chance(20) {
				assigned = append(assigned, c)
			}
		}
	}
	set := list("", ", ", 1)
	for _, c := range assigned {
		if c.Unique {
			set.Kids = append(set.Kids, lit(Other, fmt.Sprintf("u = VALUES(u) + %d", g.r.IntN(4))))
			continue
		}
		e := &env{rows: 1, noSub: true, noDiv: true}
		for _, d := range t.Columns {
			e.cols = append(e.cols, named{t.Name + "." + d.Name, d.Type})
			// MariaDB keeps the text of VALUES(d) where it writes what it sets d to.
			shared := d.Decl == "TEXT" && d.Name != c.Name && slices.ContainsFunc(assigned, func(a Column) bool { return a.Name == d.Name })
			if !shared {
				e.cols = append(e.cols, named{"VALUES(" + d.Name + ")", d.Type})
			}
		}
		set.Kids = append(set.Kids, op(Other, t.Name+"."+c.Name+" = $", g.fitting(e, c)))
	}
	return op(Other, "$ ON DUPLICATE KEY UPDATE $", n, set)
}

// joined draws an UPDATE or DELETE over two tables, or nil.
func (g *generator) joined(t *Table) *Node {
	u := pick(g.r, g.schema.Tables)
	if u == t || float64(len(t.Rows))*float64(len(u.Rows)) > mostRows {
		return nil
	}
	x, y := g.name("x"), g.name("x")
	xs, ys := qualified(t, x), qualified(u, y)
	e := &env{cols: slices.Concat(xs, ys), rows: 1, noDiv: true, noSub: true}
	g.target = append(g.target, u)
	var on *Node
	matched := u.Columns[0].Unique && g.chance(70) // each row of t meets one of u at most
	if matched {
		c := pick(g.r, xs)
		for range 10 {
			if c.t.Kind != Int {
				c = pick(g.r, xs)
			}
		}
		if c.t.Kind != Int {
			return nil
		}
		on = list("", " AND ", 1, op(Bool, "$ = $", lit(Int, c.sql), lit(Int, y+".id")))
	} else {
		on = g.on(e, xs, ys)
	}
	kind := pick(g.r, []string{" JOIN ", " JOIN ", " LEFT JOIN "})
	from := op(Other, t.Name+" AS "+x+kind+u.Name+" AS "+y+" ON $", on)
	where := g.where(e, 2)
	if g.chance(40) {
		g.mark("DELETE of several tables")
		return op(Other, pick(g.r, []string{
			fmt.Sprintf("DELETE %s FROM $$", x), fmt.Sprintf("DELETE %s FROM $$", y), fmt.Sprintf("DELETE %s, %s FROM $$", x, y),
			fmt.Sprintf("DELETE FROM %s USING $$", x), fmt.Sprintf("DELETE FROM %s, %s USING $$", x, y),
		}), from, where)
	}
	g.mark("UPDATE of several tables")
	both := g.chance(30)
	set := list("", ", ", 1)
	assign := func(of *Table, alias string, reads []named) {
		// Where both tables change, MariaDB looks for partners of rows by what it has set already.
		conditions := on.SQL() + where.SQL()
		free := slices.DeleteFunc(slices.Clone(of.Columns), func(c Column) bool {
			return c.Unique || both && strings.Contains(conditions, alias+"."+c.Name)
		})
		var chosen []Column
		for len(chosen) == 0 && len(free) > 0 {
			for _, c := range free {
				if g.chance(35) {
					chosen = append(chosen, c)
				}
			}
		}
		for _, c := range chosen {
			// In which order the assignments are made is open: none reads what another one sets.
			in := &env{rows: 1, noDiv: true, noSub: true}
			for _, r := range reads {
				if !slices.ContainsFunc(chosen, func(d Column) bool { return d.Name != c.Name && alias+"."+d.Name == r.sql }) {
					in.cols = append(in.cols, r)
				}
			}
			set.Kids = append(set.Kids, op(Other, alias+"."+c.Name+" = $", g.fitting(in, c)))
		}
	}
	switch {
	case both:
		assign(t, x, xs)
		assign(u, y, ys)
	case matched:
		assign(t, x, e.cols)
	default:
		assign(t, x, xs)
	}
	if len(set.Kids) == 0 {
		return nil
	}
	return op(Other, "UPDATE $ SET $$", from, set, where)
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
