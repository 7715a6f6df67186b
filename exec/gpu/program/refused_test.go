package program

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// TestTooManyWords has launches take so few words that some kernels of a plan turn out to need too many. The others have to be those of a plan whose refused pipelines were never asked for: no kernel
// may follow from what was decided before.
func TestTooManyWords(t *testing.T) {
	refused, kept := 0, 0
	for i, c := range enginetest.Cases() {
		if i%8 != 2 { // all take a minute under the race detector
			continue
		}
		plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(uint64(i), 7)), 300))
		for _, words := range []int{12, 16} {
			target := *goldenTarget
			target.LaunchWords = words
			write := func(on func(*physical.Pipeline) bool) *Program {
				return New(plan, &target, &expr.Context{}, lookup.New(1<<20), on)
			}
			g := write(func(*physical.Pipeline) bool { return true })
			again := write(func(p *physical.Pipeline) bool { return g.Reason(p) == nil })
			for _, p := range plan.Pipelines {
				k, other := g.Kernels[p], again.Kernels[p]
				if g.Reason(p) != nil {
					refused++
				}
				if (k == nil) != (other == nil) {
					t.Fatalf("%s, %d words, pipeline %d: it has a kernel beside the others or without them, and not both", c.Name, words, p.ID)
				}
				if k == nil {
					continue
				}
				kept++
				for j, x := range k.All() {
					if x.CUDA != other.All()[j].CUDA {
						t.Errorf("%s, %d words, pipeline %d: the kernel is\n%s\nand without those that were refused\n%s", c.Name, words, p.ID, x.CUDA, other.All()[j].CUDA)
					}
				}
			}
		}
	}
	if refused < 20 || kept < 20 {
		t.Errorf("%d pipelines were refused and %d were not", refused, kept)
	}
}
