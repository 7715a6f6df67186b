// Package radix partitions numbered rows. Join builds use it to give each worker partitions of a table that fit its cache.
package radix

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
)

// Radix partitioning: numbered rows are put in the order of their partitions, so that one worker alone can work on a partition, and within
// its cache (Manegold, Boncz, Kersten 2002; Balkesen, Teubner, Alonso, Özsu 2013). Chunks of rows are counted in parallel and then
// scattered in parallel. Within a partition rows keep their order, so that nothing depends on who worked on what.

// maxPartitions bounds the partitions of a pass: about as many as pages that a core's address cache holds.
const maxPartitions = 1 << 11

// partitionBytes is how much of a table a partition should fill: a fraction of a core's own cache.
const partitionBytes = 1 << 19

// Partitions returns the partitions, a power of two, for work on n rows and a table of so many bytes.
func Partitions(q *task.Query, bytes, n int) int {
	partitions := bytes / partitionBytes
	if q.IsParallel(n) {
		partitions = max(partitions, 2*q.Threads)
	}
	return min(1<<bits.Len(uint(max(partitions, 1)-1)), maxPartitions)
}

// Rows are items 0, 1, ... by partition, with a number of each.
type Rows struct {
	numbers []uint64
	Items   []int32
	Ends    []int // of the partitions
}

// Partition returns the items of a partition, of which the first is item from of all.
func (x *Rows) Partition(p int) (numbers []uint64, items []int32, from int) {
	if p > 0 {
		from = x.Ends[p-1]
	}
	return x.numbers[from:x.Ends[p]], x.Items[from:x.Ends[p]], from
}

// Numbering stores the numbers of items from .. from+len(out)-1 in out.
type Numbering func(out []uint64, from int)

// Fill fills x, whose memory is used again if it is of n items. choose stores the partitions of numbers.
func (x *Rows) Fill(q *task.Query, n, partitions int, number Numbering, choose func(out []uint16, numbers []uint64)) error {
	if x.numbers == nil {
		x.numbers, x.Items = column.Unset[uint64](n), column.Unset[int32](n)
	}
	const block = column.VectorSize
	chunk := max((n/(4*q.Threads)+block-1)/block, 8) * block
	chunks := (n + chunk - 1) / chunk
	eachBlock := func(f func(c, from int, numbers []uint64, chosen []uint16)) error {
		return q.Parallel(chunks, n, func(c int) error {
			numbers, chosen := make([]uint64, block), make([]uint16, block)
			for from := c * chunk; from < min((c+1)*chunk, n); from += block {
				if err := q.Check(); err != nil {
					return err
				}
				k := min(block, n-from)
				number(numbers[:k], from)
				if partitions > 1 {
					choose(chosen[:k], numbers[:k])
				}
				f(c, from, numbers[:k], chosen[:k])
			}
			return nil
		})
	}
	next := make([][]int32, chunks) // by chunk and partition: counts, then positions
	err := eachBlock(func(c, _ int, _ []uint64, chosen []uint16) {
		if next[c] == nil {
			next[c] = make([]int32, partitions)
		}
		for _, p := range chosen {
			next[c][p]++
		}
	})
	if err != nil {
		return err
	}
	x.Ends = make([]int, partitions)
	sum := int32(0)
	for p := range x.Ends {
		for c := range next {
			next[c][p], sum = sum, sum+next[c][p]
		}
		x.Ends[p] = int(sum)
	}
	return eachBlock(func(c, from int, numbers []uint64, chosen []uint16) {
		positions := next[c]
		for i, p := range chosen {
			at := positions[p]
			positions[p]++
			x.numbers[at], x.Items[at] = numbers[i], int32(from+i)
		}
	})
}
