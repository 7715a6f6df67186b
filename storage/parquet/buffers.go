package parquet

import (
	"math/bits"
	"sync"
)

// Buffers of closed column chunks serve the next ones: a query reads thousands of chunks, and fresh memory costs page faults. The collector empties the pools, so what lies there needs no budget.

// Buffers with a capacity of up to 1<<maxBuffer bytes or values are kept, in pools by the power of two that they have the capacity for.
const (
	minBuffer = 12
	maxBuffer = 24
)

type bufferPools[T any] [maxBuffer + 1]sync.Pool

var (
	byteBuffers bufferPools[byte]
	intBuffers  bufferPools[int64]
)

// capacityFor returns the capacity of a buffer that takeBuffer gives for n bytes.
func capacityFor(n int) int {
	if class := bufferClass(n); class <= maxBuffer {
		return 1 << class
	}
	return n
}

func bufferClass(n int) int { return max(minBuffer, bits.Len(uint(max(n, 1)-1))) }

// take returns a buffer of n values, which are arbitrary.
func (p *bufferPools[T]) take(n int) []T {
	class := bufferClass(n)
	if class > maxBuffer {
		return make([]T, n)
	}
	if b, ok := p[class].Get().(*[]T); ok {
		return (*b)[:n]
	}
	return make([]T, n, 1<<class)
}

// give takes a buffer back to which nothing points any more.
func (p *bufferPools[T]) give(b []T) {
	if class := bits.Len(uint(cap(b))) - 1; class >= minBuffer && class <= maxBuffer {
		b = b[:0]
		p[class].Put(&b)
	}
}

func takeBuffer(n int) []byte { return byteBuffers.take(n) }

func giveBuffer(b []byte) { byteBuffers.give(b) }

// resizeInts returns n integers, those of x if it has the capacity; else it takes x back.
func resizeInts(x []int64, n int) []int64 {
	if cap(x) >= n {
		return x[:n]
	}
	intBuffers.give(x)
	return intBuffers.take(n)
}
