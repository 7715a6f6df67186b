package cpu

import "math/bits"

// Many groups are merged in partitions, which the first mergeBits of their hashes choose. A task takes one or several of them.
const (
	mergeBits       = 8
	mergePartitions = 1 << mergeBits
	mergedGroups    = 1 << 13 // about so many groups make a task: they and their accumulators stay in a core's cache
)

// mergeTasks returns the number of tasks, a power of two, in which so many groups are merged.
func (q *Query) mergeTasks(groups int) int {
	tasks := max(groups/mergedGroups, 4*q.Threads)
	return min(1<<bits.Len(uint(tasks-1)), mergePartitions)
}

// partitionedGroups lists a table's groups by partition, in order within each.
type partitionedGroups struct {
	groups []uint32 // nil: the table's groups are in this order
	ends   [mergePartitions]int
}

func (q *Query) partitionGroups(t *groupTable) (p partitionedGroups, err error) {
	parts := make([]uint8, t.count)
	var next [mergePartitions]int
	err = q.Blocks(t.count, func(from, to int) {
		for g := from; g < to; g++ {
			h := t.hash(uint32(g)) >> (64 - mergeBits)
			parts[g] = uint8(h)
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
		p.ends[k] = sum
	}
	p.groups = make([]uint32, t.count)
	err = q.Blocks(t.count, func(from, to int) {
		for g := from; g < to; g++ {
			h := parts[g]
			p.groups[next[h]] = uint32(g)
			next[h]++
		}
	})
	return p, err
}

// part returns the groups of the k-th of some tasks.
func (p *partitionedGroups) part(k, tasks int) []uint32 {
	each := mergePartitions / tasks
	from, to := 0, p.ends[(k+1)*each-1]
	if k > 0 {
		from = p.ends[k*each-1]
	}
	if p.groups == nil {
		return groupRange(from, to)
	}
	return p.groups[from:to]
}

// partitionRoom guesses the number of groups that a task will have: between that of all tables having the same ones
// and that of all having their own.
func partitionRoom(lists []partitionedGroups, k, tasks int) int {
	each := mergePartitions / tasks
	most, sum := 0, 0
	for i := range lists {
		n := lists[i].ends[(k+1)*each-1]
		if k > 0 {
			n -= lists[i].ends[k*each-1]
		}
		most, sum = max(most, n), sum+n
	}
	return max(most, sum/2)
}

func groupRange(from, to int) []uint32 {
	groups := make([]uint32, to-from)
	for i := range groups {
		groups[i] = uint32(from + i)
	}
	return groups
}
