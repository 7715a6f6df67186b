// Package tpch runs TPC-H's 22 queries: demo, tpch, export, oracle, gpus and compile.
package tpch

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/storage/tpch"
)

// tpchOptions are the flags of the command tpch.
type tpchOptions struct {
	set       database.Settings
	sf        float64
	from      string
	answers   string
	runs      int
	list      string
	explain   string
	calls     string
	columns   string
	coldRuns  int
	tables    string
	others    peers.Settings
	markdown  string
	jsonPath  string
	profiling database.Profiler
}

func (o *tpchOptions) register(fs *flag.FlagSet) {
	o.set.Register(fs)
	fs.Float64Var(&o.sf, "sf", 1, "scale factor, at least 0.01")
	fs.StringVar(&o.from, "from", "", "read the tables from this folder of Parquet files instead of generating them")
	fs.StringVar(&o.answers, "verify", "", "folder of published answers (q01.csv to q22.csv) at the same scale factor")
	fs.IntVar(&o.runs, "runs", 5, "hot runs after the first")
	fs.StringVar(&o.list, "query", "", "numbers of queries, separated by commas; empty: all")
	fs.StringVar(&o.explain, "explain", "",
		"numbers of queries to print EXPLAIN ANALYZE of, each after a run of it, and nothing else")
	fs.StringVar(&o.calls, "calls", "",
		"numbers of queries to print the calls of the GPU's library of, in a hot run, and nothing else")
	fs.StringVar(&o.columns, "columns", "all", "columns to generate: all, or used: those that some of the chosen queries name")
	fs.IntVar(&o.coldRuns, "cold", 0,
		"runs of each query, after the hot ones, that find no compiled kernels; first runs do not find any either then")
	fs.StringVar(&o.tables, "table-memory", "",
		"what table columns may take of the GPU's memory, e.g. 8GB: larger tables are read in windows, and the table "+
			"shows at what share of a pinned copy's speed")
	o.others.Register(fs)
	fs.StringVar(&o.markdown, "markdown", "", "write the table to this file as markdown, too")
	fs.StringVar(&o.jsonPath, "json", "", "write the figures to this file, too")
	o.profiling.Register(fs)
}

// check reports flags that do not go together; it chooses the queries that --explain and --calls name.
func (o *tpchOptions) check(fs *flag.FlagSet) error {
	if o.explain != "" {
		o.list = o.explain
	}
	if o.calls != "" {
		o.list = o.calls
	}
	if _, err := pickQueries(o.sf, o.list); err != nil {
		return cli.WrongUsage(fs, "%v", err)
	}
	if o.columns != "all" && o.columns != "used" {
		return cli.WrongUsage(fs, "--columns is all or used, not %q", o.columns)
	}
	if slices.Contains(o.others.Names(), peers.NameOfDuckDB) && o.others.Python == "" {
		return cli.WrongUsage(fs, "--compare duckdb needs --duckdb-python; make bench-oracle makes a virtual environment with one")
	}
	return nil
}

// checkDevice reports flags that need a GPU, where the database has none.
func (o *tpchOptions) checkDevice(fs *flag.FlagSet, db *database.DB) error {
	if o.coldRuns > 0 && db.GPU() == nil {
		return cli.WrongUsage(fs, "--cold is about kernels: it needs --device gpu")
	}
	if o.tables != "" && db.GPU() == nil {
		return cli.WrongUsage(fs, "--table-memory needs --device gpu")
	}
	if o.calls != "" && db.GPU() == nil {
		return cli.WrongUsage(fs, "--calls needs --device gpu")
	}
	return nil
}

// load fills the database.
func (o *tpchOptions) load(ctx context.Context, db *database.DB, s *suite) (database.Load, error) {
	if o.from != "" {
		return database.LoadTPCH(ctx, db, o.from)
	}
	var without []string
	if o.columns == "used" {
		without = database.UnusedColumns(s.queries)
	}
	return database.GenerateTPCH(ctx, db, o.sf, without)
}

// Run is the command tpch.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("tpch", flag.ContinueOnError)
	var o tpchOptions
	o.register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if err := o.check(fs); err != nil {
		return err
	}
	if o.coldRuns > 0 {
		folder, err := database.EmptyKernelCache()
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	if !o.profiling.OfLoad {
		o.profiling.Hold()
	}
	db, err := database.Open(o.set)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := newSuite(db, o.sf, o.list, o.answers, o.runs)
	if err != nil {
		return err
	}
	s.asksCosts, s.coldRuns = true, o.coldRuns
	if err := o.checkDevice(fs, db); err != nil {
		return err
	}
	if o.tables != "" {
		if err := db.Exec(ctx, "SET radish_gpu_table_memory = "+database.Quote(o.tables)); err != nil {
			return err
		}
		s.busRate = db.GPU().BusRate(ctx)
	}
	if o.profiling.OfLoad {
		if err := o.profiling.Start(); err != nil {
			return err
		}
	}
	l, err := o.load(ctx, db, s)
	switch {
	case err != nil:
		return err
	case o.explain != "":
		return o.explainQueries(ctx, out, db, s.queries)
	case o.calls != "":
		return database.TraceQueries(ctx, out, db, s.queries)
	}
	fmt.Fprintf(out, "TPC-H, scale factor %s, %d threads: %v\n\n", database.ScaleText(o.sf), db.Threads, l)
	peers, closePeers, err := o.others.Open(ctx, db, func(duck *peers.DuckDB, compress bool) error { return peers.HandOver(ctx, db, duck, compress) })
	if err != nil {
		return err
	}
	defer closePeers()
	s.peers, s.peerRuns = peers, o.others.Runs
	if o.others.Runs < 0 {
		s.peerRuns = o.runs
	}
	done, err := o.time(ctx, out, s)
	if err != nil {
		return err
	}
	return o.report(out, db, s, l, done)
}

// time runs the queries and prints a row for each.
func (o *tpchOptions) time(ctx context.Context, out io.Writer, s *suite) ([]queryRun, error) {
	table := s.columns()
	database.ResetPeakRSS()
	fmt.Fprint(out, report.Row(table, report.Titles(table)))
	if !o.profiling.OfLoad {
		if err := o.profiling.Start(); err != nil {
			return nil, err
		}
	}
	done, err := s.run(ctx, func(r queryRun) { fmt.Fprint(out, report.Row(table, s.cells(r))) })
	if profErr := o.profiling.Stop(); profErr != nil && err == nil {
		err = profErr
	}
	return done, err
}

// report prints what stands under the table and writes the files that were asked for. Its error says that queries failed.
func (o *tpchOptions) report(out io.Writer, db *database.DB, s *suite, l database.Load, done []queryRun) error {
	peak := database.PeakRSS()
	writeTPCHSummary(out, db, s, done, peak)
	if o.markdown != "" {
		if err := s.writeMarkdown(o.markdown, fmt.Sprintf("TPC-H, scale factor %s: %v", database.ScaleText(o.sf), l), done); err != nil {
			return err
		}
	}
	if o.jsonPath != "" {
		if err := writeTPCHReport(o.jsonPath, o.sf, s, l, done, peak); err != nil {
			return err
		}
	}
	return failed(done)
}

// writeTPCHSummary writes what stands under the table.
func writeTPCHSummary(out io.Writer, db *database.DB, s *suite, done []queryRun, peak int64) {
	var first, hot, cold, uploading, compiling, oneByOne time.Duration
	var bytes, uploaded int64
	compiled := 0
	other := make([]time.Duration, len(s.peers))
	for _, r := range done {
		first, hot = first+r.first, hot+report.Median(r.hot.Clock)
		bytes, uploaded = bytes+r.cost.Bytes, uploaded+r.paid.Uploaded
		uploading, compiling, oneByOne = uploading+r.paid.Uploads.Any, compiling+r.paid.Compiled.Any, oneByOne+r.paid.Compiled.Each
		compiled += r.paid.Compiled.Tasks
		clock, _ := r.medianCold()
		cold = max(cold, clock)
		for i, t := range r.other {
			other[i] += report.Median(t.Clock)
		}
	}
	fmt.Fprintf(out, "\nfirst runs %.2f s, medians of %d hot runs %.2f s in all; peak resident memory %s, of which queries held %s\n",
		first.Seconds(), s.runs, hot.Seconds(), report.Bytes(peak), report.Bytes(db.Engine.MemoryPeak()))
	if uploaded > 0 {
		fmt.Fprintf(out, "first runs brought %s to the GPU in %.2f s, and compiled %d kernels in %.2f s (%.2f s one after the other); hot runs scan %s\n",
			report.Bytes(uploaded), uploading.Seconds(), compiled, compiling.Seconds(), oneByOne.Seconds(), report.Bytes(bytes))
	}
	if s.busRate > 0 {
		fmt.Fprintf(out, "the GPU copies %.1f GB/s from pinned memory; up: what each hot run brought to it\n", s.busRate/1e9)
	}
	if s.coldRuns > 0 {
		fmt.Fprintf(out, "the longest run without compiled kernels, its columns there, took %s ms\n", report.Millis(cold))
	}
	for i, p := range s.peers {
		fmt.Fprintf(out, "%s: medians of %d hot runs %.2f s in all\n", p.Name(), s.peerRuns, other[i].Seconds())
	}
	for _, r := range failures(done) {
		fmt.Fprintf(out, "Q%d: %v\n", r.query.Number, r.err)
	}
}

// columns are the printed columns.
func (s *suite) columns() []report.Column {
	cols := []report.Column{
		report.Text("query", 5), report.Number("rows", 6), report.Number("first ms", 9),
		report.Number("uploaded", 9),
		report.Number("upload ms", 9), report.Number("kernels", 7), report.Number("compile ms", 10),
	}
	if s.coldRuns > 0 {
		cols = append(cols, report.Number("cold ms", 9), report.Number("compile ms", 10))
	}
	cols = append(cols, []report.Column{
		report.Number("hot ms", 9), report.Number("hot CPU ms", 0), report.Number("kernel ms", 9),
		report.Number("scanned", 9), report.Number("GB/s", 6), report.Number("of peak", 7),
		report.Text("device", 7),
	}...)
	if s.busRate > 0 {
		cols = append(cols, report.Number("each up", 9), report.Number("up GB/s", 7), report.Number("of copy", 7))
	}
	for _, p := range s.peers {
		cols = append(cols, report.Number(p.Name()+" ms", 9))
	}
	return append(cols, report.Text("check", 18))
}

// writeMarkdown writes the table of a run to a file.
func (s *suite) writeMarkdown(path, title string, runs []queryRun) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", title)
	var rows [][]string
	for _, r := range runs {
		rows = append(rows, s.cells(r))
	}
	report.Markdown(&b, s.columns(), rows)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// cells are what columns names.
func (s *suite) cells(r queryRun) []string {
	check := r.mark() + " " + r.check
	if r.err != nil {
		check = r.mark() + " failed, see below"
	}
	hot := report.Median(r.hot.Clock)
	uploaded, uploading, compiled, compiling, kernels, rate, share := "", "", "", "", "", "", ""
	if r.paid.Uploaded > 0 {
		uploaded, uploading = report.Bytes(r.paid.Uploaded), report.Millis(r.paid.Uploads.Any)
	}
	if n := r.paid.Compiled.Tasks; n > 0 {
		compiled, compiling = strconv.Itoa(n), report.Millis(r.paid.Compiled.Any)
	}
	if hot > 0 {
		gbs := float64(r.cost.Bytes) / float64(hot.Nanoseconds())
		rate = fmt.Sprintf("%.1f", gbs)
		if r.cost.Kernels > 0 {
			kernels, share = fmt.Sprintf("%.3f", r.cost.Kernels), fmt.Sprintf("%.1f%%", 100*gbs/database.PeakGBs)
		}
	}
	cells := []string{fmt.Sprintf("Q%d", r.query.Number), strconv.Itoa(r.rows), report.Millis(r.first), uploaded, uploading, compiled, compiling}
	if s.coldRuns > 0 {
		clock, compiling := r.medianCold()
		cells = append(cells, report.Millis(clock), report.Millis(compiling))
	}
	cells = append(cells, report.Millis(hot), report.Millis(report.Median(r.hot.CPU)), kernels, report.Bytes(r.cost.Bytes), rate, share, r.device)
	if s.busRate > 0 {
		up, upRate, upShare := "", "", ""
		if r.hotUploads > 0 && hot > 0 {
			rate := float64(r.hotUploads) / hot.Seconds()
			up, upRate, upShare = report.Bytes(r.hotUploads), fmt.Sprintf("%.1f", rate/1e9), fmt.Sprintf("%.0f%%", 100*rate/s.busRate)
		}
		cells = append(cells, up, upRate, upShare)
	}
	for i := range s.peers {
		other := ""
		if i < len(r.other) {
			other = report.Millis(report.Median(r.other[i].Clock))
		}
		cells = append(cells, other)
	}
	return append(cells, check)
}

// explainQueries prints EXPLAIN ANALYZE of queries that have run once, so that statistics are there.
func (o *tpchOptions) explainQueries(ctx context.Context, out io.Writer, db *database.DB, queries []tpch.Query) error {
	for _, q := range queries {
		err := db.OnDevices(ctx, func(devices int) error {
			for range 2 {
				if err := db.Exec(ctx, q.SQL); err != nil {
					return err
				}
			}
			text, err := db.ExplainAnalyze(ctx, q.SQL)
			if db.GPUs > 1 {
				fmt.Fprintf(out, "Q%d on %d GPUs\n%s", q.Number, devices, text)
			} else {
				fmt.Fprintf(out, "Q%d\n%s", q.Number, text)
			}
			if err != nil {
				return err
			}
			title := fmt.Sprintf("Q%d on %d GPUs", q.Number, devices)
			for range o.coldRuns {
				if err := db.Timelines.RecordCold(ctx, db, title+", without compiled kernels", q.SQL); err != nil {
					return err
				}
			}
			return db.Timelines.Record(ctx, db, title, q.SQL)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tpchReport is what --json writes. Times are milliseconds.
type tpchReport struct {
	Scale      float64             `json:"scale_factor"`
	Threads    int                 `json:"threads"`
	Processor  string              `json:"processor"`
	Commit     string              `json:"commit,omitempty"`
	Load       database.LoadReport `json:"load"`
	Queries    []queryReport       `json:"queries"`
	PeakRSS    int64               `json:"peak_rss_bytes"`
	BusRate    float64             `json:"pinned_copy_bytes_per_second,omitempty"`
	MemoryPeak int64               `json:"query_memory_peak_bytes"`
}

type queryReport struct {
	Query  int       `json:"query"`
	Rows   int       `json:"rows"`
	First  float64   `json:"first_ms"`
	Median float64   `json:"hot_median_ms"`
	Hot    []float64 `json:"hot_ms"`
	HotCPU []float64 `json:"hot_cpu_ms"`
	Device string    `json:"device"`
	Bytes  int64     `json:"scanned_bytes,omitempty"`
	Kernel float64   `json:"kernel_ms,omitempty"`
	Check  string    `json:"check"`
	Digest string    `json:"digest,omitempty"`
	HotUp  int64     `json:"hot_uploaded_bytes,omitempty"` // by each hot run
	Error  string    `json:"error,omitempty"`

	// Of the first run. Uploads and compilations of kernels overlap.
	Uploaded   int64   `json:"uploaded_bytes,omitempty"`
	Uploading  float64 `json:"upload_ms,omitempty"`      // while columns were on their way
	Kernels    int     `json:"compiled,omitempty"`       // kernels
	Compiling  float64 `json:"compile_ms,omitempty"`     // while at least one was being compiled
	CompileSum float64 `json:"compile_sum_ms,omitempty"` // of all

	Cold []coldReport `json:"cold,omitempty"`

	Peers map[string][]float64 `json:"peers_ms,omitempty"` // hot runs of each
}

type coldReport struct {
	Clock      float64 `json:"ms"`
	Uploaded   int64   `json:"uploaded_bytes,omitempty"` // what had been given up meanwhile
	Kernels    int     `json:"compiled"`
	Compiling  float64 `json:"compile_ms"`
	CompileSum float64 `json:"compile_sum_ms"`
}

func writeTPCHReport(path string, sf float64, s *suite, l database.Load, runs []queryRun, peak int64) error {
	all := tpchReport{
		Scale: sf, Threads: s.db.Threads, Processor: database.Processor(), Commit: database.Commit(), PeakRSS: peak, MemoryPeak: s.db.Engine.MemoryPeak(), BusRate: s.busRate,
		Load: l.Report(),
	}
	for _, r := range runs {
		q := queryReport{
			Query: r.query.Number, Rows: r.rows, First: report.InMillis(r.first), Median: report.InMillis(report.Median(r.hot.Clock)),
			Hot: report.AllMillis(r.hot.Clock), HotCPU: report.AllMillis(r.hot.CPU), Device: r.device, Bytes: r.cost.Bytes, Kernel: r.cost.Kernels, Check: r.check, Digest: r.digest, HotUp: r.hotUploads,
			Uploaded: r.paid.Uploaded, Uploading: report.InMillis(r.paid.Uploads.Any), Kernels: r.paid.Compiled.Tasks, Compiling: report.InMillis(r.paid.Compiled.Any),
			CompileSum: report.InMillis(r.paid.Compiled.Each),
		}
		for _, c := range r.cold {
			q.Cold = append(q.Cold, coldReport{report.InMillis(c.clock), c.paid.Uploaded, c.paid.Compiled.Tasks, report.InMillis(c.paid.Compiled.Any), report.InMillis(c.paid.Compiled.Each)})
		}
		for i, t := range r.other {
			if q.Peers == nil {
				q.Peers = map[string][]float64{}
			}
			q.Peers[s.peers[i].Name()] = report.AllMillis(t.Clock)
		}
		if r.err != nil {
			q.Error = r.err.Error()
		}
		all.Queries = append(all.Queries, q)
	}
	return report.WriteJSON(path, all)
}
