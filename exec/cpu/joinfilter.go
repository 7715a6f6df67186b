package cpu

import (
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/encoding"
)

// Limits of runtime filters. A bitmap is several times as fast as a hash set, so it is taken up to filterBitsFew bits (1 MiB)
// even for a few members, and up to filterBitsPerRow for each of many: where it outgrows the caches, tables that are stored in the
// order of the key, or nearly so, still read it from one end to the other.
const (
	filterBitsFew    = 1 << 23
	filterBitsPerRow = 1024
	filterBits       = 1 << 32
	filterMembers    = 1 << 16
	filterCompared   = 8 // so few members are compared one by one
)

// makeFilters makes the filters that scans will ask for: a set of the key's values if that is small, else their range. keyed are the
// rows in the table (nil: all).
func (b *build) makeFilters(keyed []int32) error {
	b.filters = make([]*encoding.Predicate, len(b.keys))
	for i, v := range b.keys {
		if i >= len(b.p.MakeFilter) || !b.p.MakeFilter[i] || b.nullSafe(i) || v.Dict != nil {
			continue
		}
		phys := v.Type.Phys()
		if phys != types.PhysInt64 && phys != types.PhysUint64 {
			continue
		}
		var err error
		if b.filters[i], err = b.makeFilter(v, keyed); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) makeFilter(v *column.Vector, keyed []int32) (*encoding.Predicate, error) {
	n := b.n
	if keyed != nil {
		n = len(keyed)
	}
	if t, ok := b.table.(*denseTable); ok && len(b.keys) == 1 && n > filterCompared {
		return encoding.InInts(encoding.NewIntBitmap(t.parts[0].min, t.bits[:len(t.bits)-1])), nil
	}
	lo, hi, any, err := b.q.intRange(v, b.n)
	if err != nil {
		return nil, err
	}
	if !any {
		return encoding.InInts(encoding.NewIntSet(nil)), nil
	}
	span := uint64(hi) - uint64(lo)
	number := func(out []uint64, from int) {
		for i := range out {
			r := from + i
			if keyed != nil {
				r = int(keyed[r])
			}
			out[i] = uint64(v.I64[r]) - uint64(lo)
		}
	}
	wanted := n > filterCompared && (span < filterBitsFew || span < min(filterBits, filterBitsPerRow*uint64(n)))
	switch {
	case wanted && b.q.mem.Reserve("join build", int64(span/8)) == nil: // a filter is no reason to fail
		words := make([]uint64, span/64+2)
		if err := b.q.fillBitmap(words, n, number); err != nil {
			return nil, err
		}
		return encoding.InInts(encoding.NewIntBitmap(lo, words[:len(words)-1])), nil
	case n <= filterMembers:
		members := make([]uint64, n)
		number(members, 0)
		values := make([]int64, n)
		for i, d := range members {
			values[i] = int64(d + uint64(lo))
		}
		return encoding.InInts(encoding.NewIntSet(values)), nil
	case v.Type.Phys() == types.PhysInt64:
		return encoding.Between(types.Value{Type: v.Type, I: lo}, types.Value{Type: v.Type, I: hi}, false, false), nil
	}
	return nil, nil
}

// fillBitmap sets the bits of the items' numbers in words, which has a last one of zeros.
func (q *query) fillBitmap(words []uint64, n int, number numbering) error {
	if n < inParallel || q.cfg.Threads == 1 {
		var numbers [64]uint64
		return q.blocks(n, func(from, to int) {
			for ; from < to; from += len(numbers) {
				block := numbers[:min(len(numbers), to-from)]
				number(block, from)
				for _, x := range block {
					words[x>>6] |= 1 << (x & 63)
				}
			}
		})
	}
	sorted, err := q.ascends(n, number)
	if err != nil {
		return err
	}
	if sorted {
		return q.setAscending(words, n, number)
	}
	_, _, err = q.setBits(words, n, number)
	return err
}
