// Package beside runs statements in Radish and in DuckDB in turn, and compares times and answers.
package beside

import (
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
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
)

// Case is a statement that Radish and DuckDB run side by side.
type Case struct {
	Group string   // of the report
	Name  string   // what the report calls the statement
	Setup []string // statements that precede each run and are not timed
	SQL   string   // the statement that is timed
	Duck  string   // SQL in DuckDB's dialect; empty: the same
	Check string   // a statement that reads what SQL has stored; empty: SQL's own rows are compared
	Rows  int64    // that SQL reads; the report divides the time by it
	// Want, where it is set, has the numbers of the only row that SQL, or Check, gives. They were computed while the data was made.
	Want []int64
}

// Matches says whether the case's group, name or text has one of the words, which commas separate.
func (c *Case) Matches(words string) bool {
	if words == "" {
		return true
	}
	text := strings.ToLower(c.Group + " " + c.Name + ": " + c.SQL)
	for word := range strings.SplitSeq(strings.ToLower(words), ",") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func (c *Case) duckSQL() string {
	if c.Duck != "" {
		return c.Duck
	}
	return c.SQL
}

// Settings are the flags of commands that run statements beside DuckDB.
type Settings struct {
	database.Settings
	peers.Flags
	Compresses bool
	Cases      string
	Profile    database.Profiler
}

func (s *Settings) Register(fs *flag.FlagSet) {
	s.Settings.Register(fs)
	s.Flags.Register(fs, 5, "timed runs", "Radish runs alone")
	fs.BoolVar(&s.Compresses, "duckdb-compress", false, "let DuckDB compress its tables")
	fs.StringVar(&s.Cases, "cases", "",
		"only the cases whose group, name or text contains one of these words, separated by commas")
	s.Profile.Register(fs)
}

// Comparison runs statements in Radish and in DuckDB, in turn, so that another load on the machine falls on both.
type Comparison struct {
	Title   string
	Runs    int
	DB      *database.DB
	duck    *peers.DuckDB // nil: Radish runs alone
	results []Result

	radishPeak, duckPeak int64 // resident memory
}

// Result is a case in both engines.
type Result struct {
	Case
	radish, duck database.Timings
	err          error // a statement failed or a result differs
}

// ratioOf is the ratio of processor time or of the clock, of the fastest runs: others share the machine.
func ratioOf(radish, duck []time.Duration) float64 {
	if len(radish) == 0 || len(duck) == 0 {
		return math.NaN()
	}
	return float64(slices.Min(radish)) / float64(max(slices.Min(duck), 1))
}

// Open opens both engines without tables.
func Open(ctx context.Context, s *Settings) (*Comparison, error) {
	if !s.Profile.OfLoad {
		s.Profile.Hold()
	}
	db, err := database.Open(s.Settings)
	if err != nil {
		return nil, err
	}
	b := &Comparison{Runs: s.Runs, DB: db}
	if s.Python == "" {
		return b, nil
	}
	if b.duck, err = peers.Start(ctx, s.Python, db.Threads); err != nil {
		db.Close()
		return nil, err
	}
	return b, nil
}

func (b *Comparison) Close() {
	b.DB.Close()
	if b.duck != nil {
		_ = b.duck.Close()
	}
}

// Load makes the tables in both engines.
func (b *Comparison) Load(ctx context.Context, tables []*drawn.Table, compress bool) error {
	for _, t := range tables {
		if err := t.Create(ctx, b.DB); err != nil {
			return err
		}
	}
	if b.duck == nil {
		return nil
	}
	return drawn.HandOver(ctx, tables, b.duck, b.DB.Threads, compress)
}

// Drop removes tables from both engines.
func (b *Comparison) Drop(ctx context.Context, tables []*drawn.Table) error {
	for _, t := range tables {
		if err := b.Both(ctx, "DROP TABLE "+t.Name); err != nil {
			return err
		}
	}
	return nil
}

// Both runs a statement in both engines for its effect.
func (b *Comparison) Both(ctx context.Context, sql string) error {
	if err := b.DB.Exec(ctx, sql); err != nil || b.duck == nil {
		return err
	}
	_, err := b.duck.Do(sql, false, false)
	return err
}

var besideColumns = []report.Column{
	report.Text("", 16), report.Text("statement", 44), report.Number("Radish ms", 0),
	report.Number("DuckDB ms", 0), report.Number("ratio", 5),
	report.Number("CPU ms", 0), report.Number("DuckDB CPU ms", 0), report.Number("CPU ratio", 0),
	report.Number("ns/row", 6), report.Text("results", 0),
}

// Run compares and times cases, and prints a line for each.
func (b *Comparison) Run(ctx context.Context, out io.Writer, cases []Case) error {
	if len(b.results) == 0 {
		fmt.Fprint(out, report.Row(besideColumns, report.Titles(besideColumns)))
	}
	for _, c := range cases {
		r := Result{Case: c}
		r.err = b.runCase(ctx, &r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.results = append(b.results, r)
		fmt.Fprint(out, report.Row(besideColumns, r.cells()))
	}
	b.radishPeak = database.PeakRSS()
	if b.duck == nil {
		return nil
	}
	last, err := b.duck.Do("SELECT 1", false, false)
	b.duckPeak = last.Peak
	return err
}

// runCase compares the case's rows, which warms both engines, and then times it.
func (b *Comparison) runCase(ctx context.Context, r *Result) error {
	if err := b.Compare(ctx, r); err != nil {
		return err
	}
	for range b.Runs {
		if err := b.prepare(ctx, r); err != nil {
			return err
		}
		if err := r.radish.Measure(ctx, b.DB, r.SQL); err != nil {
			return err
		}
		if b.duck == nil {
			continue
		}
		if err := b.duck.Measure(r.duckSQL(), &r.duck); err != nil {
			return err
		}
	}
	return nil
}

func (b *Comparison) prepare(ctx context.Context, r *Result) error {
	for _, sql := range r.Setup {
		if err := b.Both(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func (b *Comparison) Compare(ctx context.Context, r *Result) error {
	if err := b.prepare(ctx, r); err != nil {
		return err
	}
	sql, duck := r.SQL, r.duckSQL()
	if r.Check != "" {
		if err := b.DB.Exec(ctx, sql); err != nil {
			return err
		}
		if b.duck != nil {
			if _, err := b.duck.Do(duck, false, false); err != nil {
				return err
			}
		}
		sql, duck = r.Check, r.Check
	}
	values, _, err := b.DB.Query(ctx, sql)
	if err != nil {
		return err
	}
	if r.Want != nil {
		if err := sameTotals(values, r.Want); err != nil {
			return err
		}
	}
	if b.duck == nil {
		return nil
	}
	reply, err := b.duck.Do(duck, true, false)
	if err != nil {
		return err
	}
	return answers.Agree(values, reply.Rows, answers.CloseEnough)
}

// sameTotals compares the only row with numbers that were computed while the data was made.
func sameTotals(values [][]types.Value, want []int64) error {
	if len(values) != 1 || len(values[0]) != len(want) {
		return fmt.Errorf("%d rows, not one of %d totals", len(values), len(want))
	}
	for i, v := range values[0] {
		if v.Null || v.Text() != strconv.FormatInt(want[i], 10) {
			return fmt.Errorf("column %d: %s, and the data's total is %d", i+1, v.Text(), want[i])
		}
	}
	return nil
}

func (r *Result) cells() []string {
	cells := []string{r.Group, r.Name}
	if r.err != nil {
		return append(cells, "", "", "", "", "", "", "", "✗ "+r.err.Error())
	}
	perRow := ""
	if r.Rows > 0 {
		perRow = fmt.Sprintf("%.1f", float64(slices.Min(r.radish.CPU))/float64(r.Rows))
	}
	ours := []string{report.Millis(slices.Min(r.radish.Clock)), report.Millis(slices.Min(r.radish.CPU))}
	if len(r.duck.Clock) == 0 {
		return append(cells, ours[0], "", "", ours[1], "", "", perRow, "not compared")
	}
	return append(cells, ours[0], report.Millis(slices.Min(r.duck.Clock)), fmt.Sprintf("%.2f", ratioOf(r.radish.Clock, r.duck.Clock)),
		ours[1], report.Millis(slices.Min(r.duck.CPU)), fmt.Sprintf("%.2f", ratioOf(r.radish.CPU, r.duck.CPU)), perRow, "✓ equal")
}

// Failed makes an error of the cases that failed or differed; nil if there are none.
func (b *Comparison) Failed() error {
	return report.CountFailures(b.results, "cases", func(r *Result) error { return r.err })
}

// WriteSummary writes what stands under the table.
func (b *Comparison) WriteSummary(out io.Writer) {
	if b.duck == nil {
		return
	}
	for _, kind := range []struct {
		title string
		of    func(t *database.Timings) []time.Duration
	}{
		{"by the clock", func(t *database.Timings) []time.Duration { return t.Clock }},
		{"of processor time", func(t *database.Timings) []time.Duration { return t.CPU }},
	} {
		var ratios []float64
		slower, worst := 0, ""
		highest := 0.0
		for i := range b.results {
			r := &b.results[i]
			if r.err != nil {
				continue
			}
			ratio := ratioOf(kind.of(&r.radish), kind.of(&r.duck))
			ratios = append(ratios, ratio)
			if ratio > 1 {
				slower++
			}
			if ratio > highest {
				highest, worst = ratio, r.Group+" "+r.Name
			}
		}
		fmt.Fprintf(out, "\nRadish / DuckDB %s, %d of %d cases: geometric mean %.2f, highest %.2f (%s), above 1 in %d.", kind.title,
			len(ratios), len(b.results), report.GeometricMean(ratios), highest, worst, slower)
	}
	fmt.Fprintf(out, "\nBelow 1 Radish is faster. Peak resident memory, tables included: Radish %s, DuckDB %s.\n", report.Bytes(b.radishPeak), report.Bytes(b.duckPeak))
}

// Page is the comparison as a section of a page of results.
func (b *Comparison) Page() (heading string, columns []report.Column, rows [][]string) {
	version := "none"
	if b.duck != nil {
		version = b.duck.Version
	}
	heading = fmt.Sprintf("%s; Radish %s and DuckDB %s, %d threads each, the fastest of %d runs; %s, %s.",
		b.Title, database.Version(), version, b.DB.Threads, b.Runs, database.Processor(), time.Now().UTC().Format(time.DateOnly))
	for i := range b.results {
		rows = append(rows, b.results[i].cells())
	}
	return heading, besideColumns, rows
}
