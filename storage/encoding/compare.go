package encoding

import (
	"cmp"

	"github.com/radish-sql/radish/sql/types"
)

// Compare orders two values of one physical type (and scale) that are not NULL: bytewise for strings.
func Compare(a, b types.Value) int {
	switch a.Type.Phys() {
	case types.PhysFloat64:
		return cmp.Compare(a.F, b.F)
	case types.PhysInt128:
		return a.D.Cmp(b.D)
	case types.PhysString:
		return cmp.Compare(a.S, b.S)
	case types.PhysUint64:
		return cmp.Compare(uint64(a.I), uint64(b.I))
	default:
		return cmp.Compare(a.I, b.I)
	}
}
