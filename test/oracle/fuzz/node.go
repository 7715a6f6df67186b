package fuzz

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is what a node stands for. Nodes of one kind may take each other's place, which is all that the reducer
// needs to know of SQL: whether a smaller tree still is a valid statement, the oracle says.
type Kind uint8

const (
	Other    Kind = iota
	Bool          // a condition: 0, 1 or NULL
	Int           // signed, 64 bits
	Uint          // unsigned, 64 bits
	Dec           // DECIMAL
	Dbl           // DOUBLE
	Str           // VARCHAR
	Date          // DATE
	DateTime      // DATETIME
	Time          // TIME
	Query         // SELECT or a set operation
	Factor        // an entry of FROM
)

// Role marks the nodes whose structure the reducer uses.
type Role uint8

const (
	Plain    Role = iota // text with children in it
	List                 // children with a separator; each may go while more than Min remain
	Items                // the List of a select's output columns
	Ordered              // a query with ORDER BY over all its output columns, perhaps behind a List of other keys, and perhaps LIMIT
	Loose                // a query with LIMIT and no order
	Script               // a List of statements, one after the other
	Verbatim             // text in which "$" stands for itself
)

// Node is a piece of SQL: a text with a "$" for each child, or a list of children.
type Node struct {
	Kind   Kind
	Role   Role
	Format string // Plain: the text; List: what stands before a list that is not empty
	Sep    string // List
	Min    int    // List
	Kids   []*Node
	// Judged is what stands for Format where the statement goes to an oracle that lacks it; "$1" is the first child, and
	// each may stand there more than once.
	Judged  string
	Session int // of a Script's statement, from 0

	Perm  []int  // Ordered: output columns, from 1, in the order of the sort; negative: descending
	Limit string // Ordered, Loose: the LIMIT clause, or nothing
}

// lit is a node without children.
func lit(kind Kind, text string) *Node { return &Node{Kind: kind, Format: text} }

// op is a node whose text holds one "$" for each child.
func op(kind Kind, format string, kids ...*Node) *Node {
	return &Node{Kind: kind, Format: format, Kids: kids}
}

func list(prefix, sep string, least int, kids ...*Node) *Node {
	return &Node{Role: List, Format: prefix, Sep: sep, Min: least, Kids: kids}
}

func (n *Node) clone() *Node {
	c := *n
	c.Kids = make([]*Node, len(n.Kids))
	for i, k := range n.Kids {
		c.Kids[i] = k.clone()
	}
	return &c
}

// judged gives a node its text for the oracle.
func (n *Node) judged(format string) *Node {
	n.Judged = format
	return n
}

// SQL renders the tree.
func (n *Node) SQL() string { return n.text(false) }

// text renders the tree, for the oracle if judged is set.
func (n *Node) text(judged bool) string {
	var b strings.Builder
	n.render(&b, judged)
	return b.String()
}

func (n *Node) render(b *strings.Builder, judged bool) {
	switch n.Role {
	case List, Items, Script:
		if len(n.Kids) == 0 {
			return
		}
		b.WriteString(n.Format)
		for i, k := range n.Kids {
			if i > 0 {
				b.WriteString(n.Sep)
			}
			k.render(b, judged)
		}
	case Ordered:
		if judged && n.Kids[0].rolledUp() {
			b.WriteString("SELECT * FROM (")
			n.Kids[0].render(b, judged)
			b.WriteString(") AS z") // MariaDB refuses ORDER BY behind WITH ROLLUP
		} else {
			n.Kids[0].render(b, judged)
		}
		b.WriteString(" ORDER BY ")
		for _, k := range n.Kids[1:] {
			k.render(b, judged)
		}
		sep := ""
		for _, p := range n.order() {
			b.WriteString(sep)
			sep = ", "
			b.WriteString(strconv.Itoa(max(p, -p)))
			if p < 0 {
				b.WriteString(" DESC")
			}
		}
		b.WriteString(n.Limit)
	case Loose:
		n.Kids[0].render(b, judged)
		b.WriteString(n.Limit)
	case Verbatim:
		b.WriteString(n.Format)
	default:
		rest, numbered := n.Format, judged && n.Judged != ""
		if numbered {
			rest = n.Judged
		}
		for kid := 0; ; kid++ {
			before, after, found := strings.Cut(rest, "$")
			b.WriteString(before)
			if !found {
				return
			}
			if numbered {
				kid, after = int(after[0]-'1'), after[1:]
			}
			n.Kids[kid].render(b, judged)
			rest = after
		}
	}
}

// rolledUp says whether a query is a select that ends WITH ROLLUP.
func (n *Node) rolledUp() bool {
	return slices.ContainsFunc(n.Kids, func(k *Node) bool { return strings.HasSuffix(k.Format, withRollup) })
}

// order is the sort's columns as far as the query, perhaps reduced, still has them.
func (n *Node) order() []int {
	columns := len(n.outputs()[0].Kids)
	var order []int
	for _, p := range n.Perm {
		if max(p, -p) <= columns {
			order = append(order, p)
		}
	}
	return order
}

// outputs are the Items lists that make a query's result: one for a select, several for a set operation.
func (n *Node) outputs() []*Node {
	var all []*Node
	for _, k := range n.Kids {
		switch {
		case k.Role == Items:
			return []*Node{k}
		case k.Kind == Query:
			all = append(all, k.outputs()...)
		}
	}
	return all
}

// has says whether a text stands somewhere in the tree.
func (n *Node) has(text string) bool {
	found := false
	n.walk(func(n *Node) { found = found || strings.Contains(n.Format, text) })
	return found
}

// uses says whether one of the columns stands somewhere in the tree.
func (n *Node) uses(cols []named) bool {
	found := false
	n.walk(func(n *Node) {
		found = found || slices.ContainsFunc(cols, func(c named) bool { return n.Format == c.sql })
	})
	return found
}

// walk calls f for every node, parents first.
func (n *Node) walk(f func(*Node)) {
	f(n)
	for _, k := range n.Kids {
		k.walk(f)
	}
}
