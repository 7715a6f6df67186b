package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/storage/tpch"
)

// runTPCH is the command tpch.
func runTPCH(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("tpch", flag.ContinueOnError)
	var set settings
	set.register(fs)
	sf := fs.Float64("sf", 1, "scale factor, at least 0.01")
	from := fs.String("from", "", "read the tables from this folder of Parquet files instead of generating them")
	answers := fs.String("verify", "", "folder of published answers (q01.csv to q22.csv) at the same scale factor")
	runs := fs.Int("runs", 5, "hot runs after the first")
	list := fs.String("query", "", "numbers of queries, separated by commas; empty: all")
	explain := fs.String("explain", "", "numbers of queries to print EXPLAIN ANALYZE of, each after a run of it, and nothing else")
	columns := fs.String("columns", "all", "columns to generate: all, or used: those that some query names")
	compare := fs.String("compare", "", "devices, separated by commas, that have to give the same rows, and whose times are shown beside")
	markdown := fs.String("markdown", "", "write the table to this file as markdown, too")
	jsonPath := fs.String("json", "", "write the figures to this file, too")
	var prof profiler
	prof.register(fs)
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if *explain != "" {
		*list = *explain
	}
	if _, err := pickQueries(*sf, *list); err != nil {
		return wrongUsage(fs, "%v", err)
	}
	if *columns != "all" && *columns != "used" {
		return wrongUsage(fs, "--columns is all or used, not %q", *columns)
	}
	if !prof.load {
		prof.hold()
	}
	db, err := openDatabase(set)
	if err != nil {
		return err
	}
	defer db.close()
	s, err := newSuite(db, *sf, *list, *answers, *runs)
	if err != nil {
		return err
	}
	s.costs = true
	if *compare != "" {
		s.compareWith = strings.Split(*compare, ",")
	}
	table := tpchColumns(s.compareWith)
	if prof.load {
		if err := prof.start(); err != nil {
			return err
		}
	}
	var l load
	if *from != "" {
		l, err = loadParquet(ctx, db, *from)
	} else {
		var without []string
		if *columns == "used" {
			without = unusedColumns(*sf)
		}
		l, err = generate(ctx, db, *sf, without)
	}
	if err != nil {
		return err
	}
	if *explain != "" {
		return explainQueries(ctx, out, db, s.queries)
	}
	fmt.Fprintf(out, "TPC-H, scale factor %s, %d threads: %v\n\n", scaleText(*sf), db.threads, l)
	resetPeakRSS()
	fmt.Fprint(out, textRow(table, titles(table)))
	if !prof.load {
		if err := prof.start(); err != nil {
			return err
		}
	}
	done, err := s.run(ctx, func(r queryRun) { fmt.Fprint(out, textRow(table, tpchCells(r, len(table)))) })
	if profErr := prof.stop(); profErr != nil && err == nil {
		err = profErr
	}
	if err != nil {
		return err
	}
	peak := peakRSS()
	var first, hot time.Duration
	var bytes, uploaded int64
	other := make([]time.Duration, len(s.compareWith))
	for _, r := range done {
		first, hot = first+r.first, hot+median(r.hot.clock)
		bytes, uploaded = bytes+r.cost.bytes, uploaded+r.uploaded
		for i, t := range r.other {
			other[i] += median(t.clock)
		}
	}
	fmt.Fprintf(out, "\nfirst runs %.2f s, medians of %d hot runs %.2f s in all; peak resident memory %s, of which queries held %s\n",
		first.Seconds(), *runs, hot.Seconds(), byteText(peak), byteText(db.engine.MemoryPeak()))
	if uploaded > 0 {
		fmt.Fprintf(out, "first runs brought %s to the GPU; hot runs scan %s\n", byteText(uploaded), byteText(bytes))
	}
	for i, device := range s.compareWith {
		fmt.Fprintf(out, "device %s: medians %.2f s in all\n", device, other[i].Seconds())
	}
	for _, r := range failures(done) {
		fmt.Fprintf(out, "Q%d: %v\n", r.query.Number, r.err)
	}
	if *markdown != "" {
		if err := writeTPCHMarkdown(*markdown, fmt.Sprintf("TPC-H, scale factor %s: %v", scaleText(*sf), l), table, done); err != nil {
			return err
		}
	}
	if *jsonPath != "" {
		if err := writeTPCHReport(*jsonPath, *sf, db, l, done, peak); err != nil {
			return err
		}
	}
	return failed(done)
}

// tpchColumns are the printed columns; each device that is compared with has one for its times.
func tpchColumns(others []string) []tableColumn {
	cols := []tableColumn{
		{title: "query", width: 5}, {title: "rows", right: true, width: 6}, {title: "first ms", right: true, width: 9}, {title: "uploaded", right: true, width: 9},
		{title: "hot ms", right: true, width: 9}, {title: "hot CPU ms", right: true}, {title: "kernel ms", right: true, width: 9},
		{title: "scanned", right: true, width: 9}, {title: "GB/s", right: true, width: 6}, {title: "of peak", right: true, width: 7},
		{title: "device", width: 7},
	}
	for _, d := range others {
		cols = append(cols, tableColumn{title: d + " ms", right: true, width: 9})
	}
	return append(cols, tableColumn{title: "check", width: 18})
}

// peakGBs is the measured speed of sequential reads of an H200's memory, in GB/s: what a scan can be at most.
const peakGBs = 4594

// writeTPCHMarkdown writes the table of a run to a file.
func writeTPCHMarkdown(path, title string, columns []tableColumn, runs []queryRun) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", title)
	var rows [][]string
	for _, r := range runs {
		rows = append(rows, tpchCells(r, len(columns)))
	}
	writeMarkdown(&b, columns, rows)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func tpchCells(r queryRun, columns int) []string {
	check := r.mark() + " " + r.check
	if r.err != nil {
		check = r.mark() + " failed, see below"
	}
	hot := median(r.hot.clock)
	uploaded, kernels, rate, share := "", "", "", ""
	if r.uploaded > 0 {
		uploaded = byteText(r.uploaded)
	}
	if hot > 0 {
		gbs := float64(r.cost.bytes) / float64(hot.Nanoseconds())
		rate = fmt.Sprintf("%.1f", gbs)
		if r.cost.kernels > 0 {
			kernels, share = fmt.Sprintf("%.3f", r.cost.kernels), fmt.Sprintf("%.1f%%", 100*gbs/peakGBs)
		}
	}
	cells := []string{
		fmt.Sprintf("Q%d", r.query.Number), strconv.Itoa(r.rows), millis(r.first), uploaded, millis(hot), millis(median(r.hot.cpu)), kernels,
		byteText(r.cost.bytes), rate, share, r.device,
	}
	for _, t := range r.other {
		cells = append(cells, millis(median(t.clock)))
	}
	for len(cells) < columns-1 {
		cells = append(cells, "")
	}
	return append(cells, check)
}

// explainQueries prints EXPLAIN ANALYZE of queries that have run once, so that statistics are there.
func explainQueries(ctx context.Context, out io.Writer, db *database, queries []tpch.Query) error {
	for _, q := range queries {
		if err := db.exec(ctx, q.SQL); err != nil {
			return err
		}
		text, err := db.explainAnalyze(ctx, q.SQL)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Q%d\n%s", q.Number, text)
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
	Upload int64     `json:"uploaded_bytes,omitempty"`
	Check  string    `json:"check"`
	Digest string    `json:"digest,omitempty"`
	Error  string    `json:"error,omitempty"`
}

func writeTPCHReport(path string, sf float64, db *database, l load, runs []queryRun, peak int64) error {
	report := tpchReport{
		Scale: sf, Threads: db.threads, Processor: processor(), Commit: commit(), PeakRSS: peak, MemoryPeak: db.engine.MemoryPeak(),
		Load: l.report(),
	}
	for _, r := range runs {
		q := queryReport{
			Query: r.query.Number, Rows: r.rows, First: inMillis(r.first), Median: inMillis(median(r.hot.clock)),
			Hot: allMillis(r.hot.clock), HotCPU: allMillis(r.hot.cpu), Device: r.device, Bytes: r.cost.bytes, Kernel: r.cost.kernels, Upload: r.uploaded, Check: r.check, Digest: r.digest,
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
