package encoding

import (
	"math/bits"
	"slices"
)

// IntSet is an immutable set of 64-bit integers: a bitmap where they lie close together, else an open hash table.
// Unsigned integers go in as their bits.
type IntSet struct {
	min, max int64 // of the members as signed integers
	count    int
	// The bitmap: member m has bit m-min. A last word of zeros takes all that lies outside.
	words []uint64
	span  uint64
	// The hash table, linear probing, a power of two and at most half full. 0 marks a free slot, so 0 itself stands
	// in hasZero.
	slots   []int64
	shift   uint
	hasZero bool
	few     []int64 // the members, if they are at most maxFew and there is no bitmap
	sorted  []int64 // the members in order, if there is no bitmap
	bloom   *Bloom  // instead of all these: what holds the members, and a few other integers
}

// maxFew is the number of members up to which comparing with each beats hashing.
const maxFew = 6

// bitmapSpread is the number of bits per member up to which a bitmap is chosen: it is then no larger than a hash table.
const bitmapSpread = 128

// NewIntSet returns the set of the given integers. It does not keep the slice.
func NewIntSet(members []int64) *IntSet {
	s := &IntSet{}
	if len(members) == 0 {
		s.words = []uint64{0}
		return s
	}
	s.min, s.max = slices.Min(members), slices.Max(members)
	s.span = uint64(s.max) - uint64(s.min)
	if s.span < bitmapSpread*uint64(len(members))+1024 {
		s.words = make([]uint64, s.span/64+2)
		for _, m := range members {
			d := uint64(m) - uint64(s.min)
			s.words[d/64] |= 1 << (d % 64)
		}
		for _, w := range s.words {
			s.count += bits.OnesCount64(w)
		}
		return s
	}
	size := 1 << bits.Len(uint(2*len(members)-1))
	s.slots, s.shift = make([]int64, size), uint(64-bits.TrailingZeros(uint(size)))
	for _, m := range members {
		s.insert(m)
	}
	s.sorted = slices.Clone(members)
	slices.Sort(s.sorted)
	s.sorted = slices.Compact(s.sorted)
	if len(s.sorted) <= maxFew {
		s.few = s.sorted
	}
	return s
}

// between returns a set that has the same members from lo to hi: a smaller one if that is easily told.
func (s *IntSet) between(lo, hi int64) *IntSet {
	from, _ := slices.BinarySearch(s.sorted, lo)
	to, found := slices.BinarySearch(s.sorted, hi)
	if found {
		to++
	}
	if s.words != nil || s.bloom != nil || to-from > len(s.sorted)/2 {
		return s
	}
	return NewIntSet(s.sorted[from:to])
}

// NewIntBitmap returns the set of the integers min+i for every set bit i of words. It keeps words, and uses the capacity behind them, if there is
// any, for a word of zeros.
func NewIntBitmap(min int64, words []uint64) *IntSet {
	s := &IntSet{min: min, words: append(words, 0), span: uint64(len(words)) * 64}
	for _, w := range words {
		s.count += bits.OnesCount64(w)
	}
	if s.span > 0 {
		s.span--
	}
	s.max = int64(uint64(min) + s.span)
	return s
}

// NewIntBloom returns the set of the integers from lo to hi that b may have. It has all that were added, and few others.
func NewIntBloom(lo, hi int64, b *Bloom) *IntSet {
	return &IntSet{min: lo, max: hi, span: uint64(hi) - uint64(lo), count: 1, bloom: b}
}

// Len returns the number of members; of a Bloom filter, which does not know it, 1.
func (s *IntSet) Len() int { return s.count }

// cost is about how many comparisons with a constant the search for an integer takes. What hashes may miss the caches.
func (s *IntSet) cost() float64 {
	switch {
	case s.words != nil:
		return 1
	case s.few != nil:
		return float64(max(len(s.few), 1))
	default:
		return 8
	}
}

// hash is Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4): the leading bits of a product with 2^64 / the golden ratio.
func (s *IntSet) hash(m int64) uint64 { return uint64(m) * 0x9E3779B97F4A7C15 >> s.shift }

func (s *IntSet) insert(m int64) {
	if m == 0 {
		if !s.hasZero {
			s.hasZero = true
			s.count++
		}
		return
	}
	mask := uint64(len(s.slots) - 1)
	i := s.hash(m)
	for s.slots[i] != 0 {
		if s.slots[i] == m {
			return
		}
		i = (i + 1) & mask
	}
	s.slots[i] = m
	s.count++
}

// Contains says whether m is a member.
func (s *IntSet) Contains(m int64) bool {
	if s.words != nil {
		return s.bit(m) != 0
	}
	if s.bloom != nil {
		return uint64(m)-uint64(s.min) <= s.span && s.bloom.bit(m) != 0
	}
	if m == 0 {
		return s.hasZero
	}
	mask := uint64(len(s.slots) - 1)
	for i := s.hash(m); ; i = (i + 1) & mask {
		if s.slots[i] == m {
			return true
		}
		if s.slots[i] == 0 {
			return false
		}
	}
}

// mark stores 1^flip for each of base, base+1, ... that is a member, flip for each that is none, and returns how many ones it stored.
func (s *IntSet) mark(table []uint8, base int64, flip uint8) int {
	found := 0
	if s.words == nil {
		for i := range table {
			hit := uint8(one(s.Contains(base+int64(i)))) ^ flip
			table[i] = hit
			found += int(hit)
		}
		return found
	}
	first := uint64(base) - uint64(s.min)
	last := uint64(len(s.words)-1) * 64
	for i := range table {
		d := min(first+uint64(i), last)
		hit := uint8(s.words[d>>6]>>(d&63)&1) ^ flip
		table[i] = hit
		found += int(hit)
	}
	return found
}

// bit returns 1 if m is a member of a bitmap's set, else 0.
func (s *IntSet) bit(m int64) uint64 {
	d := uint64(m) - uint64(s.min)
	if last := uint64(len(s.words)-1) * 64; d > last {
		d = last // the word of zeros
	}
	return s.words[d/64] >> (d % 64) & 1
}
