package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Whatever filter a build makes for a scan, no match is lost.
func TestRuntimeFilters(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 60
	if testing.Short() {
		rounds = 25
	}
	for round := range rounds {
		build, probe := 1+r.IntN(3000), 5000
		width := int64(1) << (1 + r.IntN(62))
		if r.IntN(2) == 0 {
			width = int64(build * (1 + r.IntN(400)))
		}
		base := r.Int64N(1<<40) - 1<<39
		var keys, probes []int64
		members := map[int64]int64{}
		sorted := r.IntN(2) == 0
		for i := range build {
			k := base + r.Int64N(width)
			if sorted {
				k = base + width/int64(build)*int64(i)
			}
			keys = append(keys, k)
			members[k]++
		}
		matches := int64(0)
		for range probe {
			k := base + r.Int64N(width)
			if r.IntN(3) == 0 {
				k = keys[r.IntN(build)]
			}
			probes = append(probes, k)
			matches += members[k]
		}
		g := enginetest.NewGen(nil, 0)
		bs, bc := scanOf(g, ints(keys))
		ps, pc := scanOf(g, ints(probes))
		b := &physical.Build{Keys: []expr.Expr{bc[0]}, MakeFilter: []bool{true}, FilterDrops: []float64{r.Float64()}}
		g.Pipe(bs, b)
		ps.RuntimeFilters = []physical.RuntimeFilterUse{{Build: b, Key: 0, Col: pc[0].ID}}
		limits := task.FilterLimits{Bits: 1 << r.IntN(24), PerRow: 1 << r.IntN(10), Members: r.IntN(3) * 1000, Exact: r.IntN(3) * 500, Bloom: r.IntN(2) << 20, Drops: 0.5}
		tuning := task.Default
		limits.Sorted, limits.Compared = tuning.Filters.Sorted, tuning.Filters.Compared
		tuning.Filters = limits
		name := fmt.Sprintf("seed %d, round %d: %d keys of %d, sorted %v, %+v", seed, round, build, width, sorted, limits)
		cfg := schedule.Config{Threads: 1 + r.IntN(3), Memory: memory.NewBudget(1 << 30), Expr: &expr.Context{}}
		c, err := startTuned(&tuning, context.Background(), g.Result(ps, pc[:1],
			&physical.Probe{Kind: logical.InnerJoin, Build: b, Keys: []expr.Expr{pc[0]}, Keep: []expr.ColumnID{pc[0].ID}}), cfg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows := int64(0)
		for {
			x, err := c.Next(context.Background())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if x == nil {
				break
			}
			rows += int64(x.Rows())
		}
		c.Close()
		if rows != matches {
			t.Fatalf("%s: %d rows, want %d", name, rows, matches)
		}
	}
}
