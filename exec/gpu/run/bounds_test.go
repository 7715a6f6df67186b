package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	tables "github.com/radish-sql/radish/storage/table"
)

// Kernels rely on how many rows come to a sink at most, on what values lie between, on what is never NULL and on unique keys. Here random queries are planned, and the CPU says how many rows
// do come to each of their sinks, and with what values: no kernel runs.

// boundColumns are the columns of each table; the first is its key.
var boundColumns = []tables.ColumnDef{
	{Name: "id", Type: types.Int32}, {Name: "k", Type: types.Int64, Nullable: true}, {Name: "d", Type: types.Date, Nullable: true},
	{Name: "t", Type: types.DatetimeFsp(3)}, {Name: "m", Type: types.TimeFsp(0), Nullable: true}, {Name: "c", Type: types.Decimal(9, 2)},
	{Name: "w", Type: types.Decimal(38, 0), Nullable: true}, {Name: "s", Type: types.Varchar(10), Nullable: true},
}

// newBoundTables makes tables of few rows: empty ones too, and those that were emptied.
func newBoundTables(t *testing.T, r *rand.Rand) plantest.Tables {
	out := plantest.Tables{}
	for name, rows := range map[string]int{"none": 0, "gone": 3, "one": 1, "few": 5, "some": 24} {
		schema := &tables.Schema{Database: "db", Name: name, Columns: boundColumns, Keys: []tables.Key{{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true}}}
		b := &column.Batch{N: rows}
		for _, def := range boundColumns {
			v := column.New(def.Type, rows)
			base := r.Int64N(1 << 40)
			for i := range rows {
				x := types.Value{Type: def.Type}
				switch def.Name {
				case "id":
					x.I = int64(i)
				case "k":
					x.I = r.Int64N(6)
				case "d":
					x.I = 10_900 + base%9000 + r.Int64N(40)
				case "t":
					x.I = (base + r.Int64N(1<<30)) * 1000
				case "m":
					x.I = (r.Int64N(7200) - 3600) * types.MicrosPerSecond
				case "c":
					x.I = r.Int64N(100_000) - 50_000
				case "w":
					x.D = types.Int128FromInt64(r.Int64N(1000))
				default:
					x.S = fmt.Sprint("s", r.IntN(4))
				}
				x.Null = def.Nullable && r.IntN(5) == 0
				v.Set(i, rows, x)
			}
			b.Cols = append(b.Cols, v)
		}
		builder := tables.NewBuilder(tables.New(schema))
		if err := builder.Append(b); err != nil {
			t.Fatal(err)
		}
		v, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if name == "gone" {
			v, _, _ = v.Delete(context.Background(), []int64{0, 1, 2})
		}
		out[name] = v
	}
	return out
}

// boundQueries makes queries.
type boundQueries struct {
	r     *rand.Rand
	names int
}

// relation is a query in brackets, of columns c0, c1, ...; kinds has a letter for each: i, an integer, and otherwise the column of boundColumns that it is like.
type relation struct {
	text  string
	kinds string
}

func (g *boundQueries) name() string {
	g.names++
	return fmt.Sprint("r", g.names)
}

func (g *boundQueries) oneOf(of ...string) string { return of[g.r.IntN(len(of))] }

// pick is the name of a column of one of these kinds, of a relation that has a name; "": there is none.
func (g *boundQueries) pick(x relation, name, kinds string) string {
	for _, i := range g.r.Perm(len(x.kinds)) {
		if strings.IndexByte(kinds, x.kinds[i]) >= 0 {
			return fmt.Sprintf("%s.c%d", name, i)
		}
	}
	return ""
}

// selectOf puts a SELECT together; the items are expressions with their kinds.
func selectOf(items []string, kinds, rest string) relation {
	for i := range items {
		items[i] += fmt.Sprint(" AS c", i)
	}
	return relation{"(SELECT " + strings.Join(items, ", ") + " " + rest + ")", kinds}
}

func (g *boundQueries) relation(depth int) relation {
	if depth <= 0 {
		return g.table()
	}
	d := depth - 1
	return []func(int) relation{g.grouped, g.grouped, g.scalar, g.joined, g.joined, g.filtered, g.united, g.united, g.computed, g.limited, g.shared}[g.r.IntN(11)](d)
}

// table is a part of a table's columns and rows, or a row of constants.
func (g *boundQueries) table() relation {
	if g.r.IntN(10) == 0 {
		return selectOf([]string{fmt.Sprint(g.r.IntN(9)), "DATE '2004-05-06'"}, "id", "")
	}
	var items []string
	kinds := ""
	for _, i := range g.r.Perm(len(boundColumns))[:2+g.r.IntN(3)] {
		name := boundColumns[i].Name
		items = append(items, name)
		if kinds += name[:1]; name == "k" {
			kinds = kinds[:len(kinds)-1] + "i"
		}
	}
	rest := "FROM " + g.oneOf("none", "gone", "one", "few", "some", "some")
	switch g.r.IntN(6) {
	case 0:
		rest += " WHERE k > 2"
	case 1:
		rest += " WHERE id IN (3, 4, 20)"
	case 2:
		rest += " WHERE k < 0"
	}
	return selectOf(items, kinds, rest)
}

// value is an expression over a relation's columns, and its kind.
func (g *boundQueries) value(x relation, name string) (text, kind string) {
	i := g.pick(x, name, "i")
	c := g.pick(x, name, "c")
	when := g.pick(x, name, "dtm")
	switch g.r.IntN(10) {
	case 0:
		if i != "" {
			return fmt.Sprintf("%s %s %d", i, g.oneOf("+", "-", "*", "DIV", "%"), g.r.IntN(9)-4), "i"
		}
	case 1:
		if when != "" {
			return fmt.Sprintf("(%s + 0) %s %d", when, g.oneOf("+", "*"), 1+g.r.IntN(200)), "x"
		}
	case 2:
		if when != "" {
			return fmt.Sprintf("CAST(%s AS %s)", when, g.oneOf("SIGNED", "DECIMAL(16,0)")), "i"
		}
	case 3:
		if d := g.pick(x, name, "dt"); d != "" {
			return fmt.Sprintf("CAST(%s AS %s)", d, g.oneOf("DATETIME", "DATETIME(3)")), "t"
		}
	case 4:
		if d := g.pick(x, name, "dt"); d != "" {
			return fmt.Sprintf("%s(%s)", g.oneOf("YEAR", "MONTH", "TO_DAYS", "DATE"), d), "x"
		}
	case 5:
		if c != "" {
			return fmt.Sprintf("CAST(%s AS %s)", c, g.oneOf("SIGNED", "DECIMAL(12,4)", "DECIMAL(5,1)")), "x"
		}
	case 6:
		if i != "" {
			return fmt.Sprintf("CASE WHEN %s > 2 THEN %s WHEN %s = 1 THEN 7 END", i, i, i), "i"
		}
	case 7:
		if i != "" && c != "" {
			return fmt.Sprintf("%s %s %s", i, g.oneOf("+", "-", "*"), c), "x"
		}
	case 8:
		if c != "" && when != "" {
			return fmt.Sprintf("IF(%s > 0, %s, NULL)", c, when), "x"
		}
	}
	at := g.r.IntN(len(x.kinds))
	return fmt.Sprintf("%s.c%d", name, at), x.kinds[at : at+1]
}

// values are some expressions over a relation's columns.
func (g *boundQueries) values(x relation, name string, most int) (items []string, kinds string) {
	for range 1 + g.r.IntN(most) {
		text, kind := g.value(x, name)
		items, kinds = append(items, text), kinds+kind
	}
	return items, kinds
}

// aggregates are aggregates over a relation's columns.
func (g *boundQueries) aggregates(x relation, name string) (items []string, kinds string) {
	items, kinds = []string{"COUNT(*)"}, "i"
	for range g.r.IntN(4) {
		text, kind := g.value(x, name)
		switch f := g.oneOf("COUNT", "MIN", "MAX", "SUM"); {
		case f == "COUNT":
			items, kinds = append(items, "COUNT("+text+")"), kinds+"i"
		case f != "SUM":
			items, kinds = append(items, f+"("+text+")"), kinds+kind
		case kind == "i" || kind == "c":
			items, kinds = append(items, "SUM("+text+")"), kinds+"x"
		}
	}
	return items, kinds
}

func (g *boundQueries) grouped(d int) relation {
	x, name := g.relation(d), g.name()
	keys, kinds := g.values(x, name, 2)
	by := strings.Join(keys, ", ")
	items, more := g.aggregates(x, name)
	return selectOf(append(keys, items...), kinds+more, fmt.Sprintf("FROM %s %s GROUP BY %s", x.text, name, by))
}

func (g *boundQueries) scalar(d int) relation {
	x, name := g.relation(d), g.name()
	items, kinds := g.aggregates(x, name)
	return selectOf(items, kinds, fmt.Sprintf("FROM %s %s", x.text, name))
}

func (g *boundQueries) computed(d int) relation {
	x, name := g.relation(d), g.name()
	items, kinds := g.values(x, name, 4)
	return selectOf(items, kinds, fmt.Sprintf("FROM %s %s", x.text, name))
}

// on is a condition of two relations.
func (g *boundQueries) on(a relation, an string, b relation, bn string) string {
	for _, kinds := range []string{g.oneOf("i", "d", "t", "c", "s"), "i"} {
		l, r := g.pick(a, an, kinds), g.pick(b, bn, kinds)
		if l != "" && r != "" {
			return fmt.Sprintf("%s %s %s", l, g.oneOf("=", "=", "<=>", "<", ">="), r)
		}
	}
	return "1 = 1"
}

func (g *boundQueries) joined(d int) relation {
	a, b := g.relation(d), g.relation(g.r.IntN(d+1))
	an, bn := g.name(), g.name()
	items, kinds := g.values(a, an, 2)
	more, moreKinds := g.values(b, bn, 2)
	rest := fmt.Sprintf("FROM %s %s %s JOIN %s %s", a.text, an, g.oneOf("INNER", "LEFT", "LEFT", "RIGHT", "FULL"), b.text, bn)
	rest += " ON " + g.on(a, an, b, bn)
	if g.r.IntN(3) == 0 {
		rest += " AND " + g.on(a, an, b, bn)
	}
	return selectOf(append(items, more...), kinds+moreKinds, rest)
}

// filtered compares with subqueries.
func (g *boundQueries) filtered(d int) relation {
	a, b := g.relation(d), g.relation(g.r.IntN(d+1))
	an, bn := g.name(), g.name()
	items, kinds := g.values(a, an, 3)
	rest := fmt.Sprintf("FROM %s %s", a.text, an)
	from := fmt.Sprintf("FROM %s %s", b.text, bn)
	count := fmt.Sprintf("(SELECT COUNT(*) %s)", from)
	l, r := g.pick(a, an, "i"), g.pick(b, bn, "i")
	switch {
	case g.r.IntN(5) == 0:
		return selectOf(append(items, count), kinds+"i", rest)
	case g.r.IntN(4) == 0:
		rest += fmt.Sprintf(" WHERE %s (SELECT 1 %s WHERE %s)", g.oneOf("EXISTS", "NOT EXISTS"), from, g.on(a, an, b, bn))
	case l == "" || r == "":
		rest += fmt.Sprintf(" WHERE %d %s %s", g.r.IntN(3), g.oneOf(">=", "<="), count)
	case g.r.IntN(3) == 0:
		rest += fmt.Sprintf(" WHERE %s >= %s", l, count)
	case g.r.IntN(3) == 0:
		return selectOf(append(items, fmt.Sprintf("%s IN (SELECT %s %s)", l, r, from)), kinds+"i", rest)
	case g.r.IntN(2) == 0:
		rest += fmt.Sprintf(" WHERE %s %s (SELECT %s %s)", l, g.oneOf("IN", "NOT IN"), r, from)
	default:
		rest += fmt.Sprintf(" WHERE %s <= (SELECT MAX(%s) %s WHERE %s)", l, r, from, g.on(a, an, b, bn))
	}
	return selectOf(items, kinds, rest)
}

// united is one relation behind, or without, another.
func (g *boundQueries) united(d int) relation {
	a, b := g.relation(d), g.relation(g.r.IntN(d+1))
	an, bn := g.name(), g.name()
	l, r := g.pick(a, an, "i"), g.pick(b, bn, "i")
	kind := "i"
	if day, other := g.pick(a, an, "d"), g.pick(b, bn, "d"); day != "" && other != "" {
		l, r, kind = day, other, "d"
	}
	if l == "" || r == "" {
		l, r, kind = "COUNT(*)", "COUNT(*)", "i"
	}
	op := g.oneOf("UNION ALL", "UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
	text := fmt.Sprintf("(SELECT %s AS c0 FROM %s %s %s SELECT %s FROM %s %s)", l, a.text, an, op, r, b.text, bn)
	return relation{text, kind}
}

func (g *boundQueries) limited(d int) relation {
	x, name := g.relation(d), g.name()
	items, kinds := g.values(x, name, 3)
	rest := fmt.Sprintf("FROM %s %s", x.text, name)
	if g.r.IntN(2) == 0 {
		rest += " ORDER BY 1"
	}
	return selectOf(items, kinds, rest+fmt.Sprintf(" LIMIT %d OFFSET %d", g.r.IntN(5), g.r.IntN(3)))
}

// shared is a relation that is read twice.
func (g *boundQueries) shared(d int) relation {
	x, name, a, b := g.relation(d), g.name(), g.name(), g.name()
	items, kinds := g.values(x, a, 2)
	more, moreKinds := g.values(x, b, 2)
	out := selectOf(append(items, more...), kinds+moreKinds, fmt.Sprintf("FROM %s %s %s JOIN %s %s ON %s", name, a, g.oneOf("INNER", "LEFT"), name, b, g.on(x, a, x, b)))
	out.text = fmt.Sprintf("(WITH %s AS %s %s", name, x.text, out.text[1:])
	return out
}

// lowered is the plan of a query.
func lowered(c plantest.Tables, sql string, ctx *expr.Context, opts physical.Options) (*physical.Plan, error) {
	q, err := c.Bind(sql, ctx)
	if err != nil {
		return nil, err
	}
	if q, _, err = rules.Optimize(q, rules.Options{Context: ctx}); err != nil {
		return nil, err
	}
	opts.Estimator = stats.NewEstimator()
	return physical.Lower(q, opts)
}

// hostTarget is a device that is not there.
var hostTarget = &kernel.Target{LaunchWords: gpukernels.LaunchWords, Includes: gpukernels.Includes, Columns: form.ColumnOf, SharedBytes: 227<<10 - kernel.SharedRest, Multiprocessors: 132, Tuning: kernel.TuningOf(90)}

// sunk are the expressions whose values a sink gets.
func sunk(p *physical.Pipeline) (out []expr.Expr) {
	cols := func(list []*expr.Column) {
		for _, c := range list {
			out = append(out, c)
		}
	}
	switch s := p.Sink.(type) {
	case *physical.Build:
		out = append(out, s.Keys...)
		cols(s.Payload)
	case *physical.Aggregate:
		for _, it := range s.Groups {
			out = append(out, it.Expr)
		}
		for _, it := range s.Aggs {
			out = append(out, it.Args...)
		}
	case *physical.Sort:
		cols(s.Cols)
	case *physical.Materialize:
		cols(s.Cols)
	}
	return out
}

// tapped is a plan that ends where pipeline at does: its result is what comes to the sink there, as the expressions.
func tapped(plan *physical.Plan, at int, exprs []expr.Expr) *physical.Plan {
	p := *plan.Pipelines[at]
	result := &physical.Result{}
	project := &physical.Project{}
	out, nobody := &physical.Plan{}, &physical.Materialize{}
	for _, before := range plan.Pipelines[:at] {
		if _, ok := before.Sink.(*physical.Result); ok { // a plan has one result
			own := *before
			own.Sink = nobody
			before = &own
		}
		out.Pipelines = append(out.Pipelines, before)
	}
	for i, e := range exprs {
		c := &expr.Column{ID: expr.ColumnID(1<<20 + i), Name: fmt.Sprint("x", i), Typ: e.Type(), Null: true}
		project.Items, project.Keep = append(project.Items, logical.Item{Col: c, Expr: e}), append(project.Keep, c.ID)
		result.In, out.Cols, out.Names = append(result.In, c.ID), append(out.Cols, c), append(out.Names, c.Name)
	}
	p.Transforms = append(append([]physical.Transform{}, p.Transforms...), project)
	p.Sink = result
	out.Pipelines = append(out.Pipelines, &p)
	return out
}

// boundCheck counts what was compared.
type boundCheck struct {
	t                                               *testing.T
	planned, failed, sinks, bounded, reached, known int
	unique                                          int             // rows of builds whose keys are said to be unique
	keys                                            map[string]bool // of the current one
}

// TestBounds compares how many rows come to the sinks of random queries, and with what values, with what kernels take as proven.
func TestBounds(t *testing.T) {
	seed := gputest.Seed(t)
	rounds := 1500
	if testing.Short() {
		rounds = 300
	}
	x := &boundCheck{t: t}
	for i := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		if gputest.TimeUp(t) {
			break
		}
		g := &boundQueries{r: r}
		sql := g.relation(2 + r.IntN(3)).text
		x.query(newBoundTables(t, r), strings.TrimSuffix(sql[1:], ")"), physical.Options{Device: physical.Device(r.IntN(2))})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d queries planned, %d gave an error; %d sinks, %d with a bound of their rows, which %d reached; %d ranges; %d rows with unique keys",
		x.planned, x.failed, x.sinks, x.bounded, x.reached, x.known, x.unique)
	if x.planned == rounds && (x.bounded < x.sinks/2 || x.reached < x.sinks/10 || x.known < x.planned || x.unique == 0) { // few queries may well have no unique key
		t.Error("too little was compared")
	}
}

// query checks the sinks of a query.
func (x *boundCheck) query(c plantest.Tables, sql string, opts physical.Options) {
	ctx := plantest.Context()
	plan, err := lowered(c, sql, ctx, opts)
	if err != nil {
		x.t.Errorf("%v: %s", err, sql)
		return
	}
	x.planned++
	g := program.New(plan, hostTarget, ctx, lookup.New(1<<20), func(*physical.Pipeline) bool { return true })
	for i, p := range plan.Pipelines {
		k := g.Kernels[p]
		if k == nil {
			continue
		}
		exprs := sunk(p)
		if res, ok := p.Sink.(*physical.Result); ok {
			for at, c := range plan.Cols {
				exprs = append(exprs, &expr.Column{ID: res.In[at], Name: c.Name, Typ: c.Typ, Null: c.Null})
			}
		}
		x.keys = map[string]bool{}
		x.sinks++
		if k.MaxRows < kernel.Unbounded {
			x.bounded++
		}
		rows, err := x.read(tapped(plan, i, exprs), func(row []types.Value) error {
			for at, v := range row {
				r, known := k.Ranges.Of(exprs[at])
				switch {
				case v.Null && !exprs[at].Nullable():
					return fmt.Errorf("%s of pipeline %d is NULL, and is said not to be", exprs[at], i)
				case known && !v.Null && !holds(r, v):
					return fmt.Errorf("%s of pipeline %d is %s, and its range %d to %d", exprs[at], i, show(v), r.Lo, r.Hi)
				}
			}
			return x.key(p, row)
		})
		for _, e := range exprs {
			if _, known := k.Ranges.Of(e); known {
				x.known++
			}
		}
		var user *sqlerr.Error
		switch {
		case errors.As(err, &user), errors.Is(err, context.DeadlineExceeded):
			x.failed++
			return
		case err != nil:
		case float64(rows) == k.MaxRows:
			x.reached++
		case !(float64(rows) <= k.MaxRows):
			err = fmt.Errorf("%d rows come to the sink of pipeline %d, and its bound is %g", rows, i, k.MaxRows)
		}
		if err != nil {
			text, _ := physical.Text(plan, physical.Placement{}, nil, nil)
			x.t.Errorf("%v:\n%s\n%s", err, sql, text)
			return
		}
	}
}

// key checks what a build says of its keys, which come first in a row.
func (x *boundCheck) key(p *physical.Pipeline, row []types.Value) error {
	b, ok := p.Sink.(*physical.Build)
	if !ok {
		return nil
	}
	text := ""
	for i, v := range row[:len(b.Keys)] {
		if v.Null && !(b.NullSafe != nil && b.NullSafe[i]) {
			return nil
		}
		text += show(v) + "|"
	}
	if b.Algorithm == physical.DenseJoin && !holds(form.Interval{Lo: b.DenseMin, Hi: b.DenseMax}, row[0]) {
		return fmt.Errorf("a key of pipeline %d is %s, and is said to lie between %d and %d", p.ID, text, b.DenseMin, b.DenseMax)
	}
	if b.Unique && x.keys[text] {
		return fmt.Errorf("the key %s of pipeline %d is there twice, and is said to be unique", text, p.ID)
	}
	if b.Unique {
		x.unique++
	}
	x.keys[text] = true
	return nil
}

// read runs a plan on the CPU, and gives its rows to see.
func (x *boundCheck) read(plan *physical.Plan, see func(row []types.Value) error) (rows int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	cur, err := schedule.Start(ctx, plan, schedule.Config{Threads: 1, Expr: plantest.Context(), Backends: []schedule.Backend{{Device: physical.CPU, Open: cpu.Open}}})
	if err != nil {
		return 0, err
	}
	defer cur.Close()
	for {
		b, err := cur.Next(ctx)
		if err != nil || b == nil {
			return rows, err
		}
		rows += b.N
		row := make([]types.Value, len(b.Cols))
		for i := range b.N {
			for at, v := range b.Cols {
				row[at] = v.Value(i)
			}
			if err := see(row); err != nil {
				return rows, err
			}
		}
	}
}

// holds says whether a value lies in an interval.
func holds(r form.Interval, v types.Value) bool {
	n := v.I
	if v.Type.Phys() == types.PhysInt128 {
		fits := false
		if n, fits = v.D.Int64(); !fits {
			return false
		}
	}
	return r.Lo <= n && n <= r.Hi
}

// show prints a value for a message.
func show(v types.Value) string {
	switch {
	case v.Null:
		return "NULL"
	case v.Type.IsString():
		return strconv.Quote(v.S)
	}
	return v.Text()
}
