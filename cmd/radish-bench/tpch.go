package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/storage/tpch"
)

// tpchOptions are the flags of the command tpch.
type tpchOptions struct {
	set       settings
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
	others    peerSettings
	markdown  string
	jsonPath  string
	profiling profiler
}

func (o *tpchOptions) register(fs *flag.FlagSet) {
	o.set.register(fs)
	fs.Float64Var(&o.sf, "sf", 1, "scale factor, at least 0.01")
	fs.StringVar(&o.from, "from", "", "read the tables from this folder of Parquet files instead of generating them")
	fs.StringVar(&o.answers, "verify", "", "folder of published answers (q01.csv to q22.csv) at the same scale factor")
	fs.IntVar(&o.runs, "runs", 5, "hot runs after the first")
	fs.StringVar(&o.list, "query", "", "numbers of queries, separated by commas; empty: all")
	fs.StringVar(&o.explain, "explain", "", "numbers of queries to print EXPLAIN ANALYZE of, each after a run of it, and nothing else")
	fs.StringVar(&o.calls, "calls", "", "numbers of queries to print the calls of the GPU's library of, in a hot run, and nothing else")
	fs.StringVar(&o.columns, "columns", "all", "columns to generate: all, or used: those that some of the chosen queries name")
	fs.IntVar(&o.coldRuns, "cold", 0, "runs of each query, after the hot ones, that find no compiled kernels; first runs do not find any either then")
	fs.StringVar(&o.tables, "table-memory", "", "what table columns may take of the GPU's memory, e.g. 8GB: larger tables are read in windows, and the table shows at what share of a pinned copy's speed")
	o.others.register(fs)
	fs.StringVar(&o.markdown, "markdown", "", "write the table to this file as markdown, too")
	fs.StringVar(&o.jsonPath, "json", "", "write the figures to this file, too")
	o.profiling.register(fs)
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
		return wrongUsage(fs, "%v", err)
	}
	if o.columns != "all" && o.columns != "used" {
		return wrongUsage(fs, "--columns is all or used, not %q", o.columns)
	}
	if slices.Contains(o.others.names(), peerDuckDB) && o.others.python == "" {
		return wrongUsage(fs, "--compare duckdb needs --duckdb-python; make bench-oracle makes a virtual environment with one")
	}
	return nil
}

// checkDevice reports flags that need a GPU, where the database has none.
func (o *tpchOptions) checkDevice(fs *flag.FlagSet, db *database) error {
	if o.coldRuns > 0 && db.gpu() == nil {
		return wrongUsage(fs, "--cold is about kernels: it needs --device gpu")
	}
	if o.tables != "" && db.gpu() == nil {
		return wrongUsage(fs, "--table-memory needs --device gpu")
	}
	if o.calls != "" && db.gpu() == nil {
		return wrongUsage(fs, "--calls needs --device gpu")
	}
	return nil
}

// load fills the database.
func (o *tpchOptions) load(ctx context.Context, db *database, s *suite) (load, error) {
	if o.from != "" {
		return loadParquet(ctx, db, o.from)
	}
	var without []string
	if o.columns == "used" {
		without = unusedColumns(s.queries)
	}
	return generate(ctx, db, o.sf, without)
}

// runTPCH is the command tpch.
func runTPCH(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("tpch", flag.ContinueOnError)
	var o tpchOptions
	o.register(fs)
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if err := o.check(fs); err != nil {
		return err
	}
	if o.coldRuns > 0 {
		folder, err := emptyKernelCache()
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	if !o.profiling.load {
		o.profiling.hold()
	}
	db, err := openDatabase(o.set)
	if err != nil {
		return err
	}
	defer db.close()
	s, err := newSuite(db, o.sf, o.list, o.answers, o.runs)
	if err != nil {
		return err
	}
	s.costs, s.coldRuns = true, o.coldRuns
	if err := o.checkDevice(fs, db); err != nil {
		return err
	}
	if o.tables != "" {
		if err := db.exec(ctx, "SET radish_gpu_table_memory = "+sqlString(o.tables)); err != nil {
			return err
		}
		s.busRate = db.gpu().BusRate(ctx)
	}
	if o.profiling.load {
		if err := o.profiling.start(); err != nil {
			return err
		}
	}
	l, err := o.load(ctx, db, s)
	switch {
	case err != nil:
		return err
	case o.explain != "":
		return explainQueries(ctx, out, db, s.queries)
	case o.calls != "":
		return traceQueries(ctx, out, db, s.queries)
	}
	fmt.Fprintf(out, "TPC-H, scale factor %s, %d threads: %v\n\n", scaleText(o.sf), db.threads, l)
	peers, closePeers, err := o.others.open(ctx, db, func(duck *duckDB, compress bool) error { return handOver(ctx, db, duck, compress) })
	if err != nil {
		return err
	}
	defer closePeers()
	s.peers, s.peerRuns = peers, o.others.runs
	if o.others.runs < 0 {
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
	resetPeakRSS()
	fmt.Fprint(out, textRow(table, titles(table)))
	if !o.profiling.load {
		if err := o.profiling.start(); err != nil {
			return nil, err
		}
	}
	done, err := s.run(ctx, func(r queryRun) { fmt.Fprint(out, textRow(table, s.cells(r))) })
	if profErr := o.profiling.stop(); profErr != nil && err == nil {
		err = profErr
	}
	return done, err
}

// report prints what stands under the table and writes the files that were asked for. Its error says that queries failed.
func (o *tpchOptions) report(out io.Writer, db *database, s *suite, l load, done []queryRun) error {
	peak := peakRSS()
	writeTPCHSummary(out, db, s, done, peak)
	if o.markdown != "" {
		if err := s.writeMarkdown(o.markdown, fmt.Sprintf("TPC-H, scale factor %s: %v", scaleText(o.sf), l), done); err != nil {
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
func writeTPCHSummary(out io.Writer, db *database, s *suite, done []queryRun, peak int64) {
	var first, hot, cold, uploading, compiling, oneByOne time.Duration
	var bytes, uploaded int64
	compiled := 0
	other := make([]time.Duration, len(s.peers))
	for _, r := range done {
		first, hot = first+r.first, hot+median(r.hot.clock)
		bytes, uploaded = bytes+r.cost.bytes, uploaded+r.paid.Uploaded
		uploading, compiling, oneByOne = uploading+r.paid.Uploads.Any, compiling+r.paid.Compiled.Any, oneByOne+r.paid.Compiled.Each
		compiled += r.paid.Compiled.Tasks
		clock, _ := r.medianCold()
		cold = max(cold, clock)
		for i, t := range r.other {
			other[i] += median(t.clock)
		}
	}
	fmt.Fprintf(out, "\nfirst runs %.2f s, medians of %d hot runs %.2f s in all; peak resident memory %s, of which queries held %s\n",
		first.Seconds(), s.runs, hot.Seconds(), byteText(peak), byteText(db.engine.MemoryPeak()))
	if uploaded > 0 {
		fmt.Fprintf(out, "first runs brought %s to the GPU in %.2f s, and compiled %d kernels in %.2f s (%.2f s one after the other); hot runs scan %s\n",
			byteText(uploaded), uploading.Seconds(), compiled, compiling.Seconds(), oneByOne.Seconds(), byteText(bytes))
	}
	if s.busRate > 0 {
		fmt.Fprintf(out, "the GPU copies %.1f GB/s from pinned memory; up: what each hot run brought to it\n", s.busRate/1e9)
	}
	if s.coldRuns > 0 {
		fmt.Fprintf(out, "the longest run without compiled kernels, its columns there, took %s ms\n", millis(cold))
	}
	for i, p := range s.peers {
		fmt.Fprintf(out, "%s: medians of %d hot runs %.2f s in all\n", p.name(), s.peerRuns, other[i].Seconds())
	}
	for _, r := range failures(done) {
		fmt.Fprintf(out, "Q%d: %v\n", r.query.Number, r.err)
	}
}

// emptyKernelCache makes an empty folder the one of compiled kernels.
func emptyKernelCache() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "radish-kernels-"); err == nil {
		err = os.Setenv(gpukernels.CacheVariable, folder)
	}
	return folder, err
}

// columns are the printed columns.
func (s *suite) columns() []tableColumn {
	cols := []tableColumn{
		{title: "query", width: 5}, {title: "rows", right: true, width: 6}, {title: "first ms", right: true, width: 9}, {title: "uploaded", right: true, width: 9},
		{title: "upload ms", right: true, width: 9}, {title: "kernels", right: true, width: 7}, {title: "compile ms", right: true, width: 10},
	}
	if s.coldRuns > 0 {
		cols = append(cols, tableColumn{title: "cold ms", right: true, width: 9}, tableColumn{title: "compile ms", right: true, width: 10})
	}
	cols = append(cols, []tableColumn{
		{title: "hot ms", right: true, width: 9}, {title: "hot CPU ms", right: true}, {title: "kernel ms", right: true, width: 9},
		{title: "scanned", right: true, width: 9}, {title: "GB/s", right: true, width: 6}, {title: "of peak", right: true, width: 7},
		{title: "device", width: 7},
	}...)
	if s.busRate > 0 {
		cols = append(cols, tableColumn{title: "each up", right: true, width: 9}, tableColumn{title: "up GB/s", right: true, width: 7}, tableColumn{title: "of copy", right: true, width: 7})
	}
	for _, p := range s.peers {
		cols = append(cols, tableColumn{title: p.name() + " ms", right: true, width: 9})
	}
	return append(cols, tableColumn{title: "check", width: 18})
}

// peakGBs is the measured speed of sequential reads of an H200's memory, in GB/s: what a scan can be at most.
const peakGBs = 4594

// writeMarkdown writes the table of a run to a file.
func (s *suite) writeMarkdown(path, title string, runs []queryRun) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", title)
	var rows [][]string
	for _, r := range runs {
		rows = append(rows, s.cells(r))
	}
	writeMarkdown(&b, s.columns(), rows)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// cells are what columns names.
func (s *suite) cells(r queryRun) []string {
	check := r.mark() + " " + r.check
	if r.err != nil {
		check = r.mark() + " failed, see below"
	}
	hot := median(r.hot.clock)
	uploaded, uploading, compiled, compiling, kernels, rate, share := "", "", "", "", "", "", ""
	if r.paid.Uploaded > 0 {
		uploaded, uploading = byteText(r.paid.Uploaded), millis(r.paid.Uploads.Any)
	}
	if n := r.paid.Compiled.Tasks; n > 0 {
		compiled, compiling = strconv.Itoa(n), millis(r.paid.Compiled.Any)
	}
	if hot > 0 {
		gbs := float64(r.cost.bytes) / float64(hot.Nanoseconds())
		rate = fmt.Sprintf("%.1f", gbs)
		if r.cost.kernels > 0 {
			kernels, share = fmt.Sprintf("%.3f", r.cost.kernels), fmt.Sprintf("%.1f%%", 100*gbs/peakGBs)
		}
	}
	cells := []string{fmt.Sprintf("Q%d", r.query.Number), strconv.Itoa(r.rows), millis(r.first), uploaded, uploading, compiled, compiling}
	if s.coldRuns > 0 {
		clock, compiling := r.medianCold()
		cells = append(cells, millis(clock), millis(compiling))
	}
	cells = append(cells, millis(hot), millis(median(r.hot.cpu)), kernels, byteText(r.cost.bytes), rate, share, r.device)
	if s.busRate > 0 {
		up, upRate, upShare := "", "", ""
		if r.hotUploads > 0 && hot > 0 {
			rate := float64(r.hotUploads) / hot.Seconds()
			up, upRate, upShare = byteText(r.hotUploads), fmt.Sprintf("%.1f", rate/1e9), fmt.Sprintf("%.0f%%", 100*rate/s.busRate)
		}
		cells = append(cells, up, upRate, upShare)
	}
	for i := range s.peers {
		other := ""
		if i < len(r.other) {
			other = millis(median(r.other[i].clock))
		}
		cells = append(cells, other)
	}
	return append(cells, check)
}

// explainQueries prints EXPLAIN ANALYZE of queries that have run once, so that statistics are there.
func explainQueries(ctx context.Context, out io.Writer, db *database, queries []tpch.Query) error {
	for _, q := range queries {
		err := db.onDevices(ctx, func(devices int) error {
			for range 2 {
				if err := db.exec(ctx, q.SQL); err != nil {
					return err
				}
			}
			text, err := db.explainAnalyze(ctx, q.SQL)
			if db.gpus > 1 {
				fmt.Fprintf(out, "Q%d on %d GPUs\n%s", q.Number, devices, text)
			} else {
				fmt.Fprintf(out, "Q%d\n%s", q.Number, text)
			}
			if err != nil {
				return err
			}
			return db.timelines.record(ctx, db, fmt.Sprintf("Q%d on %d GPUs", q.Number, devices), q.SQL)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tpchReport is what --json writes. Times are milliseconds.
type tpchReport struct {
	Scale      float64       `json:"scale_factor"`
	Threads    int           `json:"threads"`
	Processor  string        `json:"processor"`
	Commit     string        `json:"commit,omitempty"`
	Load       loadReport    `json:"load"`
	Queries    []queryReport `json:"queries"`
	PeakRSS    int64         `json:"peak_rss_bytes"`
	BusRate    float64       `json:"pinned_copy_bytes_per_second,omitempty"`
	MemoryPeak int64         `json:"query_memory_peak_bytes"`
}

type loadReport struct {
	Seconds    float64 `json:"seconds"`
	CPU        float64 `json:"cpu_seconds"`
	Rows       int64   `json:"rows"`
	TableBytes int64   `json:"table_bytes"`
	PeakRSS    int64   `json:"peak_rss_bytes"`
}

func (l load) report() loadReport {
	return loadReport{l.took.Seconds(), l.cpu.Seconds(), l.rows, l.bytes, l.peak}
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

func writeTPCHReport(path string, sf float64, s *suite, l load, runs []queryRun, peak int64) error {
	report := tpchReport{
		Scale: sf, Threads: s.db.threads, Processor: processor(), Commit: commit(), PeakRSS: peak, MemoryPeak: s.db.engine.MemoryPeak(), BusRate: s.busRate,
		Load: l.report(),
	}
	for _, r := range runs {
		q := queryReport{
			Query: r.query.Number, Rows: r.rows, First: inMillis(r.first), Median: inMillis(median(r.hot.clock)),
			Hot: allMillis(r.hot.clock), HotCPU: allMillis(r.hot.cpu), Device: r.device, Bytes: r.cost.bytes, Kernel: r.cost.kernels, Check: r.check, Digest: r.digest, HotUp: r.hotUploads,
			Uploaded: r.paid.Uploaded, Uploading: inMillis(r.paid.Uploads.Any), Kernels: r.paid.Compiled.Tasks, Compiling: inMillis(r.paid.Compiled.Any),
			CompileSum: inMillis(r.paid.Compiled.Each),
		}
		for _, c := range r.cold {
			q.Cold = append(q.Cold, coldReport{inMillis(c.clock), c.paid.Uploaded, c.paid.Compiled.Tasks, inMillis(c.paid.Compiled.Any), inMillis(c.paid.Compiled.Each)})
		}
		for i, t := range r.other {
			if q.Peers == nil {
				q.Peers = map[string][]float64{}
			}
			q.Peers[s.peers[i].name()] = allMillis(t.clock)
		}
		if r.err != nil {
			q.Error = r.err.Error()
		}
		report.Queries = append(report.Queries, q)
	}
	return writeJSON(path, report)
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func allMillis(times []time.Duration) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = inMillis(t)
	}
	return out
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
