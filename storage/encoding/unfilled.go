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
// provide: the caller has Fill make the slice of the chunk's Kind, and sets Valid if some values but not all are NULL.
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

// Arrays of many chunks share slabs: one allocation of 32 MiB takes about as long as one of 512 KiB. If their pages are huge ones, a page of the host is touched for the first time
// 512 times less often, which takes less time in all although as many bytes are set to zero. A slab is freed when none of its chunks is in use any more.
const (
	slabBytes = 32 << 20
	slabAlign = 64
	hugePage  = 2 << 20
)

// Fill makes the slices that NewUnfilled has left out of chunks. Whatever their memory held is still there.
func Fill(chunks []*Chunk) {
	for len(chunks) > 0 {
		n, bytes := 0, 0
		for n < len(chunks) && (n == 0 || bytes+chunks[n].slabShare() <= slabBytes) {
			bytes += chunks[n].slabShare()
			n++
		}
		memory := slab(bytes)
		for _, c := range chunks[:n] {
			c.take(memory)
			memory = memory[c.slabShare():]
		}
		chunks = chunks[n:]
	}
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

// slab makes memory, in huge pages if it has several.
func slab(bytes int) []byte {
	if bytes < 2*hugePage {
		return unwritten(bytes)
	}
	memory := unwritten(bytes + hugePage)
	behind := int(uintptr(unsafe.Pointer(&memory[0])) % hugePage)
	memory = memory[(hugePage-behind)%hugePage:][:bytes:bytes]
	adviseHuge(memory)
	return memory
}

// unwritten makes bytes that are not set to zero, which would take about as long as filling them. A strings.Builder is what Go has for that. Where n is a multiple of slabAlign,
// their address suits items of any width.
func unwritten(n int) []byte {
	if n == 0 {
		return nil
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0) // the data of a string without bytes would be unspecified
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
