package accumulate

import "github.com/radish-sql/radish/column"

// Count counts rows, or the values of its argument that are not NULL.
type Count struct{ N []int64 }

func (a *Count) Grow(n int)   { a.N = grown(a.N, n, 0) }
func (a *Count) Bytes() int64 { return 8 * int64(cap(a.N)) }

func (a *Count) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	var valid column.Bitmap
	if len(args) > 0 {
		valid = args[0].Valid
	}
	n := a.N
	switch {
	case groups == nil && valid == nil:
		n[0] += int64(len(sel))
	case groups == nil:
		for _, p := range sel {
			n[0] += int64(valid[p>>6] >> (uint(p) & 63) & 1)
		}
	case valid == nil && len(n) <= fewGroups:
		countFew(n, groups)
	case valid == nil:
		for _, g := range groups {
			n[g]++
		}
	default:
		for i, p := range sel {
			n[groups[i]] += int64(valid[p>>6] >> (uint(p) & 63) & 1)
		}
	}
	return nil
}

func (a *Count) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*Count)
	for i, g := range dst {
		a.N[g] += s.N[from[i]]
	}
	return nil
}

func (a *Count) values(_ *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		v.I64[i] = a.N[g]
	}
	return nil
}
