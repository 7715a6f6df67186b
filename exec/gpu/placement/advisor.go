package placement

import (
	"sync"
	"time"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
)

// An Advisor chooses devices and learns from what came of it. It is safe for concurrent use.
type Advisor struct {
	threads int
	workers func(rows float64, threads int) int
	now     func() time.Time
	file    string                                              // "": what was learned goes with the process
	bias    func(fingerprint uint64, d physical.Device) float64 // of tests; nil: none

	writing   sync.Mutex // held while the file is written or removed; taken before mu
	mu        sync.Mutex
	costs     cost.Table
	corrected corrections
	records   map[uint64]*record
	running   [2]int // queries, by device
	begun     uint64 // queries so far
	learned   bool   // something that was not saved
	saved     time.Time
	saving    bool
	saves     sync.WaitGroup // in the background
}

// Options configure an Advisor.
type Options struct {
	Threads int                                 // of the CPU
	Workers func(rows float64, threads int) int // how many threads share a pipeline over so many rows
	File    string                              // where what was learned is kept; "": nowhere
	Now     func() time.Time                    // nil: time.Now
}

// limit forgets the statements that ran longest ago where there are too many. The caller holds mu.
func (a *Advisor) limit() {
	for len(a.records) > mostRecords {
		var oldest uint64
		at := int64(0)
		for key, r := range a.records {
			if at == 0 || r.Used < at {
				oldest, at = key, max(r.Used, 1)
			}
		}
		delete(a.records, oldest)
	}
}
