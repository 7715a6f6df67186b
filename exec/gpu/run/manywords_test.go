package run

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
)

// TestManyWords has launches pass so few words that most kernels read some from memory: those of a launch's rows, of counters, of capacities that grow.
func TestManyWords(t *testing.T) { gputest.Each(t, testManyWords) }

// fewWords is how many words a launch passes.
const fewWords = 8

func testManyWords(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	b.words = fewWords
	b.checkInTime(t, manyWordsPlans(gputest.Seed(t)))
}

// manyWordsPlans are some of the cases of all backends.
func manyWordsPlans(seed uint64) (plans []enginePlan) {
	step := 32
	if testing.Short() {
		step = 400
	}
	for i, c := range enginetest.Cases() {
		if (uint64(i)+seed)%uint64(step) == 0 {
			plans = append(plans, enginePlan{c, c.Name, c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 8)), 300)), seed})
		}
	}
	return plans
}

// TestManyWordsCompile compiles such kernels with NVRTC.
func TestManyWordsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	b := newBackend(t, gputest.Emulated(t))
	b.words = fewWords
	compileAll(t, b, func(add func(*physical.Plan)) {
		for i, p := range manyWordsPlans(gputest.Seed(t)) {
			if i%4 == 0 {
				add(p.plan)
			}
		}
	})
}
