package accumulate

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
)

// approxDistinct counts different values by their hashes, up to fewHashes of a group exactly. More are counted by registers, as HyperLogLog has them
// (Flajolet and others 2007). Small counts of these follow from how many registers are empty (linear counting, Whang and others 1990).
type approxDistinct struct {
	of     []sketch
	hasher keyhash.Hasher
	hashes []uint64
	held   atomic.Int64 // bytes of all sketches
}

// sketch is what is kept of a group's values.
type sketch struct {
	few       []uint64 // hashes in order, while they are few
	registers []uint8  // else
}

const (
	fewHashes    = 64
	registerBits = 12 // a standard error of 1.04 / 2^6 = 1.6%
)

// add takes a hash in and returns how much more memory the sketch takes.
func (s *sketch) add(h uint64) (more int64) {
	if s.registers == nil {
		at, known := slices.BinarySearch(s.few, h)
		if known {
			return 0
		}
		if len(s.few) < fewHashes {
			before := cap(s.few)
			s.few = slices.Insert(s.few, at, h)
			return 8 * int64(cap(s.few)-before)
		}
		more = s.spread()
	}
	rank := uint8(bits.LeadingZeros64(h<<registerBits|1<<(registerBits-1)) + 1)
	if r := &s.registers[h>>(64-registerBits)]; *r < rank {
		*r = rank
	}
	return more
}

// spread makes registers of the hashes.
func (s *sketch) spread() (more int64) {
	few := s.few
	s.few, s.registers = nil, make([]uint8, 1<<registerBits)
	for _, h := range few {
		s.add(h)
	}
	return 1<<registerBits - 8*int64(cap(few))
}

// merge takes the values of another sketch in.
func (s *sketch) merge(t *sketch) (more int64) {
	if t.registers == nil {
		for _, h := range t.few {
			more += s.add(h)
		}
		return more
	}
	if s.registers == nil {
		more = s.spread()
	}
	for i, r := range t.registers {
		s.registers[i] = max(s.registers[i], r)
	}
	return more
}

func (s *sketch) count() int64 {
	if s.registers == nil {
		return int64(len(s.few))
	}
	const m = 1 << registerBits
	sum, empty := 0.0, 0
	for _, r := range s.registers {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		estimate = m * math.Log(m/float64(empty))
	}
	return int64(math.Round(estimate))
}

func (a *approxDistinct) Grow(n int) {
	for len(a.of) < n {
		a.of = append(slices.Grow(a.of, n-len(a.of)), make([]sketch, n-len(a.of))...)
	}
}

func (a *approxDistinct) Bytes() int64 { return 48*int64(cap(a.of)) + a.held.Load() }

func (a *approxDistinct) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	n := 0
	for _, p := range sel {
		n = max(n, int(p)+1)
	}
	a.hashes = slices.Grow(a.hashes[:0], n)[:n]
	a.hasher.Hash(a.hashes, args, nil, n)
	more := int64(0)
	for g, p := range valuesOf(v, groups, sel) {
		more += a.of[g].add(keyhash.Int(a.hashes[p]))
	}
	a.held.Add(more)
	return nil
}

func (a *approxDistinct) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*approxDistinct)
	more := int64(0)
	for i, g := range dst {
		more += a.of[g].merge(&s.of[from[i]])
	}
	a.held.Add(more)
	return nil
}

func (a *approxDistinct) values(_ *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		v.I64[i] = a.of[g].count()
	}
	return nil
}
