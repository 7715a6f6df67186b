package groupby

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// reader writes the kernel of a pipeline that reads groups.
type reader struct{ *kernel.Kernel }

// sumText is the C++ of an exact sum of group number row, an i128.
func (k *reader) sumText(f *Form, acc *Accumulator) string {
	if acc.narrow {
		return fmt.Sprintf("(i64)%s[row]", k.Pointer("const u64", GroupArray{f.Aggregate, acc.At}))
	}
	return k.wideText(f, acc.At)
}

// wideText is the C++ of the i128 whose words group number row has in array number at and in the next one.
func (k *reader) wideText(f *Form, at int) string {
	return fmt.Sprintf("as_i128(%s[row], %s[row])", k.Pointer("const u64", GroupArray{f.Aggregate, at}), k.Pointer("const u64", GroupArray{f.Aggregate, at + 1}))
}

// floatSum is the C++ of the arguments that say what a sum of doubles, or of their squares, is in group number row: its limbs, what fitted the window, and that.
func (k *reader) floatSum(f *Form, acc *Accumulator) string {
	fitted := k.wideText(f, acc.At+1)
	if acc.op == accFloatSquares {
		fitted += ", " + k.wideText(f, acc.At+3)
	}
	return fmt.Sprintf("%s, %s, *%s", k.limbs(f, acc), fitted, k.Pointer("const u32", kernel.CounterWord{Of: windowOf{acc}}))
}

// limbs is the C++ of where a sum of doubles of group number row has its limbs.
func (k *reader) limbs(f *Form, acc *Accumulator) string {
	return fmt.Sprintf("%s + %d * row", k.Pointer("const i64", GroupArray{f.Aggregate, acc.At}), exactWords)
}
