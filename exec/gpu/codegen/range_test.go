package codegen

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// rangeTypes are types whose values have ranges.
var rangeTypes = []types.Type{
	types.Int64, types.Int64, types.Int32, {Kind: types.KindInt8}, {Kind: types.KindUint16}, types.Bool, {Kind: types.KindYear}, types.Uint64,
	types.Decimal(4, 0), types.Decimal(9, 2), types.Decimal(18, 6), types.Decimal(30, 4), types.Date, types.Date, types.Datetime, types.DatetimeFsp(3),
	types.DatetimeFsp(6), types.TimeFsp(0), types.TimeFsp(6), types.Double, types.Varchar(20),
}

// rangeColumns adds a column of each type. The values of most lie near each other, so that what is made of them has a range, too.
func rangeColumns(g *exprGenerator) {
	for i, typ := range rangeTypes {
		around, wide := g.value(typ), g.r.IntN(4) == 0
		spread := int64(1) << g.r.IntN(20)
		g.column(fmt.Sprintf("c%d", i), typ, g.r.IntN(3) > 0, false, func(int) types.Value {
			v := g.value(typ)
			if !wide && (typ.IsTemporal() || typ.Phys() == types.PhysInt64) {
				v.I = around.I + g.r.Int64N(spread)
				if typ.IsTemporal() && types.Pow10(types.MaxFsp-int(typ.Scale)) > 1 && typ.Kind != types.KindDate {
					v.I -= v.I % types.Pow10(types.MaxFsp-int(typ.Scale))
				}
			}
			v.I = inType(v.I, typ)
			return v
		})
	}
}

// inType is the integer of a type that comes nearest to one.
func inType(x int64, t types.Type) int64 {
	lo, hi := x, x
	switch {
	case t.Kind == types.KindYear:
		lo, hi = 1901, 2155
	case t.Kind == types.KindUint64:
	case t.IsInteger():
		lo, hi = types.IntRange(t.Kind)
	case t.Kind == types.KindDecimal && t.Phys() == types.PhysInt64:
		hi = types.Pow10(int(t.Precision)) - 1
		lo = -hi
	case t.Kind == types.KindDate:
		lo, hi = types.MinDate, types.MaxDate
	case t.Kind == types.KindDatetime:
		lo, hi = types.MinDatetime, types.TruncateDatetime(types.MaxDatetime, int(t.Scale))
	case t.Kind == types.KindTime:
		lo, hi = types.MinTime, types.MaxTime
	}
	return min(max(x, lo), hi)
}

// ranged is a number that may well have a range.
func (g *exprGenerator) ranged(depth int) expr.Expr {
	r := g.r
	if depth <= 0 || r.IntN(8) == 0 {
		return g.leaf(func(t types.Type) bool { return ExactType(t) })
	}
	d := depth - 1
	to := []types.Type{types.Int64, types.Int32, types.Uint64, types.Bool, {Kind: types.KindUint16}, {Kind: types.KindYear}, types.Decimal(6, 0), types.Decimal(14, 0),
		types.Decimal(18, 4), types.Decimal(38, 8)}[r.IntN(10)]
	switch r.IntN(8) {
	case 0, 1:
		return call([]string{"add", "sub", "mul", "intdiv", "mod"}[r.IntN(5)], g.ranged(d), g.ranged(d))
	case 2:
		return expr.NewCast(g.ranged(d), to)
	case 3, 4:
		return expr.NewCast(g.pick(g.moment, g.clock)(d), to)
	case 5:
		return call("year", g.moment(d))
	case 6:
		return call("extract", textConst([]string{"YEAR", "YEAR_MONTH", "MONTH", "HOUR"}[r.IntN(4)]), g.moment(d))
	}
	return must(expr.NewCase([]expr.When{{Cond: g.condition(d), Then: g.ranged(d)}, {Cond: g.condition(d), Then: g.ranged(d)}}, g.ranged(d)))
}

// TestRanges compares what ranges say of random expressions, and of all parts of them, with the values that the evaluator gives.
func TestRanges(t *testing.T) {
	seed := gputest.Seed(t)
	rounds := 20_000
	if testing.Short() {
		rounds = 4000
	}
	known := map[string]int{} // ranges, by what they are of
	for table := range 20 {
		x := &exprTest{t: t, r: rand.New(rand.NewPCG(seed, uint64(table))), n: 40}
		g := &exprGenerator{x}
		rangeColumns(g)
		bounds := Ranges{}
		slots := map[expr.ColumnID]int{}
		for i, c := range x.cols {
			slots[c.ID] = i
			if form.ClassOf(c.Typ) == form.Int && c.Typ.Phys() != types.PhysUint64 {
				bounds[c.ID] = valuesBetween(x.vecs[i])
			}
		}
		for range rounds / 20 {
			seen := map[expr.Expr]bool{}
			expr.Walk(g.pick(g.number, g.ranged, g.ranged, g.moment, g.clock)(3), func(e expr.Expr) bool {
				if !seen[e] {
					seen[e] = true
					checkRange(x, bounds, slots, e, known)
				}
				return true
			})
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("ranges that were known: %v", known)
	for _, of := range []string{"add", "sub", "mul", "year", "extract", "CASE", "DATE to DATETIME", "DATE to BIGINT", "DATETIME to BIGINT", "TIME to BIGINT", "DECIMAL to BIGINT"} {
		if known[of] == 0 {
			t.Errorf("no range of %s was known", of)
		}
	}
}

// valuesBetween is what a column's values lie between.
func valuesBetween(v *column.Vector) (r form.Interval) {
	first := true
	for i := range v.I64 {
		switch {
		case v.IsNull(i):
		case first:
			r, first = form.Interval{Lo: v.I64[i], Hi: v.I64[i]}, false
		default:
			r.Lo, r.Hi = min(r.Lo, v.I64[i]), max(r.Hi, v.I64[i])
		}
	}
	return r
}

// checkRange evaluates an expression for every row, and compares the values with its range, if that is known.
func checkRange(x *exprTest, bounds Ranges, slots map[expr.ColumnID]int, e expr.Expr, known map[string]int) {
	within, ok := bounds.Of(e)
	if !ok {
		return
	}
	switch e := e.(type) {
	case *expr.Call:
		known[e.Fn.Name]++
	case *expr.Case:
		known["CASE"]++
	case *expr.Cast:
		from, to := e.Arg.Type(), e.To
		known[kindName(from)+" to "+kindName(to)]++
	}
	program, err := expr.Compile(e, slots)
	if err != nil {
		x.t.Fatalf("%s: %v", e, err)
	}
	ctx := plantest.Context()
	for i := range x.n {
		ctx.Warnings = &sqlerr.Warnings{}
		got, err := program.Eval(ctx, &column.Batch{N: x.n, Sel: []int32{int32(i)}, Cols: x.vecs})
		if err != nil {
			continue
		}
		v := got.Value(i)
		if v.Null || holds(within, v) {
			continue
		}
		x.t.Errorf("%s (%s) is %s in row %d, and its range %d to %d", e, e.Type(), show(v), i, within.Lo, within.Hi)
		return
	}
}

// kindName is a type's name without what stands in brackets.
func kindName(t types.Type) string {
	name, _, _ := strings.Cut(t.String(), "(")
	return name
}

// holds says whether a value lies in an interval.
func holds(r form.Interval, v types.Value) bool {
	n := big.NewInt(v.I)
	if v.Type.Phys() == types.PhysInt128 {
		n.Add(new(big.Int).Lsh(big.NewInt(v.D.Hi), 64), new(big.Int).SetUint64(v.D.Lo))
	}
	return n.Cmp(big.NewInt(r.Lo)) >= 0 && n.Cmp(big.NewInt(r.Hi)) <= 0
}
