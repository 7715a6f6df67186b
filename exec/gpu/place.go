package gpu

import (
	"context"
	"fmt"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/outofcore"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Wish is how a plan is to be placed.
type Wish struct {
	Setting Setting
	Reason  string // of pipelines on the GPU; with Always and Strict it follows from the setting
	Limit   int64  // bytes of each device's memory that the query may hold beside table columns; 0: as many as there are
	Tables  int64  // bytes of it that table columns may take: of larger tables windows are read, one after the other; 0: as many as there are
	Joins   Joins
	Shared  SharingWish
	Kept    *Kept // what was found for the plan before; nil: it is not kept
	// Groups, if it is not nil, is what tests have in the stead of the device's for groups in partitions.
	Groups *kernel.PartitionedGroups
}

// RecursionStays is why a plan with a recursion has no pipeline on the GPU.
const RecursionStays = "WITH RECURSIVE runs on the CPU, with all that it reads"

// Place chooses the devices of a plan's pipelines, and says why. placed is nil if all run on the CPU. That the GPU is the faster one is taken for
// granted: package placement decides that. The plan that is placed has more pipelines where joins in partitions want that, if all of them run on the device, and others where several
// devices share it.
func (d *Device) Place(plan *physical.Plan, ctx *expr.Context, wish Wish) (placed *Placed, where physical.Placement, err error) {
	defer d.runner.Device.Span("place")()
	if reason, err := d.unplaceable(plan, wish.Setting); reason != "" || err != nil {
		return nil, physical.OnCPU(reason), err
	}
	target := d.runner.ForKernels()
	joins := d.advisor.Costs().GPUJoins
	target.Tuning.Joins = target.Tuning.Joins.Times(joins.Partitions, joins.Tables)
	wish.Joins.tune(&target.Tuning)
	if wish.Groups != nil {
		target.Tuning.Partition = *wish.Groups
	}
	return d.placeKept(plan, ctx, wish, target)
}

// placeKept is Place of a plan whose placing may be kept.
func (d *Device) placeKept(plan *physical.Plan, ctx *expr.Context, wish Wish, target *kernel.Target) (placed *Placed, where physical.Placement, err error) {
	if !wish.Kept.opened() || wish.Shared.Tuning != nil || slices.ContainsFunc(plan.All(), readsValues) {
		return d.placeAnew(plan, ctx, wish, target)
	}
	key := keptKey{
		plan: plan, device: d, share: string(wish.Shared.When), tuning: target.Tuning, memory: target.MemoryBytes,
		mode: ctx.SQLMode, writes: ctx.Writing, location: ctx.Location, collation: ctx.Collation, today: ctx.Today(),
	}
	var devices []*Device
	if wish.Shared.Fleet != nil {
		devices = wish.Shared.Fleet.Open()
	}
	if len(devices) > 1 && wish.Shared.isByCost() {
		key.took = wish.Shared.took().Class()
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
		wish.Kept.set(p)
	}
	return placed, where, err
}

// placeAgain places a plan as it was placed before; nil: that does not do any more.
func (d *Device) placeAgain(p *keptPlacing, wish Wish) (placed *Placed, err error) {
	x := &placing{plan: p.plan, off: p.off}
	placed = &Placed{Plan: p.plan, device: d, setting: wish.Setting, limit: wish.Limit, tables: wish.Tables, groups: p.groups, shares: p.shares, off: p.off, written: p.program}
	d.preferCompiled(placed)
	if placed.Placement, err = x.placement(wish); err != nil {
		return nil, err
	}
	placed.explain()
	placed.Placement.Alone = p.alone
	if placed.planWindows() != "" {
		return nil, nil
	}
	if p.shares != nil {
		p.shares.Explain(&placed.Placement)
	}
	return placed, nil
}

// explain notes what was decided of the plan's sinks.
func (p *Placed) explain() {
	p.Placement.Builds, p.Placement.Groups = p.program.Builds.Explain(), p.program.Aggs.Explain()
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
	_, isValues := p.Source.(*physical.ValuesScan)
	return isValues
}

// placeAnew is Place of a plan that can be placed.
func (d *Device) placeAnew(plan *physical.Plan, ctx *expr.Context, wish Wish, target *kernel.Target) (placed *Placed, where physical.Placement, err error) {
	placed, alone := d.placeShared(plan, ctx, wish, target)
	if placed != nil {
		return placed, placed.Placement, nil
	}
	if cut := join.Cut(plan, target); cut != plan {
		if placed, _, err = d.place(cut, ctx, wish, target); err == nil && placed != nil && placed.Whole() && placed.planWindows() == "" {
			placed.Placement.Alone = alone
			return placed, placed.Placement, nil
		}
	}
	if placed, where, err = d.place(plan, ctx, wish, target); placed == nil {
		return nil, where, err
	}
	if reason := placed.planWindows(); reason != "" {
		return nil, physical.OnCPU(reason), tooLarge(reason, wish.Setting)
	}
	placed.Placement.Alone = alone
	return placed, placed.Placement, nil
}

// placeShared is Place on several devices: all of a plan or nothing. alone is why one device runs it; empty: there is only one.
func (d *Device) placeShared(plan *physical.Plan, ctx *expr.Context, wish Wish, target *kernel.Target) (placed *Placed, alone string) {
	if wish.Shared.Fleet == nil {
		return nil, ""
	}
	devices := wish.Shared.Fleet.Open()
	if len(devices) < 2 || devices[0] != d {
		return nil, ""
	}
	if wish.Shared.When == ShareNever {
		return nil, "radish_gpu_share is 'never'"
	}
	defer d.runner.Device.Span("divide the plan")()
	for _, tuning := range wish.Shared.tunings() {
		if placed, alone = d.placeDivided(plan, ctx, wish, target, devices, tuning); placed != nil {
			break
		}
	}
	return placed, alone
}

// placeDivided is placeShared where devices divide a plan by a tuning.
func (d *Device) placeDivided(plan *physical.Plan, ctx *expr.Context, wish Wish, target *kernel.Target, devices []*Device, tuning distribute.Tuning) (placed *Placed, alone string) {
	stored := map[physical.Sink]bool{} // what cannot move its rows: they are stored before
	if reachEachOther(devices) {       // strings that rows carry stay where they are
		tuning.Moves = func(s physical.Sink) bool { return !stored[s] }
	}
	for {
		shared, alone := distribute.Plan(plan, len(devices), tuning)
		if shared == nil {
			return nil, alone
		}
		why := ""
		if wish.Shared.isByCost() {
			var pays bool
			if pays, why = d.pays(plan, shared, devices, &wish.Shared); !pays {
				return nil, why
			}
		}
		s := newShares(shared, devices)
		s.pays = why
		placed, alone, cannot := d.placeAt(s, ctx, wish, target)
		if placed != nil || len(cannot) == 0 {
			return placed, alone
		}
		for _, sink := range cannot {
			stored[s.Origins[sink]] = true
		}
	}
}

// placeAt is placeShared of a plan that is divided. cannot are builds and aggregations that may not move rows, if that may be why placed is nil.
func (d *Device) placeAt(s *shares, ctx *expr.Context, wish Wish, target *kernel.Target) (placed *Placed, alone string, cannot []physical.Sink) {
	own := *target
	own.Places, own.Moves = s.multiplied(), s.movingGroups()
	plans := []*physical.Plan{s.Plan}
	if cut := join.Cut(s.Plan, &own); cut != s.Plan {
		plans = []*physical.Plan{cut, s.Plan}
	}
	for _, plan := range plans {
		placed, why, not := d.placeShares(s, plan, ctx, wish, &own)
		if why == "" {
			placed.shares.Explain(&placed.Placement)
			return placed, "", nil
		}
		if alone == "" || len(not) < len(cannot) {
			alone, cannot = why, not
		}
	}
	return nil, alone, cannot
}

// placeShares is placeAt of a plan that is divided, as it is or with some of its pipelines cut. Joins and groups that move rows have to be in partitions by two passes: rows move in the second one.
func (d *Device) placeShares(s *shares, plan *physical.Plan, ctx *expr.Context, wish Wish, target *kernel.Target) (placed *Placed, alone string, cannot []physical.Sink) {
	var moving []physical.Sink
	for b := range s.movingBuilds() {
		moving = append(moving, b)
	}
	for a := range target.Moves {
		moving = append(moving, a)
	}
	placed, where, err := d.place(plan, ctx, wish, target)
	switch {
	case err != nil:
		return nil, err.Error(), moving
	case placed == nil || !placed.Whole():
		return nil, "a part of it runs on the CPU: " + where.FirstReason(plan), moving
	}
	for _, sink := range moving {
		if !placed.program.PartitionsTwice(sink) {
			cannot = append(cannot, sink)
		}
	}
	if len(cannot) > 0 {
		return nil, "a join or an aggregation is not in partitions by two passes", cannot
	}
	placed.shares = s.of(plan)
	if alone := placed.planWindows(); alone != "" {
		return nil, alone, moving
	}
	return placed, "", nil
}

// place is Place of a plan as it is.
func (d *Device) place(plan *physical.Plan, ctx *expr.Context, wish Wish, target *kernel.Target) (placed *Placed, where physical.Placement, err error) {
	x := &placing{plan: plan, off: map[*physical.Pipeline]string{}}
	x.sides()
	placed = &Placed{Plan: plan, device: d, setting: wish.Setting, limit: wish.Limit, tables: wish.Tables}
	for {
		placed.groups = x.crossings()
		whole := *plan
		whole.Pipelines = append([]*physical.Pipeline(nil), plan.Pipelines...)
		for _, p := range plan.Pipelines {
			if src, ok := p.Source.(*physical.SinkScan); ok {
				if a, ok := src.From.(*physical.Aggregate); ok && placed.groups[a] != nil && !slices.Contains(whole.Pipelines, placed.groups[a]) {
					whole.Pipelines = append(whole.Pipelines, placed.groups[a])
				}
			}
		}
		placed.program = program.New(&whole, target, ctx, d.lookups, x.on)
		if !x.refuse(placed.program, placed.groups) {
			break
		}
	}
	placed.off, placed.written = x.off, placed.program
	d.preferCompiled(placed)
	if placed.Placement, err = x.placement(wish); err != nil {
		return nil, where, err
	}
	placed.explain()
	if len(x.off) == len(plan.Pipelines) {
		return nil, placed.Placement, nil
	}
	return placed, placed.Placement, nil
}

// Failed is what became of a device that is lost.
const Failed = "the GPU failed and cannot be used until the program restarts"

// unplaceable says why no pipeline of a plan can run on the device, whatever kernels there are. It is an error where the setting wants no other device.
func (d *Device) unplaceable(plan *physical.Plan, setting Setting) (reason string, err error) {
	if err := d.Lost(); err != nil {
		reason = Failed + ": " + err.Error()
		if !setting.fallsBack() {
			return "", sqlerr.New(sqlerr.CodeUnknownError, sqlerr.Resource, "%s", reason).WithHint("SET radish_device = 'auto' to go on with the CPU")
		}
		return reason, nil
	}
	if plan.Recursive() {
		if setting == Strict {
			return "", sqlerr.NotSupportedf("WITH RECURSIVE on the GPU", RecursionStays).WithHint("SET radish_device = 'auto' to run it on the CPU")
		}
		return RecursionStays, nil
	}
	return "", nil
}

// tooLarge is the error of a plan that the device lacks memory for, where the setting wants no other device; nil if it lets the CPU run the plan.
func tooLarge(reason string, setting Setting) error {
	if setting.sparesMemory() {
		return nil
	}
	return sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "%s", reason).WithHint("SET radish_device = 'gpu' to let the CPU run what the GPU cannot")
}

// placement is what was found. With Strict a pipeline on the CPU is an error.
func (x *placing) placement(wish Wish) (where physical.Placement, err error) {
	reason := wish.Reason
	switch wish.Setting {
	case Always:
		reason = "radish_device is 'gpu'"
	case Strict:
		reason = "radish_device is 'gpu_strict'"
	}
	where.Pipelines = make(map[*physical.Pipeline]physical.Choice, len(x.plan.Pipelines))
	for _, p := range x.plan.Pipelines {
		why, off := x.off[p]
		if !off {
			where.Pipelines[p] = physical.Choice{Device: physical.GPU, Reason: reason}
			continue
		}
		if wish.Setting == Strict {
			return where, sqlerr.NotSupportedf(fmt.Sprintf("pipeline %d on the GPU", p.ID), "%s", why).WithHint("SET radish_device = 'gpu' to let the CPU run what the GPU cannot")
		}
		where.Pipelines[p] = physical.Choice{Device: physical.CPU, Reason: why}
	}
	return where, nil
}

// planWindows plans what each place reads in windows, and adds to the reasons of pipelines how the first one reads their tables. refusal says why a place cannot run the plan, whatever it
// gives up and though tables are read in windows. "" if all can.
func (p *Placed) planWindows() (refusal string) {
	p.windows = make([]outofcore.Windows, len(p.devices()))
	for i, d := range p.devices() {
		on := func(x *physical.Pipeline) bool { return p.Placement.Device(x) == physical.GPU && p.runsAt(i, x) }
		p.windows[i] = outofcore.Plan(p.Plan, on, d.runner.Residency, p.parts(i), p.tables)
		if why := p.windows[i].Refusal; why != "" {
			return "it would run out of GPU memory: " + why
		}
	}
	for _, x := range p.Plan.Pipelines {
		scan, ok := x.Source.(*physical.TableScan)
		if !ok || p.windows[0].Of[scan] == nil {
			continue
		}
		c := p.Placement.Pipelines[x]
		if c.Reason != "" {
			c.Reason += "; "
		}
		c.Reason += p.windows[0].Of[scan].Text()
		p.Placement.Pipelines[x] = c
	}
	return ""
}
