package join

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
)

// makeTable builds the table over the keyed rows (nil: all) and returns what will bring rows of equal keys together; that comes later
// as it moves the rows.
func (b *Build) makeTable(keyed []int32) (arrange func() error, err error) {
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
	if p.last <= math.MaxUint32 {
		t := &intTable[uint32]{packing: p}
		b.table = t
		return t.fillAll(b, n, keyed, number)
	}
	t := &intTable[uint64]{packing: p}
	b.table = t
	return t.fillAll(b, n, keyed, number)
}

// intTable is a hash table of numbers.
type intTable[W uint32 | uint64] struct {
	packing
	slotTable[W]
}

func (t *intTable[W]) find(f *finder, keys []*column.Vector, sel []int32, n int) (pos, groups []int32) {
	m := t.probe(f, keys, sel, n)
	if m == 0 {
		return f.pos[:0], f.groups[:0]
	}
	m = t.sift(f, f.keys[:m], math.MaxUint64, f.pos[:m])
	pos, groups = f.pos[:m], f.groups[:m]
	slots, mask, shift := t.slots, t.region, t.shift
	far := len(slots) > nearSlots
	if far {
		for i, x := range f.keys[:m] {
			groups[i] = slots[keyhash.Int(x)>>shift].row
		}
	}
	k := 0
	for i, x := range f.keys[:m] {
		if far && groups[i] == 0 {
			continue
		}
		at := keyhash.Int(x) >> shift
		for {
			s := &slots[at]
			if s.row == 0 {
				break
			}
			if s.word == W(x) {
				pos[k] = pos[i]
				groups[k] = s.row - 1
				k++
				break
			}
			at = at&^mask | (at+1)&mask
		}
	}
	t.count(f, k)
	return pos[:k], groups[:k]
}
