package encoding

import (
	"math"
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

// NewUnfilled returns a chunk of integers or doubles with these bounds, as Encode would make it, but without values and validity bitmap. The caller
// provides these: [Slabs.Fill] makes the slice of the chunk's Kind, and Valid is to be set if some values but not all are NULL.
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

// slabShare is the bytes of a slab that a chunk's items take.
func (c *Chunk) slabShare() int { return (c.Rows*c.ItemWidth() + slabAlign - 1) &^ (slabAlign - 1) }

// take makes the beginning of memory the chunk's items.
func (c *Chunk) take(memory []byte) {
	switch c.Kind {
	case FOR8:
		c.U8 = itemsIn[uint8](memory, c.Rows)
	case FOR16:
		c.U16 = itemsIn[uint16](memory, c.Rows)
	case FOR32:
		c.U32 = itemsIn[uint32](memory, c.Rows)
	case Raw64:
		c.I64 = itemsIn[int64](memory, c.Rows)
	case RawFloat:
		c.F64 = itemsIn[float64](memory, c.Rows)
	}
}

// itemsIn are the first n items in memory, which begins at an address that suits them.
func itemsIn[T uint8 | uint16 | uint32 | int64 | float64](memory []byte, n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&memory[0])), n)[:n:n]
}
