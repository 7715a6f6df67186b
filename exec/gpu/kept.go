package gpu

import (
	"slices"
	"sync"
	"time"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
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
	share  string
	took   int // the class of what the statement has taken, where that decides whether several devices share it
	tuning kernel.Tuning
	memory int64

	mode      expr.SQLMode
	writes    bool
	location  *time.Location
	collation types.Collation
	today     int64
}

// mostKept is how many plans have their placing kept, at some 100 KiB each: the last ones.
const mostKept = 64

// keepers are those that keep something, the last one last.
var keepers struct {
	sync.Mutex
	kept []*Kept
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

// set keeps a placing. The oldest one is forgotten if there are too many.
func (k *Kept) set(p *keptPlacing) {
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
	keepers.Lock()
	defer keepers.Unlock()
	if keepers.kept = append(keepers.kept, k); len(keepers.kept) > mostKept {
		oldest := keepers.kept[0]
		keepers.kept = slices.Delete(keepers.kept, 0, 1)
		oldest.mu.Lock()
		oldest.last = nil
		oldest.mu.Unlock()
	}
}
