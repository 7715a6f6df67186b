package kernel

import "math"

// The words that test whether a column's value lies between Lo and Hi, by its offset as it is stored, of 32 bits at most. A row passes if its offset less
// LowWord is at most SpanWord, both as unsigned 32-bit numbers.
type (
	LowWord struct {
		C      ScanColumn
		Lo, Hi int64
	}
	SpanWord LowWord
)

// SlotWord takes a column's offset to the value's slot, where slots begin with that of First: it is added to the offset, as an unsigned 32-bit number.
type SlotWord struct {
	C     ScanColumn
	First int64
}

// Offsets is the range as offsets from the column's base, cut to what an offset can be. 2^32 - 1 is none, so it stands for nothing.
func (w LowWord) Offsets(base int64) (low, span uint32) {
	if w.Lo > w.Hi || w.Hi < base || w.Lo >= base && uint64(w.Lo)-uint64(base) >= math.MaxUint32 {
		return math.MaxUint32, 0
	}
	if w.Lo > base {
		low = uint32(uint64(w.Lo) - uint64(base))
	}
	high := min(uint64(w.Hi)-uint64(base), math.MaxUint32-1)
	return low, uint32(high) - low
}

// Slot is the word for a column's base.
func (w SlotWord) Slot(base int64) uint32 { return uint32(uint64(base) - uint64(w.First)) }
