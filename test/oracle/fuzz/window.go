package fuzz

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// windows is what one select may put before and into OVER.
type windows struct {
	args *env // what operands and keys see: columns, or groups and their aggregates
	// total are keys that together put the rows in an order in which only equal rows change places. Functions of a row's
	// place need them.
	total  []*Node
	unique bool // there are no equal rows
	// partition and order are, where MariaDB judges, those of all windows of the select. It loses values where it has to
	// sort for several (LAG(a, 2) OVER (ORDER BY id) is NULL beside MAX(b) OVER (PARTITION BY a ORDER BY b) and MAX(a) OVER ()).
	partition, order *Node
	orderedBy        ordering
	distances        func() *Node // RANGE frames with distances
	clause           *Node        // WINDOW: a List
	name             string       // of the window in it; none: it is written behind OVER
	// taken says that there is a function already: without a name MariaDB's select has one, and a select over rows that may
	// be equal has one order of places, as two could take the places of equal rows differently.
	taken bool
}

// ordering is how far a window's order goes.
type ordering uint8

const (
	unordered ordering = iota
	tied               // rows may be peers
	measured           // by one key that has distances
	placed             // only equal rows are peers
)

// newWindows prepares windows over the rows that cols are of, or over groups by keys; nil where neither gives an order.
func (g *generator) newWindows(in *env, cols []named, keys []expr) *windows {
	args := *in
	args.noSub, args.all, args.outer, args.cols = true, g.dialect == nil, nil, nil
	for _, c := range in.cols {
		if strings.Contains(c.sql, ".") {
			args.cols = append(args.cols, c)
		}
	}
	w := &windows{args: &args, clause: list(" WINDOW ", ", ", 0)}
	if in.grouped {
		for _, k := range keys {
			if len(k.n.Kids) == 0 && !strings.Contains(k.n.Format, ".") {
				return nil
			}
			w.total = append(w.total, k.n)
		}
		w.unique = true
	} else {
		w.total, w.unique = places(cols)
	}
	if len(w.total) == 0 || len(args.cols) == 0 {
		return nil
	}
	if g.dialect != nil {
		return w
	}
	g.windowSpec(w)
	switch w.name = g.name("v"); {
	case g.chance(30):
		w.name = ""
	case g.chance(30):
		base := g.name("v")
		w.clause.Kids = append(w.clause.Kids, op(Other, base+" AS ($)", w.partition), op(Other, w.name+" AS ("+base+"$)", w.order))
	default:
		w.clause.Kids = append(w.clause.Kids, op(Other, w.name+" AS ($$)", w.partition, w.order))
	}
	return w
}

// windowSpec draws a partitioning and an order.
func (g *generator) windowSpec(w *windows) {
	w.partition = list("PARTITION BY ", ", ", 0)
	for g.chance(50) && len(w.partition.Kids) < 2 {
		key := g.windowKey(w.args)
		if len(w.partition.Kids) == 1 && g.dialect != nil && !g.dialect.Repeated && key.SQL() == w.partition.Kids[0].SQL() {
			break
		}
		w.partition.Kids = append(w.partition.Kids, key)
	}
	w.order, w.orderedBy = lit(Other, ""), unordered
	switch n := g.r.IntN(10); {
	case n < 1:
	case n < 5 && n > 2 && g.measure(w):
	case n < 3 || w.taken:
		w.order, w.orderedBy = op(Other, " ORDER BY $$"+g.direction(), g.freeKeys(w), g.windowKey(w.args)), tied
	default:
		w.order, w.orderedBy, w.taken = g.totalOrder(w), placed, g.dialect != nil && !w.unique
	}
}

// places are columns that together tell rows apart, or all columns.
func places(cols []named) (keys []*Node, unique bool) {
	var tables []string
	var ids, all []*Node
	for _, c := range cols {
		table, column, qualified := strings.Cut(c.sql, ".")
		if !qualified {
			continue
		}
		if !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
		all = append(all, lit(c.t.Kind, c.sql))
		if column == "id" {
			ids = append(ids, all[len(all)-1])
		}
	}
	if len(ids) == len(tables) {
		return ids, true
	}
	return all, false
}

func (g *generator) direction() string { return pick(g.r, []string{"", "", " DESC"}) }

// freeKeys are keys before others, without which the order stays what it has to be.
func (g *generator) freeKeys(w *windows) *Node {
	free := list("", "", 0)
	for len(free.Kids) < 2 && g.chance(55) {
		free.Kids = append(free.Kids, op(Other, "$"+g.direction()+", ", g.windowKey(w.args)))
	}
	return free
}

// totalOrder draws ORDER BY whose last keys leave only equal rows equal.
func (g *generator) totalOrder(w *windows) *Node {
	tail := ""
	kids := []*Node{g.freeKeys(w)}
	for _, i := range g.r.Perm(len(w.total)) {
		tail += ", $" + g.direction()
		kids = append(kids, w.total[i].clone())
	}
	return op(Other, " ORDER BY $"+strings.TrimPrefix(tail, ", "), kids...)
}

// over draws what stands behind OVER, for a function over a frame or over the partition.
func (g *generator) over(w *windows, framed bool) *Node {
	frame := lit(Other, "")
	switch {
	case framed && w.orderedBy == measured && g.chance(75):
		frame = w.distances()
	case framed && w.orderedBy == placed && g.chance(55):
		frame = g.frame("ROWS", g.offsets("%d", 4))
	case framed && g.dialect != nil && w.orderedBy != unordered && g.chance(30):
		frame = g.frame("GROUPS", g.offsets("%d", 3))
	case framed && g.chance(20):
		frame = g.frame("RANGE", nil)
	case !framed && g.chance(10):
		frame = g.frame("ROWS", g.offsets("%d", 4)).judged(" ") // MySQL ignores it, MariaDB refuses it
	}
	switch name := g.name("v"); {
	case g.dialect != nil && g.chance(25):
		w.clause.Kids = append(w.clause.Kids, op(Other, name+" AS ($$$)", w.partition, w.order, frame))
		return lit(Other, name)
	case w.name == "":
		w.taken = w.taken || g.dialect == nil
		return op(Other, "($$$)", w.partition, w.order, frame)
	case frame.Format == "":
		return lit(Other, w.name)
	case framed && g.chance(15):
		w.clause.Kids = append(w.clause.Kids, op(Other, name+" AS ("+w.name+"$)", frame))
		return lit(Other, name)
	}
	n := op(Other, "("+w.name+"$)", frame)
	if !framed {
		n.Judged = w.name
	}
	return n
}

// windowKey draws a key to partition or sort by: a column, sometimes an expression.
func (g *generator) windowKey(e *env) *Node {
	if e.grouped && g.dialect != nil && g.chance(25) {
		if x, ok := g.aggregate(e, g.anyKind(e.base)); ok {
			return x.n
		}
	}
	c := pick(g.r, e.cols)
	if g.chance(80) || e.grouped {
		return lit(c.t.Kind, c.sql)
	}
	x := g.expr(e, c.t.Kind, 1)
	if len(x.n.Kids) == 0 || !x.n.uses(e.cols) {
		return lit(c.t.Kind, c.sql) // a constant could be taken for a position
	}
	return x.n
}

// offsets are distances from 0 to most, in a unit.
func (g *generator) offsets(format string, most int) func(least int) (string, int) {
	return func(least int) (string, int) {
		n := least + g.r.IntN(most+1)
		return fmt.Sprintf(format, n), n
	}
}

// frame draws a frame; where MariaDB judges, it does not end before it starts. Without distances it ends at peers and at the
// partition's ends.
func (g *generator) frame(unit string, distance func(least int) (string, int)) *Node {
	starts, ends := []string{"UNBOUNDED PRECEDING", "CURRENT ROW"}, []string{"CURRENT ROW", "UNBOUNDED FOLLOWING"}
	if distance != nil {
		first := 0
		if g.dialect != nil && unit == "RANGE" {
			first = 1 // DuckDB's RANGE BETWEEN 2 PRECEDING AND 0 PRECEDING leaves out peers
		}
		near, least := distance(first)
		far, _ := distance(least)
		n := g.r.IntN(5)
		if g.dialect != nil && g.dialect.Reversed && g.chance(15) {
			n = 5
		}
		switch n {
		case 5: // ends before it starts
			starts, ends = []string{far + " FOLLOWING"}, []string{near + " FOLLOWING"}
		case 0:
			starts, ends = []string{"UNBOUNDED PRECEDING", far + " PRECEDING"}, []string{near + " PRECEDING"}
		case 1:
			starts, ends = []string{near + " FOLLOWING"}, []string{far + " FOLLOWING", "UNBOUNDED FOLLOWING"}
		default:
			starts = append(starts, near+" PRECEDING", far+" PRECEDING")
			ends = append(ends, near+" FOLLOWING", far+" FOLLOWING")
		}
	}
	start := pick(g.r, starts)
	if g.chance(25) && !strings.Contains(start, "FOLLOWING") {
		return lit(Other, " "+unit+" "+start)
	}
	return lit(Other, " "+unit+" BETWEEN "+start+" AND "+pick(g.r, ends))
}

// measure orders by a key that RANGE frames measure distances of, if there is one. MariaDB measures no dates: it is
// given numbers of seconds.
func (g *generator) measure(w *windows) bool {
	var fit []named
	kinds := []Kind{Int, Dec, Dbl, Date, DateTime}
	if g.dialect != nil && !g.dialect.Intervals {
		kinds = kinds[:3]
	}
	for _, c := range w.args.cols {
		if c.t.Digits < 16 && slices.Contains(kinds, c.t.Kind) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return false
	}
	c := pick(g.r, fit)
	key := lit(c.t.Kind, c.sql)
	w.order, w.orderedBy = op(Other, " ORDER BY $"+g.direction(), key), measured
	switch c.t.Kind {
	case Int:
		w.distances = func() *Node { return g.frame("RANGE", g.offsets("%d", 6)) }
		return true
	case Dec, Dbl:
		format := pick(g.r, []string{"%d", "%d.5", "0.%d"})
		w.distances = func() *Node { return g.frame("RANGE", g.offsets(format, 4)) }
		return true
	}
	if g.dialect != nil {
		unit := pick(g.r, []string{"DAY", "MONTH", "YEAR"})
		w.distances = func() *Node { return g.frame("RANGE", g.offsets("INTERVAL %d "+unit, 20)) }
		return true
	}
	units := []string{"DAY", "WEEK"}
	key.Judged = "(TO_DAYS(" + c.sql + ") * 86400)"
	if c.t.Kind == DateTime {
		units = []string{"DAY", "HOUR", "MINUTE", "SECOND"}
		key.Judged = "TIMESTAMPDIFF(SECOND, '1970-01-01', " + c.sql + ")"
	}
	w.distances = func() *Node {
		unit := pick(g.r, units)
		f := g.frame("RANGE", g.offsets("INTERVAL %d "+unit, pick(g.r, []int{1, 40, 800})))
		return f.judged(inSeconds.ReplaceAllStringFunc(f.Format, func(text string) string {
			parts := inSeconds.FindStringSubmatch(text)
			n, _ := strconv.Atoi(parts[1])
			return strconv.Itoa(n * map[string]int{"WEEK": 604800, "DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}[parts[2]])
		}))
	}
	return true
}

var inSeconds = regexp.MustCompile(`INTERVAL (\d+) (\w+)`)

// windowCall draws a window function of the kind; ok is false if there is none to be had.
func (g *generator) windowCall(w *windows, kind Kind) (x expr, ok bool) {
	if g.dialect != nil {
		return g.portableWindow(w, kind)
	}
	if w.taken {
		return expr{}, false
	}
	arg := func(k Kind) expr { return g.expr(w.args, k, g.r.IntN(2)) }
	framed := func(t Type, format string, args ...*Node) (expr, bool) {
		return expr{op(kind, format+" OVER $", append(args, g.over(w, true))...), t}, true
	}
	n := g.r.IntN(100)
	if w.orderedBy == placed && n < 35 {
		x = g.valueCall(w, kind, arg(kind))
		x.n = g.widened(x.n)
		return x, true
	}
	switch {
	case n >= 60 && kind == Int:
		if g.chance(50) {
			return framed(Type{Int, 7, 0}, "COUNT(*)")
		}
		return framed(Type{Int, 7, 0}, "COUNT($)", arg(g.anyKind(w.args)).n)
	case n >= 50 && kind == Uint && w.orderedBy != unordered:
		functions := []string{"DENSE_RANK()", "RANK()"}
		if w.orderedBy == placed {
			functions = append(functions, "ROW_NUMBER()", "ROW_NUMBER()", "ROW_NUMBER()", fmt.Sprintf("NTILE(%d)", 1+g.r.IntN(7)))
		}
		return expr{op(kind, pick(g.r, functions)+" OVER $", g.over(w, false)), Type{Uint, 7, 0}}, true
	case n >= 60 && kind == Dec:
		a := arg(pick(g.r, []Kind{Int, Dec, Dec}))
		if a.t.Digits+a.t.Scale > 21 {
			a = g.constant(Dec)
		}
		return framed(Type{Dec, a.t.Digits + 7, a.t.Scale}, "SUM($)", a.n)
	case n >= 60 && kind == Dbl:
		a := arg(Dbl)
		return framed(Type{Dbl, a.t.Digits + 5, 0}, "SUM($)", a.n)
	}
	a := arg(kind)
	x, ok = framed(a.t, pick(g.r, []string{"MIN($)", "MAX($)"}), a.n)
	x.n = g.widened(x.n)
	return x, ok
}

// valueCall draws a function that takes its operand from another row.
func (g *generator) valueCall(w *windows, kind Kind, a expr) expr {
	shift := pick(g.r, []string{"LAG", "LEAD"})
	distance := g.r.IntN(4)
	switch n := g.r.IntN(10); {
	case n < 4:
		f := pick(g.r, []string{"FIRST_VALUE($)", "LAST_VALUE($)", fmt.Sprintf("NTH_VALUE($, %d)", 1+g.r.IntN(3))})
		return expr{op(kind, f+" OVER $", a.n, g.over(w, true)), a.t}
	case n < 7 && g.dialect != nil && kind != Dec && kind != Uint:
		d := g.expr(w.args, kind, g.r.IntN(2))
		return expr{op(kind, fmt.Sprintf("%s($, %d, $) OVER $", shift, distance), a.n, d.n, g.over(w, false)), common(a.t, d.t)}
	case n < 7 && w.name != "":
		// MariaDB's LAG and LEAD have no default: whether there is such a row is counted.
		d := g.expr(w.args, kind, g.r.IntN(2))
		direction := map[string]string{"LAG": "PRECEDING", "LEAD": "FOLLOWING"}[shift]
		judged := fmt.Sprintf("IF(COUNT(*) OVER (%s ROWS BETWEEN %d %s AND %d %s) = 0, $2, %s($1, %d) OVER %s)",
			w.name, distance, direction, distance, direction, shift, distance, w.name)
		n := op(kind, fmt.Sprintf("%s($, %d, $) OVER %s", shift, distance, w.name), a.n, d.n)
		return expr{n.judged(judged), common(a.t, d.t)}
	}
	f := shift + "($)"
	if g.chance(60) {
		f = fmt.Sprintf("%s($, %d)", shift, distance)
	}
	return expr{op(kind, f+" OVER $", a.n, g.over(w, false)), a.t}
}

// windowFinal draws a window function whose value is shown and used no further, as final does.
func (g *generator) windowFinal(w *windows) expr {
	if g.dialect != nil {
		return g.portableWindowFinal(w)
	}
	if w.taken {
		return g.constant(Int)
	}
	if w.orderedBy != unordered && g.chance(35) {
		f := pick(g.r, []string{"PERCENT_RANK()", "CUME_DIST()"})
		return expr{op(Dbl, "ROUND("+f+" OVER $, 6)", g.over(w, false)), Type{Dbl, 10, 0}} // MariaDB gives ten digits
	}
	a := g.expr(w.args, pick(g.r, []Kind{Int, Dec, Dbl}), 1)
	if a.t.Digits > 15 {
		a = g.constant(Int)
	}
	functions := []string{"AVG($)"}
	if a.t.Kind == Dbl && !large(a.n) {
		functions = append(functions, "STDDEV_POP($)", "VAR_SAMP($)", "VAR_POP($)", "STDDEV_SAMP($)")
	}
	return expr{op(Dec, pick(g.r, functions)+" OVER $", a.n, g.over(w, true)), Type{Dec, 10, 4}}
}
