package accumulate

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// Accumulators of DISTINCT and GROUP_CONCAT keep entries that belong to groups, and not one state a group. They are merged as a
// whole, when the groups of all workers have been merged and it is known what has become of each.

// Whole is such an accumulator. Its merge is never called.
type Whole interface {
	Accumulator
	// Adopt takes the entries of src over; what was group g there is group to[g] here.
	Adopt(src Accumulator, to []uint32) error
	// AdoptAll does so with several, in order, on all workers.
	AdoptAll(srcs []Accumulator, to [][]uint32) error
	// Complete makes the values ready when all entries are there, on all workers. Entries that are not needed any more are gone then, and Bytes says so.
	Complete() error
}

// AdoptAll merges tables of entries partition by partition of their hash. Then each worker feeds an inner accumulator of its own
// from some of the partitions, and those are merged.
func (a *distinctValues) AdoptAll(srcs []Accumulator, to [][]uint32) error {
	entries := 0
	tables, tos := []*distinctValues{a}, [][]uint32{nil}
	for i, s := range srcs {
		tables, tos = append(tables, s.(*distinctValues)), append(tos, to[i])
	}
	for _, s := range tables {
		if s.table != nil {
			entries += s.table.Count
		}
	}
	if !a.q.IsParallel(entries) {
		for i, s := range srcs {
			if err := a.Adopt(s, to[i]); err != nil {
				return err
			}
		}
		return nil
	}
	lists := make([]grouptable.Partitioned, len(tables))
	err := a.q.Parallel(len(tables), entries, func(i int) (err error) {
		lists[i], err = tables[i].partition(tos[i])
		return err
	})
	if err != nil {
		return err
	}
	// So many inner accumulators take no more memory than the entries do.
	feeders := max(1, min(a.q.Threads, entries/max(1, 4*a.groups)))
	inners := make([]Accumulator, feeders)
	err = a.q.Parallel(feeders, entries, func(f int) error {
		inner := a.make()
		inner.Grow(a.groups)
		inners[f] = inner
		for k := f; k < grouptable.MergePartitions; k += feeders {
			part := newDistinct(a.q, a.types[1:], func() Accumulator { return inner })
			part.groups = a.groups
			for i, s := range tables {
				if err := part.take(s, lists[i].Partition(k, grouptable.MergePartitions), tos[i]); err != nil {
					return err
				}
			}
			if err := part.Complete(); err != nil {
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
		BeginMerge([]Accumulator{a.inner}, []Accumulator{inner})
		err := a.q.Blocks(a.groups, func(from, to int) {
			if err == nil {
				groups := grouptable.Range(from, to)
				err = a.inner.Merge(groups, inner, groups)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// partition lists a's entries by the partition of the hash that they have with the groups of to (nil: those they have).
func (a *distinctValues) partition(to []uint32) (p grouptable.Partitioned, err error) {
	if a.table == nil {
		return p, nil
	}
	all := a.table.Groups()
	parts := make([]uint8, len(all))
	var h keyhash.Hasher
	hashes := make([]uint64, column.VectorSize)
	at := 0
	err = a.entriesOf(a.table, all, func(keys []*column.Vector, n int) error {
		renumber(keys[0].I64[:n], to)
		h.Hash(hashes[:n], keys, nil, n)
		for i, x := range hashes[:n] {
			parts[at+i] = uint8(x >> (64 - grouptable.MergeBits))
		}
		at += n
		return nil
	})
	if err != nil {
		return p, err
	}
	p.Groups = make([]uint32, len(all))
	p.Ends = vec.ByPartition(p.Groups, all, parts)
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
func (a *distinctValues) take(src *distinctValues, entries []uint32, to []uint32) error {
	if src.table == nil {
		return nil
	}
	return src.entriesOf(src.table, entries, func(keys []*column.Vector, n int) error {
		renumber(keys[0].I64[:n], to)
		return a.add(keys, vec.Ascending(n), n)
	})
}
