package program

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// TestManyWords has launches pass few words. Kernels that have more read the others from memory, and are otherwise what they would be: nothing that is decided depends on how many words there are.
func TestManyWords(t *testing.T) {
	if codegen.LaunchWords != gpukernels.LaunchWords {
		t.Errorf("kernels are written for launches of %d words, and one passes %d", codegen.LaunchWords, gpukernels.LaunchWords)
	}
	declared, memory := regexp.MustCompile(`RADISH_KERNEL\((\w+), (\d+)\)`), regexp.MustCompile(`(?s)// Words from number 19 on lie in memory\..*?\n};\n`)
	const few = 20
	many, all := 0, 0
	for i, c := range enginetest.Cases() {
		if i%24 != 2 { // all take a minute under the race detector
			continue
		}
		plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(uint64(i), 7)), 300))
		write := func(words int) *Program {
			target := *goldenTarget
			target.LaunchWords = words
			return New(plan, &target, &expr.Context{}, lookup.New(1<<20), func(*physical.Pipeline) bool { return true })
		}
		g, usual := write(few), write(gpukernels.LaunchWords)
		for _, p := range plan.Pipelines {
			if why, other := g.Reason(p), usual.Reason(p); (why == nil) != (other == nil) || why != nil && why.Error() != other.Error() {
				t.Errorf("%s, pipeline %d: %v, and with more words %v", c.Name, p.ID, why, other)
				continue
			}
			for j, k := range g.Kernels[p].All() {
				all++
				isMany := memory.MatchString(k.CUDA)
				if isMany != (len(k.Params) > few) {
					t.Errorf("%s, pipeline %d: a kernel of %d words reads some from memory: %v", c.Name, p.ID, len(k.Params), isMany)
				}
				if isMany {
					many++
				}
				text := declared.ReplaceAllString(memory.ReplaceAllString(k.CUDA, ""), "RADISH_KERNEL($1)")
				if want := declared.ReplaceAllString(usual.Kernels[p].All()[j].CUDA, "RADISH_KERNEL($1)"); text != want {
					t.Errorf("%s, pipeline %d: the kernel is\n%s\nand with more words\n%s", c.Name, p.ID, k.CUDA, want)
				}
			}
		}
	}
	if many < 20 || all-many < 20 {
		t.Errorf("%d of %d kernels have more words than a launch passes", many, all)
	}
}
