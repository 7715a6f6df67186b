package expr

import (
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Reader gives the value of a flat or constant operand at a position: a constant's mask is 0, so that every position
// reads the first value without a branch.
type Reader[T any] struct {
	v    []T
	mask int
}

func (r Reader[T]) At(i int) T { return r.v[i&r.mask] }

func read[T any](v []T, isConstant bool) Reader[T] {
	if isConstant {
		return Reader[T]{v, 0}
	}
	return Reader[T]{v, -1}
}

// Ints reads an operand of PhysInt64.
func Ints(v *column.Vector) Reader[int64] { return read(v.I64, v.Const) }

// Uints reads an operand of PhysUint64.
func Uints(v *column.Vector) Reader[uint64] { return read(asUint64(v.I64), v.Const) }

// Floats reads an operand of PhysFloat64.
func Floats(v *column.Vector) Reader[float64] { return read(v.F64, v.Const) }

// Int128s reads an operand of PhysInt128.
func Int128s(v *column.Vector) Reader[types.Int128] { return read(v.I128, v.Const) }

// asUint64 reads the bits of s as unsigned.
func asUint64(s []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// StringReader reads a string operand that may be dictionary-coded.
type StringReader struct {
	V     []string // by position, or by code
	codes []uint32
	mask  int
}

// At takes its receiver by reference: a copy would take longer than what it does.
func (r *StringReader) At(i int) string {
	i &= r.mask
	if r.codes != nil {
		return r.V[r.codes[i]]
	}
	return r.V[i]
}

// Strings reads an operand of PhysString.
func Strings(v *column.Vector) StringReader {
	r := StringReader{V: v.Str, mask: -1}
	if v.Dict != nil {
		r.V, r.codes = v.Dict.Values(), v.Codes
	}
	if v.Const {
		r.mask = 0
	}
	return r
}

// wideReader reads any exact number, an integer or a DECIMAL of either width, as an Int128.
type wideReader struct {
	narrow []int64
	wide   []types.Int128
	mask   int
	signed bool
}

func Wides(v *column.Vector) wideReader {
	r := wideReader{mask: -1, signed: true}
	switch v.Type.Phys() {
	case types.PhysInt128:
		r.wide = v.I128
	case types.PhysUint64:
		r.narrow, r.signed = v.I64, false
	default:
		r.narrow = v.I64
	}
	if v.Const {
		r.mask = 0
	}
	return r
}

func (r *wideReader) At(i int) types.Int128 {
	i &= r.mask
	if r.wide != nil {
		return r.wide[i]
	}
	if r.signed {
		return types.Int128FromInt64(r.narrow[i])
	}
	return types.Int128FromUint64(uint64(r.narrow[i]))
}

// ScaleOf is the number of decimal digits behind the point of t's values.
func ScaleOf(t types.Type) int {
	if t.Kind == types.KindDecimal {
		return int(t.Scale)
	}
	return 0
}

// SetWide stores x, which fits the type, in an integer or DECIMAL vector.
func SetWide(out *column.Vector, i int, x types.Int128) {
	if out.Type.Phys() == types.PhysInt128 {
		out.I128[i] = x
		return
	}
	out.I64[i] = int64(x.Lo)
}

// Optional reads an integer operand, or the default where the call has none.
func Optional(args []*column.Vector, k int, def int64) Reader[int64] {
	if k < len(args) {
		return Ints(args[k])
	}
	return ConstantInt(def)
}

// ConstantInt gives x at all positions.
func ConstantInt(x int64) Reader[int64] { return Reader[int64]{v: []int64{x}} }
