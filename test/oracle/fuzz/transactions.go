package fuzz

import "fmt"

// transaction draws a script: the statements of one session, or of two that take turns.
func (g *generator) transaction() *Statement {
	script := &Node{Role: Script, Sep: ";\n", Min: 1}
	if g.chance(40) {
		g.mark("transactions of two sessions")
		g.sessions(script)
	} else {
		g.mark("transactions of one session")
		g.session(script)
	}
	return &Statement{Tree: script, Check: checks(g.schema.Tables)}
}

// session draws a transaction with savepoints.
func (g *generator) session(script *Node) {
	add := func(n *Node) { script.Kids = append(script.Kids, n) }
	begin := []string{"BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "SET autocommit = 0"}
	add(lit(Other, pick(g.r, begin)))
	names := []string{"s1", "s2"}
	savepoint := func() string { return pick(g.r, names) }
	set := savepoint()
	add(lit(Other, "SAVEPOINT "+set))
	for range 4 + g.r.IntN(8) {
		switch n := g.r.IntN(100); {
		case n < 45:
			tree, _ := g.changeOf(g.schema.Tables, false)
			add(tree)
		case n < 70:
			add(g.glance())
		case n < 80:
			set = savepoint()
			add(lit(Other, "SAVEPOINT "+set))
		case n < 91:
			add(lit(Other, "ROLLBACK TO SAVEPOINT "+set))
		case n < 93:
			add(lit(Other, "ROLLBACK TO SAVEPOINT "+savepoint()))
		case n < 96:
			add(lit(Other, "RELEASE SAVEPOINT "+savepoint()))
		default:
			add(lit(Other, pick(g.r, []string{"BEGIN", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN"})))
		}
	}
	add(lit(Other, pick(g.r, []string{"COMMIT", "COMMIT", "ROLLBACK"})))
}

// glance is a query, often of a whole table, as that shows everything.
func (g *generator) glance() *Node {
	if g.chance(50) {
		items := &Node{Role: Items, Sep: ", ", Min: 1, Kids: []*Node{lit(Other, "*")}}
		return op(Query, "SELECT $ FROM $", items, lit(Factor, pick(g.r, g.schema.Tables).Name))
	}
	return g.next()
}

// sessions draws transactions of two sessions that do not wait for each other. MariaDB locks what a change looks at, so
// each session changes tables of its own, and reads others in queries only; of tables with a key, which nobody owns, both
// change single rows by it, each row once. Transactions begin with a snapshot: MariaDB's changes look at the newest
// rows, but they are the session's own.
func (g *generator) sessions(script *Node) {
	var own [2][]*Table
	var shared []*Table
	for i, t := range g.schema.Tables {
		switch {
		case i < 2:
			own[i] = append(own[i], t)
		case t.Columns[0].Unique && len(t.Rows) > 3:
			shared = append(shared, t)
		default:
			own[i%2] = append(own[i%2], t)
		}
	}
	touched := map[string]bool{}
	var open [2]bool
	for range 8 + g.r.IntN(12) {
		s := g.r.IntN(2)
		var n *Node
		switch k := g.r.IntN(100); {
		case !open[s] && k < 70:
			n, open[s] = lit(Other, "START TRANSACTION WITH CONSISTENT SNAPSHOT"), true
		case k < 40:
			n, _ = g.changeOf(own[s], true)
		case k < 55 && len(shared) > 0:
			t := pick(g.r, shared)
			id := pick(g.r, t.Rows)[0]
			if row := t.Name + " " + id; !touched[row] {
				touched[row] = true
				n = g.point(t, id)
			} else {
				n = g.glance()
			}
		case k < 80 || !open[s]:
			n = g.glance()
		default:
			n, open[s] = lit(Other, pick(g.r, []string{"COMMIT", "COMMIT", "ROLLBACK"})), false
		}
		n.Session = s
		script.Kids = append(script.Kids, n)
	}
	for s := range open {
		if open[s] && g.chance(80) {
			script.Kids = append(script.Kids, &Node{Format: "COMMIT", Session: s})
		}
	}
}

// point changes the row with a key.
func (g *generator) point(t *Table, id string) *Node {
	where := fmt.Sprintf(" WHERE id = %s", id)
	if g.chance(30) {
		return lit(Other, "DELETE FROM "+t.Name+where)
	}
	e := &env{cols: bare(t), rows: 1, noSub: true, noDiv: true}
	set := list("", ", ", 1)
	for _, c := range t.Columns {
		if !c.Unique && (len(set.Kids) == 0 || g.chance(40)) {
			set.Kids = append(set.Kids, op(Other, c.Name+" = $", g.fitting(e, c)))
		}
	}
	return op(Other, "UPDATE "+t.Name+" SET $"+where, set)
}
