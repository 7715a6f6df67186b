package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/outofcore"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

func everywhere(*physical.Pipeline) bool { return true }

// randomWindows has the scans of a plan read in windows of a few row groups, whatever memory there is.
func randomWindows(rng *rand.Rand, r *residency.Residency, plan *physical.Plan, parts map[*physical.TableScan]tables.Slice) outofcore.Windows {
	out := outofcore.Windows{Of: map[*physical.TableScan]*outofcore.Windowed{}}
	scans, _ := outofcore.Scans(plan, everywhere, r, parts)
	for i, x := range scans {
		if i > 0 && rng.IntN(3) == 0 {
			continue // it is read at once
		}
		of, _, _ := x.Windows(r, 0)
		of.Groups = 1 + rng.IntN(3)
		of.Count = len(of.Parts(x.Scan.Table))
		of.Kept, of.Ahead = rng.IntN(3), rng.IntN(3)
		out.Of[x.Scan] = of
	}
	return out
}

// windowsOf is what windowsWithin chooses of all scans of a plan.
func windowsOf(plan *physical.Plan, r *residency.Residency, memory int64) outofcore.Windows {
	scans, total := outofcore.Scans(plan, everywhere, r, nil)
	return outofcore.Within(scans, total, r, memory)
}

// TestEngineWindows runs cases whose tables are read in windows of few rows, some of them over parts of tables.
func TestEngineWindows(t *testing.T) {
	windows := 0
	partsRun{
		stream: 22,
		group:  func(rng *rand.Rand, size int) int { return 64 + rng.IntN(size)/4 },
		takes:  func(rng *rand.Rand) bool { return rng.IntN(3) == 0 },
		options: func(b *backend, rng *rand.Rand, plan *physical.Plan, parts map[*physical.TableScan]tables.Slice) Options {
			o := Options{Parts: parts, Windows: randomWindows(rng, b.runner.Residency, plan, parts)}
			for _, of := range o.Windows.Of {
				windows += of.Count
			}
			return o
		},
	}.run(t)
	t.Logf("%d windows", windows)
}

// windowTable makes a table of integers with row groups of 20,000 rows: k ascends, v is random, s is a string of its own in each row.
func windowTable(t *testing.T, groups int) *tables.Version {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	b := tables.NewBuilder(tables.New(&tables.Schema{Name: "t", Columns: []tables.ColumnDef{{Name: "k", Type: types.Int64}, {Name: "v", Type: types.Int64}, {Name: "s", Type: types.Text}}}))
	const rows = 20_000
	for g := range groups {
		k, v, s := column.New(types.Int64, rows), column.New(types.Int64, rows), column.New(types.Text, rows)
		for i := range rows {
			k.I64[i], v.I64[i], s.Str[i] = int64(g*rows+i), rng.Int64N(1000), fmt.Sprintf("text %x", rng.Uint64())
		}
		data := make([]encoding.Data, 3)
		for i, c := range []*column.Vector{k, v, s} {
			data[i].Type = c.Type
			data[i].Append(c, rows, nil)
		}
		if err := b.AppendColumns(rows, data); err != nil {
			t.Fatal(err)
		}
	}
	out, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// columnsOf scans some columns of a table.
func columnsOf(g *enginetest.Gen, v *tables.Version, ordinals ...int) *physical.TableScan {
	scan := &physical.TableScan{Table: v, Alias: "t", Ordinals: ordinals}
	for _, o := range ordinals {
		d := v.Schema.Columns[o]
		scan.Cols = append(scan.Cols, g.Alloc.New("t", d.Name, d.Type, d.Nullable))
	}
	return scan
}

// TestPlanWindows looks at what is chosen as the memory becomes less: the larger table is read in windows first, of which as many stay as fit.
func TestPlanWindows(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		b := newBackend(t, d)
		r := b.runner.Residency
		large, little := windowTable(t, 64), windowTable(t, 4)
		g := enginetest.NewGen(rand.New(rand.NewPCG(1, 1)), 1)
		build := &physical.Materialize{}
		one, two := columnsOf(g, little, 0, 1), columnsOf(g, large, 0, 1)
		build.Cols = one.Cols
		g.Pipe(one, build)
		plan := g.Result(two, two.Cols[:1])
		scans, total := outofcore.Scans(plan, everywhere, r, nil)
		smaller, larger := scans[0].Bytes, scans[1].Bytes
		if total != smaller+larger {
			t.Fatalf("%d bytes in all, %d and %d", total, smaller, larger)
		}
		kept := 99
		for _, share := range []float64{2, 0.9, 0.7, 0.4, 0.25, 0.15, 0.1} {
			w := windowsOf(plan, r, int64(share*float64(total)))
			of := w.Of[two]
			t.Logf("%.2f of the bytes: %+v, the other table %+v; %s", share, of, w.Of[one], w.Refusal)
			switch {
			case share >= 2:
				if len(w.Of) != 0 || w.Refusal != "" {
					t.Error("windows where all columns fit")
				}
				continue
			case w.Refusal != "" || of == nil || w.Of[one] != nil:
				t.Fatalf("%.2f of the bytes: not the larger table alone", share)
			}
			if of.Kept > kept || share > 0.2 && of.Ahead != 2 || of.Count != (64+of.Groups-1)/of.Groups {
				t.Errorf("%.2f of the bytes: %+v", share, of)
			}
			kept = of.Kept * of.Groups
			largest := int64(0)
			for _, part := range of.Parts(large) {
				here, missing := r.Bytes(large, of.Ordinals, part)
				largest = max(largest, here+missing)
			}
			if used := smaller + int64(of.Kept+of.Ahead+1)*largest; of.Kept > 0 && used > int64(share*float64(total))+largest {
				t.Errorf("%.2f of the bytes: %d of %d are used at once", share, used, int64(share*float64(total)))
			}
		}
		if w := windowsOf(plan, r, smaller/2); len(w.Of) != 2 && w.Refusal == "" {
			t.Errorf("less than the smaller table: %+v", w)
		}
		if w := windowsOf(plan, r, 10_000); !strings.Contains(w.Refusal, "row group of table t") {
			t.Errorf("less than a row group: %q", w.Refusal)
		}
		strings3 := columnsOf(g, large, 0, 2)
		g2 := enginetest.NewGen(rand.New(rand.NewPCG(1, 1)), 1)
		plan = g2.Result(strings3, strings3.Cols)
		_, total = outofcore.Scans(plan, everywhere, r, nil)
		w := windowsOf(plan, r, total-1)
		if of := w.Of[strings3]; of == nil || len(of.Whole) != 1 || len(of.Ordinals) != 1 {
			t.Errorf("strings of a result: %+v, %s", of, w.Refusal)
		}
		if w := windowsOf(plan, r, total/2); !strings.Contains(w.Refusal, "strings of table t") {
			t.Errorf("less than the strings: %q", w.Refusal)
		}
		plan = enginetest.NewGen(rand.New(rand.NewPCG(1, 1)), 1).Result(strings3, strings3.Cols[:1])
		if of := windowsOf(plan, r, total/10).Of[strings3]; of == nil || len(of.Whole) != 0 {
			t.Errorf("strings that no sink holds: %+v", of)
		}
	})
}

// TestWindowsOfLittleMemory sums a table up which is ten times as large as the memory that columns may take: all answers are right, the memory is never exceeded, the first windows
// stay, zone maps leave windows out, and a cancelled query leaves nothing behind.
func TestWindowsOfLittleMemory(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		b := newBackend(t, d)
		r := b.runner.Residency
		v := windowTable(t, 40)
		g := enginetest.NewGen(rand.New(rand.NewPCG(1, 1)), 1)
		scan := columnsOf(g, v, 0, 1)
		groups := &physical.Aggregate{Algorithm: physical.HashAggregate, EstGroups: 1000}
		groups.Groups = []logical.Item{{Col: g.Alloc.New("", "v", types.Int64, false), Expr: scan.Cols[1]}}
		groups.Aggs = append(groups.Aggs, g.Agg("sum", false, scan.Cols[0]))
		g.Pipe(scan, groups)
		cols := physical.SinkColumns(groups)
		plan := g.Result(g.Read(groups, cols), cols)
		_, total := outofcore.Scans(plan, everywhere, r, nil)
		memory := total / 5
		var want map[int64]int64
		wantFrom := func(first int) {
			want = map[int64]int64{}
			for i, group := range v.Groups()[first:] {
				for at := range group.Rows {
					want[group.Columns[1].At(at).I] += int64(first+i)*20_000 + int64(at)
				}
			}
		}
		wantFrom(0)
		query := func(ctx context.Context) (*Query, []*column.Batch, error) {
			q, err := newQuery(b.program(plan), b.runner, Options{Tables: memory, Windows: outofcore.Plan(plan, everywhere, r, nil, memory)}, false)
			if err != nil {
				return nil, nil, err
			}
			q.compile(ctx)
			for i, p := range plan.Pipelines {
				if _, err := q.RunPipeline(ctx, p, i == len(plan.Pipelines)-1); err != nil {
					return q, nil, err
				}
				if used := r.Used(); used > memory {
					t.Errorf("columns take %d bytes, and %d are allowed", used, memory)
				}
			}
			out, err := b.batches(ctx, q, q.Rows(plan.Pipelines[len(plan.Pipelines)-1].Sink), plan)
			return q, out, err
		}
		check := func(out []*column.Batch) {
			t.Helper()
			n := 0
			for _, x := range out {
				for i := range x.N {
					n++
					if key := x.Cols[0].Value(i).I; x.Cols[1].Value(i).D.Lo != uint64(want[key]) {
						t.Errorf("group %d has %v, want %d", key, x.Cols[1].Value(i), want[key])
					}
				}
			}
			if n != len(want) {
				t.Errorf("%d groups, want %d", n, len(want))
			}
		}
		uploaded := int64(0)
		for i := range 3 {
			q, out, err := query(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			check(out)
			p := plan.Pipelines[0]
			t.Logf("%d windows, %d bytes uploaded, %d of %d resident", q.WindowsRead(p), q.Uploaded(p), r.Used(), memory)
			if q.WindowsRead(p) < 10 || q.Scanned(p) < total/2 {
				t.Errorf("%d windows, %d bytes scanned of %d", q.WindowsRead(p), q.Scanned(p), total)
			}
			if now := q.Uploaded(p); i == 0 {
				uploaded = now
			} else if now >= uploaded {
				t.Errorf("%d bytes were uploaded again, %d at first", now, uploaded)
			}
			q.Close()
		}
		scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GE, Left: scan.Cols[0], Right: &expr.Const{Value: types.IntValue(38 * 20_000)}}}
		wantFrom(38)
		q, out, err := query(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		check(out)
		if n := q.WindowsRead(plan.Pipelines[0]); n > 2 {
			t.Errorf("%d windows were read, and two have rows", n)
		}
		q.Close()
		scan.Filters = nil
		wantFrom(0)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if q, _, err := query(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled query: %v", err)
		} else {
			q.Close()
		}
		r.Evict(1 << 60)
		if used := r.Used(); used != 0 {
			t.Errorf("%d bytes are held though no query runs", used)
		}
		for n := 1; ; n++ { // allocation failures one by one
			if err := d.FailAllocation(n); err != nil {
				t.Fatal(err)
			}
			q, out, err := query(context.Background())
			if err == nil {
				check(out)
			} else if !errors.Is(err, gpukernels.ErrOutOfMemory) {
				t.Fatalf("allocation %d failed: %v", n, err)
			}
			if q != nil {
				q.Close()
			}
			if err := d.FailAllocation(0); err != nil {
				t.Fatal(err)
			}
			r.Evict(1 << 60)
			if used := r.Used(); used != 0 {
				t.Fatalf("allocation %d failed: %d bytes are held", n, used)
			}
			if n > 60 {
				break
			}
		}
	})
}
