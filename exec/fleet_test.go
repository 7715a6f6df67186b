package exec_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tabletest"
)

// openDevices opens so many devices of a library: emulated ones are as many as are wanted, and a GPU is opened again where there are fewer.
func openDevices(t *testing.T, lib *gpukernels.Library, n int) (all []*gpu.Device) {
	t.Helper()
	t.Setenv(gputest.EmulatedDevicesVariable, strconv.Itoa(n))
	infos, err := lib.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		d, err := gpu.NewDevice(lib, i%len(infos))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	t.Cleanup(func() {
		for _, d := range all {
			d.EvictColumns()
			if m, err := d.Memory(); err == nil && m.Used != 0 && d.Lost() == nil {
				t.Errorf("%d bytes of device memory were not freed", m.Used)
			}
			d.Close()
		}
	})
	return all
}

// onFleet runs plans on several devices.
type onFleet struct {
	devices []*gpu.Device
	tuning  distribute.Tuning
	groups  *kernel.PartitionedGroups // nil: as the devices have it

	shared, onCPU int
	moved         int // plans with groups whose rows moved while they were grouped
	exchanges     map[string]int
	alone         map[string]int // by reason
}

func newOnFleet(devices []*gpu.Device, tuning distribute.Tuning) *onFleet {
	return &onFleet{devices: devices, tuning: tuning, exchanges: map[string]int{}, alone: map[string]int{}}
}

func (b *onFleet) Name() string { return fmt.Sprint(len(b.devices), " devices") }

func (b *onFleet) Run(ctx context.Context, plan *physical.Plan) (out []*column.Batch, err error) {
	env := exec.Env{Threads: 1, Expr: &expr.Context{Warnings: &sqlerr.Warnings{}}}
	placed, where, err := b.devices[0].Place(plan, &expr.Context{Warnings: &sqlerr.Warnings{}}, gpu.Wish{
		Setting: gpu.Eager, Shared: gpu.SharingWish{Fleet: gpu.NewFleet(b.devices...), Tuning: &b.tuning}, Groups: b.groups,
	})
	if err != nil {
		return nil, err
	}
	if placed != nil && where.Spread != nil {
		b.shared++
		for s, x := range where.Exchanges {
			b.exchanges[x.Name]++
			if _, ok := s.(*physical.Aggregate); ok {
				b.moved++
			}
		}
	} else {
		b.alone[where.Alone]++
	}
	env.GPU = placed
	rows, err := exec.Run(ctx, plan, env)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if rows.Placement().Pipelines == nil {
		b.onCPU++
	}
	for {
		x, err := rows.Next(ctx)
		if x == nil || err != nil {
			return out, err
		}
		out = append(out, x)
	}
}

// regroup has the scans of a plan read tables of several row groups, so that each device has some.
func regroup(t *testing.T, plan *physical.Plan, groups int) {
	t.Helper()
	of := map[*table.Version]*table.Version{}
	for _, p := range plan.All() {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok || scan.Table.Rows() == 0 {
			continue
		}
		if of[scan.Table] == nil {
			v, err := tabletest.Regroup(scan.Table, int(scan.Table.Rows())/groups+1)
			if err != nil {
				t.Fatal(err)
			}
			of[scan.Table] = v
		}
		scan.Table = of[scan.Table]
	}
}

// isSorted says whether the rows of a plan come in an order that its Sort gives them; limits says whether a Limit takes some of its rows.
func isSorted(plan *physical.Plan) (sorted, limits bool) {
	for _, p := range plan.Pipelines {
		_, sort := p.Sink.(*physical.Sort)
		sorted = sorted || sort
		for _, tr := range p.Transforms {
			_, limit := tr.(*physical.Limit)
			limits = limits || limit
		}
	}
	return sorted, limits
}

// TestFleet runs some of the cases that every backend has to pass on two, three and eight devices, with each way to join, and on one. Which cases, the seed says.
func TestFleet(t *testing.T) {
	seed := gputest.Seed(t)
	gputest.EachLibrary(t, func(t *testing.T, lib *gpukernels.Library) {
		share := uint64(12)
		if testing.Short() {
			share = 48
		}
		var all []*onFleet
		all = append(all, newOnFleet(openDevices(t, lib, 1), distribute.EverythingTuning()))
		for i, n := range []int{2, 3, 8} {
			devices := openDevices(t, lib, n)
			for way := distribute.ByCost; way <= distribute.ByHome; way++ {
				tuning := distribute.EverythingTuning()
				tuning.Joins = way
				if (int(way)+i)%2 == 0 {
					tuning.GatherGroups = 0
				}
				all = append(all, newOnFleet(devices, tuning))
			}
		}
		left := 0
		for k, c := range enginetest.Cases() {
			if (uint64(k)+seed)%share != 0 {
				continue
			}
			size := enginetest.Sizes[(uint64(k)+seed)/share%6]
			t.Run(fmt.Sprintf("%s/%d", c.Name, size), func(t *testing.T) {
				if gputest.TimeUp(t) {
					left++
					return
				}
				s := seed + uint64(size)
				plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(s, 7)), size))
				regroup(t, plan, 7)
				sorted, limits := isSorted(plan)
				if c.Ordered = c.Ordered && sorted; limits && !sorted {
					t.Skip("any rows will do")
				}
				enginetest.Check(t, all[(uint64(k)/share+seed)%uint64(len(all))], c, plan, s)
			})
		}
		sum := newOnFleet(nil, distribute.Tuning{})
		for _, b := range all {
			sum.shared += b.shared
			sum.onCPU += b.onCPU
			for name, n := range b.exchanges {
				sum.exchanges[name] += n
			}
			for name, n := range b.alone {
				sum.alone[name] += n
			}
		}
		t.Logf("%d plans were shared, %d in all ran on the CPU, %d were left out for want of time; exchanges: %v", sum.shared, sum.onCPU, left, sum.exchanges)
		for _, why := range slices.Sorted(maps.Keys(sum.alone)) {
			t.Logf("%d plans were not shared: %s", sum.alone[why], why)
		}
	})
}
