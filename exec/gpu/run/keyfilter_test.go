package run

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
)

// TestKeyFilters runs inner joins whose scans drop rows by filters of a build's keys: in shared memory, of hashed keys in device memory and of a
// bit for each value. Every kind has to be written, and the rows are the reference's.
func TestKeyFilters(t *testing.T) { gputest.Each(t, testKeyFilters) }

func testKeyFilters(t *testing.T, d *gpukernels.Device) {
	seed := gputest.Seed(t)
	b := newBackend(t, d)
	tuning := &b.runner.tuning
	tuning.Filter.Rows = 0
	kinds := map[string]int{}
	for _, c := range enginetest.Cases() {
		name, inner := strings.CutPrefix(c.Name, "join 0 ")
		if !inner || !slices.Contains([]string{"integer", "integer dense", "nullable integer", "unique", "unsigned", "two integers", "integer residual", "skew"}, name) {
			continue
		}
		for _, way := range []string{"shared", "hashed", "exact"} {
			plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 19)), 1500))
			tuning.Filter.LocalBits = 1 << 19
			for _, p := range plan.Pipelines {
				if s, ok := p.Sink.(*physical.Build); ok && way != "shared" {
					if tuning.Filter.LocalBits = 1 << 8; way == "exact" {
						s.EstRows = 1000
					}
				}
			}
			g := b.program(plan)
			for _, p := range plan.Pipelines {
				k := g.Kernels[p]
				if k == nil {
					continue
				}
				switch {
				case strings.Contains(strings.Join(k.Decisions(), "\n"), "in a bit for each value"):
					kinds["exact"]++
				case strings.Contains(k.CUDA, "copy_filter("):
					kinds["shared"]++
				case strings.Contains(k.CUDA, "filter_hash(") && strings.Contains(k.CUDA, "// runtime filter"):
					kinds["hashed"]++
				}
			}
			b.runs.Store(0)
			enginetest.Check(t, b, enginetest.Case{Name: c.Name + ", " + way}, plan, seed)
		}
	}
	for _, way := range []string{"shared", "hashed", "exact"} {
		if kinds[way] == 0 {
			t.Errorf("no kernel has a filter of the kind %s", way)
		}
	}
	if b.onHost > 0 {
		t.Errorf("%d plans ended on the CPU", b.onHost)
	}
}
