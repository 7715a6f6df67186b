package join

import (
	"sync/atomic"

	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/storage/encoding"
)

// sieve is a Bloom filter of the words of a large table, for probes that seldom find anything: it is far smaller than the slots. Nobody knows
// beforehand whether it pays, so probes count, and the first worker that would have saved much makes it while the others go on.
type sieve struct {
	bloom atomic.Pointer[encoding.Bloom]
	begun atomic.Bool
}

// A worker decides after every siftRows lookups, or half as many as the table has rows if that is more. Making the filter takes most of a lookup for
// each row of the table, and nobody knows how many lookups will follow: so it costs about as much as what was looked up before, at most.
const siftRows = 1 << 14

// sifting is a worker's count of lookups since it decided last.
type sifting struct {
	rows, found int
	idle        bool // most rows have matches: the filter would only cost
}

// isDue says whether enough rows have been looked up in a table of n.
func (s *sifting) isDue(n int) bool { return s.rows >= max(siftRows, n/2) }

// sift drops numbers that are not in the table, with their positions, as far as that is quickly known, and returns how many are left. mask takes
// the table's words from the numbers.
func (t *slotTable[W]) sift(f *finder, numbers []uint64, mask uint64, pos []int32) int {
	if t.q == nil {
		return len(numbers)
	}
	f.sifting.rows += len(numbers)
	if bloom := t.sieve.bloom.Load(); bloom != nil && !f.sifting.idle {
		return bloom.Sift(numbers, mask, pos)
	}
	return len(numbers)
}

// count counts what a lookup has found, and decides.
func (t *slotTable[W]) count(f *finder, found int) {
	s := &f.sifting
	s.found += found
	if t.q == nil || !s.isDue(t.n) {
		return
	}
	s.idle = s.found*2 > s.rows
	if !s.idle && t.sieve.begun.CompareAndSwap(false, true) {
		t.makeSieve()
	}
	s.rows, s.found = 0, 0
}

// makeSieve makes the filter, unless there is no memory for it.
func (t *slotTable[W]) makeSieve() {
	if t.q.Memory.Reserve("join build", int64(encoding.BloomBytes(t.n))) != nil {
		return
	}
	bloom := encoding.NewBloom(t.n)
	var members [64]int64
	k := 0
	for i := range t.slots {
		if i&task.CheckRows == 0 && t.q.Stopped.Load() {
			return
		}
		if s := &t.slots[i]; s.row != 0 {
			members[k] = int64(s.word)
			k++
		}
		if k == len(members) {
			bloom.Add(members[:k])
			k = 0
		}
	}
	bloom.Add(members[:k])
	t.sieve.bloom.Store(bloom)
}
