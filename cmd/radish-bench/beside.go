package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/types"
)

// besideCase is a statement that Radish and DuckDB run side by side.
type besideCase struct {
	group string   // of the report
	name  string   // what the report calls the statement
	setup []string // statements that precede each run and are not timed
	sql   string   // the statement that is timed
	duck  string   // sql in DuckDB's dialect; empty: the same
	check string   // a statement that reads what sql has stored; empty: sql's own rows are compared
	rows  int64    // that sql reads; the report divides the time by it
	// want, where it is set, has the numbers of the only row that sql, or check, gives. They were computed while the data was made.
	want []int64
}

// matches says whether the case's group, name or text has one of the words, which commas separate.
func (c *besideCase) matches(words string) bool {
	if words == "" {
		return true
	}
	text := strings.ToLower(c.group + " " + c.name + ": " + c.sql)
	for word := range strings.SplitSeq(strings.ToLower(words), ",") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func (c *besideCase) duckSQL() string {
	if c.duck != "" {
		return c.duck
	}
	return c.sql
}

// besideSettings are the flags of commands that run statements beside DuckDB.
type besideSettings struct {
	settings
	python   string
	compress bool
	runs     int
	cases    string
	markdown string
	profile  profiler
}

func (s *besideSettings) register(fs *flag.FlagSet) {
	s.settings.register(fs)
	fs.StringVar(&s.python, "duckdb-python", "", "a Python interpreter that has the package duckdb; empty: Radish runs alone")
	fs.BoolVar(&s.compress, "duckdb-compress", false, "let DuckDB compress its tables")
	fs.IntVar(&s.runs, "runs", 5, "timed runs")
	fs.StringVar(&s.cases, "cases", "", "only the cases whose group, name or text contains one of these words, separated by commas")
	fs.StringVar(&s.markdown, "markdown", "", "write the table to this file as markdown, too")
	s.profile.register(fs)
}

// beside runs statements in Radish and in DuckDB, in turn, so that another load on the machine falls on both.
type beside struct {
	title   string
	runs    int
	db      *database
	duck    *duckDB // nil: Radish runs alone
	results []besideResult

	radishPeak, duckPeak int64 // resident memory
}

// besideResult is a case in both engines.
type besideResult struct {
	besideCase
	radish, duck timings
	err          error // a statement failed or a result differs
}

// ratio is the one of processor time or of the clock, of the fastest runs: others share the machine.
func ratioOf(radish, duck []time.Duration) float64 {
	if len(radish) == 0 || len(duck) == 0 {
		return math.NaN()
	}
	return float64(slices.Min(radish)) / float64(max(slices.Min(duck), 1))
}

// openBeside opens both engines without tables.
func openBeside(ctx context.Context, s *besideSettings) (*beside, error) {
	if !s.profile.load {
		s.profile.hold()
	}
	db, err := openDatabase(s.settings)
	if err != nil {
		return nil, err
	}
	b := &beside{runs: s.runs, db: db}
	if s.python == "" {
		return b, nil
	}
	if b.duck, err = startDuckDB(ctx, s.python, db.threads); err != nil {
		db.close()
		return nil, err
	}
	return b, nil
}

func (b *beside) close() {
	b.db.close()
	if b.duck != nil {
		_ = b.duck.close()
	}
}

// load makes the tables in both engines.
func (b *beside) load(ctx context.Context, tables []*drawnTable, compress bool) error {
	for _, t := range tables {
		if err := t.create(ctx, b.db); err != nil {
			return err
		}
	}
	if b.duck == nil {
		return nil
	}
	return handOverDrawn(ctx, tables, b.duck, b.db.threads, compress)
}

// drop removes tables from both engines.
func (b *beside) drop(ctx context.Context, tables []*drawnTable) error {
	for _, t := range tables {
		if err := b.both(ctx, "DROP TABLE "+t.name); err != nil {
			return err
		}
	}
	return nil
}

// both runs a statement in both engines for its effect.
func (b *beside) both(ctx context.Context, sql string) error {
	if err := b.db.exec(ctx, sql); err != nil || b.duck == nil {
		return err
	}
	_, err := b.duck.do(sql, false, false)
	return err
}

var besideColumns = []tableColumn{
	{title: "", width: 16}, {title: "statement", width: 44}, {title: "Radish ms", right: true}, {title: "DuckDB ms", right: true}, {title: "ratio", right: true, width: 5},
	{title: "CPU ms", right: true}, {title: "DuckDB CPU ms", right: true}, {title: "CPU ratio", right: true}, {title: "ns/row", right: true, width: 6}, {title: "results"},
}

// run compares and times cases, and prints a line for each.
func (b *beside) run(ctx context.Context, out io.Writer, cases []besideCase) error {
	if len(b.results) == 0 {
		fmt.Fprint(out, textRow(besideColumns, titles(besideColumns)))
	}
	for _, c := range cases {
		r := besideResult{besideCase: c}
		r.err = b.runCase(ctx, &r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.results = append(b.results, r)
		fmt.Fprint(out, textRow(besideColumns, r.cells()))
	}
	b.radishPeak = peakRSS()
	if b.duck == nil {
		return nil
	}
	last, err := b.duck.do("SELECT 1", false, false)
	b.duckPeak = last.Peak
	return err
}

// runCase compares the case's rows, which warms both engines, and then times it.
func (b *beside) runCase(ctx context.Context, r *besideResult) error {
	if err := b.compare(ctx, r); err != nil {
		return err
	}
	for range b.runs {
		if err := b.prepare(ctx, r); err != nil {
			return err
		}
		if err := r.radish.measure(ctx, b.db, r.sql); err != nil {
			return err
		}
		if b.duck == nil {
			continue
		}
		if err := b.duck.measure(r.duckSQL(), &r.duck); err != nil {
			return err
		}
	}
	return nil
}

func (b *beside) prepare(ctx context.Context, r *besideResult) error {
	for _, sql := range r.setup {
		if err := b.both(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func (b *beside) compare(ctx context.Context, r *besideResult) error {
	if err := b.prepare(ctx, r); err != nil {
		return err
	}
	sql, duck := r.sql, r.duckSQL()
	if r.check != "" {
		if err := b.db.exec(ctx, sql); err != nil {
			return err
		}
		if b.duck != nil {
			if _, err := b.duck.do(duck, false, false); err != nil {
				return err
			}
		}
		sql, duck = r.check, r.check
	}
	values, _, err := b.db.query(ctx, sql)
	if err != nil {
		return err
	}
	if r.want != nil {
		if err := sameTotals(values, r.want); err != nil {
			return err
		}
	}
	if b.duck == nil {
		return nil
	}
	reply, err := b.duck.do(duck, true, false)
	if err != nil {
		return err
	}
	return agree(values, reply.Rows, closeEnough)
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

func (r *besideResult) cells() []string {
	cells := []string{r.group, r.name}
	if r.err != nil {
		return append(cells, "", "", "", "", "", "", "", "✗ "+r.err.Error())
	}
	perRow := ""
	if r.rows > 0 {
		perRow = fmt.Sprintf("%.1f", float64(slices.Min(r.radish.cpu))/float64(r.rows))
	}
	ours := []string{millis(slices.Min(r.radish.clock)), millis(slices.Min(r.radish.cpu))}
	if len(r.duck.clock) == 0 {
		return append(cells, ours[0], "", "", ours[1], "", "", perRow, "not compared")
	}
	return append(cells, ours[0], millis(slices.Min(r.duck.clock)), fmt.Sprintf("%.2f", ratioOf(r.radish.clock, r.duck.clock)),
		ours[1], millis(slices.Min(r.duck.cpu)), fmt.Sprintf("%.2f", ratioOf(r.radish.cpu, r.duck.cpu)), perRow, "✓ equal")
}

// failed makes an error of the cases that failed or differed; nil if there are none.
func (b *beside) failed() error {
	return countFailures(b.results, "cases", func(r *besideResult) error { return r.err })
}

// writeSummary writes what stands under the table.
func (b *beside) writeSummary(out io.Writer) {
	if b.duck == nil {
		return
	}
	for _, kind := range []struct {
		title string
		of    func(t *timings) []time.Duration
	}{
		{"by the clock", func(t *timings) []time.Duration { return t.clock }},
		{"of processor time", func(t *timings) []time.Duration { return t.cpu }},
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
				highest, worst = ratio, r.group+" "+r.name
			}
		}
		fmt.Fprintf(out, "\nRadish / DuckDB %s, %d of %d cases: geometric mean %.2f, highest %.2f (%s), above 1 in %d.", kind.title,
			len(ratios), len(b.results), geometricMean(ratios), highest, worst, slower)
	}
	fmt.Fprintf(out, "\nBelow 1 Radish is faster. Peak resident memory, tables included: Radish %s, DuckDB %s.\n", byteText(b.radishPeak), byteText(b.duckPeak))
}

// writeMarkdown writes the comparison as a section of a page of results.
func (b *beside) writeMarkdown(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	version := "none"
	if b.duck != nil {
		version = b.duck.version
	}
	fmt.Fprintf(file, "%s; Radish %s and DuckDB %s, %d threads each, the fastest of %d runs; %s, %s.\n\n",
		b.title, radishVersion(), version, b.db.threads, b.runs, processor(), time.Now().UTC().Format(time.DateOnly))
	var rows [][]string
	for i := range b.results {
		rows = append(rows, b.results[i].cells())
	}
	writeMarkdown(file, besideColumns, rows)
	b.writeSummary(file)
	return file.Close()
}
