// Package files queries data files, each statement in a process of its own, beside DuckDB.
package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/storage/tpch"
)

// fileCase is a statement over files. {file} in its text stands for the name of lineitem's file, {out} for that of a file that it writes.
type fileCase struct {
	name       string
	ending     string // of lineitem's file
	writes     string // the ending of the file that the statement writes; empty: it writes none
	sql        string
	duck       string      // sql in DuckDB's dialect; empty: the same
	query      *tpch.Query // one of TPC-H, over views of all files; nil: it is none
	countsOnly bool        // which rows come, or how they are written, is the engine's matter: only their number is compared
}

// fileCases returns the statements over one file, and TPC-H's queries.
func fileCases(sf float64) []fileCase {
	aggregates := "SELECT l_returnflag, l_linestatus, COUNT(*), SUM(l_quantity), SUM(l_extendedprice), SUM(l_discount) FROM {file} GROUP BY l_returnflag, l_linestatus ORDER BY 1, 2"
	var maxima []string
	for _, t := range tpch.Tables() {
		if t.Name == "lineitem" {
			for _, c := range t.Columns {
				maxima = append(maxima, "MAX("+c.Name+")")
			}
		}
	}
	var list []fileCase
	for _, ending := range []string{"parquet", "csv", "jsonl"} {
		list = append(list,
			fileCase{name: "DESCRIBE", ending: ending, sql: "DESCRIBE {file}", duck: "DESCRIBE SELECT * FROM {file}", countsOnly: true},
			fileCase{name: "COUNT(*)", ending: ending, sql: "SELECT COUNT(*) FROM {file}"},
			fileCase{name: "SUM(l_quantity)", ending: ending, sql: "SELECT SUM(l_quantity) FROM {file}"},
			fileCase{name: "MAX(l_comment)", ending: ending, sql: "SELECT MAX(l_comment) FROM {file}"},
			fileCase{name: "SUM WHERE l_orderkey < 10000", ending: ending, sql: "SELECT SUM(l_extendedprice) FROM {file} WHERE l_orderkey < 10000"},
			fileCase{name: "MAX(l_comment) WHERE l_discount = 0.1 AND l_quantity < 3", ending: ending, sql: "SELECT MAX(l_comment) FROM {file} WHERE l_discount = 0.1 AND l_quantity < 3"},
			fileCase{name: "SELECT * LIMIT 10", ending: ending, sql: "SELECT * FROM {file} LIMIT 10", countsOnly: true},
			fileCase{name: "4 aggregates by two columns", ending: ending, sql: aggregates},
			fileCase{name: "MAX of all columns", ending: ending, sql: "SELECT " + strings.Join(maxima, ", ") + " FROM {file}"})
	}
	for _, ending := range []string{"parquet", "csv", "jsonl"} {
		format := map[string]string{"jsonl": "json"}[ending]
		list = append(list, fileCase{name: "all rows INTO OUTFILE as " + ending, ending: "parquet", writes: ending,
			sql: "SELECT * FROM {file} INTO OUTFILE {out} OVERWRITE", duck: "COPY (SELECT * FROM {file}) TO {out} (FORMAT " + cmp.Or(format, ending) + ")"})
	}
	for _, q := range tpch.Queries(sf) {
		list = append(list, fileCase{name: fmt.Sprintf("TPC-H Q%d", q.Number), ending: "parquet", sql: q.SQL, query: &q})
	}
	return list
}

// fileRun is one statement for a process of its own.
type fileRun struct {
	Setup []string `json:"setup"`
	SQL   string   `json:"sql"`
}

// Run is the command files: statements over files in Radish and in DuckDB, each in a process of its own that finds nothing in its memory.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("files", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	sf := fs.Float64("sf", 0.3, "scale factor of the tables, at least 0.01")
	dir := fs.String("dir", filepath.Join("build", "files"), "folder of the files")
	reuse := fs.Bool("reuse", false, "take the files that are there and write only those that are missing")
	cases := fs.String("cases", "", "only the statements whose name or file contains one of these words, separated by commas")
	var common peers.Flags
	common.Register(fs, 3, "processes for each statement and engine; the one that took least counts", "")
	child := fs.Bool("child", false, "run the statement that stands on the standard input")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if *child {
		return runFileChild(ctx, set, out)
	}
	if err := common.NeedPython(fs, "bench-oracle"); err != nil {
		return err
	}
	if common.Runs < 1 {
		return cli.WrongUsage(fs, "--runs %d: a time needs a run", common.Runs)
	}
	b := fileBench{Settings: set, python: common.Python, dir: *dir, reuse: *reuse, runs: common.Runs, sf: *sf}
	for _, c := range fileCases(*sf) {
		if cli.MatchesWord(c.name+" "+c.ending, *cases) {
			b.cases = append(b.cases, c)
		}
	}
	var err error
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	defer b.close()
	if err := b.write(ctx); err != nil {
		return err
	}
	if err := b.run(ctx, out); err != nil {
		return err
	}
	if err := report.Write(&b, out, common.Markdown); err != nil {
		return err
	}
	return b.failed()
}

// runFileChild runs a statement as any program would, and prints the process's peak of resident memory.
func runFileChild(ctx context.Context, set database.Settings, out io.Writer) error {
	var r fileRun
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		return err
	}
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, sql := range append(r.Setup, r.SQL) {
		if err := db.Exec(ctx, sql); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, database.PeakRSS())
	return nil
}

// fileBench runs the cases.
type fileBench struct {
	database.Settings
	python, dir string
	reuse       bool // files that are there are not written anew
	cases       []fileCase
	runs        int
	sf          float64
	db          *database.DB // these two check the answers
	duck        *peers.DuckDB
	results     []fileResult
	bases       []fileResult // SELECT 1 beside each of them
}

// fileResult is what processes took for a case: the least of the runs, and the most memory.
type fileResult struct {
	fileCase
	radish, duckDB         time.Duration // of the processor
	radishPeak, duckDBPeak int64
	err                    error
}

func (b *fileBench) open(ctx context.Context) (err error) {
	if b.db, err = database.Open(b.Settings); err != nil {
		return err
	}
	if b.duck, err = peers.Start(ctx, b.python, b.db.Threads); err != nil {
		b.db.Close()
	}
	return err
}

func (b *fileBench) close() {
	b.db.Close()
	_ = b.duck.Close()
}

func (b *fileBench) path(table, ending string) string {
	return filepath.Join(b.dir, table+"."+ending)
}

// lacks says whether a file has to be written.
func (b *fileBench) lacks(table, ending string) bool {
	if !b.reuse {
		return true
	}
	_, err := os.Stat(b.path(table, ending))
	return err != nil
}

// write writes all tables as Parquet, and lineitem as those texts that a case reads.
func (b *fileBench) write(ctx context.Context) error {
	if b.lacks("lineitem", "parquet") {
		if err := database.ExportApart(ctx, b.sf, b.dir); err != nil {
			return err
		}
	}
	for _, ending := range []string{"csv", "jsonl"} {
		reads := slices.ContainsFunc(b.cases, func(c fileCase) bool { return c.ending == ending })
		if !reads || !b.lacks("lineitem", ending) {
			continue
		}
		sql := fmt.Sprintf("SELECT * FROM `%s` INTO OUTFILE %s OVERWRITE", b.path("lineitem", "parquet"), database.Quote(b.path("lineitem", ending)))
		if err := b.db.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// written is the name of the file that a case writes in one engine.
func (b *fileBench) written(engine string, c *fileCase) string {
	return b.path("written-by-"+engine, c.writes)
}

// statements returns a case in both engines' dialects.
func (b *fileBench) statements(c *fileCase) (radish, duck fileRun) {
	if c.query != nil {
		for _, t := range tpch.Tables() {
			path := b.path(t.Name, c.ending)
			radish.Setup = append(radish.Setup, fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT * FROM `%s`", t.Name, path))
			duck.Setup = append(duck.Setup, fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT * FROM %s", t.Name, database.Quote(path)))
		}
	}
	path := b.path("lineitem", c.ending)
	radish.SQL = strings.ReplaceAll(c.sql, "{file}", "`"+path+"`")
	if duck.SQL = c.duck; duck.SQL == "" {
		duck.SQL = c.sql
	}
	duck.SQL = strings.ReplaceAll(duck.SQL, "{file}", database.Quote(path))
	if c.writes != "" {
		radish.SQL = strings.ReplaceAll(radish.SQL, "{out}", database.Quote(b.written("radish", c)))
		duck.SQL = strings.ReplaceAll(duck.SQL, "{out}", database.Quote(b.written("duckdb", c)))
	}
	return radish, duck
}

var fileColumns = []report.Column{
	report.Text("statement", 56), report.Text("file", 7), report.Number("Radish CPU ms", 0),
	report.Number("DuckDB CPU ms", 0), report.Number("ratio", 6),
	report.Number("Radish MB", 0), report.Number("DuckDB MB", 0), report.Text("results", 0),
}

func (b *fileBench) run(ctx context.Context, out io.Writer) error {
	fmt.Fprint(out, report.Row(fileColumns, report.Titles(fileColumns)))
	for _, c := range b.cases {
		r, base := fileResult{fileCase: c}, fileResult{fileCase: fileCase{sql: "SELECT 1"}}
		if r.err = b.check(ctx, &r.fileCase); r.err == nil {
			b.measure(ctx, &base, &r)
		}
		if c.writes != "" {
			_ = os.Remove(b.written("radish", &c))
			_ = os.Remove(b.written("duckdb", &c))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.err = errors.Join(r.err, base.err)
		r.radish, r.duckDB = r.radish-base.radish, r.duckDB-base.duckDB
		b.bases = append(b.bases, base)
		b.results = append(b.results, r)
		fmt.Fprint(out, report.Row(fileColumns, r.cells()))
	}
	return nil
}

// check compares the case's rows.
func (b *fileBench) check(ctx context.Context, c *fileCase) error {
	radish, duck := b.statements(c)
	for i := range radish.Setup {
		if err := b.db.Exec(ctx, radish.Setup[i]); err != nil {
			return err
		}
		if _, err := b.duck.Do(duck.Setup[i], false, false); err != nil {
			return err
		}
	}
	if c.writes != "" {
		return b.checkWritten(ctx, c, radish.SQL, duck.SQL)
	}
	rows, _, err := b.db.Query(ctx, radish.SQL)
	if err != nil {
		return err
	}
	reply, err := b.duck.Do(duck.SQL, true, false)
	switch {
	case err != nil:
		return err
	case c.query != nil:
		return answers.SameResult(*c.query, rows, reply.Rows)
	case c.countsOnly && len(rows) != len(reply.Rows):
		return fmt.Errorf("%d rows in Radish and %d in DuckDB", len(rows), len(reply.Rows))
	case c.countsOnly:
		return nil
	}
	return answers.Agree(rows, reply.Rows, answers.CloseEnough)
}

// checkWritten has both engines write their files, and DuckDB compare them.
func (b *fileBench) checkWritten(ctx context.Context, c *fileCase, radish, duck string) error {
	if err := b.db.Exec(ctx, radish); err != nil {
		return err
	}
	if _, err := b.duck.Do(duck, false, false); err != nil {
		return err
	}
	var digests [2]string
	for i, engine := range []string{"radish", "duckdb"} {
		sql := "SELECT COUNT(*), SUM(HASH(CAST(t AS VARCHAR))) FROM " + database.Quote(b.written(engine, c)) + " t"
		reply, err := b.duck.Do(sql, true, false)
		if err != nil {
			return err
		}
		digests[i] = fmt.Sprint(reply.Rows)
	}
	if digests[0] != digests[1] {
		return fmt.Errorf("rows and digest of the written files: %s of Radish's, %s of DuckDB's", digests[0], digests[1])
	}
	return nil
}

// measure runs cases in processes of the two engines, in turn: what the machine does besides changes, and each case has it.
func (b *fileBench) measure(ctx context.Context, cases ...*fileResult) {
	for range b.runs {
		for _, r := range cases {
			if r.err = b.once(ctx, r); r.err != nil {
				return
			}
		}
	}
}

// once runs a case in one process of each engine.
func (b *fileBench) once(ctx context.Context, r *fileResult) error {
	ours, theirs := b.statements(&r.fileCase)
	radish, radishPeak, err := b.radishProcess(ctx, ours)
	if err != nil {
		return err
	}
	duckDB, duckDBPeak, err := b.duckDBProcess(ctx, theirs)
	if err != nil {
		return err
	}
	if r.radishPeak == 0 {
		r.radish, r.duckDB = radish, duckDB
	}
	r.radish, r.duckDB = min(r.radish, radish), min(r.duckDB, duckDB)
	r.radishPeak, r.duckDBPeak = max(r.radishPeak, radishPeak), max(r.duckDBPeak, duckDBPeak)
	return nil
}

func (b *fileBench) radishProcess(ctx context.Context, r fileRun) (cpu time.Duration, peak int64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	request, err := json.Marshal(r)
	if err != nil {
		return 0, 0, err
	}
	process := exec.CommandContext(ctx, self, "files", "--child", "--threads", fmt.Sprint(b.db.Threads), "--device", b.Device, "--memory-limit", b.MemoryLimit)
	process.Stdin, process.Stderr = strings.NewReader(string(request)), os.Stderr
	text, err := process.Output()
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscan(string(text), &peak); err != nil {
		return 0, 0, fmt.Errorf("the process said %q: %w", text, err)
	}
	return process.ProcessState.UserTime() + process.ProcessState.SystemTime(), peak, nil
}

func (b *fileBench) duckDBProcess(ctx context.Context, r fileRun) (cpu time.Duration, peak int64, err error) {
	duck, err := peers.Start(ctx, b.python, b.db.Threads)
	if err != nil {
		return 0, 0, err
	}
	statements := append(slices.Clip(r.Setup), r.SQL)
	if b.MemoryLimit != "" {
		statements = append([]string{"SET memory_limit = '" + b.MemoryLimit + "'"}, statements...)
	}
	for _, sql := range statements {
		reply, failed := duck.Do(sql, false, false)
		if peak = reply.Peak; failed != nil {
			return 0, 0, errors.Join(fmt.Errorf("DuckDB: %w", failed), duck.Close())
		}
	}
	if err := duck.Close(); err != nil {
		return 0, 0, err
	}
	state := duck.Process.ProcessState
	return state.UserTime() + state.SystemTime(), peak, nil
}

// leastRatio is the time below which a ratio says nothing: what SELECT 1 takes varies by more.
const leastRatio = 10 * time.Millisecond

func (r *fileResult) ratio() (ratio float64, ok bool) {
	return float64(r.radish) / float64(max(r.duckDB, 1)), r.err == nil && min(r.radish, r.duckDB) >= leastRatio
}

func (r *fileResult) cells() []string {
	cells := []string{r.name, r.ending}
	if r.err != nil {
		return append(cells, "", "", "", "", "", "✗ "+r.err.Error())
	}
	ratio := ""
	if x, ok := r.ratio(); ok {
		ratio = fmt.Sprintf("%.2f", x)
	}
	return append(cells, report.Millis(max(r.radish, 0)), report.Millis(max(r.duckDB, 0)), ratio, fmt.Sprint(r.radishPeak/1e6), fmt.Sprint(r.duckDBPeak/1e6), "✓ equal")
}

func (b *fileBench) failed() error {
	return report.CountFailures(b.results, "statements", func(r *fileResult) error { return r.err })
}

// WriteSummary writes what stands under the table.
func (b *fileBench) WriteSummary(out io.Writer) {
	var one, queries, memory []float64
	for i := range b.results {
		r := &b.results[i]
		ratio, ok := r.ratio()
		switch {
		case !ok:
			continue
		case r.query != nil:
			queries = append(queries, ratio)
		default:
			one = append(one, ratio)
		}
		memory = append(memory, float64(r.radishPeak)/float64(max(r.duckDBPeak, 1)))
	}
	var base fileResult
	for i := range b.bases {
		r := &b.bases[i]
		base.radish, base.duckDB = base.radish+r.radish/time.Duration(len(b.bases)), base.duckDB+r.duckDB/time.Duration(len(b.bases))
		base.radishPeak, base.duckDBPeak = max(base.radishPeak, r.radishPeak), max(base.duckDBPeak, r.duckDBPeak)
	}
	fmt.Fprintf(out, "\nRadish / DuckDB, geometric means: processor time of %d statements over one file %.2f, of %d queries of TPC-H %.2f; peak of resident memory %.2f. "+
		"SELECT 1, which is measured beside each, took %s ms and %s ms on average, which are taken off, and %d MB and %d MB, which are not. Statements below %s ms have no ratio.\n",
		len(one), report.GeometricMean(one), len(queries), report.GeometricMean(queries), report.GeometricMean(memory),
		report.Millis(base.radish), report.Millis(base.duckDB), base.radishPeak/1e6, base.duckDBPeak/1e6, report.Millis(leastRatio))
}

// Page is the comparison as a section of a page of results.
func (b *fileBench) Page() (heading string, columns []report.Column, rows [][]string) {
	heading = fmt.Sprintf("Files of TPC-H at scale factor %s; Radish %s and DuckDB %s, %d threads each, each statement in processes of its own, the least of %d; %s, %s.",
		database.ScaleText(b.sf), database.Version(), b.duck.Version, b.db.Threads, b.runs, database.Processor(), time.Now().UTC().Format(time.DateOnly))
	for i := range b.results {
		rows = append(rows, b.results[i].cells())
	}
	return heading, fileColumns, rows
}
