package accumulate

import (
	"iter"

	"github.com/radish-sql/radish/column"
)

// Accumulator computes one primitive aggregate of many groups. Group numbers index its arrays.
type Accumulator interface {
	// Grow makes it hold n groups; new ones are empty.
	Grow(n int)
	// Update adds, for each i, the argument at position sel[i] to group groups[i]. A nil groups stands for group 0
	// everywhere. Arguments are flat; sel is never nil.
	Update(groups []uint32, args []*column.Vector, sel []int32) error
	// Merge adds the groups from of src, an accumulator of the same kind, to the groups dst. beginMerge has been called
	// where there is one. Calls for different groups of dst may run at once.
	Merge(dst []uint32, src Accumulator, from []uint32) error
	// Bytes returns the memory in use.
	Bytes() int64
	// values stores in v what o asks for of groups. count counts their values that are not NULL, where o needs that.
	values(o *Output, groups []uint32, count *Count, v *column.Vector) error
}

// IgnoresNulls says whether rows whose only argument is NULL change nothing in a.
func IgnoresNulls(a Accumulator) bool {
	switch a.(type) {
	case *Count, *exactSum, *doubleSum:
		return true
	}
	return false
}

// BeginMerge tells dst that groups of src will be merged into it.
func BeginMerge(dst, src []Accumulator) {
	for i := range dst {
		if d, ok := dst[i].(interface{ beginMerge(Accumulator) }); ok {
			d.beginMerge(src[i])
		}
	}
}

// grown makes x n long, new elements being fill. What lies beyond a slice's length has never been written, so is zero.
func grown[T comparable](x []T, n int, fill T) []T {
	old := len(x)
	if n <= old {
		return x
	}
	if cap(x) < n {
		y := make([]T, n, max(n, 2*cap(x)))
		copy(y, x)
		x = y
	} else {
		x = x[:n]
	}
	var zero T
	if fill != zero {
		for i := old; i < n; i++ {
			x[i] = fill
		}
	}
	return x
}

// valuesOf walks over the values of v at sel that are not NULL: the group and the position of each.
func valuesOf(v *column.Vector, groups []uint32, sel []int32) iter.Seq2[uint32, int32] {
	return func(yield func(uint32, int32) bool) {
		g := uint32(0)
		for i, p := range sel {
			if v.Valid != nil && !v.Valid.Get(int(p)) {
				continue
			}
			if groups != nil {
				g = groups[i]
			}
			if !yield(g, p) {
				return
			}
		}
	}
}
