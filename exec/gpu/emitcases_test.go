package gpu

import (
	"slices"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
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
	"adddate": {2: {"MONTH"}}, "subdate": {2: {"DAY"}}, "substring_index": {1: {"a", "ab", "é"}}, "like": {1: {"a%b", "%a_", "%é%ab%", "a%", "%b"}},
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
	seed := testSeed(t)
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		x := newExprTest(t, seed, d, 24)
		all := functionCases(x, 5)
		for part := range slices.Chunk(all, 60) {
			x.check(part)
			if t.Failed() {
				return
			}
		}
		t.Logf("%d expressions; %d values, %d NULLs, %d errors", len(all), x.values, x.nulls, x.failed)
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
		list := must(expr.NewIn(byName["sa"], []expr.Expr{textConst(s), textConst(s + "x")}))
		like := must(expr.NewLike(byName["sb"], textConst(s+"%"+s), nil))
		day := must(expr.NewCompare(expr.LT, call("date_add", byName["cm"], intConst(k), textConst("MONTH")), byName["cn"]))
		coded := must(expr.NewCompare(expr.EQ, byName["da"], textConst(s)))
		price := must(expr.NewCompare(expr.GE, byName["cg"], &expr.Const{Value: types.DecimalValue(types.Decimal(15, 2), types.Int128FromInt64(k))}))
		return &expr.Or{Args: []expr.Expr{number, list, like, day, coded, price}}
	}
	var texts []string
	for k, s := range map[int64]string{1: "abc", 22: "zz", 333: "q"} {
		text, _, err := x.kernel("k", make(k, s), testContext())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text.source("k"))
	}
	if texts[0] != texts[1] || texts[1] != texts[2] {
		t.Errorf("other literals, another text:\n%s\n%s", texts[0], texts[1])
	}
}
