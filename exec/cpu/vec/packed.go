package vec

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/sql/types"
)

// Packed is a contiguous stored column that is read at random: integers and codes are kept as narrow as their
// range allows, so that more of a build's payload stays in the cache.
type Packed struct {
	V    *column.Vector // the type, the validity, the dictionary; the values too if no narrow form is in use
	base int64
	u8   []uint8
	u16  []uint16
	u32  []uint32
}

// packThreshold is the number of rows from which narrowing a column pays for the pass over it.
const packThreshold = 1 << 14

// Pack packs v, of n rows, which stays as it is.
func Pack(q *task.Query, src *column.Vector, n int) (Packed, error) {
	own := *src
	v := &own
	c := Packed{V: v}
	if n < packThreshold {
		return c, nil
	}
	var err error
	switch {
	case v.Dict != nil:
		switch size := v.Dict.Len(); {
		case size <= 1<<8:
			c.u8, err = narrow[uint8](q, v.Codes[:n], 0)
		case size <= 1<<16:
			c.u16, err = narrow[uint16](q, v.Codes[:n], 0)
		default:
			return c, nil
		}
		v.Codes = nil
	case v.Type.Phys() == types.PhysInt64:
		lo, hi, ok, err := IntRange(q, v, n)
		if !ok || err != nil {
			return c, err
		}
		c.base = lo
		switch span := uint64(hi) - uint64(lo); {
		case span < 1<<8:
			c.u8, err = narrow[uint8](q, v.I64[:n], lo)
		case span < 1<<16:
			c.u16, err = narrow[uint16](q, v.I64[:n], lo)
		case span < 1<<32:
			c.u32, err = narrow[uint32](q, v.I64[:n], lo)
		default:
			return c, nil
		}
		v.I64 = nil
		return c, err
	}
	return c, err
}

// IntRange returns the least and the greatest of the values that are not NULL; ok is false if there are none.
func IntRange(q *task.Query, v *column.Vector, n int) (lo, hi int64, ok bool, err error) {
	type span struct {
		lo, hi int64
		ok     bool
	}
	spans := make([]span, (n+task.CheckRows)>>16)
	err = q.ParallelBlocks(n, func(from, to int) {
		s := &spans[from>>16]
		s.lo, s.hi, s.ok = RangeOf(v, from, to)
	})
	for _, s := range spans {
		switch {
		case !s.ok:
		case !ok:
			lo, hi, ok = s.lo, s.hi, true
		default:
			lo, hi = min(lo, s.lo), max(hi, s.hi)
		}
	}
	return lo, hi, ok, err
}

// RangeOf is IntRange for the rows from .. to-1.
func RangeOf(v *column.Vector, from, to int) (lo, hi int64, ok bool) {
	x := v.I64[from:to]
	if v.Valid == nil {
		lo, hi = x[0], x[0]
		for _, y := range x {
			lo, hi = min(lo, y), max(hi, y)
		}
		return lo, hi, true
	}
	for i, y := range x {
		if v.Valid.Get(from + i) {
			if !ok {
				lo, hi, ok = y, y, true
			}
			lo, hi = min(lo, y), max(hi, y)
		}
	}
	return lo, hi, ok
}

// narrow returns the distances of values from base. The slot of a NULL gives anything in range of U, which is in range of
// the type.
func narrow[U uint8 | uint16 | uint32, T uint32 | int64](q *task.Query, values []T, base T) ([]U, error) {
	out := column.Unset[U](len(values))
	err := q.ParallelBlocks(len(values), func(from, to int) {
		dst := out[from:to]
		for i, x := range values[from:to] {
			dst[i] = U(x - base)
		}
	})
	return out, err
}

// Bytes returns the memory of the column's narrow form, 0 if it has none.
func (c *Packed) Bytes() int64 {
	return int64(len(c.u8)) + 2*int64(len(c.u16)) + 4*int64(len(c.u32))
}

// Gather stores the values of rows at the positions of sel (nil: 0, 1, ...) of dst, a vector of n positions that the
// caller owns. rows is as long as sel.
func (c *Packed) Gather(dst *column.Vector, n int, sel, rows []int32) {
	dst.Type = c.V.Type
	if c.V.Dict != nil {
		dst.ReserveCodes(c.V.Dict, n)
		switch {
		case c.u8 != nil:
			gatherCodes(dst.Codes, c.u8, sel, rows)
		case c.u16 != nil:
			gatherCodes(dst.Codes, c.u16, sel, rows)
		default:
			GatherAt(dst.Codes, c.V.Codes, sel, rows)
		}
	} else {
		dst.Reserve(n)
		switch c.V.Type.Phys() {
		case types.PhysFloat64:
			GatherAt(dst.F64, c.V.F64, sel, rows)
		case types.PhysInt128:
			GatherAt(dst.I128, c.V.I128, sel, rows)
		case types.PhysString:
			dst.Loose = c.V.Loose
			GatherAt(dst.Str, c.V.Str, sel, rows)
		default:
			switch {
			case c.u8 != nil:
				gatherInts(dst.I64, c.u8, c.base, sel, rows)
			case c.u16 != nil:
				gatherInts(dst.I64, c.u16, c.base, sel, rows)
			case c.u32 != nil:
				gatherInts(dst.I64, c.u32, c.base, sel, rows)
			default:
				GatherAt(dst.I64, c.V.I64, sel, rows)
			}
		}
	}
	if c.V.Valid != nil {
		gatherValid(dst, c.V.Valid, n, sel, rows)
	}
}

func gatherValid(dst *column.Vector, valid column.Bitmap, n int, sel, rows []int32) {
	for i, r := range rows {
		if !valid.Get(int(r)) {
			p := i
			if sel != nil {
				p = int(sel[i])
			}
			if dst.Valid == nil {
				dst.Valid = column.NewBitmap(n, true)
			}
			dst.Valid.Clear(p)
		}
	}
}

func GatherAt[T any](dst, src []T, sel, rows []int32) {
	if sel == nil {
		dst = dst[:len(rows)]
		for i, r := range rows {
			dst[i] = src[r]
		}
		return
	}
	rows = rows[:len(sel)]
	for i, p := range sel {
		dst[p] = src[rows[i]]
	}
}

func gatherInts[U uint8 | uint16 | uint32](dst []int64, src []U, base int64, sel, rows []int32) {
	if sel == nil {
		dst = dst[:len(rows)]
		for i, r := range rows {
			dst[i] = base + int64(src[r])
		}
		return
	}
	rows = rows[:len(sel)]
	for i, p := range sel {
		dst[p] = base + int64(src[rows[i]])
	}
}

func gatherCodes[U uint8 | uint16](dst []uint32, src []U, sel, rows []int32) {
	if sel == nil {
		dst = dst[:len(rows)]
		for i, r := range rows {
			dst[i] = uint32(src[r])
		}
		return
	}
	rows = rows[:len(sel)]
	for i, p := range sel {
		dst[p] = uint32(src[rows[i]])
	}
}

// GatherVector stores the values of v at the positions rows in dst[0..], densely. A constant stays one; it is copied, as
// dst's memory is written again while v's belongs to its producer.
func GatherVector(dst, v *column.Vector, rows []int32) {
	c := Packed{V: v}
	if v.Const {
		c.Gather(dst, 1, nil, []int32{0})
		dst.Const = true
		return
	}
	c.Gather(dst, len(rows), nil, rows)
}

// SetNulls marks the given positions of a vector of n values as NULL and stores harmless values there.
func SetNulls(v *column.Vector, n int, at []int32) {
	if len(at) == 0 {
		return
	}
	if v.Valid == nil {
		v.Valid = column.NewBitmap(n, true)
	}
	for _, p := range at {
		v.Valid.Clear(int(p))
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		zeroAt(v.F64, at)
	case types.PhysInt128:
		zeroAt(v.I128, at)
	case types.PhysString:
		if v.Dict != nil {
			zeroAt(v.Codes, at)
		} else {
			zeroAt(v.Str, at)
		}
	default:
		zeroAt(v.I64, at)
	}
}

func zeroAt[T any](x []T, at []int32) {
	var zero T
	for _, p := range at {
		x[p] = zero
	}
}

// Permute reorders the column so that new row i is old row order[i].
func (c *Packed) Permute(q *task.Query, order []int32) error {
	n := len(order)
	out := Packed{V: &column.Vector{Type: c.V.Type, Dict: c.V.Dict}, base: c.base}
	switch {
	case c.u8 != nil:
		out.u8 = column.Unset[uint8](n)
	case c.u16 != nil:
		out.u16 = column.Unset[uint16](n)
	case c.u32 != nil:
		out.u32 = column.Unset[uint32](n)
	case c.V.Dict != nil:
		out.V = column.NewUnsetCodes(c.V.Type, c.V.Dict, n)
	default:
		out.V = column.NewUnset(c.V.Type, n)
	}
	if c.V.Valid != nil {
		out.V.Valid = column.NewBitmap(n, true)
	}
	err := q.ParallelBlocks(n, func(from, to int) {
		rows := order[from:to]
		switch {
		case c.u8 != nil:
			GatherAt(out.u8[from:to], c.u8, nil, rows)
		case c.u16 != nil:
			GatherAt(out.u16[from:to], c.u16, nil, rows)
		case c.u32 != nil:
			GatherAt(out.u32[from:to], c.u32, nil, rows)
		case c.V.Dict != nil:
			GatherAt(out.V.Codes[from:to], c.V.Codes, nil, rows)
		default:
			switch c.V.Type.Phys() {
			case types.PhysFloat64:
				GatherAt(out.V.F64[from:to], c.V.F64, nil, rows)
			case types.PhysInt128:
				GatherAt(out.V.I128[from:to], c.V.I128, nil, rows)
			case types.PhysString:
				GatherAt(out.V.Str[from:to], c.V.Str, nil, rows)
			default:
				GatherAt(out.V.I64[from:to], c.V.I64, nil, rows)
			}
		}
		if c.V.Valid == nil {
			return
		}
		for i, r := range rows {
			if !c.V.Valid.Get(int(r)) {
				out.V.Valid.Clear(from + i)
			}
		}
	})
	*c = out
	return err
}

// View makes dst hold rows from .. from+n-1 of the column; flat columns are shared, narrow ones widened.
func (c *Packed) View(dst *column.Vector, from, n int, scratch []int32) {
	if c.u8 == nil && c.u16 == nil && c.u32 == nil && from&63 == 0 {
		Slice(dst, c.V, from, n)
		return
	}
	c.Gather(dst, n, nil, CountFrom(scratch[:0], from, n))
}

// CopyTo stores the values from .. to-1 at their positions in dst.
func (c *Packed) CopyTo(dst *column.Vector, from, to int) {
	rows := CountFrom(nil, from, to-from)
	if dst.Type.Phys() == types.PhysFloat64 {
		copy(dst.F64[from:to], c.V.F64[from:to])
		return
	}
	part := column.Vector{}
	own := Packed{V: &column.Vector{Type: c.V.Type, I64: c.V.I64}, base: c.base, u8: c.u8, u16: c.u16, u32: c.u32}
	own.Gather(&part, len(rows), nil, rows)
	copy(dst.I64[from:to], part.I64)
}
