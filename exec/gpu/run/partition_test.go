package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// TestParts groups by an integer of many values, and by keys that are hashed: of 32 bits, packed ones with NULLs, and of 64 bits; by one and by two passes;
// with capacity for all rows, for some and for none; with capacity for all groups and too little.
func TestParts(t *testing.T) { gputest.Each(t, testParts) }

func testParts(t *testing.T, d *gpukernels.Device) {
	runner, err := NewRunner(d)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	tuning := &runner.tuning
	tuning.Partition.Rows = 1000
	b := &backend{t: t, runner: runner, refused: map[string]int{}}
	const rows = 40_000
	all := []groupAgg{{"sum", 8}, {"count(*)", -1}, {"min", 8}, {"max", 8}, {"avg", 8}}
	for i, c := range []struct {
		keys []int
		aggs []groupAgg
	}{
		{[]int{0}, all}, {[]int{0}, []groupAgg{{"sum", 0}}}, {[]int{0}, []groupAgg{{"max", 0}}}, {[]int{11, 0}, all}, {[]int{1, 11}, []groupAgg{{"sum", 0}, {"min", 0}}},
		{[]int{2}, all}, {[]int{9}, []groupAgg{{"sum", 8}, {"max", 8}}}, {[]int{5}, []groupAgg{{"count(*)", -1}}}, {[]int{11, 3}, []groupAgg{{"sum", 8}}},
	} {
		if leftOut(d, i) {
			continue
		}
		t.Run(fmt.Sprint("case ", i), func(t *testing.T) {
			b.t = t
			aggs := c.aggs
			for _, passes := range []int{0, 1, 2} {
				tuning.Partition.PerfectHashRows = math.MaxFloat64
				if passes == 0 { // one, with a perfect hash
					if c.keys[0] == 0 {
						continue
					}
					passes, tuning.Partition.PerfectHashRows = 1, 0
				}
				for _, capacity := range []int64{math.MaxInt64, 64, 0} {
					if i > 5 && capacity != 64 {
						continue // what differs from the case before are the keys
					}
					tuning.Partition.Passes, tuning.Partition.Capacity = passes, capacity
					tuning.Partition.Slots, tuning.Partition.SlotsMost, tuning.Partition.MoreGroups = 1<<17, 1<<22, 1<<16
					if capacity == 64 { // so few that the groups have to be made again with more capacity
						tuning.Partition.Slots, tuning.Partition.SlotsMost, tuning.Partition.MoreGroups = 1<<8, 1<<8, -20_000
					}
					seed := uint64(i)
					g := enginetest.NewGen(rand.New(rand.NewPCG(seed, 13)), rows)
					scan, cols := g.Scan(g.Table(rows, 5200))
					if capacity == 64 {
						scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: cols[2], Right: &expr.Const{Value: types.IntValue(-1)}}}
					}
					groups := 4000.0
					if c.keys[0] != 0 {
						groups = 17_000
					}
					plan := groupsPlan(g, scan, cols, groups, c.keys, aggs)
					kernels := program.New(plan, runner.ForKernels(), &expr.Context{}, lookup.New(1<<20), func(*physical.Pipeline) bool { return true }).Kernels[plan.Pipelines[0]].All()
					wide := i > 4
					ranked := passes == 2 && c.keys[0] != 0 && !wide
					if !strings.Contains(kernels[0].CUDA, "partitioner.tile(") || len(kernels) != passes+1 || strings.Contains(kernels[passes].CUDA, "TagRanks") != ranked ||
						strings.Contains(kernels[passes].CUDA, "PerfectHashTable") != (tuning.Partition.PerfectHashRows == 0) || strings.Contains(kernels[0].CUDA, "RADISH_WIDE_ROWS") != wide {
						t.Errorf("%v by %v in %d passes: %d kernels, the first\n%s", aggs, c.keys, passes, len(kernels), kernels[0].CUDA)
					}
					enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("%v by %v in %d passes with capacity for %d rows", aggs, c.keys, passes, capacity)}, plan, seed)
				}
			}
		})
	}
	b.t = t
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}

// groupAgg is an aggregate and the column that it is of; less than 0: of none.
type groupAgg struct {
	name string
	arg  int
}

// groupsPlan groups a scan's rows by some of its columns.
func groupsPlan(g *enginetest.Gen, scan *physical.TableScan, cols []*expr.Column, groups float64, keys []int, aggs []groupAgg) *physical.Plan {
	a := &physical.Aggregate{EstGroups: groups}
	var out []*expr.Column
	for _, at := range keys {
		key := g.Alloc.Like(cols[at])
		a.Groups = append(a.Groups, logical.Item{Col: key, Expr: cols[at]})
		out = append(out, key)
	}
	for _, f := range aggs {
		var args []*expr.Column
		if f.arg >= 0 {
			args = []*expr.Column{cols[f.arg]}
		}
		it := g.Agg(f.name, false, args...)
		a.Aggs = append(a.Aggs, it)
		out = append(out, it.Col)
	}
	g.Pipe(scan, a)
	return g.Result(g.Read(a, out), out)
}

// failing runs plans of which one allocation fails. Where that is an error it wants a lack of memory, and runs the plan again.
type failing struct {
	*backend
	allocation, errors int
}

func (b *failing) Run(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	g := b.program(plan)
	if _, err := b.once(ctx, plan, g, false); err != nil { // brings the columns
		return nil, err
	}
	d := b.runner.Device
	if err := d.FailAllocation(b.allocation); err != nil {
		return nil, err
	}
	out, err := b.once(ctx, plan, g, false)
	if errors.Is(err, gpukernels.ErrOutOfMemory) {
		b.errors++
		return b.once(ctx, plan, g, false)
	}
	return out, errors.Join(err, d.FailAllocation(0))
}

// TestPartitionsOutOfMemory lets each allocation of partitioned groups fail in turn: those of the partitions themselves cost time only.
func TestPartitionsOutOfMemory(t *testing.T) { gputest.Each(t, testPartitionsOutOfMemory) }

func testPartitionsOutOfMemory(t *testing.T, d *gpukernels.Device) {
	if leftOut(d, 1) {
		t.Skip("a plan runs once for each of its allocations")
	}
	const rows = 40_000
	for _, c := range []struct {
		keys   []int
		groups float64
	}{{[]int{0}, 4000}, {[]int{11, 0}, 17_000}} { // of a dense domain, and hashed
		b := &failing{backend: newBackend(t, d)}
		b.runner.tuning.Partition.Rows, b.runner.tuning.Partition.Passes = 1000, 2
		g := enginetest.NewGen(rand.New(rand.NewPCG(5, 13)), rows)
		scan, cols := g.Scan(g.Table(rows, 5200))
		plan := groupsPlan(g, scan, cols, c.groups, c.keys, []groupAgg{{"sum", 8}, {"count(*)", -1}, {"min", 8}, {"max", 8}, {"avg", 8}})
		if kernels := b.program(plan).Kernels[plan.Pipelines[0]].All(); len(kernels) != 3 {
			t.Fatalf("grouping by %v has %d kernels", c.keys, len(kernels))
		}
		for b.allocation = 1; b.allocation <= 12; b.allocation++ {
			enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprint("allocation ", b.allocation, " fails")}, plan, 5)
		}
		t.Logf("by %v: %d allocations that failed were errors", c.keys, b.errors)
		if b.errors == 0 || b.errors > 8 {
			t.Error("all or none were")
		}
	}
}

// TestFullPartition groups by hashed keys of which far more belong to one partition than its table has slots, and to others few.
func TestFullPartition(t *testing.T) { gputest.Each(t, testFullPartition) }

func testFullPartition(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	tuning := &b.runner.tuning
	tuning.Partition.Rows, tuning.Partition.LeastSlots, tuning.Partition.PerfectHashBytes = 1000, 8, 8<<10
	for seed := range uint64(3) {
		tuning.Partition.Passes = int(max(seed, 1))
		tuning.Partition.PerfectHashRows = float64(seed) * math.MaxFloat32 // a perfect hash at first
		r := rand.New(rand.NewPCG(seed, 19))
		data := make([]encoding.Data, 2)
		for row := range 60_000 {
			place := uint32(r.IntN(3000))
			place = place>>partition.NearBits<<(partition.NearBits+16) | 0x1234<<partition.NearBits | place&(1<<partition.NearBits-1)
			if row%4 == 0 {
				place = uint32(r.IntN(10_000)) * 0x9E3779B1
			}
			key := int64(unmixWord(place))
			if row == 0 {
				key = 0 // so that others are what they are above the least
			}
			data[0].Ints = append(data[0].Ints, key)
			data[1].Ints = append(data[1].Ints, r.Int64N(1<<31)-1<<30)
		}
		schema := &tables.Schema{Database: "test", Name: "t", Columns: []tables.ColumnDef{{Name: "k", Type: types.Int64}, {Name: "v", Type: types.Int64}}}
		builder := tables.NewBuilder(tables.New(schema))
		if err := builder.AppendColumns(len(data[0].Ints), data); err != nil {
			t.Fatal(err)
		}
		v, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		g := enginetest.NewGen(r, 0)
		scan := scanOf(g, v)
		key := g.Alloc.Like(scan.Cols[0])
		agg := &physical.Aggregate{EstGroups: 13_000, Groups: []logical.Item{{Col: key, Expr: scan.Cols[0]}}}
		out := []*expr.Column{key}
		for _, name := range []string{"sum", "count(*)", "min", "max"} {
			args := []*expr.Column{scan.Cols[1]}
			if name == "count(*)" {
				args = nil
			}
			it := g.Agg(name, false, args...)
			agg.Aggs = append(agg.Aggs, it)
			out = append(out, it.Col)
		}
		g.Pipe(scan, agg)
		plan := g.Result(g.Read(agg, out), out)
		if kernels := b.program(plan).Kernels[plan.Pipelines[0]].All(); len(kernels) != tuning.Partition.Passes+1 || strings.Contains(kernels[tuning.Partition.Passes].CUDA, "PerfectHashTable") != (seed == 0) {
			t.Errorf("%d passes: %d kernels, the first\n%s", tuning.Partition.Passes, len(kernels), kernels[0].CUDA)
		}
		enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("a full partition in %d passes", tuning.Partition.Passes)}, plan, seed)
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}

// unmixWord is unmix_word of hash.cuh: the key of a radix key.
func unmixWord(x uint32) uint32 {
	h := ^x
	h = (h ^ h>>16) * 0x7ed1b41d
	h = (h ^ h>>13 ^ h>>26) * 0xa5cb9243
	return ^(h ^ h>>16)
}
