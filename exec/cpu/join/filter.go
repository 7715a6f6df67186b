package join

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/radix"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// makeFilters makes the filters that scans will ask for: a set of the key's values if that is small, else their range. keyed are the
// rows in the table (nil: all).
func (b *Build) makeFilters(keyed []int32) error {
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
		if b.filters[i], err = b.makeFilter(v, keyed, b.p.FilterDrops[i]); err != nil {
			return err
		}
	}
	return nil
}

// makeFilter makes the filter of the key v that is expected to drop a share of the rows that it tests.
func (b *Build) makeFilter(v *column.Vector, keyed []int32, drops float64) (*encoding.Predicate, error) {
	n, limits := b.N, &b.q.Tuning.Filters
	if keyed != nil {
		n = len(keyed)
	}
	if t, ok := b.table.(*denseTable); ok && len(b.keys) == 1 && n > limits.Compared {
		if least := t.parts[0].min; t.complete && v.Type.Phys() == types.PhysInt64 {
			return encoding.Between(types.Value{Type: v.Type, I: least}, types.Value{Type: v.Type, I: least + int64(t.last)}, false, false), nil
		}
		return encoding.InInts(encoding.NewIntBitmap(t.parts[0].min, t.bits[:len(t.bits)-1])), nil
	}
	lo, hi, any, err := vec.IntRange(b.q, v, b.N)
	if err != nil {
		return nil, err
	}
	if !any {
		return encoding.InInts(encoding.NewIntSet(nil)), nil
	}
	number := func(out []uint64, from int) {
		for i := range out {
			r := from + i
			if keyed != nil {
				r = int(keyed[r])
			}
			out[i] = uint64(v.I64[r]) - uint64(lo)
		}
	}
	if n <= limits.Members || drops >= limits.Drops {
		set, err := b.filterSet(n, lo, hi, number)
		if set != nil || err != nil {
			return encoding.InInts(set), err
		}
	}
	if v.Type.Phys() == types.PhysInt64 {
		return encoding.Between(types.Value{Type: v.Type, I: lo}, types.Value{Type: v.Type, I: hi}, false, false), nil
	}
	return nil, nil
}

// filterSet returns a set that has the n values from lo to hi whose distances from lo number gives, or nil if there is none that pays.
func (b *Build) filterSet(n int, lo, hi int64, number radix.Numbering) (*encoding.IntSet, error) {
	limits, span := &b.q.Tuning.Filters, uint64(hi)-uint64(lo)
	wanted := n > limits.Compared && span < limits.Bits
	if !wanted && n > limits.Members && span < min(limits.Sorted, limits.PerRow*uint64(n)) {
		var err error
		if wanted, err = ascends(b.q, n, number); err != nil {
			return nil, err
		}
	}
	switch {
	case wanted && b.q.Memory.Reserve("join build", int64(span/8)) == nil: // a filter is no reason to fail
		words, err := task.Zeros[uint64](b.q, int(span/64+2))
		if err != nil {
			return nil, err
		}
		if err := fillBitmap(b.q, words, n, number); err != nil {
			return nil, err
		}
		return encoding.NewIntBitmap(lo, words[:len(words)-1]), nil
	case n <= limits.Exact:
		members := make([]uint64, n)
		number(members, 0)
		values := make([]int64, n)
		for i, d := range members {
			values[i] = int64(d + uint64(lo))
		}
		return encoding.NewIntSet(values), nil
	case n <= limits.Bloom && b.q.Memory.Reserve("join build", int64(encoding.BloomBytes(n))) == nil:
		bloom := encoding.NewBloom(n)
		err := b.q.ParallelBlocks(n, func(from, to int) {
			var numbers [64]uint64
			var values [64]int64
			for ; from < to; from += len(numbers) {
				k := min(len(numbers), to-from)
				number(numbers[:k], from)
				for i, d := range numbers[:k] {
					values[i] = int64(d + uint64(lo))
				}
				bloom.Add(values[:k])
			}
		})
		return encoding.NewIntBloom(lo, hi, bloom), err
	}
	return nil, nil
}

// fillBitmap sets the bits of the items' numbers in words, which has a last one of zeros.
func fillBitmap(q *task.Query, words []uint64, n int, number radix.Numbering) error {
	if !q.IsParallel(n) {
		var numbers [64]uint64
		return q.Blocks(n, func(from, to int) {
			for ; from < to; from += len(numbers) {
				block := numbers[:min(len(numbers), to-from)]
				number(block, from)
				for _, x := range block {
					words[x>>6] |= 1 << (x & 63)
				}
			}
		})
	}
	sorted, err := ascends(q, n, number)
	if err != nil {
		return err
	}
	if sorted {
		return setAscending(q, words, n, number)
	}
	_, _, err = setBits(q, words, n, number)
	return err
}
