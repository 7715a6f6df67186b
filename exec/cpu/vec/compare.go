package vec

import (
	"cmp"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// CompareValues orders two values of one physical type that are not NULL.
func CompareValues(v *column.Vector, p int, w *column.Vector, q int) int {
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return types.CompareFloats(v.F64[p], w.F64[q])
	case types.PhysInt128:
		return v.I128[p].Cmp(w.I128[q])
	case types.PhysString:
		return strings.Compare(v.StringAt(p), w.StringAt(q))
	case types.PhysUint64:
		return cmp.Compare(uint64(v.I64[p]), uint64(w.I64[q]))
	}
	return cmp.Compare(v.I64[p], w.I64[q])
}

// CompareNullsFirst orders two values of a vector, NULLs first.
func CompareNullsFirst(v *column.Vector, x, y int) int {
	xn, yn := v.IsNull(x), v.IsNull(y)
	switch {
	case xn && yn:
		return 0
	case xn:
		return -1
	case yn:
		return 1
	}
	return CompareValues(v, x, v, y)
}

// EqualValues compares two values of one physical type that are not NULL.
func EqualValues(v *column.Vector, p int, w *column.Vector, q int) bool {
	if v.Const {
		p = 0
	}
	if w.Const {
		q = 0
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return types.FloatKey(v.F64[p]) == types.FloatKey(w.F64[q])
	case types.PhysInt128:
		return v.I128[p] == w.I128[q]
	case types.PhysString:
		if v.Dict != nil && v.Dict == w.Dict {
			return v.Codes[p] == w.Codes[q]
		}
		return v.StringAt(p) == w.StringAt(q)
	}
	return v.I64[p] == w.I64[q]
}
