package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/radish-sql/radish/sql/types"
)

// runCalibrate is the command calibrate.
func runCalibrate(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	var set settings
	set.register(fs)
	rowsText := fs.String("rows", "1e8", "rows of the largest table that is compared on both sides; 0: nothing is compared")
	runs := fs.Int("runs", 5, "runs whose median is shown, after a first one")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	rows, err := strconv.ParseFloat(*rowsText, 64)
	if err != nil || !(rows >= 0 && rows <= 1e10) {
		return wrongUsage(fs, "--rows is a number, not %q", *rowsText)
	}
	if set.device == "auto" {
		set.device = "gpu"
	}
	db, err := openDatabase(set)
	if err != nil {
		return err
	}
	defer db.close()
	figures, took, err := db.query(ctx, "CALL radish_calibrate()")
	if err != nil {
		return err
	}
	cols := []tableColumn{{title: "cost", width: 9}, {title: "CPU", right: true, width: 9}, {title: "GPU", right: true, width: 9}, {title: "unit"}}
	fmt.Fprintf(out, "measured in %.1f s\n%s", took.Seconds(), textRow(cols, titles(cols)))
	for _, r := range figures {
		fmt.Fprint(out, textRow(cols, []string{r[0].Text(), figure(r[1]), figure(r[2]), r[3].Text()}))
	}
	if rows == 0 {
		return nil
	}
	c := choices{db: db, runs: max(*runs, 1), out: out}
	fmt.Fprintf(out, "\nwhat auto chooses, columns being on the GPU\n%s", textRow(choiceColumns, titles(choiceColumns)))
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

var choiceColumns = []tableColumn{
	{title: "rows", right: true, width: 10}, {title: "query", width: 8}, {title: "CPU ms", right: true, width: 9}, {title: "GPU ms", right: true, width: 9},
	{title: "auto", width: 7}, {title: "times as long", right: true},
}

// choices compares what auto chooses with what is faster.
type choices struct {
	db         *database
	runs       int
	out        io.Writer
	all, wrong int
	worst      float64
}

// compare runs three queries over a table on both sides, which have to agree.
func (c *choices) compare(ctx context.Context, rows int64) error {
	b := groupBench{db: c.db}
	return b.withTable(ctx, groupData{rows: rows, groups: 1000}, "t", func(*groupTotals) error {
		if err := c.db.exec(ctx, "CREATE TABLE d (k INT PRIMARY KEY, v BIGINT) SELECT k, MAX(v) v FROM t GROUP BY k"); err != nil {
			return err
		}
		for _, q := range []struct{ name, sql string }{
			{"scan", "SELECT COUNT(*), SUM(v) FROM t WHERE v > 0"},
			{"group by", groupQueries("t")[1].timed},
			{"join", "SELECT COUNT(*), SUM(t.v), SUM(d.v) FROM t JOIN d ON t.k = d.k WHERE d.v > 0"},
		} {
			if err := c.one(ctx, rows, q.name, q.sql); err != nil {
				return fmt.Errorf("%s of %d rows: %w", q.name, rows, err)
			}
		}
		return c.db.exec(ctx, "DROP TABLE d")
	})
}

func (c *choices) one(ctx context.Context, rows int64, name, sql string) error {
	cpu, want, err := c.on(ctx, "cpu", sql)
	if err != nil {
		return err
	}
	gpu, got, err := c.on(ctx, c.db.device, sql)
	if err != nil {
		return err
	}
	if err := sameRows(got, want); err != nil {
		return fmt.Errorf("the GPU gives other rows: %w", err)
	}
	if err := c.db.setDevice(ctx, "auto"); err != nil {
		return err
	}
	chosen, err := c.db.devices(ctx, sql)
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
	fmt.Fprint(c.out, textRow(choiceColumns, []string{strconv.FormatInt(rows, 10), name, millis(cpu), millis(gpu), chosen, fmt.Sprintf("%.2f", regret)}))
	return c.db.setDevice(ctx, c.db.device)
}

// on runs a query on a device.
func (c *choices) on(ctx context.Context, device, sql string) (took time.Duration, rows [][]types.Value, err error) {
	if err := c.db.setDevice(ctx, device); err != nil {
		return 0, nil, err
	}
	if rows, _, err = c.db.query(ctx, sql); err != nil { // statistics, columns, kernels
		return 0, nil, err
	}
	var times []time.Duration
	for range c.runs {
		t, err := c.db.measure(ctx, sql, nil)
		if err != nil {
			return 0, nil, err
		}
		times = append(times, t)
	}
	return median(times), rows, nil
}
