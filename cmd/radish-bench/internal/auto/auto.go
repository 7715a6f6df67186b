// Package auto judges what radish_device = 'auto' chooses, over the workloads of other packages and a grid of small statements, and measures what it estimates with.
package auto

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/dbops"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/tpcds"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/windows"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/workload"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

var workloads = map[string]workload.Workload{
	"tpch": {
		Tables: func(ctx context.Context, db *database.DB, sf float64) error {
			for _, t := range tpch.Tables() {
				if err := db.Exec(ctx, "DROP TABLE IF EXISTS "+t.Name); err != nil {
					return err
				}
			}
			_, err := database.GenerateTPCH(ctx, db, sf, database.UnusedColumns(tpch.Queries(sf)))
			return err
		},
		Queries: func(sf float64) (list []workload.Question) {
			for _, q := range tpch.Queries(sf) {
				list = append(list, workload.Question{Name: fmt.Sprintf("Q%d", q.Number), SQL: q.SQL})
			}
			return list
		},
	},
	"dbops": {
		Tables: func(ctx context.Context, db *database.DB, rows float64) error {
			return dbops.Tables(ctx, db, int64(rows))
		},
		Queries: func(float64) (list []workload.Question) {
			for _, q := range dbops.Questions() {
				list = append(list, workload.Question{Name: q.Name, What: q.What, SQL: q.SQL})
			}
			return list
		},
	},
	"windows": {
		Tables: func(ctx context.Context, db *database.DB, rows float64) error {
			path := filepath.Join("build", "windows", fmt.Sprintf("w%d.parquet", int64(rows)))
			if _, err := os.Stat(path); err != nil {
				if err := windows.ExportTable(ctx, path, int64(rows)); err != nil {
					return err
				}
			}
			if err := db.Exec(ctx, "DROP TABLE IF EXISTS w"); err != nil {
				return err
			}
			return (&windows.Comparison{DB: db}).LoadRadish(ctx, path)
		},
		Queries: func(float64) (list []workload.Question) {
			for i, c := range windows.Cases {
				list = append(list, workload.Question{Name: fmt.Sprintf("%d %.20s", i+1, c.String()), SQL: c.Timed()})
			}
			return list
		},
	},
	"grid": {
		Tables: func(ctx context.Context, db *database.DB, rows float64) error {
			return gridTables(ctx, db, int64(rows))
		},
		Queries: func(float64) []workload.Question { return gridQuestions() },
	},
}

// Run is the command auto: it compares what radish_device = 'auto' does, from the first run on, with both devices forced.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("auto", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	name := fs.String("workload", "tpch",
		"tpch, dbops, grid, windows, or tpcds, of which radish-bench tpcds has made the tables, in build/tpcds")
	sizes := fs.String("sizes", "1", "scale factors, or numbers of rows, separated by commas")
	texts := fs.String("queries", "../shared/tpcds/queries", "for --workload tpcds: folder of the queries, q01.sql to q99.sql")
	rounds := fs.Int("rounds", 5, "rounds with auto, at least 3")
	hot := fs.Int("hot", 4, "how often each query runs on each device at last, besides a first time")
	sessions := fs.String("sessions", "",
		"numbers of sessions that run the queries in turn, separated by commas; empty: this is not measured")
	mixed := fs.String("mixed", "",
		"numbers of sessions that run the queries beside four of small statements, separated by commas; empty: this is "+
			"not measured")
	seconds := fs.Float64("seconds", 3, "how long each number of sessions runs, on each device")
	settle := fs.Duration("settle", 30*time.Second,
		"how long to wait between rounds at the most for what auto does in the background; 0: not at all")
	brief := fs.Bool("brief", false, "print the queries that took too long, and sums, but not all queries")
	why := fs.Bool("why", false, "print what EXPLAIN and EXPLAIN ANALYZE say about the device of queries that took too long")
	markdown := fs.String("markdown", "", "write the tables to this file as markdown, too")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	w, ok := workloads[*name]
	if *name == "tpcds" {
		w, ok = tpcds.Workload(*texts), true
	}
	if !ok {
		return cli.WrongUsage(fs, "there is no workload %q", *name)
	}
	if *rounds < 3 || *hot < 1 {
		return cli.WrongUsage(fs, "--rounds is 3 or more, --hot is 1 or more")
	}
	counts, err := numbers(*sessions)
	if err != nil {
		return cli.WrongUsage(fs, "--sessions: %v", err)
	}
	beside, err := numbers(*mixed)
	if err != nil {
		return cli.WrongUsage(fs, "--mixed: %v", err)
	}
	scales, err := numbers(*sizes)
	if err != nil || len(scales) == 0 {
		return cli.WrongUsage(fs, "--sizes are numbers, not %q", *sizes)
	}
	folder, err := database.EmptyKernelCache() // also without costs and whatever else earlier processes have learned
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	set.Device = "auto"
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.SetDevice(ctx, "gpu"); err != nil {
		return err
	}
	b := autoBench{db: db, w: w, rounds: *rounds, hot: *hot, settle: *settle, out: out, brief: *brief, saysWhy: *why}
	for _, size := range scales {
		fmt.Fprintf(out, "%s %s\n", *name, database.ScaleText(size))
		if err := b.size(ctx, size); err != nil {
			return err
		}
		if err := b.throughput(ctx, size, counts, beside, time.Duration(*seconds*float64(time.Second))); err != nil {
			return err
		}
	}
	if *markdown != "" {
		return os.WriteFile(*markdown, []byte(b.tables.String()), 0o644)
	}
	return nil
}

// throughput measures sessions that run the queries in turn, in the given numbers, and others that do so beside sessions of small statements.
func (b *autoBench) throughput(ctx context.Context, size float64, counts, beside []float64, each time.Duration) error {
	for _, n := range counts {
		if err := b.sessions(ctx, size, int(n), each); err != nil {
			return err
		}
	}
	if len(beside) > 0 {
		if err := smallTable(ctx, b.db); err != nil {
			return err
		}
	}
	for _, n := range beside {
		if err := b.mixed(ctx, size, int(n), each); err != nil {
			return err
		}
	}
	return nil
}

// numbers reads a list of numbers.
func numbers(list string) ([]float64, error) {
	var out []float64
	for _, s := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x > 0) {
			return nil, fmt.Errorf("%q is no number above 0", s)
		}
		out = append(out, x)
	}
	return out, nil
}

type autoBench struct {
	db      *database.DB
	w       workload.Workload
	rounds  int
	hot     int // runs of each query on each device at last, besides a first one: as often in each order where it is even
	settle  time.Duration
	out     io.Writer
	brief   bool
	saysWhy bool
	tables  strings.Builder
}

// autoRun is what one query has taken.
type autoRun struct {
	workload.Question
	rows     [][]types.Value
	cpuFirst time.Duration
	rounds   []time.Duration            // with auto
	hot      map[string][]time.Duration // afterwards, by device, in turn: processors do not keep one speed
	device   string                     // that auto chose then
}

func (r *autoRun) median(device string) time.Duration { return report.Median(r.hot[device]) }

func (r *autoRun) best() time.Duration { return min(r.median("cpu"), r.median("gpu")) }

// size measures one size of the tables. The CPU's first round and auto's both find fresh tables: without statistics, and nothing of theirs on the GPU.
func (b *autoBench) size(ctx context.Context, size float64) error {
	var runs []*autoRun
	for _, q := range b.w.Queries(size) {
		runs = append(runs, &autoRun{Question: q, hot: map[string][]time.Duration{}})
	}
	passed := b.phases()
	if err := b.fresh(ctx, size, "cpu"); err != nil {
		return err
	}
	passed("tables made")
	for _, r := range runs {
		var err error
		if r.rows, r.cpuFirst, err = b.db.Query(ctx, r.SQL); err != nil {
			return fmt.Errorf("%s on the CPU: %w", r.Name, err)
		}
	}
	passed("first round on the CPU")
	if err := b.fresh(ctx, size, "auto"); err != nil {
		return err
	}
	passed("tables made again")
	for i := range b.rounds {
		for _, r := range runs {
			took, err := b.run(ctx, r)
			if err != nil {
				return err
			}
			r.rounds = append(r.rounds, took)
		}
		passed(fmt.Sprintf("round %d with auto", i+1))
		if err := b.quiet(ctx); err != nil {
			return err
		}
		passed("what it left to the background")
	}
	orders := [][]string{{"auto", "gpu", "cpu"}, {"auto", "cpu", "gpu"}} // auto and the GPU are behind the CPU, which leaves other things in the caches, equally often
	for _, r := range runs {
		for i := range 1 + b.hot {
			for _, device := range orders[i%len(orders)] {
				if err := b.db.SetDevice(ctx, device); err != nil {
					return err
				}
				took, err := b.run(ctx, r)
				if err != nil {
					return err
				}
				if i > 0 {
					r.hot[device] = append(r.hot[device], took)
				}
			}
		}
		var err error
		if err = b.db.SetDevice(ctx, "auto"); err == nil {
			r.device, err = b.db.Devices(ctx, r.SQL)
		}
		if err != nil {
			return err
		}
		if b.saysWhy && ratio(r.median("auto"), r.best()) > 1.2 {
			if err := b.explain(ctx, r); err != nil {
				return err
			}
		}
	}
	passed("hot runs in turn")
	b.report(size, runs)
	return nil
}

// phases returns what prints how long a phase of a size has taken, as soon as it has passed: large sizes take minutes until the first table.
func (b *autoBench) phases() (passed func(what string)) {
	last := time.Now()
	return func(what string) {
		now := time.Now()
		fmt.Fprintf(b.out, "%s: %.1f s\n", what, now.Sub(last).Seconds())
		last = now
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// explain prints what EXPLAIN and, twice, EXPLAIN ANALYZE say about the device of a query.
func (b *autoBench) explain(ctx context.Context, r *autoRun) error {
	for _, explain := range []string{"EXPLAIN ", "EXPLAIN ANALYZE ", "EXPLAIN ANALYZE "} {
		rows, _, err := b.db.Query(ctx, explain+r.SQL)
		if err != nil {
			return err
		}
		said := map[string]bool{}
		for _, line := range strings.Split(database.JoinText(rows), "\n") {
			if _, reason, ok := strings.Cut(line, "pu: "); ok && !said[reason] { // pipeline 0 on gpu: it took ...
				said[reason] = true
				fmt.Fprintf(b.out, "%s: %s%s\n", r.Name, explain, strings.TrimSpace(line))
			}
		}
	}
	return nil
}

// fresh makes the tables anew, has everything forgotten that was learned, and sets the device.
func (b *autoBench) fresh(ctx context.Context, size float64, device string) error {
	if err := b.db.SetDevice(ctx, "cpu"); err != nil {
		return err
	}
	if err := b.w.Tables(ctx, b.db, size); err != nil {
		return err
	}
	if err := b.db.Exec(ctx, "CALL radish_forget()"); err != nil {
		return err
	}
	d, err := gpu.Shared(b.db.Library)
	if err != nil {
		return err
	}
	d.ForgetKernels()
	runtime.GC()
	return b.db.SetDevice(ctx, device)
}

// run runs a query, whose rows have to be the CPU's.
func (b *autoBench) run(ctx context.Context, r *autoRun) (time.Duration, error) {
	rows, took, err := b.db.Query(ctx, r.SQL)
	if err == nil {
		err = nearRows(rows, r.rows)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.Name, err)
	}
	if took > slowRun {
		fmt.Fprintf(b.out, "%s: a run of %.1f s\n", r.Name, took.Seconds())
	}
	return took, nil
}

// slowRun is what takes so long that it is printed at once.
const slowRun = 5 * time.Second

// quiet waits until nothing is done in the background.
func (b *autoBench) quiet(ctx context.Context) error {
	for end := time.Now().Add(b.settle); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		rows, _, err := b.db.Query(ctx, "SELECT COUNT(*) FROM information_schema.radish_devices WHERE background <> ''")
		if err != nil || rows[0][0].I == 0 {
			return err
		}
	}
	return nil
}

// nearRows says how two results differ, in whatever order their rows come: doubles may by a billionth.
func nearRows(a, b [][]types.Value) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d rows, not %d", len(a), len(b))
	}
	text := func(rows [][]types.Value) []string {
		out := make([]string, len(rows))
		for i, row := range rows {
			for _, v := range row {
				switch {
				case v.Null:
					out[i] += "NULL|"
				case v.Type.Kind == types.KindDouble:
					out[i] += strconv.FormatFloat(v.F, 'e', 8, 64) + "|"
				default:
					out[i] += v.Text() + "|"
				}
			}
		}
		slices.Sort(out)
		return out
	}
	x, y := text(a), text(b)
	for i := range x {
		if x[i] != y[i] {
			return fmt.Errorf("row %d is %s, not %s", i+1, x[i], y[i])
		}
	}
	return nil
}

var autoColumns = []report.Column{
	report.Text("query", 24), report.Number("CPU first", 9), report.Number("round 1", 9), report.Number("2", 9),
	report.Number("3", 9), report.Number("auto", 9), report.Number("CPU", 9), report.Number("GPU", 9),
	report.Number("3 / best", 8), report.Number("auto / best", 11), report.Text("device", 7),
}

// report prints what the queries have taken.
func (b *autoBench) report(size float64, runs []*autoRun) {
	fmt.Fprint(b.out, report.Row(autoColumns, report.Titles(autoColumns)))
	var rows [][]string
	var cpuFirst, first, third, auto, best, cpu, gpu time.Duration
	var thirds, autos []float64
	slowFirst := 0
	for _, r := range runs {
		atThird, atLast, atFirst := ratio(r.rounds[2], r.best()), ratio(r.median("auto"), r.best()), ratio(r.rounds[0], r.cpuFirst)
		thirds, autos = append(thirds, atThird), append(autos, atLast)
		cells := []string{
			r.Name, report.Millis(r.cpuFirst), report.Millis(r.rounds[0]), report.Millis(r.rounds[1]), report.Millis(r.rounds[2]), report.Millis(r.median("auto")), report.Millis(r.median("cpu")), report.Millis(r.median("gpu")),
			fmt.Sprintf("%.2f", atThird), fmt.Sprintf("%.2f", atLast), r.device,
		}
		rows = append(rows, cells)
		if atFirst > 1.1 {
			slowFirst++
		}
		if !b.brief || atLast > 1.2 || atThird > 1.5 {
			fmt.Fprint(b.out, report.Row(autoColumns, cells))
		}
		cpuFirst, first, third, auto = cpuFirst+r.cpuFirst, first+r.rounds[0], third+r.rounds[2], auto+r.median("auto")
		best, cpu, gpu = best+r.best(), cpu+r.median("cpu"), gpu+r.median("gpu")
	}
	within := func(list []float64, most float64) float64 {
		n := 0
		for _, x := range list {
			if x <= most {
				n++
			}
		}
		return 100 * float64(n) / float64(len(list))
	}
	text := fmt.Sprintf("first round %s ms, the CPU's %s (%.2f); %d of %d queries above 1.1 times the CPU's\n", report.Millis(first), report.Millis(cpuFirst), ratio(first, cpuFirst), slowFirst, len(runs)) +
		fmt.Sprintf("third round %s ms; each at most %.2f times the faster device, %.0f%% within 1.2, %.0f%% within 1.3\n",
			report.Millis(third), slices.Max(thirds), within(thirds, 1.2), within(thirds, 1.3)) +
		fmt.Sprintf("then, in turn, auto %s ms (%.0f queries a second), CPU %s, GPU %s, the faster of both %s: %.2f; each at most %.2f times, %.0f%% within 1.2, %.0f%% within 1.3\n",
			report.Millis(auto), float64(len(runs))/max(auto.Seconds(), math.SmallestNonzeroFloat64), report.Millis(cpu), report.Millis(gpu), report.Millis(best), ratio(auto, best),
			slices.Max(autos), within(autos, 1.2), within(autos, 1.3))
	fmt.Fprint(b.out, text)
	fmt.Fprintf(&b.tables, "size %s\n\n", database.ScaleText(size))
	report.Markdown(&b.tables, autoColumns, rows)
	fmt.Fprintf(&b.tables, "\n%s\n", text)
}

// sessions counts the queries that n sessions run in some time, under auto and on the GPU, in turn from different ones on.
func (b *autoBench) sessions(ctx context.Context, size float64, n int, length time.Duration) error {
	fmt.Fprintf(b.out, "%d sessions:", n)
	for _, device := range []string{"gpu", "auto"} {
		rate, err := b.rate(ctx, b.w.Queries(size), device, n, length)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, " %s %.0f queries a second", device, rate)
		fmt.Fprintf(&b.tables, "%d sessions, %s: %.0f queries a second\n\n", n, device, rate)
	}
	fmt.Fprintln(b.out)
	return nil
}

// newSession returns a session of its own on the same tables.
func (b *autoBench) newSession(ctx context.Context, device string) (*database.DB, error) {
	s := &database.DB{Engine: b.db.Engine, Session: b.db.Engine.NewSession()}
	return s, s.SetDevice(ctx, device)
}

func (b *autoBench) rate(ctx context.Context, queries []workload.Question, device string, n int, length time.Duration) (float64, error) {
	var done atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, n)
	begin := time.Now()
	for i := range n {
		s, err := b.newSession(ctx, device)
		if err != nil {
			return 0, err
		}
		wg.Go(func() {
			for at := i; time.Since(begin) < length; at++ {
				if err := s.Exec(ctx, queries[at%len(queries)].SQL); err != nil {
					errs <- err
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	select {
	case err := <-errs:
		return 0, err
	default:
	}
	return float64(done.Load()) / took.Seconds(), nil
}
