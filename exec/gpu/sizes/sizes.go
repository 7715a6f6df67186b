// Package sizes remembers how many rows came to a query's sinks.
//
// The planner's estimate of how many rows a pipeline gives may be far off. A sink that is too small for them costs a second run of the pipeline;
// one that had too much, a hash table that is too large. So a device remembers how many came in the end, and a query that does the same over
// the same versions of its tables reserves memory for as many.
//
// That is no more than a better estimate, but one that is hardly ever wrong. What comes next is launched without waiting for the count. Whether there
// the capacity sufficed is looked at when something else has to be waited for. If it did not, all runs again, and each pipeline is waited for.
package sizes

import (
	"errors"
	"hash/maphash"
	"sync"
	"unsafe"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/planner/physical"
	tables "github.com/radish-sql/radish/storage/table"
)

// Reserve is how many rows memory is reserved for where so many are expected.
func Reserve(expected float64) int64 { return int64(min(expected*1.3, 1<<40)) + 1024 }

// keptSizes is how many sizes are remembered at least.
const keptSizes = 1 << 12

// Memory has the number of rows by what was done for them, a hash (see WorkOf). It is safe for concurrent use.
type Memory struct {
	seed maphash.Seed

	mu            sync.Mutex
	recent, older map[uint64]int64 // older is what recent was when it was full
}

// HasSlots says whether a sink is a build whose rows have slots of their own, and are not counted.
func (z *Sizes) HasSlots(s physical.Sink) bool {
	b, ok := s.(*physical.Build)
	if !ok {
		return false
	}
	return z.program.Builds[b].ByKey()
}

// Sides has the rows that partitions want, of sides some of whose partitions had more than their share: by what is done for them. It is safe for concurrent use.
type Sides struct {
	mu     sync.Mutex
	wanted map[Side][][]uint32
}

// Side is the work of a sink, and which of its feeders is meant: each partitions its rows in its own way.
type Side struct {
	Work   uint64
	Feeder int
}

// keptSides is how many sides are remembered, each with up to 65,536 numbers.
const keptSides = 64

// NewSides returns a memory of which nothing is known yet.
func NewSides() *Sides { return &Sides{wanted: map[Side][][]uint32{}} }

// Remembered returns what the partitions of a side wanted; nil: that is not known.
func (m *Sides) Remembered(work Side) [][]uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([][]uint32(nil), m.wanted[work]...)
}

// Remember notes what the partitions of a side want.
func (m *Sides) Remember(work Side, wanted [][]uint32) {
	if work.Work == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.wanted) >= keptSides {
		clear(m.wanted)
	}
	m.wanted[work] = append([][]uint32(nil), wanted...)
}

// NewMemory returns a memory of which nothing is known yet.
func NewMemory() *Memory {
	return &Memory{seed: maphash.MakeSeed(), recent: map[uint64]int64{}}
}

func (m *Memory) get(work uint64) (rows int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if rows, ok = m.recent[work]; !ok {
		if rows, ok = m.older[work]; ok {
			m.put(work, rows)
		}
	}
	return rows, ok
}

func (m *Memory) set(work uint64, rows int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(work, rows)
}

// put notes a size. The caller holds mu.
func (m *Memory) put(work uint64, rows int64) {
	if len(m.recent) >= keptSizes {
		m.older, m.recent = m.recent, make(map[uint64]int64, keptSizes)
	}
	m.recent[work] = rows
}

// Sizes finds out what a query's sinks held when the same was done before.
type Sizes struct {
	program *program.Program
	memory  *Memory
	parts   map[*physical.TableScan]tables.Slice // those that are scanned
	works   map[physical.Sink]uint64             // 0: something is not known
	Trusts  bool                                 // sizes that are remembered, so far that there is no waiting
	Trusted map[physical.Sink]int64              // sinks that have such a size, and their capacities in rows; 0 for groups

	place, places int // of several that do the work together
}

// New returns the sizes of a program's sinks, over some parts of its tables.
func New(g *program.Program, memory *Memory, parts map[*physical.TableScan]tables.Slice) *Sizes {
	s := &Sizes{program: g, memory: memory, parts: parts, works: map[physical.Sink]uint64{}, Trusts: true, Trusted: map[physical.Sink]int64{}}
	for _, p := range g.Plan.Pipelines {
		s.Trusts = s.Trusts && g.Kernels[p] != nil // others cannot run again
	}
	return s
}

// Of says that the query is one place of several. What they exchange cannot be made again by one of them, so all counts are waited for.
func (z *Sizes) Of(place, places int) {
	z.place, z.places = place, places
	z.TrustNone()
}

// TrustNone has all counts waited for from now on.
func (z *Sizes) TrustNone() {
	z.Trusts = false
	clear(z.Trusted)
}

// ErrTooSmall says that a size which was trusted is too small.
var ErrTooSmall = errors.New("gpu: more rows came than before")

// Trust notes that a sink has capacity for what came before, and no less.
func (z *Sizes) Trust(s physical.Sink, capacity int64) {
	if z.Trusts {
		z.Trusted[s] = capacity
	}
}

// IsTrusted says whether no more rows come to a sink than its capacity, as far as is remembered.
func (z *Sizes) IsTrusted(s physical.Sink) bool {
	_, ok := z.Trusted[s]
	return ok
}

// Before is how many rows, or groups, came to a sink when the same was done before.
func (z *Sizes) Before(s physical.Sink) (rows int64, ok bool) {
	if work := z.WorkOf(s); work != 0 {
		return z.memory.get(work)
	}
	return 0, false
}

// Remember notes how many rows came to a sink, which are all that ever come.
func (z *Sizes) Remember(s physical.Sink, rows int64) {
	if work := z.WorkOf(s); work != 0 {
		z.memory.set(work, rows)
	}
}

// WorkOf is a hash of all that is done for a sink: kernels, literals, the versions of tables. It is 0 where some of it is done on the host.
func (z *Sizes) WorkOf(s physical.Sink) uint64 {
	if work, ok := z.works[s]; ok {
		return work
	}
	var h maphash.Hash
	h.SetSeed(z.memory.seed)
	maphash.WriteComparable(&h, [2]int{z.place, z.places})
	known := true
	of := func(s physical.Sink) {
		work := z.WorkOf(s)
		known = known && work != 0
		maphash.WriteComparable(&h, work)
	}
	for _, p := range z.program.Feeders[s] {
		k := z.program.Kernels[p]
		if k == nil {
			known = false
			break
		}
		for _, x := range k.All() {
			_, _ = h.WriteString(x.CUDA)
			writeWords(&h, x)
		}
		switch src := p.Source.(type) {
		case *physical.TableScan:
			maphash.WriteComparable(&h, uintptr(unsafe.Pointer(src.Table)))
			maphash.WriteComparable(&h, src.Table.Rows())
			maphash.WriteComparable(&h, z.parts[src])
			for _, f := range src.RuntimeFilters {
				of(f.Build)
			}
		case *physical.SinkScan:
			of(src.From)
		case *physical.UnmatchedScan:
			of(src.Build)
		case *physical.ValuesScan:
			maphash.WriteComparable(&h, len(src.Rows))
		}
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				of(t.Build)
			}
		}
	}
	work := uint64(0)
	if known {
		work = max(h.Sum64(), 1)
	}
	z.works[s] = work
	return work
}

// writeWords adds a kernel's literals to a hash.
func writeWords(h *maphash.Hash, k *kernel.Kernel) {
	for i := range k.Params {
		s := &k.Params[i]
		switch key := s.Key.(type) {
		case kernel.LowWord:
			maphash.WriteComparable(h, [2]int64{key.Lo, key.Hi})
		case nil:
			maphash.WriteComparable(h, s.Word)
			switch {
			case s.Table == nil:
			case s.Table.Kept:
				maphash.WriteComparable(h, s.Table)
			default:
				_, _ = h.Write(s.Table.Bytes)
			}
		}
	}
}

// slotsWork makes what is done for an aggregation's groups what is done for the slots of their table.
const slotsWork = 1 << 63

// SlotsBefore is how many slots sufficed for an aggregation's groups before, where it is not known how many groups there were.
func (z *Sizes) SlotsBefore(a *physical.Aggregate) (slots int64, ok bool) {
	if work := z.WorkOf(a); work != 0 {
		return z.memory.get(work ^ slotsWork)
	}
	return 0, false
}

// RememberSlots notes how many slots sufficed for an aggregation's groups.
func (z *Sizes) RememberSlots(a *physical.Aggregate, slots int64) {
	if work := z.WorkOf(a); work != 0 {
		z.memory.set(work^slotsWork, slots)
	}
}
