package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"hash/maphash"
	mathbits "math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/klauspost/compress/s2"

	"github.com/radish-sql/radish/sql/types"
)

// Pages hold at most so many values and, of strings, about so many bytes.
const (
	pageRows  = 1 << 15
	pageBytes = 1 << 20
)

// encoder makes the pages of a column in a row group.
type encoder struct {
	out          pieces // the pages, as they stand in the file
	dictionary   int    // bytes of the dictionary's page in out; 0: there is none
	pages        int    // of data
	uncompressed int64  // bytes of all pages, with their headers
	raw          bool   // no page is compressed: that would save less than a sixteenth
	stats        metadata.EncodedStatistics
	*scratch     // of who encodes the column
}

// scratch is the memory that encoding a column takes besides its pages.
type scratch struct {
	header  []byte   // of a page
	plain   []byte   // the page
	packed  []byte   // what it is packed to
	indices []uint32 // of values in the dictionary
	slots   []uint32 // a hash table of indices + 1
}

func (e *encoder) reset() {
	e.restart()
	e.raw, e.stats = false, metadata.EncodedStatistics{}
}

// restart forgets the pages.
func (e *encoder) restart() {
	e.out.reset()
	e.dictionary, e.pages, e.uncompressed = 0, 0, 0
}

// reserve empties a buffer of scratch, and gives it memory for so many bytes.
func (e *encoder) reserve(buffer *[]byte, bytes int) error {
	*buffer = (*buffer)[:0]
	more := bytes - cap(*buffer)
	if more <= 0 {
		return nil
	}
	if err := e.out.hold(int64(more)); err != nil {
		return err
	}
	*buffer = make([]byte, 0, bytes)
	return nil
}

// trim gives back the memory of pages of long strings.
func (s *scratch) trim(hold func(bytes int64) error) {
	if n := cap(s.plain) + cap(s.packed); n > 8*pageBytes {
		s.plain, s.packed = nil, nil
		_ = hold(-int64(n)) // which is not more than reserve has held
	}
}

// encode makes the pages: of indices into a dictionary if that is shorter, or of the values themselves.
func (c *columnWriter) encode(with *scratch) error {
	c.scratch = with
	defer func() { c.scratch = nil }()
	var distinct dictionary
	switch {
	case c.physical == parquet.Types.ByteArray && c.dict != nil:
		distinct = c.distinctCodes()
	case c.physical == parquet.Types.ByteArray:
		distinct = c.distinctStrings()
	case c.typ.Phys() != types.PhysInt128:
		distinct = c.distinctInts()
	}
	if !distinct.ok {
		if err := c.spell(); err != nil {
			return err
		}
	}
	c.statistics(&distinct)
	if err := c.encodePages(&distinct); err != nil {
		return err
	}
	if int64(c.out.size) > c.uncompressed/16*15 { // readers would take as long to unpack such pages as to decode them
		c.restart()
		c.raw = true
		return c.encodePages(&distinct)
	}
	return nil
}

func (c *columnWriter) encodePages(distinct *dictionary) error {
	if distinct.ok {
		if err := c.reserve(&c.plain, distinct.bytes()); err != nil {
			return err
		}
		for _, x := range distinct.strings {
			c.plain = appendString(c.plain, x)
		}
		c.plain = c.appendInts(c.plain, distinct.ints)
		if err := c.page(distinct.len(), true, encodingPlain); err != nil {
			return err
		}
		c.dictionary = c.out.size
	}
	width := mathbits.Len(uint(max(distinct.len(), 1) - 1))
	done := 0 // values that are in pages
	for row := 0; row < c.rows; {
		rows, values, bytes := c.pageOf(row, done, distinct.ok)
		if err := c.reserve(&c.plain, bytes+levelBytes(rows)+c.valueBytes()*values); err != nil {
			return err
		}
		c.plain = c.appendLevels(c.plain, row, rows)
		encoding := int32(encodingPlain)
		if distinct.ok {
			c.plain = appendHybrid(append(c.plain, byte(width)), c.indices[done:done+values], width)
			encoding = encodingDictionary
		} else {
			c.plain = c.appendPlain(c.plain, done, values)
		}
		if err := c.page(rows, false, encoding); err != nil {
			return err
		}
		row += rows
		done += values
		c.pages++
	}
	return nil
}

// pageOf returns how many rows the page has that begins at a row, how many values, and how many bytes of strings.
func (c *columnWriter) pageOf(row, done int, ofIndices bool) (rows, values, bytes int) {
	limit := min(pageRows, c.rows-row)
	ofStrings := c.physical == parquet.Types.ByteArray && !ofIndices
	if c.valid == nil && !ofStrings {
		return limit, limit, 0
	}
	for rows < limit && bytes < pageBytes {
		if c.valid == nil || c.valid.Get(row+rows) {
			if ofStrings {
				bytes += len(c.text(done + values))
			}
			values++
		}
		rows++
	}
	return rows, values, bytes
}

// valueBytes is what a value takes at most, without the bytes of strings: their length, or an index, stands for them.
func (c *columnWriter) valueBytes() int { return max(c.width, 4) }

// levelBytes bounds what the levels of so many rows take.
func levelBytes(rows int) int { return rows/4 + 64 }

// appendLevels appends the definition levels of rows: 1 for a value, 0 for NULL.
func (c *columnWriter) appendLevels(dst []byte, row, rows int) []byte {
	if !c.optional {
		return dst
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if c.valid == nil {
		dst = append(binary.AppendUvarint(dst, uint64(rows)<<1), 1)
	} else {
		levels := make([]uint32, rows)
		for i := range levels {
			if c.valid.Get(row + i) {
				levels[i] = 1
			}
		}
		dst = appendHybrid(dst, levels, 1)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// appendPlain appends values from the first on in the encoding PLAIN.
func (c *columnWriter) appendPlain(dst []byte, first, n int) []byte {
	switch {
	case c.physical == parquet.Types.ByteArray:
		for i := range n {
			dst = appendString(dst, c.text(first+i))
		}
		return dst
	case c.typ.Phys() == types.PhysInt128:
		for _, x := range c.wide[first : first+n] {
			dst = appendBigEndian(dst, x, c.width)
		}
		return dst
	case n == 0:
		return dst
	}
	return c.appendInts(dst, c.ints[first:first+n])
}

func (c *columnWriter) appendInts(dst []byte, list []int64) []byte {
	switch {
	case c.physical == parquet.Types.FixedLenByteArray:
		for _, x := range list {
			x := uint64(x) << (64 - 8*min(c.width, 8)) // a decimal of 18 digits at most has 8 bytes
			dst = binary.BigEndian.AppendUint64(dst, x)[:len(dst)+c.width]
		}
	case c.width == 4:
		for _, x := range list {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
		}
	default:
		for _, x := range list {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
		}
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendBigEndian appends the low bytes of a number, the highest first.
func appendBigEndian(dst []byte, x types.Int128, width int) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(x.Hi))
	binary.BigEndian.PutUint64(b[8:], x.Lo)
	return append(dst, b[16-width:]...)
}

// dictionary is the distinct values of a column, if indices into it are shorter than the values.
type dictionary struct {
	ok      bool
	strings []string
	ints    []int64
}

func (d *dictionary) len() int { return len(d.strings) + len(d.ints) }

// bytes bounds what its values take.
func (d *dictionary) bytes() int {
	n := 8 * len(d.ints)
	for _, x := range d.strings {
		n += 4 + len(x)
	}
	return n
}

// worth says whether n values of so many bytes are longer than a dictionary of some bytes and the indices into it.
func worth(distinct, dictionaryBytes, n, bytes int) bool {
	return dictionaryBytes+n*mathbits.Len(uint(distinct))/8 < bytes*4/5
}

// distinctCodes makes a dictionary of the part of the table's that the row group uses, without looking at strings more than once.
func (c *columnWriter) distinctCodes() (d dictionary) {
	values := c.dict.Values()
	codes := make([]uint32, len(values)) // + 1 in d; 0: not there
	bytes, all := 0, 0
	c.indices = c.indices[:0]
	for _, code := range c.codes {
		if codes[code] == 0 {
			d.strings = append(d.strings, values[code])
			codes[code] = uint32(len(d.strings))
			bytes += 4 + len(values[code])
		}
		all += 4 + len(values[code])
		c.indices = append(c.indices, codes[code]-1)
	}
	d.ok = worth(len(d.strings), bytes, len(c.codes), all)
	return c.given(d)
}

// given is a dictionary that is used, or none.
func (c *columnWriter) given(d dictionary) dictionary {
	if !d.ok || d.len() == 0 {
		return dictionary{}
	}
	return d
}

// clearSlots returns an empty hash table for n keys at most, which is never more than half full, and the mask of its slots.
func (c *columnWriter) clearSlots(n int) (mask uint64) {
	size := 1 << mathbits.Len(uint(2*n))
	if cap(c.slots) < size {
		c.slots = make([]uint32, size)
	}
	c.slots = c.slots[:size]
	clear(c.slots)
	return uint64(size - 1)
}

// A dictionary of values that hardly repeat is given up early.
const (
	sampled    = 4096
	sampledMax = sampled * 31 / 32
)

func (c *columnWriter) distinctInts() (d dictionary) {
	n := len(c.ints)
	mask := c.clearSlots(n)
	c.indices = c.indices[:0]
	for i, x := range c.ints {
		if i == sampled && len(d.ints) > sampledMax || i&(sampled-1) == 0 && !worth(len(d.ints), c.width*len(d.ints), n, c.width*n) {
			return dictionary{}
		}
		at := uint64(x) * 0x9E3779B97F4A7C15
		at ^= at >> 32
		for {
			slot := &c.slots[at&mask]
			if *slot == 0 {
				d.ints = append(d.ints, x)
				*slot = uint32(len(d.ints))
			}
			if d.ints[*slot-1] == x {
				c.indices = append(c.indices, *slot-1)
				break
			}
			at++
		}
	}
	d.ok = worth(len(d.ints), c.width*len(d.ints), n, c.width*n)
	return c.given(d)
}

var stringSeed = maphash.MakeSeed()

func (c *columnWriter) distinctStrings() (d dictionary) {
	n := len(c.strings)
	mask := c.clearSlots(n)
	all := c.spelled + 4*n
	bytes := 0
	c.indices = c.indices[:0]
	for i := range n {
		if i == sampled && len(d.strings) > sampledMax || i&(sampled-1) == 0 && !worth(len(d.strings), bytes, n, all) {
			return dictionary{}
		}
		x := c.text(i)
		at := maphash.String(stringSeed, x)
		for {
			slot := &c.slots[at&mask]
			if *slot == 0 {
				d.strings = append(d.strings, x)
				*slot = uint32(len(d.strings))
				bytes += 4 + len(x)
			}
			if d.strings[*slot-1] == x {
				c.indices = append(c.indices, *slot-1)
				break
			}
			at++
		}
	}
	d.ok = worth(len(d.strings), bytes, n, all)
	return c.given(d)
}

// Encodings of pages, as the format numbers them.
const (
	encodingPlain      = 0
	encodingRLE        = 3
	encodingDictionary = 8 // RLE_DICTIONARY
)

// page appends the page in plain, packed unless the column is raw, behind its header.
func (c *columnWriter) page(values int, isDictionary bool, encoding int32) error {
	packed := c.plain
	if !c.raw {
		if err := c.reserve(&c.packed, s2.MaxEncodedLen(len(c.plain))); err != nil {
			return err
		}
		c.packed = s2.EncodeSnappy(c.packed[:cap(c.packed)], c.plain)
		packed = c.packed
	}
	h := compactWriter{b: c.header[:0]}
	kind := int32(0) // DATA_PAGE
	if isDictionary {
		kind = 2
	}
	h.i32(1, kind)
	h.i32(2, int32(len(c.plain)))
	h.i32(3, int32(len(packed)))
	h.i32(4, int32(crc32.ChecksumIEEE(packed)))
	if isDictionary {
		h.begin(7)
		h.i32(1, int32(values))
		h.i32(2, encoding)
	} else {
		h.begin(5)
		h.i32(1, int32(values))
		h.i32(2, encoding)
		h.i32(3, encodingRLE) // of definition levels
		h.i32(4, encodingRLE) // of repetition levels, of which there are none
	}
	h.end()
	h.end()
	c.header = h.b
	c.uncompressed += int64(len(h.b)) + int64(len(c.plain))
	if err := c.out.append(h.b); err != nil {
		return err
	}
	return c.out.append(packed)
}

// finish puts what the footer says of the column into m; its pages begin at an offset of the file.
func (c *columnWriter) finish(m *metadata.ColumnChunkMetaDataBuilder, at int64) error {
	info := metadata.ChunkMetaInfo{
		NumValues: int64(c.rows), IndexPageOffset: -1, DataPageOffset: at + int64(c.dictionary), CompressedSize: int64(c.out.size), UncompressedSize: c.uncompressed,
	}
	stats := metadata.EncodingStats{DataEncodingStats: map[parquet.Encoding]int32{parquet.Encodings.Plain: int32(c.pages)}}
	if c.dictionary > 0 {
		info.DictPageOffset = at
		stats.DictEncodingStats = map[parquet.Encoding]int32{parquet.Encodings.Plain: 1}
		stats.DataEncodingStats = map[parquet.Encoding]int32{parquet.Encodings.RLEDict: int32(c.pages)}
	}
	if c.raw {
		m.Contents().MetaData.Codec = 0 // UNCOMPRESSED; the type has no name outside its package
	}
	m.SetStats(c.stats)
	return m.Finish(info, c.dictionary > 0, false, stats, nil)
}
