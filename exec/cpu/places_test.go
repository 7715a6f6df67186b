package cpu_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/planner/distribute"
)

// TestPlaces runs the cases divided over several places. Each way to join is forced, and rows are moved wherever they can be.
func TestPlaces(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RADISH_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("replay with RADISH_SEED=%d go test -run %s ./exec/cpu", seed, t.Name())
	var all []*enginetest.Places
	divided, not := 0, map[string]int{}
	for i, way := range []distribute.Way{distribute.ByCost, distribute.ByCopies, distribute.ByKeys, distribute.ByHome} {
		u := distribute.EverythingTuning()
		u.Joins = way
		if i%2 == 1 { // all groups are partitioned
			u.GatherGroups = 0
		}
		all = append(all, &enginetest.Places{Of: backend{threads: 1, t: t}, N: 2 + i%2, Tuning: u, Ran: func(d *distribute.Distributed, reason string) {
			if d != nil {
				divided++
			} else {
				not[reason]++
			}
		}})
	}
	enginetest.RunPlaces(t, seed, all...)
	t.Logf("%d plans were divided; not: %v", divided, not)
}
