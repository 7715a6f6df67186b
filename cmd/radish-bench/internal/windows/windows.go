// Package windows times window functions over one large table beside DuckDB.
package windows

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
)

// Run is the command windows: window functions over one generated table in Radish and in DuckDB, which both loaded the
// same Parquet file. The results of each case are compared, by a statement that also tells which row has which value, and by the
// one that is timed. Runs of the two engines alternate, so that another load on the machine falls on both.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("windows", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	rows := fs.Int64("rows", 10_000_000, "rows of the table")
	dir := fs.String("dir", "", "folder of the Parquet file; empty: build/windows")
	reuse := fs.Bool("reuse", false, "take the file that is there instead of writing it anew")
	cases := fs.String("cases", "", "only the cases whose group or text contains one of these words, separated by commas")
	var common peers.Flags
	common.Register(fs, 3, "timed runs", "")
	var profile database.Profiler
	profile.Register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if err := common.NeedPython(fs, "bench-windows"); err != nil {
		return err
	}
	switch {
	case common.Runs < 1:
		return cli.WrongUsage(fs, "--runs %d: medians need a run", common.Runs)
	case *rows < 1 || *rows > math.MaxInt32:
		return cli.WrongUsage(fs, "--rows %d: from 1 to %d", *rows, math.MaxInt32)
	}
	if *dir == "" {
		*dir = filepath.Join("build", "windows")
	}
	path := filepath.Join(*dir, fmt.Sprintf("w%d.parquet", *rows))
	if _, err := os.Stat(path); err != nil || !*reuse {
		if err := ExportTable(ctx, path, *rows); err != nil {
			return err
		}
	}
	if !profile.OfLoad {
		profile.Hold()
	}
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	duck, err := peers.Start(ctx, common.Python, db.Threads)
	if err != nil {
		return err
	}
	defer duck.Close()
	c := Comparison{rows: *rows, runs: common.Runs, DB: db, duck: duck}
	if err := c.load(ctx, path); err != nil {
		return err
	}
	fmt.Fprintf(out, "Window functions over %d rows, %d threads each, medians of %d runs; DuckDB %s\n\n", *rows, db.Threads, common.Runs, duck.Version)
	if err := profile.Start(); err != nil {
		return err
	}
	if err := c.run(ctx, out, pickWindows(*cases)); err != nil {
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

func pickWindows(words string) []Case {
	if words == "" {
		return Cases
	}
	var picked []Case
	for _, c := range Cases {
		text := strings.ToLower(c.group + ": " + c.String())
		for word := range strings.SplitSeq(strings.ToLower(words), ",") {
			if strings.Contains(text, word) {
				picked = append(picked, c)
				break
			}
		}
	}
	return picked
}

func ExportTable(ctx context.Context, path string, rows int64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := writeWindowTable(ctx, file, rows); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// Comparison is a run of both engines.
type Comparison struct {
	rows                   int64
	runs                   int
	DB                     *database.DB
	duck                   *peers.DuckDB
	results                []windowResult
	radishPeak, duckDBPeak int64 // resident memory while statements ran
}

// windowResult is one case in both engines.
type windowResult struct {
	Case
	radish, duck database.Timings
	err          error // a statement failed or the results differ
}

func (r *windowResult) ratio() float64 {
	return float64(report.Median(r.radish.Clock)) / float64(report.Median(r.duck.Clock))
}

func (c *Comparison) load(ctx context.Context, path string) error {
	if err := c.LoadRadish(ctx, path); err != nil {
		return err
	}
	_, err := c.duck.Do("CREATE TABLE w AS SELECT * FROM read_parquet("+database.Quote(path)+")", false, false)
	return err
}

func (c *Comparison) LoadRadish(ctx context.Context, path string) error {
	defs := make([]string, len(windowTable))
	for i, col := range windowTable {
		defs[i] = col.name + " " + col.sql
	}
	for _, sql := range []string{
		"CREATE TABLE w (" + strings.Join(defs, ", ") + ")",
		"INSERT INTO w SELECT * FROM `" + filepath.ToSlash(path) + "`",
	} {
		if err := c.DB.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

var windowColumns = []report.Column{
	report.Text("", 15), report.Text("functions", 100), report.Number("Radish ms", 0),
	report.Number("DuckDB ms", 0),
	report.Number("ratio", 5), report.Number("CPU ratio", 0), report.Text("results", 0),
}

func (c *Comparison) run(ctx context.Context, out io.Writer, cases []Case) error {
	database.ResetPeakRSS()
	if _, err := c.duck.Do("SELECT 1", false, true); err != nil {
		return err
	}
	fmt.Fprint(out, report.Row(windowColumns, report.Titles(windowColumns)))
	for _, x := range cases {
		r := windowResult{Case: x}
		r.err = c.runCase(ctx, &r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.results = append(c.results, r)
		fmt.Fprint(out, report.Row(windowColumns, r.cells()))
	}
	c.radishPeak = database.PeakRSS()
	last, err := c.duck.Do("SELECT 1", false, false)
	c.duckDBPeak = last.Peak
	return err
}

// runCase compares the results of a case, which warms both engines, and then times it.
func (c *Comparison) runCase(ctx context.Context, r *windowResult) error {
	sql := r.Timed()
	for _, statement := range []string{r.checked(), sql} {
		rows, _, err := c.DB.Query(ctx, statement)
		if err != nil {
			return err
		}
		reply, err := c.duck.Do(statement, true, false)
		if err != nil {
			return err
		}
		if err := sameNumbers(rows, reply.Rows, r.exact()); err != nil {
			return err
		}
	}
	for range c.runs {
		if err := r.radish.Measure(ctx, c.DB, sql); err != nil {
			return err
		}
		reply, err := c.duck.Do(sql, false, false)
		if err != nil {
			return err
		}
		r.duck.Add(reply.Took(), peers.FromMillis(reply.CPU))
	}
	return nil
}

// sameNumbers compares one row of numbers. Integers and decimals have to be equal if exact says so; doubles have to be close, since
// engines differ in the order of additions.
func sameNumbers(rows [][]types.Value, duck [][]string, exact bool) error {
	if len(rows) != 1 || len(duck) != 1 || len(rows[0]) != len(duck[0]) {
		return fmt.Errorf("%d rows in Radish and %d in DuckDB", len(rows), len(duck))
	}
	for i, v := range rows[0] {
		theirs := duck[0][i]
		if v.Null || theirs == "" {
			if v.Null && theirs == "" {
				continue
			}
			return fmt.Errorf("column %d: %s in Radish, %q in DuckDB", i+1, v.Text(), theirs)
		}
		a, ok := new(big.Rat).SetString(v.Text())
		b, also := new(big.Rat).SetString(theirs)
		if !ok || !also {
			return fmt.Errorf("column %d: %q in Radish and %q in DuckDB are not both numbers", i+1, v.Text(), theirs)
		}
		if a.Cmp(b) == 0 {
			continue
		}
		x, _ := a.Float64()
		y, _ := b.Float64()
		if exact && !v.Type.IsFloat() || math.Abs(x-y) > answers.CloseEnough*max(math.Abs(x), math.Abs(y)) {
			return fmt.Errorf("column %d: %s in Radish, %s in DuckDB", i+1, v.Text(), theirs)
		}
	}
	return nil
}

func (r *windowResult) cells() []string {
	cells := []string{r.group, r.String()}
	if r.err != nil {
		return append(cells, "", "", "", "", "✗ "+r.err.Error())
	}
	return append(cells, report.Millis(report.Median(r.radish.Clock)), report.Millis(report.Median(r.duck.Clock)), fmt.Sprintf("%.2f", r.ratio()),
		fmt.Sprintf("%.2f", float64(report.Median(r.radish.CPU))/float64(report.Median(r.duck.CPU))), "✓ equal")
}

// failed makes an error of the cases that failed or differed; nil if there are none.
func (c *Comparison) failed() error {
	return report.CountFailures(c.results, "cases", func(r *windowResult) error { return r.err })
}

// WriteSummary writes what stands under the table.
func (c *Comparison) WriteSummary(out io.Writer) {
	var ratios []float64
	slower := 0
	var worst *windowResult
	for i := range c.results {
		r := &c.results[i]
		if r.err != nil {
			continue
		}
		ratios = append(ratios, r.ratio())
		if r.ratio() > 1 {
			slower++
		}
		if worst == nil || r.ratio() > worst.ratio() {
			worst = r
		}
	}
	if worst == nil {
		return
	}
	fmt.Fprintf(out, "\nRadish / DuckDB, %d of %d cases: geometric mean %.2f, highest %.2f (%s), above 1 in %d. Below 1 Radish is faster. "+
		"Peak resident memory, tables included: Radish %s, DuckDB %s.\n",
		len(ratios), len(c.results), report.GeometricMean(ratios), worst.ratio(), &worst.Case, slower, report.Bytes(c.radishPeak), report.Bytes(c.duckDBPeak))
}

// Page is the comparison as a section of a page of results.
func (c *Comparison) Page() (heading string, columns []report.Column, rows [][]string) {
	heading = fmt.Sprintf("%d rows, Radish %s and DuckDB %s, %d threads each, medians of %d runs; %s, %s.",
		c.rows, database.Version(), c.duck.Version, c.DB.Threads, c.runs, database.Processor(), time.Now().UTC().Format(time.DateOnly))
	for i := range c.results {
		cells := c.results[i].cells()
		cells[1] = "`" + cells[1] + "`"
		rows = append(rows, cells)
	}
	return heading, windowColumns, rows
}
