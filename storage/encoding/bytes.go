package encoding

import "unsafe"

// MemoryBytes returns how much memory the chunk takes, its dictionary not counted: that belongs to the column.
func (c *Chunk) MemoryBytes() int64 {
	sketch := int64(0)
	if s := c.sketch.Load(); s != nil {
		sketch = int64(unsafe.Sizeof(*s))
	}
	bounds := int64(0)
	c.ownBounds(func(_ unsafe.Pointer, bytes int64) { bounds += bytes })
	return sketch + bounds + int64(unsafe.Sizeof(*c)) + int64(cap(c.U8)) + 2*int64(cap(c.U16)) + 4*int64(cap(c.U32)) + 8*int64(cap(c.I64)) +
		8*int64(cap(c.F64)) + 16*int64(cap(c.I128)) + 4*int64(cap(c.Offsets)) + int64(cap(c.Bytes)) + 8*int64(cap(c.Valid))
}

// Buffers calls f with the address and the size in bytes of each piece of memory that the chunk is made of, itself being the
// first. Chunks that share memory, as those of an open row group do, name the same addresses. What is made when it is first
// asked for, the sketch, is left out.
//
// Chunks whose items are parts of one slab name that: none of it is free as long as one of them is in use.
func (c *Chunk) Buffers(f func(at unsafe.Pointer, bytes int64)) {
	f(unsafe.Pointer(c), int64(unsafe.Sizeof(*c)))
	if c.slab != nil {
		f(unsafe.Pointer(c.slab), c.slab.bytes)
	} else {
		buffer(f, c.U8)
		buffer(f, c.U16)
		buffer(f, c.U32)
		buffer(f, c.I64)
		buffer(f, c.F64)
		buffer(f, c.I128)
	}
	buffer(f, c.Offsets)
	buffer(f, c.Bytes)
	buffer(f, c.Valid)
	c.ownBounds(f)
}

// longBound is the length from which a bound counts that lies outside of the chunk's values.
const longBound = 64

// ownBounds calls f for the minimum and maximum of a string column as far as they are long and memory of their own: a constant is its minimum, and an
// open row group has copies of both. Others are pieces of the values or of the dictionary.
func (c *Chunk) ownBounds(f func(at unsafe.Pointer, bytes int64)) {
	if c.Dict != nil || len(c.Min.S) <= longBound && len(c.Max.S) <= longBound {
		return
	}
	own := func(s string) bool { return len(s) > longBound && !within(s, c.Bytes) }
	if own(c.Min.S) {
		f(unsafe.Pointer(unsafe.StringData(c.Min.S)), int64(len(c.Min.S)))
	}
	if own(c.Max.S) && unsafe.StringData(c.Max.S) != unsafe.StringData(c.Min.S) {
		f(unsafe.Pointer(unsafe.StringData(c.Max.S)), int64(len(c.Max.S)))
	}
}

// within says whether a string that is not empty is a piece of b.
func within(s string, b []byte) bool {
	at, from := uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return at >= from && at < from+uintptr(len(b))
}

func buffer[T any](f func(at unsafe.Pointer, bytes int64), x []T) {
	if len(x) > 0 {
		f(unsafe.Pointer(unsafe.SliceData(x)), int64(len(x))*int64(unsafe.Sizeof(x[0])))
	}
}

// Width returns the bytes that a row takes on average in the encoded form: what a scan of the chunk reads.
func (c *Chunk) Width() float64 {
	if c.Rows == 0 {
		return 0
	}
	n := len(c.U8) + 2*len(c.U16) + 4*len(c.U32) + 8*len(c.I64) + 8*len(c.F64) + 16*len(c.I128) + 4*len(c.Offsets) + len(c.Bytes) +
		8*len(c.Valid)
	return float64(n) / float64(c.Rows)
}
