package groupby

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/sql/expr"
)

// Sums have 128 bits, and nothing looks whether one leaves them: terms are bounded instead, so that all rows together cannot. A decimal
// of more digits than the bound has the CPU run the query.

// mostRows are more than come to a sink in half a day: at 10^11 a second.
const mostRows = 1 << 52

// mostTerms is how many rows come to the groups at most, so how many terms a sum has.
func (w *Way) mostTerms() float64 {
	if rows := w.MaxRows; !w.Plan.IsShared(w.f.Aggregate) && rows < mostRows {
		return rows
	}
	return mostRows
}

// termBits is the width of a sum's terms: any x with -2^width <= x < 2^width may come as often as rows do, and the sum has 128 bits.
func (w *Way) termBits() int {
	return 127 - bits.Len64(uint64(max(w.mostTerms(), 1))-1)
}

// boundTerm writes a check of a sum's term of 128 bits.
func (a *groupText) boundTerm(arg expr.Expr, v codegen.Value) {
	width := a.termBits()
	if digits := float64(arg.Type().Precision); digits > 0 && digits*math.Log2(10) < float64(width) {
		return
	}
	a.k.RaiseIf(fmt.Sprintf("(u64)(((i64)(%s >> 64) >> %s) + 1) > 1%s", v.Text, a.k.Literal(uint64(width-64)), codegen.NotNull(v.Null)), codegen.CodeOnCPU, arg)
}
