package accumulate

import (
	"math"

	"github.com/radish-sql/radish/column"
)

// bitwise is BIT_AND, BIT_OR and BIT_XOR.
type bitwise struct {
	op    byte // '&', '|' or '^'
	words []uint64
}

func (a *bitwise) Grow(n int) {
	empty := uint64(0)
	if a.op == '&' {
		empty = math.MaxUint64
	}
	a.words = grown(a.words, n, empty)
}
func (a *bitwise) Bytes() int64 { return 8 * int64(cap(a.words)) }

func (a *bitwise) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	for g, p := range valuesOf(v, groups, sel) {
		a.add(g, uint64(v.I64[p]))
	}
	return nil
}

func (a *bitwise) add(g uint32, x uint64) {
	switch a.op {
	case '&':
		a.words[g] &= x
	case '|':
		a.words[g] |= x
	default:
		a.words[g] ^= x
	}
}

func (a *bitwise) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*bitwise)
	for i, g := range dst {
		a.add(g, s.words[from[i]])
	}
	return nil
}

func (a *bitwise) values(_ *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		v.I64[i] = int64(a.words[g])
	}
	return nil
}
