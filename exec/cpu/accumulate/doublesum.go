package accumulate

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// doubleSum sums doubles in pairs of doubles (Knuth's two-sum; Dekker 1971): the sum is right to the last bit or nearly so
// whatever the order of its terms. Of sums that are not finite, c tells what made them so: see sumOfSpecial.
type doubleSum struct{ s, c []float64 }

func (a *doubleSum) Grow(n int)   { a.s, a.c = grown(a.s, n, 0), grown(a.c, n, 0) }
func (a *doubleSum) Bytes() int64 { return 16 * int64(cap(a.s)) }

func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

func (a *doubleSum) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	if v.Valid == nil && groups == nil {
		if s, c := addAll(a.s[0], a.c[0], v.F64, sel); types.IsFinite(s) {
			a.s[0], a.c[0] = s, c
			return nil
		}
	}
	if v.Valid == nil && groups != nil {
		sums, corrections, values := a.s, a.c[:len(a.s)], v.F64
		for i, g := range groups[:len(sel)] {
			x := values[sel[i]]
			r, e := twoSum(sums[g], x)
			if !types.IsFinite(r) {
				sums[g], corrections[g] = sumOfSpecial(sums[g], corrections[g], x, 0)
				continue
			}
			sums[g] = r
			corrections[g] += e
		}
		return nil
	}
	for g, p := range valuesOf(v, groups, sel) {
		r, e := twoSum(a.s[g], v.F64[p])
		if !types.IsFinite(r) {
			a.s[g], a.c[g] = sumOfSpecial(a.s[g], a.c[g], v.F64[p], 0)
			continue
		}
		a.s[g] = r
		a.c[g] += e
	}
	return nil
}

// addAll adds values at positions to a sum. Its result stands if it is finite. Each addition waits for the one before it, so four sums grow side by side:
// that takes 0.55 of the time of one (Go 1.26).
func addAll(s, c float64, values []float64, sel []int32) (sum, correction float64) {
	var s1, s2, s3, c1, c2, c3, e float64
	if vec.AreAscending(sel) {
		for sel, values = sel[:0], values[:len(sel)]; len(values) >= 4; values = values[4:] {
			s, e = twoSum(s, values[0])
			c += e
			s1, e = twoSum(s1, values[1])
			c1 += e
			s2, e = twoSum(s2, values[2])
			c2 += e
			s3, e = twoSum(s3, values[3])
			c3 += e
		}
		for _, x := range values {
			s, e = twoSum(s, x)
			c += e
		}
	}
	for ; len(sel) >= 4; sel = sel[4:] {
		s, e = twoSum(s, values[sel[0]])
		c += e
		s1, e = twoSum(s1, values[sel[1]])
		c1 += e
		s2, e = twoSum(s2, values[sel[2]])
		c2 += e
		s3, e = twoSum(s3, values[sel[3]])
		c3 += e
	}
	for _, p := range sel {
		s, e = twoSum(s, values[p])
		c += e
	}
	s, e = twoSum(s, s1)
	c += c1 + e
	s2, e = twoSum(s2, s3)
	c2 += c3 + e
	s, e = twoSum(s, s2)
	return s, c + (c2 + e)
}

// AddPair adds two sums.
func AddPair(s, c, t, d float64) (sum, correction float64) {
	r, e := twoSum(s, t)
	if !types.IsFinite(r) {
		return sumOfSpecial(s, c, t, d)
	}
	return r, c + d + e
}

// sumOfSpecial adds two sums, given that the result is not finite. Its correction is 0 if an infinity or NaN is among the terms, which
// makes the sum that of these, and NaN if finite terms overflowed.
func sumOfSpecial(s, c, t, d float64) (sum, correction float64) {
	first, second := !types.IsFinite(s) && c == 0, !types.IsFinite(t) && d == 0
	switch {
	case first && second:
		return s + t, 0
	case first:
		return s, 0
	case second:
		return t, 0
	}
	return s + t, math.NaN()
}

// Total is the sum that a pair stands for. ok is false if it overflowed.
func Total(s, c float64) (sum float64, ok bool) {
	if !types.IsFinite(s) {
		return s, c == 0
	}
	sum = s + c
	return sum, types.IsFinite(sum)
}

func (a *doubleSum) Merge(dst []uint32, src Accumulator, from []uint32) error {
	x := src.(*doubleSum)
	for i, g := range dst {
		a.s[g], a.c[g] = AddPair(a.s[g], a.c[g], x.s[from[i]], x.c[from[i]])
	}
	return nil
}

// values stores sums, or averages. Groups of which count counts nothing have none.
func (a *doubleSum) values(o *Output, groups []uint32, count *Count, v *column.Vector) error {
	for i, g := range groups {
		if count != nil && count.N[g] == 0 {
			v.SetNull(i, len(groups))
			continue
		}
		x, ok := Total(a.s[g], a.c[g])
		if o.Item.Fn.Kind == expr.AggAvg {
			x /= float64(count.N[g])
		}
		if !ok {
			return o.outOfRange("DOUBLE")
		}
		if err := setNumber(v, i, x, o.Item); err != nil {
			return err
		}
	}
	return nil
}

// setNumber stores a double as the result's type, which is a double wherever the binder follows MySQL.
func setNumber(v *column.Vector, i int, x float64, it *logical.AggItem) error {
	switch {
	case v.Type.Phys() == types.PhysFloat64:
		v.F64[i] = x
	case v.Type.Kind == types.KindDecimal:
		d, _ := types.FloatToDecimal(x, int(v.Type.Precision), int(v.Type.Scale))
		if v.Type.Phys() == types.PhysInt128 {
			v.I128[i] = d
		} else {
			v.I64[i], _ = d.Int64()
		}
	default:
		return sqlerr.Bug("%s gives %s", it.Col.Name, v.Type)
	}
	return nil
}
