package grouptable

import (
	"slices"

	"github.com/radish-sql/radish/exec/cpu/keyhash"
)

// Keys of several words. A slot has the upper half of a hash, as those of strings do, so that words are compared only where they are most likely
// equal. Hashes are not kept: they are computed from the words again.

func hashWide(words []uint64) uint64 {
	h := keyhash.Int(words[0])
	for _, w := range words[1:] {
		h = keyhash.Pair(h, w)
	}
	return h
}

// wordsOf returns the words of a group's key.
func (t *Table) wordsOf(g uint32) []uint64 {
	n := t.Layout.words
	return t.Words[int(g)*n:][:n:n]
}

// lookupWide finds the groups of the n keys in t.packed. Slots are read before words, so that the misses of many keys overlap.
func (t *Table) lookupWide(n int, out []uint32) {
	if need := slotsFor(t.Count + n); need > len(t.slots3) {
		t.growHashed(need)
	}
	t.hashes = slices.Grow(t.hashes[:0], n)[:n]
	hashes := t.hashes
	for i, w := range t.packed[0][:n] {
		hashes[i] = keyhash.Int(w)
	}
	for _, words := range t.packed[1:] {
		words = words[:len(hashes)]
		for i, h := range hashes {
			hashes[i] = keyhash.Pair(h, words[i])
		}
	}
	slots, mask := t.slots3, t.mask
	for i, h := range hashes {
		at := t.slot(h)
		s := slots[at]
		for s != 0 && uint64(s)>>32 != h>>32 {
			at = (at + 1) & mask
			s = slots[at]
		}
		out[i] = uint32(s)
	}
	for i, g := range out[:n] {
		if g != 0 && t.isWide(g-1, i) {
			out[i] = g - 1
			continue
		}
		out[i] = t.lookupWideKey(i)
	}
}

// isWide says whether the i-th key of t.packed is that of a group.
func (t *Table) isWide(g uint32, i int) bool {
	differ := uint64(0)
	for k, w := range t.wordsOf(g) {
		differ |= w ^ t.packed[k][i]
	}
	return differ == 0
}

// lookupWideKey finds the group of the i-th key of t.packed, for which there is a free slot.
func (t *Table) lookupWideKey(i int) uint32 {
	hash := t.hashes[i]
	at := t.slot(hash)
	for {
		s := t.slots3[at]
		if s == 0 {
			for _, words := range t.packed {
				t.Words = append(t.Words, words[i])
			}
			t.slots3[at] = newHashSlot(hash, t.Count)
			t.Count++
			return uint32(t.Count - 1)
		}
		if uint64(s)>>32 == hash>>32 && t.isWide(uint32(s)-1, i) {
			return uint32(s) - 1
		}
		at = (at + 1) & t.mask
	}
}
