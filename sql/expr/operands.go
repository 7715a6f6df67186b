package expr

import (
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// reader gives the value of a flat or constant operand at a position: a constant's mask is 0, so that every position
// reads the first value without a branch.
type reader[T any] struct {
	v    []T
	mask int
}

func (r reader[T]) at(i int) T { return r.v[i&r.mask] }

func read[T any](v []T, constant bool) reader[T] {
	if constant {
		return reader[T]{v, 0}
	}
	return reader[T]{v, -1}
}

// ints reads an operand of PhysInt64.
func ints(v *column.Vector) reader[int64] { return read(v.I64, v.Const) }

// uints reads an operand of PhysUint64.
func uints(v *column.Vector) reader[uint64] { return read(asUint64(v.I64), v.Const) }

// floats reads an operand of PhysFloat64.
func floats(v *column.Vector) reader[float64] { return read(v.F64, v.Const) }

// int128s reads an operand of PhysInt128.
func int128s(v *column.Vector) reader[types.Int128] { return read(v.I128, v.Const) }

// asUint64 reads the bits of s as unsigned.
func asUint64(s []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// textReader reads a string operand that may be dictionary-coded.
type textReader struct {
	v     []string // by position, or by code
	codes []uint32
	mask  int
}

func (r textReader) at(i int) string {
	i &= r.mask
	if r.codes != nil {
		return r.v[r.codes[i]]
	}
	return r.v[i]
}

// texts reads an operand of PhysString.
func texts(v *column.Vector) textReader {
	r := textReader{v: v.Str, mask: -1}
	if v.Dict != nil {
		r.v, r.codes = v.Dict.Values(), v.Codes
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

func wides(v *column.Vector) wideReader {
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

func (r wideReader) at(i int) types.Int128 {
	i &= r.mask
	if r.wide != nil {
		return r.wide[i]
	}
	if r.signed {
		return types.Int128FromInt64(r.narrow[i])
	}
	return types.Int128FromUint64(uint64(r.narrow[i]))
}

// scaleOf is the number of decimal digits behind the point of t's values.
func scaleOf(t types.Type) int {
	if t.Kind == types.KindDecimal {
		return int(t.Scale)
	}
	return 0
}

// setWide stores x, which fits the type, in an integer or DECIMAL vector.
func setWide(out *column.Vector, i int, x types.Int128) {
	if out.Type.Phys() == types.PhysInt128 {
		out.I128[i] = x
		return
	}
	out.I64[i] = int64(x.Lo)
}

// optional reads an integer operand, or the default where the call has none.
func optional(args []*column.Vector, k int, def int64) reader[int64] {
	if k < len(args) {
		return ints(args[k])
	}
	return reader[int64]{v: []int64{def}}
}
