package arrowconv

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// MaxBuffer returns how large a piece of memory a file of so many bytes can ask for without being damaged: what compression
// makes of it, with a bound for large files. Go ends the program that asks the system for memory that it does not have.
func MaxBuffer(fileSize int64) int64 {
	return min(256*fileSize+1<<20, max(2*fileSize, 1<<32))
}

// BoundedAllocator is Go's memory, in pieces of at most limit bytes each. Larger ones end in a panic, which [Guard] turns
// into the error of a damaged file.
func BoundedAllocator(limit int64) memory.Allocator {
	return boundedAllocator{memory.NewGoAllocator(), limit}
}

type boundedAllocator struct {
	memory.Allocator
	limit int64
}

func (a boundedAllocator) Allocate(size int) []byte {
	a.check(size)
	return a.Allocator.Allocate(size)
}

func (a boundedAllocator) Reallocate(size int, b []byte) []byte {
	a.check(size)
	return a.Allocator.Reallocate(size, b)
}

func (a boundedAllocator) check(size int) {
	if size < 0 || int64(size) > a.limit {
		panic(fmt.Sprintf("it asks for %d bytes at once", size))
	}
}
