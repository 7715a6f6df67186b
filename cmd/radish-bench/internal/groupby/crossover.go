package groupby

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// The group-by of several key columns with one reduction for each of several value columns: M rows, N keys, K values.
const (
	wideKeys   = 3
	wideValues = 5
	wideDigits = 100 // values of a key column
)

var wideReductions = [wideValues]string{"MIN", "MAX", "SUM", "COUNT", "AVG"}

// wide runs that case over a number of rows.
func (b *Bench) wide(ctx context.Context, rows int64) error {
	schema := &table.Schema{Database: database.DefaultDatabase, Name: "wide"}
	var keys, aggs []string
	for i := range wideKeys {
		keys = append(keys, fmt.Sprintf("k%d", i+1))
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: keys[i], Type: types.Int32})
	}
	for i, f := range wideReductions {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: fmt.Sprintf("v%d", i+1), Type: types.Int32})
		aggs = append(aggs, fmt.Sprintf("%s(v%d) a%d", f, i+1, i+1))
	}
	builder := table.NewBuilder(table.New(schema))
	for first := int64(0); first < rows; first += table.RowGroupSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(rows-first, table.RowGroupSize)
		cols := make([]encoding.Data, wideKeys+wideValues)
		for c := range cols {
			cols[c].Ints = make([]int64, n)
			for i := range n {
				w := drawn.SplitMix(uint64(first+i)*uint64(len(cols)) + uint64(c))
				if c < wideKeys {
					cols[c].Ints[i] = drawn.Below(w, wideDigits)
				} else {
					cols[c].Ints[i] = drawn.Below(w, 2_000_001) - 1_000_000
				}
			}
		}
		if err := builder.AppendColumns(int(n), cols); err != nil {
			return err
		}
	}
	v, err := builder.Finish()
	if err != nil {
		return err
	}
	if err := b.DB.Engine.Register(v); err != nil {
		return err
	}
	list := strings.Join(keys, ", ")
	inner := "SELECT " + list + ", " + strings.Join(aggs, ", ") + " FROM wide GROUP BY " + list
	q := Query{
		name:  fmt.Sprintf("%d keys, %d reductions", wideKeys, wideValues),
		Timed: "SELECT COUNT(*), SUM(a1), SUM(a2), SUM(a3), SUM(a4), SUM(a5) FROM (" + inner + ") g",
		check: "SELECT k1, COUNT(*), SUM(a1), SUM(a2), SUM(a3), SUM(a4), SUM(a5), SUM(k2), SUM(k3) FROM (" + inner + ") g GROUP BY k1 ORDER BY k1",
	}
	b.report(b.measure(ctx, groupRun{c: "wide", rows: rows, query: q.name, gpus: 1, times: 1}, q, nil))
	return b.DB.Exec(ctx, "DROP TABLE wide")
}

// crossing is the times of one table's group-by on the CPU and on the device.
type crossing struct {
	rows        int64
	cpu, device time.Duration
}

var crossingColumns = []report.Column{
	report.Number("rows", 10), report.Number("CPU ms", 9), report.Number("device ms", 9),
	report.Number("CPU / device", 0),
}

func (c crossing) cells() []string {
	ratio := ""
	if c.device > 0 {
		ratio = fmt.Sprintf("%.2f", float64(c.cpu)/float64(c.device))
	}
	return []string{strconv.FormatInt(c.rows, 10), report.Millis(c.cpu), report.Millis(c.device), ratio}
}

// crossover times the four aggregates over tables of a thousand keys, of growing numbers of rows, on the CPU and on the device, and says
// from how many rows on the device is faster.
func (b *Bench) crossover(ctx context.Context, rows int64) ([]crossing, error) {
	fmt.Fprintf(b.out, "\ncrossover: sum, count, min, max of 1,000 keys\n%s", report.Row(crossingColumns, report.Titles(crossingColumns)))
	var out []crossing
	from := int64(-1)
	for step := 0; ; step++ {
		n := int64(math.Round(1000 * math.Pow(10, float64(step)/2)))
		if n > rows {
			break
		}
		c := crossing{rows: n}
		err := b.WithTable(ctx, drawn.GroupData{Rows: n, Groups: 1000}, "t", func(t *drawn.GroupTotals) error {
			q := Queries("t")[1]
			for _, on := range []struct {
				device string
				took   *time.Duration
			}{{"cpu", &c.cpu}, {b.DB.Device, &c.device}} {
				if err := b.DB.SetDevice(ctx, on.device); err != nil {
					return err
				}
				rows, _, err := b.DB.Query(ctx, q.check)
				if err != nil {
					return err
				}
				if err := t.Verify(rows, true); err != nil {
					return fmt.Errorf("%d rows on %s: %w", n, on.device, err)
				}
				var times []time.Duration
				for range max(b.runs, 1) + 1 { // the first brings statistics and columns
					took, err := b.DB.Measure(ctx, q.Timed, nil)
					if err != nil {
						return err
					}
					times = append(times, took)
				}
				*on.took = report.Median(times[1:])
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, c)
		switch {
		case c.device >= c.cpu:
			from = -1
		case from < 0:
			from = n
		}
		fmt.Fprint(b.out, report.Row(crossingColumns, c.cells()))
	}
	if from >= 0 {
		fmt.Fprintf(b.out, "the device is faster from %d rows on\n", from)
	} else {
		fmt.Fprintln(b.out, "the device is not faster at any of these sizes")
	}
	return out, nil
}
