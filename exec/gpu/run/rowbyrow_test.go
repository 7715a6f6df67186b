package run

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// rowByRow has tables of up to few rows scanned row by row, and those of up to first while other kernels are compiled.
func rowByRow(few, first float64) func(*kernel.Tuning) {
	return func(t *kernel.Tuning) {
		t.Scan = kernel.Scans{FewRows: few, FirstRows: first, FirstAppends: first}
	}
}

// TestRowByRow runs cases whose scans all go row by row, as in first runs.
func TestRowByRow(t *testing.T) { gputest.Each(t, testRowByRow) }

func testRowByRow(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	b.hurried = true
	b.runner.Tune(rowByRow(0, math.MaxInt64))
	every := 1
	switch {
	case d.Info().Emulated() && testing.Short():
		every = 240
	case d.Info().Emulated():
		every = 12
	}
	seed := gputest.Seed(t)
	var plans []enginePlan
	for i, c := range enginetest.Cases() {
		if !gputest.InShare(i) || (uint64(i)+seed)%uint64(every) != 0 {
			continue
		}
		plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 7)), 1500))
		for _, k := range b.program(plan).Kernels {
			if k.Rows.Scan != nil {
				plans = append(plans, enginePlan{c, c.Name, plan, seed})
				break
			}
		}
	}
	_, release := b.compileAhead(plans)
	defer release()
	b.checkInTime(t, plans)
}
