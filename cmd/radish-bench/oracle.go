package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

// runOracle is the command oracle: each query runs in Radish and in DuckDB, which both loaded the same Parquet files,
// and the results are compared. The hot runs of one query in both engines follow each other, so that another load on
// the machine falls on both.
func runOracle(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("oracle", flag.ContinueOnError)
	var set settings
	set.register(fs)
	sf := fs.Float64("sf", 1, "scale factor, at least 0.01")
	python := fs.String("duckdb-python", "", "a Python interpreter that has the package duckdb")
	compress := fs.Bool("duckdb-compress", false, "let DuckDB compress its tables (CHECKPOINT), which in memory it does not do by itself")
	dir := fs.String("dir", "", "folder of the Parquet files; empty: build/tpch/sf<scale factor>")
	reuse := fs.Bool("reuse", false, "take the files that are there instead of exporting them anew")
	runs := fs.Int("runs", 5, "hot runs after the first")
	list := fs.String("query", "", "numbers of queries, separated by commas; empty: all")
	markdown := fs.String("markdown", "", "write the table to this file as markdown, too")
	jsonPath := fs.String("json", "", "write the figures to this file, too")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if *python == "" {
		return wrongUsage(fs, "--duckdb-python is missing; make bench-oracle makes a virtual environment and gives its python")
	}
	if *runs < 1 {
		return wrongUsage(fs, "--runs %d: medians need a run", *runs)
	}
	queries, err := pickQueries(*sf, *list)
	if err != nil {
		return wrongUsage(fs, "%v", err)
	}
	if *dir == "" {
		*dir = filepath.Join("build", "tpch", "sf"+scaleText(*sf))
	}
	if !*reuse {
		if err := exportApart(ctx, *sf, *dir); err != nil {
			return err
		}
	}
	db, err := openDatabase(set)
	if err != nil {
		return err
	}
	defer db.close()
	duck, err := startDuckDB(ctx, *python, db.threads)
	if err != nil {
		return err
	}
	defer duck.close()
	c := comparison{scale: *sf, runs: *runs, db: db, duck: duck, compress: *compress}
	if err := c.load(ctx, out, *dir); err != nil {
		return err
	}
	if err := c.run(ctx, out, queries); err != nil {
		return err
	}
	if err := writeReport(&c, out, *markdown); err != nil {
		return err
	}
	if *jsonPath != "" {
		if err := writeJSON(*jsonPath, c.report()); err != nil {
			return err
		}
	}
	return c.failed()
}

// exportApart exports in a process of its own: what it allocates must not count as this one's memory.
func exportApart(ctx context.Context, sf float64, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	export := exec.CommandContext(ctx, self, "export", "--sf", scaleText(sf), "--dir", dir)
	export.Stdout, export.Stderr = os.Stderr, os.Stderr
	if err := export.Run(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// comparison is a run of both engines.
type comparison struct {
	scale                  float64
	runs                   int
	db                     *database
	duck                   *duckDB
	compress               bool // DuckDB's tables
	radishLoad, duckLoad   load
	radishPeak, duckDBPeak int64 // resident memory while queries ran
	pairs                  []pair
}

// pair is one query in both engines.
type pair struct {
	query        tpch.Query
	rows         int
	radish, duck timings
	err          error // a query failed or the results differ
}

func (p *pair) ratio() float64 {
	return float64(median(p.radish.clock)) / float64(median(p.duck.clock))
}

// cpuRatio is 0 where a time is missing or too short to be counted.
func (p *pair) cpuRatio() float64 {
	radish, duck := median(p.radish.cpu), median(p.duck.cpu)
	if radish <= 0 || duck <= 0 {
		return 0
	}
	return float64(radish) / float64(duck)
}

func (c *comparison) load(ctx context.Context, out io.Writer, dir string) error {
	var err error
	if c.radishLoad, err = loadParquet(ctx, c.db, dir); err != nil {
		return err
	}
	if c.duckLoad, err = c.duck.load(dir, c.compress); err != nil {
		return err
	}
	if c.radishLoad.rows != c.duckLoad.rows {
		return fmt.Errorf("the engines loaded different tables: Radish %d rows, DuckDB %d", c.radishLoad.rows, c.duckLoad.rows)
	}
	fmt.Fprintf(out, "TPC-H, scale factor %s, %d threads each, medians of %d hot runs; DuckDB %s, %s\n\n",
		scaleText(c.scale), c.db.threads, c.runs, c.duck.version, c.tables())
	return nil
}

// tables says how DuckDB holds its tables.
func (c *comparison) tables() string {
	if c.compress {
		return "tables compressed"
	}
	return "tables not compressed"
}

var oracleColumns = []tableColumn{
	{title: "query", width: 5}, {title: "rows", right: true, width: 6}, {title: "Radish ms", right: true},
	{title: "DuckDB ms", right: true}, {title: "ratio", right: true, width: 6}, {title: "Radish CPU ms", right: true},
	{title: "DuckDB CPU ms", right: true}, {title: "CPU ratio", right: true}, {title: "results"},
}

func (c *comparison) run(ctx context.Context, out io.Writer, queries []tpch.Query) error {
	resetPeakRSS()
	if _, err := c.duck.do("SELECT 1", false, true); err != nil {
		return err
	}
	fmt.Fprint(out, textRow(oracleColumns, titles(oracleColumns)))
	for _, q := range queries {
		p := c.runPair(ctx, q)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.pairs = append(c.pairs, p)
		fmt.Fprint(out, textRow(oracleColumns, p.cells()))
	}
	c.radishPeak = peakRSS()
	last, err := c.duck.do("SELECT 1", false, false)
	c.duckDBPeak = last.Peak
	return err
}

// runPair compares the results of a query, which warms both engines, and then times it.
func (c *comparison) runPair(ctx context.Context, q tpch.Query) pair {
	p := pair{query: q}
	var rows [][]types.Value
	if rows, _, p.err = c.db.query(ctx, q.SQL); p.err != nil {
		return p
	}
	p.rows = len(rows)
	reply, err := c.duck.do(q.SQL, true, false)
	if err != nil {
		p.err = err
		return p
	}
	if p.err = sameResult(q, rows, reply.Rows); p.err != nil {
		return p
	}
	for range c.runs {
		if p.err = p.radish.measure(ctx, c.db, q.SQL); p.err != nil {
			return p
		}
	}
	for range c.runs {
		if p.err = c.duck.measure(q.SQL, &p.duck); p.err != nil {
			return p
		}
	}
	return p
}

// sameResult compares Radish's rows with DuckDB's, as with a published answer.
func sameResult(q tpch.Query, rows [][]types.Value, duck [][]string) error {
	answer := tpch.Answer{Query: q, Rows: duck}
	if len(duck) > 0 {
		answer.Columns = make([]string, len(duck[0])) // names are only for messages
	}
	_, err := answer.Compare(rows)
	return err
}

func (p *pair) cells() []string {
	cells := []string{fmt.Sprintf("Q%d", p.query.Number), fmt.Sprint(p.rows)}
	if p.err != nil {
		return append(cells, "", "", "", "", "", "", "✗ "+p.err.Error())
	}
	return append(cells,
		millis(median(p.radish.clock)), millis(median(p.duck.clock)), fmt.Sprintf("%.2f", p.ratio()),
		millis(median(p.radish.cpu)), millis(median(p.duck.cpu)), fmt.Sprintf("%.2f", p.cpuRatio()), "✓ equal")
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

// writeSummary writes what stands under the table.
func (c *comparison) writeSummary(out io.Writer) {
	ratios, cpu, worst := c.ratios()
	if worst != nil {
		fmt.Fprintf(out, "\nRadish / DuckDB, %d of %d queries: geometric mean %.2f, highest %.2f (Q%d); "+
			"of processor time, geometric mean %.2f. Below 1 Radish is faster.\n",
			len(ratios), len(c.pairs), geometricMean(ratios), worst.ratio(), worst.query.Number, geometricMean(cpu))
	}
	fmt.Fprintf(out, "Load from Parquet: Radish %.1f s, DuckDB %.1f s; processors %.1f and %.1f s. "+
		"Peak resident memory of the load: Radish %s, DuckDB %s; of the queries: Radish %s, DuckDB %s. Radish's tables: %s.\n",
		c.radishLoad.took.Seconds(), c.duckLoad.took.Seconds(), c.radishLoad.cpu.Seconds(), c.duckLoad.cpu.Seconds(),
		byteText(c.radishLoad.peak), byteText(c.duckLoad.peak),
		byteText(c.radishPeak), byteText(c.duckDBPeak), byteText(c.radishLoad.bytes))
}

// writeMarkdown writes the comparison as a section for docs/benchmarks.md.
func (c *comparison) writeMarkdown(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(file, "TPC-H, scale factor %s, Radish %s and DuckDB %s (%s), %d threads each, medians of %d hot runs; %s, %s.\n\n",
		scaleText(c.scale), radishVersion(), c.duck.version, c.tables(), c.db.threads, c.runs, processor(), time.Now().UTC().Format(time.DateOnly))
	var rows [][]string
	for i := range c.pairs {
		rows = append(rows, c.pairs[i].cells())
	}
	writeMarkdown(file, oracleColumns, rows)
	c.writeSummary(file)
	return file.Close()
}

// oracleReport is what --json writes. Times are milliseconds, sizes bytes.
type oracleReport struct {
	Scale            float64        `json:"scale_factor"`
	Threads          int            `json:"threads"`
	Processor        string         `json:"processor"`
	Commit           string         `json:"commit,omitempty"`
	DuckDB           string         `json:"duckdb"`
	DuckDBTables     string         `json:"duckdb_tables"`
	GeometricMean    float64        `json:"geometric_mean_ratio"`
	GeometricMeanCPU float64        `json:"geometric_mean_cpu_ratio"`
	RadishLoad       loadReport     `json:"radish_load"`
	DuckDBLoad       loadReport     `json:"duckdb_load"`
	RadishPeak       int64          `json:"radish_peak_rss_bytes"`
	DuckDBPeak       int64          `json:"duckdb_peak_rss_bytes"`
	Queries          []oracleTiming `json:"queries"`
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
		Scale: c.scale, Threads: c.db.threads, Processor: processor(), Commit: commit(), DuckDB: c.duck.version, DuckDBTables: c.tables(),
		GeometricMean: geometricMean(ratios), GeometricMeanCPU: geometricMean(cpu), RadishPeak: c.radishPeak, DuckDBPeak: c.duckDBPeak,
		RadishLoad: c.radishLoad.report(),
		DuckDBLoad: c.duckLoad.report(),
	}
	for i := range c.pairs {
		p := &c.pairs[i]
		t := oracleTiming{
			Query: p.query.Number, Rows: p.rows,
			Radish: allMillis(p.radish.clock), RadishCPU: allMillis(p.radish.cpu), DuckDB: allMillis(p.duck.clock), DuckDBCPU: allMillis(p.duck.cpu),
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
