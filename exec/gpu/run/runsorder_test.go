package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// runTable is a table (k, v, w) of several row groups that ascends by k, and what is changed of it.
type runTable struct {
	name    string
	longest int                        // rows of a run, at most
	change  func(keys [][]int64)       // by row group
	nulls   bool                       // the key is NULL in one row
	dead    func(row int64) bool       // deleted rows
	keep    func(row int, k int64) int // w, of which rows above 0 go through a filter; nil: all rows do
	both    bool                       // two pipelines end in the groups
	sorted  bool                       // it is proven that groups lie together
}

var runTables = []runTable{
	{name: "short runs", longest: 7, sorted: true},
	{name: "single rows", longest: 1, sorted: true},
	{name: "runs over threads, warps and tiles", longest: 4000, sorted: true},
	{name: "runs over warps, some short", longest: 300, sorted: true},
	{name: "deleted rows", longest: 7, dead: func(row int64) bool { return row%3 == 1 || row/700%3 == 0 }, sorted: true},
	{name: "a filter drops rows of runs", longest: 20, keep: func(row int, k int64) int { return row * 7919 % 3 }, sorted: true},
	{name: "a filter drops all but few rows", longest: 60, keep: func(row int, k int64) int { return row*7919%31 - 29 }, sorted: true},
	{name: "a filter drops stretches", longest: 60, keep: func(row int, k int64) int { return row / 90 % 2 }, sorted: true},
	{name: "a filter drops groups", longest: 7, keep: func(row int, k int64) int { return int(k * 7919 % 5) }, sorted: true},
	{name: "row groups begin anew", longest: 7, change: func(keys [][]int64) {
		for i := range keys {
			copy(keys[i], keys[0])
		}
	}},
	{name: "row groups overlap by a key", longest: 7, change: func(keys [][]int64) {
		keys[1][0] = keys[0][len(keys[0])-2]
		keys[0][len(keys[0])-1]++
	}},
	{name: "row groups out of order", longest: 7, change: func(keys [][]int64) {
		n := min(len(keys[0]), len(keys[1]))
		for i := range n {
			keys[0][i], keys[1][i] = keys[1][i], keys[0][i]
		}
	}},
	{name: "one row out of order", longest: 7, change: func(keys [][]int64) { keys[2][1500] = keys[2][20] }},
	{name: "descending", longest: 7, change: func(keys [][]int64) {
		for i := range keys {
			for j := range keys[i] {
				keys[i][j] = -keys[i][j]
			}
		}
	}},
	{name: "a NULL", longest: 7, nulls: true},
	{name: "two pipelines", longest: 7, both: true},
}

// build makes the table.
func (c *runTable) build(t *testing.T, r *rand.Rand) *tables.Version {
	t.Helper()
	schema := &tables.Schema{Database: "test", Name: "t", Columns: []tables.ColumnDef{{Name: "k", Type: types.Int32, Nullable: true}, {Name: "v", Type: types.Int64}, {Name: "w", Type: types.Int64}}}
	keys := make([][]int64, 4)
	key, left, row := int64(-500), 0, 0
	for i := range keys {
		keys[i] = make([]int64, 3000+r.IntN(3000))
		for j := range keys[i] {
			if left == 0 {
				key += 1 + int64(r.IntN(3)*r.IntN(2))
				left = 1 + r.IntN(c.longest)
			}
			left--
			keys[i][j] = key
		}
	}
	if c.change != nil {
		c.change(keys)
	}
	b := tables.NewBuilder(tables.New(schema))
	for i, k := range keys {
		data := make([]encoding.Data, 3)
		for range k {
			data[1].Ints = append(data[1].Ints, r.Int64N(2_000_001)-1_000_000)
			keep := 1
			if c.keep != nil {
				keep = c.keep(row, k[len(data[2].Ints)])
			}
			data[2].Ints = append(data[2].Ints, int64(keep))
			row++
		}
		data[0].Ints = slices.Clone(k)
		if c.nulls && i == 1 {
			valid := column.NewBitmap(len(k), true)
			valid.Clear(77)
			data[0].Valid = valid
		}
		if err := b.AppendColumns(len(k), data); err != nil {
			t.Fatal(err)
		}
	}
	v, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if c.dead != nil {
		var dead []int64
		for i := range v.Span() {
			if c.dead(i) {
				dead = append(dead, i)
			}
		}
		v, _, _ = v.Delete(context.Background(), dead)
	}
	return v
}

// TestRunsInOrder groups tables whose equal keys lie together, or nearly so: only where that is proven are groups written by plain stores,
// and the answer is right everywhere.
func TestRunsInOrder(t *testing.T) { gputest.Each(t, testRunsInOrder) }

func testRunsInOrder(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	for i := range runTables {
		c := &runTables[i]
		for _, packed := range []bool{false, true}[:1+(i+1)%2] {
			seed := uint64(2*i) + 1
			r := rand.New(rand.NewPCG(seed, 71))
			v := c.build(t, r)
			g := enginetest.NewGen(r, 0)
			agg := &physical.Aggregate{Algorithm: physical.StreamAggregate}
			if !packed {
				agg.EstGroups = float64(v.Rows())
			}
			pipes := 1
			if c.both {
				pipes = 2
			}
			var cols []*expr.Column
			var scans []*physical.TableScan
			for range pipes {
				scan := &physical.TableScan{Table: v, Alias: "t"}
				for at, d := range v.Schema.Columns {
					x := g.Alloc.New("t", d.Name, d.Type, d.Nullable)
					if len(scans) > 0 {
						x = cols[at]
					} else {
						cols = append(cols, x)
					}
					scan.Cols, scan.Ordinals = append(scan.Cols, x), append(scan.Ordinals, at)
				}
				if c.keep != nil {
					scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: cols[2], Right: &expr.Const{Value: types.IntValue(0)}}}
				}
				scans = append(scans, scan)
			}
			key := g.Alloc.Like(cols[0])
			agg.Groups = []logical.Item{{Col: key, Expr: cols[0]}}
			out := []*expr.Column{key}
			for _, name := range []string{"sum", "count(*)", "min", "max"} {
				args := []*expr.Column{cols[1]}
				if name == "count(*)" {
					args = nil
				}
				it := g.Agg(name, false, args...)
				agg.Aggs = append(agg.Aggs, it)
				out = append(out, it.Col)
			}
			for _, scan := range scans {
				g.Pipe(scan, agg)
			}
			plan := g.Result(g.Read(agg, out), out)
			text := b.program(plan).Kernels[plan.Pipelines[0]].CUDA
			if runs := strings.Contains(text, "run_keys["); !runs && c.longest <= 7 { // else the groups lie in shared memory
				t.Errorf("%s: no runs are looked for:\n%s", c.name, text)
			} else if runs && strings.Contains(text, "nothing else is added there") != c.sorted {
				t.Errorf("%s: plain stores: %v\n%s", c.name, !c.sorted, text)
			}
			enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("%s, packed: %v", c.name, packed)}, plan, seed)
		}
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}
