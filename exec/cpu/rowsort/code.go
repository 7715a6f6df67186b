package rowsort

import (
	"math"
	"math/bits"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Code gives a key's values in some rows codes of width bits, in the values' order, NULLs first. It is made for these rows:
// their range says how many bits there are.
type Code struct {
	*Key
	wide   bool   // 128-bit values that differ by more than 64 bits hold: words are the upper halves
	origin uint64 // the lower half of the least of 128-bit values that are not wide
	text   *stringCode
	skip   int    // bytes at the beginning of strings that are alike in all rows, where there is no stringCode
	base   uint64 // the least word
	null   uint64 // 1 if there is a code for NULL
	drop   uint   // bits of words that do not fit
	width  uint
	whole  bool // equal codes mean equal values
}

// Rows are rows, or if that is nil those from from on.
type Rows struct {
	Rows []int32
	From int
}

func (r Rows) At(i int) int {
	if r.Rows != nil {
		return int(r.Rows[i])
	}
	return r.From + i
}

func (r Rows) slice(from, to int) Rows {
	if r.Rows != nil {
		return Rows{Rows: r.Rows[from:to]}
	}
	return Rows{From: r.From + from}
}

// Words stores words in dst whose unsigned order is that of the values, whatever it stores for NULLs.
func (k *Code) Words(dst []uint64, r Rows) {
	v := k.V
	switch v.Type.Phys() {
	case types.PhysInt64:
		if r.Rows == nil {
			for i, x := range v.I64[r.From : r.From+len(dst)] {
				dst[i] = uint64(x) ^ 1<<63
			}
			return
		}
		for i, p := range r.Rows[:len(dst)] {
			dst[i] = uint64(v.I64[p]) ^ 1<<63
		}
	case types.PhysUint64:
		for i := range dst {
			dst[i] = uint64(v.I64[r.At(i)])
		}
	case types.PhysFloat64:
		for i := range dst {
			dst[i] = types.FloatWord(v.F64[r.At(i)])
		}
	case types.PhysInt128:
		for i := range dst {
			if x := v.I128[r.At(i)]; k.wide {
				dst[i] = uint64(x.Hi) ^ 1<<63
			} else {
				dst[i] = x.Lo - k.origin
			}
		}
	case types.PhysString:
		if k.ranks != nil {
			for i := range dst {
				dst[i] = uint64(k.ranks[v.Codes[r.At(i)]])
			}
			return
		}
		if k.text != nil {
			k.text.words(dst, v, r)
			return
		}
		for i := range dst {
			dst[i] = stringWord(v.StringAt(r.At(i)), k.skip)
		}
	}
}

// stringWord returns eight bytes from skip on as a big-endian number, zeros behind the string's end.
func stringWord(s string, skip int) uint64 {
	if len(s) <= skip {
		return 0
	}
	s = s[skip:]
	if len(s) >= 8 {
		return uint64(s[7]) | uint64(s[6])<<8 | uint64(s[5])<<16 | uint64(s[4])<<24 |
			uint64(s[3])<<32 | uint64(s[2])<<40 | uint64(s[1])<<48 | uint64(s[0])<<56
	}
	x := uint64(0)
	for i := range len(s) {
		x |= uint64(s[i]) << (56 - 8*i)
	}
	return x
}

// codeRows is the number of rows whose words are made at a time.
const codeRows = column.VectorSize

// eachRows runs f for runs of rows, in order or by several workers.
type eachRows func(n int, f func(from, to int)) error

// newCode looks at n rows. Codes get left bits at most.
func newCode(key *Key, r Rows, n int, left uint, each eachRows) (Code, error) {
	k := Code{Key: key, whole: true}
	v := key.V
	if v.Valid != nil {
		k.null = 1
	}
	var err error
	all, equal := true, false // whether words hold values whole; whether all values are equal
	switch {
	case v.Type.Phys() == types.PhysInt128:
		var span types.Int128
		if k.origin, span, err = wideRange(v, r, n, each); err != nil {
			return k, err
		}
		k.wide, all = span.Hi != 0, span.Hi == 0
	case v.Type.Phys() == types.PhysString && k.ranks == nil && n >= stringsCoded:
		code, err := newStringCode(v, r, n, each)
		if err != nil {
			return k, err
		}
		k.text = &code
		k.fit(span{hi: code.size - 1, any: true}, left)
		k.whole = code.whole && k.drop == 0
		return k, nil
	case v.Type.Phys() == types.PhysString && k.ranks == nil:
		if k.skip, equal, err = commonPrefix(v, r, n, each); err != nil {
			return k, err
		}
		all = equal
	}
	words, err := k.wordRange(r, n, each)
	if err != nil || !words.any || equal {
		k.width = uint(k.null)
		return k, err
	}
	k.fit(words, left)
	k.whole = all && k.drop == 0
	return k, nil
}

// fit chooses how words of a range become codes of at most left bits.
func (k *Code) fit(words span, left uint) {
	k.base = words.lo
	for ; ; k.drop++ {
		top := (words.hi-words.lo)>>k.drop + k.null
		k.width = uint(bits.Len64(top))
		if top >= k.null && k.width <= left { // else NULL's code has made it overflow, or it does not fit
			return
		}
	}
}

// codes stores the codes of rows in dst.
func (k *Code) codes(dst []uint64, r Rows) {
	if k.width == 0 {
		clear(dst)
		return
	}
	k.Words(dst, r)
	base, drop, null := k.base, k.drop, k.null
	flip := uint64(0)
	if k.desc {
		flip = math.MaxUint64 >> (64 - k.width)
	}
	if k.V.Valid == nil {
		for i, x := range dst {
			dst[i] = (x-base)>>drop ^ flip
		}
		return
	}
	for i, x := range dst {
		if k.V.Valid.Get(r.At(i)) {
			dst[i] = ((x-base)>>drop + null) ^ flip
		} else {
			dst[i] = flip
		}
	}
}

// merged runs f over runs of rows, by several workers where each does, and hands what it returns to merge, one at a time.
func merged[T any](n int, each eachRows, f func(from, to int) T, merge func(T)) error {
	var mu sync.Mutex
	return each(n, func(from, to int) {
		x := f(from, to)
		mu.Lock()
		defer mu.Unlock()
		merge(x)
	})
}

// span is a range of words.
type span struct {
	lo, hi uint64
	any    bool
}

// wordRange returns the least and the greatest word of values that are not NULL.
func (k *Code) wordRange(r Rows, n int, each eachRows) (all span, err error) {
	err = merged(n, each, func(from, to int) (s span) {
		var buf [codeRows]uint64
		s.lo = math.MaxUint64
		for ; from < to; from += codeRows {
			words := buf[:min(codeRows, to-from)]
			part := r.slice(from, from+len(words))
			k.Words(words, part)
			for i, x := range words {
				if k.V.Valid == nil || k.V.Valid.Get(part.At(i)) {
					s.lo, s.hi, s.any = min(s.lo, x), max(s.hi, x), true
				}
			}
		}
		return s
	}, func(s span) {
		switch {
		case !s.any:
		case !all.any:
			all = s
		default:
			all.lo, all.hi = min(all.lo, s.lo), max(all.hi, s.hi)
		}
	})
	return all, err
}

// wideRange returns the lower half of the least of 128-bit values and how far the greatest lies above the least.
func wideRange(v *column.Vector, r Rows, n int, each eachRows) (base uint64, width types.Int128, err error) {
	type bounds struct {
		lo, hi types.Int128
		any    bool
	}
	var all bounds
	add := func(b *bounds, lo, hi types.Int128) {
		if !b.any || lo.Cmp(b.lo) < 0 {
			b.lo = lo
		}
		if !b.any || hi.Cmp(b.hi) > 0 {
			b.hi = hi
		}
		b.any = true
	}
	err = merged(n, each, func(from, to int) (b bounds) {
		for i := from; i < to; i++ {
			if p := r.At(i); v.Valid == nil || v.Valid.Get(p) {
				add(&b, v.I128[p], v.I128[p])
			}
		}
		return b
	}, func(b bounds) {
		if b.any {
			add(&all, b.lo, b.hi)
		}
	})
	lo, borrow := bits.Sub64(all.hi.Lo, all.lo.Lo, 0)
	hi, _ := bits.Sub64(uint64(all.hi.Hi), uint64(all.lo.Hi), borrow)
	return all.lo.Lo, types.Int128{Hi: int64(hi), Lo: lo}, err
}

// commonPrefix returns how many bytes all strings begin with alike, and whether they are equal.
func commonPrefix(v *column.Vector, r Rows, n int, each eachRows) (skip int, equal bool, err error) {
	first, any := "", false
	for i := range n {
		if p := r.At(i); v.Valid == nil || v.Valid.Get(p) {
			first, any = v.StringAt(p), true
			break
		}
	}
	if !any {
		return 0, true, nil
	}
	type common struct {
		skip  int
		equal bool
	}
	all := common{len(first), true}
	err = merged(n, each, func(from, to int) common {
		c := common{len(first), true}
		for i := from; i < to; i++ {
			p := r.At(i)
			if v.Valid != nil && !v.Valid.Get(p) {
				continue
			}
			s := v.StringAt(p)
			c.equal = c.equal && len(s) == len(first)
			c.skip = min(c.skip, len(s))
			for k := range c.skip {
				if s[k] != first[k] {
					c.skip, c.equal = k, false
					break
				}
			}
		}
		return c
	}, func(c common) {
		all.skip, all.equal = min(all.skip, c.skip), all.equal && c.equal
	})
	return all.skip, all.equal, err
}
