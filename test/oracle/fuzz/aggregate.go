package fuzz

import (
	"fmt"
	"regexp"
	"strings"
)

// aggregate draws an aggregate of the kind, if there is one.
func (g *generator) aggregate(e *env, kind Kind) (expr, bool) {
	// An aggregate over outer columns alone would belong to the outer query.
	base := *e.base
	base.noSub, base.outer = true, nil
	arg := func(k Kind) expr { return g.expr(&base, k, g.r.IntN(2)) }
	if e.all || e.rollup {
		any := *e
		any.all, any.rollup = false, false
		for range 50 {
			x, ok := g.aggregate(&any, kind)
			sorts := x.n != nil && (x.n.has("DISTINCT") || x.n.has("GROUP_CONCAT"))
			if !ok || !sorts && (!e.rollup || len(x.n.Kids) == 0 || x.n.uses(base.cols)) {
				return x, ok
			}
		}
		return expr{}, false
	}
	if g.dialect != nil {
		return g.portableAggregate(arg, kind)
	}
	switch kind {
	case Int:
		return g.oneOf(
			func() expr { return expr{lit(Int, "COUNT(*)"), Type{Int, 7, 0}} },
			func() expr { return expr{op(Int, "COUNT($)", arg(g.anyKind(&base)).n), Type{Int, 7, 0}} },
			func() expr { return expr{op(Int, "COUNT(DISTINCT $)", arg(g.anyKind(&base)).n), Type{Int, 7, 0}} },
			func() expr {
				return expr{op(Int, "COUNT(DISTINCT $, $)", arg(g.anyKind(&base)).n, arg(g.anyKind(&base)).n), Type{Int, 7, 0}}
			},
			func() expr {
				a := arg(Int)
				if joined(e.base.cols) {
					a.n = noKey(a.n)
				}
				return expr{g.widened(op(Int, pick(g.r, []string{"MIN($)", "MAX($)"}), a.n)), a.t}
			},
		), true
	case Dec:
		return g.oneOf(
			func() expr {
				a := arg(pick(g.r, []Kind{Int, Dec, Dec}))
				f := pick(g.r, []string{"SUM($)", "SUM($)", "SUM(DISTINCT $)"})
				return expr{op(Dec, f, a.n), Type{Dec, a.t.Digits + 7, a.t.Scale}}
			},
			func() expr { a := arg(Dec); return expr{op(Dec, pick(g.r, []string{"MIN($)", "MAX($)"}), a.n), a.t} },
		), true
	case Dbl:
		a := arg(Dbl)
		f := pick(g.r, []string{"SUM($)", "MIN($)", "MAX($)", "SUM(DISTINCT $)"})
		return expr{op(Dbl, f, a.n), Type{Dbl, a.t.Digits + 5, 0}}, true
	case Uint:
		a := arg(Uint)
		f := pick(g.r, []string{"MIN($)", "MAX($)", "(BIT_OR($) & 9223372036854775807)", "(BIT_AND($) & 9223372036854775807)", "(BIT_XOR($) & 9223372036854775807)"})
		return expr{g.widened(op(Uint, f, a.n)), Type{Uint, 20, 0}}, true
	case Str:
		a := arg(Str)
		if g.chance(15) {
			f := pick(g.r, []string{"GROUP_CONCAT($ ORDER BY $)", "GROUP_CONCAT($ ORDER BY $ DESC SEPARATOR '|')", "GROUP_CONCAT(DISTINCT $ ORDER BY $)"})
			return expr{op(Str, f, a.n, a.n.clone()), Type{Str, 255, 0}}, true
		}
		return expr{op(Str, pick(g.r, []string{"MIN($)", "MAX($)"}), a.n), a.t}, true
	case Date, DateTime, Time:
		a := arg(kind)
		return expr{op(kind, pick(g.r, []string{"MIN($)", "MAX($)"}), a.n), a.t}, true
	}
	return expr{}, false
}

// widened keeps MariaDB from giving what MIN and its like choose among constants a digit too few, and from making a negative DOUBLE
// of unsigned numbers that they choose.
func (g *generator) widened(call *Node) *Node {
	if g.dialect != nil || call.Kind != Uint && (call.Kind != Int || hasColumn.MatchString(call.Kids[0].SQL())) {
		return call
	}
	text := call.Judged
	if text == "" {
		parts := strings.Split(call.Format, "$")
		text = parts[0]
		for i, part := range parts[1:] {
			text += fmt.Sprintf("$%d", i+1) + part
		}
	}
	return call.judged("(" + text + " + 0)")
}

// chooses finds what gives one of several numbers.
var chooses = regexp.MustCompile(`\b(IF|CASE|COALESCE|IFNULL|NULLIF|GREATEST|LEAST)\b`)

// large says whether an expression may be of numbers so large that MariaDB gets eight digits of their variance right.
func large(n *Node) bool { return n.has("CAST") || n.has(".id") || n.has(".u") }

// final draws an expression whose value is shown and used no further: quotients, whose hidden digits MySQL and
// MariaDB carry into what surrounds them, and functions that differ in a double's last bit.
func (g *generator) final(e *env) expr {
	if g.dialect != nil {
		return g.portableFinal(e)
	}
	number := func() *Node {
		x := g.expr(e, g.numeric(), 1)
		if x.t.Digits > 15 || x.t.Kind == Dec && chooses.MatchString(x.n.SQL()) {
			return g.constant(Int).n
		}
		return x.n
	}
	if e.grouped && g.chance(60) {
		base := *e.base
		base.noSub, base.outer = true, nil
		if g.chance(15) {
			return expr{op(Uint, pick(g.r, []string{"BIT_OR($)", "BIT_AND($)", "BIT_XOR($)"}), g.expr(&base, Uint, 1).n), Type{Uint, 20, 0}}
		}
		a := g.expr(&base, pick(g.r, []Kind{Int, Dec, Dbl}), 1)
		if a.t.Digits > 15 {
			a = g.constant(Int)
		}
		functions := []string{"AVG($)", "AVG(DISTINCT $)"}
		if a.t.Kind == Dbl && !large(a.n) {
			functions = append(functions, "STDDEV_POP($)", "VAR_SAMP($)", "VAR_POP($)", "STDDEV_SAMP($)")
		}
		return expr{op(Dec, pick(g.r, functions), a.n), Type{Dec, 10, 4}}
	}
	return g.oneOf(
		func() expr { return expr{op(Dec, "($ / $)", number(), number()), Type{Dec, 10, 4}} },
		func() expr { return expr{op(Dbl, "SQRT($)", number()), Type{Dbl, 10, 0}} },
		func() expr { return expr{op(Dbl, "POW($, 2)", number()), Type{Dbl, 10, 0}} },
		func() expr { return expr{op(Dbl, "LN($)", number()), Type{Dbl, 10, 0}} },
	)
}
