package cpu

import (
	"github.com/radish-sql/radish/column"
)

// Accumulators of DISTINCT and GROUP_CONCAT keep entries that belong to groups, and not one state a group. They are merged as a
// whole, when the groups of all workers have been merged and it is known what has become of each.

// wholeAccumulator is such an accumulator. Its merge is never called.
type wholeAccumulator interface {
	accumulator
	// adopt takes the entries of src over; what was group g there is group to[g] here.
	adopt(src accumulator, to []uint32) error
	// adoptAll does so with several, in order, on all workers.
	adoptAll(srcs []accumulator, to [][]uint32) error
	// complete makes the values ready when all entries are there, on all workers.
	complete() error
}

// adoptAll merges tables of entries partition by partition of their hash. Then each worker feeds an inner accumulator of its own
// from some of the partitions, and those are merged.
func (a *distinctAcc) adoptAll(srcs []accumulator, to [][]uint32) error {
	entries := 0
	tables, tos := []*distinctAcc{a}, [][]uint32{nil}
	for i, s := range srcs {
		tables, tos = append(tables, s.(*distinctAcc)), append(tos, to[i])
	}
	for _, s := range tables {
		if s.table != nil {
			entries += s.table.count
		}
	}
	if !a.q.IsParallel(entries) {
		for i, s := range srcs {
			if err := a.adopt(s, to[i]); err != nil {
				return err
			}
		}
		return nil
	}
	lists := make([]partitionedGroups, len(tables))
	err := a.q.Parallel(len(tables), entries, func(i int) (err error) {
		lists[i], err = tables[i].partition(tos[i])
		return err
	})
	if err != nil {
		return err
	}
	// So many inner accumulators take no more memory than the entries do.
	feeders := max(1, min(a.q.Threads, entries/max(1, 4*a.groups)))
	inners := make([]accumulator, feeders)
	err = a.q.Parallel(feeders, entries, func(f int) error {
		inner := a.make()
		inner.grow(a.groups)
		inners[f] = inner
		for k := f; k < mergePartitions; k += feeders {
			part := newDistinctAcc(a.q, a.types[1:], func() accumulator { return inner })
			part.groups = a.groups
			for i, s := range tables {
				if err := part.take(s, lists[i].part(k, mergePartitions), tos[i]); err != nil {
					return err
				}
			}
			if err := part.complete(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.inner, a.table, a.done = inners[0], nil, true
	for _, inner := range inners[1:] {
		beginMerge([]accumulator{a.inner}, []accumulator{inner})
		err := a.q.Blocks(a.groups, func(from, to int) {
			if err == nil {
				groups := groupRange(from, to)
				err = a.inner.merge(groups, inner, groups)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// partition lists a's entries by the partition of the hash that they have with the groups of to (nil: those they have).
func (a *distinctAcc) partition(to []uint32) (p partitionedGroups, err error) {
	if a.table == nil {
		return p, nil
	}
	all := a.table.groups()
	parts := make([]uint8, len(all))
	var next [mergePartitions]int
	var h keyHasher
	hashes := make([]uint64, column.VectorSize)
	at := 0
	err = a.entriesOf(a.table, all, func(keys []*column.Vector, n int) error {
		renumber(keys[0].I64[:n], to)
		h.hash(hashes[:n], keys, nil, n)
		for i, x := range hashes[:n] {
			parts[at+i] = uint8(x >> (64 - mergeBits))
			next[x>>(64-mergeBits)]++
		}
		at += n
		return nil
	})
	if err != nil {
		return p, err
	}
	sum := 0
	for k, n := range next {
		next[k] = sum
		sum += n
		p.ends[k] = sum
	}
	p.groups = make([]uint32, len(all))
	for i, k := range parts {
		p.groups[next[k]] = all[i]
		next[k]++
	}
	return p, nil
}

// renumber makes groups those that they have become; to may be nil.
func renumber(groups []int64, to []uint32) {
	if to == nil {
		return
	}
	for i, g := range groups {
		groups[i] = int64(to[g])
	}
}

// take adds some of src's entries.
func (a *distinctAcc) take(src *distinctAcc, entries []uint32, to []uint32) error {
	if src.table == nil {
		return nil
	}
	return src.entriesOf(src.table, entries, func(keys []*column.Vector, n int) error {
		renumber(keys[0].I64[:n], to)
		return a.add(keys, ascending(n), n)
	})
}
