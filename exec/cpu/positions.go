package cpu

import "github.com/radish-sql/radish/column"

// countFrom appends from, from+1, ... to dst, n numbers.
func countFrom(dst []int32, from, n int) []int32 {
	for i := range n {
		dst = append(dst, int32(from+i))
	}
	return dst
}

// ascendingPositions holds 0, 1, 2, ...
var ascendingPositions = countFrom(nil, 0, 4*column.VectorSize)

// ascending returns 0..n-1.
func ascending(n int) []int32 {
	if n <= len(ascendingPositions) {
		return ascendingPositions[:n]
	}
	return countFrom(nil, 0, n)
}
