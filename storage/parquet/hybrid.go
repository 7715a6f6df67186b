package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/radish-sql/radish/column"
)

// hybrid decodes Parquet's hybrid of run-length encoding and bit packing: runs of either one value repeated or groups of
// eight values of width bits each. Definition levels and the codes of dictionary-coded pages are in it.
type hybrid struct {
	src    []byte // what follows the current run
	width  uint   // at most 32
	left   int    // values that the current run still has
	packed []byte // of a bit-packed run
	bit    int    // where in packed its next value begins
	value  uint32 // of a repeated run, whose packed is nil
}

var errCutOff = errors.New("a page ends in the middle of its values")

func newHybrid(src []byte, width uint) (hybrid, error) {
	if width > 32 {
		return hybrid{}, errors.New("a page has values of more than 32 bits")
	}
	return hybrid{src: src, width: width}, nil
}

// begin reads the header of the next run.
func (h *hybrid) begin() error {
	header, n := binary.Uvarint(h.src)
	if n <= 0 || header>>1 > 1<<31 {
		return errCutOff
	}
	h.src = h.src[n:]
	if header&1 == 1 {
		h.left = int(header>>1) * 8
		size := int(header>>1) * int(h.width)
		if size > len(h.src) {
			// Some writers leave out the padding of the last group.
			size = len(h.src)
			h.left = size * 8 / int(h.width)
		}
		h.packed, h.bit = h.src[:size:size], 0
		h.src = h.src[size:]
		return nil
	}
	h.left, h.packed, h.value = int(header>>1), nil, 0
	size := h.size()
	if size > len(h.src) {
		return errCutOff
	}
	for i, b := range h.src[:size] {
		h.value |= uint32(b) << (8 * i)
	}
	h.src = h.src[size:]
	return nil
}

// Some writers, DuckDB before version 1.2 among them, store nothing but repeated runs, most of them of one or two values. The functions that begin with short read such
// runs with no more than a load and a store for each: those of up to shortRun values whose header is a byte.
const shortRun = 8

// size returns how many bytes the value of a repeated run takes.
func (h *hybrid) size() int { return int(h.width+7) / 8 }

// shortRuns stores the values of short runs as long as dst has the capacity for one, and returns what is left of dst.
func (h *hybrid) shortRuns(dst []uint32) []uint32 {
	src, size := h.src, h.size()
	mask := uint32(uint64(1)<<(8*size) - 1)
	for len(dst) >= shortRun && len(src) >= 8 {
		x := binary.LittleEndian.Uint64(src)
		if x&1 == 1 || x&0xff > 2*shortRun {
			break
		}
		value, d := uint32(x>>8)&mask, dst[:shortRun:shortRun]
		d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = value, value, value, value, value, value, value, value
		dst, src = dst[x>>1&0x7f:], src[1+size:]
	}
	h.src = src
	return dst
}

// shortByteRuns is shortRuns for values of at most 8 bits.
func (h *hybrid) shortByteRuns(dst []uint8) []uint8 {
	src, size := h.src, h.size()
	for len(dst) >= shortRun && len(src) >= 2 {
		n := uint(src[0])
		if n&1 == 1 || n > 2*shortRun || size == 0 {
			break
		}
		binary.LittleEndian.PutUint64(dst, uint64(src[1])*0x0101010101010101)
		dst, src = dst[n>>1:], src[2:]
	}
	h.src = src
	return dst
}

// passShortRuns passes over runs of at most 63 values that have no more than n together, and returns how many of n are left.
func (h *hybrid) passShortRuns(n int) int {
	src, size := h.src, h.size()
	for len(src) > size && src[0] < 0x80 && src[0]&1 == 0 && int(src[0]>>1) <= n {
		n -= int(src[0] >> 1)
		src = src[1+size:]
	}
	h.src = src
	return n
}

// decode fills dst.
func (h *hybrid) decode(dst []uint32) error {
	for len(dst) > 0 {
		if h.left == 0 {
			if dst = h.shortRuns(dst); len(dst) == 0 {
				break
			}
			if err := h.begin(); err != nil {
				return err
			}
		}
		n := min(len(dst), h.left)
		if h.packed != nil || h.width == 0 {
			unpack(dst[:n], h.packed, h.bit, h.width)
			h.bit += n * int(h.width)
		} else {
			for i := range dst[:n] {
				dst[i] = h.value
			}
		}
		dst = dst[n:]
		h.left -= n
	}
	return nil
}

// decodeBytes fills dst with values of at most 8 bits.
func (h *hybrid) decodeBytes(dst []uint8) error {
	for len(dst) > 0 {
		if h.left == 0 {
			if dst = h.shortByteRuns(dst); len(dst) == 0 {
				break
			}
			if err := h.begin(); err != nil {
				return err
			}
		}
		n := min(len(dst), h.left)
		if h.packed != nil || h.width == 0 {
			unpackBytes(dst[:n], h.packed, h.bit, h.width)
			h.bit += n * int(h.width)
		} else {
			for i := range dst[:n] {
				dst[i] = uint8(h.value)
			}
		}
		dst = dst[n:]
		h.left -= n
	}
	return nil
}

// pass passes over n values.
func (h *hybrid) pass(n int) error {
	for n > 0 {
		if h.left == 0 {
			if n = h.passShortRuns(n); n == 0 {
				break
			}
			if err := h.begin(); err != nil {
				return err
			}
		}
		m := min(n, h.left)
		h.bit += m * int(h.width)
		h.left -= m
		n -= m
	}
	return nil
}

// decodeAt fills dst with the values at ascending positions among the next n ones, and passes over the others.
func (h *hybrid) decodeAt(dst []uint32, positions []int32, n int) error {
	mask := uint64(1)<<h.width - 1
	first := 0
	for i := 0; i < len(positions); {
		if err := h.pass(int(positions[i]) - first); err != nil {
			return err
		}
		first = int(positions[i])
		if h.left == 0 {
			if err := h.begin(); err != nil {
				return err
			}
		}
		m := min(n-first, h.left)
		for ; i < len(positions) && int(positions[i]) < first+m; i++ {
			switch {
			case h.width == 0:
				dst[i] = 0
			case h.packed == nil:
				dst[i] = h.value
			default:
				dst[i] = uint32(loadBits(h.packed, h.bit+(int(positions[i])-first)*int(h.width), h.width) & mask)
			}
		}
		h.bit += m * int(h.width)
		h.left -= m
		first += m
	}
	return h.pass(n - first)
}

// validity decodes n bits into a bitmap, from bit at on. The bitmap stays nil as long as all bits are set; it is made for
// rows bits. ones is how many are set.
func (h *hybrid) validity(valid column.Bitmap, rows, at, n int) (_ column.Bitmap, ones int, err error) {
	for end := at + n; at < end; {
		if h.left == 0 {
			if err := h.begin(); err != nil {
				return nil, 0, err
			}
		}
		m := min(end-at, h.left)
		h.left -= m
		if h.packed == nil && h.value == 1 {
			if valid != nil {
				column.CopyBits(valid, at, nil, 0, m)
			}
			ones += m
			at += m
			continue
		}
		if valid == nil {
			valid = column.NewBitmap(rows, true)
		}
		if h.packed == nil {
			for i := at; i < at+m; i++ {
				valid.Clear(i)
			}
			at += m
			continue
		}
		bits := words(h.packed[h.bit/8 : (h.bit+m+7)/8])
		ones += m - bits.CountZerosIn(h.bit%8, m)
		column.CopyBits(valid, at, bits, h.bit%8, m)
		h.bit += m
		at += m
	}
	return valid, ones, nil
}

// words returns bytes as the words of a bitmap.
func words(b []byte) column.Bitmap {
	out := make(column.Bitmap, (len(b)+7)/8)
	for i, x := range b {
		out[i/8] |= uint64(x) << (8 * (i % 8))
	}
	return out
}

// unpack fills dst with values of width bits that begin at a bit of src, the lowest bit of each first.
func unpack(dst []uint32, src []byte, bit int, width uint) {
	if width == 0 {
		clear(dst)
		return
	}
	// A load of 8 bytes has four values of up to 14 bits, or two of up to 28, whatever the bit that it begins at. Two loads at once do not wait for each other.
	mask := uint32(1<<width - 1)
	two, three := 2*width&63, 3*width&63
	i := 0
	switch w := int(width); {
	case width <= 14:
		for ; i+8 <= len(dst) && (bit+4*w)>>3+8 <= len(src); i += 8 {
			x := binary.LittleEndian.Uint64(src[bit>>3:]) >> (uint(bit) & 7)
			bit += 4 * w
			y := binary.LittleEndian.Uint64(src[bit>>3:]) >> (uint(bit) & 7)
			bit += 4 * w
			d := dst[i : i+8 : i+8]
			d[0], d[1], d[2], d[3] = uint32(x)&mask, uint32(x>>(width&63))&mask, uint32(x>>two)&mask, uint32(x>>three)&mask
			d[4], d[5], d[6], d[7] = uint32(y)&mask, uint32(y>>(width&63))&mask, uint32(y>>two)&mask, uint32(y>>three)&mask
		}
	case width <= 28:
		for ; i+4 <= len(dst) && (bit+2*w)>>3+8 <= len(src); i += 4 {
			x := binary.LittleEndian.Uint64(src[bit>>3:]) >> (uint(bit) & 7)
			bit += 2 * w
			y := binary.LittleEndian.Uint64(src[bit>>3:]) >> (uint(bit) & 7)
			bit += 2 * w
			d := dst[i : i+4 : i+4]
			d[0], d[1], d[2], d[3] = uint32(x)&mask, uint32(x>>(width&63))&mask, uint32(y)&mask, uint32(y>>(width&63))&mask
		}
	}
	for ; i < len(dst) && bit>>3+8 <= len(src); i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(src[bit>>3:])>>(uint(bit)&7)) & mask
		bit += int(width)
	}
	for ; i < len(dst); i++ {
		x := uint64(0)
		for j, b := range src[bit>>3 : (bit+int(width)+7)>>3] {
			x |= uint64(b) << (8 * j)
		}
		dst[i] = uint32(x>>(uint(bit)&7)) & mask
		bit += int(width)
	}
}

// unpackBytes is unpack for values of at most 8 bits; the bit is a multiple of the width. It spreads eight at once: their upper half goes to the upper 32 bits, then the upper halves of both halves, then of those.
func unpackBytes(dst []uint8, src []byte, bit int, width uint) {
	if width == 0 {
		clear(dst)
		return
	}
	const halves, quarters = 1<<32 + 1, 1<<48 + 1<<32 + 1<<16 + 1
	four := uint64(1)<<(4*width) - 1
	two := (uint64(1)<<(2*width) - 1) * halves
	one := (uint64(1)<<width - 1) * quarters
	by4, by2, by1 := (32-4*width)&63, (16-2*width)&63, (8-width)&63
	i := 0
	for ; i+8 <= len(dst) && bit>>3+8 <= len(src); i += 8 {
		x := binary.LittleEndian.Uint64(src[bit>>3:]) >> (uint(bit) & 7)
		x = x&four | (x&(four<<(4*width&63)))<<by4
		x = x&two | (x&(two<<(2*width&63)))<<by2
		x = x&one | (x&(one<<(width&63)))<<by1
		binary.LittleEndian.PutUint64(dst[i:], x)
		bit += 8 * int(width)
	}
	mask := uint64(1)<<width - 1
	for ; i < len(dst); i++ {
		x := uint64(src[bit>>3])
		if last := (bit + int(width) - 1) >> 3; last > bit>>3 {
			x |= uint64(src[last]) << 8
		}
		dst[i] = uint8(x >> (uint(bit) & 7) & mask)
		bit += int(width)
	}
}
