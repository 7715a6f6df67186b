package program

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// TestDecisionsAreWritten looks for what each outline says in the text of its kernel, and for what it does not say, in the cases that backends run.
func TestDecisionsAreWritten(t *testing.T) {
	marks := []struct {
		said, written string
		times         int
	}{
		{said: "pack the rows that pass", written: "compact_tile<"},
		{said: "test ranges of ", written: "// range\n"},
		{said: "look up ", written: "// runtime filter\n"},
		{said: "skip deleted rows", written: "// deleted rows\n"},
		{said: "of rows that pass", written: "load_alive("},
		{said: "of all rows", written: "load_items("},
		{said: "take rows one by one", written: "const OneRow t{row};"},
		{said: "take row by row", written: "// row by row\n"},
		{said: "of each", written: "load_row("},
		{said: "long runs put off", written: "put_off_run("},
		{said: "inner join: ", written: "// inner join: "},
		{said: "left join: ", written: "// left join: "},
		{said: "full join: ", written: "// full join: "},
		{said: "semi join: ", written: "// semi join: "},
		{said: "anti join: ", written: "// anti join: "},
		{said: "mark join: ", written: "// mark join: "},
		{said: "single join: ", written: "// single join: "},
		{said: "end when the query is cancelled", written: "stopped_at("},
		{said: "appended by block", written: " = block_append("},
		{said: ", copied by each block", written: " = copy_filter("},
	}
	target := *goldenTarget
	target.Tuning.Filter.Rows = 0 // scans have filters of keys, however few rows they have
	kernels := 0
	for k, c := range enginetest.Cases() {
		plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(uint64(k), 5)), enginetest.Sizes[k%6]))
		g := New(plan, &target, &expr.Context{}, lookup.New(1<<20), func(*physical.Pipeline) bool { return true })
		if k%3 == 0 {
			g = hurried(g)
		}
		for _, p := range plan.Pipelines {
			if g.Reason(p) != nil {
				continue
			}
			kernels++
			said, text := strings.Join(g.Outlines[p].Decisions(), "\n"), g.Kernels[p].CUDA
			for i, m := range marks {
				if strings.Contains(said, m.said) != strings.Contains(text, m.written) {
					t.Errorf("%s, pipeline %d: is %q in what was decided, is %q in the text? Only one is:\n%s\n%s", c.Name, p.ID, m.said, m.written, said, text)
				} else if strings.Contains(said, m.said) {
					marks[i].times++
				}
			}
		}
	}
	for _, m := range marks {
		if m.times == 0 {
			t.Errorf("no outline of %d says %q", kernels, m.said)
		}
	}
}
