package parquet

import (
	"encoding/binary"
	"slices"
)

// longRun is how often a value has to follow on itself to be written once.
const longRun = 16

// appendHybrid appends values of so many bits in the hybrid of run lengths and packed bits (parquet-format, Encodings.md, "RLE").
func appendHybrid(dst []byte, values []uint32, width int) []byte {
	for len(values) > 0 {
		if run := runLength(values, len(values)); run >= longRun || run == len(values) && width == 0 {
			dst = binary.AppendUvarint(dst, uint64(run)<<1)
			for at := 0; at < width; at += 8 {
				dst = append(dst, byte(values[0]>>at))
			}
			values = values[run:]
			continue
		}
		n := 0
		for n < len(values) && runLength(values[n:], longRun) < longRun {
			n += 8
		}
		n = min(n, len(values))
		dst = binary.AppendUvarint(dst, uint64((n+7)/8)<<1|1)
		dst = appendPacked(dst, values[:n], width)
		values = values[n:]
	}
	return dst
}

// runLength returns how often the first value follows on itself, counted up to most.
func runLength(values []uint32, most int) int {
	n := 1
	for n < min(len(values), most) && values[n] == values[0] {
		n++
	}
	return n
}

// appendPacked appends values of so many bits, the lowest first, and zeros up to a multiple of eight values.
func appendPacked(dst []byte, values []uint32, width int) []byte {
	at, end := len(dst), len(dst)+(len(values)+7)/8*width
	dst = slices.Grow(dst, end-at)[:end]
	var held uint64 // fewer than 32 bits, and those of a value
	count := 0
	for _, v := range values {
		held |= uint64(v) << count
		if count += width; count >= 32 {
			binary.LittleEndian.PutUint32(dst[at:], uint32(held))
			at += 4
			held >>= 32
			count -= 32
		}
	}
	for ; at < end; at++ {
		dst[at] = byte(held)
		held >>= 8
	}
	return dst
}

// compactWriter writes structs in Thrift's compact protocol, which compact reads.
type compactWriter struct {
	b    []byte
	last []byte // the last field of each struct that has begun, but the innermost
	id   byte   // of the innermost
}

func (w *compactWriter) field(id byte, kind wire) {
	w.b = append(w.b, (id-w.id)<<4|byte(kind))
	w.id = id
}

func (w *compactWriter) i32(id byte, x int32) {
	w.field(id, wireI32)
	w.b = binary.AppendUvarint(w.b, uint64(uint32(x)<<1^uint32(x>>31)))
}

// begin begins a struct in a field.
func (w *compactWriter) begin(id byte) {
	w.field(id, wireStruct)
	w.last = append(w.last, w.id)
	w.id = 0
}

// end ends the innermost struct.
func (w *compactWriter) end() {
	w.b = append(w.b, 0)
	if n := len(w.last); n > 0 {
		w.id, w.last = w.last[n-1], w.last[:n-1]
	}
}
