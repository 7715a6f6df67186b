package orderby

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/sql/types"
)

// best knows of each partition the words of the rows that come first, as many as a filter on ranks keeps, over all workers: a row behind them is of no interest. Words
// are ordered as the values of the first key of the order, or as their complements if it descends.
//
// It is a hash table whose slots are read without a lock. Beyond bestCached it grows, up to bestBytes, if partitions have bestRows times as many rows as the filter
// keeps. Otherwise it turns itself off.
type best struct {
	s    *Sink
	most int

	mu    sync.RWMutex // held for reading by who looks at rows, for writing by who replaces the slots
	slots []bestSlot   // a power of 2
	words []uint64     // most of each slot: a heap whose root is the greatest, which at first are all the greatest there is
	shift uint         // that leaves the upper bits of a hash, a slot
	isOwn bool         // one worker's, which is known to help
	rows  atomic.Int64 // seen
	used  atomic.Int64 // slots that have a partition
	isOff atomic.Bool  // no further rows are compared
}

type bestSlot struct {
	state     atomic.Uint32
	lock      atomic.Uint32 // 1: somebody changes the words
	partition int64         // of a slot that is ready
	cut       atomic.Uint64 // the root of the words
}

// States of a slot.
const (
	slotFree uint32 = iota
	slotTaken
	slotReady
)

const (
	bestCached = 4 << 20
	bestBytes  = 256 << 20
	bestPart   = 4 // of the memory, if that has a limit, is the most
	bestRows   = 8
	firstSlots = 1 << 10
	slotBytes  = 24
)

// newBest returns the table for a filter on ranks; nil if the partition is not one integer, the first key of the order is no number, or the ranks or the memory are out of bounds.
func newBest(s *Sink) *best {
	parts := s.ranks.parts
	if parts > 1 || len(s.KeyAt) == parts || parts == 1 && s.types[s.KeyAt[0]].Phys() != types.PhysInt64 {
		return nil
	}
	if by := s.types[s.KeyAt[parts]].Phys(); by != types.PhysInt64 && by != types.PhysFloat64 {
		return nil
	}
	if s.ranks.most > bestCached/32 {
		return nil
	}
	b := &best{s: s, most: int(s.ranks.most)}
	if !b.begin() {
		return nil
	}
	return b
}

// begin makes the first slots. It returns false if the memory does not suffice.
func (b *best) begin() bool {
	slots := firstSlots
	for slots > 2 && b.bytes(slots) > bestCached {
		slots /= 2
	}
	return b.resize(slots)
}

// bytes is the memory of so many slots.
func (b *best) bytes(slots int) int64 { return int64(slots) * int64(slotBytes+8*b.most) }

// mayHold says whether the table may have so many bytes. Of tables that workers have for themselves all together may have as much as one that they share.
func (b *best) mayHold(bytes int64) bool {
	if b.isOwn {
		bytes *= int64(b.s.q.Threads)
	}
	if m := b.s.q.Memory; bytes > bestBytes || m.Limited() && bytes > m.Least()/bestPart {
		return false
	}
	return bytes <= bestCached || b.isOwn || b.isWorthMore()
}

// resize replaces the slots by so many. It returns false if the memory does not suffice.
func (b *best) resize(slots int) bool {
	if !b.mayHold(b.bytes(slots)) || b.s.q.Memory.Reserve(b.s.Name, b.bytes(slots)) != nil {
		return false
	}
	oldSlots, oldWords := b.slots, b.words
	b.slots, b.words, b.shift = make([]bestSlot, slots), make([]uint64, slots*b.most), uint(64-bits.Len(uint(slots-1)))
	for i := range b.words {
		b.words[i] = math.MaxUint64
	}
	for i := range oldSlots {
		if o := &oldSlots[i]; o.state.Load() == slotReady {
			at, _ := b.find(o.partition)
			n := &b.slots[at]
			n.partition = o.partition
			n.cut.Store(o.cut.Load())
			n.state.Store(slotReady)
			copy(b.words[at*b.most:], oldWords[i*b.most:(i+1)*b.most])
		}
	}
	b.s.q.Memory.Release(b.bytes(len(oldSlots)))
	return true
}

// isWorthMore says whether partitions have so many rows that most are not of interest.
func (b *best) isWorthMore() bool {
	partitions := keyhash.EstimateKeys(int(b.rows.Load()), int(b.used.Load()))
	return b.s.ranks.rows >= bestRows*float64(b.most)*float64(partitions)
}

// free gives the memory back: no further rows are compared.
func (b *best) free() {
	b.isOff.Store(true)
	b.s.q.Memory.Release(b.bytes(len(b.slots)))
	b.slots, b.words = nil, nil
}

// find returns the slot of a partition. If it has none, the slot is one that was free when it was looked at. find waits for slots that somebody is filling.
func (b *best) find(partition int64) (slot int, found bool) {
	mask := len(b.slots) - 1
	for i := int(uint64(partition) * 0x9E3779B97F4A7C15 >> b.shift); ; i = (i + 1) & mask {
		s := &b.slots[i]
		state := s.state.Load()
		for state == slotTaken {
			runtime.Gosched()
			state = s.state.Load()
		}
		if state == slotFree || s.partition == partition {
			return i, state != slotFree
		}
	}
}

// add notes a row's word unless the partition has words enough that are smaller, and says whether the row is of interest.
func (b *best) add(partition int64, word uint64) bool {
	i, found := b.find(partition)
	s := &b.slots[i]
	for !found {
		if 4*b.used.Add(1) > 3*int64(len(b.slots)) { // a free slot has to stay, at which searches end
			b.used.Add(-1)
			return true
		}
		if s.state.CompareAndSwap(slotFree, slotTaken) {
			s.partition = partition
			s.cut.Store(math.MaxUint64)
			s.state.Store(slotReady)
			break
		}
		b.used.Add(-1)
		i, found = b.find(partition) // somebody else was faster, for any partition
		s = &b.slots[i]
	}
	if cut := s.cut.Load(); word >= cut {
		return word == cut
	}
	for !s.lock.CompareAndSwap(0, 1) {
		runtime.Gosched()
	}
	words := b.words[i*b.most : (i+1)*b.most]
	if word < words[0] {
		replaceGreatest(words, word)
		s.cut.Store(words[0])
	}
	s.lock.Store(0)
	return true
}

// replaceGreatest puts a word in the place of a heap's root.
func replaceGreatest(heap []uint64, word uint64) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && heap[child+1] > heap[child] {
			child++
		}
		if heap[child] <= word {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = word
}

// isBehind says whether a row of the partition with that word is of no interest.
func (b *best) isBehind(partition int64, word uint64) bool {
	i, found := b.find(partition)
	return found && word > b.slots[i].cut.Load()
}

// filter appends to kept the rows of sel that are of interest. The words of rows that are new are noted. A NULL is never behind, nor does it put others there.
func (b *best) filter(k *rankKeys, sel, kept []int32, areNew bool) []int32 {
	b.mu.RLock()
	if b.isOff.Load() {
		b.mu.RUnlock()
		return append(kept, sel...)
	}
	partition := int64(0)
	for _, row := range sel {
		word, known := k.word(row)
		if k.partition != nil {
			known = known && !k.partition.IsNull(int(row))
			partition = k.partition.I64[row]
		}
		if known && (areNew && !b.add(partition, word) || !areNew && b.isBehind(partition, word)) {
			continue
		}
		kept = append(kept, row)
	}
	crowded := b.isCrowded()
	b.mu.RUnlock()
	if areNew {
		b.rows.Add(int64(len(sel)))
	}
	if crowded && areNew {
		b.mu.Lock()
		if !b.isOff.Load() && b.isCrowded() && !b.resize(2*len(b.slots)) && !b.isOwn {
			b.free()
		}
		b.mu.Unlock()
	}
	return kept
}

// isCrowded says whether no further partitions get slots.
func (b *best) isCrowded() bool { return 4*b.used.Load() >= 3*int64(len(b.slots)) }

// rankKeys are the columns by which rows are dropped: the partition, and the first key of the order.
type rankKeys struct {
	partition *column.Vector // integers; nil: there is one partition
	order     *column.Vector
	isFloat   bool
	flip      uint64 // descending: the words' complements are compared
}

// rankKeys returns the columns of a batch, for which there is a best. ok is false if one is a constant.
func (s *Sink) rankKeys(cols []*column.Vector) (k rankKeys, ok bool) {
	parts := s.ranks.parts
	if parts == 1 {
		k.partition = cols[s.KeyAt[0]]
	}
	k.order = cols[s.KeyAt[parts]]
	k.isFloat = k.order.Type.Phys() == types.PhysFloat64
	if s.P.Keys[parts].Desc {
		k.flip = math.MaxUint64
	}
	return k, !k.order.Const && (k.partition == nil || !k.partition.Const)
}

// word returns the word of a row; ok is false if its key is NULL.
func (k *rankKeys) word(row int32) (word uint64, ok bool) {
	if k.order.IsNull(int(row)) {
		return 0, false
	}
	if k.isFloat {
		return types.FloatWord(k.order.F64[row]) ^ k.flip, true
	}
	return uint64(k.order.I64[row]) ^ 1<<63 ^ k.flip, true
}
