package gpu

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/exchange"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
)

// Which plans several devices share: that is decided here, before planner/distribute's answer is placed.

// SharingWish says whether several devices share a plan, and which.
type SharingWish struct {
	Fleet *Fleet // whose first device is that whose Place is called; nil: it works alone
	When  Share
	// Tuning, if it is not nil, is what tests have in the stead of When's.
	Tuning *distribute.Tuning
	// Took is what the statement has taken on one device and on several. It is asked where cost decides; nil: it is not known.
	Took func() placement.Took
}

// took is what the statement has taken before.
func (s *SharingWish) took() (took placement.Took) {
	if s.Took != nil {
		took = s.Took()
	}
	return took
}

// Share says which plans several devices share.
type Share string

// The plans: those for which that costs less, as "" says, too; all that can be shared; none.
const (
	ShareByCost Share = "auto"
	ShareAlways Share = "always"
	ShareNever  Share = "never"
)

// isByCost says whether devices share a plan if that costs less.
func (s *SharingWish) isByCost() bool {
	return s.Tuning == nil && s.When != ShareAlways && s.When != ShareNever
}

// pays says whether devices are to share a plan that is divided, by cost, and why or why not.
func (d *Device) pays(plan *physical.Plan, shared *distribute.Distributed, devices []*Device, wish *SharingWish) (bool, string) {
	took, rows := wish.took(), int64(0)
	if known, pays := took.Decided(); known {
		return pays, took.String()
	}
	for _, p := range plan.Pipelines {
		if scan, ok := p.Source.(*physical.TableScan); ok {
			rows += int64(scan.Table.Rows())
		}
	}
	prices := cost.DefaultSharing()
	if took.One == 0 && rows < prices.UnseenRows {
		return false, fmt.Sprintf("it scans %d rows, and runs on one GPU have not shown yet what it takes", rows)
	}
	if rate := exchange.KnownRate(d.runner.Device, devices[1].runner.Device); rate > 0 {
		prices.Byte = 1 / rate
	}
	s := d.advisor.EstimateSharing(plan, shared, prices)
	s.Scale(took.One)
	if !s.Pays() {
		return false, "sharing it would save too little: " + s.String()
	}
	return true, s.String()
}

// tunings are those by which a plan is divided: the first one by which that works.
func (s *SharingWish) tunings() []distribute.Tuning {
	tuning := distribute.DefaultTuning()
	switch {
	case s.Tuning != nil:
		return []distribute.Tuning{*s.Tuning}
	case s.When == ShareAlways: // small tables of a plan with large ones are as they would be by cost
		tuning.MinRows = 0
		return []distribute.Tuning{tuning, distribute.EverythingTuning()}
	}
	return []distribute.Tuning{tuning}
}
