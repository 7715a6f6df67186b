package join

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/radix"
	"github.com/radish-sql/radish/exec/cpu/task"
)

// slotTable is an open-addressing hash table with linear probing, at most three quarters full, of words that stand for keys. It holds each
// key once, with the first row that has it. The high bits of the hash choose a region, within which probing wraps around, so that workers
// can fill regions of their own. Words of 32 bits, where keys fit, make a slot half as large.
type slotTable[W uint32 | uint64] struct {
	slots  []slot[W]
	shift  uint
	region uint64 // slots per region - 1
	bits   uint   // of the hash that choose the region

	// same says whether two rows of one word have one key, if a word is a hash of it, or a part of one; nil: a word is a key.
	same func(row, other int32) bool

	n     int         // rows that were put in
	q     *task.Query // nil: the table is small, and has no sieve
	sieve sieve
}

type slot[W uint32 | uint64] struct {
	word W
	row  int32 // row + 1; 0: free
}

// nearSlots is how many slots a core's own cache holds. The first slots of a vector of keys are read before any is compared where there are more: a
// comparison's outcome is often as good as random, and a wrong guess would wait for the slot from far memory before the next one is asked for.
const nearSlots = 1 << 15

func tableSize(n int) int { return 1 << bits.Len(uint(max(n*4/3, 8))) }

// fillAll fills the table with n rows (those of keyed; nil: all), whose words number gives. What it returns brings the rows of equal keys
// together; that comes later as it moves the rows.
func (t *slotTable[W]) fillAll(b *Build, n int, keyed []int32, number func(out []uint64, from int)) (arrange func() error, err error) {
	size := tableSize(n)
	bytes := size * int(unsafe.Sizeof(slot[W]{}))
	if err := b.q.Memory.Reserve("join build", int64(bytes)); err != nil {
		return nil, err
	}
	if t.n = n; n > b.q.Tuning.Filters.Members && n <= b.q.Tuning.Filters.Bloom {
		t.q = b.q
	}
	items := &radix.Rows{}
	for regions := radix.Partitions(b.q, bytes, n); ; regions = 1 {
		t.slots = make([]slot[W], size)
		t.shift = uint(64 - bits.TrailingZeros(uint(size)))
		t.bits = uint(bits.TrailingZeros(uint(regions)))
		t.region = uint64(size/regions) - 1
		err := items.Fill(b.q, n, regions, number, func(out []uint16, words []uint64) {
			if t.same == nil {
				for i, w := range words {
					out[i] = uint16(keyhash.Int(w) >> (64 - t.bits))
				}
				return
			}
			for i, w := range words {
				out[i] = uint16(w >> (64 - t.bits))
			}
		})
		if err != nil {
			return nil, err
		}
		dups, full := make([]bool, regions), make([]bool, regions)
		err = b.q.Parallel(regions, n, func(r int) error {
			words, rows, _ := items.Partition(r)
			dups[r], full[r] = t.fill(b.q, r, words, rows, keyed)
			return b.q.Check()
		})
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(full, true): // keys so skewed that a region overflowed: there is one the next time
		default:
			return b.arrangeByFirst(!slices.Contains(dups, true), items, keyed)
		}
	}
}

// fill puts rows into their region and stores the first row of each one's key in words.
func (t *slotTable[W]) fill(q *task.Query, r int, words []uint64, items, keyed []int32) (dups, full bool) {
	mask, shift := t.region, t.shift
	free := mask // one slot stays free so that a search ends
	base := uint64(r) * (mask + 1)
	slots := t.slots[base : base+mask+1]
	same, numbers := t.same, t.same == nil
	for i, w := range words {
		if i&task.CheckRows == 0 && q.Stopped.Load() {
			return false, false
		}
		at := w
		if numbers {
			at = keyhash.Int(w)
		}
		at = at >> shift & mask
		row := items[i]
		if keyed != nil {
			row = keyed[row]
		}
		for {
			s := &slots[at]
			if s.row == 0 {
				if free == 0 {
					return dups, true
				}
				free--
				s.word, s.row = W(w), row+1
				break
			}
			if s.word == W(w) && (numbers || same(row, s.row-1)) {
				row = s.row - 1
				dups = true
				break
			}
			at = (at + 1) & mask
		}
		words[i] = uint64(row)
	}
	return dups, false
}

// arrangeByFirst returns what brings rows of equal keys together where items' numbers have become the first row of each key.
func (b *Build) arrangeByFirst(unique bool, items *radix.Rows, keyed []int32) (func() error, error) {
	if b.runs.unique = unique; unique {
		return nil, nil
	}
	group := make([]int32, len(items.Items))
	err := b.q.Parallel(len(items.Ends), len(group), func(r int) error {
		first, rows, _ := items.Partition(r)
		for i, at := range rows {
			group[at] = int32(first[i])
		}
		return b.q.Check()
	})
	number := func(out []uint64, from int) {
		for i, g := range group[from : from+len(out)] {
			out[i] = uint64(g)
		}
	}
	return func() error { return b.arrange(number, b.N, keyed, items) }, err
}
