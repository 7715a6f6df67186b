package expr

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// plainCast converts values that need neither a warning nor an error. It appends the other positions of sel to left, and package types converts those. v is flat or constant.
type plainCast func(out, v *column.Vector, sel, left []int32) []int32

// newPlainCast returns the loop for a pair of types, nil if there is none. assigned says that the value goes into a column, where a string that
// becomes an integer is rounded.
func newPlainCast(from, to types.Type, assigned bool) plainCast {
	switch {
	case to.Kind == types.KindBool || to.Kind == types.KindYear:
		return nil
	case from.IsString(): // JSON too, whose numbers stand as they are
		return plainString(to, assigned)
	case from.Kind == types.KindDatetime && to.Kind == types.KindDate:
		return datesOfMoments
	case to.IsInteger():
		return plainIntegers(from, to)
	case from.Kind == types.KindDecimal && to.Kind == types.KindDecimal && from.Phys() == types.PhysInt64 && to.Phys() == types.PhysInt64 && to.Scale < from.Scale:
		low, high := decimalRange(to)
		return roundedIntegers(types.Pow10(int(from.Scale)-int(to.Scale)), low, high)
	}
	return nil
}

// decimalRange is the range of the unscaled values of a DECIMAL of at most 18 digits.
func decimalRange(t types.Type) (low, high int64) {
	high = types.Pow10(int(t.Precision)) - 1
	return -high, high
}

func plainString(to types.Type, assigned bool) plainCast {
	switch {
	case to.IsInteger() && !assigned:
		return integersOfString(types.IntRange(to.Kind))
	case to.IsFloat():
		return floatsOfString(to.Kind == types.KindFloat)
	case to.Kind == types.KindDecimal:
		return decimalsOfString(to)
	case to.Kind == types.KindDate:
		return func(out, v *column.Vector, sel, left []int32) []int32 {
			s := Strings(v)
			for _, i := range sel {
				if days, ok := types.ParseISODate(s.At(int(i))); ok && types.ValidDate(days) {
					out.I64[i] = days
				} else {
					left = append(left, i)
				}
			}
			return left
		}
	case to.Kind == types.KindDatetime:
		return func(out, v *column.Vector, sel, left []int32) []int32 {
			s := Strings(v)
			for _, i := range sel {
				if moment, ok := types.ParseISODatetime(s.At(int(i))); ok && types.ValidDatetime(moment) {
					out.I64[i] = moment
				} else {
					left = append(left, i)
				}
			}
			return left
		}
	}
	return nil
}

func integersOfString(low, high int64) plainCast {
	return func(out, v *column.Vector, sel, left []int32) []int32 {
		s := Strings(v)
		for _, i := range sel {
			n, scale, _, ok := types.PlainNumber(s.At(int(i)))
			if !ok || scale > 0 || n < low || n > high {
				left = append(left, i)
				continue
			}
			out.I64[i] = n
		}
		return left
	}
}

func floatsOfString(short bool) plainCast {
	return func(out, v *column.Vector, sel, left []int32) []int32 {
		s := Strings(v)
		for _, i := range sel {
			f, status := types.ParseFloatPrefix(s.At(int(i)))
			if status != types.ConvertOK || short && math.Abs(f) > math.MaxFloat32 {
				left = append(left, i)
				continue
			}
			if short {
				f = float64(float32(f))
			}
			out.F64[i] = f
		}
		return left
	}
}

func decimalsOfString(to types.Type) plainCast {
	precision, scale := int(to.Precision), int(to.Scale)
	return func(out, v *column.Vector, sel, left []int32) []int32 {
		s := Strings(v)
		for _, i := range sel {
			n, status := types.ParseDecimalAs(s.At(int(i)), precision, scale)
			if status > types.ConvertRounded {
				left = append(left, i)
				continue
			}
			SetWide(out, int(i), n)
		}
		return left
	}
}

func datesOfMoments(out, v *column.Vector, sel, left []int32) []int32 {
	m := Ints(v)
	for _, i := range sel {
		out.I64[i] = types.DateOf(m.At(int(i)))
	}
	return left
}

// plainIntegers converts numbers that round into the range of an integer type.
func plainIntegers(from, to types.Type) plainCast {
	low, high := types.IntRange(to.Kind)
	switch {
	case from.Kind == types.KindYear || from.Kind == types.KindUint64:
		return nil
	case from.IsInteger():
		return func(out, v *column.Vector, sel, left []int32) []int32 {
			n := Ints(v)
			for _, i := range sel {
				x := n.At(int(i))
				if out.I64[i] = x; x < low || x > high {
					left = append(left, i)
				}
			}
			return left
		}
	case from.Kind == types.KindDecimal && from.Phys() == types.PhysInt64:
		return roundedIntegers(types.Pow10(int(from.Scale)), low, high)
	case from.IsFloat():
		return func(out, v *column.Vector, sel, left []int32) []int32 {
			f := Floats(v)
			for _, i := range sel {
				r := math.RoundToEven(f.At(int(i)))
				if r > -1<<53 && r < 1<<53 && int64(r) >= low && int64(r) <= high { // a NaN is not
					out.I64[i] = int64(r)
				} else {
					left = append(left, i)
				}
			}
			return left
		}
	}
	return nil
}

// roundedIntegers divides by a power of ten, half away from zero.
func roundedIntegers(p, low, high int64) plainCast {
	half := (p + 1) / 2 // 1 of p = 1, which no remainder reaches
	return func(out, v *column.Vector, sel, left []int32) []int32 {
		n := Ints(v)
		for _, i := range sel {
			x := n.At(int(i))
			q := x / p
			if rest := x - q*p; rest >= half {
				q++
			} else if -rest >= half {
				q--
			}
			if out.I64[i] = q; q < low || q > high {
				left = append(left, i)
			}
		}
		return left
	}
}
