package program

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// explainedBuilds says what EXPLAIN calls the builds that a decision about a kernel speaks of.
var explainedBuilds = []struct{ decided, explained string }{
	{"build: ordered rows", "build binary search "},
	{"build: nested loop", "build nested loop "},
	{"build: sort-merge", "build sort-merge "},
	{"build: radix partitions", "build partitioned hash "},
	{"build: runs of equal keys", "build index nested loop "},
	{"build: hash chains", "build hash "},
	{"build: bitmap", "build dense "},
	{"build: payload by key", "build dense "},
	{"build: dense chains", "build dense "},
}

// explainedGroups says the same of groups.
var explainedGroups = []struct{ decided, explained string }{
	{"groups: one group; ", "scalar aggregate "},
	{"groups: array; ", "dense aggregate "},
	{"groups: packed keys; ", "hash aggregate "},
	{"groups: one-word keys; ", "hash aggregate "},
	{"groups: keys in columns; ", "hash aggregate "},
}

// TestExplainSaysWhatRuns compares what EXPLAIN calls sinks and joins with what was decided of the kernels, in the cases that backends run and under tuning numbers that
// give them other algorithms.
func TestExplainSaysWhatRuns(t *testing.T) {
	usual, unique, grouped, partitioned, sorted := *goldenTarget, *goldenTarget, *goldenTarget, *goldenTarget, *goldenTarget
	grouped.Tuning.Runs.Matches, grouped.Tuning.Runs.Reuse, grouped.Tuning.Runs.Apart = 0, 0, 0
	partitioned.Tuning.Radix.Rows, partitioned.Tuning.Radix.Forced = 0, true
	sorted.Tuning.Merge.Forced = true
	seen := map[string]int{}
	for i, target := range []*kernel.Target{&usual, &unique, &grouped, &partitioned, &sorted} {
		for k, c := range enginetest.Cases() {
			if testing.Short() && (k+i)%3 != 0 {
				continue
			}
			plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(uint64(k), 5)), enginetest.Sizes[k%6]))
			for _, p := range plan.Pipelines {
				if b, ok := p.Sink.(*physical.Build); ok && target == &unique {
					b.Unique = true // nothing runs
				}
			}
			g := New(plan, target, &expr.Context{}, lookup.New(1<<20), func(*physical.Pipeline) bool { return true })
			where := physical.Placement{Pipelines: map[*physical.Pipeline]physical.Choice{}, Builds: g.Builds.Explain(), Groups: g.Aggs.Explain()}
			refused := false
			for _, p := range plan.Pipelines {
				where.Pipelines[p] = physical.Choice{Device: physical.GPU}
				refused = refused || g.Reason(p) != nil
			}
			if refused {
				continue // another backend runs some of it
			}
			text, err := physical.Text(plan, where, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for n, part := range strings.Split(text, "pipeline ")[1:] {
				p := plan.Pipelines[n]
				said := strings.Join(g.Outlines[p].Decisions(), "\n")
				for _, x := range explainedGroups {
					if _, rest, ok := strings.Cut(said, x.decided); ok {
						seen[x.decided]++
						way, _, _ := strings.Cut(rest, "\n")
						if !strings.Contains(part, "\n  "+x.explained) || !strings.Contains(part, strings.TrimPrefix(x.decided, "groups: ")+way) {
							t.Errorf("%s, tuning %d, pipeline %d: %q, but EXPLAIN says\n%s", c.Name, i, p.ID, x.decided+way, part)
						}
					}
				}
				for _, x := range explainedBuilds {
					if !strings.Contains(said, x.decided) {
						continue
					}
					seen[x.decided]++
					joins := regexp.MustCompile(fmt.Sprintf(` join with %d\b`, p.ID))
					if !strings.Contains(part, "\n  "+x.explained) {
						t.Errorf("%s, tuning %d, pipeline %d: %q, but EXPLAIN says\n%s", c.Name, i, p.ID, x.decided, part)
					}
					for _, line := range strings.Split(text, "\n") {
						if joins.MatchString(line) && !strings.HasPrefix(strings.TrimSpace(line), strings.TrimPrefix(x.explained, "build ")) {
							t.Errorf("%s, tuning %d: %q, but EXPLAIN says of a join with it\n%s", c.Name, i, x.decided, line)
						}
					}
				}
			}
		}
	}
	for _, x := range append(explainedBuilds, explainedGroups...) {
		if seen[x.decided] == 0 {
			t.Errorf("no case has %q", x.decided)
		}
	}
}

// TestGroupHints looks at groups that have an array without a hint, and none with HASH_AGG.
func TestGroupHints(t *testing.T) {
	given := goldenTables(t)
	for hint, want := range map[string]string{"": "array; ", "/*+ HASH_AGG() */": "packed keys; "} {
		g := goldenProgram(t, given, "SELECT "+hint+" day, COUNT(*) FROM items GROUP BY day")
		if x := g.Aggs.Explain()[g.Plan.Pipelines[0]]; !strings.HasPrefix(x.How, want) {
			t.Errorf("%s: groups are %q, want %q", hint, x, want)
		}
	}
}
