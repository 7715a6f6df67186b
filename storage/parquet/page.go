package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// extent returns where in the file a column chunk lies.
func (f *File) extent(chunk *metadata.ColumnChunkMetaData) (begin, size int64, err error) {
	begin, size = chunk.DataPageOffset(), chunk.TotalCompressedSize()
	if at := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && at > 0 && at < begin {
		begin = at
	}
	if begin < 0 || size < 0 || begin > f.size || size > f.size-begin {
		return 0, 0, fmt.Errorf("a column chunk of %d bytes from byte %d on lies outside the file", size, begin)
	}
	return begin, size, nil
}

// chunkBytes reads the bytes of a column chunk, as the library wants it.
type chunkBytes struct{ rest []byte }

func (c *chunkBytes) Peek(n int) ([]byte, error) {
	if n > len(c.rest) {
		return c.rest, io.EOF
	}
	return c.rest[:n], nil
}

func (c *chunkBytes) Discard(n int) (int, error) {
	n = min(n, len(c.rest))
	c.rest = c.rest[n:]
	return n, nil
}

func (c *chunkBytes) Read(p []byte) (int, error) {
	if len(c.rest) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// pageMemory is where the pages of a column chunk are decompressed: each over the one before, unless strings are going to
// point into them.
type pageMemory struct {
	keep  bool
	limit int64 // of a page's size
	buf   []byte
}

func (m *pageMemory) Allocate(n int) []byte {
	if int64(n) > m.limit {
		panic(fmt.Sprintf("a page of %d bytes in a column chunk of %d", n, m.limit)) // the guard around reading makes an error of it
	}
	if m.keep {
		return make([]byte, n)
	}
	m.buf = slices.Grow(m.buf[:0], n)[:n]
	return m.buf
}

func (m *pageMemory) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	out := m.Allocate(n)
	copy(out, b)
	return out
}

func (m *pageMemory) Free([]byte) {}

// content is a data page taken apart.
type content struct {
	rows     int
	encoding parquet.Encoding
	levels   []byte // definition levels; of optional columns
	values   []byte
}

// split takes a data page apart. Repetition levels there are none.
func split(p file.Page, optional bool) (content, error) {
	c := content{rows: int(p.NumValues()), encoding: parquet.Encoding(p.Encoding()), values: p.Data()}
	switch p := p.(type) {
	case *file.DataPageV1:
		if !optional {
			return c, nil
		}
		if p.DefinitionLevelEncoding() != parquet.Encodings.RLE {
			return c, fmt.Errorf("the levels of a page are encoded as %s", p.DefinitionLevelEncoding())
		}
		size, rest, err := prefixed(c.values)
		c.levels, c.values = size, rest
		return c, err
	case *file.DataPageV2:
		repetition, definition := int(p.RepetitionLevelByteLen()), int(p.DefinitionLevelByteLen())
		if repetition+definition > len(c.values) {
			return c, errCutOff
		}
		c.levels, c.values = c.values[repetition:repetition+definition], c.values[repetition+definition:]
		return c, nil
	}
	return c, fmt.Errorf("a page of the unknown type %s", p.Type())
}

// prefixed splits off bytes that have their length, of 32 bits, before them.
func prefixed(b []byte) (first, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errCutOff
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n > len(b)-4 {
		return nil, nil, errCutOff
	}
	return b[4 : 4+n], b[4+n:], nil
}
