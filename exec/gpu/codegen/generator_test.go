package codegen

import (
	"math"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// exprGenerator makes random expressions over random columns with edge values.
type exprGenerator struct {
	*exprTest
}

var randomTypes = []types.Type{
	types.Int64, types.Int64, types.Uint64, types.Int32, types.Bool, types.Decimal(9, 2), types.Decimal(15, 2), types.Decimal(18, 6),
	types.Decimal(30, 4), types.Decimal(38, 0), types.Decimal(38, 10), types.Double, types.Date, types.Date, types.Datetime,
	types.DatetimeFsp(3), types.TimeFsp(6),
}

func newExprGenerator(x *exprTest) *exprGenerator {
	g := &exprGenerator{x}
	for i, typ := range randomTypes {
		g.column("c"+string(rune('a'+i)), typ, x.r.IntN(3) > 0, false, func(int) types.Value { return g.value(typ) })
	}
	for i, typ := range []types.Type{types.Varchar(20), types.Varchar(20), types.Text, {Kind: types.KindVarbinary, Length: 20}} {
		g.column("s"+string(rune('a'+i)), typ, x.r.IntN(3) > 0, false, func(int) types.Value { return g.value(typ) })
	}
	for i, typ := range []types.Type{types.Varchar(20), types.Varchar(20), types.Char(10)} {
		few := make([]types.Value, 1+[]int{7, 100, 3}[i])
		for k := range few {
			few[k] = g.value(typ)
		}
		g.column("d"+string(rune('a'+i)), typ, x.r.IntN(3) > 0, true, func(int) types.Value { return few[x.r.IntN(len(few))] })
	}
	return g
}

// value is a random value, often small, sometimes at an end of its type.
func (g *exprGenerator) value(t types.Type) types.Value {
	r := g.r
	small, edge := r.IntN(3) > 0, r.IntN(6) == 0
	v := types.Value{Type: t}
	switch {
	case t.Kind == types.KindDecimal:
		digits := 1 + r.IntN(int(t.Precision))
		if small {
			digits = min(digits, 4)
		}
		d := types.Int128{}
		for range digits {
			d, _ = d.Mul(types.Int128FromInt64(10))
			d = d.AddInt64(int64(r.IntN(10)))
		}
		if edge {
			d = types.MaxDecimal(int(t.Precision))
		}
		if r.IntN(2) == 0 {
			d, _ = d.Neg()
		}
		return types.DecimalValue(t, d)
	case t.IsFloat():
		v.F = (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(300)))
		if small {
			v.F = float64(r.IntN(200)-100) / 8
		} else if edge {
			v.F = []float64{0, math.MaxFloat64, -math.MaxFloat64, 1e-300, 0.5, 1.5, 1 << 53, 1 << 63}[r.IntN(8)]
		}
	case t.IsString():
		for range r.IntN(8) {
			v.S += []string{"a", "b", "é", "海", "%", "_", " ", "𝄞", "ab", "aab"}[r.IntN(10)]
		}
		if edge && t.IsBinaryString() {
			v.S += string([]byte{0xff, 0, 0xe6})
		}
		if t.Kind == types.KindChar {
			v.S, _ = types.FitString(v.S, t)
		}
	case t.Kind == types.KindDate:
		v.I = types.MinDate + r.Int64N(types.MaxDate-types.MinDate+1)
		if small {
			v.I = 10957 + r.Int64N(3000)
		} else if edge {
			v.I = []int64{types.MinDate, types.MaxDate, 0, 11016, -1, 19782, 19783, 10956}[r.IntN(8)]
		}
	case t.Kind == types.KindDatetime:
		v.I = types.MinDatetime + r.Int64N(types.MaxDatetime-types.MinDatetime)
		if small {
			v.I = r.Int64N(1 << 50)
		} else if edge {
			v.I = []int64{types.MinDatetime, types.MaxDatetime, -1, 0, 86399999999}[r.IntN(5)]
		}
		v.I = types.TruncateDatetime(v.I, int(t.Scale))
	case t.Kind == types.KindTime:
		v.I = r.Int64N(2*types.MaxTime+1) - types.MaxTime
		if edge {
			v.I = []int64{types.MinTime, types.MaxTime, 0, -1, 500000}[r.IntN(5)]
		}
	case t.Kind == types.KindBool:
		v.I = int64(r.IntN(2))
		if edge {
			v.I = 5
		}
	case small:
		v.I = int64(r.IntN(20) - 10)
		if t.IsUnsigned() {
			v.I = max(v.I, -v.I)
		}
	case t.Kind == types.KindInt32:
		v.I = int64(int32(r.Uint32()))
	case edge:
		v.I = []int64{math.MinInt64, math.MaxInt64, math.MinInt64 + 1, -1, 1 << 53}[r.IntN(5)]
	default:
		v.I = int64(r.Uint64()) >> r.IntN(64)
	}
	return v
}

func (g *exprGenerator) leaf(ok func(types.Type) bool) expr.Expr {
	for {
		c := g.cols[g.r.IntN(len(g.cols))]
		if !ok(c.Typ) {
			continue
		}
		if g.r.IntN(5) == 0 {
			v := g.value(c.Typ)
			v.Null = g.r.IntN(10) == 0
			return &expr.Const{Value: v}
		}
		return c
	}
}

func (g *exprGenerator) pick(of ...func(int) expr.Expr) func(int) expr.Expr {
	return of[g.r.IntN(len(of))]
}

func (g *exprGenerator) any(depth int) expr.Expr {
	return g.pick(g.number, g.number, g.text, g.moment, g.condition, g.condition)(depth)
}

func intConst(i int64) expr.Expr                   { return &expr.Const{Value: types.IntValue(i)} }
func textConst(s string) expr.Expr                 { return &expr.Const{Value: types.StringValue(s)} }
func (g *exprGenerator) digit(lo, n int) expr.Expr { return intConst(int64(lo + g.r.IntN(n))) }

func isNumber(t types.Type) bool { return t.IsNumeric() }
func isText(t types.Type) bool   { return t.IsString() }
func isTime(t types.Type) bool   { return t.Kind == types.KindTime }
func isDate(t types.Type) bool   { return t.Kind == types.KindDate || t.Kind == types.KindDatetime }

func (g *exprGenerator) number(depth int) expr.Expr {
	r := g.r
	if depth <= 0 || r.IntN(6) == 0 {
		return g.leaf(isNumber)
	}
	d := depth - 1
	switch r.IntN(23) {
	case 0, 1, 2:
		return call([]string{"add", "sub", "mul"}[r.IntN(3)], g.number(d), g.number(d))
	case 3, 4:
		return call([]string{"add", "sub", "mul"}[r.IntN(3)], g.number(d), g.leaf(isNumber))
	case 5, 6:
		return call([]string{"div", "mod", "intdiv"}[r.IntN(3)], g.number(d), g.number(d))
	case 7:
		return call([]string{"neg", "abs", "sign", "ceil", "floor"}[r.IntN(5)], g.number(d))
	case 8:
		return must(expr.NewCase([]expr.When{{Cond: g.condition(d), Then: g.number(d)}, {Cond: g.condition(d), Then: g.number(d)}}, g.number(d)))
	case 9:
		return call("coalesce", g.number(d), g.number(d))
	case 10:
		return call("if", g.condition(d), g.number(d), g.number(d))
	case 11:
		return call([]string{"ifnull", "nullif"}[r.IntN(2)], g.number(d), g.number(d))
	case 12:
		return expr.NewCast(g.number(d), types.Decimal(10+r.IntN(28), r.IntN(10)))
	case 13:
		return expr.NewCast(g.pick(g.number, g.moment)(d), []types.Type{types.Int64, types.Uint64, types.Double, types.Int32}[r.IntN(4)])
	case 14:
		return call([]string{"round", "truncate"}[r.IntN(2)], g.number(d), g.digit(-4, 10))
	case 15:
		if r.IntN(2) == 0 {
			return call("round", g.number(d))
		}
		return call([]string{"round", "truncate"}[r.IntN(2)], g.number(d), g.leaf(isNumber))
	case 16:
		return call([]string{"greatest", "least"}[r.IntN(2)], g.number(d), g.number(d), g.number(d))
	case 17:
		return call([]string{"length", "char_length"}[r.IntN(2)], g.text(d))
	case 18:
		return call([]string{"locate", "instr"}[r.IntN(2)], g.text(d), g.text(d))
	case 19:
		return call([]string{"bitand", "bitor", "bitxor", "shl", "shr"}[r.IntN(5)], g.number(d), g.number(d))
	case 20:
		return g.function(d)
	case 21:
		return expr.NewCast(g.pick(g.moment, g.clock)(d), []types.Type{types.Int64, types.Decimal(16, 0), types.Decimal(20, 6), types.Decimal(30, 2)}[r.IntN(4)])
	}
	return g.datePart(d)
}

// function is a mathematical function. Devices agree to 1e-9 there, and what is made of the value, such as a remainder, may differ by any amount. So it is cut to whole
// thousandths here, on which all agree. Square roots are exact.
func (g *exprGenerator) function(d int) expr.Expr {
	name := []string{"sqrt", "exp", "ln", "log10", "sin", "atan"}[g.r.IntN(6)]
	arg := g.number(d)
	switch name {
	case "sqrt":
		return call(name, arg)
	case "exp":
		arg = call("least", arg, intConst(10)) // beyond 2^53 thousandths a BIGINT has the last digits of the double
	}
	return expr.NewCast(call("mul", call(name, arg), intConst(1000)), types.Int64)
}

func (g *exprGenerator) datePart(d int) expr.Expr {
	r := g.r
	units := []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND", "DAY_HOUR", "DAY_MICROSECOND",
		"HOUR_SECOND", "YEAR_MONTH", "MINUTE_SECOND", "SECOND_MICROSECOND", "HOUR_MINUTE", "DAY_MINUTE", "DAY_SECOND", "MINUTE_MICROSECOND", "HOUR_MICROSECOND"}
	switch r.IntN(6) {
	case 0:
		return call("extract", textConst(units[r.IntN(len(units))]), g.leaf(types.Type.IsTemporal))
	case 1:
		return call("datediff", g.moment(d), g.moment(d))
	case 2:
		return call([]string{"week", "yearweek"}[r.IntN(2)], g.moment(d), g.digit(0, 8))
	case 3:
		return call("timestampdiff", textConst(units[r.IntN(9)]), g.moment(d), g.moment(d))
	case 4:
		return call([]string{"hour", "minute", "second", "microsecond"}[r.IntN(4)], g.leaf(types.Type.IsTemporal))
	}
	parts := []string{"year", "month", "dayofmonth", "quarter", "dayofyear", "dayofweek", "weekday", "to_days", "weekofyear", "to_seconds"}
	return call(parts[r.IntN(len(parts))], g.moment(d))
}

func (g *exprGenerator) moment(depth int) expr.Expr {
	r := g.r
	if depth <= 0 || r.IntN(3) == 0 {
		return g.leaf(isDate)
	}
	d := depth - 1
	units := []string{"DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "HOUR", "MINUTE", "SECOND", "MICROSECOND"}
	switch r.IntN(7) {
	case 5:
		return expr.NewCast(g.clock(d), []types.Type{types.Date, types.Datetime}[r.IntN(2)])
	case 0:
		return call([]string{"date_add", "date_sub"}[r.IntN(2)], g.moment(d), g.digit(-2000, 4000), textConst(units[r.IntN(len(units))]))
	case 1:
		return call([]string{"date_add", "date_sub"}[r.IntN(2)], g.moment(d), g.leaf(types.Type.IsInteger), textConst(units[r.IntN(len(units))]))
	case 2:
		return call("last_day", g.moment(d))
	case 3:
		return expr.NewCast(g.moment(d), []types.Type{types.Date, types.Datetime, types.DatetimeFsp(2)}[r.IntN(3)])
	case 4:
		return call("coalesce", g.moment(d), g.moment(d))
	}
	return must(expr.NewCase([]expr.When{{Cond: g.condition(d), Then: g.moment(d)}}, g.moment(d)))
}

// clock is a time of day, or what else is a TIME.
func (g *exprGenerator) clock(depth int) expr.Expr {
	if depth <= 0 || g.r.IntN(2) == 0 {
		return g.leaf(isTime)
	}
	return expr.NewCast(g.pick(g.clock, g.moment)(depth-1), types.TimeFsp(2*g.r.IntN(4)))
}

func (g *exprGenerator) text(depth int) expr.Expr {
	r := g.r
	if depth <= 0 || r.IntN(3) == 0 {
		return g.leaf(isText)
	}
	d := depth - 1
	switch r.IntN(8) {
	case 0:
		return call("substring", g.text(d), g.digit(-5, 11), g.digit(-1, 7))
	case 1:
		return call([]string{"left", "right"}[r.IntN(2)], g.text(d), g.pick(g.number, func(int) expr.Expr { return g.digit(-1, 6) })(0))
	case 2:
		return call([]string{"trim", "ltrim", "rtrim"}[r.IntN(3)], g.text(d))
	case 3:
		return call("coalesce", g.text(d), g.text(d))
	case 4:
		return call([]string{"upper", "concat"}[r.IntN(2)], g.leaf(isText))
	case 5:
		return must(expr.NewCase([]expr.When{{Cond: g.condition(d), Then: textConst("yes")}, {Cond: g.condition(d), Then: textConst("no")}}, nil))
	case 6:
		return call([]string{"greatest", "least"}[r.IntN(2)], g.text(d), g.text(d))
	}
	return must(expr.NewCase([]expr.When{{Cond: g.condition(d), Then: g.text(d)}}, g.leaf(isText)))
}

func (g *exprGenerator) pair(depth int) (expr.Expr, expr.Expr) {
	switch g.r.IntN(4) {
	case 0:
		return g.text(depth), g.text(depth)
	case 1:
		return g.moment(depth), g.moment(depth)
	}
	return g.number(depth), g.number(depth)
}

func (g *exprGenerator) condition(depth int) expr.Expr {
	r := g.r
	d := max(depth-1, 0)
	k := r.IntN(11)
	if depth <= 0 {
		k = r.IntN(6)
	}
	switch k {
	case 0, 1, 2:
		l, other := g.pair(d)
		return must(expr.NewCompare(expr.Op(r.IntN(7)), l, other))
	case 3:
		l, _ := g.pair(d)
		return &expr.IsNull{Arg: l}
	case 4:
		arg := g.leaf(func(t types.Type) bool { return t.Kind != types.KindTime })
		list := []expr.Expr{}
		for range 1 + r.IntN(14) {
			v := g.value(arg.Type())
			v.Null = r.IntN(20) == 0
			list = append(list, &expr.Const{Value: v})
		}
		return must(expr.NewIn(nil, arg, list))
	case 5:
		return must(expr.NewLike(g.text(d), textConst(g.value(types.Text).S), nil))
	case 6:
		return &expr.And{Args: []expr.Expr{g.condition(d), g.condition(d), g.condition(d)}}
	case 7:
		return &expr.Or{Args: []expr.Expr{g.condition(d), g.condition(d), g.condition(d)}}
	case 8:
		return &expr.Not{Arg: g.condition(d)}
	case 9:
		return call("xor", g.condition(d), g.condition(d))
	}
	l, hi := g.pair(d)
	return must(expr.NewBetween(l, hi, hi))
}
