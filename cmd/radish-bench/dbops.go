package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/types"
)

// runDBOps is the command dbops: the questions of the "database-like ops" benchmark over generated tables, at one or several numbers of rows. Answers are compared
// with totals that were added up while the rows were made, with those of the peers, and those of later runs with the first's.
func runDBOps(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("dbops", flag.ContinueOnError)
	var set settings
	set.register(fs)
	rowsText := fs.String("rows", "1e7", "rows of the tables g, x and big; several numbers separated by commas")
	list := fs.String("question", "", "names of questions, separated by commas; empty: all 19")
	runs := fs.Int("runs", 5, "hot runs after the first")
	var others peerSettings
	others.register(fs)
	explain := fs.Bool("explain", false, "print EXPLAIN ANALYZE of each question, after a run of it, and nothing else")
	markdown := fs.String("markdown", "", "write the tables to this file as markdown, too")
	jsonPath := fs.String("json", "", "write the figures to this file, too")
	var prof profiler
	prof.register(fs)
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	sizes, err := parseRows(*rowsText)
	if err != nil {
		return wrongUsage(fs, "--rows: %v", err)
	}
	questions, err := pickQuestions(dbopsQuestions(), *list)
	if err != nil {
		return wrongUsage(fs, "--question: %v", err)
	}
	switch named := slices.Contains(others.names(), peerDuckDB); {
	case *runs < 1:
		return wrongUsage(fs, "--runs %d: medians need a run", *runs)
	case named && others.python == "":
		return wrongUsage(fs, "--compare duckdb needs --duckdb-python; make bench-oracle makes a virtual environment with one")
	case !named && others.python != "":
		others.list = strings.TrimPrefix(others.list+","+peerDuckDB, ",")
	}
	if others.runs < 0 {
		others.runs = *runs
	}
	if !prof.load {
		prof.hold()
	}
	db, err := openDatabase(set)
	if err != nil {
		return err
	}
	defer db.close()
	if err := prof.start(); err != nil {
		return err
	}
	var done []*dbopsRun
	for _, rows := range sizes {
		r := &dbopsRun{db: db, rows: rows, runs: *runs, peerRuns: others.runs}
		if err := r.run(ctx, out, questions, &others, *explain); err != nil {
			return errors.Join(err, prof.stop())
		}
		done = append(done, r)
	}
	if err := prof.stop(); err != nil {
		return err
	}
	if *explain {
		return nil
	}
	if *markdown != "" {
		if err := writeDBOpsMarkdown(*markdown, done); err != nil {
			return err
		}
	}
	if *jsonPath != "" {
		if err := writeDBOpsReport(*jsonPath, db, done); err != nil {
			return err
		}
	}
	return dbopsFailed(done)
}

// parseRows reads numbers of rows, such as 1e7, separated by commas.
func parseRows(text string) (rows []int64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || n < dbopsLeast || n > dbopsMost || n != math.Trunc(n) {
			return nil, fmt.Errorf("%q is no whole number from %d to %d", part, dbopsLeast, int64(dbopsMost))
		}
		rows = append(rows, int64(n))
	}
	return rows, nil
}

// pickQuestions picks questions by their names, separated by commas; an empty list is all.
func pickQuestions(all []question, list string) ([]question, error) {
	if list == "" {
		return all, nil
	}
	var picked []question
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(q question) bool { return q.name == strings.TrimSpace(name) })
		if i < 0 {
			names := make([]string, len(all))
			for i, q := range all {
				names[i] = q.name
			}
			return nil, fmt.Errorf("there is no question %q; there are %s", name, strings.Join(names, ", "))
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}

// dbopsRun is the questions at one number of rows.
type dbopsRun struct {
	db       *database
	rows     int64
	runs     int
	peers    []string
	peerRuns int

	load    load
	results []questionRun
}

// questionRun is what asking one question gave.
type questionRun struct {
	question
	first  time.Duration
	hot    timings
	device string
	peak   int64     // of the process's resident memory, tables included
	peers  []timings // hot runs of each
	peaks  []int64   // of the peers' processes; 0 for a peer in this one
	check  string
	err    error
}

// run makes the tables, asks the questions and prints a table of their times.
func (d *dbopsRun) run(ctx context.Context, out io.Writer, questions []question, others *peerSettings, explain bool) error {
	data := newDBOpsData(d.rows)
	totals := newDBOpsTotals(data)
	if err := d.fill(ctx, data, totals); err != nil {
		return err
	}
	if explain {
		return d.explain(ctx, out, questions)
	}
	d.peers = others.names()
	fmt.Fprintf(out, "%s\n\n", d.title())
	peers, closePeers, err := others.open(ctx, d.db, func(duck *duckDB, compress bool) error {
		return handOverDrawn(ctx, data.tables(), duck, d.db.threads, compress)
	})
	if err != nil {
		return err
	}
	defer closePeers()
	columns := d.columns()
	fmt.Fprint(out, textRow(columns, titles(columns)))
	for _, q := range questions {
		r := questionRun{question: q}
		r.err = d.ask(ctx, &r, totals, peers)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d.results = append(d.results, r)
		fmt.Fprint(out, textRow(columns, d.cells(&r)))
	}
	fmt.Fprintf(out, "\n%s", d.summary())
	for i := range d.results {
		if r := &d.results[i]; r.err != nil {
			fmt.Fprintf(out, "%s: %v\n", r.name, r.err)
		}
	}
	fmt.Fprintln(out)
	return nil
}

func (d *dbopsRun) fill(ctx context.Context, data *dbopsData, totals *dbopsTotals) (err error) {
	resetPeakRSS()
	start, cpu := time.Now(), cpuTime()
	if err := data.create(ctx, d.db, totals); err != nil {
		return err
	}
	d.load = load{took: time.Since(start), cpu: cpuTime() - cpu, peak: peakRSS()}
	d.load.rows, d.load.bytes, err = d.db.size(ctx)
	return err
}

func (d *dbopsRun) explain(ctx context.Context, out io.Writer, questions []question) error {
	for _, q := range questions {
		if err := d.db.exec(ctx, q.sql); err != nil {
			return err
		}
		text, err := d.db.explainAnalyze(ctx, q.sql)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n%s", q.name, text)
	}
	return nil
}

// ask asks a question: once, with its answer held against the totals, then for its hot times, then in the peers.
func (d *dbopsRun) ask(ctx context.Context, r *questionRun, totals *dbopsTotals, peers []peer) error {
	debug.FreeOSMemory() // lest the peak be an earlier question's
	resetPeakRSS()
	rows, took, err := d.db.query(ctx, r.sql)
	if err != nil {
		return err
	}
	r.first = took
	if err := meets(rows, r.totals(totals)); err != nil {
		return err
	}
	r.check = "totals"
	if r.device, err = d.db.devices(ctx, r.sql); err != nil {
		return err
	}
	runtime.GC() // lest hot runs pay for what was there before
	for range d.runs {
		cpu := cpuTime()
		again, took, err := d.db.query(ctx, r.sql)
		if err != nil {
			return err
		}
		r.hot.add(took, cpuTime()-cpu)
		if err := agree(rows, textRows(again), closeEnough); err != nil {
			return fmt.Errorf("a later run gives another answer: %w", err)
		}
	}
	r.peak = peakRSS()
	for _, p := range peers {
		r.peers, r.peaks = append(r.peers, timings{}), append(r.peaks, 0)
		if err := d.askPeer(ctx, r, rows, p); err != nil {
			return err
		}
		r.check += ", " + p.name()
	}
	return nil
}

// askPeer asks a question in a peer, whose answer has to be the same, and times it there.
func (d *dbopsRun) askPeer(ctx context.Context, r *questionRun, want [][]types.Value, p peer) error {
	duck, apart := p.(duckPeer)
	if apart {
		if err := duck.resetPeak(); err != nil {
			return err
		}
	}
	rows, err := p.query(ctx, r.sql)
	if err != nil {
		return fmt.Errorf("on %s: %w", p.name(), err)
	}
	tolerance := closeEnough
	if r.rounded && p.name() == peerDuckDB {
		tolerance = 5e-5 // averages are 1 at least, and rounded to four digits behind the point
	}
	if err := agree(want, rows, tolerance); err != nil {
		return fmt.Errorf("%s gives another answer: %w", p.name(), err)
	}
	for range d.peerRuns {
		if err := p.measure(ctx, r.sql, &r.peers[len(r.peers)-1]); err != nil {
			return fmt.Errorf("on %s: %w", p.name(), err)
		}
	}
	if apart {
		r.peaks[len(r.peaks)-1], err = duck.peak()
	}
	return err
}

// agree compares rows with those of another run or engine, as text, NULL being the empty one. Where either is a number with a fraction, they may differ by tolerance in
// proportion to the greater.
func agree(rows [][]types.Value, other [][]string, tolerance float64) error {
	if len(rows) != len(other) {
		return fmt.Errorf("%d rows and %d", len(rows), len(other))
	}
	for i, mine := range textRows(rows) {
		if len(mine) != len(other[i]) {
			return fmt.Errorf("%d columns and %d", len(mine), len(other[i]))
		}
		for c, a := range mine {
			if b := other[i][c]; a != b && !closeTexts(a, b, tolerance) {
				return fmt.Errorf("column %d of row %d is %q and %q", c+1, i+1, a, b)
			}
		}
	}
	return nil
}

// closeTexts says whether two texts are numbers that are equal, or of which one has a fraction and which are close.
func closeTexts(a, b string, tolerance float64) bool {
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	switch {
	case !ok || !also:
		return false
	case x.Cmp(y) == 0:
		return true
	case x.IsInt() && y.IsInt() && !strings.ContainsAny(a+b, ".eE"):
		return false
	}
	f, _ := x.Float64()
	g, _ := y.Float64()
	return math.Abs(f-g) <= tolerance*max(math.Abs(f), math.Abs(g))
}

// dbopsFailed makes an error of questions that failed or were answered wrongly; nil if there are none.
func dbopsFailed(runs []*dbopsRun) error {
	bad, all := 0, 0
	for _, d := range runs {
		all += len(d.results)
		for i := range d.results {
			if d.results[i].err != nil {
				bad++
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d questions failed or gave another answer", bad, all)
	}
	return nil
}

// rowsText writes a number of rows as it may be given: 1e7 rather than 10000000.
func rowsText(n int64) string {
	text := strconv.FormatInt(n, 10)
	if digits := strings.TrimRight(text, "0"); len(digits) == 1 && len(text) > 4 {
		return fmt.Sprintf("%se%d", digits, len(text)-1)
	}
	return text
}

func (d *dbopsRun) title() string {
	return fmt.Sprintf("Database-like ops, %s rows, device %s, %d threads, medians of %d runs: %v", rowsText(d.rows), d.db.device, d.db.threads, d.runs, d.load)
}

// columns are the printed columns.
func (d *dbopsRun) columns() []tableColumn {
	cols := []tableColumn{
		{title: "question", width: 8}, {title: "", width: 24}, {title: "first ms", right: true, width: 8}, {title: "hot ms", right: true, width: 8},
		{title: "hot CPU ms", right: true}, {title: "peak", right: true, width: 8}, {title: "device", width: 7},
	}
	for _, p := range d.peers {
		cols = append(cols, tableColumn{title: p + " ms", right: true, width: 9}, tableColumn{title: "ratio", right: true, width: 6},
			tableColumn{title: "CPU ms", right: true, width: 8}, tableColumn{title: "CPU ratio", right: true})
		if p == peerDuckDB {
			cols = append(cols, tableColumn{title: "peak", right: true, width: 8}, tableColumn{title: "peak ratio", right: true})
		}
	}
	return append(cols, tableColumn{title: "check", width: 18})
}

// cells are what columns names.
func (d *dbopsRun) cells(r *questionRun) []string {
	cells := []string{r.name, r.what, millis(r.first), millis(median(r.hot.clock)), millis(median(r.hot.cpu)), byteText(r.peak), r.device}
	for i, p := range d.peers {
		six := make([]string, 6)
		if i < len(r.peers) && len(r.peers[i].clock) > 0 {
			six[0], six[1] = millis(median(r.peers[i].clock)), fmt.Sprintf("%.2f", r.ratio(i))
			six[2], six[3] = millis(median(r.peers[i].cpu)), fmt.Sprintf("%.2f", r.cpuRatio(i))
			if peak := r.peaks[i]; peak > 0 {
				six[4], six[5] = byteText(peak), fmt.Sprintf("%.2f", float64(r.peak)/float64(peak))
			}
		}
		if p != peerDuckDB {
			six = six[:4]
		}
		cells = append(cells, six...)
	}
	if r.err != nil {
		return append(cells, "✗ failed, see below")
	}
	return append(cells, "✓ "+r.check)
}

// ratio is the hot time in proportion to a peer's.
func (r *questionRun) ratio(peer int) float64 {
	return float64(median(r.hot.clock)) / float64(median(r.peers[peer].clock))
}

// cpuRatio is the processor time in proportion to a peer's, which a busy machine changes less.
func (r *questionRun) cpuRatio(peer int) float64 {
	return float64(median(r.hot.cpu)) / float64(median(r.peers[peer].cpu))
}

// ratios are those of the questions that were answered alike, by the clock or by processor time.
func (d *dbopsRun) ratios(peer int, ratio func(r *questionRun, peer int) float64) (ratios []float64, worst *questionRun) {
	for i := range d.results {
		r := &d.results[i]
		if r.err != nil || len(r.peers[peer].clock) == 0 {
			continue
		}
		ratios = append(ratios, ratio(r, peer))
		if worst == nil || ratio(r, peer) > ratio(worst, peer) {
			worst = r
		}
	}
	return ratios, worst
}

// summary is what stands under the table.
func (d *dbopsRun) summary() string {
	var b strings.Builder
	var first, hot time.Duration
	for i := range d.results {
		first, hot = first+d.results[i].first, hot+median(d.results[i].hot.clock)
	}
	fmt.Fprintf(&b, "first runs %.2f s, medians of hot runs %.2f s in all\n", first.Seconds(), hot.Seconds())
	for i, p := range d.peers {
		if ratios, worst := d.ratios(i, (*questionRun).ratio); worst != nil {
			cpu, worstCPU := d.ratios(i, (*questionRun).cpuRatio)
			fmt.Fprintf(&b, "Radish / %s, %d of %d questions: geometric mean %.2f, highest %.2f (%s); of processor time %.2f and %.2f (%s). Below 1 Radish is faster.\n",
				p, len(ratios), len(d.results), geometricMean(ratios), worst.ratio(i), worst.name, geometricMean(cpu), worstCPU.cpuRatio(i), worstCPU.name)
		}
	}
	return b.String()
}

// writeDBOpsMarkdown writes a section for each number of rows.
func writeDBOpsMarkdown(path string, runs []*dbopsRun) error {
	var text strings.Builder
	for _, d := range runs {
		fmt.Fprintf(&text, "%s; %s, %s", d.title(), processor(), time.Now().UTC().Format(time.DateOnly))
		if built := commit(); built != "" {
			fmt.Fprintf(&text, ", commit %s", built)
		}
		text.WriteString("\n\n")
		var cells [][]string
		for i := range d.results {
			cells = append(cells, d.cells(&d.results[i]))
		}
		writeMarkdown(&text, d.columns(), cells)
		fmt.Fprintf(&text, "\n%s\n", d.summary())
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// dbopsReport is what --json writes. Times are milliseconds.
type dbopsReport struct {
	Device    string            `json:"device"`
	Threads   int               `json:"threads"`
	Processor string            `json:"processor"`
	Commit    string            `json:"commit,omitempty"`
	Sizes     []dbopsSizeReport `json:"sizes"`
}

type dbopsSizeReport struct {
	Rows           int64              `json:"rows"`
	Load           loadReport         `json:"load"`
	GeometricMeans map[string]float64 `json:"geometric_mean_ratios,omitempty"` // to each peer
	Questions      []questionReport   `json:"questions"`
}

type questionReport struct {
	Name   string               `json:"name"`
	SQL    string               `json:"sql"`
	First  float64              `json:"first_ms"`
	Median float64              `json:"hot_median_ms"`
	Hot    []float64            `json:"hot_ms"`
	HotCPU []float64            `json:"hot_cpu_ms"`
	Device string               `json:"device"`
	Peers  map[string][]float64 `json:"peers_ms,omitempty"` // hot runs of each
	Check  string               `json:"check"`
	Error  string               `json:"error,omitempty"`
}

func writeDBOpsReport(path string, db *database, runs []*dbopsRun) error {
	report := dbopsReport{Device: db.device, Threads: db.threads, Processor: processor(), Commit: commit()}
	for _, d := range runs {
		size := dbopsSizeReport{Rows: d.rows, Load: d.load.report(), GeometricMeans: map[string]float64{}}
		for i, p := range d.peers {
			if ratios, _ := d.ratios(i, (*questionRun).ratio); len(ratios) > 0 {
				size.GeometricMeans[p] = geometricMean(ratios)
			}
		}
		for i := range d.results {
			r := &d.results[i]
			q := questionReport{
				Name: r.name, SQL: r.sql, First: inMillis(r.first), Median: inMillis(median(r.hot.clock)), Hot: allMillis(r.hot.clock), HotCPU: allMillis(r.hot.cpu),
				Device: r.device, Peers: map[string][]float64{}, Check: r.check,
			}
			for i, t := range r.peers {
				q.Peers[d.peers[i]] = allMillis(t.clock)
			}
			if r.err != nil {
				q.Error = r.err.Error()
			}
			size.Questions = append(size.Questions, q)
		}
		report.Sizes = append(report.Sizes, size)
	}
	return writeJSON(path, report)
}
