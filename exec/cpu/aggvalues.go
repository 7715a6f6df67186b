package cpu

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// aggOutput says how an aggregate's value follows from accumulators.
type aggOutput struct {
	item  *logical.AggItem
	acc   int // the main accumulator
	count int // counts the values that are not NULL; -1: there is one for sure
}

// values stores the aggregate's value of each group in v.
func (o *aggOutput) values(accs []accumulator, groups []uint32, v *column.Vector) error {
	acc := accs[o.acc]
	if d, ok := acc.(*distinctAcc); ok {
		acc = d.inner
	}
	var count *countAcc
	if o.count >= 0 {
		c := accs[o.count]
		if d, ok := c.(*distinctAcc); ok {
			c = d.inner
		}
		count = c.(*countAcc)
	}
	n := len(groups)
	switch acc := acc.(type) {
	case *countAcc:
		for i, g := range groups {
			v.I64[i] = acc.n[g]
		}
	case *sumAcc:
		for i, g := range groups {
			if count != nil && count.n[g] == 0 {
				v.SetNull(i, n)
				continue
			}
			if err := o.setSum(v, i, acc.at(g), acc.unsigned, count, g); err != nil {
				return err
			}
		}
	case *floatSumAcc:
		for i, g := range groups {
			if count != nil && count.n[g] == 0 {
				v.SetNull(i, n)
				continue
			}
			x, ok := totalOf(acc.s[g], acc.c[g])
			if o.item.Fn.Kind == expr.AggAvg {
				x /= float64(count.n[g])
			}
			if !ok {
				return sqlerr.DataOutOfRange("DOUBLE", describeItem(o.item))
			}
			if err := setNumber(v, i, x, o.item); err != nil {
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
	case *valueAcc:
		return acc.values(v, groups, o.item)
	case *momentsAcc:
		for i, g := range groups {
			x, ok := moment(o.item.Fn.Kind, acc.of[g])
			if !ok {
				v.SetNull(i, n)
				continue
			}
			if acc.of[g].overflowed(x) {
				return sqlerr.DataOutOfRange("DOUBLE", describeItem(o.item))
			}
			v.F64[i] = x
		}
	case *bitsAcc:
		for i, g := range groups {
			v.I64[i] = int64(acc.words[g])
		}
	case *concatAcc:
		return acc.values(v, groups)
	}
	return nil
}

func moment(kind expr.AggKind, m momentOf) (float64, bool) {
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

// describeItem prints an aggregate for a message.
func describeItem(it *logical.AggItem) string {
	s := it.Fn.Name + "("
	if it.Distinct {
		s += "distinct "
	}
	for i, e := range it.Args {
		if i > 0 {
			s += ","
		}
		s += e.String()
	}
	return s + ")"
}

// setSum stores a sum, or for AVG the quotient by the count, as the result's type.
func (o *aggOutput) setSum(v *column.Vector, i int, sum types.Int128, unsigned bool, count *countAcc, g uint32) error {
	arg := o.item.Args[0].Type()
	scale := 0
	if arg.Kind == types.KindDecimal {
		scale = int(arg.Scale)
	}
	avg := o.item.Fn.Kind == expr.AggAvg
	if v.Type.Phys() == types.PhysFloat64 {
		x := types.DecimalToFloat(sum, scale)
		if avg {
			x /= float64(count.n[g])
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
		sum, ok = types.DecimalAvg(sum, scale, count.n[g], to)
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
		return sqlerr.DataOutOfRange(v.Type.Kind.Name(), describeItem(o.item))
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
		return sqlerr.Bug("%s gives %s", describeItem(it), v.Type)
	}
	return nil
}

// values stores the kept values.
func (a *valueAcc) values(v *column.Vector, groups []uint32, it *logical.AggItem) error {
	if v.Type.Phys() != a.typ.Phys() {
		return sqlerr.Bug("%s gives %s", describeItem(it), v.Type)
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
