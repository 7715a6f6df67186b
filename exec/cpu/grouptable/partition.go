package grouptable

import (
	"math/bits"

	"github.com/radish-sql/radish/exec/cpu/task"
)

// Many groups are merged in partitions, which the first MergeBits of their hashes choose. A task takes one or several of them.
const (
	MergeBits       = 8
	MergePartitions = 1 << MergeBits
	mergedGroups    = 1 << 13 // about so many groups make a task: they and their accumulators stay in a core's cache
)

// MergeTasks returns the number of tasks, a power of two, in which so many groups are merged.
func MergeTasks(q *task.Query, groups int) int {
	tasks := max(groups/mergedGroups, 4*q.Threads)
	return min(1<<bits.Len(uint(tasks-1)), MergePartitions)
}

// Partitioned lists a table's groups by partition, in order within each.
type Partitioned struct {
	Groups []uint32 // nil: the table's groups are in this order
	Ends   [MergePartitions]int
}

func Partition(q *task.Query, t *Table) (p Partitioned, err error) {
	partitions := make([]uint8, t.Count)
	var next [MergePartitions]int
	err = q.Blocks(t.Count, func(from, to int) {
		for g := from; g < to; g++ {
			h := t.hash(uint32(g)) >> (64 - MergeBits)
			partitions[g] = uint8(h)
			next[h]++
		}
	})
	if err != nil {
		return p, err
	}
	sum := 0
	for k, n := range next {
		next[k] = sum
		sum += n
		p.Ends[k] = sum
	}
	p.Groups = make([]uint32, t.Count)
	err = q.Blocks(t.Count, func(from, to int) {
		for g := from; g < to; g++ {
			h := partitions[g]
			p.Groups[next[h]] = uint32(g)
			next[h]++
		}
	})
	return p, err
}

// Bounds returns where the groups of the k-th of some tasks begin and end.
func (p *Partitioned) Bounds(k, tasks int) (from, to int) {
	each := MergePartitions / tasks
	if k > 0 {
		from = p.Ends[k*each-1]
	}
	return from, p.Ends[(k+1)*each-1]
}

// Partition returns the groups of the k-th of some tasks.
func (p *Partitioned) Partition(k, tasks int) []uint32 {
	from, to := p.Bounds(k, tasks)
	if p.Groups == nil {
		return Range(from, to)
	}
	return p.Groups[from:to]
}

// ExpectedGroups guesses the number of groups that a task will have, of all that are expected: at least that of any table, at most that of all tables.
func ExpectedGroups(lists []Partitioned, k, tasks, all int) int {
	most, sum := 0, 0
	for i := range lists {
		from, to := lists[i].Bounds(k, tasks)
		most, sum = max(most, to-from), sum+to-from
	}
	return max(most, min(sum, all/tasks))
}

func Range(from, to int) []uint32 {
	groups := make([]uint32, to-from)
	for i := range groups {
		groups[i] = uint32(from + i)
	}
	return groups
}
