package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/types"
)

// runTPCDS is the command tpcds: TPC-DS's 99 queries over Parquet files that DuckDB's generator wrote, in Radish and in DuckDB, whose answers are compared.
func runTPCDS(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("tpcds", flag.ContinueOnError)
	var set settings
	set.register(fs)
	sf := fs.Float64("sf", 1, "scale factor")
	data := fs.String("data", "", "folder of the tables' Parquet files; empty: build/tpcds/sf<scale factor>, which is made where it is missing")
	queries := fs.String("queries", "../shared/tpcds/queries", "folder of the queries in MySQL's dialect, q01.sql to q99.sql")
	python := fs.String("duckdb-python", "", "a Python interpreter that has the package duckdb; empty: answers are not compared")
	generator := fs.String("generator-python", "", "one whose duckdb has TPC-DS built in, such as duckdb==1.1.3; empty: that of --duckdb-python")
	runs := fs.Int("runs", 3, "hot runs after the first")
	list := fs.String("query", "", "numbers of queries, separated by commas; empty: all")
	estimates := fs.Int("estimates", 0, "instead of times, print so many operators whose rows the planner estimated worst")
	markdown := fs.String("markdown", "", "write the table to this file as markdown, too")
	var profile profiler
	profile.register(fs)
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if *runs < 1 {
		return wrongUsage(fs, "--runs %d: medians need a run", *runs)
	}
	d := tpcdsData{tables: *data, queries: *queries}
	if d.tables == "" {
		d.tables = tpcdsFolder(*sf)
	}
	db, err := openDatabase(set)
	if err != nil {
		return err
	}
	defer db.close()
	if _, err := d.files(); err != nil && *data == "" && *python+*generator != "" {
		if *generator == "" {
			*generator = *python
		}
		if err := generateTPCDS(ctx, *generator, db.threads, *sf, d.tables); err != nil {
			return err
		}
	}
	c := tpcdsComparison{runs: *runs, db: db, scale: *sf}
	if err := c.load(ctx, out, &d, *python); err != nil {
		return err
	}
	if c.duck != nil {
		defer c.duck.close()
	}
	picked, err := d.list(*list)
	if err != nil {
		return err
	}
	if *estimates > 0 {
		return writeEstimates(ctx, out, db, picked, *estimates)
	}
	if err := profile.start(); err != nil {
		return err
	}
	if err := c.run(ctx, out, picked); err != nil {
		return err
	}
	if err := profile.stop(); err != nil {
		return err
	}
	if err := writeReport(&c, out, *markdown); err != nil {
		return err
	}
	return c.failed()
}

// tpcdsComparison is a run of the queries.
type tpcdsComparison struct {
	scale   float64
	runs    int
	db      *database
	duck    *duckDB // nil: there is nothing to compare with
	results []tpcdsResult
}

// tpcdsResult is one query in both engines.
type tpcdsResult struct {
	tpcdsQuery
	rows         int
	first        time.Duration
	radish, duck timings
	device       string
	compared     bool
	err          error
}

func (r *tpcdsResult) ratio() float64 {
	return float64(median(r.radish.clock)) / float64(max(median(r.duck.clock), 1))
}

// load fills both engines' tables.
func (c *tpcdsComparison) load(ctx context.Context, out io.Writer, d *tpcdsData, python string) error {
	script, err := d.script()
	if err != nil {
		return err
	}
	l, err := measureLoad(ctx, c.db, script)
	if err != nil {
		return err
	}
	beside := ""
	if python != "" {
		if c.duck, err = startDuckDB(ctx, python, c.db.threads); err != nil {
			return err
		}
		files, err := d.files()
		if err != nil {
			return err
		}
		for _, f := range files {
			table := strings.TrimSuffix(f[strings.LastIndexByte(f, '/')+1:], ".parquet")
			if _, err := c.duck.add(table, []string{f}, true, false); err != nil {
				return err
			}
		}
		if _, err := c.duck.do("SET default_null_order = 'nulls_first_on_asc_last_on_desc'", false, false); err != nil { // MySQL's
			return err
		}
		beside = "; DuckDB " + c.duck.version
	}
	fmt.Fprintf(out, "TPC-DS, scale factor %s, device %s, %d threads each, medians of %d hot runs%s: %s\n\n", scaleText(c.scale), c.db.device, c.db.threads, c.runs, beside, l)
	return nil
}

var tpcdsColumns = []tableColumn{
	{title: "query", width: 5}, {title: "rows", right: true, width: 5}, {title: "first ms", right: true, width: 9}, {title: "Radish ms", right: true, width: 9},
	{title: "DuckDB ms", right: true, width: 9}, {title: "ratio", right: true, width: 6}, {title: "Radish CPU ms", right: true, width: 13},
	{title: "DuckDB CPU ms", right: true, width: 13}, {title: "device", width: 7}, {title: "results"},
}

func (c *tpcdsComparison) run(ctx context.Context, out io.Writer, queries []tpcdsQuery) error {
	fmt.Fprint(out, textRow(tpcdsColumns, titles(tpcdsColumns)))
	for _, q := range queries {
		r := tpcdsResult{tpcdsQuery: q}
		r.err = c.measure(ctx, &r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.results = append(c.results, r)
		fmt.Fprint(out, textRow(tpcdsColumns, r.cells()))
	}
	return nil
}

// measure runs a query for its first time, compares the answers, and times the query in both engines in turn.
func (c *tpcdsComparison) measure(ctx context.Context, r *tpcdsResult) error {
	rows, first, err := c.db.query(ctx, r.text)
	if err != nil {
		return err
	}
	r.rows, r.first = len(rows), first
	if c.duck != nil && r.duckText != "" {
		if err := c.compare(ctx, r, rows); err != nil {
			return err
		}
		r.compared = true
	}
	for range c.runs {
		if err := r.radish.measure(ctx, c.db, r.text); err != nil {
			return err
		}
		if r.compared {
			if err := c.duck.measure(r.duckText, &r.duck); err != nil {
				return err
			}
		}
	}
	r.device, err = c.db.devices(ctx, r.text)
	return err
}

// compare wants the rows of both engines to be the same, in an order that leaves no ties.
func (c *tpcdsComparison) compare(ctx context.Context, r *tpcdsResult, rows [][]types.Value) error {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
		var err error
		if rows, _, err = c.db.query(ctx, untied(r.text, columns)); err != nil {
			return err
		}
	}
	text := r.duckText
	if columns > 0 {
		text = untied(text, columns)
	}
	reply, err := c.duck.do(text, true, false)
	if err != nil {
		return err
	}
	return sameDSRows(rows, reply.Rows, roundedDS[r.name])
}

// roundedDS are the queries that divide within expressions, where MySQL rounds and DuckDB does not.
var roundedDS = map[string]bool{"Q39": true, "Q58": true, "Q83": true}

// sameDSRows says how two results differ. Rows that are ordered by doubles or divided decimals may change places: then all are sorted as texts.
func sameDSRows(rows [][]types.Value, duck [][]string, rounded bool) error {
	if len(rows) != len(duck) {
		return fmt.Errorf("%d rows, DuckDB gives %d", len(rows), len(duck))
	}
	compare := func() error {
		for i, row := range rows {
			for k, v := range row {
				if !sameDSValue(v, duck[i][k], rounded) {
					return fmt.Errorf("row %d, column %d is %s, DuckDB gives %s", i+1, k+1, v.Text(), duck[i][k])
				}
			}
		}
		return nil
	}
	err := compare()
	if err == nil {
		return nil
	}
	rows, duck = slices.Clone(rows), slices.Clone(duck)
	key := func(s string) string { // without the digits that may differ
		if x, err := strconv.ParseFloat(s, 64); err == nil {
			return strconv.FormatFloat(x, 'e', 2, 64)
		}
		return s
	}
	texts := textRows(rows)
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	byKey := func(a, b []string) int {
		for k := range a {
			if c := strings.Compare(key(a[k]), key(b[k])); c != 0 {
				return c
			}
		}
		return slices.Compare(a, b)
	}
	slices.SortStableFunc(order, func(a, b int) int { return byKey(texts[a], texts[b]) })
	sorted := make([][]types.Value, len(rows))
	for i, at := range order {
		sorted[i] = rows[at]
	}
	rows = sorted
	slices.SortStableFunc(duck, byKey)
	if compare() == nil {
		return nil
	}
	return err
}

// sameDSValue compares a value with DuckDB's text of it. Numbers may differ by one in the last place of a decimal, for which DuckDB has doubles, or by a billionth; by a
// ten thousandth where one of them was rounded on the way.
func sameDSValue(v types.Value, duck string, rounded bool) bool {
	if v.Null {
		return duck == ""
	}
	if v.Text() == duck {
		return true
	}
	x, errX := strconv.ParseFloat(v.Text(), 64)
	y, errY := strconv.ParseFloat(duck, 64)
	if errX != nil || errY != nil {
		return false
	}
	most := 1e-9 * max(math.Abs(x), math.Abs(y))
	if v.Type.Kind == types.KindDecimal {
		most = max(most, 1.001*math.Pow10(-int(v.Type.Scale)))
	}
	if rounded {
		most = max(most, 1e-4*max(math.Abs(x), math.Abs(y), 1))
	}
	return math.Abs(x-y) <= most
}

func (r *tpcdsResult) cells() []string {
	cells := []string{r.name, fmt.Sprint(r.rows)}
	if r.err != nil {
		return append(cells, "", "", "", "", "", "", "", "✗ "+r.err.Error())
	}
	if !r.compared {
		return append(cells, millis(r.first), millis(median(r.radish.clock)), "", "", millis(median(r.radish.cpu)), "", r.device, checkNothing)
	}
	return append(cells, millis(r.first), millis(median(r.radish.clock)), millis(median(r.duck.clock)), fmt.Sprintf("%.2f", r.ratio()),
		millis(median(r.radish.cpu)), millis(median(r.duck.cpu)), r.device, "✓ equal")
}

// writeSummary writes what stands under the table.
func (c *tpcdsComparison) writeSummary(out io.Writer) {
	var ratios []float64
	var slow []string
	var radish, duck, first time.Duration
	for i := range c.results {
		r := &c.results[i]
		if r.err != nil {
			continue
		}
		radish, first = radish+median(r.radish.clock), first+r.first
		if !r.compared {
			continue
		}
		duck += median(r.duck.clock)
		ratios = append(ratios, r.ratio())
		if r.ratio() > 2 {
			slow = append(slow, fmt.Sprintf("%s (%.1f)", r.name, r.ratio()))
		}
	}
	fmt.Fprintf(out, "\nfirst runs %s ms, hot runs %s ms in all", millis(first), millis(radish))
	if len(ratios) > 0 {
		fmt.Fprintf(out, ", DuckDB %s; Radish / DuckDB: geometric mean %.2f, above 2: %s", millis(duck), geometricMean(ratios), cmp.Or(strings.Join(slow, ", "), "none"))
	}
	fmt.Fprintln(out)
}

// writeMarkdown writes the comparison as a section for docs/benchmarks.md.
func (c *tpcdsComparison) writeMarkdown(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(file, "TPC-DS, scale factor %s, Radish %s, device %s, %d threads, medians of %d hot runs; %s, %s.\n\n",
		scaleText(c.scale), radishVersion(), c.db.device, c.db.threads, c.runs, processor(), time.Now().UTC().Format(time.DateOnly))
	var rows [][]string
	for i := range c.results {
		rows = append(rows, c.results[i].cells())
	}
	writeMarkdown(file, tpcdsColumns, rows)
	c.writeSummary(file)
	return file.Close()
}

// failed makes an error of the queries that failed or differed.
func (c *tpcdsComparison) failed() error {
	return countFailures(c.results, "queries", func(r *tpcdsResult) error { return r.err })
}
