package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tabletest"
)

// TestGroupsMoveRows groups rows that move between devices while they are grouped: by keys whose slot follows from them, and by hashed ones of 32 and 64 bits, NULL and those that have no slot
// among them; with capacity for all rows, for some and for none; for all groups and for few at first; where most rows have few keys, and where some devices have no rows of a key.
func TestGroupsMoveRows(t *testing.T) {
	gputest.EachLibrary(t, func(t *testing.T, lib *gpukernels.Library) {
		of := map[int]*onFleet{}
		for n := range 3 {
			tuning := distribute.EverythingTuning()
			tuning.GatherGroups, tuning.Joins = 0, distribute.ByKeys
			of[n+1] = newOnFleet(openDevices(t, lib, n+1), tuning)
		}
		for i, c := range []struct {
			name     string
			typ      types.Type
			nullable bool
			key      func(r *rand.Rand, row int) int
			aggs     []string
			devices  int
		}{
			{"an array", types.Int32, false, func(r *rand.Rand, _ int) int { return r.IntN(20_000) }, []string{"sum", "count(*)", "min", "max"}, 2},
			{"an array, frequent keys", types.Int32, true, func(r *rand.Rand, row int) int { return frequent(r, row, 20_000) }, []string{"sum", "max"}, 3},
			{"32 bits", types.Int32, false, func(r *rand.Rand, _ int) int { return int(int32(uint32(r.IntN(20_000)) * 0x85EBCA6B)) }, []string{"sum", "min"}, 3},
			{"32 bits, frequent keys", types.Int32, false, func(r *rand.Rand, row int) int { return int(int32(uint32(frequent(r, row, 20_000)) * 0x85EBCA6B)) }, []string{"sum", "count(*)", "avg", "max"}, 2},
			{"64 bits", types.Int64, true, func(r *rand.Rand, _ int) int { return int(uint64(r.IntN(20_000)) * 0x9FB21C651E98DF25) }, []string{"count(*)"}, 2},
			{"64 bits, keys without slots", types.Int64, true, func(r *rand.Rand, row int) int {
				if row%3 == 0 {
					return int([]uint64{math.MaxUint64, 0, unmix(math.MaxUint64), unmix(math.MaxUint64 - 1)}[row/3%4])
				}
				return int(uint64(frequent(r, row, 20_000)) * 0x9FB21C651E98DF25)
			}, []string{"sum", "count(*)", "min", "max"}, 3},
			{"one device", types.Int32, false, func(r *rand.Rand, _ int) int { return r.IntN(20_000) }, []string{"sum"}, 1},
			{"keys of each slice", types.Int32, false, func(r *rand.Rand, row int) int { return row/10_000*3000 + r.IntN(3000) }, []string{"sum", "count(*)"}, 3},
		} {
			r := rand.New(rand.NewPCG(uint64(i), 23))
			v := tabletest.Make(t, "t", 60_000, false, []table.ColumnDef{{Name: "k", Type: c.typ, Nullable: c.nullable}, {Name: "v", Type: types.Int64}}, func(row, col int) types.Value {
				if col == 1 {
					return types.IntValue(r.Int64N(1<<31) - 1<<30)
				}
				return types.Value{Type: c.typ, I: int64(c.key(r, row)), Null: c.nullable && row%9 == 0}
			})
			scanOf := func(g *enginetest.Gen) *physical.TableScan {
				scan := &physical.TableScan{Table: v, EstRows: 60_000}
				for at := range 2 {
					scan.Cols, scan.Ordinals = append(scan.Cols, g.Alloc.New("t", v.Schema.Columns[at].Name, v.Schema.Columns[at].Type, v.Schema.Columns[at].Nullable)), append(scan.Ordinals, at)
				}
				return scan
			}
			for _, capacity := range []int64{math.MaxInt64, 64, 0} {
				b := of[c.devices]
				b.groups = &kernel.PartitionedGroups{
					Rows: 1000, Passes: 1, Capacity: capacity, PerfectHashRows: math.MaxFloat64, PerfectHashBytes: math.MaxInt64, PerfectHashCache: 164 << 10, LeastSlots: 256, Slots: 1 << 17, SlotsMost: 1 << 22, MoreGroups: 1 << 16,
				}
				if capacity == 64 { // so few that the groups have to be made again with more capacity
					b.groups.Slots, b.groups.SlotsMost, b.groups.MoreGroups = 1<<8, 1<<8, -20_000
				}
				if capacity == 0 && i%2 == 1 {
					continue // what differs are the keys
				}
				t.Run(fmt.Sprintf("%s, capacity for %d rows", c.name, capacity), func(t *testing.T) {
					g := enginetest.NewGen(r, 0)
					scan := scanOf(g)
					if i%2 == 0 {
						scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: scan.Cols[1], Right: &expr.Const{Value: types.IntValue(-1 << 29)}}}
					}
					key := g.Alloc.Like(scan.Cols[0])
					agg := &physical.Aggregate{EstGroups: 17_000, Groups: []logical.Item{{Col: key, Expr: scan.Cols[0]}}}
					out := []*expr.Column{key}
					for _, name := range c.aggs {
						args := []*expr.Column{scan.Cols[1]}
						if name == "count(*)" {
							args = nil
						}
						it := g.Agg(name, false, args...)
						agg.Aggs, out = append(agg.Aggs, it), append(out, it.Col)
					}
					g.Pipe(scan, agg)
					plan := (*physical.Plan)(nil)
					if i == 2 || i == 5 { // with rows that are where nothing has moved them
						build := &physical.Build{Algorithm: physical.HashJoin, Keys: []expr.Expr{key}, Payload: out[1:], Unique: true, EstRows: 17_000}
						g.Pipe(g.Read(agg, out), build)
						other := scanOf(g)
						probe := &physical.Probe{Kind: logical.InnerJoin, Build: build, Keys: []expr.Expr{other.Cols[0]}, EstRows: 60_000}
						out = append([]*expr.Column{other.Cols[1]}, out[1:]...)
						for _, c := range out {
							probe.Keep = append(probe.Keep, c.ID)
						}
						plan = g.Result(other, out, probe)
					} else {
						plan = g.Result(g.Read(agg, out), out)
					}
					regroup(t, plan, 7)
					before := b.moved
					enginetest.Check(t, b, enginetest.Case{Name: c.name}, plan, uint64(i))
					if i == 1 && capacity == 64 { // at whichever allocation a device lacks memory: the CPU runs the plan then
						ran := b.onCPU
						f := &failingFleet{onFleet: b}
						for _, f.device = range b.devices {
							for f.allocation = 1; f.allocation < 16; f.allocation++ {
								enginetest.Check(t, f, enginetest.Case{Name: fmt.Sprintf("%s, allocation %d fails", c.name, f.allocation)}, plan, uint64(i))
							}
						}
						if failed := b.onCPU - ran; failed < 10 {
							t.Errorf("%d runs lacked memory", failed)
						}
						b.onCPU = ran
					}
					if moved := b.moved > before; moved != (c.devices > 1) {
						t.Errorf("rows moved while they were grouped: %v; not shared: %v", moved, b.alone)
					}
				})
			}
		}
		for _, b := range of {
			if b.onCPU > 0 {
				t.Errorf("%d plans ended on the CPU", b.onCPU)
			}
		}
	})
}

// failingFleet runs plans with a device of which one allocation fails.
type failingFleet struct {
	*onFleet
	device     *gpu.Device
	allocation int
}

func (f *failingFleet) Run(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	if err := f.device.FailAllocation(f.allocation); err != nil {
		return nil, err
	}
	out, err := f.onFleet.Run(ctx, plan)
	return out, errors.Join(err, f.device.FailAllocation(0))
}

// frequent is one of n keys, nine times of ten one of eight.
func frequent(r *rand.Rand, row, n int) int {
	if r.IntN(10) > 0 {
		return row % 8 * 711
	}
	return r.IntN(n)
}

// unmix is the word that mix of hash.cuh makes another one of.
func unmix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0x9cb4b2f8129337db
	x ^= x >> 33
	x *= 0x4f74430c22a54005
	return x ^ x>>33
}
