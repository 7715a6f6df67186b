// Package tpcds runs TPC-DS's 99 queries beside DuckDB.
package tpcds

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
)

// Run is the command tpcds: TPC-DS's 99 queries over Parquet files that DuckDB's generator wrote, in Radish and in DuckDB, whose answers are compared.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("tpcds", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	sf := fs.Float64("sf", 1, "scale factor")
	data := fs.String("data", "",
		"folder of the tables' Parquet files; empty: build/tpcds/sf<scale factor>, which is made where it is missing")
	queries := fs.String("queries", "../shared/tpcds/queries", "folder of the queries in MySQL's dialect, q01.sql to q99.sql")
	generator := fs.String("generator-python", "",
		"one whose duckdb has TPC-DS built in, such as duckdb==1.1.3; empty: that of --duckdb-python")
	list := fs.String("query", "", "numbers of queries, separated by commas; empty: all")
	estimates := fs.Int("estimates", 0, "instead of times, print so many operators whose rows the planner estimated worst")
	var common peers.Flags
	common.Register(fs, 3, "hot runs after the first", "answers are not compared")
	var profile database.Profiler
	profile.Register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if common.Runs < 1 {
		return cli.WrongUsage(fs, "--runs %d: medians need a run", common.Runs)
	}
	d := tpcdsData{tables: *data, queries: *queries}
	if d.tables == "" {
		d.tables = tpcdsFolder(*sf)
	}
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := d.files(); err != nil && *data == "" && common.Python+*generator != "" {
		if *generator == "" {
			*generator = common.Python
		}
		if err := generateTPCDS(ctx, *generator, db.Threads, *sf, d.tables); err != nil {
			return err
		}
	}
	c := tpcdsComparison{runs: common.Runs, db: db, scale: *sf}
	if err := c.load(ctx, out, &d, common.Python); err != nil {
		return err
	}
	if c.duck != nil {
		defer c.duck.Close()
	}
	picked, err := d.list(*list)
	if err != nil {
		return err
	}
	if *estimates > 0 {
		return writeEstimates(ctx, out, db, picked, *estimates)
	}
	if err := profile.Start(); err != nil {
		return err
	}
	if err := c.run(ctx, out, picked); err != nil {
		return err
	}
	if err := profile.Stop(); err != nil {
		return err
	}
	if err := report.Write(&c, out, common.Markdown); err != nil {
		return err
	}
	return c.failed()
}

// tpcdsComparison is a run of the queries.
type tpcdsComparison struct {
	scale   float64
	runs    int
	db      *database.DB
	duck    *peers.DuckDB // nil: there is nothing to compare with
	results []tpcdsResult
}

// tpcdsResult is one query in both engines.
type tpcdsResult struct {
	tpcdsQuery
	rows         int
	first        time.Duration
	radish, duck database.Timings
	device       string
	compared     bool
	err          error
}

func (r *tpcdsResult) ratio() float64 {
	return float64(report.Median(r.radish.Clock)) / float64(max(report.Median(r.duck.Clock), 1))
}

// load fills both engines' tables.
func (c *tpcdsComparison) load(ctx context.Context, out io.Writer, d *tpcdsData, python string) error {
	script, err := d.script()
	if err != nil {
		return err
	}
	l, err := database.MeasureLoad(ctx, c.db, script)
	if err != nil {
		return err
	}
	beside := ""
	if python != "" {
		if c.duck, err = peers.Start(ctx, python, c.db.Threads); err != nil {
			return err
		}
		files, err := d.files()
		if err != nil {
			return err
		}
		for _, f := range files {
			table := strings.TrimSuffix(f[strings.LastIndexByte(f, '/')+1:], ".parquet")
			if _, err := c.duck.Add(table, []string{f}, true, false); err != nil {
				return err
			}
		}
		if _, err := c.duck.Do("SET default_null_order = 'nulls_first_on_asc_last_on_desc'", false, false); err != nil { // MySQL's
			return err
		}
		beside = "; DuckDB " + c.duck.Version
	}
	fmt.Fprintf(out, "TPC-DS, scale factor %s, device %s, %d threads each, medians of %d hot runs%s: %s\n\n", database.ScaleText(c.scale), c.db.Device, c.db.Threads, c.runs, beside, l)
	return nil
}

var tpcdsColumns = []report.Column{
	report.Text("query", 5), report.Number("rows", 5), report.Number("first ms", 9),
	report.Number("Radish ms", 9),
	report.Number("DuckDB ms", 9), report.Number("ratio", 6), report.Number("Radish CPU ms", 13),
	report.Number("DuckDB CPU ms", 13), report.Text("device", 7), report.Text("results", 0),
}

func (c *tpcdsComparison) run(ctx context.Context, out io.Writer, queries []tpcdsQuery) error {
	fmt.Fprint(out, report.Row(tpcdsColumns, report.Titles(tpcdsColumns)))
	for _, q := range queries {
		r := tpcdsResult{tpcdsQuery: q}
		r.err = c.measure(ctx, &r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.results = append(c.results, r)
		fmt.Fprint(out, report.Row(tpcdsColumns, r.cells()))
	}
	return nil
}

// measure runs a query for its first time, compares the answers, and times the query in both engines in turn.
func (c *tpcdsComparison) measure(ctx context.Context, r *tpcdsResult) error {
	rows, first, err := c.db.Query(ctx, r.text)
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
		if err := r.radish.Measure(ctx, c.db, r.text); err != nil {
			return err
		}
		if r.compared {
			if err := c.duck.Measure(r.duckText, &r.duck); err != nil {
				return err
			}
		}
	}
	r.device, err = c.db.Devices(ctx, r.text)
	return err
}

// compare wants the rows of both engines to be the same, in an order that leaves no ties.
func (c *tpcdsComparison) compare(ctx context.Context, r *tpcdsResult, rows [][]types.Value) error {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
		var err error
		if rows, _, err = c.db.Query(ctx, untied(r.text, columns)); err != nil {
			return err
		}
	}
	text := r.duckText
	if columns > 0 {
		text = untied(text, columns)
	}
	reply, err := c.duck.Do(text, true, false)
	if err != nil {
		return err
	}
	return sameDSRows(rows, reply.Rows, roundedDS[r.name])
}

// roundedDS are the queries that divide within expressions, where MySQL rounds and DuckDB does not.
var roundedDS = map[string]bool{"Q39": true, "Q58": true, "Q83": true}

// sameDSRows says how two results differ. Rows that are ordered by doubles or divided decimals may change places: then all are sorted as strings.
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
	texts := answers.TextRows(rows)
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
		return append(cells, report.Millis(r.first), report.Millis(report.Median(r.radish.Clock)), "", "", report.Millis(report.Median(r.radish.CPU)), "", r.device, answers.Unchecked)
	}
	return append(cells, report.Millis(r.first), report.Millis(report.Median(r.radish.Clock)), report.Millis(report.Median(r.duck.Clock)), fmt.Sprintf("%.2f", r.ratio()),
		report.Millis(report.Median(r.radish.CPU)), report.Millis(report.Median(r.duck.CPU)), r.device, "✓ equal")
}

// WriteSummary writes what stands under the table.
func (c *tpcdsComparison) WriteSummary(out io.Writer) {
	var ratios []float64
	var slow []string
	var radish, duck, first time.Duration
	for i := range c.results {
		r := &c.results[i]
		if r.err != nil {
			continue
		}
		radish, first = radish+report.Median(r.radish.Clock), first+r.first
		if !r.compared {
			continue
		}
		duck += report.Median(r.duck.Clock)
		ratios = append(ratios, r.ratio())
		if r.ratio() > 2 {
			slow = append(slow, fmt.Sprintf("%s (%.1f)", r.name, r.ratio()))
		}
	}
	fmt.Fprintf(out, "\nfirst runs %s ms, hot runs %s ms in all", report.Millis(first), report.Millis(radish))
	if len(ratios) > 0 {
		fmt.Fprintf(out, ", DuckDB %s; Radish / DuckDB: geometric mean %.2f, above 2: %s", report.Millis(duck), report.GeometricMean(ratios), cmp.Or(strings.Join(slow, ", "), "none"))
	}
	fmt.Fprintln(out)
}

// Page is the comparison as a section of a page of results.
func (c *tpcdsComparison) Page() (heading string, columns []report.Column, rows [][]string) {
	heading = fmt.Sprintf("TPC-DS, scale factor %s, Radish %s, device %s, %d threads, medians of %d hot runs; %s, %s.",
		database.ScaleText(c.scale), database.Version(), c.db.Device, c.db.Threads, c.runs, database.Processor(), time.Now().UTC().Format(time.DateOnly))
	for i := range c.results {
		rows = append(rows, c.results[i].cells())
	}
	return heading, tpcdsColumns, rows
}

// failed makes an error of the queries that failed or differed.
func (c *tpcdsComparison) failed() error {
	return report.CountFailures(c.results, "queries", func(r *tpcdsResult) error { return r.err })
}
