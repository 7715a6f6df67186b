package fuzz

import (
	"slices"
	"strings"
)

const withRollup = " WITH ROLLUP"

// rolled is what an output column of a rollup may refer to: MariaDB confuses the NULL of a total where an expression has
// both keys and aggregates, or a subquery that sees keys.
func (g *generator) rolled(e *env) *env {
	if !e.rollup {
		return e
	}
	some := *e
	some.noSub = true
	if g.chance(50) {
		some.cols = nil
	} else {
		some.grouped = false
	}
	return &some
}

// apart says whether group keys are columns, each another one.
func apart(keys []expr) bool {
	for i, k := range keys {
		if len(k.n.Kids) > 0 || slices.ContainsFunc(keys[:i], func(other expr) bool { return other.n.Format == k.n.Format }) {
			return false
		}
	}
	return true
}

// once draws another output column of a rollup where x shows a group key that is shown already, or one in AND, OR or XOR:
// MariaDB forgets that it is NULL in a total.
func (g *generator) once(e *env, keys []expr, items []*Node, kind Kind, x expr) expr {
	for _, k := range keys {
		shows := func(n *Node) bool { return strings.Contains(n.SQL(), k.n.SQL()) }
		connected := x.n.has("($ AND $)") || x.n.has("($ OR $)") || x.n.has("($ XOR $)")
		if shows(x.n) && (connected || slices.ContainsFunc(items, shows)) {
			if a, ok := g.aggregate(e, kind); ok && !shows(a.n) {
				return a
			}
			return g.constant(kind)
		}
	}
	return x
}
