package encoding

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Decode stores rows from .. from+n-1 at positions 0 .. n-1 of dst, which it makes flat, or dictionary-coded if the
// chunk has a dictionary. Strings are not copied. dst.Valid may be the chunk's own memory: like all that a scan gives
// it is not to be written.
func (c *Chunk) Decode(dst *column.Vector, from, n int) {
	c.reserve(dst, from, n)
	switch c.Kind {
	case Constant:
		c.fill(dst, n)
	case FOR8:
		widen(dst.I64, c.U8[from:from+n], c.Base)
	case FOR16:
		widen(dst.I64, c.U16[from:from+n], c.Base)
	case FOR32:
		widen(dst.I64, c.U32[from:from+n], c.Base)
	case Raw64:
		copy(dst.I64, c.I64[from:from+n])
	case RawFloat:
		copy(dst.F64, c.F64[from:from+n])
	case Raw128:
		copy(dst.I128, c.I128[from:from+n])
	case Dict8:
		widenCodes(dst.Codes, c.U8[from:from+n])
	case Dict16:
		widenCodes(dst.Codes, c.U16[from:from+n])
	case Dict32:
		copy(dst.Codes, c.U32[from:from+n])
	case RawString:
		for i := range dst.Str {
			dst.Str[i] = c.rawString(from + i)
		}
	}
}

// mostLeftOut is what part of a vector's values, one in so many, are decoded though nobody reads them: a loop over all takes less than one over positions.
const mostLeftOut = 3

// Gather is Decode for the positions of sel only (ascending, below n): dst has n positions, and only those of sel have
// values. The validity is that of all n.
func (c *Chunk) Gather(dst *column.Vector, from, n int, sel []int32) {
	if sel == nil || len(sel) == n || len(sel) >= n-n/mostLeftOut && c.Kind != RawString {
		c.Decode(dst, from, n)
		return
	}
	c.reserve(dst, from, n)
	switch c.Kind {
	case Constant:
		c.fill(dst, n)
	case FOR8:
		gather(dst.I64, c.U8[from:from+n], c.Base, sel)
	case FOR16:
		gather(dst.I64, c.U16[from:from+n], c.Base, sel)
	case FOR32:
		gather(dst.I64, c.U32[from:from+n], c.Base, sel)
	case Raw64:
		pick(dst.I64, c.I64[from:from+n], sel)
	case RawFloat:
		pick(dst.F64, c.F64[from:from+n], sel)
	case Raw128:
		pick(dst.I128, c.I128[from:from+n], sel)
	case Dict8:
		gatherCodes(dst.Codes, c.U8[from:from+n], sel)
	case Dict16:
		gatherCodes(dst.Codes, c.U16[from:from+n], sel)
	case Dict32:
		pick(dst.Codes, c.U32[from:from+n], sel)
	case RawString:
		for _, p := range sel {
			dst.Str[p] = c.rawString(from + int(p))
		}
	}
}

// At returns the value of a row. It is for edges and tests, not for loops over rows.
func (c *Chunk) At(row int) types.Value {
	v := types.Value{Type: c.Type}
	if c.NullAt(row) {
		v.Null = true
		return v
	}
	switch c.Kind {
	case Constant:
		return c.Min
	case FOR8:
		v.I = c.Base + int64(c.U8[row])
	case FOR16:
		v.I = c.Base + int64(c.U16[row])
	case FOR32:
		v.I = c.Base + int64(c.U32[row])
	case Raw64:
		v.I = c.I64[row]
	case RawFloat:
		v.F = c.F64[row]
	case Raw128:
		v.D = c.I128[row]
	case Dict8:
		v.S = c.Dict.Value(uint32(c.U8[row]))
	case Dict16:
		v.S = c.Dict.Value(uint32(c.U16[row]))
	case Dict32:
		v.S = c.Dict.Value(c.U32[row])
	case RawString:
		v.S = c.rawString(row)
	}
	return v
}

// NullAt says whether a row is NULL.
func (c *Chunk) NullAt(row int) bool {
	return c.NullCount > 0 && (c.Valid == nil || !c.Valid.Get(row))
}

// reserve gives dst capacity for n values of the chunk's form, and the validity of n rows from from.
func (c *Chunk) reserve(dst *column.Vector, from, n int) {
	dst.Type = c.Type
	if c.Dict != nil && c.Dict.Len() > 0 {
		dst.ReserveCodes(c.Dict, n)
	} else {
		dst.Reserve(n)
	}
	switch {
	case c.NullCount == 0:
	case c.Valid == nil:
		dst.Valid = column.NewBitmap(n, false)
	default:
		dst.Valid = c.Valid.Slice(from, n)
	}
}

// fill stores a constant chunk's value in every slot; for NULLs that is a zero.
func (c *Chunk) fill(dst *column.Vector, n int) {
	switch {
	case dst.Dict != nil:
		set(dst.Codes[:n], uint32(c.Base))
	case c.Type.Phys() == types.PhysFloat64:
		set(dst.F64[:n], c.Min.F)
	case c.Type.Phys() == types.PhysInt128:
		set(dst.I128[:n], c.Min.D)
	case c.Type.Phys() == types.PhysString:
		set(dst.Str[:n], c.Min.S)
	default:
		set(dst.I64[:n], c.Min.I)
	}
}

func set[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

// widen adds base to offsets, four a step.
func widen[U uint8 | uint16 | uint32](dst []int64, src []U, base int64) {
	dst = dst[:len(src)]
	i := 0
	for ; i+4 <= len(src); i += 4 {
		u, d := src[i:i+4:i+4], dst[i:i+4:i+4]
		d[0] = base + int64(u[0])
		d[1] = base + int64(u[1])
		d[2] = base + int64(u[2])
		d[3] = base + int64(u[3])
	}
	for ; i < len(src); i++ {
		dst[i] = base + int64(src[i])
	}
}

// widenCodes makes codes 32 bits wide, four a step.
func widenCodes[U uint8 | uint16](dst []uint32, src []U) {
	dst = dst[:len(src)]
	i := 0
	for ; i+4 <= len(src); i += 4 {
		u, d := src[i:i+4:i+4], dst[i:i+4:i+4]
		d[0], d[1], d[2], d[3] = uint32(u[0]), uint32(u[1]), uint32(u[2]), uint32(u[3])
	}
	for ; i < len(src); i++ {
		dst[i] = uint32(src[i])
	}
}

func gather[U uint8 | uint16 | uint32](dst []int64, src []U, base int64, sel []int32) {
	dst = dst[:len(src)]
	for _, p := range sel {
		dst[p] = base + int64(src[p])
	}
}

func gatherCodes[U uint8 | uint16](dst []uint32, src []U, sel []int32) {
	dst = dst[:len(src)]
	for _, p := range sel {
		dst[p] = uint32(src[p])
	}
}

func pick[T any](dst, src []T, sel []int32) {
	dst = dst[:len(src)]
	for _, p := range sel {
		dst[p] = src[p]
	}
}
