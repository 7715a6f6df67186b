package task

import (
	"slices"
	"unsafe"

	"github.com/radish-sql/radish/column"
)

// Whatever an operator does, it looks whether the query has been stopped after each bounded piece of work, of some
// milliseconds at most: a vector, a morsel, or a block of the rows that it has stored.

// CheckRows is a mask: loops over all rows of an operator look whether the query has been stopped each time that the
// row's number has none of its bits.
const CheckRows = 1<<16 - 1

// Blocks calls f with consecutive ranges that make up 0 .. n-1, until the query is stopped.
func (q *Query) Blocks(n int, f func(from, to int)) error {
	for from := 0; from < n; from += CheckRows + 1 {
		if err := q.Check(); err != nil {
			return err
		}
		f(from, min(from+CheckRows+1, n))
	}
	return nil
}

// ParallelBlocks is Blocks on several workers, in no order.
func (q *Query) ParallelBlocks(n int, f func(from, to int)) error {
	return q.Parallel((n+CheckRows)>>16, n, func(i int) error {
		f(i<<16, min((i+1)<<16, n))
		return nil
	})
}

// SortStable sorts x stably: short runs by insertion, then merges of two runs at a time.
func SortStable[T any](q *Query, x []T, compare func(a, b T) int) error {
	const run = 16
	for at := 0; at < len(x); at += run {
		if at&(CheckRows>>4) == 0 {
			if err := q.Check(); err != nil {
				return err
			}
		}
		slices.SortStableFunc(x[at:min(at+run, len(x))], compare)
	}
	if len(x) <= run {
		return nil
	}
	from, to := x, make([]T, len(x))
	for size := run; size < len(x); size *= 2 {
		for lo := 0; lo < len(x); lo += 2 * size {
			mid, hi := min(lo+size, len(x)), min(lo+2*size, len(x))
			if mid == hi || compare(from[mid-1], from[mid]) <= 0 {
				if err := q.Blocks(hi-lo, func(f, t int) { copy(to[lo+f:lo+t], from[lo+f:lo+t]) }); err != nil {
					return err
				}
				continue
			}
			a, b := lo, mid
			for k := lo; k < hi; k++ {
				if k&(CheckRows>>4) == 0 {
					if err := q.Check(); err != nil {
						return err
					}
				}
				if a < mid && (b == hi || compare(from[a], from[b]) <= 0) {
					to[k] = from[a]
					a++
				} else {
					to[k] = from[b]
					b++
				}
			}
		}
		from, to = to, from
	}
	if &from[0] != &x[0] {
		copy(x, from)
	}
	return nil
}

// sharedZeros is how many bytes of zeros are written by several workers: some 100 µs of one.
const sharedZeros = 1 << 20

// Zeros returns n zeros, which several workers write if they are many. T has no pointers.
func Zeros[T any](q *Query, n int) ([]T, error) {
	if n*int(unsafe.Sizeof(*new(T))) < sharedZeros || !q.IsParallel(n) {
		return column.Zeros[T](n), nil
	}
	s := column.Unset[T](n)
	return s, q.ParallelBlocks(n, func(from, to int) { clear(s[from:to]) })
}
