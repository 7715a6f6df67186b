package groupby

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Variances and standard deviations follow from the number of values, their sum and the sum of their squares, (n * squares - sum^2) / n^2, all of which
// are exact: nothing is lost where the values are far from 0 and near each other, and nothing depends on the order of rows (variance.cuh).
//
// The values are doubles to SQL. Where they were integers or decimals of which that is known to lose nothing, or their last digits at most, integers are added up,
// as for SUM. Numbers whose squares have more than 64 bits but lie near each other are taken as distances from a number between them, which changes no variance.
// Doubles and their squares are added up as for SUM (sums.go); what is too large for its square to have limbs, and variances of the size of the smallest
// doubles, have the CPU run the query.

// maxExact bounds the integers that are doubles, too.
const maxExact = 1 << 53

// addVariances adds what variances are computed from, once ranges are known.
func (w *Way) addVariances() {
	f := w.f
	for i := range f.Aggregate.Aggs {
		it := &f.Aggregate.Aggs[i]
		if !isVariance(it.Fn.Kind) {
			continue
		}
		out := &f.items[i]
		arg, of, square, ok := w.exactSquare(it.Args[0])
		if !ok {
			out.acc, out.squares = f.acc(accFloatSum, arg), f.acc(accFloatSquares, arg)
		} else {
			out.acc, out.squares = f.acc(accSum, of), f.acc(accSum, square)
			f.Accs[out.acc].nulls, f.Accs[out.squares].nulls = arg, arg
		}
		if arg.Nullable() {
			out.count = f.acc(accCount, arg)
		} else {
			out.count = f.acc(accCount, nil)
		}
	}
}

// exactSquare returns the integers or decimals that a variance's argument is made of, what they are added up as and the square of that; ok is false where
// doubles have to be added up.
func (w *Way) exactSquare(e expr.Expr) (arg, of, square expr.Expr, ok bool) {
	cast, isCast := e.(*expr.Cast)
	if !isCast || !codegen.ExactType(cast.Arg.Type()) || 2*codegen.ScaleOf(cast.Arg.Type()) > types.MaxDecimalScale {
		return e, nil, nil, false
	}
	x := cast.Arg
	r, ok := w.within(x)
	if !ok || r.Magnitude() > maxExact {
		return e, nil, nil, false
	}
	scale := codegen.ScaleOf(x.Type())
	of, short := x, x
	if x.Type().Phys() != types.PhysInt64 {
		short = &expr.Cast{Arg: x, To: types.Decimal(types.MaxShortDecimal, scale)}
	}
	most := r.Magnitude() * r.Magnitude()
	if distance := math.Ceil(float64(r.Hi-r.Lo) / 2); most >= 1<<63 && distance*distance < 1<<63 {
		middle := types.DecimalValue(types.Decimal(types.MaxShortDecimal, scale), types.Int128FromInt64(r.Lo+(r.Hi-r.Lo)/2))
		short = &expr.Call{Fn: expr.Lookup("sub"), Args: []expr.Expr{short, &expr.Const{Value: middle}}, Typ: middle.Type, Null: x.Nullable()}
		of, most = short, distance*distance
	}
	if most*w.mostTerms() >= 1<<126 {
		return e, nil, nil, false
	}
	digits := types.MaxShortDecimal
	if most >= 1<<63 {
		digits = int(math.Ceil(math.Log10(most)))
	}
	return x, of, &expr.Call{Fn: expr.Lookup("mul"), Args: []expr.Expr{short, short}, Typ: types.Decimal(digits, 2*scale), Null: x.Nullable()}, true
}

// within bounds an argument's values, those of all pipelines that end in the sink.
func (w *Way) within(e expr.Expr) (r form.Interval, ok bool) {
	if !w.Plan.IsShared(w.f.Aggregate) {
		if r, ok = w.Forms.Ranges().Of(e); ok {
			return r, true
		}
	}
	switch t := e.Type(); {
	case codegen.SmallInteger(t) && t.Phys() == types.PhysInt64:
		return form.Interval{Lo: math.MinInt32, Hi: math.MaxUint32}, true
	case t.Kind == types.KindDecimal && t.Precision <= 15:
		most := types.Pow10(int(t.Precision))
		return form.Interval{Lo: -most, Hi: most}, true
	}
	return form.Interval{}, false
}

// isVariance says whether an aggregate is a variance or a standard deviation.
func isVariance(k expr.AggKind) bool {
	switch k {
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		return true
	}
	return false
}
