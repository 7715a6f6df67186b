package join

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// Lookups that seldom find anything get a filter, which drops no row that has a match; where most rows have matches, a worker leaves it out.
func TestSieve(t *testing.T) {
	const seed, rows, batches = 20261123, 100_000, 40
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tuning := task.Default
	q := &task.Query{State: &schedule.State{}, Threads: 1, Memory: memory.NewBudget(0), Ctx: context.Background(), Tuning: &tuning}
	ints, strs := column.New(types.Int64, rows), column.New(types.Varchar(20), rows)
	known := map[int64]int32{}
	text := func(x int64) string {
		return string([]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24), byte(x >> 32), 'k'})
	}
	var keys []int64
	for i := range int32(rows) {
		x := r.Int64N(1 << 40)
		for known[x] != 0 {
			x = r.Int64N(1 << 40)
		}
		known[x] = i + 1
		keys = append(keys, x)
		ints.I64[i], strs.Str[i] = x, text(x)
	}
	for _, v := range []*column.Vector{ints, strs} {
		b := &Build{q: q, p: &physical.Build{}, keys: []*column.Vector{v}}
		b.N = rows
		if _, err := b.makeTable(nil); err != nil {
			t.Fatal(err)
		}
		var sieve *sieve
		switch table := b.table.(type) {
		case *intTable[uint64]:
			sieve = &table.sieve
		case *genericTable:
			sieve = &table.sieve
		default:
			t.Fatalf("%T", table)
		}
		var f finder
		for _, hits := range []int{100, 5, 100} { // of 100 rows
			for range batches {
				probe := column.New(v.Type, column.VectorSize)
				var want [][2]int32
				for i := range int32(column.VectorSize) {
					x := r.Int64N(1 << 40)
					if r.IntN(100) < hits {
						x = keys[r.IntN(rows)]
					}
					if v == ints {
						probe.I64[i] = x
					} else {
						probe.Str[i] = text(x)
					}
					if row := known[x]; row != 0 {
						want = append(want, [2]int32{i, row - 1})
					}
				}
				pos, found := b.table.find(&f, []*column.Vector{probe}, nil, column.VectorSize)
				if len(pos) != len(want) {
					t.Fatalf("%s, %d%% hits: %d rows are found, want %d", v.Type, hits, len(pos), len(want))
				}
				for i, w := range want {
					if pos[i] != w[0] || found[i] != w[1] {
						t.Fatalf("%s: row %d finds %d, want %v", v.Type, pos[i], found[i], w)
					}
				}
			}
			if made := sieve.bloom.Load() != nil; hits < 100 && !made || f.sifting.idle != (hits == 100) {
				t.Errorf("%s, %d%% hits: the filter is there: %v; it is left out: %v", v.Type, hits, made, f.sifting.idle)
			}
		}
	}
}
