package expr

import (
	"hash/maphash"
	"math"

	"github.com/radish-sql/radish/sql/types"
)

var hashSeed = maphash.MakeSeed()

// Hash is a number that equal expressions have in common, as [Equal] sees them.
func Hash(e Expr) uint64 {
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

// Set is a set of expressions, of which equal ones are one.
type Set struct{ byHash map[uint64][]Expr }

// Add puts e into the set, and says whether it was not there.
func (s *Set) Add(e Expr) bool {
	h := Hash(e)
	for _, have := range s.byHash[h] {
		if Equal(have, e) {
			return false
		}
	}
	if s.byHash == nil {
		s.byHash = map[uint64][]Expr{}
	}
	s.byHash[h] = append(s.byHash[h], e)
	return true
}
