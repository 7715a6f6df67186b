package task

import (
	"math/bits"
	"sync"
)

// Buffers keeps large buffers without pointers that operators are done with, for others of the same query or a later one. Fresh memory costs page faults, and where many
// threads take it at once a page fault costs several times as much as filling the page does.
//
// Go's collector empties it: what nobody has taken by the second collection is free, so buffers need no budget. Operators of queries with a memory limit,
// which holds for the whole process, do not use it.
type Buffers[T any] struct {
	byBits [maxBuffer + 1]sync.Pool // of *[]T with a capacity of a power of two
}

// Buffers of 1<<minBuffer to 1<<maxBuffer values are kept.
const (
	minBuffer = 12
	maxBuffer = 24
)

// Take returns a buffer of n zeros.
func (b *Buffers[T]) Take(n int) []T {
	class := bits.Len(uint(max(n, 1) - 1))
	if class >= minBuffer && class <= maxBuffer {
		if s, ok := b.byBits[class].Get().(*[]T); ok {
			clear((*s)[:n])
			return (*s)[:n]
		}
	}
	return make([]T, n)
}

// Give takes a buffer to which nothing points any more. Buffers whose capacity is no power of two are left to the collector.
func (b *Buffers[T]) Give(s []T) {
	class := bits.Len(uint(cap(s))) - 1
	if class < minBuffer || class > maxBuffer || cap(s) != 1<<class {
		return
	}
	s = s[:0]
	b.byBits[class].Put(&s)
}
