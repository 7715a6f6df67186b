package encoding

import (
	"math"
	"slices"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Patched returns a copy of c in which the rows at some positions, ascending and each once, have other values of c's type. It shares what does
// not change. ok is false if the encoding cannot hold the values: then the column has to be encoded anew. What is not packed or coded holds any.
func (c *Chunk) Patched(at []int, values []types.Value) (next *Chunk, ok bool) {
	next = &Chunk{
		Type: c.Type, Kind: c.Kind, Rows: c.Rows, Base: c.Base, U8: c.U8, U16: c.U16, U32: c.U32, I64: c.I64, F64: c.F64, I128: c.I128,
		Dict: c.Dict, Offsets: c.Offsets, Bytes: c.Bytes, Valid: c.Valid, Min: c.Min, Max: c.Max, NullCount: c.NullCount, Sorted: c.Sorted,
	}
	if !next.patchValues(at, values) {
		return nil, false
	}
	next.patchNulls(c, at, values)
	next.patchZone(c, at, values)
	next.Sorted = next.Sorted && next.NullCount == 0 && next.ascendsAt(at)
	return next, true
}

// patchValues gives the copy arrays of its own. A NULL's slot gets the value that the encoding wants there.
func (c *Chunk) patchValues(at []int, values []types.Value) bool {
	switch c.Kind {
	case FOR8:
		return patchOffsets(&c.U8, c.Base, math.MaxUint8, at, values)
	case FOR16:
		return patchOffsets(&c.U16, c.Base, math.MaxUint16, at, values)
	case FOR32:
		return patchOffsets(&c.U32, c.Base, math.MaxUint32, at, values)
	case Dict8:
		return patchCodes(&c.U8, c.Dict, math.MaxUint8, at, values)
	case Dict16:
		return patchCodes(&c.U16, c.Dict, math.MaxUint16, at, values)
	case Dict32:
		return patchCodes(&c.U32, c.Dict, math.MaxUint32, at, values)
	case Raw64:
		patchArray(&c.I64, at, values, func(v *types.Value) int64 { return v.I })
	case RawFloat:
		patchArray(&c.F64, at, values, func(v *types.Value) float64 { return v.F })
	case Raw128:
		patchArray(&c.I128, at, values, func(v *types.Value) types.Int128 { return v.D })
	case RawString:
		return c.patchStrings(at, values)
	default:
		return false
	}
	return true
}

func patchOffsets[U uint8 | uint16 | uint32](x *[]U, base int64, most uint64, at []int, values []types.Value) bool {
	out := slices.Clone(*x)
	for i, p := range at {
		offset := uint64(0)
		if !values[i].Null {
			offset = uint64(values[i].I) - uint64(base)
		}
		if offset > most {
			return false
		}
		out[p] = U(offset)
	}
	*x = out
	return true
}

func patchCodes[U uint8 | uint16 | uint32](x *[]U, dict *column.Dictionary, most uint64, at []int, values []types.Value) bool {
	out := slices.Clone(*x)
	for i, p := range at {
		code := uint32(0)
		if !values[i].Null {
			var ok bool
			if code, ok = dict.Lookup(values[i].S); !ok || uint64(code) > most {
				return false
			}
		}
		out[p] = U(code)
	}
	*x = out
	return true
}

func patchArray[T any](x *[]T, at []int, values []types.Value, get func(*types.Value) T) {
	out := slices.Clone(*x)
	for i, p := range at {
		var v T
		if !values[i].Null {
			v = get(&values[i])
		}
		out[p] = v
	}
	*x = out
}

// patchStrings writes the strings anew. They may have become too long for the offsets.
func (c *Chunk) patchStrings(at []int, values []types.Value) bool {
	size := uint64(len(c.Bytes))
	for i, p := range at {
		size += uint64(len(values[i].S)) - uint64(c.Offsets[p+1]-c.Offsets[p])
	}
	if size > math.MaxUint32 {
		return false
	}
	offsets, bytes := make([]uint32, c.Rows+1), make([]byte, 0, size)
	copyTo := func(from, to int) { // rows that stay as they are
		shift := uint32(len(bytes)) - c.Offsets[from]
		for i := from; i < to; i++ {
			offsets[i] = c.Offsets[i] + shift
		}
		bytes = append(bytes, c.Bytes[c.Offsets[from]:c.Offsets[to]]...)
	}
	from := 0
	for i, p := range at {
		copyTo(from, p)
		offsets[p] = uint32(len(bytes))
		if !values[i].Null {
			bytes = append(bytes, values[i].S...)
		}
		from = p + 1
	}
	copyTo(from, c.Rows)
	offsets[c.Rows] = uint32(len(bytes))
	c.Offsets, c.Bytes = offsets, bytes
	return true
}

// patchNulls gives the copy a validity of its own where that of the chunk before changes.
func (c *Chunk) patchNulls(before *Chunk, at []int, values []types.Value) {
	own := false
	for i, p := range at {
		was := before.NullAt(p)
		if was == values[i].Null {
			continue
		}
		if !own {
			own = true
			c.Valid = column.NewBitmap(c.Rows, true)
			if before.Valid != nil {
				c.Valid = slices.Clone(before.Valid)
			}
		}
		if was {
			c.Valid.Set(p)
			c.NullCount--
		} else {
			c.Valid.Clear(p)
			c.NullCount++
		}
	}
	if c.NullCount == 0 {
		c.Valid = nil
	}
}

// patchZone brings the zone map up to date. All values are looked at only if one that was the least or the greatest has gone.
func (c *Chunk) patchZone(before *Chunk, at []int, values []types.Value) {
	if before.Min.Null && before.NullCount < before.Rows {
		return // there was none
	}
	for _, p := range at {
		if old := before.At(p); !old.Null && (types.Compare(old, c.Min) == 0 || types.Compare(old, c.Max) == 0) {
			c.zoneOfAll()
			return
		}
	}
	for _, v := range values {
		c.widen(v)
	}
}

func (c *Chunk) zoneOfAll() {
	c.Min, c.Max = types.NullOf(c.Type), types.NullOf(c.Type)
	v := &column.Vector{Type: c.Type}
	for at := 0; at < c.Rows; at += column.VectorSize {
		n := min(column.VectorSize, c.Rows-at)
		c.Decode(v, at, n)
		for i := range n {
			c.widen(v.Value(i))
		}
	}
	c.Min.S, c.Max.S = strings.Clone(c.Min.S), strings.Clone(c.Max.S)
}

// widen lets the zone map reach a value.
func (c *Chunk) widen(v types.Value) {
	v.Type = c.Type
	switch {
	case v.Null:
	case c.Min.Null:
		c.Min, c.Max = v, v
	case types.Compare(v, c.Min) < 0:
		c.Min = v
	case types.Compare(v, c.Max) > 0:
		c.Max = v
	}
}

// ascendsAt says whether the values at some positions are in order with those beside them.
func (c *Chunk) ascendsAt(at []int) bool {
	for _, p := range at {
		v := c.At(p)
		if p > 0 && types.Compare(c.At(p-1), v) > 0 || p+1 < c.Rows && types.Compare(v, c.At(p+1)) > 0 {
			return false
		}
	}
	return true
}
