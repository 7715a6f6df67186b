package miscellaneous

import (
	"math"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// unitFunctions write sizes and times with units.
func unitFunctions() []*expr.Function {
	size := func(name, syntax, doc string, text func(float64) string) *expr.Function {
		return &expr.Function{Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
			Resolve: func([]expr.Expr) (expr.Signature, error) {
				return expr.Signature{Args: []types.Type{types.Double}, Result: types.Varchar(20)}, nil
			},
			Eval: func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
				f := expr.Floats(args[0])
				for _, i := range expr.Positions(sel, n) {
					out.Str[i] = text(f.At(int(i)))
				}
				return nil
			}}
	}
	return []*expr.Function{
		size("format_bytes", "FORMAT_BYTES(n)", "A number of bytes with its unit: bytes, KiB, MiB and so on to EiB.", formatBytes),
		size("format_pico_time", "FORMAT_PICO_TIME(n)", "A time in picoseconds with its unit: ps, ns, us, ms, s, min, h or d.", formatPicoTime),
	}
}

// unitString writes a number in the largest unit that it reaches, as MySQL does.
func unitString(x float64, units []string, sizes []float64, width int) string {
	at := 0
	for at+1 < len(units) && math.Abs(x) >= sizes[at+1] {
		at++
	}
	if at == 0 {
		digits := strconv.FormatInt(int64(x), 10)
		return strings.Repeat(" ", max(0, width-len(digits))) + digits + " " + units[0]
	}
	x /= sizes[at]
	if math.Abs(x) >= 100000 {
		return strconv.FormatFloat(x, 'e', 2, 64) + " " + units[at]
	}
	return strconv.FormatFloat(x, 'f', 2, 64) + " " + units[at]
}

func formatBytes(x float64) string {
	return unitString(x, []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}, []float64{1, 1 << 10, 1 << 20, 1 << 30, 1 << 40, 1 << 50, 1 << 60}, 4)
}

func formatPicoTime(x float64) string {
	return unitString(x, []string{"ps", "ns", "us", "ms", "s", "min", "h", "d"}, []float64{1, 1e3, 1e6, 1e9, 1e12, 60e12, 3600e12, 86400e12}, 3)
}
