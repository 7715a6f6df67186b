package vec

import "github.com/radish-sql/radish/column"

// CountFrom appends from, from+1, ... to dst, n numbers.
func CountFrom(dst []int32, from, n int) []int32 {
	for i := range n {
		dst = append(dst, int32(from+i))
	}
	return dst
}

// ascendingPositions holds 0, 1, 2, ...
var ascendingPositions = CountFrom(nil, 0, 4*column.VectorSize)

// Ascending returns 0..n-1.
func Ascending(n int) []int32 {
	if n <= len(ascendingPositions) {
		return ascendingPositions[:n]
	}
	return CountFrom(nil, 0, n)
}

// AreAscending says whether positions are what [Ascending] has returned, not only equal to it.
func AreAscending(positions []int32) bool {
	return len(positions) > 0 && &positions[0] == &ascendingPositions[0]
}

// ByPartition stores items in dst by their partitions, those of one partition as they come, and returns where the partitions end. items nil: they are the positions 0, 1, 2, ...
func ByPartition[T int32 | uint32](dst, items []T, partitions []uint8) (ends [1 << 8]int) {
	var next [1 << 8]int
	for _, k := range partitions {
		next[k]++
	}
	sum := 0
	for k, n := range next {
		next[k] = sum
		sum += n
		ends[k] = sum
	}
	for i, k := range partitions {
		item := T(i)
		if items != nil {
			item = items[i]
		}
		dst[next[k]] = item
		next[k]++
	}
	return ends
}
