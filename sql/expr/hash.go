package expr

import (
	"hash/maphash"
	"math"
	"sync/atomic"

	"github.com/radish-sql/radish/sql/types"
)

var hashSeed = maphash.MakeSeed()

// Hash is a number that equal expressions have in common, as [Equal] sees them.
func Hash(e Expr) uint64 {
	switch x := e.(type) {
	case *And:
		return x.hash.of(x)
	case *Or:
		return x.hash.of(x)
	}
	return hash(e)
}

// hashed is the hash of an AND or an OR, 0 until it is asked for. Rules and estimates look up the operands of each AND and OR of a condition,
// so without it a deep condition would be hashed once for each of its levels.
type hashed struct{ known atomic.Uint64 }

func (h *hashed) of(e Expr) uint64 {
	if known := h.known.Load(); known != 0 {
		return known
	}
	now := hash(e)
	h.known.Store(now)
	return now
}

func hash(e Expr) uint64 {
	h := uint64(1)
	mix := func(x uint64) { h = (h ^ x) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	switch x := e.(type) {
	case *Column:
		mix(2 + uint64(x.ID))
	case *Const:
		mix(3)
		mix(hashValue(x.Value))
	case *Compare:
		mix(4 + uint64(x.Op))
	case *In:
		for _, v := range x.List {
			mix(hashValue(v))
		}
	case *Call:
		mix(maphash.String(hashSeed, x.Fn.Name))
	}
	for _, c := range e.Children() {
		mix(Hash(c))
	}
	return h
}

func hashValue(v types.Value) uint64 {
	if v.Null {
		return 5
	}
	return uint64(v.I)*31 + maphash.String(hashSeed, v.S) + math.Float64bits(v.F)
}

// Set is a set of expressions, of which equal ones are one. They are numbered as they come.
type Set struct {
	numbers Numbers
	all     []Expr
}

// Add puts e into the set, and says whether it was not there.
func (s *Set) Add(e Expr) bool {
	h := Hash(e)
	if s.find(e, h) >= 0 {
		return false
	}
	s.numbers.Add(h, len(s.all))
	s.all = append(s.all, e)
	return true
}

// Find returns the number of e in the set, or -1.
func (s *Set) Find(e Expr) int {
	if len(s.all) == 0 {
		return -1
	}
	return s.find(e, Hash(e))
}

func (s *Set) find(e Expr, h uint64) int {
	return s.numbers.Find(h, func(n int) bool { return Equal(s.all[n], e) })
}

// Len returns how many expressions are in the set.
func (s *Set) Len() int { return len(s.all) }

// Numbers finds numbers of things by hashes of these.
type Numbers struct{ byHash map[uint64][]int }

// Find returns the first number of a hash for which is says yes, or -1.
func (x *Numbers) Find(h uint64, is func(n int) bool) int {
	for _, n := range x.byHash[h] {
		if is(n) {
			return n
		}
	}
	return -1
}

// Add adds a number. Those of one hash are found in the order in which they came.
func (x *Numbers) Add(h uint64, n int) {
	if x.byHash == nil {
		x.byHash = map[uint64][]int{}
	}
	x.byHash[h] = append(x.byHash[h], n)
}
