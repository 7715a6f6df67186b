package parquet

import "github.com/radish-sql/radish/column"

// Buffers of closed column chunks serve the next ones: a query reads thousands of chunks.
var (
	byteBuffers column.Buffers[byte]
	intBuffers  column.Buffers[int64]
)

// resizeInts returns n integers, those of x if it has the capacity; else it takes x back.
func resizeInts(x []int64, n int) []int64 {
	if cap(x) >= n {
		return x[:n]
	}
	intBuffers.Give(x)
	return intBuffers.Take(n)
}
