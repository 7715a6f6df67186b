package enginetest

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// ofAnalysts is the reference for the aggregates that MySQL lacks. There is a row at least.
func ofAnalysts(a *logical.AggItem, args []row) (types.Value, error) {
	t := a.Col.Typ
	switch a.Fn.Kind {
	case expr.AggArgMin, expr.AggArgMax:
		best := args[0]
		for _, v := range args {
			if c := compare(v[1], best[1]); c != 0 && c < 0 == (a.Fn.Kind == expr.AggArgMin) {
				best = v
			}
		}
		return best[0], nil
	case expr.AggMode:
		counts := countValues(args)
		best := args[0][0]
		for _, v := range args {
			n, m := counts[keyString(v[:1])], counts[keyString(row{best})]
			if n > m || n == m && compare(v[0], best) < 0 {
				best = v[0]
			}
		}
		return best, nil
	case expr.AggQuantileDisc, expr.AggQuantileCont:
		values := slices.Clone(args)
		slices.SortStableFunc(values, func(x, y row) int { return compare(x[0], y[0]) })
		part := args[0][1].F
		if a.Fn.Kind == expr.AggQuantileDisc {
			exact, _ := new(big.Rat).SetString(strconv.FormatFloat(part, 'f', -1, 64))
			k := 1
			for big.NewRat(int64(k), int64(len(values))).Cmp(exact) < 0 {
				k++
			}
			return values[k-1][0], nil
		}
		at := part * float64(len(values)-1)
		low, high := values[int(math.Floor(at))][0].F, values[int(math.Ceil(at))][0].F
		return types.FloatValue(low + (high-low)*(at-math.Floor(at))), nil
	}
	return regression(a.Fn.Kind, t, args)
}

// countValues says how often each value of the first argument comes.
func countValues(args []row) map[string]int {
	counts := map[string]int{}
	for _, v := range args {
		counts[keyString(v[:1])]++
	}
	return counts
}

// regression computes what follows from pairs by its definition, without rounding but for the result's.
func regression(kind expr.AggKind, t types.Type, args []row) (types.Value, error) {
	for _, v := range args {
		if !types.IsFinite(v[0].F) || !types.IsFinite(v[1].F) {
			return types.FloatValue(math.NaN()), nil
		}
	}
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	mul := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
	quo := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
	n, x, y := rat(float64(len(args))), new(big.Rat), new(big.Rat)
	for _, v := range args {
		y.Add(y, rat(v[0].F))
		x.Add(x, rat(v[1].F))
	}
	x, y = quo(x, n), quo(y, n)
	xx, xy, yy := new(big.Rat), new(big.Rat), new(big.Rat)
	for _, v := range args {
		dy, dx := new(big.Rat).Sub(rat(v[0].F), y), new(big.Rat).Sub(rat(v[1].F), x)
		xx.Add(xx, mul(dx, dx))
		xy.Add(xy, mul(dx, dy))
		yy.Add(yy, mul(dy, dy))
	}
	null := types.NullOf(t)
	of := func(r *big.Rat) (types.Value, error) {
		f, _ := r.Float64()
		return types.FloatValue(f), nil
	}
	switch kind {
	case expr.AggRegrAvgX:
		return of(x)
	case expr.AggRegrAvgY:
		return of(y)
	case expr.AggRegrSXX:
		return of(xx)
	case expr.AggRegrSXY:
		return of(xy)
	case expr.AggRegrSYY:
		return of(yy)
	case expr.AggCovarPop:
		return of(quo(xy, n))
	case expr.AggCovarSamp:
		if len(args) == 1 {
			return null, nil
		}
		return of(quo(xy, rat(float64(len(args)-1))))
	}
	if xx.Sign() == 0 || kind == expr.AggCorr && yy.Sign() == 0 {
		return null, nil
	}
	slope := quo(xy, xx)
	switch kind {
	case expr.AggRegrSlope:
		return of(slope)
	case expr.AggRegrIntercept:
		return of(new(big.Rat).Sub(y, mul(slope, x)))
	case expr.AggRegrR2:
		if yy.Sign() == 0 {
			return types.FloatValue(1), nil
		}
		return of(quo(mul(xy, xy), mul(xx, yy)))
	case expr.AggCorr:
		square, _ := quo(mul(xy, xy), mul(xx, yy)).Float64()
		return types.FloatValue(math.Copysign(math.Sqrt(square), float64(xy.Sign()))), nil
	}
	panic("regression")
}
