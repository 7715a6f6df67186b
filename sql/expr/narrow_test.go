package expr_test

import (
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// TestIntegerBounds computes operators over all values of small ranges, and of ranges at the ends of 64 bits: what they give lies within the bounds and,
// but for remainders, reaches them.
func TestIntegerBounds(t *testing.T) {
	constant := func(v int64) expr.Expr { return &expr.Const{Value: types.IntValue(v)} }
	apply := func(name string, a, b expr.Expr) *expr.Call {
		e, err := expr.NewCall(name, a, b)
		if err != nil {
			t.Fatal(err)
		}
		return e.(*expr.Call)
	}
	const lowest, highest = -1 << 63, 1<<63 - 1
	var ranges [][]int64
	for lo := int64(-4); lo <= 4; lo++ {
		r := []int64{}
		for hi := lo; hi <= 4; hi++ {
			r = append(r, hi)
			ranges = append(ranges, r[:len(r):len(r)])
		}
	}
	ranges = append(ranges, []int64{lowest, lowest + 1}, []int64{highest - 1, highest}, []int64{lowest, -1, 0, 1, highest})
	known, refused := 0, 0
	for _, name := range []string{"add", "sub", "mul", "mod", "intdiv"} {
		type operands struct{ x, y int64 }
		results := map[operands]types.Value{}
		for _, a := range ranges {
			for _, b := range ranges {
				lo, hi, ok := expr.IntegerBounds(apply(name, constant(a[0]), constant(b[0])), func(i int) (lo, hi int64, ok bool) {
					operand := [2][]int64{a, b}[i]
					return operand[0], operand[len(operand)-1], true
				})
				if !ok {
					refused++
					continue
				}
				known++
				least, most, any := int64(highest), int64(lowest), false
				for _, x := range a {
					for _, y := range b {
						v, done := results[operands{x, y}]
						if !done {
							var err error
							if v, err = expr.Eval1(apply(name, constant(x), constant(y)), exprtest.NewContext()); err != nil {
								t.Fatalf("%d %s %d is within %d..%d, and gives %v", x, name, y, lo, hi, err)
							}
							results[operands{x, y}] = v
						}
						if v.Null {
							continue
						}
						least, most, any = min(least, v.I), max(most, v.I), true
					}
				}
				if any && (least < lo || most > hi || name != "mod" && (least != lo || most != hi)) {
					t.Errorf("%s over %v and %v gives %d..%d, not %d..%d", name, a, b, least, most, lo, hi)
				}
			}
		}
	}
	if known < 5000 || refused < 500 {
		t.Errorf("%d pairs of ranges had bounds, %d had none", known, refused)
	}
}
