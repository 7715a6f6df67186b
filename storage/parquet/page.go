package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/codec"
)

// pageHeader is what stands before the bytes of a page.
type pageHeader struct {
	kind        int32
	size        int32 // decompressed
	packed      int32 // as the page lies in the file
	sum         uint32
	summed      bool // sum is the CRC-32 of the bytes in the file
	values      int32
	encoding    parquet.Encoding
	levels      parquet.Encoding // of the definition levels, in pages of version 1
	repetitions parquet.Encoding // and of the repetition levels
	definition  int32            // bytes of levels, in pages of version 2
	repetition  int32
	packs       bool // the values are compressed
}

// The kinds of pages.
const (
	dataPage       = 0
	indexPage      = 1
	dictionaryPage = 2
	dataPageV2     = 3
)

func (r *compact) pageHeader() pageHeader {
	h := pageHeader{kind: -1, size: -1, packed: -1, values: -1, packs: true}
	described := false
	r.fields(func(id int, w wire) {
		switch {
		case id == 1:
			h.kind = r.i32(w)
		case id == 2:
			h.size = r.i32(w)
		case id == 3:
			h.packed = r.i32(w)
		case id == 4:
			h.sum, h.summed = uint32(r.i32(w)), true
		case id == 5 && h.kind == dataPage, id == 7 && h.kind == dictionaryPage:
			described = true
			r.structure(w, func(id int, w wire) {
				switch id {
				case 1:
					h.values = r.i32(w)
				case 2:
					h.encoding = parquet.Encoding(r.i32(w))
				case 3:
					if h.kind == dataPage {
						h.levels = parquet.Encoding(r.i32(w))
						return
					}
					r.skip(w)
				case 4:
					if h.kind == dataPage {
						h.repetitions = parquet.Encoding(r.i32(w))
						return
					}
					r.skip(w)
				default:
					r.skip(w)
				}
			})
		case id == 8 && h.kind == dataPageV2:
			described = true
			r.structure(w, func(id int, w wire) {
				switch id {
				case 1:
					h.values = r.i32(w)
				case 4:
					h.encoding = parquet.Encoding(r.i32(w))
				case 5:
					h.definition = r.i32(w)
				case 6:
					h.repetition = r.i32(w)
				case 7:
					h.packs = r.bool(w)
				default:
					r.skip(w)
				}
			})
		default:
			r.skip(w)
		}
	})
	switch {
	case r.err != nil:
	case h.size < 0 || h.packed < 0 || h.definition < 0 || h.repetition < 0:
		r.fail(errors.New("a negative size"))
	case h.kind < dataPage || h.kind > dataPageV2:
		r.fail(fmt.Errorf("the unknown kind of page %d", h.kind))
	case h.kind != indexPage && (!described || h.values < 0):
		r.fail(errors.New("no number of values"))
	}
	return h
}

// pages reads the pages of a column chunk.
type pages struct {
	window
	number     int   // of the last page, from 0; -1: there was none
	begin      int64 // where in the file that one begins
	left       int64 // values of the chunk in the pages that follow
	codec      codec.Codec
	keepsPages bool // strings are going to point into pages: none is overwritten
	buf        []byte
	allow      func(bytes int64) error // asks for memory
	levels     pageLevels
	taken      []byte   // memory of the last page, if keep
	spent      [][]byte // and of those before it that are taken back; nil: none is
}

// pageLevels are the greatest levels of a column, and the encoded ones of the last page.
type pageLevels struct {
	repetition, definition   uint32
	repetitions, definitions []byte
}

// page is a decompressed page.
type page struct {
	pageHeader
	rows int
	data []byte
}

// next returns the next page that holds values or a dictionary.
func (p *pages) next() (page, error) {
	for {
		p.number++
		p.begin = p.at
		if p.rest() == 0 {
			return page{}, errTooShort
		}
		h, size, err := p.header()
		if err != nil {
			return page{}, err
		}
		if int64(h.packed) > p.rest()-int64(size) {
			return page{}, fmt.Errorf("the page claims %d bytes, and its column chunk has %d more", h.packed, p.rest()-int64(size))
		}
		if err := p.need(int64(size)+int64(h.packed), p.allow); err != nil {
			return page{}, err
		}
		packed := p.bytes[size : size+int(h.packed)]
		p.skip(int64(size) + int64(h.packed))
		if h.kind == indexPage {
			continue
		}
		if h.summed {
			if sum := crc32.ChecksumIEEE(packed); sum != h.sum {
				return page{}, fmt.Errorf("the checksum of the page does not match its %d bytes: it says %08x, they give %08x", h.packed, h.sum, sum)
			}
		}
		if h.kind != dictionaryPage {
			if int64(h.values) > p.left {
				return page{}, fmt.Errorf("the page claims %d values, and its column chunk has %d more", h.values, p.left)
			}
			p.left -= int64(h.values)
		}
		return p.open(h, packed)
	}
}

// header returns the header of the next page and how many bytes it takes.
func (p *pages) header() (h pageHeader, size int, err error) {
	const most = 16 << 20
	for known := int64(4 << 10); ; known *= 16 {
		if err := p.needHeader(known, p.allow); err != nil {
			return h, 0, err
		}
		r := &compact{b: p.bytes}
		h = r.pageHeader()
		if r.err == nil {
			return h, r.at, nil
		}
		if int64(len(p.bytes)) == p.rest() || known >= most { // else it may be longer
			return h, 0, fmt.Errorf("the header of the page: %w", r.err)
		}
	}
}

// open decompresses a page and takes it apart.
func (p *pages) open(h pageHeader, packed []byte) (page, error) {
	out := page{pageHeader: h, rows: int(h.values)}
	p.levels.repetitions, p.levels.definitions = nil, nil
	if h.kind == dataPageV2 {
		levels := int64(h.definition) + int64(h.repetition)
		if levels > int64(len(packed)) || levels > int64(h.size) {
			return out, fmt.Errorf("the page has %d bytes, and its levels claim %d", len(packed), levels)
		}
		p.levels.repetitions, p.levels.definitions = packed[:h.repetition], packed[h.repetition:levels]
		size := int(h.size) - int(levels)
		packed = packed[levels:]
		of := p.codec
		if !h.packs {
			if of = codec.None; len(packed) != size {
				return out, fmt.Errorf("an uncompressed page has %d bytes instead of %d", len(packed), size)
			}
		}
		var err error
		out.data, err = p.unpack(of, packed, size)
		return out, err
	}
	data, err := p.unpack(p.codec, packed, int(h.size))
	if err != nil {
		return out, err
	}
	out.data = data
	if h.kind == dictionaryPage {
		return out, nil
	}
	if p.levels.repetition > 0 {
		if p.levels.repetitions, out.data, err = levelsOf(h.repetitions, p.levels.repetition, out.rows, out.data); err != nil {
			return out, err
		}
	}
	if p.levels.definition > 0 {
		p.levels.definitions, out.data, err = levelsOf(h.levels, p.levels.definition, out.rows, out.data)
	}
	return out, err
}

// levelsOf splits off the levels with which the data of a page of version 1 begins.
func levelsOf(e parquet.Encoding, most uint32, rows int, data []byte) (levels, rest []byte, err error) {
	switch {
	case e == parquet.Encodings.RLE:
		return prefixed(data)
	case e == parquet.Encodings.BitPacked && most == 1:
		// A bit each, the highest of a byte first: an encoding of the format's first days.
		n := (rows + 7) / 8
		if n > len(data) {
			return nil, nil, errCutOff
		}
		return bitPackedLevels(data[:n]), data[n:], nil
	case e == parquet.Encodings.BitPacked:
		return nil, nil, sqlerr.NotSupportedf("levels of nested Parquet columns in the encoding BIT_PACKED", "write the file anew, as any writer of today does")
	}
	return nil, nil, fmt.Errorf("the levels of the page have the unknown encoding %s", encodingName(e))
}

// unpack decompresses a page. What is not compressed stays in the window, unless strings are going to point into it and the window is overwritten: the other pages of
// the chunk are compressed.
func (p *pages) unpack(of codec.Codec, packed []byte, size int) ([]byte, error) {
	if err := of.Check(int64(len(packed)), int64(size)); err != nil {
		return nil, err
	}
	if of == codec.None && (p.shared || !p.keepsPages) {
		return packed, nil
	}
	if size > cap(p.buf) {
		if err := p.allow(int64(column.BufferCapacity(size) - cap(p.buf))); err != nil {
			return nil, err
		}
		if size <= max(64*len(packed), 1<<20) { // else memory grows with what really comes out
			byteBuffers.Give(p.buf)
			p.buf = byteBuffers.Take(size)
		}
	}
	var data []byte
	var err error
	if of == codec.None {
		data = append(p.buf[:0], packed...)
	} else {
		data, err = of.Unpack(p.buf, packed, size)
	}
	switch {
	case !p.keepsPages && cap(data) > cap(p.buf):
		p.buf = data
	case p.keepsPages && p.spent == nil:
		p.buf = nil
	case p.keepsPages && p.spent != nil:
		if p.taken != nil {
			p.spent = append(p.spent, p.taken)
		}
		p.taken, p.buf = data, nil
	}
	return data, err
}

// bitPackedLevels returns levels of one bit as a run of the hybrid encoding, whose bits stand the other way round.
func bitPackedLevels(b []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(len(b))<<1|1)
	for _, x := range b {
		x = x>>4 | x<<4
		x = x>>2&0x33 | x<<2&0xcc
		out = append(out, x>>1&0x55|x<<1&0xaa)
	}
	return out
}

// prefixed splits off bytes that have their length, of 32 bits, before them.
func prefixed(b []byte) (first, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errCutOff
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, errCutOff
	}
	return b[4 : 4+n], b[4+n:], nil
}

// close gives memory back.
func (p *pages) close() {
	p.window.close()
	byteBuffers.Give(p.buf)
	byteBuffers.Give(p.taken)
	for _, b := range p.spent {
		byteBuffers.Give(b)
	}
	p.buf, p.taken, p.spent = nil, nil, nil
}
