package vec

import "github.com/radish-sql/radish/column"

// Flattener makes flat copies of constants, in memory that it uses again.
type Flattener struct{ flat []column.Vector }

// Flatten returns v, or if it is a constant a copy of n values, of which only those at sel are set (nil: all). The i-th copy lives until the next call for i.
func (f *Flattener) Flatten(i int, v *column.Vector, sel []int32, n int) *column.Vector {
	if !v.Const {
		return v
	}
	for len(f.flat) <= i {
		f.flat = append(f.flat, column.Vector{})
	}
	x := &f.flat[i]
	x.Type = v.Type
	if v.Dict != nil {
		x.ReserveCodes(v.Dict, n)
	} else {
		x.Reserve(n)
		x.Loose = v.Loose
	}
	if sel == nil || len(sel) == n {
		CopyInto(x, 0, n, v, nil, 0, n)
		return x
	}
	// Joins and filters leave few rows of many batches.
	from := 0
	for from < len(sel) {
		to := from + 1
		for to < len(sel) && sel[to] == sel[to-1]+1 {
			to++
		}
		CopyInto(x, int(sel[from]), n, v, nil, 0, to-from)
		from = to
	}
	return x
}
