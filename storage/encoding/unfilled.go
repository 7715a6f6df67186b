package encoding

import (
	"math"
	"strings"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
)

// Bounds are what the zone map of a chunk of integers or doubles says. Low and High are over the values that are not NULL, in the type's order, doubles by their
// bits with -0 before 0; none is NaN.
type Bounds struct {
	Rows, Nulls int
	Low, High   int64
	Sorted      bool // the values ascend, and none is NULL
}

// NewUnfilled returns a chunk of integers or doubles with these bounds, as Encode would make it, whose values and validity bitmap whoever asks for it has still to
// provide: the caller makes the slice of the chunk's Kind by Fill, and sets Valid if some values but not all are NULL.
func NewUnfilled(t types.Type, b Bounds) *Chunk {
	c := &Chunk{Type: t, Rows: b.Rows, NullCount: b.Nulls, Min: types.NullOf(t), Max: types.NullOf(t)}
	if b.Nulls == b.Rows {
		c.Kind, c.Sorted = Constant, b.Rows == 0
		return c
	}
	c.Sorted = b.Sorted && b.Nulls == 0
	if t.Phys() == types.PhysFloat64 {
		if c.Kind = RawFloat; b.Low == b.High {
			c.Kind = Constant
		}
		c.Min = types.Value{Type: t, F: math.Float64frombits(uint64(b.Low))}
		c.Max = types.Value{Type: t, F: math.Float64frombits(uint64(b.High))}
		return c
	}
	c.Min, c.Max = types.Value{Type: t, I: b.Low}, types.Value{Type: t, I: b.High}
	if c.Kind = intKind(b.Low, b.High); c.Kind != Raw64 {
		c.Base = b.Low
	}
	return c
}

// ItemWidth is the bytes of an item of a chunk of integers or doubles; 0: it has none, all values are Min or NULL.
func (c *Chunk) ItemWidth() int {
	switch c.Kind {
	case FOR8:
		return 1
	case FOR16:
		return 2
	case FOR32:
		return 4
	case Raw64, RawFloat:
		return 8
	}
	return 0
}

// Fill makes the slice that NewUnfilled has left out. Whatever its memory held is still there.
func (c *Chunk) Fill() {
	switch c.Kind {
	case FOR8:
		c.U8 = unwritten[uint8](c.Rows)
	case FOR16:
		c.U16 = unwritten[uint16](c.Rows)
	case FOR32:
		c.U32 = unwritten[uint32](c.Rows)
	case Raw64:
		c.I64 = unwritten[int64](c.Rows)
	case RawFloat:
		c.F64 = unwritten[float64](c.Rows)
	}
}

// unwritten makes a slice that is not set to zero, which would take about as long as filling it. A strings.Builder is what Go has for that: its bytes lie at an address
// that suits their number, so that of n items suits an item.
func unwritten[T uint8 | uint16 | uint32 | int64 | float64](n int) []T {
	if n == 0 {
		return nil
	}
	var zero T
	var b strings.Builder
	b.Grow(n * int(unsafe.Sizeof(zero)))
	b.WriteByte(0) // the data of a string without bytes would be unspecified
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}
