// Package groupby groups large tables by keys of several distributions.
package groupby

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	enginedb "github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/types"
)

// groupCase is a distribution of keys with what it has to reach on an H200: billions of rows a second for a sum alone, and for the sum,
// the count and both extremes.
type groupCase struct {
	name     string
	data     drawn.GroupData
	sum, all float64
}

// groupCases are the cases for a number of rows.
func groupCases(rows int64) []groupCase {
	dense := func(n int64) drawn.GroupData { return drawn.GroupData{Rows: rows, Groups: n} }
	hashed := func(n int64, bits int) drawn.GroupData { return drawn.GroupData{Rows: rows, Groups: n, Hashed: bits} }
	return []groupCase{
		{"1e2", dense(1e2), 300, 300},
		{"1e4", dense(1e4), 300, 300},
		{"1e6", dense(1e6), 110, 100},
		{"1e8", dense(1e8), 60, 55},
		{"zipf", drawn.GroupData{Rows: rows, Groups: 1e6, Spread: drawn.ZipfKeys}, 130, 110},
		{"runs", drawn.GroupData{Rows: rows, Groups: rows/4 + 1, Spread: drawn.RunKeys}, 180, 120},
		{"h1e2", hashed(1e2, 32), 280, 220},
		{"h1e4", hashed(1e4, 32), 280, 200},
		{"h1e6", hashed(1e6, 32), 75, 65},
		{"h1e8", hashed(1e8, 32), 55, 50},
		{"w1e2", hashed(1e2, 64), 0, 0},
		{"w1e4", hashed(1e4, 64), 0, 0},
		{"w1e6", hashed(1e6, 64), 0, 0},
		{"w1e8", hashed(1e8, 64), 0, 0},
	}
}

// Query is what is computed of each group.
type Query struct {
	name string
	// Timed makes the groups, reads them all and leaves one row; check leaves a row for each bucket.
	Timed, check string
	hasExtremes  bool
}

func Queries(tableName string) []Query {
	q := func(name, aggs, timed, check string, extremes bool) Query {
		inner := "SELECT k, " + aggs + " FROM " + tableName + " GROUP BY k"
		return Query{
			name: name, Timed: "SELECT COUNT(*), " + timed + " FROM (" + inner + ") g", hasExtremes: extremes,
			check: fmt.Sprintf("SELECT k & %d b, COUNT(*), %s FROM (%s) g GROUP BY k & %d ORDER BY b", drawn.GroupBuckets-1, check, inner, drawn.GroupBuckets-1),
		}
	}
	return []Query{
		q("sum", "SUM(v) s", "SUM(s)", "SUM(s)", false),
		q("sum, count, min, max", "SUM(v) s, COUNT(*) c, MIN(v) lo, MAX(v) hi", "SUM(s), SUM(c), MIN(lo), MAX(hi)", "SUM(s), SUM(c), SUM(lo), SUM(hi)", true),
	}
}

// groupRun is what one query over one table gave.
type groupRun struct {
	c      string
	rows   int64
	groups int64
	query  string
	bar    float64

	device string
	gpus   int
	times  float64       // the statement's time on one GPU is so many times that
	kernel time.Duration // of the pipeline that makes the groups, on the device, their first state included
	bytes  int64         // that it scans
	whole  time.Duration // of the statement
	cpu    time.Duration // of the statement on the CPU; 0: not run
	check  string
	err    error
}

// rate is billions of rows a second.
func (r *groupRun) rate(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return strconv.FormatFloat(float64(r.rows)/float64(d.Nanoseconds()), 'g', 3, 64)
}

var groupColumns = []report.Column{
	report.Text("case", 9), report.Number("rows", 10), report.Number("groups", 9), report.Text("query", 20),
	report.Number("kernel ms", 9), report.Number("G rows/s", 8), report.Number("bar", 5),
	report.Number("GB/s", 6), report.Number("of peak", 7),
	report.Number("query ms", 9), report.Number("G rows/s", 8),
	report.Number("CPU ms", 9), report.Number("CPU G rows/s", 8), report.Text("device", 7),
	report.Number("GPUs", 4), report.Number("× one", 5), report.Text("check", 18),
}

func (r *groupRun) cells() []string {
	bar, gbs, share, kernel, cpu := "", "", "", "", ""
	if r.bar > 0 {
		bar = fmt.Sprintf("%.0f", r.bar)
	}
	if r.kernel > 0 {
		x := float64(r.bytes) / float64(r.kernel.Nanoseconds())
		kernel, gbs, share = report.Millis(r.kernel), fmt.Sprintf("%.0f", x), fmt.Sprintf("%.1f%%", 100*x/database.PeakGBs)
	}
	if r.cpu > 0 {
		cpu = report.Millis(r.cpu)
	}
	check := "✓ " + r.check
	if r.check == "" {
		check = "? " + answers.Unchecked
	}
	if r.err != nil {
		check = "✗ failed, see below"
	}
	return []string{
		r.c, strconv.FormatInt(r.rows, 10), strconv.FormatInt(r.groups, 10), r.query, kernel, r.rate(r.kernel), bar, gbs, share, report.Millis(r.whole), r.rate(r.whole),
		cpu, r.rate(r.cpu), r.device, strconv.Itoa(r.gpus), fmt.Sprintf("%.2f", r.times), check,
	}
}

// Bench runs the cases.
type Bench struct {
	DB      *database.DB
	runs    int
	cpuRuns int
	out     io.Writer
	done    []groupRun
}

// Run is the command groupby.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("groupby", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	rowsText := fs.String("rows", "1e9", "rows of the table")
	list := fs.String("cases", "all", "cases, separated by commas: 1e2, 1e4, 1e6, 1e8 keys, zipf, runs; h1e2 to h1e8: keys spread over 32 bits; "+
		"w1e2 to w1e8: over 64 bits; wide: several keys and several values; none; all")
	runs := fs.Int("runs", 5, "runs whose median is shown, after a first one")
	cpuRuns := fs.Int("cpu-runs", 1, "runs on the CPU beside, which have to give the same; 0: none")
	crossover := fs.Bool("crossover", false, "compare the CPU with the device over tables of a thousand rows up to --rows")
	explain := fs.String("explain", "", "print EXPLAIN ANALYZE of each query (analyze), or the source of its kernels (kernels)")
	markdown := fs.String("markdown", "", "write the table to this file as markdown, too")
	var prof database.Profiler
	prof.Register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	float, err := strconv.ParseFloat(*rowsText, 64)
	if err != nil || float < 1 || float > 1e11 {
		return cli.WrongUsage(fs, "--rows is a number from 1 on, not %q", *rowsText)
	}
	rows := int64(float)
	if *explain != "" && *explain != "analyze" && *explain != "kernels" {
		return cli.WrongUsage(fs, "--explain is analyze or kernels, not %q", *explain)
	}
	cases, wide, err := pickGroupCases(groupCases(rows), *list)
	if err != nil {
		return cli.WrongUsage(fs, "%v", err)
	}
	if set.Device == "auto" {
		set.Device = "gpu"
	}
	prof.Hold()
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	b := &Bench{DB: db, runs: *runs, cpuRuns: *cpuRuns, out: out}
	if err := prof.Start(); err != nil {
		return err
	}
	fmt.Fprintf(out, "group-by over %d rows, device %s, %d threads\n\n%s", rows, db.Device, db.Threads, report.Row(groupColumns, report.Titles(groupColumns)))
	err = b.all(ctx, cases, rows, wide, *explain)
	if profErr := prof.Stop(); err == nil {
		err = profErr
	}
	if err != nil {
		return err
	}
	var crossed []crossing
	if *crossover {
		if crossed, err = b.crossover(ctx, rows); err != nil {
			return err
		}
	}
	if *markdown != "" {
		if err := b.writeMarkdown(*markdown, rows, crossed); err != nil {
			return err
		}
	}
	for _, r := range b.done {
		if r.err != nil {
			fmt.Fprintf(out, "%s, %s: %v\n", r.c, r.query, r.err)
		}
	}
	return report.CountFailures(b.done, "queries", func(r *groupRun) error { return r.err })
}

// pickGroupCases returns the cases that a list of names picks, and whether the wide ones are among them.
func pickGroupCases(cases []groupCase, list string) (picked []groupCase, wide bool, err error) {
	if list == "all" {
		return cases, true, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(cases, func(c groupCase) bool { return c.name == name })
		switch {
		case name == "wide":
			wide = true
		case name == "none":
		case i < 0:
			return nil, false, fmt.Errorf("there is no case %q", name)
		default:
			picked = append(picked, cases[i])
		}
	}
	return picked, wide, nil
}

func (b *Bench) all(ctx context.Context, cases []groupCase, rows int64, wide bool, explain string) error {
	for _, c := range cases {
		err := b.WithTable(ctx, c.data, "t", func(t *drawn.GroupTotals) error {
			for i, q := range Queries("t") {
				bar := []float64{c.sum, c.all}[i]
				if rows != 1e9 {
					bar = 0 // it is of that many rows
				}
				one := time.Duration(0)
				err := b.DB.OnDevices(ctx, func(devices int) error {
					r := b.measure(ctx, groupRun{c: c.name, rows: c.data.Rows, query: q.name, bar: bar}, q, t)
					if devices == 1 {
						one = r.whole
					}
					r.gpus, r.times = devices, float64(one)/float64(max(r.whole, 1))
					b.report(r)
					if err := b.DB.Timelines.Record(ctx, b.DB, fmt.Sprintf("%s, %s on %d GPUs", c.name, q.name, devices), q.Timed); err != nil {
						return err
					}
					how, ok := map[string]string{"analyze": "ANALYZE ", "kernels": "FORMAT = 'kernels' "}[explain]
					if !ok {
						return nil
					}
					lines, _, err := b.DB.Query(ctx, "EXPLAIN "+how+q.Timed)
					fmt.Fprint(b.out, database.JoinText(lines))
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !wide {
		return nil
	}
	return b.wide(ctx, min(rows, 1e8))
}

func (b *Bench) report(r groupRun) {
	b.done = append(b.done, r)
	fmt.Fprint(b.out, report.Row(groupColumns, r.cells()))
}

// WithTable makes a table, calls f and drops the table.
func (b *Bench) WithTable(ctx context.Context, d drawn.GroupData, name string, f func(*drawn.GroupTotals) error) error {
	v, totals, err := d.Build(ctx, d.Schema(enginedb.DefaultDatabase, name))
	if err != nil {
		return err
	}
	if err := b.DB.Engine.Register(v); err != nil {
		return err
	}
	err = f(totals)
	return errors.Join(err, b.DB.Exec(ctx, "DROP TABLE "+name))
}

// measure checks a query and takes its times.
func (b *Bench) measure(ctx context.Context, r groupRun, q Query, t *drawn.GroupTotals) groupRun {
	rows, _, err := b.DB.Query(ctx, q.check)
	if err == nil && t != nil {
		r.check = "totals"
		err = t.Verify(rows, q.hasExtremes)
	}
	if r.err = err; err != nil {
		return r
	}
	for _, row := range rows {
		n, err := strconv.ParseInt(row[1].Text(), 10, 64)
		if err != nil {
			r.err = err
			return r
		}
		r.groups += n
	}
	if r.device, r.err = b.DB.Devices(ctx, q.Timed); r.err != nil {
		return r
	}
	if _, r.err = b.DB.Measure(ctx, q.Timed, nil); r.err != nil {
		return r
	}
	var whole, kernels []time.Duration
	for range b.runs {
		took, err := b.DB.Measure(ctx, q.Timed, nil)
		if err != nil {
			r.err = err
			return r
		}
		whole = append(whole, took)
	}
	for range b.runs {
		kernel, bytes, err := b.DB.FirstPipeline(ctx, q.Timed)
		if err != nil {
			r.err = err
			return r
		}
		kernels, r.bytes = append(kernels, kernel), bytes
	}
	r.whole, r.kernel = report.Median(whole), report.Median(kernels)
	if b.cpuRuns > 0 && b.DB.Device != "cpu" {
		r.cpu, r.err = b.onCPU(ctx, q, rows)
		r.check += ", CPU"
		r.check = strings.TrimPrefix(r.check, ", ")
	}
	return r
}

// onCPU compares with the CPU's result, and times the CPU.
func (b *Bench) onCPU(ctx context.Context, q Query, want [][]types.Value) (took time.Duration, err error) {
	if err := b.DB.SetDevice(ctx, "cpu"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.DB.SetDevice(ctx, b.DB.Device)) }()
	rows, _, err := b.DB.Query(ctx, q.check)
	if err != nil {
		return 0, err
	}
	if err := SameRows(rows, want); err != nil {
		return 0, fmt.Errorf("the CPU gives other rows: %w", err)
	}
	var times []time.Duration
	for range b.cpuRuns {
		took, err := b.DB.Measure(ctx, q.Timed, nil)
		if err != nil {
			return 0, err
		}
		times = append(times, took)
	}
	return report.Median(times), nil
}

func SameRows(a, b [][]types.Value) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d rows, not %d", len(a), len(b))
	}
	for i := range a {
		for c := range a[i] {
			if x, y := a[i][c], b[i][c]; x.Null != y.Null || x.Text() != y.Text() {
				return fmt.Errorf("column %d of row %d is %s, not %s", c+1, i+1, x.Text(), y.Text())
			}
		}
	}
	return nil
}

func (b *Bench) writeMarkdown(path string, rows int64, crossed []crossing) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Group-by over %d rows; %s; device %s", rows, time.Now().UTC().Format(time.DateOnly), b.DB.Device)
	if built := database.Commit(); built != "" {
		fmt.Fprintf(&text, "; commit %s", built)
	}
	text.WriteString("\n\n")
	var cells [][]string
	for _, r := range b.done {
		cells = append(cells, r.cells())
	}
	report.Markdown(&text, groupColumns, cells)
	if len(crossed) > 0 {
		fmt.Fprintln(&text)
		var cells [][]string
		for _, c := range crossed {
			cells = append(cells, c.cells())
		}
		report.Markdown(&text, crossingColumns, cells)
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}
