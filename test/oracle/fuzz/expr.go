package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// expr is a tree with its type.
type expr struct {
	n *Node
	t Type
}

// named is a column that expressions may use.
type named struct {
	sql string
	t   Type
}

// env is what an expression may refer to.
type env struct {
	cols  []named
	outer []named // of the queries around this one
	// grouped says that cols are group keys and that aggregates over base are allowed.
	grouped bool
	base    *env
	// rows estimates how often the expression is evaluated, the queries around it included: a subquery in it reads
	// its tables that often.
	rows    float64
	depth   int // of nested queries
	noSub   bool
	noDiv   bool     // in changes, where a division by zero is an error, and text that is no date
	noLimit bool     // inside IN, ANY and ALL
	noGroup bool     // neither groups nor aggregates
	noCut   bool     // no LIMIT in the operands of a set operation
	simple  bool     // set operations have two operands
	window  *windows // window functions are allowed
	all     bool     // aggregates have neither DISTINCT nor an order
	rollup  bool     // their operands are not constant
}

// oneOf runs one of the alternatives.
func (g *generator) oneOf(alternatives ...func() expr) expr {
	return alternatives[g.r.IntN(len(alternatives))]()
}

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

// leaf is a column, an aggregate or a constant.
func (g *generator) leaf(e *env, kind Kind) expr {
	var fit []named
	for _, c := range e.cols {
		if c.t.Kind == kind {
			fit = append(fit, c)
		}
	}
	// MariaDB's CONCAT(MAX('a') OVER (), 'b') over groups is 'b'.
	if e.window != nil && kind != Bool && !(kind == Str && e.grouped && g.dialect == nil) && g.chance(45) {
		// And its SIGN(MAX(9223372036854775808) OVER ()) is -1.
		if x, ok := g.windowCall(e.window, kind); ok && (kind != Uint || x.t.Digits < 19 || g.dialect != nil) {
			return x
		}
	}
	if e.grouped && g.chance(60) {
		if x, ok := g.aggregate(e, kind); ok {
			return x
		}
	}
	if len(e.outer) > 0 && g.chance(25) {
		var out []named
		for _, c := range e.outer {
			if c.t.Kind == kind {
				out = append(out, c)
			}
		}
		if len(out) > 0 {
			c := pick(g.r, out)
			return expr{lit(kind, c.sql), c.t}
		}
	}
	if len(fit) > 0 && g.chance(85) {
		c := pick(g.r, fit)
		return expr{lit(kind, c.sql), c.t}
	}
	if kind != Bool && !(kind == Uint && g.dialect != nil) && g.chance(6) {
		return expr{lit(kind, typedNull[kind]), Type{kind, 1, 0}}
	}
	return g.constant(kind)
}

// typedNull is NULL of a kind. The bare word is left to IN lists: in arithmetic it makes a DOUBLE of an INT.
var typedNull = map[Kind]string{
	Bool: "(1 = NULL)", Int: "NULLIF(1, 1)", Uint: "CAST(NULL AS UNSIGNED)", Dec: "NULLIF(1.5, 1.5)", Dbl: "NULLIF(1e0, 1e0)",
	Str: "NULLIF('a', 'a')", Date: "CAST(NULL AS DATE)", DateTime: "CAST(NULL AS DATETIME)", Time: "CAST(NULL AS TIME)",
}

func (g *generator) constant(kind Kind) expr {
	t := Type{kind, 3, 0}
	if kind == Dec {
		t.Scale = g.r.IntN(3)
	}
	text := literal(g.r, t)
	if kind == Dec && t.Scale == 0 {
		text += ".0"
		t.Scale = 1
	}
	if strings.HasPrefix(text, "-") {
		text = "(" + text + ")"
	}
	return expr{lit(kind, text), t}
}

// common is the larger of two types of one kind.
func common(a, b Type) Type {
	return Type{a.Kind, max(a.Digits, b.Digits), max(a.Scale, b.Scale)}
}

// expr draws an expression of the kind; depth bounds its height.
func (g *generator) expr(e *env, kind Kind, depth int) expr {
	if kind == Bool {
		return expr{g.condition(e, depth), Type{Int, 1, 0}}
	}
	if depth <= 0 || g.chance(35) {
		return g.leaf(e, kind)
	}
	if g.chance(18) {
		return g.choice(e, kind, depth)
	}
	if !e.noSub && e.depth < 3 && g.chance(5) {
		return g.scalarSubquery(e, kind)
	}
	if g.dialect != nil {
		return g.portable(e, kind, depth-1)
	}
	switch kind {
	case Int:
		return g.integer(e, depth-1)
	case Uint:
		return g.unsigned(e, depth-1)
	case Dec:
		return g.decimal(e, depth-1)
	case Dbl:
		return g.double(e, depth-1)
	case Str:
		return g.text(e, depth-1)
	case Date:
		return g.date(e, depth-1)
	case DateTime:
		return g.dateTime(e, depth-1)
	case Time:
		return g.timeOfDay(e, depth-1)
	}
	panic("no expressions of this kind")
}

// choice is one of the constructs that exist for every kind.
func (g *generator) choice(e *env, kind Kind, depth int) expr {
	a, b := g.expr(e, kind, depth-1), g.expr(e, kind, depth-1)
	t := common(a.t, b.t)
	switch n := g.r.IntN(6); {
	case n == 0 && g.dialect == nil:
		return expr{op(kind, "IF($, $, $)", g.condition(e, depth-1), a.n, b.n), t}
	case n == 1:
		return expr{op(kind, "COALESCE($, $)", a.n, b.n), t}
	case n == 2:
		return expr{op(kind, "IFNULL($, $)", a.n, b.n), t}
	case n == 0 || n == 3:
		return expr{op(kind, "CASE WHEN $ THEN $ ELSE $ END", g.condition(e, depth-1), a.n, b.n), t}
	case n == 4:
		when, then := g.leaf(e, Int), g.leaf(e, Int)
		return expr{op(kind, "CASE $ WHEN $ THEN $ WHEN 1 THEN $ END", when.n, then.n, a.n, b.n), t}
	}
	if kind == Date || kind == DateTime || kind == Time || g.dialect == nil && !hasColumn.MatchString(a.n.SQL()) {
		return expr{op(kind, "COALESCE($, $)", a.n, b.n), t}
	}
	return expr{op(kind, "NULLIF($, $)", a.n, b.n), a.t}
}

// divisor is x, or a constant that is not zero where a division by zero is an error.
func (g *generator) divisor(e *env, x expr) expr {
	if e.noDiv {
		return expr{lit(x.t.Kind, "7"), Type{x.t.Kind, 1, 0}}
	}
	return x
}

// mostDigits keeps results of integer arithmetic inside 64 bits whatever the values.
const mostDigits = 17

func (g *generator) integer(e *env, depth int) expr {
	num := func() expr {
		x := g.expr(e, Int, depth)
		if x.t.Digits > mostDigits {
			return expr{op(Int, "SIGN($)", x.n), Type{Int, 1, 0}}
		}
		return x
	}
	binary := func(format string, a, b expr, digits int) expr {
		if digits > mostDigits {
			return a
		}
		return expr{op(Int, format, a.n, b.n), Type{Int, digits, 0}}
	}
	str := func() *Node { return g.expr(e, Str, depth).n }
	return g.oneOf(
		func() expr { a, b := num(), num(); return binary("($ + $)", a, b, max(a.t.Digits, b.t.Digits)+1) },
		func() expr { a, b := num(), num(); return binary("($ - $)", a, b, max(a.t.Digits, b.t.Digits)+1) },
		func() expr { a, b := num(), num(); return binary("($ * $)", a, b, a.t.Digits+b.t.Digits) },
		func() expr { a, b := num(), g.divisor(e, num()); return binary("($ DIV $ + 0)", a, b, a.t.Digits) },
		func() expr { a, b := num(), g.divisor(e, num()); return binary("($ % $)", a, b, a.t.Digits) },
		func() expr { a := num(); return expr{op(Int, "(-$)", a.n), a.t} },
		func() expr { a := num(); return expr{op(Int, "(ABS($) + 0)", a.n), a.t} },
		func() expr {
			a := g.expr(e, g.numeric(), depth)
			if a.t.Kind == Uint && (a.n.has("MAX(") || a.n.has("MIN(")) {
				a.n = op(Uint, "($ % 5)", a.n)
			}
			return expr{op(Int, "SIGN($)", a.n), Type{Int, 1, 0}}
		},
		func() expr {
			a, b := num(), num()
			return expr{op(Int, pick(g.r, []string{"GREATEST($, $)", "LEAST($, $)"}), a.n, b.n), common(a.t, b.t)}
		},
		func() expr { return expr{op(Int, "($)", nullable(g.condition(e, depth))), Type{Int, 1, 0}} },
		func() expr { return expr{op(Int, "CHAR_LENGTH($)", str()), Type{Int, 4, 0}} },
		func() expr { return expr{op(Int, "LENGTH($)", str()), Type{Int, 4, 0}} },
		func() expr { return expr{op(Int, "LOCATE($, $)", str(), str()), Type{Int, 4, 0}} },
		func() expr { return expr{op(Int, "(ASCII($) + 0)", str()), Type{Int, 3, 0}} },
		func() expr {
			f := pick(g.r, []string{"YEAR($)", "MONTH($)", "DAY($)", "QUARTER($)", "DAYOFWEEK($)", "WEEKDAY($)", "DAYOFYEAR($)", "EXTRACT(MONTH FROM $)"})
			return expr{op(Int, f, g.expr(e, pick(g.r, []Kind{Date, DateTime}), depth).n), Type{Int, 4, 0}}
		},
		func() expr {
			f := pick(g.r, []string{"(HOUR($) + 0)", "MINUTE($)", "SECOND($)"})
			return expr{op(Int, f, g.expr(e, pick(g.r, []Kind{DateTime, Time}), depth).n), Type{Int, 3, 0}}
		},
		func() expr {
			return expr{op(Int, "TIME_TO_SEC($)", g.expr(e, Time, depth).n), Type{Int, 7, 0}}
		},
		func() expr {
			return expr{op(Int, "DATEDIFF($, $)", g.expr(e, Date, depth).n, g.expr(e, Date, depth).n), Type{Int, 7, 0}}
		},
		func() expr {
			unit := pick(g.r, []string{"DAY", "MONTH", "YEAR", "HOUR"})
			return expr{op(Int, "TIMESTAMPDIFF("+unit+", $, $)", g.expr(e, DateTime, depth).n, g.expr(e, DateTime, depth).n), Type{Int, 9, 0}}
		},
		func() expr {
			a := g.expr(e, Dec, depth)
			if a.t.Digits > mostDigits {
				return g.leaf(e, Int)
			}
			f := pick(g.r, []string{"FLOOR($)", "CEIL($)", "CAST($ AS SIGNED)"})
			return expr{op(Int, f, a.n), Type{Int, a.t.Digits + 1, 0}}
		},
	)
}

func (g *generator) unsigned(e *env, depth int) expr {
	a := g.expr(e, Uint, depth)
	return g.oneOf(
		func() expr {
			if a.t.Digits > mostDigits {
				return a
			}
			b := g.leaf(e, Uint)
			if b.t.Digits > mostDigits {
				return a
			}
			return expr{op(Uint, "($ + $)", a.n, b.n), Type{Uint, max(a.t.Digits, b.t.Digits) + 1, 0}}
		},
		func() expr { return expr{op(Uint, "($ % $)", a.n, g.divisor(e, g.leaf(e, Uint)).n), a.t} },
		func() expr {
			f := pick(g.r, []string{"($ & $)", "($ | $)", "($ ^ $)"})
			return expr{op(Uint, f, a.n, g.leaf(e, Uint).n), Type{Uint, 20, 0}}
		},
		func() expr { return expr{op(Uint, "($ >> 2)", a.n), a.t} },
	)
}

func (g *generator) decimal(e *env, depth int) expr {
	a := g.expr(e, Dec, depth)
	number := func() expr {
		b := g.expr(e, pick(g.r, []Kind{Dec, Int}), depth)
		if b.t.Kind == Int && b.t.Digits > 10 {
			return g.constant(Dec)
		}
		return b
	}
	return g.oneOf(
		func() expr {
			b := number()
			return g.bounded(a, expr{op(Dec, pick(g.r, []string{"($ + $)", "($ - $)"}), a.n, b.n), Type{Dec, max(a.t.Digits, b.t.Digits) + 1, max(a.t.Scale, b.t.Scale)}})
		},
		func() expr {
			b := number()
			return g.bounded(a, expr{op(Dec, "($ * $)", a.n, b.n), Type{Dec, a.t.Digits + b.t.Digits, a.t.Scale + b.t.Scale}})
		},
		func() expr { return expr{op(Dec, "(-$)", a.n), a.t} },
		func() expr { return expr{op(Dec, "ABS($)", a.n), a.t} },
		func() expr {
			b := g.divisor(e, number())
			return g.bounded(a, expr{op(Dec, "($ % $ + 0.0)", a.n, b.n), Type{Dec, max(a.t.Digits, b.t.Digits) + 1, max(a.t.Scale, b.t.Scale, 1)}})
		},
		func() expr {
			n := g.r.IntN(min(a.t.Scale, 2) + 1)
			f := pick(g.r, []string{"ROUND", "TRUNCATE"})
			return g.bounded(a, expr{op(Dec, fmt.Sprintf("%s($, %d)", f, n), a.n), Type{Dec, a.t.Digits + 1, n}})
		},
		func() expr {
			b := number()
			return expr{op(Dec, pick(g.r, []string{"GREATEST($, $)", "LEAST($, $)"}), a.n, b.n), Type{Dec, max(a.t.Digits, b.t.Digits), max(a.t.Scale, b.t.Scale)}}
		},
		func() expr {
			b := g.expr(e, Int, depth)
			if b.t.Digits > 10 {
				return a
			}
			return expr{op(Dec, "CAST($ AS DECIMAL(14,2))", b.n), Type{Dec, 12, 2}}
		},
		func() expr {
			if a.t.Digits > 12 {
				return a
			}
			return expr{op(Dec, "CAST($ AS DECIMAL(14,1))", a.n), Type{Dec, 13, 1}}
		},
	)
}

// bounded keeps decimals within 30 digits in all and 10 behind the point: beyond that Radish, whose decimals have
// 38 digits, is allowed to refuse.
func (g *generator) bounded(a, result expr) expr {
	if result.t.Digits+result.t.Scale > 28 || result.t.Scale > 10 {
		return a
	}
	return result
}

func (g *generator) double(e *env, depth int) expr {
	a := g.expr(e, Dbl, depth)
	number := func() expr { return g.leaf(e, pick(g.r, []Kind{Dbl, Dbl, Int})) }
	digits := func(b expr, n int) expr {
		if n > 12 || b.t.Digits > 10 {
			return a
		}
		return b
	}
	return g.oneOf(
		func() expr {
			b := number()
			if b.t.Digits > 10 {
				return a
			}
			return digits(expr{op(Dbl, pick(g.r, []string{"($ + $)", "($ - $)"}), a.n, b.n), Type{Dbl, max(a.t.Digits, b.t.Digits) + 1, 0}}, max(a.t.Digits, b.t.Digits)+1)
		},
		func() expr {
			if a.t.Digits > 6 {
				return a
			}
			b := g.constant(Dbl)
			return expr{op(Dbl, "($ * $)", a.n, b.n), Type{Dbl, a.t.Digits + b.t.Digits, 0}}
		},
		func() expr { return expr{op(Dbl, "(-$)", a.n), a.t} },
		func() expr {
			return expr{op(Dbl, pick(g.r, []string{"ABS($)", "(FLOOR($) + 0e0)", "(CEIL($) + 0e0)", "(ROUND($) + 0e0)"}), a.n), a.t}
		},
		func() expr {
			b := number()
			return expr{op(Dbl, pick(g.r, []string{"GREATEST($, $)", "LEAST($, $)"}), a.n, b.n), common(a.t, Type{Dbl, b.t.Digits, 0})}
		},
		func() expr {
			b := g.expr(e, Int, depth)
			if b.t.Digits > 10 {
				return a
			}
			return expr{op(Dbl, "CAST($ AS DOUBLE)", b.n), Type{Dbl, b.t.Digits, 0}}
		},
	)
}

func (g *generator) text(e *env, depth int) expr {
	a := g.expr(e, Str, depth)
	if a.t.Digits > 200 {
		return expr{op(Str, "LEFT($, 3)", a.n), Type{Str, 3, 0}}
	}
	small := func() *Node { return lit(Int, fmt.Sprint(g.r.IntN(6))) }
	return g.oneOf(
		func() expr {
			b := g.expr(e, Str, depth)
			return expr{op(Str, "CONCAT($, $)", a.n, b.n), Type{Str, a.t.Digits + b.t.Digits, 0}}
		},
		func() expr {
			b := g.leaf(e, Int)
			return expr{op(Str, "CONCAT($, ':', $)", a.n, b.n), Type{Str, a.t.Digits + 22, 0}}
		},
		func() expr {
			b := g.expr(e, Str, depth)
			if g.dialect == nil && shareColumn(a.n, b.n) {
				return a
			}
			return expr{op(Str, "CONCAT_WS('-', $, $)", a.n, b.n), Type{Str, a.t.Digits + b.t.Digits + 1, 0}}
		},
		func() expr {
			return expr{op(Str, "SUBSTRING($, $, $)", a.n, lit(Int, fmt.Sprint(g.r.IntN(7)-3)), small()), a.t}
		},
		func() expr { return expr{op(Str, "SUBSTRING($, $)", a.n, small()), a.t} },
		func() expr { return expr{op(Str, pick(g.r, []string{"LEFT($, $)", "RIGHT($, $)"}), a.n, small()), a.t} },
		func() expr {
			return expr{op(Str, pick(g.r, []string{"UPPER($)", "LOWER($)", "TRIM($)", "LTRIM($)", "RTRIM($)", "REVERSE($)"}), a.n), a.t}
		},
		func() expr {
			return expr{op(Str, "REPLACE($, $, 'xy')", a.n, lit(Str, pick(g.r, []string{"'a'", "'ab'", "'l'", "''"}))), Type{Str, a.t.Digits * 2, 0}}
		},
		func() expr {
			return expr{op(Str, pick(g.r, []string{"LPAD($, $, '*+')", "RPAD($, $, 'ab')"}), a.n, small()), Type{Str, a.t.Digits + 6, 0}}
		},
		func() expr {
			return expr{op(Str, "CAST($ AS CHAR)", g.leaf(e, pick(g.r, []Kind{Int, Dec, Date})).n), Type{Str, 30, 0}}
		},
		func() expr {
			return expr{op(Str, "DATE_FORMAT($, '%Y/%m/%d')", g.leaf(e, pick(g.r, []Kind{Date, DateTime})).n), Type{Str, 10, 0}}
		},
		func() expr {
			return expr{op(Str, pick(g.r, []string{"GREATEST($, $)", "LEAST($, $)"}), a.n, g.leaf(e, Str).n), Type{Str, 255, 0}}
		},
	)
}

func (g *generator) date(e *env, depth int) expr {
	a := g.expr(e, Date, depth)
	return g.oneOf(
		func() expr {
			n := g.r.IntN(400) - 100
			unit := pick(g.r, []string{"DAY", "MONTH", "YEAR", "WEEK", "QUARTER"})
			if unit != "DAY" {
				n %= 30
			}
			return expr{op(Date, fmt.Sprintf("($ + INTERVAL %d %s)", n, unit), a.n), a.t}
		},
		func() expr {
			return expr{op(Date, "DATE_SUB($, INTERVAL $ DAY)", a.n, lit(Int, fmt.Sprint(g.r.IntN(90)))), a.t}
		},
		func() expr { return expr{op(Date, "LAST_DAY($)", a.n), a.t} },
		func() expr { return expr{op(Date, "DATE($)", g.expr(e, DateTime, depth).n), a.t} },
	)
}

func (g *generator) dateTime(e *env, depth int) expr {
	a := g.expr(e, DateTime, depth)
	return g.oneOf(
		func() expr {
			unit := pick(g.r, []string{"DAY", "MONTH", "HOUR", "MINUTE", "SECOND"})
			return expr{op(DateTime, fmt.Sprintf("($ + INTERVAL %d %s)", g.r.IntN(100)-50, unit), a.n), a.t}
		},
		func() expr { return expr{op(DateTime, "CAST($ AS DATETIME)", g.expr(e, Date, depth).n), a.t} },
	)
}

func (g *generator) timeOfDay(e *env, depth int) expr {
	a := g.expr(e, Time, depth)
	return g.oneOf(
		func() expr { return expr{op(Time, "TIME($)", g.expr(e, DateTime, depth).n), a.t} },
		func() expr { return expr{op(Time, "CAST($ AS TIME)", g.expr(e, DateTime, depth).n), a.t} },
		func() expr { return expr{op(Time, "SEC_TO_TIME($ % 90000)", g.leaf(e, Int).n), a.t} },
		func() expr { return expr{op(Time, "TIMEDIFF($, $)", a.n, g.leaf(e, Time).n), a.t} },
		func() expr {
			return expr{op(Time, pick(g.r, []string{"ADDTIME($, '01:30:00')", "SUBTIME($, '00:00:10')"}), a.n), a.t}
		},
	)
}

// shareColumn says whether two expressions have a column in common.
func shareColumn(a, b *Node) bool {
	found := false
	a.walk(func(n *Node) { found = found || hasColumn.MatchString(n.Format) && len(n.Kids) == 0 && b.has(n.Format) })
	return found
}

func (g *generator) numeric() Kind { return pick(g.r, []Kind{Int, Int, Int, Dec, Dbl, Uint}) }

// anyKind draws a kind, mostly one that some column has.
func (g *generator) anyKind(e *env) Kind {
	if e != nil && len(e.cols) > 0 && g.chance(75) {
		return pick(g.r, e.cols).t.Kind
	}
	if g.dialect != nil {
		return pick(g.r, g.dialect.kinds())
	}
	return pick(g.r, []Kind{Int, Int, Int, Uint, Dec, Dec, Dbl, Str, Str, Date, DateTime})
}

var comparisons = []string{"$ = $", "$ = $", "$ <> $", "$ < $", "$ <= $", "$ > $", "$ >= $", "$ <=> $"}

// pair draws two expressions that compare well.
func (g *generator) pair(e *env, depth int) (*Node, *Node) {
	kind := g.anyKind(e)
	other := kind
	switch kind {
	case Int, Dec, Dbl, Uint:
		if g.chance(30) {
			other = g.numeric()
		}
	case Time:
		if g.chance(30) {
			return g.expr(e, kind, depth).n, lit(kind, "'"+pick(g.r, spans)+"'")
		}
	case Date, DateTime:
		if g.chance(20) {
			other = pick(g.r, []Kind{Date, DateTime})
		} else if g.chance(30) {
			return g.expr(e, kind, depth).n, lit(kind, "'"+pick(g.r, days)+"'")
		} else if text := g.column(e, Str); text != nil && !e.noDiv && g.chance(10) {
			return g.expr(e, kind, depth).n, text
		}
	}
	a, b := g.expr(e, kind, depth).n, g.expr(e, other, depth).n
	if kind != other {
		a, b = noKey(a), noKey(b)
	}
	return a, b
}

// column draws a column of the kind, or nil.
func (g *generator) column(e *env, kind Kind) *Node {
	var fit []named
	for _, c := range e.cols {
		if c.t.Kind == kind && !strings.Contains(c.sql, "(") {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return lit(kind, pick(g.r, fit).sql)
}

// joined says whether columns are of more than one table.
func joined(cols []named) bool {
	return slices.ContainsFunc(cols, func(c named) bool {
		a, _, _ := strings.Cut(c.sql, ".")
		b, _, _ := strings.Cut(cols[0].sql, ".")
		return a != b
	})
}

// noKey keeps MariaDB from looking a value up in the index of a key.
func noKey(n *Node) *Node {
	if strings.HasSuffix(n.Format, "id") || strings.HasSuffix(n.Format, ".u") || n.Format == "u" {
		return op(Int, "($ + 0)", n)
	}
	return n
}

// nullable keeps MariaDB from taking ANY and ALL for conditions that cannot be NULL.
func nullable(condition *Node) *Node {
	if condition.has(" ANY (") || condition.has(" ALL (") {
		return op(Int, "NULLIF($, 2)", condition)
	}
	return condition
}

// condition draws a predicate.
func (g *generator) condition(e *env, depth int) *Node {
	if depth > 0 {
		switch n := g.r.IntN(100); {
		case n < 12:
			return op(Bool, "($ AND $)", g.condition(e, depth-1), g.condition(e, depth-1))
		case n < 26:
			return op(Bool, "($ OR $)", g.condition(e, depth-1), g.condition(e, depth-1))
		case n < 33:
			return op(Bool, "(NOT $)", g.condition(e, depth-1))
		case n < 35 && g.dialect == nil:
			return op(Bool, "($ XOR $)", g.condition(e, depth-1), g.condition(e, depth-1))
		case n < 39:
			if g.dialect == nil && g.chance(20) {
				return op(Bool, "($ IS NULL)", nullable(g.condition(e, depth-1)))
			}
			return op(Bool, pick(g.r, []string{"($ IS TRUE)", "($ IS NOT TRUE)", "($ IS FALSE)", "($ IS NOT FALSE)"}), g.condition(e, depth-1))
		case n < 52 && !e.noSub && e.depth < 3:
			return g.subqueryCondition(e)
		}
	}
	depth = max(depth-1, 0)
	if g.dialect != nil {
		return g.portablePredicate(e, depth)
	}
	switch n := g.r.IntN(100); {
	case n < 4 && !e.noDiv && !e.grouped && !e.rollup:
		return g.rowComparison(e, depth)
	case n < 50:
		a, b := g.pair(e, depth)
		compare := pick(g.r, comparisons)
		if strings.Contains(compare, "<=>") {
			a, b = noKey(a), noKey(b)
		}
		return op(Bool, "("+compare+")", a, b)
	case n < 60:
		return op(Bool, pick(g.r, []string{"($ IS NULL)", "($ IS NOT NULL)"}), g.expr(e, g.anyKind(e), depth).n)
	case n < 72:
		kind := g.anyKind(e)
		values := list("", ", ", 1)
		for range 1 + g.r.IntN(4) {
			switch {
			case g.chance(10):
				values.Kids = append(values.Kids, lit(kind, "NULL"))
			case g.chance(15):
				values.Kids = append(values.Kids, g.leaf(e, kind).n)
			default:
				values.Kids = append(values.Kids, g.constant(kind).n)
			}
		}
		return op(Bool, pick(g.r, []string{"($ IN ($))", "($ NOT IN ($))"}), g.expr(e, kind, depth).n, values)
	case n < 82:
		kind := g.anyKind(e)
		return op(Bool, pick(g.r, []string{"($ BETWEEN $ AND $)", "($ NOT BETWEEN $ AND $)"}), g.expr(e, kind, depth).n, g.expr(e, kind, 0).n, g.expr(e, kind, 0).n)
	case n < 92:
		pattern := pick(g.r, []string{"'a%'", "'%b'", "'%l%'", "'_'", "'%'", "''", "'a_b%'", "'%\\%%'", "'%\\_%'", "'_b%c'", "'h%o'"})
		return op(Bool, pick(g.r, []string{"($ LIKE $)", "($ NOT LIKE $)"}), g.expr(e, Str, depth).n, lit(Str, pattern))
	case n < 95:
		pattern := pick(g.r, []string{"'^a'", "'b$'", "'[0-9]+'", "'l+o'", "'^$'"})
		return op(Bool, "($ REGEXP "+strings.ReplaceAll(pattern, "$", "\\\\z")+")", g.expr(e, Str, depth).n)
	default:
		return op(Bool, "($ <> 0)", g.expr(e, Int, depth).n)
	}
}
