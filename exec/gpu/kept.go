package gpu

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Writing the kernels of a plan, and dividing it between devices, takes some tenths of a millisecond: as much as a small query. A plan that is kept has the same kernels each time, as they follow from the
// plan, from the settings that change joins and from little of the session. What may change, as the memory that is free and which kernels are compiled, is looked at each time.

// Kept keeps where a plan was placed, and its kernels, for the next time. It serves any number of sessions. The zero value keeps nothing until Open.
type Kept struct {
	mu   sync.Mutex
	open bool
	last *keptPlacing // nil: nothing is kept
}

// keptPlacing is what Place has found.
type keptPlacing struct {
	key     keptKey
	devices []*Device // that could share the plan
	plan    *physical.Plan
	off     map[*physical.Pipeline]string
	groups  map[*physical.Aggregate]*physical.Pipeline
	program *program.Program // before preferCompiled
	shares  *shares
	alone   string
}

// keptKey is what kernels follow from, besides the plan and the devices.
type keptKey struct {
	plan   *physical.Plan
	device *Device
	share  Share
	tuning kernel.Tuning
	memory int64

	mode      expr.SQLMode
	writing   bool
	location  *time.Location
	collation types.Collation
	today     int64
}

// mostKept is how many plans of a device have their placing kept, at some 100 KiB each: the last ones.
const mostKept = 64

// keepers are those of a device's plans that keep something.
type keepers struct {
	mu   sync.Mutex
	kept []*Kept // the last one last
}

// Open lets it keep what is found from now on.
func (k *Kept) Open() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = true
}

// Close forgets all, for good: the plan is no longer kept.
func (k *Kept) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open, k.last = false, nil
}

// find returns what is kept for a key; nil: nothing is.
func (k *Kept) find(key *keptKey, devices []*Device) *keptPlacing {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.last; p != nil && p.key == *key && slices.Equal(p.devices, devices) {
		return p
	}
	return nil
}

// opened says whether something may be kept.
func (k *Kept) opened() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.open
}

// set keeps a placing, and has the device forget the oldest one if there are too many.
func (k *Kept) set(p *keptPlacing, all *keepers) {
	k.mu.Lock()
	was := k.last != nil
	if k.open {
		k.last = p
	}
	is := k.last != nil
	k.mu.Unlock()
	if was || !is {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.kept = append(all.kept, k); len(all.kept) > mostKept {
		oldest := all.kept[0]
		all.kept = slices.Delete(all.kept, 0, 1)
		oldest.mu.Lock()
		oldest.last = nil
		oldest.mu.Unlock()
	}
}

// placeKept is Place of a plan whose placing may be kept.
func (d *Device) placeKept(plan *physical.Plan, ctx *expr.Context, wish Wish, target *kernel.Target) (placed *Placed, where physical.Placement, err error) {
	if !wish.Kept.opened() || wish.Shared.Tuning != nil || slices.ContainsFunc(plan.All(), readsValues) {
		return d.placeAnew(plan, ctx, wish, target)
	}
	key := keptKey{
		plan: plan, device: d, share: wish.Shared.When, tuning: target.Tuning, memory: target.MemoryBytes,
		mode: ctx.SQLMode, writing: ctx.Writing, location: ctx.Location, collation: ctx.Collation, today: ctx.Today(),
	}
	var devices []*Device
	if wish.Shared.Fleet != nil {
		devices = wish.Shared.Fleet.Open()
	}
	if p := wish.Kept.find(&key, devices); p != nil {
		if placed, err := d.placeAgain(p, wish); placed != nil || err != nil {
			return placed, placed.placement(), err
		}
	}
	warned := ctx.Warnings.Count()
	own := ctx.ForWorker(nil) // which the kernels hold: when they are there, it knows nothing of the session
	placed, where, err = d.placeAnew(plan, own, wish, target)
	if placed != nil && err == nil && ctx.Warnings.Count() == warned {
		p := &keptPlacing{key: key, devices: devices, plan: placed.Plan, groups: placed.groups, off: placed.off, program: placed.written, shares: placed.shares, alone: placed.Placement.Alone}
		*own = expr.Context{Ctx: context.Background(), Now: ctx.Now, Location: ctx.Location, SQLMode: ctx.SQLMode, Collation: ctx.Collation, Writing: ctx.Writing, Warnings: &sqlerr.Warnings{}, Added: ctx.Added}
		wish.Kept.set(p, &d.keepers)
	}
	return placed, where, err
}

// placeAgain places a plan as it was placed before; nil: that does not do any more.
func (d *Device) placeAgain(p *keptPlacing, wish Wish) (placed *Placed, err error) {
	x := &placing{plan: p.plan, off: p.off}
	placed = &Placed{Plan: p.plan, device: d, mode: wish.Mode, limit: wish.Limit, tables: wish.Tables, groups: p.groups, shares: p.shares, off: p.off, written: p.program}
	placed.program = d.preferCompiled(p.program)
	if placed.Placement, err = x.placement(wish); err != nil {
		return nil, err
	}
	placed.Placement.Builds, placed.Placement.Alone = placed.program.Builds.Explain(), p.alone
	if placed.planWindows() != "" {
		return nil, nil
	}
	if p.shares != nil {
		p.shares.Explain(&placed.Placement)
	}
	return placed, nil
}

// placement is where the pipelines run; nothing if placed is nil.
func (p *Placed) placement() (where physical.Placement) {
	if p != nil {
		where = p.Placement
	}
	return where
}

// readsValues says whether a pipeline reads rows that the statement has, which are computed when it runs.
func readsValues(p *physical.Pipeline) bool {
	_, values := p.Source.(*physical.ValuesScan)
	return values
}

// IsKept says, for tests, whether something is kept.
func (k *Kept) IsKept() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last != nil
}
