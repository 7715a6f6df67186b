// Package dbops asks the questions of the "database-like ops" benchmark.
package dbops

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
)

// Run is the command dbops: the questions of the "database-like ops" benchmark over generated tables, at one or several numbers of rows. Answers are compared
// with totals that were added up while the rows were made, with those of the peers, and those of later runs with the first's.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("dbops", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	rowsText := fs.String("rows", "1e7", "rows of the tables g, x and big; several numbers separated by commas")
	list := fs.String("question", "", "names of questions, separated by commas; empty: all 19")
	runs := fs.Int("runs", 5, "hot runs after the first")
	var others peers.Settings
	others.Register(fs)
	explain := fs.Bool("explain", false, "print EXPLAIN ANALYZE of each question, after a run of it, and nothing else")
	markdown := fs.String("markdown", "", "write the tables to this file as markdown, too")
	jsonPath := fs.String("json", "", "write the figures to this file, too")
	var prof database.Profiler
	prof.Register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	sizes, err := cli.ParseRows(*rowsText, dbopsLeast, dbopsMost)
	if err != nil {
		return cli.WrongUsage(fs, "--rows: %v", err)
	}
	questions, err := pickQuestions(Questions(), *list)
	if err != nil {
		return cli.WrongUsage(fs, "--question: %v", err)
	}
	switch named := slices.Contains(others.Names(), peers.NameOfDuckDB); {
	case *runs < 1:
		return cli.WrongUsage(fs, "--runs %d: medians need a run", *runs)
	case named && others.Python == "":
		return cli.WrongUsage(fs, "--compare duckdb needs --duckdb-python; make bench-oracle makes a virtual environment with one")
	case !named && others.Python != "":
		others.List = strings.TrimPrefix(others.List+","+peers.NameOfDuckDB, ",")
	}
	if others.Runs < 0 {
		others.Runs = *runs
	}
	if !prof.OfLoad {
		prof.Hold()
	}
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := prof.Start(); err != nil {
		return err
	}
	var done []*dbopsRun
	for _, rows := range sizes {
		r := &dbopsRun{db: db, rows: rows, runs: *runs, peerRuns: others.Runs}
		if err := r.run(ctx, out, questions, &others, *explain); err != nil {
			return errors.Join(err, prof.Stop())
		}
		done = append(done, r)
	}
	if err := prof.Stop(); err != nil {
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

// pickQuestions picks questions by their names, separated by commas; an empty list is all.
func pickQuestions(all []Question, list string) ([]Question, error) {
	if list == "" {
		return all, nil
	}
	var picked []Question
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(q Question) bool { return q.Name == strings.TrimSpace(name) })
		if i < 0 {
			names := make([]string, len(all))
			for i, q := range all {
				names[i] = q.Name
			}
			return nil, fmt.Errorf("there is no question %q; there are %s", name, strings.Join(names, ", "))
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}

// dbopsRun is the questions at one number of rows.
type dbopsRun struct {
	db       *database.DB
	rows     int64
	runs     int
	peers    []string
	peerRuns int

	load    database.Load
	results []questionRun
}

// questionRun is what asking one question gave.
type questionRun struct {
	Question
	first  time.Duration
	hot    database.Timings
	device string
	peak   int64              // of the process's resident memory, tables included
	peers  []database.Timings // hot runs of each
	peaks  []int64            // of the peers' processes; 0 for a peer in this one
	check  string
	err    error
}

// run makes the tables, asks the questions and prints a table of their times.
func (d *dbopsRun) run(ctx context.Context, out io.Writer, questions []Question, others *peers.Settings, explain bool) error {
	data := newDBOpsData(d.rows)
	totals := newDBOpsTotals(data)
	if err := d.fill(ctx, data, totals); err != nil {
		return err
	}
	if explain {
		return d.explain(ctx, out, questions)
	}
	d.peers = others.Names()
	fmt.Fprintf(out, "%s\n\n", d.title())
	peers, closePeers, err := others.Open(ctx, d.db, func(duck *peers.DuckDB, compress bool) error {
		return drawn.HandOver(ctx, data.tables(), duck, d.db.Threads, compress)
	})
	if err != nil {
		return err
	}
	defer closePeers()
	columns := d.columns()
	fmt.Fprint(out, report.Row(columns, report.Titles(columns)))
	for _, q := range questions {
		r := questionRun{Question: q}
		r.err = d.ask(ctx, &r, totals, peers)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d.results = append(d.results, r)
		fmt.Fprint(out, report.Row(columns, d.cells(&r)))
	}
	fmt.Fprintf(out, "\n%s", d.summary())
	for i := range d.results {
		if r := &d.results[i]; r.err != nil {
			fmt.Fprintf(out, "%s: %v\n", r.Name, r.err)
		}
	}
	fmt.Fprintln(out)
	return nil
}

func (d *dbopsRun) fill(ctx context.Context, data *dbopsData, totals *dbopsTotals) (err error) {
	database.ResetPeakRSS()
	start, cpu := time.Now(), database.CPUTime()
	if err := data.create(ctx, d.db, totals); err != nil {
		return err
	}
	d.load = database.Load{Took: time.Since(start), CPU: database.CPUTime() - cpu, Peak: database.PeakRSS()}
	d.load.Rows, d.load.Bytes, err = d.db.Size(ctx)
	return err
}

func (d *dbopsRun) explain(ctx context.Context, out io.Writer, questions []Question) error {
	for _, q := range questions {
		if err := d.db.Exec(ctx, q.SQL); err != nil {
			return err
		}
		text, err := d.db.ExplainAnalyze(ctx, q.SQL)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n%s", q.Name, text)
	}
	return nil
}

// ask asks a question: once, with its answer held against the totals, then for its hot times, then in the peers.
func (d *dbopsRun) ask(ctx context.Context, r *questionRun, totals *dbopsTotals, peers []peers.Peer) error {
	debug.FreeOSMemory() // lest the peak be an earlier question's
	database.ResetPeakRSS()
	rows, took, err := d.db.Query(ctx, r.SQL)
	if err != nil {
		return err
	}
	r.first = took
	if err := meets(rows, r.totals(totals)); err != nil {
		return err
	}
	r.check = "totals"
	if r.device, err = d.db.Devices(ctx, r.SQL); err != nil {
		return err
	}
	runtime.GC() // lest hot runs pay for what was there before
	for range d.runs {
		cpu := database.CPUTime()
		again, took, err := d.db.Query(ctx, r.SQL)
		if err != nil {
			return err
		}
		r.hot.Add(took, database.CPUTime()-cpu)
		if err := answers.Agree(rows, answers.TextRows(again), answers.CloseEnough); err != nil {
			return fmt.Errorf("a later run gives another answer: %w", err)
		}
	}
	r.peak = database.PeakRSS()
	for _, p := range peers {
		r.peers, r.peaks = append(r.peers, database.Timings{}), append(r.peaks, 0)
		if err := d.askPeer(ctx, r, rows, p); err != nil {
			return err
		}
		r.check += ", " + p.Name()
	}
	return nil
}

// askPeer asks a question in a peer, whose answer has to be the same, and times it there.
func (d *dbopsRun) askPeer(ctx context.Context, r *questionRun, want [][]types.Value, p peers.Peer) error {
	duck, apart := p.(peers.DuckPeer)
	if apart {
		if err := duck.ResetPeak(); err != nil {
			return err
		}
	}
	rows, err := p.Query(ctx, r.SQL)
	if err != nil {
		return fmt.Errorf("on %s: %w", p.Name(), err)
	}
	tolerance := answers.CloseEnough
	if r.rounded && p.Name() == peers.NameOfDuckDB {
		tolerance = 5e-5 // averages are 1 at least, and rounded to four digits behind the point
	}
	if err := answers.Agree(want, rows, tolerance); err != nil {
		return fmt.Errorf("%s gives another answer: %w", p.Name(), err)
	}
	for range d.peerRuns {
		if err := p.Measure(ctx, r.SQL, &r.peers[len(r.peers)-1]); err != nil {
			return fmt.Errorf("on %s: %w", p.Name(), err)
		}
	}
	if apart {
		r.peaks[len(r.peaks)-1], err = duck.Peak()
	}
	return err
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
	return fmt.Sprintf("Database-like ops, %s rows, device %s, %d threads, medians of %d runs: %v", rowsText(d.rows), d.db.Device, d.db.Threads, d.runs, d.load)
}

// columns are the printed columns.
func (d *dbopsRun) columns() []report.Column {
	cols := []report.Column{
		report.Text("question", 8), report.Text("", 24), report.Number("first ms", 8), report.Number("hot ms", 8),
		report.Number("hot CPU ms", 0), report.Number("peak", 8), report.Text("device", 7),
	}
	for _, p := range d.peers {
		cols = append(cols, report.Number(p+" ms", 9), report.Number("ratio", 6),
			report.Number("CPU ms", 8), report.Number("CPU ratio", 0))
		if p == peers.NameOfDuckDB {
			cols = append(cols, report.Number("peak", 8), report.Number("peak ratio", 0))
		}
	}
	return append(cols, report.Text("check", 18))
}

// cells are what columns names.
func (d *dbopsRun) cells(r *questionRun) []string {
	cells := []string{r.Name, r.What, report.Millis(r.first), report.Millis(report.Median(r.hot.Clock)), report.Millis(report.Median(r.hot.CPU)), report.Bytes(r.peak), r.device}
	for i, p := range d.peers {
		six := make([]string, 6)
		if i < len(r.peers) && len(r.peers[i].Clock) > 0 {
			six[0], six[1] = report.Millis(report.Median(r.peers[i].Clock)), fmt.Sprintf("%.2f", r.ratio(i))
			six[2], six[3] = report.Millis(report.Median(r.peers[i].CPU)), fmt.Sprintf("%.2f", r.cpuRatio(i))
			if peak := r.peaks[i]; peak > 0 {
				six[4], six[5] = report.Bytes(peak), fmt.Sprintf("%.2f", float64(r.peak)/float64(peak))
			}
		}
		if p != peers.NameOfDuckDB {
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
	return float64(report.Median(r.hot.Clock)) / float64(report.Median(r.peers[peer].Clock))
}

// cpuRatio is the processor time in proportion to a peer's, which a busy machine changes less.
func (r *questionRun) cpuRatio(peer int) float64 {
	return float64(report.Median(r.hot.CPU)) / float64(report.Median(r.peers[peer].CPU))
}

// ratios are those of the questions that were answered alike, by the clock or by processor time.
func (d *dbopsRun) ratios(peer int, ratio func(r *questionRun, peer int) float64) (ratios []float64, worst *questionRun) {
	for i := range d.results {
		r := &d.results[i]
		if r.err != nil || len(r.peers[peer].Clock) == 0 {
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
		first, hot = first+d.results[i].first, hot+report.Median(d.results[i].hot.Clock)
	}
	fmt.Fprintf(&b, "first runs %.2f s, medians of hot runs %.2f s in all\n", first.Seconds(), hot.Seconds())
	for i, p := range d.peers {
		if ratios, worst := d.ratios(i, (*questionRun).ratio); worst != nil {
			cpu, worstCPU := d.ratios(i, (*questionRun).cpuRatio)
			fmt.Fprintf(&b, "Radish / %s, %d of %d questions: geometric mean %.2f, highest %.2f (%s); of processor time %.2f and %.2f (%s). Below 1 Radish is faster.\n",
				p, len(ratios), len(d.results), report.GeometricMean(ratios), worst.ratio(i), worst.Name, report.GeometricMean(cpu), worstCPU.cpuRatio(i), worstCPU.Name)
		}
	}
	return b.String()
}

// writeDBOpsMarkdown writes a section for each number of rows.
func writeDBOpsMarkdown(path string, runs []*dbopsRun) error {
	var text strings.Builder
	for _, d := range runs {
		fmt.Fprintf(&text, "%s; %s, %s", d.title(), database.Processor(), time.Now().UTC().Format(time.DateOnly))
		if built := database.Commit(); built != "" {
			fmt.Fprintf(&text, ", commit %s", built)
		}
		text.WriteString("\n\n")
		var cells [][]string
		for i := range d.results {
			cells = append(cells, d.cells(&d.results[i]))
		}
		report.Markdown(&text, d.columns(), cells)
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
	Rows           int64               `json:"rows"`
	Load           database.LoadReport `json:"load"`
	GeometricMeans map[string]float64  `json:"geometric_mean_ratios,omitempty"` // to each peer
	Questions      []questionReport    `json:"questions"`
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

func writeDBOpsReport(path string, db *database.DB, runs []*dbopsRun) error {
	all := dbopsReport{Device: db.Device, Threads: db.Threads, Processor: database.Processor(), Commit: database.Commit()}
	for _, d := range runs {
		size := dbopsSizeReport{Rows: d.rows, Load: d.load.Report(), GeometricMeans: map[string]float64{}}
		for i, p := range d.peers {
			if ratios, _ := d.ratios(i, (*questionRun).ratio); len(ratios) > 0 {
				size.GeometricMeans[p] = report.GeometricMean(ratios)
			}
		}
		for i := range d.results {
			r := &d.results[i]
			q := questionReport{
				Name: r.Name, SQL: r.SQL, First: report.InMillis(r.first), Median: report.InMillis(report.Median(r.hot.Clock)), Hot: report.AllMillis(r.hot.Clock), HotCPU: report.AllMillis(r.hot.CPU),
				Device: r.device, Peers: map[string][]float64{}, Check: r.check,
			}
			for i, t := range r.peers {
				q.Peers[d.peers[i]] = report.AllMillis(t.Clock)
			}
			if r.err != nil {
				q.Error = r.err.Error()
			}
			size.Questions = append(size.Questions, q)
		}
		all.Sizes = append(all.Sizes, size)
	}
	return report.WriteJSON(path, all)
}
