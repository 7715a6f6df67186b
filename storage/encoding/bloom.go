package encoding

import (
	"math/bits"
	"sync/atomic"
)

// Bloom is a Bloom filter of integers in blocks of one word (Putze, Sanders, Singler 2007). An integer sets three bits, all of one word, so a test reads
// memory once. With 16 bits for each member about one in 100 other integers passes, with 8 bits one in 25.
type Bloom struct {
	words []uint64
	shift uint
}

// BloomBytes returns the memory of a filter of so many members, which is at most 16 bits and at least 8 of each.
func BloomBytes(members int) int { return 8 << bits.Len(uint(max(members, 16)/8)) }

// NewBloom returns an empty filter for about so many members.
func NewBloom(members int) *Bloom {
	words := BloomBytes(members) / 8
	return &Bloom{words: make([]uint64, words), shift: uint(64 - bits.TrailingZeros(uint(words)))}
}

// locate returns the word and the bits of an integer. The word's number is the top of the hash, the bits are from its middle, as the lowest
// bits of a product depend on few of its factor's.
func (b *Bloom) locate(m int64) (word, mask uint64) {
	h := uint64(m) * 0x9E3779B97F4A7C15
	h ^= h >> 32
	h *= 0xBF58476D1CE4E5B9
	return h >> b.shift, 1<<(h>>32&63) | 1<<(h>>26&63) | 1<<(h>>20&63)
}

// Add adds members. Several goroutines may do so at once.
func (b *Bloom) Add(members []int64) {
	for _, m := range members {
		word, mask := b.locate(m)
		if w := &b.words[word]; atomic.LoadUint64(w)&mask != mask {
			atomic.OrUint64(w, mask)
		}
	}
}

// bit returns 1 if m may be a member, else 0.
func (b *Bloom) bit(m int64) int {
	word, mask := b.locate(m)
	return one(b.words[word]&mask == mask)
}
