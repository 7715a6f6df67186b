package tpch

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/storage/tpch"
)

// gpusOptions are the flags of the command gpus.
type gpusOptions struct {
	set      database.Settings
	sf       float64
	from     string
	runs     int
	list     string
	markdown string
}

func (o *gpusOptions) register(fs *flag.FlagSet) {
	o.set.Register(fs)
	fs.Float64Var(&o.sf, "sf", 1, "scale factor, at least 0.01")
	fs.StringVar(&o.from, "from", "", "read the tables from this folder of Parquet files instead of generating them")
	fs.IntVar(&o.runs, "runs", 5, "hot runs")
	fs.StringVar(&o.list, "query", "", "numbers of queries, separated by commas; empty: all")
	fs.StringVar(&o.markdown, "markdown", "", "write the table to this file as markdown, too")
}

// gpusRun is a query on one GPU, or on several.
type gpusRun struct {
	rows    []string // sorted
	hot     []time.Duration
	kernels float64    // milliseconds
	shared  *sharedRun // nil: on one
}

// RunGPUs is the command gpus.
func RunGPUs(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("gpus", flag.ContinueOnError)
	var o gpusOptions
	o.register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	queries, err := pickQueries(o.sf, o.list)
	if err != nil {
		return cli.WrongUsage(fs, "%v", err)
	}
	db, err := database.Open(o.set)
	if err != nil {
		return err
	}
	defer db.Close()
	if db.GPUs > 1 { // otherwise all that there are
		if err := db.UseDevices(ctx, db.GPUs); err != nil {
			return err
		}
	}
	if o.from != "" {
		_, err = database.LoadTPCH(ctx, db, o.from)
	} else {
		_, err = database.GenerateTPCH(ctx, db, o.sf, database.UnusedColumns(queries))
	}
	if err != nil {
		return err
	}
	o.runs = max(o.runs, 1)
	var rows [][]string
	differ := 0
	for _, q := range queries {
		cells, same, err := o.query(ctx, db, q)
		if err != nil {
			return fmt.Errorf("query %d: %w", q.Number, err)
		}
		if !same {
			differ++
		}
		rows = append(rows, cells)
	}
	page := io.Discard
	if o.markdown != "" {
		f, err := os.Create(o.markdown)
		if err != nil {
			return err
		}
		defer f.Close()
		page = f
	}
	report.Print(out, page, fmt.Sprintf("TPC-H, scale factor %s, milliseconds. The model follows from the run on several GPUs, whose time it has exactly.", database.ScaleText(o.sf)), 2, []string{
		"query", "answers", "one GPU", "several", "times", "kernels", "several", "times", "moved", "model of one", "off by", "on 4", "on 8",
	}, rows)
	if differ > 0 {
		return fmt.Errorf("%d queries gave something else on several GPUs", differ)
	}
	return nil
}

// query runs a query on one GPU and on several. It returns its row of the table, and whether the answers were the same.
func (o *gpusOptions) query(ctx context.Context, db *database.DB, q tpch.Query) (cells []string, same bool, err error) {
	var both [2]gpusRun
	for turn, half := range []int{(o.runs + 1) / 2, o.runs / 2} { // in turn, since clocks and memory change meanwhile
		for i, share := range []string{"never", o.set.Share} {
			if err := o.run(ctx, db, q, share, &both[i], half, turn == 0); err != nil {
				return nil, false, err
			}
		}
	}
	one, several := both[0], both[1]
	same = slices.Equal(one.rows, several.rows)
	verdict := "same"
	if !same {
		verdict = "DIFFER"
	}
	ms := func(seconds float64) string { return fmt.Sprintf("%.2f", seconds*1e3) }
	cells = []string{
		fmt.Sprintf("Q%d", q.Number), verdict, ms(one.wall().Seconds()), ms(several.wall().Seconds()), times(one.wall().Seconds(), several.wall().Seconds()),
		fmt.Sprintf("%.2f", one.kernels), fmt.Sprintf("%.2f", several.kernels), times(one.kernels, several.kernels),
	}
	r := several.shared
	if r == nil {
		return append(cells, "on one", "", "", "", ""), same, nil
	}
	r.wall = several.wall().Seconds()
	moved := 0.0
	for i := range r.steps {
		moved += r.steps[i].bytes
	}
	model := r.at(1)
	return append(cells, fmt.Sprintf("%.1f MB", moved/1e6), ms(model), fmt.Sprintf("%+.0f%%", 100*(model/one.wall().Seconds()-1)), ms(r.at(4)), ms(r.at(8))), same, nil
}

// times is how many times as long a takes as b.
func times(a, b float64) string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", a/b)
}

// run runs a query where the session's radish_gpu_share says, so many times after a first one. The first time it learns all else that r tells.
func (o *gpusOptions) run(ctx context.Context, db *database.DB, q tpch.Query, share string, r *gpusRun, times int, first bool) error {
	if err := db.Exec(ctx, "SET radish_gpu_share = "+database.Quote(share)); err != nil {
		return err
	}
	var rows []string
	if _, err := db.Measure(ctx, q.SQL, func(b *column.Batch) {
		for _, row := range database.AppendRows(nil, b) {
			var text strings.Builder
			for _, v := range row {
				if v.Type.IsFloat() && !v.Null {
					fmt.Fprintf(&text, "%.10g|", v.F)
				} else {
					text.WriteString(v.Text() + "|")
				}
			}
			rows = append(rows, text.String())
		}
	}); err != nil {
		return err
	}
	for range times {
		took, err := db.Measure(ctx, q.SQL, nil)
		if err != nil {
			return err
		}
		r.hot = append(r.hot, took)
	}
	if !first {
		return nil
	}
	slices.Sort(rows)
	r.rows = rows
	explained, _, err := db.Query(ctx, "EXPLAIN ANALYZE FORMAT = 'json' "+q.SQL)
	if err != nil {
		return err
	}
	cost, err := db.Cost(ctx, q.SQL)
	if err != nil {
		return err
	}
	r.kernels = cost.Kernels
	if err := db.Timelines.Record(ctx, db, fmt.Sprintf("Q%d, radish_gpu_share = %s", q.Number, share), q.SQL); err != nil {
		return err
	}
	r.shared, err = parseSharedRun(database.JoinText(explained))
	return err
}

// wall is the median of the hot runs.
func (r *gpusRun) wall() time.Duration { return report.Median(r.hot) }
