package tpch

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/storage/tpch"
)

// RunCompile is the command compile.
func RunCompile(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("compile", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	sf := fs.Float64("sf", 0.1, "scale factor of TPC-H, whose kernels are compiled")
	setup := fs.String("setup", "", "run this file of statements instead of generating TPC-H; --queries is needed then")
	queries := fs.String("queries", "", "folder of .sql files, a query each, instead of TPC-H's")
	processes := fs.String("processes", "-1",
		"numbers of processes that compile, separated by commas; -1: as many as suit the machine; empty: kernels are "+
			"counted only")
	chip := fs.Int("chip", 90, "compute capability to compile for")
	sessions := fs.Int("sessions", 16, "sessions that begin a query of their own at once")
	first := fs.Bool("first", false, "the kernels of first runs, which compile sooner, in place of those of later runs, by the compiler's quick options")
	write := fs.String("write", "", "write the kernels' texts into this folder")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if set.Device == "auto" {
		set.Device = "emulated" // texts need no GPU
	}
	if set.Device == "cpu" || (*setup != "") != (*queries != "") || *sessions < 1 {
		return cli.WrongUsage(fs, "kernels are of --device emulated, gpu or gpu_strict; --setup and --queries belong together; --sessions is at least 1")
	}
	var counts []int
	for _, text := range strings.FieldsFunc(*processes, func(c rune) bool { return c == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil || n < -1 || n > 64 {
			return cli.WrongUsage(fs, "--processes is numbers from -1 to 64, not %q", *processes)
		}
		counts = append(counts, n)
	}
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	if d := db.GPU(); d != nil {
		d.UseTuning(*chip, *first)
	}
	asked, err := compileQueries(ctx, db, *sf, *setup, *queries)
	if err != nil {
		return err
	}
	if err := sourcesOf(ctx, db, asked); err != nil {
		return err
	}
	if *write != "" {
		if err := writeSources(*write, asked); err != nil {
			return err
		}
	}
	all, distinct := 0, map[string]bool{}
	for _, q := range asked {
		for _, s := range q.sources {
			all++
			distinct[s] = true
		}
	}
	fmt.Fprintf(out, "%d queries, %d kernels, %d of them different\n", len(asked), all, len(distinct))
	if len(counts) == 0 {
		return nil
	}
	lib, err := gpukernels.Default()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "sm_%d, %s, %d processors\n\n", *chip, database.Processor(), runtime.GOMAXPROCS(0))
	fmt.Fprint(out, report.Row(compileColumns, report.Titles(compileColumns)))
	for _, n := range counts {
		if err := compileAll(ctx, out, lib, *chip, n, *sessions, *first, asked); err != nil {
			return err
		}
	}
	return nil
}

// compileQuery is a query with its kernels.
type compileQuery struct {
	name, sql string
	sources   []string // the longest to compile first
}

// compileQueries makes the tables, and returns the queries.
func compileQueries(ctx context.Context, db *database.DB, sf float64, setup, folder string) (out []*compileQuery, err error) {
	if setup == "" {
		if _, err := database.GenerateTPCH(ctx, db, sf, nil); err != nil {
			return nil, err
		}
		for _, q := range tpch.Queries(sf) {
			out = append(out, &compileQuery{name: fmt.Sprintf("q%02d", q.Number), sql: q.SQL})
		}
		return out, nil
	}
	script, err := os.ReadFile(setup)
	if err == nil {
		err = db.Exec(ctx, string(script))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setup, err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s has no .sql file", folder)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		out = append(out, &compileQuery{name: strings.TrimSuffix(filepath.Base(file), ".sql"), sql: strings.TrimRight(strings.TrimSpace(string(text)), ";")})
	}
	return out, nil
}

// sourcesOf finds the queries' kernels.
func sourcesOf(ctx context.Context, db *database.DB, queries []*compileQuery) error {
	for _, q := range queries {
		rows, _, err := db.Query(ctx, "EXPLAIN FORMAT = 'kernels' "+q.sql)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		for _, source := range gpu.SplitKernels(database.JoinText(rows)) {
			if !slices.Contains(q.sources, source) {
				q.sources = append(q.sources, source)
			}
		}
		slices.SortStableFunc(q.sources, gpu.CompareWork)
	}
	return nil
}

func writeSources(folder string, queries []*compileQuery) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, q := range queries {
		for i, s := range q.sources {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s_%02d.cu", q.name, i)), []byte(s), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

var compileColumns = []report.Column{
	report.Number("processes", 9), report.Number("all s", 7), report.Number("sum s", 7),
	report.Number("median ms", 9), report.Number("longest ms", 10), report.Number("queries in turn s", 17),
	report.Number("longest query ms", 23), report.Number("sessions at once: median ms", 27),
	report.Number("longest ms", 17),
}

// compileAll compiles everything with so many processes: all kernels at once; then each query's by themselves; then those of some queries, which begin at once.
func compileAll(ctx context.Context, out io.Writer, lib *gpukernels.Library, chip, processes, sessions int, quickly bool, queries []*compileQuery) error {
	c := lib.NewCompilers(chip, processes)
	defer c.Close()
	var options []string
	if quickly {
		options = c.QuickOptions()
	}
	most := c.Status().Most
	c.Start(most)
	for c.Status().Processes < most {
		if s := c.Status(); s.Problem != "" {
			return fmt.Errorf("%d processes: %s", most, s.Problem)
		}
		time.Sleep(time.Millisecond)
	}
	// cold compiles the kernels of some queries, which begin at once. ends is when each had its last one.
	cold := func(queries []*compileQuery) (ends, took []time.Duration, err error) {
		begin := time.Now()
		var mutex sync.Mutex
		var all sync.WaitGroup
		ends = make([]time.Duration, len(queries))
		for i, q := range queries {
			turn := gpukernels.NewTurn()
			for _, source := range q.sources {
				all.Add(1)
				c.Go(turn, chip, source, options, func(_ []byte, each time.Duration, failed error) {
					mutex.Lock()
					defer mutex.Unlock()
					ends[i] = max(ends[i], time.Since(begin))
					took = append(took, each)
					if failed != nil && err == nil {
						err = fmt.Errorf("%s: %w", q.name, failed)
					}
					all.Done()
				})
			}
		}
		all.Wait()
		slices.Sort(took)
		if err == nil {
			err = ctx.Err()
		}
		return ends, took, err
	}
	ends, took, err := cold(queries)
	if err != nil {
		return err
	}
	sum := time.Duration(0)
	for _, t := range took {
		sum += t
	}
	inTurn, longest, longestName := time.Duration(0), time.Duration(0), ""
	for _, q := range queries {
		one, _, err := cold([]*compileQuery{q})
		if err != nil {
			return err
		}
		if inTurn += one[0]; one[0] > longest {
			longest, longestName = one[0], q.name
		}
	}
	var chosen []*compileQuery
	for i := range sessions {
		chosen = append(chosen, queries[i%len(queries)])
	}
	atOnce, _, err := cold(chosen)
	if err != nil {
		return err
	}
	slices.Sort(atOnce)
	ms := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds()*1e3, 'f', 0, 64) }
	s := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) }
	fmt.Fprint(out, report.Row(compileColumns, []string{strconv.Itoa(most), s(slices.Max(ends)), s(sum), ms(took[len(took)/2]), ms(took[len(took)-1]), s(inTurn),
		ms(longest) + " (" + longestName + ")", ms(atOnce[len(atOnce)/2]), ms(atOnce[len(atOnce)-1])}))
	if p := c.Status().Problem; p != "" && most > 0 {
		return fmt.Errorf("a process failed: %s", p)
	}
	return nil
}
