package column

import (
	"math/bits"
	"sync"
	"unsafe"
)

// Buffers keeps large buffers without pointers that one has done with, for others of the same query or a later one. Fresh memory costs page faults, and where many
// threads take it at once a page fault costs several times as much as filling the page does.
//
// Go's collector empties it: what nobody has taken by the second collection is free, so what lies there needs no budget.
type Buffers[T any] struct {
	byBits [maxBuffer + 1]sync.Pool // of *[]T, by the power of two that they have the capacity for
}

// Buffers with a capacity of 1<<minBuffer to less than 2<<maxBuffer values are kept.
const (
	minBuffer = 12
	maxBuffer = 24
)

// bufferClass is log2 of the least capacity that is a power of two and holds n values.
func bufferClass(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// BufferCapacity returns the capacity of a buffer that Take gives for n values.
func BufferCapacity(n int) int {
	if class := max(minBuffer, bufferClass(n)); class <= maxBuffer {
		return 1 << class
	}
	return n
}

// Take returns a buffer of n values, which are arbitrary.
func (b *Buffers[T]) Take(n int) []T {
	if s, ok := b.kept(max(minBuffer, bufferClass(n)), n); ok {
		return s
	}
	return make([]T, n, BufferCapacity(n))
}

// TakeZeros returns a buffer of n zeros. A small one is made.
func (b *Buffers[T]) TakeZeros(n int) []T {
	if s, ok := b.kept(bufferClass(n), n); ok {
		clear(s)
		return s
	}
	return Zeros[T](n)
}

// pageSize is the least of what systems have, and leastPages the size from which on Zeros writes to pages.
const (
	pageSize   = 4 << 10
	leastPages = 16 * pageSize
)

// Zeros returns n zeros of fresh memory that is read in no order before it is written, as that of a hash table is. A page that is read first is a common one
// of zeros until it is written: that is a second page fault, for which the other processors are interrupted, too. So each page is written here.
func Zeros[T any](n int) []T {
	s := make([]T, n)
	if bytes := uintptr(n) * unsafe.Sizeof(*new(T)); bytes >= leastPages {
		var zero T
		for i, step := 0, max(1, int(pageSize/unsafe.Sizeof(zero))); i < n; i += step {
			s[i] = zero
		}
	}
	return s
}

// kept returns n values of a buffer of a class, if one is there.
func (b *Buffers[T]) kept(class, n int) ([]T, bool) {
	if class < minBuffer || class > maxBuffer {
		return nil, false
	}
	s, ok := b.byBits[class].Get().(*[]T)
	if !ok {
		return nil, false
	}
	return (*s)[:n], true
}

// Give takes a buffer to which nothing points any more.
func (b *Buffers[T]) Give(s []T) {
	if class := bits.Len(uint(cap(s))) - 1; class >= minBuffer && class <= maxBuffer {
		s = s[:0]
		b.byBits[class].Put(&s)
	}
}
