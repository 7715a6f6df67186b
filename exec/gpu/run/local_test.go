package run

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// TestCrowdedBlocks groups what joins give several rows of for one, as if a block could get more rows than 32 bits count.
func TestCrowdedBlocks(t *testing.T) { gputest.Each(t, testCrowdedBlocks) }

func testCrowdedBlocks(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	b.runner.tuning.Shared.CrowdedRows = 0
	const seed = 5
	given := newBoundTables(t, rand.New(rand.NewPCG(seed, 3)))
	for _, keys := range []string{"a.k", "a.k, b.k", "a.c", "a.t", "a.c, a.k"} {
		sql := "SELECT " + keys + ", COUNT(*), COUNT(b.c), SUM(b.c), AVG(b.id), SUM(b.w), MIN(b.c), MAX(b.id) FROM some a LEFT JOIN some b ON a.k <= b.k GROUP BY " + keys
		plan, err := lowered(given, sql, &expr.Context{}, physical.Options{})
		if err != nil {
			t.Fatal(err)
		}
		texts := ""
		for _, k := range b.program(plan).Kernels {
			texts += k.CUDA
		}
		if keys[2] == 'k' && (!strings.Contains(texts, "add_limbs<2>") || !strings.Contains(texts, "add_copies_apart<4>")) {
			t.Errorf("by %s: counts or sums in shared memory are not large:\n%s", keys, texts)
		}
		enginetest.Check(t, b, enginetest.Case{Name: "by " + keys}, plan, seed)
	}
}

// TestLocalTables groups by keys that are found by hashing, for which blocks have tables of their own: keys of one word (integers of any
// value, unsigned ones with NULLs, doubles) and packed ones; fewer groups than slots, and many more, so that most rows find none.
func TestLocalTables(t *testing.T) { gputest.Each(t, testLocalTables) }

func testLocalTables(t *testing.T, d *gpukernels.Device) {
	runner, err := NewRunner(d)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	tuning := &runner.tuning
	b := &backend{t: t, runner: runner, refused: map[string]int{}}
	for _, keys := range [][]int{{2}, {9}, {5}, {1, 11}} {
		for _, rows := range []int{3000, 9000, 9001, 9002, 9003, 9004} {
			tuning.Shared.TilesLeast, tuning.PerfectHash.Rows, tuning.PerfectHash.SeenLeast, tuning.PerfectHash.SeenRows = 2048, 1e9, 1, 32
			switch rows {
			case 9001: // a tile's rows are added together
				tuning.Shared.TilesLeast = 0
			case 9002: // a perfect hash has about all keys
				tuning.Shared.TilesLeast, tuning.PerfectHash.Rows = 0, 0
			case 9003: // those of few rows
				tuning.PerfectHash.Rows, tuning.PerfectHash.SeenRows = 0, 1
			case 9004: // all rows were looked at before
				tuning.PerfectHash.Rows, tuning.PerfectHash.SeenLeast = 0, 9004
			}
			seed := uint64(rows + keys[0])
			g := enginetest.NewGen(rand.New(rand.NewPCG(seed, 11)), rows)
			scan, cols := g.Scan(g.Table(rows, rows/20+1))
			if rows >= 9000 {
				scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: cols[2], Right: &expr.Const{Value: types.IntValue(-1)}}}
			}
			agg := &physical.Aggregate{EstGroups: float64(rows / 100)}
			var out []*expr.Column
			for _, c := range keys {
				key := g.Alloc.Like(cols[c])
				agg.Groups = append(agg.Groups, logical.Item{Col: key, Expr: cols[c]})
				out = append(out, key)
			}
			for _, f := range []struct {
				name string
				args []*expr.Column
			}{
				{"sum", []*expr.Column{cols[0]}}, {"sum", []*expr.Column{cols[3]}}, {"sum", []*expr.Column{cols[2]}}, {"sum", []*expr.Column{cols[9]}}, {"count", []*expr.Column{cols[1]}},
				{"avg", []*expr.Column{cols[0]}}, {"min", []*expr.Column{cols[0]}}, {"max", []*expr.Column{cols[8]}}, {"min", []*expr.Column{cols[1]}}, {"max", []*expr.Column{cols[3]}},
			} {
				it := g.Agg(f.name, false, f.args...)
				agg.Aggs = append(agg.Aggs, it)
				out = append(out, it.Col)
			}
			g.Pipe(scan, agg)
			plan := g.Result(g.Read(agg, out), out)
			text := program.New(plan, runner.ForKernels(), &expr.Context{}, lookup.New(1<<20), func(*physical.Pipeline) bool { return true }).Kernels[plan.Pipelines[0]].CUDA
			find := "find_slot("
			if tuning.PerfectHash.Rows == 0 {
				find = "displaced_slot("
			}
			if !strings.Contains(text, find) {
				t.Errorf("%d rows by %v: blocks have no tables of their own:\n%s", rows, keys, text)
			}
			enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("local tables %v", keys)}, plan, seed)
		}
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}
