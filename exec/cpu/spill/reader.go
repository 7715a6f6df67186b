package spill

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/types"
)

// reader reads the rows of a partition in one run after the other.
type reader struct {
	rows   *Rows
	types  []types.Type // of the columns that are decoded, the first ones
	mem    memory.Account
	bytes  []byte
	left   []byte // not decoded yet
	n      int
	cols   []*column.Vector
	words  []uint64
	high   []uint64
	most   int // rows of what was read
	hasher keyhash.Hasher
	hashes []uint64
	sel    []int32
}

// read reads and decodes what lies at a position of the file.
func (x *reader) read(at int64, size int) error {
	if err := x.reserve(size); err != nil {
		return err
	}
	x.bytes = slices.Grow(x.bytes[:0], size)[:size]
	if err := x.rows.q.Temp.Read(x.bytes, at); err != nil {
		return err
	}
	x.n = int(binary.LittleEndian.Uint32(x.bytes))
	x.left = x.bytes[4:]
	x.most = max(x.most, x.n)
	if err := x.reserve(size); err != nil {
		return err
	}
	if x.cols == nil {
		for _, t := range x.types {
			x.cols = append(x.cols, &column.Vector{Type: t})
		}
	}
	for c, v := range x.cols {
		x.decode(v, c)
	}
	return nil
}

// reserve counts what size bytes and their rows take: the bytes of strings are copied.
func (x *reader) reserve(size int) error {
	return x.mem.Set(int64(max(cap(x.bytes), size)+size) + x.held(x.most))
}

// held is what n decoded rows take.
func (x *reader) held(n int) int64 {
	width := int64(8 + 8 + 8 + 4)
	for _, t := range x.types {
		width += (&column.Vector{Type: t}).Width() + 1
	}
	return width * int64(n)
}

// decode makes column c.
func (x *reader) decode(v *column.Vector, c int) {
	flags := x.left[0]
	x.left = x.left[1:]
	var nulls []byte
	if flags&hasNulls != 0 {
		nulls, x.left = x.left[:(x.n+7)/8], x.left[(x.n+7)/8:]
	}
	x.words = x.decodeWords(x.words)
	switch phys := v.Type.Phys(); {
	case flags&isCoded != 0:
		v.ReserveCodes(x.rows.dicts[c], x.n)
		for i, w := range x.words {
			v.Codes[i] = uint32(w)
		}
	case phys == types.PhysString:
		x.decodeStrings(v)
	case phys == types.PhysFloat64:
		v.Reserve(x.n)
		for i, w := range x.words {
			v.F64[i] = math.Float64frombits(w)
		}
	case phys == types.PhysInt128:
		v.Reserve(x.n)
		for i, w := range x.words {
			v.I128[i] = types.Int128{Lo: w, Hi: int64(w) >> 63}
		}
		if flags&isTwoWord != 0 {
			x.high = x.decodeWords(x.high)
			for i, w := range x.high {
				v.I128[i].Hi = int64(w)
			}
		}
	default:
		v.Reserve(x.n)
		for i, w := range x.words {
			v.I64[i] = int64(w)
		}
	}
	if nulls != nil {
		v.Valid = column.NewBitmap(x.n, true)
		for i := range x.n {
			if nulls[i/8]>>(i&7)&1 != 0 {
				v.Valid.Clear(i)
			}
		}
	}
}

// decodeStrings makes a column of strings, whose lengths are the words.
func (x *reader) decodeStrings(v *column.Vector) {
	v.ReserveLoose(x.n)
	size := uint64(0)
	for _, w := range x.words {
		size += w
	}
	all := string(x.left[:size])
	x.left = x.left[size:]
	for i, w := range x.words {
		v.Str[i], all = all[:w], all[w:]
	}
}

// decodeWords decodes words into dst's memory.
func (x *reader) decodeWords(dst []uint64) []uint64 {
	width := int(x.left[0])
	x.left = x.left[1:]
	dst = slices.Grow(dst[:0], x.n)[:x.n]
	least := uint64(0)
	if width < 8 {
		least, x.left = binary.LittleEndian.Uint64(x.left), x.left[8:]
	}
	from := x.left[:width*x.n]
	x.left = x.left[len(from):]
	switch width {
	case 0:
		for i := range dst {
			dst[i] = least
		}
	case 1:
		for i := range dst {
			dst[i] = least + uint64(from[i])
		}
	case 2:
		for i := range dst {
			dst[i] = least + uint64(binary.LittleEndian.Uint16(from[2*i:]))
		}
	case 4:
		for i := range dst {
			dst[i] = least + uint64(binary.LittleEndian.Uint32(from[4*i:]))
		}
	case 8:
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint64(from[8*i:])
		}
	}
	return dst
}

// within returns the positions of rows whose hashes lie in a range.
func (x *reader) within(of Range) []int32 {
	if of.IsWhole() {
		x.sel = vec.CountFrom(x.sel[:0], 0, x.n)
		return x.sel
	}
	x.hashes = slices.Grow(x.hashes[:0], x.n)[:x.n]
	all := vec.CountFrom(nil, 0, x.n)
	x.hasher.Hash(x.hashes, x.cols[:x.rows.keys], all, x.n)
	x.sel = x.sel[:0]
	for i, h := range x.hashes {
		if of.Has(h) {
			x.sel = append(x.sel, int32(i))
		}
	}
	return x.sel
}
