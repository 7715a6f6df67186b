package run

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// forceRadix has all joins partitioned that can be.
func forceRadix(t *kernel.Tuning) {
	t.Radix.Rows, t.Radix.Forced = 0, true
}

// isRadix says whether a plan has a join in partitions.
func isRadix(b *backend, plan *physical.Plan) bool {
	for _, p := range plan.Pipelines {
		if k := b.program(plan).Kernels[p]; k != nil && len(k.Then) > 0 && strings.Contains(k.Then[len(k.Then)-1].CUDA, "take_work(") {
			return true
		}
	}
	return false
}

// TestRadixJoins runs the cases of joins of all kinds in partitions: by one pass and by two; with capacity for all rows and for some at first; tables that hold a partition of the build, and
// such that need pieces.
func TestRadixJoins(t *testing.T) { gputest.Each(t, testRadixJoins) }

func testRadixJoins(t *testing.T, d *gpukernels.Device) {
	var cases []enginetest.Case
	for _, c := range enginetest.Cases() {
		if strings.HasPrefix(c.Name, "join ") {
			cases = append(cases, c)
		}
	}
	all := os.Getenv(allSizes) != ""
	for n, x := range []struct {
		name                   string
		passes                 int
		table, piece, capacity int64
		sizes                  []int
	}{
		{"one pass", 1, 0, 0, 0, []int{1, 1500}},
		{"two passes", 2, 0, 0, 0, []int{1500}},
		{"pieces", 1, 32, 8, 0, []int{600}},
		{"too little capacity", 1, 0, 0, 8, []int{600}},
		{"too little capacity in two passes", 2, 32, 0, 8, []int{600}},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBackend(t, d)
			tuning := &b.runner.tuning
			forceRadix(tuning)
			tuning.Radix.Passes, tuning.Radix.TableRows, tuning.Radix.PieceRows, tuning.Radix.Capacity = x.passes, x.table, x.piece, x.capacity
			partitioned := map[string]bool{}
			var plans []enginePlan
			for i, c := range cases {
				if leftOut(d, i+n) || !all && d.Info().Emulated() && (i+n)%4 != 0 {
					continue
				}
				for _, size := range x.sizes {
					for seed := range uint64(2) {
						plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 7)), size))
						if !isRadix(b, plan) {
							continue
						}
						partitioned[c.Name] = true
						plans = append(plans, enginePlan{enginetest.Case{Name: fmt.Sprintf("%s of %d rows", c.Name, size)}, c.Name, plan, seed})
					}
				}
			}
			_, release := b.compileAhead(plans)
			defer release()
			b.checkInTime(t, plans)
			kinds := map[string]int{}
			for name := range partitioned {
				kinds[name[:len("join 0")]]++
			}
			t.Logf("%d cases of %d were partitioned, by kind: %v", len(partitioned), len(cases), kinds)
			if !testing.Short() && len(kinds) < 7 {
				t.Errorf("some kinds of joins were not partitioned: %v", partitioned)
			}
		})
	}
}

// TestRadixCompiles compiles the kernels of joins in partitions with NVRTC.
func TestRadixCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	b := newBackend(t, gputest.Emulated(t))
	forceRadix(&b.runner.tuning)
	seed := int(gputest.Seed(t) % 4)
	compileAll(t, b, func(add func(*physical.Plan)) {
		for i, c := range enginetest.Cases() {
			if !strings.HasPrefix(c.Name, "join ") || (i+seed)%4 != 0 && os.Getenv(allSizes) == "" {
				continue
			}
			if plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 600)); isRadix(b, plan) {
				add(plan)
			}
		}
	})
}

// TestRadixUnion runs two joins that end in one sink and are split into different numbers of partitions, some of which have too little capacity at first.
func TestRadixUnion(t *testing.T) { gputest.Each(t, testRadixUnion) }

func testRadixUnion(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	forceRadix(&b.runner.tuning)
	b.runner.tuning.Radix.TableRows, b.runner.tuning.Radix.Capacity = 32, 8
	g := enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 400)
	all := &physical.Materialize{}
	for _, rows := range []int{40, 3000} {
		build, of := g.Scan(g.Table(rows, rows))
		probe, cols := g.Scan(g.Table(400, rows))
		x := &physical.Build{Algorithm: physical.HashJoin, Keys: []expr.Expr{of[0]}, Payload: of[11:12], EstRows: float64(rows)}
		p := &physical.Probe{Kind: logical.InnerJoin, Build: x, Keys: []expr.Expr{cols[0]}, Keep: []expr.ColumnID{cols[11].ID, of[11].ID}}
		items := []logical.Item{{Expr: cols[11]}, {Expr: of[11]}}
		for i := range items {
			if len(all.Cols) < len(items) {
				all.Cols = append(all.Cols, g.Alloc.Like(cols[11]))
			}
			items[i].Col = all.Cols[i]
		}
		g.Pipe(build, x)
		g.Pipe(probe, all, p, &physical.Project{Items: items})
	}
	plan := g.Result(g.Read(all, all.Cols), all.Cols)
	if !isRadix(b, plan) {
		t.Fatal("the joins are not partitioned")
	}
	for seed := range uint64(2) {
		enginetest.Check(t, b, enginetest.Case{Name: "union of two joins"}, plan, seed)
	}
}

// TestRadixGroups groups the rows of joins in partitions: in one group, in few and in many, which lie in the memory of threads, of blocks and of the device. The places of keys have 32 bits
// and 64.
func TestRadixGroups(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) { testJoinGroups(t, d, forceRadix, isRadix) })
}

// joinGroups are the columns of joined rows by which they are grouped; the first are none.
var joinGroups = [][]int{nil, {10}, {6}, {8}, {1, 10}, {6, 1}, {11}, {4}}

// groupedJoin is a plan that groups the rows of a join of a table with itself by a key: an inner join, or a left one.
func groupedJoin(i, key int) *physical.Plan {
	groups := joinGroups[i]
	g := enginetest.NewGen(rand.New(rand.NewPCG(uint64(i), 7)), 500)
	table := g.Table(500, 40)
	build, of := g.Scan(table)
	probe, cols := g.Scan(table)
	x := &physical.Build{Algorithm: physical.HashJoin, Keys: []expr.Expr{of[key]}, Payload: []*expr.Column{of[6], of[8]}, EstRows: 500}
	p := &physical.Probe{Kind: logical.InnerJoin, Build: x, Keys: []expr.Expr{cols[key]}}
	if i%2 == 1 {
		p.Kind = logical.LeftJoin
	}
	p.Keep = []expr.ColumnID{of[6].ID, of[8].ID, cols[11].ID}
	for _, at := range groups {
		p.Keep = append(p.Keep, cols[at].ID)
	}
	g.Pipe(build, x)
	a := &physical.Aggregate{EstGroups: 20}
	if groups == nil {
		a.Algorithm, a.EstGroups = physical.ScalarAggregate, 1
	}
	var out []*expr.Column
	for _, at := range groups {
		a.Groups = append(a.Groups, logical.Item{Col: g.Alloc.Like(cols[at]), Expr: cols[at]})
		out = append(out, a.Groups[len(out)].Col)
	}
	for _, item := range []logical.AggItem{g.Agg("count(*)", false), g.Agg("sum", false, cols[11]), g.Agg("max", false, of[8]), g.Agg("min", false, of[6])} {
		a.Aggs = append(a.Aggs, item)
		out = append(out, item.Col)
	}
	g.Pipe(probe, a, p)
	return g.Result(g.Read(a, out), out)
}

// testJoinGroups runs grouped joins under a tuning that forces them; is says whether it does.
func testJoinGroups(t *testing.T, d *gpukernels.Device, force func(*kernel.Tuning), is func(*backend, *physical.Plan) bool) {
	b := newBackend(t, d)
	force(&b.runner.tuning)
	blocks, left := 0, 0
	for i, groups := range joinGroups {
		for _, key := range []int{0, 2} {
			if leftOut(d, i) {
				left++
				continue
			}
			plan := groupedJoin(i, key)
			if !is(b, plan) {
				t.Fatalf("by %v: the join is not as the tuning wants it", groups)
			}
			if k := b.program(plan).Kernels[plan.Pipelines[1]]; strings.Contains(k.Then[len(k.Then)-1].CUDA, " table = ") {
				blocks++
			}
			enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("key %d by %v", key, groups)}, plan, 1)
		}
	}
	if blocks == 0 && left == 0 {
		t.Error("no groups lie in the memory of blocks")
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}

// TestRadixHashedKeys joins by keys that do not pack into 64 bits: strings, doubles, wide decimals, two integers of any value. Rows carry them beside a hash. A join of each kind whose rows
// live on without a match is among them, and tables of few rows.
func TestRadixHashedKeys(t *testing.T) { gputest.Each(t, testRadixHashedKeys) }

func testRadixHashedKeys(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	forceRadix(&b.runner.tuning)
	for i, kind := range []logical.JoinKind{logical.InnerJoin, logical.LeftJoin, logical.FullJoin, logical.SemiJoin, logical.AntiJoin, logical.SingleJoin} {
		for n, keys := range [][]int{{7}, {5}, {4}, {2, 11}} {
			if leftOut(d, i+n) {
				continue
			}
			b.runner.tuning.Radix.TableRows = int64(32 * (n % 2))
			g := enginetest.NewGen(rand.New(rand.NewPCG(uint64(n), 7)), 400)
			table := g.Table(400, 100)
			build, of := g.Scan(table)
			probe, cols := g.Scan(table)
			if n < 3 {
				probe, cols = g.Scan(g.Table(500, 130))
			}
			x := &physical.Build{Algorithm: physical.HashJoin, Payload: []*expr.Column{of[8]}, EstRows: 400, KeepUnmatched: kind == logical.FullJoin}
			p := &physical.Probe{Kind: kind, Build: x, Keep: []expr.ColumnID{cols[11].ID}}
			for _, at := range keys {
				x.Keys, p.Keys = append(x.Keys, of[at]), append(p.Keys, cols[at])
			}
			out := []*expr.Column{cols[11]}
			if kind != logical.SemiJoin && kind != logical.AntiJoin {
				out, p.Keep = append(out, of[8]), append(p.Keep, of[8].ID)
			}
			all := &physical.Materialize{Cols: out}
			g.Pipe(build, x)
			g.Pipe(probe, all, p)
			if x.KeepUnmatched {
				g.Pipe(&physical.UnmatchedScan{Build: x, Nulls: cols[11:12]}, all)
			}
			plan := g.Result(g.Read(all, out), out)
			if !isRadix(b, plan) {
				t.Fatalf("kind %d, keys %v: the join is not partitioned", kind, keys)
			}
			for seed := range uint64(2) {
				enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("kind %d, keys %v", kind, keys)}, plan, seed)
			}
		}
	}
}

// TestRadixWideRows joins rows of 64 bytes on either side or both: by one pass and two, with capacity for all rows and for some at first, by tables that hold a partition and such that do not.
func TestRadixWideRows(t *testing.T) { gputest.Each(t, testRadixWideRows) }

func testRadixWideRows(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	forceRadix(&b.runner.tuning)
	wide, narrow := []int{4, 5, 7, 11}, []int{11}
	for i, kind := range []logical.JoinKind{logical.InnerJoin, logical.LeftJoin, logical.FullJoin} {
		for n, sides := range [][2][]int{{wide, wide}, {wide, narrow}, {narrow, wide}} {
			if leftOut(d, i+n) {
				continue
			}
			tuning := &b.runner.tuning.Radix
			tuning.Passes, tuning.TableRows, tuning.Capacity = 1+(i+n)%2, int64(32*(n%2)), int64(8*(i%2))
			g := enginetest.NewGen(rand.New(rand.NewPCG(uint64(n), 7)), 400)
			build, of := g.Scan(g.Table(400, 100))
			probe, cols := g.Scan(g.Table(500, 130))
			x := &physical.Build{Algorithm: physical.HashJoin, Keys: []expr.Expr{of[0]}, EstRows: 400, KeepUnmatched: kind == logical.FullJoin}
			p := &physical.Probe{Kind: kind, Build: x, Keys: []expr.Expr{cols[0]}}
			var out, nulls []*expr.Column
			for _, at := range sides[0] {
				x.Payload = append(x.Payload, of[at])
				out = append(out, of[at])
			}
			for _, at := range sides[1] {
				out, nulls = append(out, cols[at]), append(nulls, cols[at])
			}
			for _, c := range out {
				p.Keep = append(p.Keep, c.ID)
			}
			all := &physical.Materialize{Cols: out}
			g.Pipe(build, x)
			g.Pipe(probe, all, p)
			if x.KeepUnmatched {
				g.Pipe(&physical.UnmatchedScan{Build: x, Nulls: nulls}, all)
			}
			plan := g.Result(g.Read(all, out), out)
			if k := b.program(plan).Kernels[plan.Pipelines[1]]; !isRadix(b, plan) || !strings.Contains(k.Then[len(k.Then)-1].CUDA+k.CUDA, "WordRow<8>") && len(sides[1]) == 1 {
				t.Fatalf("kind %d, sides %v: the join has no rows of 64 bytes in partitions", kind, sides)
			}
			for seed := range uint64(2) {
				enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("kind %d, sides %v", kind, sides)}, plan, seed)
			}
		}
	}
}

// TestRadixOutOfMemory lets each allocation of a join in partitions fail in turn, some of whose partitions have too little capacity at first: that is a lack of memory, after which the
// join runs again.
func TestRadixOutOfMemory(t *testing.T) { gputest.Each(t, testRadixOutOfMemory) }

func testRadixOutOfMemory(t *testing.T, d *gpukernels.Device) {
	b := &failing{backend: newBackend(t, d)}
	forceRadix(&b.runner.tuning)
	b.runner.tuning.Radix.Passes, b.runner.tuning.Radix.Capacity, b.runner.tuning.Radix.TableRows = 2, 8, 32
	for _, c := range enginetest.Cases() {
		if c.Name != "join 0 two integers" && c.Name != "join 2 nullable integer" {
			continue
		}
		for seed := range uint64(3) {
			plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 7)), 400))
			if !isRadix(b.backend, plan) {
				t.Fatal("the join is not partitioned")
			}
			for b.allocation = 1; b.allocation <= 30; b.allocation++ {
				enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprint("allocation ", b.allocation, " fails")}, plan, seed)
			}
		}
	}
	t.Logf("%d allocations that failed were errors", b.errors)
	if b.errors == 0 {
		t.Error("no allocation failed")
	}
}

// TestPartitionShares has each tile of each partition taken by one block, however many blocks and partitions there are.
func TestPartitionShares(t *testing.T) { gputest.Each(t, testPartitionShares) }

func testPartitionShares(t *testing.T, d *gpukernels.Device) {
	const tiles = 7
	text := fmt.Sprintf(`#define RADISH_ROW_WORDS 1
#define RADISH_BLOCK 32
#define RADISH_ITEMS 4
#include "radish.cuh"
#include "radix.cuh"

// Adds 1 to p.w[0] for each tile of each of p.w[2] partitions that a block of p.w[1] takes.
RADISH_KERNEL(take_tiles, 3) {
  for (i64 block = block_index() * RADISH_BLOCK + thread_index(); block < (i64)p.w[1]; block += grid_size() * RADISH_BLOCK) {
    const PartitionShare share = partition_share(block, (i64)p.w[1], (i64)p.w[2]);
    for (i64 part = share.first; part < (i64)p.w[2]; part += share.step) {
      for (i64 tile = share.tile; tile < %[1]d; tile += share.tiles) atomic_add(as_pointer<u32>(p.w[0]) + %[1]d * part + tile, 1u);
    }
  }
}
`, tiles)
	m, _, err := d.Load(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	f, err := m.Function("take_tiles")
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, parts := range []int64{1, 2, 31, 32, 512} {
		for _, blocks := range []int64{1, 2, 3, 31, 32, 33, 63, 64, 100, 1056} {
			at, err := s.Alloc(4 * tiles * parts)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Fill(at, 0, 4, tiles*parts), s.Launch(f, 1, d.Block(32), 0, []uint64{uint64(at), uint64(blocks), uint64(parts)})); err != nil {
				t.Fatal(err)
			}
			for i, n := range gputest.Download[uint32](t, s, at, tiles*parts) {
				if n != 1 {
					t.Errorf("%d blocks, %d partitions: tile %d of partition %d is taken %d times", blocks, parts, i%tiles, i/tiles, n)
					break
				}
			}
			if err := s.Free(at); err != nil {
				t.Fatal(err)
			}
		}
	}
}
