package cpu

import (
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/storage/column"
)

// makeTable builds the table over the keyed rows (nil: all) and returns what will bring rows of equal keys together; that comes later
// as it moves the rows.
func (b *build) makeTable(keyed []int32) (arrange func() error, err error) {
	n := b.n
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
	if err := b.q.mem.Reserve("join build", b.scratch); err != nil {
		return nil, err
	}
	number := func(out []uint64, from int) { p.numbers(out, b.keys, keyed, from) }
	if p.last != math.MaxUint64 && b.useDense(p.last+1) {
		return b.makeDense(p, n, number, keyed)
	}
	t := &intTable{packing: p}
	b.table = t
	size := tableSize(n)
	if err := b.q.mem.Reserve("join build", int64(16*size)); err != nil {
		return nil, err
	}
	items := &numberedRows{}
	regions := b.q.partitionsFor(16*size, n)
	for {
		t.slots = make([]intSlot, size)
		t.shape(size, regions)
		err := items.partition(b.q, n, regions, number, func(out []uint16, numbers []uint64) {
			for i, x := range numbers {
				out[i] = t.regionOf(hashInt(x))
			}
		})
		if err != nil {
			return nil, err
		}
		unique, full, err := b.q.fillRegions(items, func(r int, numbers []uint64, items []int32) (dups, full bool) {
			return t.fill(b.q, r, numbers, items, keyed)
		})
		switch {
		case err != nil:
			return nil, err
		case full:
			regions = 1 // keys so skewed that a region overflowed
		default:
			return b.arrangeByFirst(unique, items, keyed)
		}
	}
}

// regionTable is the shape of an open-addressing hash table with linear probing, at most three quarters full. The high bits of the hash
// choose a region, within which probing wraps around, so that workers can fill regions of their own.
type regionTable struct {
	shift  uint
	region uint64 // slots per region - 1
	bits   uint   // of the hash that choose the region
}

func (t *regionTable) shape(size, regions int) {
	t.shift = uint(64 - bits.TrailingZeros(uint(size)))
	t.bits = uint(bits.TrailingZeros(uint(regions)))
	t.region = uint64(size/regions) - 1
}

func (t *regionTable) regionOf(hash uint64) uint16 { return uint16(hash >> (64 - t.bits)) }

func tableSize(n int) int { return 1 << bits.Len(uint(max(n*4/3, 8))) }

// fillRegions calls fill for each partition and says whether all rows have keys of their own and whether a region was too small.
func (q *query) fillRegions(items *numberedRows, fill func(r int, numbers []uint64, items []int32) (dups, full bool)) (unique, overflow bool, err error) {
	dups, full := make([]bool, len(items.ends)), make([]bool, len(items.ends))
	err = q.parallel(len(items.ends), len(items.items), func(r int) error {
		numbers, rows, _ := items.part(r)
		dups[r], full[r] = fill(r, numbers, rows)
		return q.check()
	})
	return !slices.Contains(dups, true), slices.Contains(full, true), err
}

// arrangeByFirst returns what brings rows of equal keys together where items' numbers have become the first row of each key.
func (b *build) arrangeByFirst(unique bool, items *numberedRows, keyed []int32) (func() error, error) {
	if b.unique = unique; unique {
		return nil, nil
	}
	group := make([]int32, len(items.items))
	err := b.q.parallel(len(items.ends), len(group), func(r int) error {
		first, rows, _ := items.part(r)
		for i, at := range rows {
			group[at] = int32(first[i])
		}
		return b.q.check()
	})
	number := func(out []uint64, from int) {
		for i, g := range group[from : from+len(out)] {
			out[i] = uint64(g)
		}
	}
	return func() error { return b.arrange(number, b.n, keyed, items) }, err
}

// intTable is a hash table of numbers. It holds each key once, with the first row that has it.
type intTable struct {
	packing
	regionTable
	slots []intSlot
}

type intSlot struct {
	key uint64
	row int32 // row + 1; 0: free
}

// fill puts rows into their region and stores the first row of each one's key in numbers.
func (t *intTable) fill(q *query, r int, numbers []uint64, items, keyed []int32) (dups, full bool) {
	mask, shift := t.region, t.shift
	room := mask // one slot stays free so that a search ends
	base := uint64(r) * (mask + 1)
	slots := t.slots[base : base+mask+1]
	for i, k := range numbers {
		if i&checkRows == 0 && q.stopped.Load() {
			return false, false
		}
		at := hashInt(k) >> shift & mask
		row := items[i]
		if keyed != nil {
			row = keyed[row]
		}
		for {
			s := &slots[at]
			if s.row == 0 {
				if room == 0 {
					return dups, true
				}
				room--
				s.key, s.row = k, row+1
				break
			}
			if s.key == k {
				row = s.row - 1
				dups = true
				break
			}
			at = (at + 1) & mask
		}
		numbers[i] = uint64(row)
	}
	return dups, false
}

func (t *intTable) find(f *finder, keys []*column.Vector, sel []int32, n int) (pos, groups []int32) {
	m := t.probe(f, keys, sel, n)
	if m == 0 {
		return f.pos[:0], f.groups[:0]
	}
	pos, groups = f.pos[:m], f.groups[:m]
	slots, mask, shift := t.slots, t.region, t.shift
	k := 0
	for i, x := range f.keys[:m] {
		at := hashInt(x) >> shift
		for {
			s := &slots[at]
			if s.row == 0 {
				break
			}
			if s.key == x {
				pos[k] = pos[i]
				groups[k] = s.row - 1
				k++
				break
			}
			at = at&^mask | (at+1)&mask
		}
	}
	return pos[:k], groups[:k]
}
