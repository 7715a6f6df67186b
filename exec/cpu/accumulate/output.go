package accumulate

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Output says how an aggregate's value follows from accumulators.
type Output struct {
	Item  *logical.AggItem
	acc   int // the main accumulator
	count int // counts the values that are not NULL; -1: there is one for sure
}

// Values stores the aggregate's value of each group in v.
func (o *Output) Values(accs []Accumulator, groups []uint32, v *column.Vector) error {
	acc := accs[o.acc]
	if d, ok := acc.(*distinctValues); ok {
		acc = d.inner
	}
	var count *Count
	if o.count >= 0 {
		c := accs[o.count]
		if d, ok := c.(*distinctValues); ok {
			c = d.inner
		}
		count = c.(*Count)
	}
	n := len(groups)
	switch acc := acc.(type) {
	case *Count:
		for i, g := range groups {
			v.I64[i] = acc.N[g]
		}
	case *exactSum:
		for i, g := range groups {
			if count != nil && count.N[g] == 0 {
				v.SetNull(i, n)
				continue
			}
			if !acc.fits128(g) {
				return o.outOfRange("DECIMAL")
			}
			if err := o.SetSum(v, i, acc.at(g), acc.unsigned, count, g); err != nil {
				return err
			}
		}
	case *doubleSum:
		for i, g := range groups {
			if count != nil && count.N[g] == 0 {
				v.SetNull(i, n)
				continue
			}
			x, ok := Total(acc.s[g], acc.c[g])
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
	case *intExtreme:
		for i, g := range groups {
			if !acc.seen[g] {
				v.SetNull(i, n)
				continue
			}
			v.I64[i] = acc.x[g] ^ acc.flip
		}
	case *keptValue:
		return acc.values(v, groups, o.Item)
	case *variances:
		for i, g := range groups {
			x, ok := Variance(o.Item.Fn.Kind, acc.of[g])
			if !ok {
				v.SetNull(i, n)
				continue
			}
			if acc.of[g].Overflowed(x) {
				return o.outOfRange("DOUBLE")
			}
			v.F64[i] = x
		}
	case *bitwise:
		for i, g := range groups {
			v.I64[i] = int64(acc.words[g])
		}
	case *concatenation:
		return acc.values(v, groups)
	}
	return nil
}

func Variance(kind expr.AggKind, m Moments) (float64, bool) {
	div := float64(m.n)
	if kind == expr.AggVarSamp || kind == expr.AggStddevSamp {
		div--
	}
	if div <= 0 {
		return 0, false
	}
	x := m.m2 / div
	if kind == expr.AggStddevPop || kind == expr.AggStddevSamp {
		x = math.Sqrt(x)
	}
	return x, true
}

// outOfRange is the error of an aggregate whose value its type does not hold. The column has the name of the aggregate in the statement,
// also where rules compute it in steps.
func (o *Output) outOfRange(typeName string) error {
	return sqlerr.DataOutOfRange(typeName, o.Item.Col.Name)
}

// SetSum stores a sum, or for AVG the quotient by the count, as the result's type.
func (o *Output) SetSum(v *column.Vector, i int, sum types.Int128, unsigned bool, count *Count, g uint32) error {
	arg := o.Item.Args[0].Type()
	scale := 0
	if arg.Kind == types.KindDecimal {
		scale = int(arg.Scale)
	}
	avg := o.Item.Fn.Kind == expr.AggAvg
	if v.Type.Phys() == types.PhysFloat64 {
		x := types.DecimalToFloat(sum, scale)
		if avg {
			x /= float64(count.N[g])
		}
		v.F64[i] = x
		return nil
	}
	to := 0
	if v.Type.Kind == types.KindDecimal {
		to = int(v.Type.Scale)
	}
	ok := true
	if avg {
		sum, ok = types.DecimalAvg(sum, scale, count.N[g], to)
	} else if scale != to {
		sum, ok = types.Rescale(sum, scale, to)
	}
	if ok && v.Type.Kind == types.KindDecimal {
		ok = types.FitsDecimal(sum, int(v.Type.Precision))
	}
	if ok {
		switch v.Type.Phys() {
		case types.PhysInt128:
			v.I128[i] = sum
		case types.PhysUint64:
			var u uint64
			u, ok = sum.Uint64()
			v.I64[i] = int64(u)
		default:
			v.I64[i], ok = sum.Int64()
		}
	}
	if !ok {
		return o.outOfRange(v.Type.Kind.Name())
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

// values stores the kept values.
func (a *keptValue) values(v *column.Vector, groups []uint32, it *logical.AggItem) error {
	if v.Type.Phys() != a.typ.Phys() {
		return sqlerr.Bug("%s gives %s", it.Col.Name, v.Type)
	}
	n := len(groups)
	for i, g := range groups {
		if !a.seen[g] || a.null[g] {
			v.SetNull(i, n)
			continue
		}
		switch a.typ.Phys() {
		case types.PhysFloat64:
			if v.F64[i] = a.f[g]; a.kind == minValue || a.kind == maxValue {
				v.F64[i] = types.CanonicalFloat(a.f[g])
			}
		case types.PhysInt128:
			v.I128[i] = a.d[g]
		case types.PhysString:
			v.Str[i] = a.s[g]
		default:
			v.I64[i] = a.i[g]
		}
	}
	return nil
}
