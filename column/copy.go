package column

import "github.com/radish-sql/radish/sql/types"

// AppendSelected appends the values of src at the positions of sel (nil: 0..n-1) to dst, which holds have values, is
// flat and owned by the caller. A dictionary-coded src is read through its dictionary.
func AppendSelected(dst *Vector, have int, src *Vector, sel []int32, n int) {
	add := n
	if sel != nil {
		add = len(sel)
	}
	switch dst.Type.Phys() {
	case types.PhysFloat64:
		dst.F64 = appendValues(dst.F64, src.F64, src.Const, sel, n)
	case types.PhysInt128:
		dst.I128 = appendValues(dst.I128, src.I128, src.Const, sel, n)
	case types.PhysString:
		if src.Dict == nil {
			dst.Str = appendValues(dst.Str, src.Str, src.Const, sel, n)
			break
		}
		values := src.Dict.Values()
		for i := range add {
			at := i
			if sel != nil {
				at = int(sel[i])
			}
			if src.Const {
				at = 0
			}
			s := ""
			if code := src.Codes[at]; int(code) < len(values) {
				s = values[code]
			}
			dst.Str = append(dst.Str, s)
		}
	default:
		dst.I64 = appendValues(dst.I64, src.I64, src.Const, sel, n)
	}
	if src.Valid == nil && dst.Valid == nil {
		return
	}
	total := have + add
	if dst.Valid == nil {
		dst.Valid = NewBitmap(total, true)
	}
	for len(dst.Valid) < BitmapWords(total) {
		dst.Valid = append(dst.Valid, 0)
	}
	for i := range add {
		at := i
		if sel != nil {
			at = int(sel[i])
		}
		if src.IsNull(at) {
			dst.Valid.Clear(have + i)
		} else {
			dst.Valid.Set(have + i)
		}
	}
}

func appendValues[T any](dst, src []T, isConstant bool, sel []int32, n int) []T {
	switch {
	case isConstant && sel != nil:
		for range sel {
			dst = append(dst, src[0])
		}
	case isConstant:
		for range n {
			dst = append(dst, src[0])
		}
	case sel != nil:
		for _, i := range sel {
			dst = append(dst, src[i])
		}
	default:
		dst = append(dst, src[:n]...)
	}
	return dst
}

// Bytes returns about how much memory the selected rows of a batch take, the text of strings counted.
func (b *Batch) Bytes() int64 {
	var n int64
	for _, v := range b.Cols {
		switch v.Type.Phys() {
		case types.PhysInt128:
			n += 16 * int64(b.Rows())
		case types.PhysString:
			for i := range b.Rows() {
				at := i
				if b.Sel != nil {
					at = int(b.Sel[i])
				}
				n += 16 + int64(len(v.StringAt(at)))
			}
		default:
			n += 8 * int64(b.Rows())
		}
	}
	return n
}
