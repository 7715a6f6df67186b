package run

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// usesRuns says whether a plan has a probe of runs of equal keys, or one that puts long runs off, and whether it has the latter.
func usesRuns(b *backend, plan *physical.Plan) (some, putsOff bool) {
	for _, k := range b.program(plan).Kernels {
		for _, x := range k.All() {
			some = some || strings.Contains(x.CUDA, ": runs of equal keys")
			putsOff = putsOff || strings.Contains(x.CUDA, "put_off_run(")
		}
	}
	return some || putsOff, putsOff
}

// TestRunsOfKeys runs the cases of joins with rows of equal keys together, in all builds that can have them so, and those of range joins and nested loops: runs that no thread shares, that several share from some
// length on, and from one row on; and such that are too many for the list of those that are put off.
func TestRunsOfKeys(t *testing.T) { gputest.Each(t, testRunsOfKeys) }

func testRunsOfKeys(t *testing.T, d *gpukernels.Device) {
	var cases []enginetest.Case
	for _, c := range enginetest.Cases() {
		if strings.Contains(c.Name, "join") {
			cases = append(cases, c)
		}
	}
	for _, x := range []struct {
		name         string
		long, putOff int64
		sizes        []int
	}{
		{"not shared", 1 << 30, 1 << 20, []int{600}},
		{"long ones shared", 5, 1 << 20, []int{1, 1500}},
		{"all shared", 1, 1 << 20, []int{600}},
		{"too many to share", 1, 7, []int{600}},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBackend(t, d)
			tuning := &b.runner.tuning.Runs
			tuning.Matches, tuning.Reuse, tuning.Apart, tuning.Long, tuning.PutOff = 0, 0, 0, x.long, x.putOff
			used, shared := map[string]bool{}, map[string]bool{}
			for i, c := range cases {
				if leftOut(d, i) {
					continue
				}
				for _, size := range x.sizes {
					for seed := range uint64(2) {
						plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 7)), size))
						some, putsOff := usesRuns(b, plan)
						if !some {
							continue
						}
						used[c.Name] = true
						if putsOff {
							shared[c.Name] = true
						}
						enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("%s of %d rows", c.Name, size)}, plan, seed)
					}
				}
			}
			t.Logf("of %d cases %d had runs of equal keys, and %d put long ones off", len(cases), len(used), len(shared))
			if len(shared) == 0 || !testing.Short() && (len(used) < 10 || len(shared) < 5) {
				t.Errorf("few cases had runs: %v, of these put off: %v", used, shared)
			}
		})
	}
}

// TestRunsOfKeysGroups groups the rows of joins some of whose runs are put off: in one group, in few, and in many, also where blocks have a perfect hash of the keys of the first rows.
func TestRunsOfKeysGroups(t *testing.T) { gputest.Each(t, testRunsOfKeysGroups) }

func testRunsOfKeysGroups(t *testing.T, d *gpukernels.Device) {
	for _, hashed := range []bool{false, true} {
		b := newBackend(t, d)
		tuning := &b.runner.tuning
		tuning.Runs.Matches, tuning.Runs.Reuse, tuning.Runs.Apart, tuning.Runs.Long = 0, 0, 0, 25
		if hashed {
			tuning.PerfectHash.Rows, tuning.PerfectHash.SeenLeast, tuning.PerfectHash.SeenRows = 0, 300, 1
		}
		for i, groups := range [][]int{nil, {10}, {2}, {9}, {1, 11}} {
			if leftOut(d, i) && i != 2 {
				continue
			}
			g := enginetest.NewGen(rand.New(rand.NewPCG(uint64(i), 7)), 1500)
			table := g.Table(1500, 60)
			build, of := g.Scan(table)
			probe, cols := g.Scan(table)
			x := &physical.Build{Algorithm: physical.HashJoin, Keys: []expr.Expr{of[0]}, Payload: []*expr.Column{of[11]}, EstRows: 1500}
			p := &physical.Probe{Kind: logical.InnerJoin, Build: x, Keys: []expr.Expr{cols[0]}, Keep: []expr.ColumnID{of[11].ID}}
			a := &physical.Aggregate{EstGroups: 30}
			if groups == nil {
				a.Algorithm, a.EstGroups = physical.ScalarAggregate, 1
			}
			var out []*expr.Column
			for _, at := range groups {
				p.Keep = append(p.Keep, cols[at].ID)
				a.Groups = append(a.Groups, logical.Item{Col: g.Alloc.Like(cols[at]), Expr: cols[at]})
				out = append(out, a.Groups[len(out)].Col)
			}
			for _, item := range []logical.AggItem{g.Agg("count(*)", false), g.Agg("sum", false, of[11])} {
				a.Aggs = append(a.Aggs, item)
				out = append(out, item.Col)
			}
			g.Pipe(build, x)
			g.Pipe(probe, a, p)
			plan := g.Result(g.Read(a, out), out)
			k := b.program(plan).Kernels[plan.Pipelines[1]]
			if _, putsOff := usesRuns(b, plan); !putsOff || hashed && i == 2 && k.Learn == nil {
				t.Errorf("by %v: puts runs off: %v; a perfect hash: %v", groups, putsOff, k.Learn != nil)
			}
			for seed := range uint64(2) {
				enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("by %v", groups)}, plan, seed)
			}
		}
	}
}

// TestRunsOfKeysCompile compiles kernels that put runs off with NVRTC, which needs no GPU.
func TestRunsOfKeysCompile(t *testing.T) {
	lib := gputest.CUDALibrary(t)
	b := newBackend(t, gputest.Emulated(t))
	tuning := &b.runner.tuning.Runs
	tuning.Matches, tuning.Reuse, tuning.Apart = 0, 0, 0
	compilers := lib.NewCompilers(90, 0)
	defer compilers.Close()
	seen, left := map[string]bool{}, 0
	for _, c := range enginetest.Cases() {
		plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 600))
		for _, text := range b.sources(plan) {
			if !strings.Contains(text, "put_off_run(") || seen[text] {
				continue
			}
			if gputest.TimeUp(t) || testing.Short() && len(seen) >= 2 {
				left++
				continue
			}
			seen[text] = true
			if _, _, err := compilers.Compile(gpukernels.NewTurn(), 90, text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		}
	}
	if t.Logf("%d kernels, %d left out for want of time", len(seen), left); len(seen)+left == 0 {
		t.Error("no case puts runs off")
	}
}
