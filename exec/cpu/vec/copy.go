package vec

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// CopyInto copies k values of v, those at sel[from:] or from positions from on, to dst[at:]. dst has capacity for size
// values and v's representation.
func CopyInto(dst *column.Vector, at, size int, v *column.Vector, sel []int32, from, k int) {
	switch v.Type.Phys() {
	case types.PhysFloat64:
		copySel(dst.F64[at:at+k], v.F64, v.Const, sel, from)
	case types.PhysInt128:
		copySel(dst.I128[at:at+k], v.I128, v.Const, sel, from)
	case types.PhysString:
		if v.Dict != nil {
			copySel(dst.Codes[at:at+k], v.Codes, v.Const, sel, from)
		} else {
			copySel(dst.Str[at:at+k], v.Str, v.Const, sel, from)
		}
	default:
		copySel(dst.I64[at:at+k], v.I64, v.Const, sel, from)
	}
	copyValid(dst, at, size, v, sel, from, k)
}

func copyValid(dst *column.Vector, at, size int, v *column.Vector, sel []int32, from, k int) {
	if v.Valid == nil {
		return // dst's bits are set from the start
	}
	if dst.Valid == nil {
		dst.Valid = column.NewBitmap(size, true)
	}
	switch {
	case v.Const:
		if !v.Valid.Get(0) {
			dst.Valid.ClearRange(at, at+k)
		}
	case sel == nil:
		column.CopyBits(dst.Valid, at, v.Valid, from, k)
	default:
		for i, p := range sel[from : from+k] {
			if !v.Valid.Get(int(p)) {
				dst.Valid.Clear(at + i)
			}
		}
	}
}

func copySel[T any](dst, src []T, isConstant bool, sel []int32, from int) {
	switch {
	case isConstant:
		x := src[0]
		for i := range dst {
			dst[i] = x
		}
	case sel == nil:
		copy(dst, src[from:from+len(dst)])
	default:
		sel = sel[from : from+len(dst)]
		for i, p := range sel {
			dst[i] = src[p]
		}
	}
}

// CopyRows copies n values of v from position from on to dst[at:]; a dictionary's strings become flat ones if dst's are.
func CopyRows(dst *column.Vector, at, size int, v *column.Vector, from, n int) {
	if v.Dict == nil || dst.Dict != nil {
		CopyInto(dst, at, size, v, nil, from, n)
		return
	}
	values := v.Dict.Values()
	for i := range n {
		dst.Str[at+i] = values[v.Codes[from+i]]
	}
	copyValid(dst, at, size, v, nil, from, n)
}

// Slice makes dst a view of rows from .. from+n-1 of v. from is a multiple of 64.
func Slice(dst, v *column.Vector, from, n int) {
	*dst = column.Vector{Type: v.Type, Dict: v.Dict, Valid: v.Valid.Slice(from, n)}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		dst.F64 = v.F64[from : from+n]
	case types.PhysInt128:
		dst.I128 = v.I128[from : from+n]
	case types.PhysString:
		if v.Dict != nil {
			dst.Codes = v.Codes[from : from+n]
		} else {
			dst.Str = v.Str[from : from+n]
		}
	default:
		dst.I64 = v.I64[from : from+n]
	}
}
