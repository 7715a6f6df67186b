package tpch

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

// RunOracle is the command oracle: each query runs in Radish and in DuckDB, which both loaded the same Parquet files,
// and the results are compared. The hot runs of one query in both engines follow each other, so that another load on
// the machine falls on both.
func RunOracle(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("oracle", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	sf := fs.Float64("sf", 1, "scale factor, at least 0.01")
	compress := fs.Bool("duckdb-compress", false,
		"let DuckDB compress its tables (CHECKPOINT), which in memory it does not do by itself")
	dir := fs.String("dir", "", "folder of the Parquet files; empty: build/tpch/sf<scale factor>")
	reuse := fs.Bool("reuse", false, "take the files that are there instead of exporting them anew")
	list := fs.String("query", "", "numbers of queries, separated by commas; empty: all")
	var common peers.Flags
	common.Register(fs, 5, "hot runs after the first", "")
	jsonPath := fs.String("json", "", "write the figures to this file, too")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if err := common.NeedPython(fs, "bench-oracle"); err != nil {
		return err
	}
	if common.Runs < 1 {
		return cli.WrongUsage(fs, "--runs %d: medians need a run", common.Runs)
	}
	queries, err := pickQueries(*sf, *list)
	if err != nil {
		return cli.WrongUsage(fs, "%v", err)
	}
	if *dir == "" {
		*dir = filepath.Join("build", "tpch", "sf"+database.ScaleText(*sf))
	}
	if !*reuse {
		if err := database.ExportApart(ctx, *sf, *dir); err != nil {
			return err
		}
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
	c := comparison{scale: *sf, runs: common.Runs, db: db, duck: duck, compresses: *compress}
	if err := c.load(ctx, out, *dir); err != nil {
		return err
	}
	if err := c.run(ctx, out, queries); err != nil {
		return err
	}
	if err := report.Write(&c, out, common.Markdown); err != nil {
		return err
	}
	if *jsonPath != "" {
		if err := report.WriteJSON(*jsonPath, c.report()); err != nil {
			return err
		}
	}
	return c.failed()
}

// comparison is a run of both engines.
type comparison struct {
	scale                  float64
	runs                   int
	db                     *database.DB
	duck                   *peers.DuckDB
	compresses             bool // DuckDB's tables
	radishLoad, duckLoad   database.Load
	radishPeak, duckDBPeak int64 // resident memory while queries ran
	pairs                  []pair
}

// pair is one query in both engines.
type pair struct {
	query        tpch.Query
	rows         int
	radish, duck database.Timings
	err          error // a query failed or the results differ
}

func (p *pair) ratio() float64 {
	return float64(report.Median(p.radish.Clock)) / float64(report.Median(p.duck.Clock))
}

// cpuRatio is 0 where a time is missing or too short to be counted.
func (p *pair) cpuRatio() float64 {
	radish, duck := report.Median(p.radish.CPU), report.Median(p.duck.CPU)
	if radish <= 0 || duck <= 0 {
		return 0
	}
	return float64(radish) / float64(duck)
}

func (c *comparison) load(ctx context.Context, out io.Writer, dir string) error {
	var err error
	if c.radishLoad, err = database.LoadTPCH(ctx, c.db, dir); err != nil {
		return err
	}
	if c.duckLoad, err = c.duck.Load(dir, c.compresses); err != nil {
		return err
	}
	if c.radishLoad.Rows != c.duckLoad.Rows {
		return fmt.Errorf("the engines loaded different tables: Radish %d rows, DuckDB %d", c.radishLoad.Rows, c.duckLoad.Rows)
	}
	fmt.Fprintf(out, "TPC-H, scale factor %s, %d threads each, medians of %d hot runs; DuckDB %s, %s\n\n",
		database.ScaleText(c.scale), c.db.Threads, c.runs, c.duck.Version, c.tables())
	return nil
}

// tables says how DuckDB holds its tables.
func (c *comparison) tables() string {
	if c.compresses {
		return "tables compressed"
	}
	return "tables not compressed"
}

var oracleColumns = []report.Column{
	report.Text("query", 5), report.Number("rows", 6), report.Number("Radish ms", 0),
	report.Number("DuckDB ms", 0), report.Number("ratio", 6), report.Number("Radish CPU ms", 0),
	report.Number("DuckDB CPU ms", 0), report.Number("CPU ratio", 0), report.Text("results", 0),
}

func (c *comparison) run(ctx context.Context, out io.Writer, queries []tpch.Query) error {
	database.ResetPeakRSS()
	if _, err := c.duck.Do("SELECT 1", false, true); err != nil {
		return err
	}
	fmt.Fprint(out, report.Row(oracleColumns, report.Titles(oracleColumns)))
	for _, q := range queries {
		p := c.runPair(ctx, q)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.pairs = append(c.pairs, p)
		fmt.Fprint(out, report.Row(oracleColumns, p.cells()))
	}
	c.radishPeak = database.PeakRSS()
	last, err := c.duck.Do("SELECT 1", false, false)
	c.duckDBPeak = last.Peak
	return err
}

// runPair compares the results of a query, which warms both engines, and then times it.
func (c *comparison) runPair(ctx context.Context, q tpch.Query) pair {
	p := pair{query: q}
	var rows [][]types.Value
	if rows, _, p.err = c.db.Query(ctx, q.SQL); p.err != nil {
		return p
	}
	p.rows = len(rows)
	reply, err := c.duck.Do(q.SQL, true, false)
	if err != nil {
		p.err = err
		return p
	}
	if p.err = answers.SameResult(q, rows, reply.Rows); p.err != nil {
		return p
	}
	for range c.runs {
		if p.err = p.radish.Measure(ctx, c.db, q.SQL); p.err != nil {
			return p
		}
	}
	for range c.runs {
		if p.err = c.duck.Measure(q.SQL, &p.duck); p.err != nil {
			return p
		}
	}
	return p
}

func (p *pair) cells() []string {
	cells := []string{fmt.Sprintf("Q%d", p.query.Number), fmt.Sprint(p.rows)}
	if p.err != nil {
		return append(cells, "", "", "", "", "", "", "✗ "+p.err.Error())
	}
	return append(cells,
		report.Millis(report.Median(p.radish.Clock)), report.Millis(report.Median(p.duck.Clock)), fmt.Sprintf("%.2f", p.ratio()),
		report.Millis(report.Median(p.radish.CPU)), report.Millis(report.Median(p.duck.CPU)), fmt.Sprintf("%.2f", p.cpuRatio()), "✓ equal")
}

// ratios returns the ratios of the queries that ran and agreed, and the worst of them.
func (c *comparison) ratios() (clock, cpu []float64, worst *pair) {
	for i := range c.pairs {
		p := &c.pairs[i]
		if p.err != nil {
			continue
		}
		clock = append(clock, p.ratio())
		if r := p.cpuRatio(); r > 0 {
			cpu = append(cpu, r)
		}
		if worst == nil || p.ratio() > worst.ratio() {
			worst = p
		}
	}
	return clock, cpu, worst
}

// failed makes an error of the queries that failed or differed; nil if there are none.
func (c *comparison) failed() error {
	if ratios, _, _ := c.ratios(); len(ratios) < len(c.pairs) {
		return fmt.Errorf("%d of %d queries failed or gave different results", len(c.pairs)-len(ratios), len(c.pairs))
	}
	return nil
}

// WriteSummary writes what stands under the table.
func (c *comparison) WriteSummary(out io.Writer) {
	ratios, cpu, worst := c.ratios()
	if worst != nil {
		fmt.Fprintf(out, "\nRadish / DuckDB, %d of %d queries: geometric mean %.2f, highest %.2f (Q%d); "+
			"of processor time, geometric mean %.2f. Below 1 Radish is faster.\n",
			len(ratios), len(c.pairs), report.GeometricMean(ratios), worst.ratio(), worst.query.Number, report.GeometricMean(cpu))
	}
	fmt.Fprintf(out, "Load from Parquet: Radish %.1f s, DuckDB %.1f s; processors %.1f and %.1f s. "+
		"Peak resident memory of the load: Radish %s, DuckDB %s; of the queries: Radish %s, DuckDB %s. Radish's tables: %s.\n",
		c.radishLoad.Took.Seconds(), c.duckLoad.Took.Seconds(), c.radishLoad.CPU.Seconds(), c.duckLoad.CPU.Seconds(),
		report.Bytes(c.radishLoad.Peak), report.Bytes(c.duckLoad.Peak),
		report.Bytes(c.radishPeak), report.Bytes(c.duckDBPeak), report.Bytes(c.radishLoad.Bytes))
}

// Page is the comparison as a section of a page of results.
func (c *comparison) Page() (heading string, columns []report.Column, rows [][]string) {
	heading = fmt.Sprintf("TPC-H, scale factor %s, Radish %s and DuckDB %s (%s), %d threads each, medians of %d hot runs; %s, %s.",
		database.ScaleText(c.scale), database.Version(), c.duck.Version, c.tables(), c.db.Threads, c.runs, database.Processor(), time.Now().UTC().Format(time.DateOnly))
	for i := range c.pairs {
		rows = append(rows, c.pairs[i].cells())
	}
	return heading, oracleColumns, rows
}

// oracleReport is what --json writes. Times are milliseconds, sizes bytes.
type oracleReport struct {
	Scale            float64             `json:"scale_factor"`
	Threads          int                 `json:"threads"`
	Processor        string              `json:"processor"`
	Commit           string              `json:"commit,omitempty"`
	DuckDB           string              `json:"duckdb"`
	DuckDBTables     string              `json:"duckdb_tables"`
	GeometricMean    float64             `json:"geometric_mean_ratio"`
	GeometricMeanCPU float64             `json:"geometric_mean_cpu_ratio"`
	RadishLoad       database.LoadReport `json:"radish_load"`
	DuckDBLoad       database.LoadReport `json:"duckdb_load"`
	RadishPeak       int64               `json:"radish_peak_rss_bytes"`
	DuckDBPeak       int64               `json:"duckdb_peak_rss_bytes"`
	Queries          []oracleTiming      `json:"queries"`
}

type oracleTiming struct {
	Query     int       `json:"query"`
	Rows      int       `json:"rows"`
	Radish    []float64 `json:"radish_ms"`
	RadishCPU []float64 `json:"radish_cpu_ms"`
	DuckDB    []float64 `json:"duckdb_ms"`
	DuckDBCPU []float64 `json:"duckdb_cpu_ms"`
	Ratio     float64   `json:"ratio,omitempty"`
	CPURatio  float64   `json:"cpu_ratio,omitempty"`
	Error     string    `json:"error,omitempty"`
}

func (c *comparison) report() oracleReport {
	ratios, cpu, _ := c.ratios()
	r := oracleReport{
		Scale: c.scale, Threads: c.db.Threads, Processor: database.Processor(), Commit: database.Commit(), DuckDB: c.duck.Version, DuckDBTables: c.tables(),
		GeometricMean: report.GeometricMean(ratios), GeometricMeanCPU: report.GeometricMean(cpu), RadishPeak: c.radishPeak, DuckDBPeak: c.duckDBPeak,
		RadishLoad: c.radishLoad.Report(),
		DuckDBLoad: c.duckLoad.Report(),
	}
	for i := range c.pairs {
		p := &c.pairs[i]
		t := oracleTiming{
			Query: p.query.Number, Rows: p.rows,
			Radish: report.AllMillis(p.radish.Clock), RadishCPU: report.AllMillis(p.radish.CPU), DuckDB: report.AllMillis(p.duck.Clock), DuckDBCPU: report.AllMillis(p.duck.CPU),
		}
		if p.err != nil {
			t.Error = p.err.Error()
		} else {
			t.Ratio, t.CPURatio = p.ratio(), p.cpuRatio()
		}
		r.Queries = append(r.Queries, t)
	}
	return r
}
