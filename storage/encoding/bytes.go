package encoding

import "unsafe"

// MemoryBytes returns how much memory the chunk takes, its dictionary not counted: that belongs to the column.
func (c *Chunk) MemoryBytes() int64 {
	sketch := int64(0)
	if s := c.sketch.Load(); s != nil {
		sketch = int64(unsafe.Sizeof(*s))
	}
	return sketch + int64(unsafe.Sizeof(*c)) + int64(cap(c.U8)) + 2*int64(cap(c.U16)) + 4*int64(cap(c.U32)) + 8*int64(cap(c.I64)) +
		8*int64(cap(c.F64)) + 16*int64(cap(c.I128)) + 4*int64(cap(c.Offsets)) + int64(cap(c.Bytes)) + 8*int64(cap(c.Valid))
}

// Buffers calls f with the address and the size in bytes of each piece of memory that the chunk is made of, itself being the
// first. Chunks that share memory, as those of an open row group do, name the same addresses. What is made when it is first
// asked for, the sketch, is left out.
func (c *Chunk) Buffers(f func(at unsafe.Pointer, bytes int64)) {
	f(unsafe.Pointer(c), int64(unsafe.Sizeof(*c)))
	buffer(f, c.U8)
	buffer(f, c.U16)
	buffer(f, c.U32)
	buffer(f, c.I64)
	buffer(f, c.F64)
	buffer(f, c.I128)
	buffer(f, c.Offsets)
	buffer(f, c.Bytes)
	buffer(f, c.Valid)
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
