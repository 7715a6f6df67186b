package join

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
)

// largeJoin is a join of R(k, p) with S(k, q) on a device. Keys have numbers; R has each of them, in no order, and S has numbers of R's keys.
type largeJoin struct {
	name   string
	build  int   // R has 2^build rows
	probe  int   // S has 2^probe rows
	copies int64 // rows of R with one key
	draw   largeDraw
	skew   float64    // exponent of Zipf's law; 0: 1
	typ    types.Type // of the keys
	key    func(number int64) int64
	wide   bool  // p and q take 8 bytes, not 4
	every  int64 // 0, or one of so many rows of S has a key of R
	both   bool  // R has keys as S has, not each of them
	stored bool  // CREATE TABLE ... AS SELECT stores what comes; its time is the statement's
	behind bool  // INSERT ... SELECT then stores it once more behind that; its time is that of the INSERT and of a query that follows
	kind   largeKind
	keys   int                            // key columns: k, k2, and so on; 0: one
	text   func(b []byte, n int64) []byte // of keys that are strings
	values int                            // value columns a side: p, p2, and so on; 0: one
	none   bool                           // no value columns at all
	hint   string                         // without its brackets; empty: none
	bar    float64                        // G tuples/s, or G rows/s of the result where that is what multiplies, that it has to reach; 0: none is set
}

// largeDraw says which keys S has.
type largeDraw uint8

const (
	eachKey  largeDraw = iota // each once
	anyKeys                   // any, with equal probability
	zipfDraw                  // by Zipf's law
)

// largeKind is the kind of a join.
type largeKind uint8

const (
	innerJoin largeKind = iota
	leftJoin            // all rows of S
	semiJoin            // rows of S with a match,
	antiJoin            // and those without
	fullJoin            // all rows
)

// largeJoins are the cases; most is log2 of the larger tables' rows.
func largeJoins(most int) []largeJoin {
	small, few := max(most-3, 4), most*14/27 // rows that have 2^16 matches each if most is 27
	return []largeJoin{
		{name: "unique", build: most, probe: most, typ: types.Int32, key: spread32, bar: 55},
		{name: "sort-merge", build: most, probe: most, typ: types.Int32, key: spread32, hint: "MERGE_JOIN(r, s)", bar: 28},
		{name: "dense", build: most, probe: most, typ: types.Int32, key: plainKey, bar: 62},
		{name: "wide", build: most, probe: most, typ: types.Int64, key: spread64, wide: true, bar: 29},
		{name: "broadcast", build: max(most-8, 4), probe: most, draw: anyKeys, typ: types.Int32, key: spread32},
		{name: "small", build: small, probe: most, draw: anyKeys, typ: types.Int32, key: spread32, bar: 60},
		{name: "small dense", build: small, probe: most, draw: anyKeys, typ: types.Int32, key: plainKey},
		{name: "zipf", build: most, probe: most, draw: zipfDraw, typ: types.Int32, key: spread32},
		{name: "four", build: most, probe: most - 2, copies: 4, typ: types.Int32, key: spread32},
		{name: "eighth", build: most, probe: most, every: 8, typ: types.Int32, key: spread32},
		{name: "half", build: most, probe: most, every: 2, typ: types.Int32, key: spread32},
		{name: "left", build: most, probe: most, every: 2, kind: leftJoin, typ: types.Int32, key: spread32},
		{name: "semi", build: most, probe: most, every: 2, kind: semiJoin, typ: types.Int32, key: spread32},
		{name: "anti", build: most, probe: most, every: 2, kind: antiJoin, typ: types.Int32, key: spread32},
		{name: "full", build: most, probe: most, every: 2, kind: fullJoin, typ: types.Int32, key: spread32},
		{name: "two columns", build: most, probe: most, values: 2, typ: types.Int32, key: spread32, bar: 30},
		{name: "wide keys", build: most, probe: most, keys: 2, typ: types.Int64, key: spread64, bar: 18},
		{name: "strings", build: most - 1, probe: most - 1, typ: types.Varchar(16), key: plainKey, text: text16, bar: 8},
		{name: "stored", build: most, probe: most, typ: types.Int32, key: spread32, stored: true, bar: 4.5},
		{name: "inserted", build: most, probe: most, typ: types.Int32, key: spread32, stored: true, behind: true},
		{name: "multiply", build: most - 1, probe: few, copies: 1 << (most - 1 - few*5/7), draw: anyKeys, typ: types.Int32, key: spread32, bar: 100},
		{name: "zipf both", build: most * 3 / 4, probe: most * 3 / 4, draw: zipfDraw, both: true, typ: types.Int32, key: spread32},
	}
}

// tables makes R and S, and says what the join gives: rows, and the sums of p and q.
func (c *largeJoin) tables() (r, s *drawn.Table, totals func() [3]int64) {
	salt := drawn.Salt(0x702)
	copies, value, payload := max(c.copies, 1), int64(math.MaxInt32), types.Int32
	if c.wide {
		value, payload = 1<<35, types.Int64
	}
	rows, probes := int64(1)<<c.build, int64(1)<<c.probe
	keys := rows / copies
	shuffled := drawn.NewPermutation(salt.Next(), rows)
	build := func(row int64) int64 { return shuffled.Of(row) / copies }
	matches := func(int64) int64 { return copies } // rows of R with a key
	if c.both {
		build = c.probes(&salt, keys, rows)
		count := make([]int32, keys)
		for row := range rows {
			count[build(row)]++
		}
		matches = func(number int64) int64 { return int64(count[number]) }
	}
	probe := c.probes(&salt, keys, probes)
	p, q := drawn.Uniform(salt.Next(), value), drawn.Uniform(salt.Next(), value)
	// All rows of R with one key have the same value, so that S knows what each of its rows adds.
	ofKey := func(row int64) int64 { return p(build(row)) }
	r = &drawn.Table{Name: "r", Rows: rows, Columns: append(c.keyColumns(build), c.valueColumns("p", payload, value, ofKey)...)}
	s = &drawn.Table{Name: "s", Rows: probes, Columns: append(c.keyColumns(probe), c.valueColumns("q", payload, value, q)...)}
	totals = func() [3]int64 {
		var all [3]atomic.Int64
		var parts errgroup.Group
		const part = 1 << 20
		for from := int64(0); from < probes; from += part {
			parts.Go(func() error {
				var sums [3]int64
				for row := from; row < min(from+part, probes); row++ {
					n, m := probe(row), int64(0)
					if n < keys {
						m = matches(n)
					}
					c.add(&sums, m, func() int64 { return p(n) }, q(row))
					if c.kind == fullJoin { // R has as many rows as S, each of which has one match at most
						sums[0] += 1 - m
						sums[1] += p(row)
						if m > 0 {
							sums[1] -= p(n)
						}
					}
				}
				for i := 1; i < len(sums); i++ { // every second value is what the one before lacks
					sums[i] = sums[i]*int64(c.valueCount()%2) + sums[0]*(value-1)*int64(c.valueCount()/2)
				}
				for i := range all {
					all[i].Add(sums[i])
				}
				return nil
			})
		}
		_ = parts.Wait()
		return [3]int64{all[0].Load(), all[1].Load(), all[2].Load()}
	}
	return r, s, totals
}

// keyColumns are the key columns of a table whose rows have keys with the numbers that number gives.
func (c *largeJoin) keyColumns(number func(row int64) int64) []drawn.Column {
	all := []drawn.Column{{Name: "k", Typ: c.typ, Text: c.text, Draw: func(row int64) int64 { return c.key(number(row)) }}}
	for i := 2; i <= c.keys; i++ {
		all = append(all, drawn.Column{Name: nthColumn("k", i), Typ: c.typ, Draw: func(row int64) int64 { return c.key(number(row) ^ -int64(i-1)) }})
	}
	return all
}

// valueCount is how many value columns a side has.
func (c *largeJoin) valueCount() int {
	if c.none {
		return 0
	}
	return max(c.values, 1)
}

// valueColumns are the value columns of a table. The values of first are below most.
func (c *largeJoin) valueColumns(name string, typ types.Type, most int64, first func(row int64) int64) []drawn.Column {
	var all []drawn.Column
	for i := 1; i <= c.valueCount(); i++ {
		draw := first
		if i%2 == 0 {
			draw = func(row int64) int64 { return most - 1 - first(row) }
		}
		all = append(all, drawn.Column{Name: nthColumn(name, i), Typ: typ, Draw: draw})
	}
	return all
}

// nthColumn is the name of the n-th column of a kind: k, k2, k3.
func nthColumn(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprint(name, n)
}

// add adds what a row of S with so many matches gives: rows, and the sums of p and q.
func (c *largeJoin) add(sums *[3]int64, matches int64, p func() int64, q int64) {
	switch {
	case c.kind == antiJoin && matches > 0, matches == 0 && (c.kind == innerJoin || c.kind == semiJoin):
	case c.kind == semiJoin || matches == 0:
		sums[0]++
		sums[2] += q
	default:
		sums[0] += matches
		sums[1] += matches * p()
		sums[2] += matches * q
	}
}

// sql is the statement.
func (c *largeJoin) sql() string {
	on := "r.k = s.k"
	for i := 2; i <= c.keys; i++ {
		on += fmt.Sprintf(" AND r.k%d = s.k%[1]d", i)
	}
	sums := "COUNT(*)"
	for _, name := range []string{"p", "q"} {
		terms := []string{"0"}
		for i := 1; i <= c.valueCount(); i++ {
			terms = append(terms, nthColumn(name, i))
		}
		if len(terms) > 1 {
			sums += ", SUM(" + strings.Join(terms[1:], " + ") + ")"
		} else {
			sums += ", 0"
		}
	}
	switch c.kind {
	case leftJoin:
		return "SELECT " + sums + " FROM s LEFT JOIN r ON " + on
	case semiJoin:
		return "SELECT COUNT(*), 0, SUM(q) FROM s WHERE EXISTS (SELECT 1 FROM r WHERE " + on + ")"
	case antiJoin:
		return "SELECT COUNT(*), 0, SUM(q) FROM s WHERE NOT EXISTS (SELECT 1 FROM r WHERE " + on + ")"
	case fullJoin:
		return "SELECT " + sums + " FROM r FULL JOIN s ON " + on
	}
	hint := c.hint
	if hint != "" {
		hint = "/*+ " + hint + " */ "
	}
	return "SELECT " + hint + sums + " FROM r JOIN s ON " + on
}

// probes returns the numbers of S's keys. From keys on they are none of R.
func (c *largeJoin) probes(salt *drawn.Salt, keys, rows int64) func(row int64) int64 {
	switch c.draw {
	case anyKeys:
		return drawn.Uniform(salt.Next(), keys)
	case zipfDraw: // the inverse of the distribution's continuous form; frequent keys are not neighbours
		word, step, scale := drawn.Uniform(salt.Next(), 1<<52), drawn.Coprime(keys), math.Log(float64(keys)+1)
		at := func(u float64) float64 { return math.Exp(u * scale) }
		if rest := 1 - c.skew; c.skew != 0 && rest != 0 {
			last := math.Pow(float64(keys)+1, rest) - 1
			at = func(u float64) float64 { return math.Pow(u*last+1, 1/rest) }
		}
		return func(row int64) int64 {
			n := int64(at(float64(word(row))/(1<<52))) - 1
			return max(min(n, keys-1), 0) * step % keys
		}
	}
	each := drawn.NewPermutation(salt.Next(), rows).Of
	if c.every == 0 {
		return each
	}
	return func(row int64) int64 {
		n := each(row)
		if n%c.every != 0 {
			n += keys
		}
		return n
	}
}

const (
	largeStoreSQL  = "CREATE TABLE j AS SELECT r.k, p, q FROM r JOIN s ON r.k = s.k"
	largeInsertSQL = "INSERT INTO j SELECT r.k, p, q FROM r JOIN s ON r.k = s.k"
	largeStoredSQL = "SELECT COUNT(*), SUM(p), SUM(q) FROM j"
)

var largeJoinColumns = []report.Column{
	report.Text("case", 11), report.Number("R", 4), report.Number("S", 4), report.Number("kernels ms", 10),
	report.Number("G tuples/s", 10),
	report.Number("G rows out/s", 12), report.Number("bar", 4), report.Number("statement ms", 12),
	report.Number("GPUs", 4),
	report.Number("× one", 5), report.Text("check", 8),
}

// largeJoinBench runs the cases on a device.
type largeJoinBench struct {
	db       *database.DB
	out      io.Writer
	runs     int
	explains bool
	done     [][]string
}

// runLargeJoins runs the cases whose names are picked, or all; sorted has both sides sorted wherever that can be.
func runLargeJoins(ctx context.Context, set *beside.Settings, most int, explain, sorted bool, out io.Writer) error {
	db, err := database.Open(set.Settings)
	if err != nil {
		return err
	}
	defer db.Close()
	if sorted {
		if err := db.Exec(ctx, "SET radish_gpu_join_sorted = 'always'"); err != nil {
			return err
		}
	}
	b := &largeJoinBench{db: db, out: out, runs: set.Runs, explains: explain}
	fmt.Fprintf(out, "R(k, p) joined with S(k, q), device %s: median of %d runs after a first one; ", db.Device, set.Runs)
	fmt.Fprintf(out, "rates are of |R| + |S| and of the result's rows, in the time of all kernels, and in that of the statement where it stores the result\n\n%s", report.Row(largeJoinColumns, report.Titles(largeJoinColumns)))
	failed := 0
	for _, c := range largeJoins(most) {
		if set.Cases != "" && !strings.Contains(","+set.Cases+",", ","+c.name+",") {
			continue
		}
		if err := b.measure(ctx, &c); err != nil {
			failed++
			fmt.Fprintf(out, "%s: %v\n", c.name, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d joins failed or gave another result", failed)
	}
	if set.Markdown == "" {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Joins; %s; device %s; commit %s\n\n", time.Now().UTC().Format(time.DateOnly), db.Device, database.Commit())
	report.Markdown(&text, largeJoinColumns, b.done)
	return os.WriteFile(set.Markdown, []byte(text.String()), 0o644)
}

// measure makes the tables of a case, checks the join and takes its times, on each number of devices.
func (b *largeJoinBench) measure(ctx context.Context, c *largeJoin) error {
	r, s, totals := c.tables()
	for _, t := range []*drawn.Table{r, s} {
		if err := t.Create(ctx, b.db); err != nil {
			return err
		}
	}
	want := totals()
	one := time.Duration(0)
	return b.db.OnDevices(ctx, func(devices int) error {
		cells, took, err := b.times(ctx, c, want)
		if err == nil && !c.stored {
			err = b.db.Timelines.Record(ctx, b.db, fmt.Sprintf("%s on %d GPUs", c.name, devices), c.sql())
		}
		if err != nil {
			return fmt.Errorf("on %d devices: %w", devices, err)
		}
		if devices == 1 {
			one = took
		}
		check := len(cells) - 1
		cells = slices.Insert(cells, check, strconv.Itoa(devices), fmt.Sprintf("%.2f", float64(one)/float64(max(took, 1))))
		b.done = append(b.done, cells)
		fmt.Fprint(b.out, report.Row(largeJoinColumns, cells))
		return nil
	})
}

// times takes the times of a case; whole is the statement's.
func (b *largeJoinBench) times(ctx context.Context, c *largeJoin, want [3]int64) (cells []string, took time.Duration, err error) {
	var whole, kernels []time.Duration
	for run := range b.runs + 2 {
		took, err := b.once(ctx, c, want)
		if err != nil {
			return nil, 0, err
		}
		if run > 1 { // the first one brings the columns, and both learn how many rows come where
			whole = append(whole, took)
		}
	}
	if c.stored && b.explains && b.db.GPU() != nil {
		fmt.Fprintf(b.out, "%s, ms of each run:", c.name)
		for _, took := range whole {
			fmt.Fprintf(b.out, " %s", report.Millis(took))
		}
		fmt.Fprintln(b.out)
		for range traces {
			if err := b.trace(ctx, c); err != nil {
				return nil, 0, err
			}
		}
	}
	if c.stored {
		return b.cells(c, want[0], 0, report.Median(whole), report.Median(whole)), report.Median(whole), nil
	}
	for range b.runs {
		cost, err := b.db.Cost(ctx, c.sql())
		if err != nil {
			return nil, 0, err
		}
		kernels = append(kernels, time.Duration(cost.Kernels*float64(time.Millisecond)))
	}
	if b.explains {
		text, err := b.db.ExplainAnalyze(ctx, c.sql())
		if err != nil {
			return nil, 0, err
		}
		fmt.Fprintln(b.out, text)
		if b.db.GPU() != nil {
			if err := database.TraceStatement(ctx, b.out, b.db, c.name, c.sql()); err != nil {
				return nil, 0, err
			}
		}
	}
	return b.cells(c, want[0], report.Median(kernels), report.Median(kernels), report.Median(whole)), report.Median(whole), nil
}

// traces is how many runs of a statement that stores a result are traced: some find the memory of an earlier result, others do not.
const traces = 3

// trace prints when the statement that stores a result calls the library.
func (b *largeJoinBench) trace(ctx context.Context, c *largeJoin) error {
	title, sql := "CREATE TABLE", largeStoreSQL
	if c.behind {
		title, sql = "INSERT", largeInsertSQL
		if err := b.db.Exec(ctx, largeStoreSQL); err != nil {
			return err
		}
	}
	if err := database.TraceStatement(ctx, b.out, b.db, title, sql); err != nil {
		return err
	}
	return b.db.Exec(ctx, "DROP TABLE j")
}

// once runs a case's statement, checks what it gives, and returns its time.
func (b *largeJoinBench) once(ctx context.Context, c *largeJoin, want [3]int64) (took time.Duration, err error) {
	sql := c.sql()
	if c.stored {
		if err := b.db.Exec(ctx, "DROP TABLE IF EXISTS j"); err != nil {
			return 0, err
		}
		if _, took, err = b.db.Query(ctx, largeStoreSQL); err != nil {
			return 0, err
		}
		sql = largeStoredSQL
	}
	if c.behind {
		if _, took, err = b.db.Query(ctx, largeInsertSQL); err != nil {
			return 0, err
		}
	}
	rows, summed, err := b.db.Query(ctx, sql)
	if err != nil {
		return 0, err
	}
	if c.behind {
		took += summed
	}
	for i := range want {
		if c.behind {
			want[i] *= 2
		}
		if got, w := rows[0][i].Text(), strconv.FormatInt(want[i], 10); got != w {
			return 0, fmt.Errorf("column %d is %s, want %s", i+1, got, w)
		}
	}
	if c.stored {
		return took, b.db.Exec(ctx, "DROP TABLE j")
	}
	return summed, nil
}

// cells are a case's row: the kernels' time, if it is known, the time that rates are of, and the statement's.
func (b *largeJoinBench) cells(c *largeJoin, out int64, kernels, rated, whole time.Duration) []string {
	rate := func(rows int64) string {
		if rated == 0 {
			return ""
		}
		return fmt.Sprintf("%.1f", float64(rows)/float64(rated.Nanoseconds()))
	}
	bar, kernel := "", ""
	if c.bar > 0 {
		bar = fmt.Sprintf("%.3g", c.bar)
	}
	if kernels > 0 {
		kernel = report.Millis(kernels)
	}
	return []string{
		c.name, fmt.Sprintf("2^%d", c.build), fmt.Sprintf("2^%d", c.probe), kernel, rate(int64(1)<<c.build + int64(1)<<c.probe), rate(out), bar, report.Millis(whole), "✓ totals",
	}
}
