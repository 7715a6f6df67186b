package cpu

import "sync/atomic"

// The end of a build whose keys repeat: rows of one group come to lie next to each other.

// arrange puts the rows of each group next to each other. number gives the group of each of the keyed rows (nil: all rows), below
// groups; items is memory that may be used.
func (b *build) arrange(number numbering, groups int, keyed []int32, items *numberedRows) error {
	n := b.n
	if keyed != nil {
		n = len(keyed)
	}
	sorted, err := b.q.ascends(n, number)
	if err != nil {
		return err
	}
	if err := b.q.Memory.Reserve("join build", int64(4*(groups+1))); err != nil {
		return err
	}
	b.starts = make([]int32, groups+1)
	if sorted {
		if err := b.startsOfSorted(n, number); err != nil || keyed == nil {
			return err // rows lie right already, as from a table that is stored so
		}
		return b.reorder(nil, keyed)
	}
	shift := 0
	for parts := b.q.partitionsFor(8*groups, n); groups>>shift > parts; {
		shift++
	}
	last := (groups - 1) >> shift
	err = items.partition(b.q, n, last+1, number, func(out []uint16, numbers []uint64) {
		for i, g := range numbers {
			out[i] = uint16(g >> shift)
		}
	})
	if err != nil {
		return err
	}
	return b.arrangeParts(items, keyed, func(p int) (lo, hi int) { return p << shift, min((p+1)<<shift, groups) })
}

// arrangeParts does so once the rows are partitioned by their groups: those of partition p are lo .. hi-1, and the numbers are groups.
// Without b.starts each row is a group of its own.
func (b *build) arrangeParts(items *numberedRows, keyed []int32, bounds func(p int) (lo, hi int)) error {
	n := len(items.items)
	var order []int32
	if b.orderMatters() {
		if err := b.q.Memory.Reserve("join build", int64(4*b.n)); err != nil {
			return err
		}
		order = make([]int32, n, b.n)
	}
	err := b.q.Parallel(len(items.ends), n, func(p int) error {
		groups, rows, from := items.part(p)
		if b.starts == nil {
			for i, g := range groups {
				order[g] = rows[i]
			}
			return nil
		}
		lo, hi := bounds(p)
		// next[g-lo] is where the next row of group g goes, and in the end where those of g+1 begin.
		next := b.starts[lo+1 : hi+1]
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
func (b *build) orderMatters() bool { return len(b.payload) > 0 || b.p.KeepUnmatched || b.direct }

// reorder moves the rows to the places of order (nil: as they are), whose values are keyed rows (nil: all rows). Rows without a key,
// kept for an unmatched scan, go to the end.
func (b *build) reorder(order, keyed []int32) error {
	if !b.orderMatters() {
		return nil
	}
	switch {
	case keyed == nil:
	case order == nil:
		order = append(make([]int32, 0, b.n), keyed...)
	default:
		for i, k := range order {
			order[i] = keyed[k]
		}
	}
	if b.direct {
		b.order = order
		return nil
	}
	n := len(order)
	order = append(order, b.nulls...)
	b.nulls = countFrom(nil, n, len(b.nulls))
	b.keys = nil
	for i := range b.payload {
		if err := b.payload[i].permute(b.q, order); err != nil {
			return err
		}
	}
	return nil
}

// startsOfSorted fills b.starts where the groups of the items, all n, ascend.
func (b *build) startsOfSorted(n int, number numbering) error {
	starts := b.starts
	err := b.q.numberBlocks(n, number, func(from int, groups []uint64, before uint64) {
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
func (q *Query) numberBlocks(n int, number numbering, f func(from int, numbers []uint64, before uint64)) error {
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
func (q *Query) ascends(n int, number numbering) (bool, error) {
	var falls atomic.Bool
	err := q.numberBlocks(n, number, func(_ int, numbers []uint64, before uint64) {
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
