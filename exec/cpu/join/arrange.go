package join

import (
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/radix"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// The end of a build whose keys repeat: rows of one group come to lie next to each other.

// arrange puts the rows of each group next to each other. number gives the group of each of the keyed rows (nil: all rows), below
// groups; items is memory that may be used.
func (b *Build) arrange(number radix.Numbering, groups int, keyed []int32, items *radix.Rows) error {
	n := b.N
	if keyed != nil {
		n = len(keyed)
	}
	sorted, err := ascends(b.q, n, number)
	if err != nil {
		return err
	}
	if err := b.q.Memory.Reserve("join build", int64(4*(groups+1))); err != nil {
		return err
	}
	if b.runs.starts, err = task.Zeros[int32](b.q, groups+1); err != nil {
		return err
	}
	if sorted {
		if err := b.startsOfSorted(n, number); err != nil || keyed == nil {
			return err // rows lie right already, as from a table that is stored so
		}
		return b.reorder(nil, keyed)
	}
	shift := 0
	for partitions := radix.Partitions(b.q, 8*groups, n); groups>>shift > partitions; {
		shift++
	}
	last := (groups - 1) >> shift
	err = items.Fill(b.q, n, last+1, number, func(out []uint16, numbers []uint64) {
		for i, g := range numbers {
			out[i] = uint16(g >> shift)
		}
	})
	if err != nil {
		return err
	}
	return b.arrangePartitions(items, keyed, func(p int) (lo, hi int) { return p << shift, min((p+1)<<shift, groups) })
}

// arrangePartitions does so once the rows are partitioned by their groups: those of partition p are lo .. hi-1, and the numbers are groups.
// Without b.starts each row is a group of its own.
func (b *Build) arrangePartitions(items *radix.Rows, keyed []int32, bounds func(p int) (lo, hi int)) error {
	n := len(items.Items)
	var order []int32
	if b.orderMatters() {
		if err := b.q.Memory.Reserve("join build", int64(4*b.N)); err != nil {
			return err
		}
		order = column.Unset[int32](b.N)[:n]
	}
	err := b.q.Parallel(len(items.Ends), n, func(p int) error {
		groups, rows, from := items.Partition(p)
		if b.runs.starts == nil {
			for i, g := range groups {
				order[g] = rows[i]
			}
			return nil
		}
		lo, hi := bounds(p)
		// next[g-lo] is where the next row of group g goes, and in the end where those of g+1 begin.
		next := b.runs.starts[lo+1 : hi+1]
		for _, g := range groups {
			next[g-uint64(lo)]++
		}
		at := int32(from)
		for g, c := range next {
			next[g] = at
			at += c
		}
		for i, g := range groups {
			k := &next[g-uint64(lo)]
			if order != nil {
				order[*k] = rows[i]
			}
			*k++
		}
		return nil
	})
	if err != nil || order == nil {
		return err
	}
	return b.reorder(order, keyed)
}

// orderMatters says whether it matters where a row lies: not if all that is asked for is whether there is a match, or how many.
func (b *Build) orderMatters() bool { return len(b.payload) > 0 || b.p.KeepUnmatched || b.direct }

// reorder puts the rows into an order (nil: as they are), whose values are indices of keyed (nil: rows). Rows without a key,
// kept for an unmatched scan, go to the end.
func (b *Build) reorder(order, keyed []int32) error {
	if !b.orderMatters() {
		return nil
	}
	switch {
	case keyed == nil:
	case order == nil:
		order = append(make([]int32, 0, b.N), keyed...)
	default:
		for i, k := range order {
			order[i] = keyed[k]
		}
	}
	if b.direct {
		b.runs.order = order
		return nil
	}
	n := len(order)
	order = append(order, b.keyNulls.rows...)
	b.keyNulls.rows = vec.CountFrom(nil, n, len(b.keyNulls.rows))
	b.keys = nil
	for i := range b.payload {
		if err := b.payload[i].Permute(b.q, order); err != nil {
			return err
		}
	}
	return nil
}

// startsOfSorted fills b.starts where the groups of the items, all n, ascend.
func (b *Build) startsOfSorted(n int, number radix.Numbering) error {
	starts := b.runs.starts
	err := numberBlocks(b.q, n, number, func(from int, groups []uint64, before uint64) {
		if from == 0 {
			before = groups[0]
		}
		for i, g := range groups {
			for ; before < g; before++ {
				starts[before+1] = int32(from + i)
			}
		}
	})
	if err != nil || n == 0 {
		return err
	}
	var last [1]uint64
	number(last[:], n-1)
	for g := int(last[0]) + 1; g < len(starts); g++ {
		starts[g] = int32(n)
	}
	return nil
}

// numberBlocks calls f in parallel with blocks of the items' numbers and the number before each block (0 before the first).
func numberBlocks(q *task.Query, n int, number radix.Numbering, f func(from int, numbers []uint64, before uint64)) error {
	return q.ParallelBlocks(n, func(from, to int) {
		const block = 1 << 11
		numbers := make([]uint64, block+1)
		for ; from < to; from += block {
			k := min(block, to-from)
			if from > 0 {
				number(numbers[:k+1], from-1)
			} else {
				numbers[0] = 0
				number(numbers[1:k+1], 0)
			}
			f(from, numbers[1:k+1], numbers[0])
		}
	})
}

// ascends says whether no item's number is below the one before it.
func ascends(q *task.Query, n int, number radix.Numbering) (bool, error) {
	var falls atomic.Bool
	err := numberBlocks(q, n, number, func(_ int, numbers []uint64, before uint64) {
		if falls.Load() {
			return
		}
		fall := uint64(0)
		for _, x := range numbers {
			if x < before {
				fall = 1
			}
			before = x
		}
		if fall != 0 {
			falls.Store(true)
		}
	})
	return !falls.Load(), err
}
