package gpu

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
)

// TestParts groups by an integer of many values, and by keys that are hashed: of one word, and packed ones with NULLs; by one and by two passes;
// with room for all rows, for some and for none; with room for all groups and too little.
func TestParts(t *testing.T) { gputest.Each(t, testParts) }

func testParts(t *testing.T, d *gpukernels.Device) {
	res, err := newResidency(d)
	if err != nil {
		t.Fatal(err)
	}
	defer res.close()
	defer func(rows float64, passes int, room, slots, more int64) {
		partitionRows, partitionPasses, partitionRoom, hashedSlots, hashedMore = rows, passes, room, slots, more
	}(partitionRows, partitionPasses, partitionRoom, hashedSlots, hashedMore)
	partitionRows = 1000
	b := &backend{t: t, res: res, refused: map[string]int{}}
	type agg struct {
		name string
		arg  int
	}
	const rows = 40_000
	all := []agg{{"sum", 8}, {"count(*)", -1}, {"min", 8}, {"max", 8}, {"avg", 8}}
	for i, c := range []struct {
		keys []int
		aggs []agg
	}{
		{[]int{0}, all}, {[]int{0}, []agg{{"sum", 0}}}, {[]int{0}, []agg{{"max", 0}}}, {[]int{11, 0}, all}, {[]int{1, 11}, []agg{{"sum", 0}, {"min", 0}}},
	} {
		aggs := c.aggs
		for _, passes := range []int{1, 2} {
			for _, room := range []int64{math.MaxInt64, 64, 0} {
				partitionPasses, partitionRoom = passes, room
				hashedSlots, hashedMore = 1<<17, 1<<16
				if room == 64 { // so few that the groups have to be made again, with room for more
					hashedSlots, hashedMore = 1<<8, -20_000
				}
				seed := uint64(i)
				g := enginetest.NewGen(rand.New(rand.NewPCG(seed, 13)), rows)
				scan, cols := g.Scan(g.Table(rows, 5200))
				if room == 64 {
					scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: cols[2], Right: &expr.Const{Value: types.IntValue(-1)}}}
				}
				a := &physical.Aggregate{EstGroups: 4000}
				if c.keys[0] != 0 {
					a.EstGroups = 17_000
				}
				var out []*expr.Column
				for _, at := range c.keys {
					key := g.Alloc.Like(cols[at])
					a.Groups = append(a.Groups, logical.Item{Col: key, Expr: cols[at]})
					out = append(out, key)
				}
				for _, f := range aggs {
					var args []expr.Expr
					if f.arg >= 0 {
						args = []expr.Expr{cols[f.arg]}
					}
					fn := expr.LookupAggregate(f.name)
					sig, err := fn.Resolve(args)
					if err != nil {
						t.Fatal(err)
					}
					it := logical.AggItem{Col: g.Alloc.New("", f.name, sig.Result, true), Fn: fn, Args: args}
					a.Aggs = append(a.Aggs, it)
					out = append(out, it.Col)
				}
				g.Pipe(scan, a)
				plan := g.Result(g.Read(a, out), out)
				kernels := newProgram(plan, res, &expr.Context{}, newLookupCache(1<<20), func(*physical.Pipeline) bool { return true }).kernels[plan.Pipelines[0]].all()
				if !strings.Contains(kernels[0].text, "parting.tile(") || len(kernels) != passes+1 {
					t.Errorf("%v by %v in %d passes: %d kernels, the first\n%s", aggs, c.keys, passes, len(kernels), kernels[0].text)
				}
				enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("%v by %v in %d passes with room for %d rows", aggs, c.keys, passes, room)}, plan, seed)
			}
		}
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}
