package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/engine"
	"github.com/radish-sql/radish/sql/types"
)

// groupCase is a distribution of keys with what it has to reach on an H200: billions of rows a second for a sum alone, and for the sum,
// the count and both extremes.
type groupCase struct {
	name     string
	data     groupData
	sum, all float64
}

// groupCases are the cases for a number of rows.
func groupCases(rows int64) []groupCase {
	dense := func(n int64) groupData { return groupData{rows: rows, groups: n} }
	hashed := func(n int64, bits int) groupData { return groupData{rows: rows, groups: n, hashed: bits} }
	return []groupCase{
		{"1e2", dense(1e2), 300, 300},
		{"1e4", dense(1e4), 300, 300},
		{"1e6", dense(1e6), 110, 100},
		{"1e8", dense(1e8), 60, 55},
		{"zipf", groupData{rows: rows, groups: 1e6, spread: zipfKeys}, 130, 110},
		{"runs", groupData{rows: rows, groups: rows/4 + 1, spread: runKeys}, 180, 120},
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

// groupQuery is what is computed of each group.
type groupQuery struct {
	name string
	// timed makes the groups, reads them all and leaves one row; check leaves a row for each bucket.
	timed, check string
	extremes     bool
}

func groupQueries(tableName string) []groupQuery {
	q := func(name, aggs, timed, check string, extremes bool) groupQuery {
		inner := "SELECT k, " + aggs + " FROM " + tableName + " GROUP BY k"
		return groupQuery{
			name: name, timed: "SELECT COUNT(*), " + timed + " FROM (" + inner + ") g", extremes: extremes,
			check: fmt.Sprintf("SELECT k & %d b, COUNT(*), %s FROM (%s) g GROUP BY k & %d ORDER BY b", groupBuckets-1, check, inner, groupBuckets-1),
		}
	}
	return []groupQuery{
		q("sum", "SUM(v) s", "SUM(s)", "SUM(s)", false),
		q("sum, count, min, max", "SUM(v) s, COUNT(*) c, MIN(v) lo, MAX(v) hi", "SUM(s), SUM(c), MIN(lo), MAX(hi)", "SUM(s), SUM(c), SUM(lo), SUM(hi)", true),
	}
}

// verify compares the rows of a check query with the totals.
func (t *groupTotals) verify(rows [][]types.Value, extremes bool) error {
	at := 0
	for b := range groupBuckets {
		if t.rows[b] == 0 {
			continue
		}
		want := []int64{int64(b), t.groups[b], t.sum[b]}
		if extremes {
			want = append(want, t.rows[b])
			if t.least != nil {
				want = append(want, t.leastSum[b], t.greatestSum[b])
			}
		}
		if at >= len(rows) {
			return fmt.Errorf("no row for bucket %d", b)
		}
		for i, w := range want {
			if got := rows[at][i].Text(); got != strconv.FormatInt(w, 10) {
				return fmt.Errorf("column %d of bucket %d is %s, want %d", i+1, b, got, w)
			}
		}
		at++
	}
	if at != len(rows) {
		return fmt.Errorf("%d rows, want %d", len(rows), at)
	}
	return nil
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

var groupColumns = []tableColumn{
	{title: "case", width: 9}, {title: "rows", right: true, width: 10}, {title: "groups", right: true, width: 9}, {title: "query", width: 20},
	{title: "kernel ms", right: true, width: 9}, {title: "G rows/s", right: true, width: 8}, {title: "bar", right: true, width: 5},
	{title: "GB/s", right: true, width: 6}, {title: "of peak", right: true, width: 7},
	{title: "query ms", right: true, width: 9}, {title: "G rows/s", right: true, width: 8},
	{title: "CPU ms", right: true, width: 9}, {title: "CPU G rows/s", right: true, width: 8}, {title: "device", width: 7}, {title: "GPUs", right: true, width: 4}, {title: "× one", right: true, width: 5}, {title: "check", width: 18},
}

func (r *groupRun) cells() []string {
	bar, gbs, share, kernel, cpu := "", "", "", "", ""
	if r.bar > 0 {
		bar = fmt.Sprintf("%.0f", r.bar)
	}
	if r.kernel > 0 {
		x := float64(r.bytes) / float64(r.kernel.Nanoseconds())
		kernel, gbs, share = millis(r.kernel), fmt.Sprintf("%.0f", x), fmt.Sprintf("%.1f%%", 100*x/peakGBs)
	}
	if r.cpu > 0 {
		cpu = millis(r.cpu)
	}
	check := "✓ " + r.check
	if r.check == "" {
		check = "? " + checkNothing
	}
	if r.err != nil {
		check = "✗ failed, see below"
	}
	return []string{
		r.c, strconv.FormatInt(r.rows, 10), strconv.FormatInt(r.groups, 10), r.query, kernel, r.rate(r.kernel), bar, gbs, share, millis(r.whole), r.rate(r.whole),
		cpu, r.rate(r.cpu), r.device, strconv.Itoa(r.gpus), fmt.Sprintf("%.2f", r.times), check,
	}
}

// groupBench runs the cases.
type groupBench struct {
	db      *database
	runs    int
	cpuRuns int
	out     io.Writer
	done    []groupRun
}

// runGroupBy is the command groupby.
func runGroupBy(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("groupby", flag.ContinueOnError)
	var set settings
	set.register(fs)
	rowsText := fs.String("rows", "1e9", "rows of the table")
	list := fs.String("cases", "all", "cases, separated by commas: 1e2, 1e4, 1e6, 1e8 keys, zipf, runs; h1e2 to h1e8: keys spread over 32 bits; "+
		"w1e2 to w1e8: over 64 bits; wide: several keys and several values; none; all")
	runs := fs.Int("runs", 5, "runs whose median is shown, after a first one")
	cpuRuns := fs.Int("cpu-runs", 1, "runs on the CPU beside, which have to give the same; 0: none")
	crossover := fs.Bool("crossover", false, "compare the CPU with the device over tables of a thousand rows up to --rows")
	explain := fs.String("explain", "", "print EXPLAIN ANALYZE of each query (analyze), or the source of its kernels (kernels)")
	markdown := fs.String("markdown", "", "write the table to this file as markdown, too")
	var prof profiler
	prof.register(fs)
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	float, err := strconv.ParseFloat(*rowsText, 64)
	if err != nil || float < 1 || float > 1e11 {
		return wrongUsage(fs, "--rows is a number from 1 on, not %q", *rowsText)
	}
	rows := int64(float)
	if *explain != "" && *explain != "analyze" && *explain != "kernels" {
		return wrongUsage(fs, "--explain is analyze or kernels, not %q", *explain)
	}
	cases, wide, err := pickGroupCases(groupCases(rows), *list)
	if err != nil {
		return wrongUsage(fs, "%v", err)
	}
	if set.device == "auto" {
		set.device = "gpu"
	}
	prof.hold()
	db, err := openDatabase(set)
	if err != nil {
		return err
	}
	defer db.close()
	b := &groupBench{db: db, runs: *runs, cpuRuns: *cpuRuns, out: out}
	if err := prof.start(); err != nil {
		return err
	}
	fmt.Fprintf(out, "group-by over %d rows, device %s, %d threads\n\n%s", rows, db.device, db.threads, textRow(groupColumns, titles(groupColumns)))
	err = b.all(ctx, cases, rows, wide, *explain)
	if profErr := prof.stop(); err == nil {
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
	return countFailures(b.done, "queries", func(r *groupRun) error { return r.err })
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

func (b *groupBench) all(ctx context.Context, cases []groupCase, rows int64, wide bool, explain string) error {
	for _, c := range cases {
		err := b.withTable(ctx, c.data, "t", func(t *groupTotals) error {
			for i, q := range groupQueries("t") {
				bar := []float64{c.sum, c.all}[i]
				if rows != 1e9 {
					bar = 0 // it is of that many rows
				}
				one := time.Duration(0)
				err := b.db.onDevices(ctx, func(devices int) error {
					r := b.measure(ctx, groupRun{c: c.name, rows: c.data.rows, query: q.name, bar: bar}, q, t)
					if devices == 1 {
						one = r.whole
					}
					r.gpus, r.times = devices, float64(one)/float64(max(r.whole, 1))
					b.report(r)
					if err := b.db.timelines.record(ctx, b.db, fmt.Sprintf("%s, %s on %d GPUs", c.name, q.name, devices), q.timed); err != nil {
						return err
					}
					how, ok := map[string]string{"analyze": "ANALYZE ", "kernels": "FORMAT = 'kernels' "}[explain]
					if !ok {
						return nil
					}
					lines, _, err := b.db.query(ctx, "EXPLAIN "+how+q.timed)
					fmt.Fprint(b.out, joinText(lines))
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

func (b *groupBench) report(r groupRun) {
	b.done = append(b.done, r)
	fmt.Fprint(b.out, textRow(groupColumns, r.cells()))
}

// withTable makes a table, calls f and drops the table.
func (b *groupBench) withTable(ctx context.Context, d groupData, name string, f func(*groupTotals) error) error {
	v, totals, err := d.build(ctx, d.schema(engine.DefaultDatabase, name))
	if err != nil {
		return err
	}
	if err := b.db.engine.Register(v); err != nil {
		return err
	}
	err = f(totals)
	return errors.Join(err, b.db.exec(ctx, "DROP TABLE "+name))
}

// measure checks a query and takes its times.
func (b *groupBench) measure(ctx context.Context, r groupRun, q groupQuery, t *groupTotals) groupRun {
	rows, _, err := b.db.query(ctx, q.check)
	if err == nil && t != nil {
		r.check = "totals"
		err = t.verify(rows, q.extremes)
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
	if r.device, r.err = b.db.devices(ctx, q.timed); r.err != nil {
		return r
	}
	if _, r.err = b.db.measure(ctx, q.timed, nil); r.err != nil {
		return r
	}
	var whole, kernels []time.Duration
	for range b.runs {
		took, err := b.db.measure(ctx, q.timed, nil)
		if err != nil {
			r.err = err
			return r
		}
		whole = append(whole, took)
	}
	for range b.runs {
		kernel, bytes, err := b.db.firstPipeline(ctx, q.timed)
		if err != nil {
			r.err = err
			return r
		}
		kernels, r.bytes = append(kernels, kernel), bytes
	}
	r.whole, r.kernel = median(whole), median(kernels)
	if b.cpuRuns > 0 && b.db.device != "cpu" {
		r.cpu, r.err = b.onCPU(ctx, q, rows)
		r.check += ", CPU"
		r.check = strings.TrimPrefix(r.check, ", ")
	}
	return r
}

// onCPU compares with the CPU's result, and times the CPU.
func (b *groupBench) onCPU(ctx context.Context, q groupQuery, want [][]types.Value) (took time.Duration, err error) {
	if err := b.db.setDevice(ctx, "cpu"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.db.setDevice(ctx, b.db.device)) }()
	rows, _, err := b.db.query(ctx, q.check)
	if err != nil {
		return 0, err
	}
	if err := sameRows(rows, want); err != nil {
		return 0, fmt.Errorf("the CPU gives other rows: %w", err)
	}
	var times []time.Duration
	for range b.cpuRuns {
		took, err := b.db.measure(ctx, q.timed, nil)
		if err != nil {
			return 0, err
		}
		times = append(times, took)
	}
	return median(times), nil
}

func sameRows(a, b [][]types.Value) error {
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

// firstPipeline returns the time of a query's first pipeline on the GPU, with that of giving its groups their first state, and the bytes of columns that it scans.
func (d *database) firstPipeline(ctx context.Context, sql string) (kernel time.Duration, bytes int64, err error) {
	rows, _, err := d.query(ctx, "EXPLAIN ANALYZE FORMAT = 'json' "+sql)
	if err != nil {
		return 0, 0, err
	}
	var plan struct {
		Pipelines []struct {
			Actual *struct {
				Bytes  int64   `json:"bytes"`
				Kernel float64 `json:"kernel_ms"`
				Fill   float64 `json:"fill_ms"`
			}
		}
	}
	if err := json.Unmarshal([]byte(joinText(rows)), &plan); err != nil {
		return 0, 0, fmt.Errorf("EXPLAIN ANALYZE FORMAT = 'json': %w", err)
	}
	if len(plan.Pipelines) == 0 || plan.Pipelines[0].Actual == nil {
		return 0, 0, nil // on the CPU
	}
	a := plan.Pipelines[0].Actual
	return time.Duration((a.Kernel + a.Fill) * float64(time.Millisecond)), a.Bytes, nil
}

func (b *groupBench) writeMarkdown(path string, rows int64, crossed []crossing) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Group-by over %d rows; %s; device %s", rows, time.Now().UTC().Format(time.DateOnly), b.db.device)
	if built := commit(); built != "" {
		fmt.Fprintf(&text, "; commit %s", built)
	}
	text.WriteString("\n\n")
	var cells [][]string
	for _, r := range b.done {
		cells = append(cells, r.cells())
	}
	writeMarkdown(&text, groupColumns, cells)
	if len(crossed) > 0 {
		fmt.Fprintln(&text)
		var cells [][]string
		for _, c := range crossed {
			cells = append(cells, c.cells())
		}
		writeMarkdown(&text, crossingColumns, cells)
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}
