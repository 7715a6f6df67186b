package sort

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestMight wants every step that rows turn out to need among those that were expected or might be needed, unless the estimate was more than a thousand times too low or keys are packed.
func TestMight(t *testing.T) {
	rng := rand.New(rand.NewPCG(gputest.Seed(t), 15))
	late := 0
	for range 20_000 {
		random := func() float64 { return math.Floor(math.Exp(rng.Float64() * math.Log(1e8))) }
		x := Expected{Columns: []Column{{Class: form.Class(rng.IntN(5))}}, Rows: random(), Most: math.Inf(1), Tuning: kernel.Sort{RadixRows: 1 << 19, SelectRows: 1 << 16, SelectOf: 8}}
		limit := math.Inf(1)
		if rng.IntN(2) == 0 {
			limit = random()
		}
		if rng.IntN(4) == 0 {
			x.Most = x.Rows * (1 + 3*rng.Float64())
		}
		x.Wanted = limit
		rows := min(random(), 1000*x.Rows, x.Most)
		// What rowsort.Rows does with so many.
		var needs [Steps]bool
		sorted := rows
		if wanted := min(limit, rows); wanted*8 < rows && rows > 65536 {
			needs[Select], sorted = true, wanted
		}
		text := x.Columns[0].Class == form.View || x.Columns[0].Class == form.Code
		switch {
		case sorted >= 1<<19 && !text:
			continue
		case sorted > 8192:
			needs[Merge] = true
		}
		needs[Tiles] = true
		for step := range Steps {
			if needs[step] && !x.Needs(step) {
				late++
				if !x.Might(step) {
					t.Fatalf("step %d of %v rows, the first %v wanted, is not expected with %+v", step, rows, limit, x)
				}
			}
			if x.Needs(step) && x.Might(step) {
				t.Fatalf("step %d is expected twice with %+v", step, x)
			}
		}
	}
	if late < 1000 {
		t.Errorf("%d steps that were not expected", late)
	}
}
