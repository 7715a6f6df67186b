package codegen

import (
	"math"
	"slices"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// functionCases calls every function that kernels compute, each so many times, over columns of many types; x gets its columns.
func functionCases(x *exprTest, each int) (out []expr.Expr) {
	if len(x.cols) == 0 {
		newExprGenerator(x)
	}
	for _, name := range sortedNames() {
		out = append(out, callsOf(x, name, each)...)
	}
	return out
}

// words are operands that are keywords, by function and position.
var words = map[string]map[int][]string{
	"extract": {0: {"YEAR", "WEEK", "HOUR", "DAY_MICROSECOND", "MINUTE_SECOND"}}, "timestampdiff": {0: {"MONTH", "DAY", "SECOND"}},
	"timestampadd": {0: {"MONTH", "HOUR"}}, "date_add": {2: {"YEAR", "DAY", "MINUTE"}}, "date_sub": {2: {"QUARTER", "WEEK", "SECOND"}},
	"adddate": {2: {"MONTH"}}, "subdate": {2: {"DAY"}}, "substring_index": {1: {"a", "ab", "é"}}, "like": {1: {"a%b", "%a%b%c%", "%a_", "%é%ab%", "a%", "%b"}},
}

// callsOf makes calls of a function with operands of each type in turn, the others being of types that suit it.
func callsOf(x *exprTest, name string, most int) (out []expr.Expr) {
	f := expr.Lookup(name)
	if f == nil {
		return nil // div_cut, which the binder alone makes
	}
	n := max(f.MinArgs, 1)
	for _, k := range x.r.Perm(len(x.cols)) {
		first := x.cols[k]
		if len(out) >= most {
			break
		}
		for _, second := range []*expr.Column{first, x.cols[x.r.IntN(len(x.cols))]} {
			args := []expr.Expr{first, second, x.cols[x.r.IntN(len(x.cols))]}[:n]
			for at, choices := range words[name] {
				args[at] = textConst(choices[x.r.IntN(len(choices))])
				if at == 0 {
					args[len(args)-1] = first
				}
			}
			if e, err := expr.NewCall(name, args...); err == nil {
				out = append(out, e)
			}
			if n == 1 {
				break
			}
		}
	}
	return out
}

func sortedNames() []string {
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Every function over every type of operand.
func TestEmitFunctions(t *testing.T) {
	seed := gputest.Seed(t)
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		x := newExprTest(t, seed, d, 24)
		all := functionCases(x, 4)
		for part := range slices.Chunk(all, 60) {
			x.check(part)
			if t.Failed() {
				return
			}
		}
		t.Logf("%d expressions; %d values, %d NULLs, %d errors", len(all), x.values, x.nulls, x.failed)
	})
}

// Expressions that random ones seldom are: over ENUMs, years and timestamps, dictionaries whose strings fail, lists of each form.
func TestEmitCases(t *testing.T) {
	seed := gputest.Seed(t)
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		x := newExprTest(t, seed, d, 40)
		g := newExprGenerator(x)
		members := types.Type{Kind: types.KindEnum, Enum: &types.EnumMembers{Names: []string{"red", "", "blue", "5"}}}
		enum := x.column("enum", members, true, false, func(i int) types.Value { return types.Value{Type: members, I: int64(i % 5)} })
		year := x.column("year", types.Year, true, false, func(i int) types.Value { return types.Value{Type: types.Year, I: []int64{0, 1901, 2155, 2000}[i%4]} })
		stamp := x.column("stamp", types.Type{Kind: types.KindTimestamp, Scale: 3}, true, false, func(int) types.Value {
			return types.Value{Type: types.Type{Kind: types.KindTimestamp, Scale: 3}, I: x.r.Int64N(types.MaxTimestamp) / 1000 * 1000}
		})
		numbers := x.column("numbers", types.Varchar(20), true, true, func(i int) types.Value {
			return types.StringValue([]string{"12", " -7.5", "1e3", "x", "99999999999999999999", "2024-02-29", ""}[i%7])
		})
		none := x.column("none", types.Varchar(5), true, true, func(int) types.Value { return types.NullOf(types.Varchar(5)) })
		short := x.column("short", types.Varchar(9), true, false, func(i int) types.Value {
			return types.StringValue([]string{"", "a", "1234567", "12345678", "b\x00", "b"}[i%6])
		})
		cast := expr.NewCast
		compare := func(op expr.Op, a, b expr.Expr) expr.Expr { return must(expr.NewCompare(op, a, b)) }
		list := func(arg expr.Expr, items ...expr.Expr) expr.Expr { return must(expr.NewIn(nil, arg, items)) }
		null := &expr.Const{Value: types.NullOf(types.Null)}
		var ints, far, decimals, floats, days []expr.Expr
		for i := range 9 {
			ints = append(ints, intConst(int64(i*3)))
			far = append(far, intConst(int64(i)<<40))
			decimals = append(decimals, &expr.Const{Value: types.DecimalValue(types.Decimal(30, 4), types.Int128FromInt64(int64(i)*10000))})
			floats = append(floats, &expr.Const{Value: types.FloatValue(float64(i) / 8)})
			days = append(days, &expr.Const{Value: types.Value{Type: types.Date, I: 10957 + int64(i)*100}})
		}
		col := map[string]expr.Expr{}
		for _, c := range x.cols {
			col[c.Name] = c
		}
		exprs := []expr.Expr{
			cast(enum, types.Varchar(10)), compare(expr.EQ, enum, textConst("blue")), call("add", enum, intConst(1)), cast(enum, types.Double),
			call("concat", numbers, textConst("!")), call("left", cast(enum, types.Varchar(10)), intConst(1)),
			call("add", year, intConst(1)), cast(year, types.Int64), compare(expr.GE, year, intConst(2000)),
			call("year", stamp), call("date", stamp), compare(expr.LT, stamp, col["cp"]), call("hour", stamp), cast(stamp, types.Int64),
			cast(numbers, types.Int64), cast(numbers, types.Decimal(10, 2)), cast(numbers, types.Double), cast(numbers, types.Date),
			call("add", numbers, col["ca"]), compare(expr.GT, cast(numbers, types.Double), col["cl"]),
			call("coalesce", numbers, textConst("none")), call("ifnull", call("length", numbers), intConst(-1)), &expr.IsNull{Arg: numbers},
			must(expr.NewCase([]expr.When{{Cond: &expr.IsNull{Arg: col["ca"]}, Then: numbers}}, textConst("12"))),
			must(expr.NewCase([]expr.When{{Cond: &expr.IsNull{Arg: col["ca"]}, Then: numbers}}, textConst("elsewhere"))),
			call("upper", none), call("coalesce", none, textConst("x")), compare(expr.EQ, none, numbers), compare(expr.EQ, none, textConst("")),
			compare(expr.EQ, numbers, textConst("12")), compare(expr.NE, textConst("absent"), numbers), compare(expr.NSEQ, numbers, textConst("x")),
			compare(expr.LT, numbers, col["da"]), compare(expr.EQ, numbers, numbers), compare(expr.EQ, short, numbers),
			list(short, textConst(""), textConst("b"), textConst("1234567")), list(short, textConst("a"), textConst("12345678"), null),
			list(short, textConst("b\x00"), textConst("c"), textConst("d"), textConst("e"), textConst("f"), textConst("1234567")),
			list(short, textConst("b"), textConst("c"), textConst("d"), textConst("e"), textConst("f"), textConst("12345678")),
			list(col["ca"], ints...), list(col["ca"], far...), list(col["cc"], ints...), list(col["ci"], decimals...), list(col["cl"], floats...),
			list(col["cm"], days...), list(col["cg"], append(ints, null)...), list(numbers, textConst("x"), null), &expr.Not{Arg: list(numbers, textConst("x"), null)},
			call("timestampadd", textConst("MONTH"), col["ca"], col["cm"]), call("date_add", col["cm"], textConst("1-3"), textConst("YEAR_MONTH")),
			call("date_sub", col["cn"], &expr.Const{Value: types.DecimalValue(types.Decimal(5, 2), types.Int128FromInt64(150))}, textConst("SECOND")),
			call("regexp_like", numbers, textConst("^[0-9]")), call("md5", col["db"]), call("reverse", col["db"]),
			call("interval", col["cl"], intConst(-5), intConst(0), intConst(5)), call("elt", col["ca"], col["sa"], col["da"], textConst("three")),
			call("field", col["sa"], col["sb"], col["da"], textConst("a")), call("field", col["ca"], intConst(3), col["cd"], intConst(0)),
			&expr.Const{Value: types.IntValue(7)}, null, call("add", intConst(math.MaxInt64), intConst(1)), call("add", null, col["ca"]),
		}
		for range 20 {
			exprs = append(exprs, must(expr.NewLike(g.leaf(isText), textConst(g.value(types.Text).S+"%"+g.value(types.Text).S), textConst("a"))))
		}
		for part := range slices.Chunk(exprs, 40) {
			for _, why := range x.check(part) {
				t.Logf("refused: %s", why)
			}
			if t.Failed() {
				return
			}
		}
		t.Logf("%d values, %d NULLs, %d errors", x.values, x.nulls, x.failed)
	})
}

// A kernel's text is the same whatever the literals are.
func TestEmitTextHasNoLiterals(t *testing.T) {
	x := newExprTest(t, 1, gputest.Emulated(t), 10)
	newExprGenerator(x)
	byName := map[string]*expr.Column{}
	for _, c := range x.cols {
		byName[c.Name] = c
	}
	make := func(k int64, s string) expr.Expr {
		number := must(expr.NewCompare(expr.GT, call("add", byName["ca"], intConst(k)), intConst(k*3)))
		list := must(expr.NewIn(nil, byName["sa"], []expr.Expr{textConst(s), textConst(s + "x")}))
		like := must(expr.NewLike(byName["sb"], textConst(s+"%"+s), nil))
		day := must(expr.NewCompare(expr.LT, call("date_add", byName["cm"], intConst(k), textConst("MONTH")), byName["cn"]))
		coded := must(expr.NewCompare(expr.EQ, byName["da"], textConst(s)))
		price := must(expr.NewCompare(expr.GE, byName["cg"], &expr.Const{Value: types.DecimalValue(types.Decimal(15, 2), types.Int128FromInt64(k))}))
		return &expr.Or{Args: []expr.Expr{number, list, like, day, coded, price}}
	}
	var texts []string
	for k, s := range map[int64]string{1: "abc", 22: "zz", 333: "q"} {
		text, _, err := x.kernel("k", make(k, s), plantest.Context())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text.Source("k", len(text.Params)))
	}
	if texts[0] != texts[1] || texts[1] != texts[2] {
		t.Errorf("other literals, another text:\n%s\n%s", texts[0], texts[1])
	}
}
