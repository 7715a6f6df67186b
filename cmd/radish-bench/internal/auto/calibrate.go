package auto

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/groupby"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
)

// RunCalibrate is the command calibrate.
func RunCalibrate(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	rowsText := fs.String("rows", "1e8", "rows of the largest table that is compared on both sides; 0: nothing is compared")
	runs := fs.Int("runs", 5, "runs whose median is shown, after a first one")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	rows, err := strconv.ParseFloat(*rowsText, 64)
	if err != nil || !(rows >= 0 && rows <= 1e10) {
		return cli.WrongUsage(fs, "--rows is a number, not %q", *rowsText)
	}
	if set.Device == "auto" {
		set.Device = "gpu"
	}
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	figures, took, err := db.Query(ctx, "CALL radish_calibrate()")
	if err != nil {
		return err
	}
	cols := []report.Column{report.Text("cost", 9), report.Number("CPU", 9), report.Number("GPU", 9), report.Text("unit", 0)}
	fmt.Fprintf(out, "measured in %.1f s\n%s", took.Seconds(), report.Row(cols, report.Titles(cols)))
	for _, r := range figures {
		fmt.Fprint(out, report.Row(cols, []string{r[0].Text(), figure(r[1]), figure(r[2]), r[3].Text()}))
	}
	if rows == 0 {
		return nil
	}
	c := choices{db: db, runs: max(*runs, 1), out: out}
	fmt.Fprintf(out, "\nwhat auto chooses, columns being on the GPU\n%s", report.Row(choiceColumns, report.Titles(choiceColumns)))
	for step := 0; ; step++ {
		n := int64(math.Round(1e4 * math.Pow(10, float64(step)/2)))
		if n > int64(rows) {
			break
		}
		if err := c.compare(ctx, n); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "auto chose the slower side %d times of %d; at worst its choice took %.2f times as long\n", c.wrong, c.all, c.worst)
	return nil
}

// figure formats a cost.
func figure(v types.Value) string {
	if v.Null {
		return ""
	}
	return strconv.FormatFloat(v.F, 'g', 3, 64)
}

var choiceColumns = []report.Column{
	report.Number("rows", 10), report.Text("query", 8), report.Number("CPU ms", 9), report.Number("GPU ms", 9),
	report.Text("auto", 7), report.Number("times as long", 0),
}

// choices compares what auto chooses with what is faster.
type choices struct {
	db         *database.DB
	runs       int
	out        io.Writer
	all, wrong int
	worst      float64
}

// compare runs three queries over a table on both sides, which have to agree.
func (c *choices) compare(ctx context.Context, rows int64) error {
	b := groupby.Bench{DB: c.db}
	return b.WithTable(ctx, drawn.GroupData{Rows: rows, Groups: 1000}, "t", func(*drawn.GroupTotals) error {
		if err := c.db.Exec(ctx, "CREATE TABLE d (k INT PRIMARY KEY, v BIGINT) SELECT k, MAX(v) v FROM t GROUP BY k"); err != nil {
			return err
		}
		for _, q := range []struct{ name, sql string }{
			{"scan", "SELECT COUNT(*), SUM(v) FROM t WHERE v > 0"},
			{"group by", groupby.Queries("t")[1].Timed},
			{"join", "SELECT COUNT(*), SUM(t.v), SUM(d.v) FROM t JOIN d ON t.k = d.k WHERE d.v > 0"},
		} {
			if err := c.one(ctx, rows, q.name, q.sql); err != nil {
				return fmt.Errorf("%s of %d rows: %w", q.name, rows, err)
			}
		}
		return c.db.Exec(ctx, "DROP TABLE d")
	})
}

func (c *choices) one(ctx context.Context, rows int64, name, sql string) error {
	cpu, want, err := c.on(ctx, "cpu", sql)
	if err != nil {
		return err
	}
	gpu, got, err := c.on(ctx, c.db.Device, sql)
	if err != nil {
		return err
	}
	if err := groupby.SameRows(got, want); err != nil {
		return fmt.Errorf("the GPU gives other rows: %w", err)
	}
	if err := c.db.SetDevice(ctx, "auto"); err != nil {
		return err
	}
	chosen, err := c.db.Devices(ctx, sql)
	if err != nil {
		return err
	}
	regret := float64(cpu) / float64(min(cpu, gpu))
	if chosen != "cpu" {
		regret = float64(gpu) / float64(min(cpu, gpu))
	}
	c.all++
	if regret > 1 {
		c.wrong++
	}
	c.worst = max(c.worst, regret)
	fmt.Fprint(c.out, report.Row(choiceColumns, []string{strconv.FormatInt(rows, 10), name, report.Millis(cpu), report.Millis(gpu), chosen, fmt.Sprintf("%.2f", regret)}))
	return c.db.SetDevice(ctx, c.db.Device)
}

// on runs a query on a device.
func (c *choices) on(ctx context.Context, device, sql string) (took time.Duration, rows [][]types.Value, err error) {
	if err := c.db.SetDevice(ctx, device); err != nil {
		return 0, nil, err
	}
	if rows, _, err = c.db.Query(ctx, sql); err != nil { // statistics, columns, kernels
		return 0, nil, err
	}
	var times []time.Duration
	for range c.runs {
		t, err := c.db.Measure(ctx, sql, nil)
		if err != nil {
			return 0, nil, err
		}
		times = append(times, t)
	}
	return report.Median(times), rows, nil
}
