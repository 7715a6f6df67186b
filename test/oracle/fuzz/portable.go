package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// Dialect is what statements may use that shall mean the same to an engine which knows nothing of MySQL. They are
// written as Radish takes them; what is spelled otherwise there, Engine.Rewrite spells.
//
// Such an oracle checks what MariaDB cannot: it has none of the errors that exclusions.go steps around, and it sees
// DECIMALs of 38 digits, variances of exact numbers, and INTERSECT ALL and EXCEPT ALL inside larger set operations.
type Dialect struct {
	Dates      bool // DATE and DATETIME
	Wide       bool // DECIMAL up to 38 digits, unsigned integers
	Functions  bool // of strings and doubles, beyond the commonest
	Quantified bool // ANY and ALL
	Nested     bool // set operations of several operators, in parentheses, with ALL
	Windows    bool // window functions
	Intervals  bool // RANGE frames over dates
	Repeated   bool // PARTITION BY that names a column twice
	Reversed   bool // frames that end before they start
	Rollup     bool // WITH ROLLUP, and GROUPING
	Keyed      bool // transactions and savepoints over single rows
}

// columnTypes are those of MySQL that the dialect has, the small integers first.
func (d *Dialect) columnTypes() []columnType {
	types := slices.Clone(columnTypes[:6])
	for _, c := range columnTypes[6:] {
		if kind := c.typ.Kind; kind == Dbl || kind == Str || d.Dates && (kind == Date || kind == DateTime) || d.Wide && (kind == Dec || kind == Uint) {
			types = append(types, c)
		}
	}
	if d.Wide {
		types = append(types, columnType{"DECIMAL(38,10)", Type{Dec, 26, 10}}, columnType{"DECIMAL(28,0)", Type{Dec, 26, 0}}, columnType{"DECIMAL(30,5)", Type{Dec, 25, 5}})
	}
	return types
}

// kinds are those of the columns.
func (d *Dialect) kinds() []Kind {
	kinds := []Kind{Int, Int, Int, Dbl, Str, Str}
	if d.Dates {
		kinds = append(kinds, Date, DateTime)
	}
	if d.Wide {
		kinds = append(kinds, Dec, Dec, Dec, Uint)
	}
	return kinds
}

// portable draws an operation of the kind that is no more than that: no subquery, no CASE.
func (g *generator) portable(e *env, kind Kind, depth int) expr {
	a := g.expr(e, kind, depth)
	b := func() expr { return g.expr(e, kind, depth) }
	of := func(format string, digits, scale int, kids ...*Node) expr {
		if digits > 26 || scale > 10 || kind == Int && digits > mostDigits || kind == Dbl && digits > 12 {
			return a
		}
		return expr{op(kind, format, kids...), Type{kind, digits, scale}}
	}
	switch kind {
	case Int:
		return g.portableInt(e, depth, a, of)
	case Dec:
		return g.oneOf(
			func() expr {
				x := b()
				return of(pick(g.r, []string{"($ + $)", "($ - $)"}), max(a.t.Digits, x.t.Digits)+1, max(a.t.Scale, x.t.Scale), a.n, x.n)
			},
			func() expr { x := b(); return of(wide("$ * $"), a.t.Digits+x.t.Digits, 10, a.n, x.n) },
			func() expr { return of("(-$)", a.t.Digits, a.t.Scale, a.n) },
			func() expr { return of("ABS($)", a.t.Digits, a.t.Scale, a.n) },
			func() expr {
				n := g.r.IntN(min(a.t.Scale, 4) + 1)
				return of(wide(fmt.Sprintf("ROUND($, %d)", n)), a.t.Digits+1, 10, a.n)
			},
			func() expr {
				x := g.expr(e, Int, depth)
				return of("CAST($ AS DECIMAL(30,4))", x.t.Digits, 4, x.n)
			},
		)
	case Dbl:
		return g.oneOf(
			func() expr {
				x := b()
				return of(pick(g.r, []string{"($ + $)", "($ - $)"}), max(a.t.Digits, x.t.Digits)+1, 0, a.n, x.n)
			},
			func() expr {
				if a.t.Digits > 6 {
					return a
				}
				x := g.constant(Dbl)
				return of("($ * $)", a.t.Digits+x.t.Digits, 0, a.n, x.n)
			},
			func() expr { return of("(-$)", a.t.Digits, 0, a.n) },
			func() expr { return of("ABS($)", a.t.Digits, 0, a.n) },
			func() expr {
				if !g.dialect.Functions {
					return a
				}
				return of(pick(g.r, []string{"FLOOR($)", "CEIL($)"}), a.t.Digits+1, 0, a.n)
			},
		)
	case Str:
		if g.dialect.Functions && g.chance(50) {
			f := pick(g.r, []string{"LEFT($, 2)", "RIGHT($, 2)", "UPPER($)", "LOWER($)", "REVERSE($)", "LPAD($, 4, '*+')", "RPAD($, 5, 'ab')"})
			return expr{op(Str, f, a.n), Type{Str, a.t.Digits + 5, 0}}
		}
		f := pick(g.r, []string{"SUBSTRING($, 1, 2)", "SUBSTRING($, 2)", "TRIM($)", "REPLACE($, 'a', 'xy')", "REPLACE($, 'l', '')"})
		return expr{op(Str, f, a.n), Type{Str, a.t.Digits * 2, 0}}
	case Date:
		f := pick(g.r, []string{"LAST_DAY($)", "CAST(($ + INTERVAL 40 DAY) AS DATE)", "CAST(($ - INTERVAL 3 MONTH) AS DATE)", "CAST(($ + INTERVAL 1 YEAR) AS DATE)"})
		return of(f, 0, 0, a.n)
	case DateTime:
		if g.chance(30) {
			return of("CAST($ AS DATETIME)", 0, 0, g.expr(e, Date, depth).n)
		}
		return of(pick(g.r, []string{"($ + INTERVAL 40 HOUR)", "($ - INTERVAL 1 MONTH)", "($ + INTERVAL 100 SECOND)"}), 0, 0, a.n)
	}
	return a
}

// portableInt draws an operation on an integer a, which of makes an expression unless it has too many digits.
func (g *generator) portableInt(e *env, depth int, a expr, of func(format string, digits, scale int, kids ...*Node) expr) expr {
	b := func() expr { return g.expr(e, Int, depth) }
	return g.oneOf(
		// The casts keep engines whose INT + INT is an INT from overflows.
		func() expr {
			x := b()
			return of(pick(g.r, []string{"(CAST($ AS SIGNED) + $)", "(CAST($ AS SIGNED) - $)"}), max(a.t.Digits, x.t.Digits)+1, 0, a.n, x.n)
		},
		func() expr { x := b(); return of("(CAST($ AS SIGNED) * $)", a.t.Digits+x.t.Digits, 0, a.n, x.n) },
		func() expr { x := b(); return of("(CAST($ AS SIGNED) % $)", a.t.Digits, 0, a.n, x.n) },
		func() expr { return of("(-CAST($ AS SIGNED))", a.t.Digits, 0, a.n) },
		func() expr { return of("ABS(CAST($ AS SIGNED))", a.t.Digits, 0, a.n) },
		func() expr { return of("CHAR_LENGTH($)", 4, 0, g.expr(e, Str, depth).n) },
		func() expr { return of("CASE WHEN $ THEN 1 ELSE 0 END", 1, 0, g.condition(e, depth)) },
		func() expr {
			if !g.dialect.Dates {
				return a
			}
			f := pick(g.r, []string{"YEAR($)", "MONTH($)", "DAY($)", "QUARTER($)", "DAYOFYEAR($)"})
			return of(f, 4, 0, g.expr(e, pick(g.r, []Kind{Date, DateTime}), depth).n)
		},
	)
}

// wide casts to a DECIMAL that holds all others that are drawn, 26 digits before the point and 10 behind it: engines that
// cannot hold the digits of two DECIMALs drop some behind the point.
func wide(format string) string { return "CAST(" + format + " AS DECIMAL(36,10))" }

// portablePredicate draws a comparison or test.
func (g *generator) portablePredicate(e *env, depth int) *Node {
	switch n := g.r.IntN(100); {
	case n < 55:
		kind := g.anyKind(e)
		other := kind
		if slices.Contains([]Kind{Int, Dec, Dbl, Uint}, kind) && g.chance(30) {
			other = pick(g.r, []Kind{Int, Dbl})
		}
		return op(Bool, "("+pick(g.r, comparisons)+")", g.expr(e, kind, depth).n, g.expr(e, other, depth).n)
	case n < 68:
		return op(Bool, pick(g.r, []string{"($ IS NULL)", "($ IS NOT NULL)"}), g.expr(e, g.anyKind(e), depth).n)
	case n < 80:
		kind := g.anyKind(e)
		values := list("", ", ", 1)
		for range 1 + g.r.IntN(4) {
			values.Kids = append(values.Kids, g.leaf(e, kind).n)
		}
		if g.chance(20) {
			values.Kids = append(values.Kids, lit(kind, "NULL"))
		}
		return op(Bool, pick(g.r, []string{"($ IN ($))", "($ NOT IN ($))"}), g.expr(e, kind, depth).n, values)
	case n < 90:
		kind := g.anyKind(e)
		return op(Bool, pick(g.r, []string{"($ BETWEEN $ AND $)", "($ NOT BETWEEN $ AND $)"}), g.expr(e, kind, depth).n, g.expr(e, kind, 0).n, g.expr(e, kind, 0).n)
	default:
		pattern := pick(g.r, []string{"'a%'", "'%b'", "'%l%'", "'_'", "'%'", "''", "'_b%c'", "'h%o'"})
		return op(Bool, pick(g.r, []string{"($ LIKE $)", "($ NOT LIKE $)"}), g.expr(e, Str, depth).n, lit(Str, pattern))
	}
}

// portableAggregate draws an aggregate of the kind. DOUBLEs are multiples of a quarter, so that their sums are exact.
func (g *generator) portableAggregate(arg func(Kind) expr, kind Kind) (expr, bool) {
	if kind == Int {
		any := func() *Node { return arg(pick(g.r, g.dialect.kinds())).n }
		return g.oneOf(
			func() expr { return expr{lit(Int, "COUNT(*)"), Type{Int, 7, 0}} },
			func() expr { return expr{op(Int, "COUNT($)", any()), Type{Int, 7, 0}} },
			func() expr { return expr{op(Int, "COUNT(DISTINCT $)", any()), Type{Int, 7, 0}} },
			func() expr {
				a := arg(Int)
				return expr{op(Int, pick(g.r, []string{"MIN($)", "MAX($)"}), a.n), a.t}
			},
		), true
	}
	a := arg(kind)
	if kind == Dec && g.chance(60) || kind == Dbl && g.chance(50) {
		if kind == Dec && g.chance(40) {
			a = arg(Int)
		}
		sum, t := pick(g.r, []string{"SUM($)", "SUM($)", "SUM(DISTINCT $)"}), Type{kind, a.t.Digits + 7, 0}
		if kind == Dec {
			sum, t = wide(sum), Type{Dec, 26, 10}
		}
		return expr{op(kind, sum, a.n), t}, true
	}
	return expr{op(kind, pick(g.r, []string{"MIN($)", "MAX($)"}), a.n), a.t}, true
}

// portableFinal draws an expression that is shown only.
func (g *generator) portableFinal(e *env) expr {
	if !e.grouped {
		return g.expr(e, g.anyKind(e), 2)
	}
	base := *e.base
	base.noSub, base.outer = true, nil
	if g.dialect.Wide && g.chance(30) {
		return expr{op(Dec, pick(g.r, []string{"SUM($)", "SUM(DISTINCT $)"}), g.expr(&base, pick(g.r, []Kind{Int, Uint, Dec}), 1).n), Type{Dec, 38, 10}}
	}
	if !g.dialect.Functions || g.chance(40) {
		return expr{op(Dbl, pick(g.r, []string{"AVG($)", "AVG(DISTINCT $)"}), g.expr(&base, Dbl, 1).n), Type{Dbl, 10, 0}}
	}
	a := g.expr(&base, pick(g.r, []Kind{Int, Dec, Dbl}), 1)
	if a.t.Digits > 6 {
		a = g.constant(Int) // squares of larger numbers leave too few digits to compare
	}
	return expr{op(Dbl, pick(g.r, []string{"STDDEV_POP($)", "VAR_SAMP($)", "VAR_POP($)", "STDDEV_SAMP($)"}), a.n), Type{Dbl, 10, 0}}
}

// portableWindow draws a window function of the kind, over a window of its own.
func (g *generator) portableWindow(w *windows, kind Kind) (expr, bool) {
	g.windowSpec(w)
	a := g.expr(w.args, kind, g.r.IntN(2))
	n := g.r.IntN(100)
	switch {
	case w.orderedBy == placed && n < 35:
		if kind == Int {
			a = expr{op(Int, "CAST($ AS SIGNED)", a.n), a.t}
		}
		return g.valueCall(w, kind, a), true
	case n > 55 && kind == Int:
		t := Type{Int, 7, 0}
		functions := []string{"COUNT(*)", "COUNT($)"}
		if w.orderedBy != unordered {
			functions = append(functions, "RANK()", "DENSE_RANK()")
		}
		if w.orderedBy == placed {
			functions = append(functions, "ROW_NUMBER()", fmt.Sprintf("NTILE(%d)", 1+g.r.IntN(5)))
		}
		switch f := pick(g.r, functions); f {
		case "COUNT(*)":
			return expr{op(Int, f+" OVER $", g.over(w, true)), t}, true
		case "COUNT($)":
			return expr{op(Int, f+" OVER $", a.n, g.over(w, true)), t}, true
		default:
			return expr{op(Int, "CAST("+f+" OVER $ AS SIGNED)", g.over(w, false)), t}, true
		}
	case n > 55 && kind == Dec:
		return expr{op(Dec, wide("SUM($) OVER $"), a.n, g.over(w, true)), Type{Dec, 26, 10}}, true
	case n > 55 && kind == Dbl:
		return expr{op(Dbl, "SUM($) OVER $", a.n, g.over(w, true)), Type{Dbl, a.t.Digits + 5, 0}}, true
	}
	return expr{op(kind, pick(g.r, []string{"MIN($)", "MAX($)"})+" OVER $", a.n, g.over(w, true)), a.t}, true
}

// portableWindowFinal draws a window function that is shown only.
func (g *generator) portableWindowFinal(w *windows) expr {
	g.windowSpec(w)
	if w.orderedBy != unordered && g.chance(40) {
		return expr{op(Dbl, pick(g.r, []string{"PERCENT_RANK()", "CUME_DIST()"})+" OVER $", g.over(w, false)), Type{Dbl, 10, 0}}
	}
	return expr{op(Dbl, "AVG($) OVER $", g.expr(w.args, Dbl, 1).n, g.over(w, true)), Type{Dbl, 10, 0}}
}

// Spelled makes a Rewrite: every first string of a pair becomes the second.
func Spelled(pairs ...string) func(string) string {
	return strings.NewReplacer(pairs...).Replace
}
