package spill

import (
	"encoding/binary"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// The rows of a partition in a run are their number, 4 bytes, and column after column: a byte of flags, a bit for each row that is NULL where there is one, and the
// values. Words are offsets from the least one, in 0, 1, 2, 4 or 8 bytes each. Strings are their lengths, as words, and their bytes.
const (
	hasNulls  = 1 << iota
	isCoded   // codes of the dictionary
	isTwoWord // numbers of 128 bits that need all of them
)

// encode appends the rows.
func (b *block) encode(out []byte, rows []int32) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(rows)))
	var words [column.VectorSize]uint64
	for c := range b.cols {
		x := &b.cols[c]
		flags := byte(0)
		if x.any && slices.ContainsFunc(rows, func(r int32) bool { return x.nulls[r] }) {
			flags |= hasNulls
		}
		if b.coded[c] {
			flags |= isCoded
		}
		if x.phys == types.PhysInt128 && slices.ContainsFunc(rows, func(r int32) bool { return x.high[r] != int64(x.words[r])>>63 }) {
			flags |= isTwoWord
		}
		out = append(out, flags)
		if flags&hasNulls != 0 {
			out = x.encodeNulls(out, rows)
		}
		strings := x.phys == types.PhysString && !b.coded[c]
		out = encodeWords(out, words[:], rows, func(dst []uint64, rows []int32) {
			if strings {
				for i, r := range rows {
					from, to := x.bounds(r)
					dst[i] = uint64(to - from)
				}
				return
			}
			for i, r := range rows {
				dst[i] = x.words[r]
			}
		})
		if flags&isTwoWord != 0 {
			out = encodeWords(out, words[:], rows, func(dst []uint64, rows []int32) {
				for i, r := range rows {
					dst[i] = uint64(x.high[r])
				}
			})
		}
		if strings {
			for _, r := range rows {
				from, to := x.bounds(r)
				out = append(out, x.strings[from:to]...)
			}
		}
	}
	return out
}

// bounds is where the string of a row lies.
func (x *blockColumn) bounds(r int32) (from, to uint32) {
	if r > 0 {
		from = x.ends[r-1]
	}
	return from, x.ends[r]
}

func (x *blockColumn) encodeNulls(out []byte, rows []int32) []byte {
	at := len(out)
	out = append(out, make([]byte, (len(rows)+7)/8)...)
	for i, r := range rows {
		if x.nulls[r] {
			out[at+i/8] |= 1 << (i & 7)
		}
	}
	return out
}

// encodeWords appends the words of rows, which gather stores, some at a time: a byte that says how many bytes each takes, the least word if it is not 8, and
// the offsets.
func encodeWords(out []byte, words []uint64, rows []int32, gather func(dst []uint64, rows []int32)) []byte {
	first, last := int64(0), int64(0)
	each := func(f func([]uint64)) {
		for from := 0; from < len(rows); from += len(words) {
			part := rows[from:min(from+len(words), len(rows))]
			gather(words[:len(part)], part)
			f(words[:len(part)])
		}
	}
	begun := false
	each(func(words []uint64) {
		if !begun {
			first, last, begun = int64(words[0]), int64(words[0]), true
		}
		for _, w := range words {
			first, last = min(first, int64(w)), max(last, int64(w))
		}
	})
	width := widthOf(uint64(last) - uint64(first))
	out = append(out, byte(width))
	least := uint64(first)
	if width == 8 {
		least = 0
	} else {
		out = binary.LittleEndian.AppendUint64(out, least)
	}
	out = slices.Grow(out, width*len(rows))
	each(func(words []uint64) {
		at := len(out)
		out = out[:at+width*len(words)]
		dst := out[at:]
		switch width {
		case 1:
			for i, w := range words {
				dst[i] = byte(w - least)
			}
		case 2:
			for i, w := range words {
				binary.LittleEndian.PutUint16(dst[2*i:], uint16(w-least))
			}
		case 4:
			for i, w := range words {
				binary.LittleEndian.PutUint32(dst[4*i:], uint32(w-least))
			}
		case 8:
			for i, w := range words {
				binary.LittleEndian.PutUint64(dst[8*i:], w)
			}
		}
	})
	return out
}

// widthOf returns the bytes of offsets up to span.
func widthOf(span uint64) int {
	switch {
	case span == 0:
		return 0
	case span < 1<<8:
		return 1
	case span < 1<<16:
		return 2
	case span < 1<<32:
		return 4
	}
	return 8
}
