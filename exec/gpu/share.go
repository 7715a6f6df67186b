package gpu

import (
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Sharing says whether several devices share a plan, and which.
type Sharing struct {
	Fleet *Fleet // whose first device is that whose Place is called; nil: it works alone
	When  Share
	// Tuning, if it is not nil, is what tests have in the stead of When's.
	Tuning *distribute.Tuning
}

// Share says which plans several devices share.
type Share string

// The plans: those for which that costs less, as "" says, too; all that can be shared; none.
const (
	ShareByCost Share = "auto"
	ShareAlways Share = "always"
	ShareNever  Share = "never"
)

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
	tuning := distribute.DefaultTuning()
	if wish.Shared.When == ShareAlways {
		tuning = distribute.EverythingTuning()
	}
	if wish.Shared.Tuning != nil {
		tuning = *wish.Shared.Tuning
	}
	shared, alone := distribute.Plan(plan, len(devices), tuning)
	if shared == nil {
		return nil, alone
	}
	s := newShares(shared, devices)
	for i, d := range devices {
		if reason := d.tooLarge(shared.Plan, wish.Tables, s.parts[i]); reason != "" {
			return nil, reason
		}
	}
	own := *target
	own.Places = s.multiplied()
	target = &own
	on := func(plan *physical.Plan) (*Placed, string) {
		placed, where, err := d.place(plan, ctx, wish, target)
		switch {
		case err != nil:
			return nil, err.Error()
		case placed == nil || !placed.Whole():
			return nil, "a part of it runs on the CPU: " + where.FirstReason(plan)
		}
		return placed, ""
	}
	if cut := join.Cut(shared.Plan, target); cut != shared.Plan {
		if placed, _ = on(cut); placed != nil {
			s.follow(cut)
		}
	}
	if placed == nil {
		if placed, alone = on(shared.Plan); placed == nil {
			return nil, alone
		}
	}
	placed.shares = s
	placed.explainWindows()
	s.Explain(&placed.Placement)
	return placed, ""
}

// link is what the devices' bytes go over.
func (s *shares) link() string {
	if s.reach {
		return "peer access"
	}
	return "the host, without peer access"
}
