package vec

import "github.com/radish-sql/radish/column"

// Flattener makes flat copies of constants, in memory that it uses again.
type Flattener struct{ flat []column.Vector }

// Flatten returns v, or if it is a constant a copy with n values. The i-th copy lives until the next call for i.
func (f *Flattener) Flatten(i int, v *column.Vector, n int) *column.Vector {
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
	CopyInto(x, 0, n, v, nil, 0, n)
	return x
}
