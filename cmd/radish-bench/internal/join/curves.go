package join

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/docs/plots/chart"
	"github.com/radish-sql/radish/sql/types"
)

// A curve is joins that differ in one number. Each is measured as the planner would have it, and with each algorithm forced.
type curve struct {
	name          string // of the files, and in tables
	axis          string // what differs
	points        []curvePoint
	forced        []forcedJoin
	isLogarithmic bool // the axis is logarithmic
}

// curvePoint is a join, and where it is on the axis.
type curvePoint struct {
	at   float64
	join largeJoin
}

// forcedJoin is a way to have a join: a hint, settings that SET takes, and what EXPLAIN calls such a join; "": anything.
type forcedJoin struct {
	name     string
	hint     string
	settings map[string]string
	is       string
}

// curveDefaults are the settings that ways of joining change.
var curveDefaults = map[string]string{
	"radish_gpu_join_partitions": "'auto'", "radish_gpu_join_sorted": "'hint'", "radish_gpu_join_passes": "0", "radish_gpu_join_bits": "0",
}

// chosenJoin leaves the choice to the planner.
var chosenJoin = forcedJoin{name: "chosen"}

// forcedJoins are all algorithms. An array by key needs dense keys.
var forcedJoins = []forcedJoin{
	{name: "hash table", hint: "HASH_JOIN(r, s)", settings: map[string]string{"radish_gpu_join_partitions": "'never'"}, is: "hash"},
	{name: "partitions", hint: "HASH_JOIN(r, s)", settings: map[string]string{"radish_gpu_join_partitions": "'always'"}, is: "partitioned hash"},
	{name: "sort-merge", hint: "MERGE_JOIN(r, s)", is: "sort-merge"},
	{name: "runs", hint: "INL_JOIN(r, s)", is: "index nested loop"},
	{name: "array", settings: map[string]string{"radish_gpu_join_partitions": "'never'"}, is: "dense"},
}

// passes are partitions by so many bits a pass.
func passes(n, from, to int) (all []forcedJoin) {
	for bits := from; bits <= to; bits++ {
		all = append(all, forcedJoin{
			name: fmt.Sprintf("%d x %d bits", n, bits), hint: "HASH_JOIN(r, s)", is: "partitioned hash",
			settings: map[string]string{"radish_gpu_join_partitions": "'always'", "radish_gpu_join_passes": strconv.Itoa(n), "radish_gpu_join_bits": strconv.Itoa(bits)},
		})
	}
	return all
}

// joinCurves are the curves; most is log2 of the larger tables' rows.
func joinCurves(most int) []curve {
	base := largeJoin{build: most, probe: most, typ: types.Int32, key: spread32}
	few := max(most-6, 4) // of the tables whose ratio differs
	both := max(most*3/4, 4)
	along := func(values []float64, change func(*largeJoin, float64)) (points []curvePoint) {
		for _, v := range values {
			j := base
			change(&j, v)
			points = append(points, curvePoint{v, j})
		}
		return points
	}
	var sizes []float64
	for bits := max(most-10, 4); bits < most; bits += 2 {
		sizes = append(sizes, math.Exp2(float64(bits)))
	}
	sizes = append(sizes, math.Exp2(float64(most)), math.Exp2(float64(most+1)))
	ofR := func(key func(int64) int64) func(*largeJoin, float64) {
		return func(j *largeJoin, v float64) {
			j.build, j.draw, j.key = int(math.Log2(v)), anyKeys, key
		}
	}
	zipf := func(j *largeJoin, v float64) {
		j.draw, j.skew = zipfDraw, v
		if v == 0 {
			j.draw = anyKeys
		}
	}
	return []curve{
		{name: "build", axis: "rows of R", isLogarithmic: true, points: along(sizes, ofR(spread32)), forced: forcedJoins[:4]},
		{name: "dense", axis: "rows of R, keys dense", isLogarithmic: true, points: along(sizes, ofR(plainKey)), forced: forcedJoins},
		{name: "ratio", axis: "|S| : |R|", isLogarithmic: true, forced: forcedJoins[:4], points: along([]float64{1, 4, 16, 64}, func(j *largeJoin, v float64) {
			j.build, j.probe, j.draw = few, few+int(math.Log2(v)), anyKeys
		})},
		{name: "share", axis: "matching share of S", isLogarithmic: true, forced: forcedJoins[:4], points: along([]float64{0.001, 0.01, 0.1, 0.5, 1}, func(j *largeJoin, v float64) {
			j.every = int64(math.Round(1 / v))
		})},
		{name: "matches", axis: "rows of R with a key", isLogarithmic: true, forced: forcedJoins[:4], points: along([]float64{1, 2, 4, 16}, func(j *largeJoin, v float64) {
			j.copies, j.probe, j.draw = int64(v), max(most-2, 4), anyKeys
		})},
		{name: "zipf", axis: "Zipf's exponent, keys of S", forced: forcedJoins[:4], points: along([]float64{0, 0.5, 1, 1.5}, zipf)},
		{name: "zipf-both", axis: "Zipf's exponent, keys of R and S", forced: forcedJoins[:4], points: along([]float64{0, 0.5, 1}, func(j *largeJoin, v float64) {
			zipf(j, v)
			j.build, j.probe, j.both = both, both, true
		})},
		{name: "keys", axis: "key columns", forced: forcedJoins[:3], points: along([]float64{1, 2, 3, 4}, func(j *largeJoin, v float64) { j.keys = int(v) })},
		{name: "values", axis: "value columns a side", forced: forcedJoins[:4], points: along([]float64{0, 1, 2, 4, 8}, func(j *largeJoin, v float64) {
			j.values, j.none = int(v), v == 0
		})},
		{name: "one-pass", axis: "rows of R", isLogarithmic: true, points: along([]float64{math.Exp2(float64(max(most-4, 4))), math.Exp2(float64(most))}, ofR(spread32)), forced: passes(1, 6, 9)},
		{name: "two-passes", axis: "rows of R", isLogarithmic: true, points: along([]float64{math.Exp2(float64(max(most-4, 4))), math.Exp2(float64(most))}, ofR(spread32)), forced: passes(2, 5, 8)},
	}
}

// curveWay is how a join was had, and what it took.
type curveWay struct {
	name   string
	kernel time.Duration // 0: there is no such join
	late   bool          // it was given up
	runs   bool          // it is there, and right
}

// curveLimit is how long a statement may take before a way of joining is given up.
const curveLimit = 1500 * time.Millisecond

// near is what a choice may cost beside the best way.
const near = 1.15

// joinCurveBench runs the curves on a device.
type joinCurveBench struct {
	db            *database.DB
	out           io.Writer
	runs          int
	points, close int      // all, and those whose choice is near the best
	far           []string // the others
}

// runJoinCurves measures the curves whose names are picked, or all, and writes a table and a picture of each into a folder. 0 seconds are no limit: curves that would
// begin later are left out.
func runJoinCurves(ctx context.Context, set *beside.Settings, most int, folder string, seconds int, out io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	db, err := database.Open(set.Settings)
	if err != nil {
		return err
	}
	defer db.Close()
	b := &joinCurveBench{db: db, out: out, runs: set.Runs}
	began := time.Now()
	var text strings.Builder
	fmt.Fprintf(&text, "Joins along curves, up to 2^%d rows; %s; device %s; commit %s; milliseconds of all kernels, medians of %d runs after a first one. A dash: there is no such join; >: it was given up after %s.\n",
		most, time.Now().UTC().Format(time.DateOnly), db.Device, database.Commit(), set.Runs, curveLimit)
	for _, c := range joinCurves(most) {
		if set.Cases != "" && !strings.Contains(","+set.Cases+",", ","+c.name+",") {
			continue
		}
		if seconds > 0 && time.Since(began) > time.Duration(seconds)*time.Second {
			fmt.Fprintf(out, "%s: no time is left\n", c.name)
			continue
		}
		if err := b.measure(ctx, &c, folder, &text); err != nil {
			return fmt.Errorf("curve %s: %w", c.name, err)
		}
		// Each curve is kept as it ends, lest a later one's failure cost it.
		if err := os.WriteFile(filepath.Join(folder, "curves.md"), []byte(text.String()+b.summary()), 0o644); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(out, b.summary())
	return err
}

// summary says how good the planner's choices were.
func (b *joinCurveBench) summary() string {
	if b.points == 0 {
		return ""
	}
	text := fmt.Sprintf("\nThe planner's choice takes at most 15%% more than the best way at %d of %d points (%.0f%%).\n", b.close, b.points, 100*float64(b.close)/float64(b.points))
	for _, far := range b.far {
		text += "- " + far + "\n"
	}
	return text
}

// measure runs the joins of a curve, and writes its table to text and its picture into the folder.
func (b *joinCurveBench) measure(ctx context.Context, c *curve, folder string, text *strings.Builder) error {
	columns := []report.Column{report.Number(c.axis, 12), report.Number("rows out", 11), report.Text("chosen", 16), report.Number("ms", 7)}
	for _, f := range c.forced {
		columns = append(columns, report.Number(f.name, 10))
	}
	columns = append(columns, report.Number("G rows/s", 8), report.Number("to the best", 11))
	picture := chart.Chart{Title: "Join along " + c.axis, Unit: "ms of kernels", Label: c.axis, Logarithmic: true, Plain: !c.isLogarithmic}
	series := make([][]float64, 1+len(c.forced))
	picture.Columns = append(picture.Columns, "chosen")
	for _, f := range c.forced {
		picture.Columns = append(picture.Columns, f.name)
	}
	fmt.Fprintf(b.out, "\n%s", report.Row(columns, report.Titles(columns)))
	var rows [][]string
	for _, p := range c.points {
		r, s, totals := p.join.tables()
		for _, t := range []*drawn.Table{r, s} {
			if err := t.Create(ctx, b.db); err != nil {
				return err
			}
		}
		want := totals()
		ways, err := b.ways(ctx, &p.join, append([]forcedJoin{chosenJoin}, c.forced...), want)
		if err != nil {
			return err
		}
		label := strconv.FormatFloat(p.at, 'f', -1, 64)
		best, ratio := b.judge(c, label, ways)
		cells := []string{label, strconv.FormatInt(want[0], 10), ways[0].name}
		for i, w := range ways {
			cells = append(cells, w.cell())
			series[i] = append(series[i], max(w.millis(), 0))
		}
		rate := float64(r.Rows+s.Rows+want[0]) / float64(max(ways[0].kernel, 1))
		cells = append(cells, fmt.Sprintf("%.1f", rate), ratio+" "+best)
		rows = append(rows, cells)
		picture.Labels = append(picture.Labels, label)
		fmt.Fprint(b.out, report.Row(columns, cells))
	}
	picture.Values = series
	fmt.Fprintf(text, "\n%s:\n\n", c.axis)
	report.Markdown(text, columns, rows)
	return os.WriteFile(filepath.Join(folder, c.name+".svg"), []byte(chart.Lines(&picture)), 0o644)
}

// judge compares the choice with the best forced way, and counts it.
func (b *joinCurveBench) judge(c *curve, label string, ways []curveWay) (best, ratio string) {
	least := time.Duration(math.MaxInt64)
	for i, w := range ways[1:] {
		if w.kernel > 0 && !w.late && w.kernel < least {
			least, best = w.kernel, c.forced[i].name
		}
	}
	if best == "" || ways[0].kernel == 0 {
		return "", ""
	}
	b.points++
	share := float64(ways[0].kernel) / float64(least)
	if share <= near {
		b.close++
	} else {
		b.far = append(b.far, fmt.Sprintf("%s %s: %s, %s ms, where %s takes %s", c.axis, label, ways[0].name, report.Millis(ways[0].kernel), best, report.Millis(least)))
	}
	return best, fmt.Sprintf("%.2f", share)
}

func (w *curveWay) millis() float64 { return float64(w.kernel) / float64(time.Millisecond) }

func (w *curveWay) cell() string {
	switch {
	case w.late:
		return ">"
	case w.kernel == 0:
		return "-"
	}
	return report.Millis(w.kernel)
}

// ways times the kernels of a join that is had in several ways. They take turns, so that what a device does slower for a while is slower for all.
func (b *joinCurveBench) ways(ctx context.Context, c *largeJoin, forced []forcedJoin, want [3]int64) ([]curveWay, error) {
	ways := make([]curveWay, len(forced))
	kernels := make([][]time.Duration, len(forced))
	for i := range forced {
		var err error
		if ways[i], err = b.begin(ctx, c, &forced[i], want); err != nil {
			return nil, err
		}
	}
	for range b.runs {
		for i := range forced {
			if !ways[i].runs {
				continue
			}
			if err := b.force(ctx, c, &forced[i]); err != nil {
				return nil, err
			}
			cost, err := b.db.Cost(ctx, c.sql())
			if err != nil {
				return nil, err
			}
			kernels[i] = append(kernels[i], time.Duration(cost.Kernels*float64(time.Millisecond)))
		}
	}
	for i, took := range kernels {
		if len(took) > 0 {
			ways[i].kernel = report.Median(took)
		}
	}
	return ways, nil
}

// force sets what has a join in some way.
func (b *joinCurveBench) force(ctx context.Context, c *largeJoin, f *forcedJoin) error {
	c.hint = f.hint
	for name, value := range curveDefaults {
		if own, ok := f.settings[name]; ok {
			value = own
		}
		if err := b.db.Exec(ctx, "SET "+name+" = "+value); err != nil {
			return err
		}
	}
	return nil
}

// begin has a join forced in some way, runs it twice and checks its result.
func (b *joinCurveBench) begin(ctx context.Context, c *largeJoin, f *forcedJoin, want [3]int64) (w curveWay, err error) {
	if err := b.force(ctx, c, f); err != nil {
		return w, err
	}
	sql := c.sql()
	plan, _, err := b.db.Query(ctx, "EXPLAIN "+sql)
	if err != nil {
		return w, err
	}
	if w.name = joinName(database.JoinText(plan)); f.is != "" && w.name != f.is {
		return w, nil
	}
	var rows [][]types.Value
	for _, limit := range []time.Duration{3 * curveLimit, curveLimit} { // the first one compiles
		limited, stop := context.WithTimeout(ctx, limit)
		rows, _, err = b.db.Query(limited, sql)
		stop()
		switch {
		case err == nil:
		case ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded):
			w.late = true
			return w, nil
		default:
			return w, err
		}
	}
	for i := range want {
		if got, w := rows[0][i].Text(), strconv.FormatInt(want[i], 10); got != w {
			return curveWay{}, fmt.Errorf("%s: column %d is %s, want %s", f.name, i+1, got, w)
		}
	}
	w.runs = true
	return w, nil
}

// joinName is what EXPLAIN calls the first join.
func joinName(text string) string {
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), " inner join with"); ok {
			return name
		}
	}
	return ""
}
