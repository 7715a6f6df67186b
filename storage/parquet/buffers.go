package parquet

import (
	"math/bits"
	"sync"
)

// Buffers of closed column chunks serve the next ones: a query reads thousands of chunks, and fresh memory costs page faults. The collector empties the pools, so what lies there needs no budget.

// Buffers of up to 1<<maxBuffer bytes are kept, in pools by the power of two that they have the capacity for.
const (
	minBuffer = 12
	maxBuffer = 24
)

var buffers [maxBuffer + 1]sync.Pool

// capacityFor returns the capacity of a buffer that takeBuffer gives for n bytes.
func capacityFor(n int) int {
	if class := bufferClass(n); class <= maxBuffer {
		return 1 << class
	}
	return n
}

func bufferClass(n int) int { return max(minBuffer, bits.Len(uint(max(n, 1)-1))) }

// takeBuffer returns a buffer of n bytes, whose content is arbitrary.
func takeBuffer(n int) []byte {
	class := bufferClass(n)
	if class > maxBuffer {
		return make([]byte, n)
	}
	if b, ok := buffers[class].Get().(*[]byte); ok {
		return (*b)[:n]
	}
	return make([]byte, n, 1<<class)
}

// giveBuffer takes a buffer back to which nothing points any more.
func giveBuffer(b []byte) {
	if class := bits.Len(uint(cap(b))) - 1; class >= minBuffer && class <= maxBuffer {
		b = b[:0]
		buffers[class].Put(&b)
	}
}
