package sort

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/form"
)

// AnyColumns is how many columns those kernels order by at most that order by any columns, which their parameters tell.
const AnyColumns = 32

// The parameters of such kernels behind those of the columns.
const (
	anyKinds  = FirstColumn + columnWords*AnyColumns // of the columns, 4 bits each
	anyCount  = anyKinds + AnyColumns/kindsPerWord   // of columns
	anyWords  = anyCount + 1
	kindBits  = 4
	descends  = 8
	anyString = 4 // and of a dictionary: 5

	kindsPerWord = 64 / kindBits
)

// ServesAny says whether a step over columns can do with kernels that order by any.
func ServesAny(cols []Column, x Step) bool { return x != Radix && len(cols) <= AnyColumns }

// AnyText is Text of kernels that order rows by any columns. They take three times as long, and need not be compiled for a query.
func AnyText(x Step) string {
	w := &writer{words: anyWords}
	w.begin("anyorder.cuh")
	fmt.Fprintf(&w.b, `struct Less : AnyOrder {
  RADISH_FN Less(const Params<%d>& p) : AnyOrder{p.w + %d, p.w + %d, (u32)p.w[%d]} {}
};

`, anyWords, FirstColumn, anyKinds, anyCount)
	w.step(x)
	return w.b.String()
}

// AnyParameters are the parameters of such kernels that order as others do which have some.
func AnyParameters(params []uint64, cols []Column) []uint64 {
	out := make([]uint64, anyWords)
	copy(out, params)
	out[anyCount] = uint64(len(cols))
	for i, c := range cols {
		if !c.IsNullable {
			out[FirstColumn+columnWords*i+1] = 0
		}
		if c.Class != form.Code {
			out[FirstColumn+columnWords*i+2] = 0
		}
		out[anyKinds+i/kindsPerWord] |= c.kind() << (kindBits * (i % kindsPerWord))
	}
	return out
}

// kind is how anyorder.cuh calls what a column has.
func (c *Column) kind() uint64 {
	kind := map[form.Class]uint64{form.Int: 0, form.Float: 2, form.Wide: 3, form.View: anyString, form.Code: anyString + 1}[c.Class]
	if c.Class == form.Int && c.Unsigned {
		kind = 1
	}
	if c.Desc {
		kind |= descends
	}
	return kind
}
