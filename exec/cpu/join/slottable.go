package join

import (
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/radix"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// slotTable is an open-addressing hash table with linear probing, at most three quarters full. A slot has the number of the first row that has a
// key and, in the bits that numbers leave, a tag of the key's hash. Keys are not in it, so a cache holds the table of many rows.
//
// The high bits of the hash choose a region, within which probing wraps around, so that workers can fill regions of their own. The bits
// behind those of the slot are the tag.
type slotTable struct {
	slots  []uint32 // tag | row + 1; 0: free
	shift  uint     // hash >> shift is the slot at which a search begins
	region uint64   // slots per region - 1
	bits   uint     // of the hash that choose the region
	rows   uint32   // the bits of a slot that number a row

	// same says whether two rows whose tags are equal have one key.
	same func(row, other int32) bool
}

// nearSlots is how many slots a core's own cache holds. The first slots of a vector of keys are read before any is compared where there are more. A
// comparison's outcome is often as good as random, and a wrong guess would wait for the slot from far memory before the next one is asked for.
const nearSlots = 1 << 16

func tableSize(n int) int { return 1 << bits.Len(uint(max(n*4/3, 8))) }

// tagged returns what a slot of a row with this hash is beside its row's number, in the bits that are not the number's.
func (t *slotTable) tagged(hash uint64) uint32 { return uint32(hash >> (t.shift - 32)) }

// behind returns the first row behind a slot that has this hash's tag and, as isKey says, the key that is looked for; -1: there is none.
func (t *slotTable) behind(hash uint64, slot uint32, isKey func(row int32) bool) int32 {
	tag, at := t.tagged(hash), uint64(slot)
	for {
		at = at&^t.region | (at+1)&t.region
		s := t.slots[at]
		if s == 0 {
			return -1
		}
		if s^tag <= t.rows {
			if row := int32(s&t.rows) - 1; isKey(row) {
				return row
			}
		}
	}
}

// fillAll fills the table with n rows (those of keyed; nil: all), whose words number gives; hash replaces words by their hashes.
// What it returns brings the rows of equal keys together; that comes later as it moves the rows.
func (t *slotTable) fillAll(b *Build, n int, keyed []int32, number radix.Numbering, hash func(words []uint64)) (arrange func() error, err error) {
	size := tableSize(n)
	if err := b.q.Memory.Reserve("join build", int64(4*size)); err != nil {
		return nil, err
	}
	t.rows = uint32(1)<<bits.Len(uint(b.N)) - 1
	hashes := func(out []uint64, from int) {
		number(out, from)
		hash(out)
	}
	for regions := radix.Partitions(b.q, 4*size, n); ; regions = 1 {
		if t.slots, err = task.Zeros[uint32](b.q, size); err != nil {
			return nil, err
		}
		t.shift = uint(64 - bits.TrailingZeros(uint(size)))
		t.bits = uint(bits.TrailingZeros(uint(regions)))
		t.region = uint64(size/regions) - 1
		if regions == 1 {
			return t.fillInOrder(b, n, keyed, hashes)
		}
		items := &radix.Rows{}
		err := items.Fill(b.q, n, regions, hashes, func(out []uint16, words []uint64) {
			for i, w := range words {
				out[i] = uint16(w >> (64 - t.bits))
			}
		})
		if err != nil {
			return nil, err
		}
		dups, full := make([]bool, regions), make([]bool, regions)
		err = b.q.Parallel(regions, n, func(r int) error {
			hashes, rows, _ := items.Partition(r)
			dups[r], full[r] = t.fill(b.q, r, hashes, rows, keyed)
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

// fillInOrder is fillAll for a single region: rows need no partitions.
func (t *slotTable) fillInOrder(b *Build, n int, keyed []int32, hashes radix.Numbering) (arrange func() error, err error) {
	var first []int32 // row of each item's key; nil while no key has come twice
	block, items := make([]uint64, column.VectorSize), make([]int32, column.VectorSize)
	err = b.q.Blocks(n, func(from, to int) {
		for ; from < to; from += len(block) {
			k := min(len(block), to-from)
			hashes(block[:k], from)
			items = vec.CountFrom(items[:0], from, k)
			dups, _ := t.fill(b.q, 0, block[:k], items, keyed)
			if dups && first == nil {
				first = make([]int32, n)
				copy(first, keyed)
				if keyed == nil {
					vec.CountFrom(first[:0], 0, from)
				}
			}
			if first != nil {
				for i, row := range block[:k] {
					first[from+i] = int32(row)
				}
			}
		}
	})
	if b.runs.unique = first == nil; b.runs.unique || err != nil {
		return nil, err
	}
	return b.arrangeFirsts(first, keyed, &radix.Rows{}), nil
}

// fill puts rows into their region and stores the first row of each one's key in place of its hash.
func (t *slotTable) fill(q *task.Query, r int, hashes []uint64, items, keyed []int32) (dups, full bool) {
	mask, shift, numbers := t.region, t.shift, t.rows
	free := mask // one slot stays free so that a search ends
	base := uint64(r) * (mask + 1)
	slots := t.slots[base : base+mask+1]
	for i, h := range hashes {
		if i&task.CheckRows == 0 && q.Stopped.Load() {
			return false, false
		}
		at, tag := h>>shift&mask, t.tagged(h)
		row := items[i]
		if keyed != nil {
			row = keyed[row]
		}
		for {
			s := slots[at]
			if s == 0 {
				if free == 0 {
					return dups, true
				}
				free--
				slots[at] = tag&^numbers | uint32(row+1)
				break
			}
			if s^tag <= numbers {
				if other := int32(s&numbers) - 1; t.same(row, other) {
					row, dups = other, true
					break
				}
			}
			at = (at + 1) & mask
		}
		hashes[i] = uint64(row)
	}
	return dups, false
}

// arrangeByFirst returns what brings rows of equal keys together where items' numbers have become the first row of each key.
func (b *Build) arrangeByFirst(unique bool, items *radix.Rows, keyed []int32) (func() error, error) {
	if b.runs.unique = unique; unique {
		return nil, nil
	}
	first := column.Unset[int32](len(items.Items))
	err := b.q.Parallel(len(items.Ends), len(first), func(r int) error {
		rows, of, _ := items.Partition(r)
		for i, at := range of {
			first[at] = int32(rows[i])
		}
		return b.q.Check()
	})
	return b.arrangeFirsts(first, keyed, items), err
}

// arrangeFirsts is arrangeByFirst for the first row of each item's key; items is memory that may be used.
func (b *Build) arrangeFirsts(first, keyed []int32, items *radix.Rows) func() error {
	number := func(out []uint64, from int) {
		for i, row := range first[from : from+len(out)] {
			out[i] = uint64(row)
		}
	}
	return func() error { return b.arrange(number, b.N, keyed, items) }
}

// hashNumbers puts the hashes of numbers in their place.
func hashNumbers(numbers []uint64) {
	for i, x := range numbers {
		numbers[i] = keyhash.Int(x)
	}
}
