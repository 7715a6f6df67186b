package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

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

// TestFrequentKeys groups by keys of which a few have most of the rows, so that blocks that partition add these up themselves. Of some keys a block has more than 2^16 rows,
// some only come when others have been found, and a filter drops rows. Groups are in an array, or keys of 32 and of 64 bits are hashed, among them those that have no radix key.
func TestFrequentKeys(t *testing.T) { gputest.Each(t, testFrequentKeys) }

func testFrequentKeys(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	b.runner.tuning.Partition.Rows = 1000
	const rows, keys = 330_000, 20_000
	for i, c := range []struct {
		name   string
		key    func(r *rand.Rand, row int) int
		hashed int
		names  []string
	}{
		{"one key", func(r *rand.Rand, row int) int { return 77 }, 0, []string{"sum", "count(*)", "min", "max"}},
		{"eight keys", func(r *rand.Rand, row int) int { return r.IntN(8) * 711 }, 32, []string{"sum", "count(*)", "min", "max"}},
		{"first these, then those", func(r *rand.Rand, row int) int { return row / (rows / 3) * 9 }, 0, []string{"max"}},
		{"by turns", func(r *rand.Rand, row int) int { return row % 3 * 32 }, 32, []string{"count(*)"}},
		{"by turns", func(r *rand.Rand, row int) int { return row % 5 * 32 }, 0, []string{"sum"}},
		{"eight keys", func(r *rand.Rand, row int) int { return r.IntN(8) * 711 }, 64, []string{"sum", "count(*)", "min", "max"}},
		{"keys without slots", func(r *rand.Rand, row int) int { return row % 4 }, 64, []string{"sum", "count(*)"}},
	} {
		if leftOut(d, i) {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(i), 17))
		data := make([]encoding.Data, 2)
		for row := range rows {
			key := r.IntN(keys)
			if r.IntN(10) > 0 {
				key = c.key(r, row)
			}
			switch {
			case c.hashed == 32:
				key = int(int32(uint32(key) * 0x85EBCA6B))
			case c.hashed == 64 && key < 4:
				key = int([]uint64{math.MaxUint64, 0, unmix(math.MaxUint64), unmix(math.MaxUint64 - 1)}[key])
			case c.hashed == 64:
				key = int(uint64(key) * 0x9FB21C651E98DF25)
			}
			data[0].Ints = append(data[0].Ints, int64(key))
			data[1].Ints = append(data[1].Ints, r.Int64N(1<<31)-1<<30)
		}
		schema := &tables.Schema{Database: "test", Name: "t", Columns: []tables.ColumnDef{{Name: "k", Type: map[bool]types.Type{false: types.Int32, true: types.Int64}[c.hashed == 64]}, {Name: "v", Type: types.Int64}}}
		builder := tables.NewBuilder(tables.New(schema))
		if err := builder.AppendColumns(rows, data); err != nil {
			t.Fatal(err)
		}
		v, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		g := enginetest.NewGen(r, 0)
		scan := scanOf(g, v)
		if i%2 == 0 {
			scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: scan.Cols[1], Right: &expr.Const{Value: types.IntValue(-1 << 29)}}}
		}
		agg := &physical.Aggregate{EstGroups: keys}
		key := g.Alloc.Like(scan.Cols[0])
		agg.Groups = []logical.Item{{Col: key, Expr: scan.Cols[0]}}
		out := []*expr.Column{key}
		for _, name := range c.names {
			args := []*expr.Column{scan.Cols[1]}
			if name == "count(*)" {
				args = nil
			}
			it := g.Agg(name, false, args...)
			agg.Aggs = append(agg.Aggs, it)
			out = append(out, it.Col)
		}
		g.Pipe(scan, agg)
		plan := g.Result(g.Read(agg, out), out)
		if text := b.program(plan).Kernels[plan.Pipelines[0]].CUDA; !strings.Contains(text, "search.tile(") {
			t.Errorf("%s: no partitions are made:\n%s", c.name, text)
		}
		enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("%s, hashed: %d bits, %v", c.name, c.hashed, c.names)}, plan, uint64(i))
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}

// unmix is that of hash.cuh: the key of a radix key of 64 bits.
func unmix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0x9cb4b2f8129337db
	x ^= x >> 33
	x *= 0x4f74430c22a54005
	return x ^ x>>33
}
