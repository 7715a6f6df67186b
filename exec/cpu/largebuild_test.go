package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Builds that are partitioned hold the rows that they should, those of one key in the order in which they came.
func TestLargeBuilds(t *testing.T) {
	const seed, rows, probes = 12, 150_000, 40_000
	scattered := func(k int64) int64 { return int64(uint64(k)*0x9E3779B97F4A7C15) >> 3 }
	plain := func(k int64) int64 { return k - 77 }
	for i, of := range []struct {
		name   string
		number func(int64) int64
		copies int64
		sorted bool
	}{
		{"dense, sorted", plain, 1, true},
		{"dense, sorted, repeated", plain, 3, true},
		{"dense", plain, 1, false},
		{"dense, repeated", plain, 5, false},
		{"wide apart, sorted, repeated", func(k int64) int64 { return k * 100_003 }, 4, true},
		{"wide apart, sorted", func(k int64) int64 { return k * 100_003 }, 1, true},
		{"scattered", scattered, 1, false},
		{"scattered, repeated", scattered, 7, false},
		{"scattered, few", scattered, rows / 4, false},
	} {
		for _, threads := range []int{1, 3} {
			if testing.Short() && (threads == 1 || i%2 > 0) { // one thread has nothing for the race detector
				continue
			}
			t.Run(fmt.Sprintf("%s, %d threads", of.name, threads), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, uint64(of.copies)))
				var keys, ids, others []int64
				for i := range int64(rows) {
					keys, ids, others = append(keys, of.number(2*(i/of.copies))), append(ids, i), append(others, r.Int64N(1<<40))
				}
				if !of.sorted {
					r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				}
				matches := map[int64][]int64{}
				for i, k := range keys {
					matches[k] = append(matches[k], int64(i))
				}
				count := int64(probes)
				if of.copies > 100 {
					count = 20 // of many matches each
				}
				var probe, numbers []int64
				var want [][3]int64
				for i := range count {
					k := of.number(r.Int64N(2*rows/of.copies + 10))
					probe, numbers = append(probe, k), append(numbers, i)
					for _, m := range matches[k] {
						want = append(want, [3]int64{i, m, others[m]})
					}
				}
				g := enginetest.NewGen(nil, 0)
				bs, bc := scanOf(g, ints(keys, ids, others))
				ps, pc := scanOf(g, ints(probe, numbers))
				build := &physical.Build{Keys: []expr.Expr{bc[0]}, Payload: bc[1:], MakeFilter: []bool{true}, FilterDrops: []float64{1}}
				g.Pipe(bs, build)
				out := []*expr.Column{pc[1], bc[1], bc[2]}
				ps.RuntimeFilters = []physical.RuntimeFilterUse{{Build: build, Key: 0, Col: pc[0].ID}}
				batches, err := backend{threads: threads, t: t}.Run(context.Background(), g.Result(ps, out,
					&physical.Probe{Kind: logical.InnerJoin, Build: build, Keys: []expr.Expr{pc[0]}, Keep: []expr.ColumnID{bc[1].ID, bc[2].ID}}))
				if err != nil {
					t.Fatal(err)
				}
				var got [][3]int64
				for _, b := range batches {
					for i := range b.N {
						got = append(got, [3]int64{b.Cols[0].I64[i], b.Cols[1].I64[i], b.Cols[2].I64[i]})
					}
				}
				if len(want) == 0 || !slices.Equal(got, want) {
					t.Fatalf("seed %d: %d rows, want %d; or others, or in another order", seed, len(got), len(want))
				}
			})
		}
	}
}
