package join

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
)

// makeTable builds the table over the keyed rows (nil: all), of short strings if there are some, and returns what will bring rows of equal keys together;
// that comes later as it moves the rows.
func (b *Build) makeTable(keyed []int32, short []shortKey) (arrange func() error, err error) {
	if short != nil {
		return b.makeShort(short)
	}
	n := b.N
	if keyed != nil {
		n = len(keyed)
	}
	p, ok, err := b.pack()
	if err != nil {
		return nil, err
	}
	if !ok {
		return b.makeGeneric(keyed, n)
	}
	// Rows by partition, and the group of each.
	b.scratch = int64(16 * n)
	if err := b.q.Memory.Reserve("join build", b.scratch); err != nil {
		return nil, err
	}
	number := func(out []uint64, from int) { p.numbers(out, b.keys, keyed, from) }
	if p.last != math.MaxUint64 && b.p.HasArrayOf(p.last+1, uint64(b.N)) {
		return b.makeDense(p, n, number, keyed)
	}
	return b.makeInts(p, n, keyed, number)
}

// intTable is a hash table of numbers.
type intTable struct {
	packing
	slotTable
	// words has a word for each row that differs from the number of its key by least.
	words []int64
	least uint64
	// borrowed says that the words are the values of a stored column.
	borrowed bool
}

func (b *Build) makeInts(p packing, n int, keyed []int32, number func(out []uint64, from int)) (arrange func() error, err error) {
	t := &intTable{packing: p}
	b.table = t
	if v := b.keys[0]; len(p.parts) == 1 && p.parts[0].dict == nil && !p.parts[0].null {
		t.words, t.least, t.borrowed = v.I64, uint64(p.parts[0].min), true
	} else {
		if err := b.q.Memory.Reserve("join build", int64(8*b.N)); err != nil {
			return nil, err
		}
		t.words = column.Unset[int64](b.N)
		err := b.q.ParallelBlocks(n, func(from, to int) {
			var numbers [64]uint64
			for ; from < to; from += len(numbers) {
				block := numbers[:min(len(numbers), to-from)]
				number(block, from)
				for i, x := range block {
					row := from + i
					if keyed != nil {
						row = int(keyed[row])
					}
					t.words[row] = int64(x)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	t.same = func(row, other int32) bool { return t.words[row] == t.words[other] }
	return t.fillAll(b, n, keyed, number, hashNumbers)
}

func (t *intTable) find(f *finder, keys []*column.Vector, sel []int32, n int) (pos, groups []int32) {
	m := t.probe(f, keys, sel, n)
	if m == 0 {
		return f.pos[:0], f.groups[:0]
	}
	m = t.candidates(f, m)
	pos, groups = f.pos[:m], f.groups[:m]
	k := 0
	for i, x := range f.keys[:m] {
		row := groups[i]
		if uint64(t.words[row]) != x+t.least {
			if row = t.behind(keyhash.Int(x), f.slots[i], func(row int32) bool { return uint64(t.words[row]) == x+t.least }); row < 0 {
				continue
			}
		}
		pos[k], groups[k] = pos[i], row
		k++
	}
	return pos[:k], groups[:k]
}

// candidates finds, for each of the first m keys, the first row that has its tag, and drops the keys without one. Keys are compared later, for
// the whole vector: then the misses of one row do not wait for those of another.
func (t *intTable) candidates(f *finder, m int) int {
	far := len(t.slots) > nearSlots
	if far {
		m = t.readSlots(f, m)
	}
	pos, groups, keys, at := f.pos[:m], f.groups[:m], f.keys[:m], f.slots[:m]
	slots, mask, shift, numbers := t.slots, t.region, t.shift, t.rows
	k := 0
	for i, x := range keys {
		h := keyhash.Int(x)
		slot, tag := h>>shift, uint32(h>>(shift-32))
		var s uint32
		if far {
			s = uint32(groups[i])
		} else {
			s = slots[slot]
		}
		for s != 0 && s^tag > numbers {
			slot = slot&^mask | (slot+1)&mask
			s = slots[slot]
		}
		pos[k], keys[k], groups[k], at[k] = pos[i], x, int32(s&numbers)-1, uint32(slot)
		if s != 0 {
			k++
		}
	}
	return k
}

// readSlots stores in f.groups the first slots of the first m keys and drops the keys for which it is free.
func (t *intTable) readSlots(f *finder, m int) int {
	pos, groups, keys := f.pos[:m], f.groups[:m], f.keys[:m]
	slots, shift := t.slots, t.shift
	k := 0
	for i, x := range keys {
		s := slots[keyhash.Int(x)>>shift]
		pos[k], keys[k], groups[k] = pos[i], x, int32(s)
		if s != 0 {
			k++
		}
	}
	return k
}
