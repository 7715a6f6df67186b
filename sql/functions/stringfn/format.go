package stringfn

import (
	"math"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// FORMAT: numbers for people (Reference Manual 14.8).

// formatNumbers is FORMAT.
func formatNumbers() []*expr.Function {
	return []*expr.Function{{Name: "format", Category: category, Syntax: "FORMAT(x, d [, locale])", MinArgs: 2, MaxArgs: 3,
		Doc:   "x rounded to d digits behind the point, with separators between thousands; the locales are en_US (also for NULL), en_GB and de_DE.",
		Nulls: expr.NullCustom, Resolve: resolveFormat, Eval: evalFormat, Digits: expr.Digits{Rounds: true}}}
}

// numberStyle is what a locale puts between thousands and before the fraction.
type numberStyle struct{ thousands, point string }

var numberStyles = map[string]numberStyle{"en_us": {",", "."}, "en_gb": {",", "."}, "de_de": {".", ","}}

func resolveFormat(args []expr.Expr) (expr.Signature, error) {
	t := args[0].Type()
	sig := expr.Signature{Args: []types.Type{types.Double, types.Int64}, Result: types.Varchar(80), Nullable: true}
	if t.IsInteger() || t.Kind == types.KindDecimal {
		sig.Args[0] = types.AsDecimal(t)
	}
	if len(args) == 3 {
		sig.Args = append(sig.Args, expr.CastToString(args[2]))
	}
	return sig, nil
}

func evalFormat(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	digits := expr.Ints(args[1])
	for _, i := range expr.Positions(sel, n) {
		if args[0].IsNull(int(i)) || args[1].IsNull(int(i)) {
			out.SetNull(int(i), n)
			continue
		}
		style := numberStyles["en_us"]
		if len(args) == 3 && !args[2].IsNull(int(i)) {
			name := args[2].StringAt(int(i))
			var ok bool
			if len(name) == len("en_US") {
				style, ok = numberStyles[strings.ToLower(name)]
			}
			if !ok {
				return sqlerr.NotSupportedf("the locale "+name[:min(len(name), 64)], "FORMAT knows en_US, en_GB and de_DE")
			}
		}
		d := int(min(max(digits.At(int(i)), 0), types.MaxDecimalScale))
		text := ""
		if args[0].Type.IsFloat() {
			text = fixedFloat(expr.Floats(args[0]).At(int(i)), d)
		} else {
			scale := expr.ScaleOf(args[0].Type)
			wide := expr.Wides(args[0])
			v := wide.At(int(i))
			keep := min(d, scale)
			v, _ = types.Rescale(v, scale, keep)
			text = types.FormatDecimal(v, keep)
			if keep < d {
				if keep == 0 {
					text += "."
				}
				text += strings.Repeat("0", d-keep)
			}
		}
		if c := text[len(text)-1]; c != '.' && (c < '0' || c > '9') { // NaN or an infinity
			out.Str[i] = text
			continue
		}
		out.Str[i] = grouped(text, style)
	}
	return nil
}

// fixedFloat rounds as MySQL rounds doubles: the scaled value to the nearest integer, halves to even.
func fixedFloat(f float64, digits int) string {
	if !types.IsFinite(f) {
		return types.FormatFloat(f)
	}
	if p := math.Pow10(digits); digits < 16 && math.Abs(f) < 1<<52/p {
		f = math.RoundToEven(f*p) / p
	}
	return strconv.FormatFloat(f, 'f', digits, 64)
}

func grouped(text string, style numberStyle) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, frac, hasFrac := strings.Cut(text, ".")
	if strings.Trim(whole+frac, "0") == "" {
		sign = ""
	}
	var b strings.Builder
	b.WriteString(sign)
	for k := range len(whole) {
		if k > 0 && (len(whole)-k)%3 == 0 {
			b.WriteString(style.thousands)
		}
		b.WriteByte(whole[k])
	}
	if hasFrac {
		b.WriteString(style.point)
		b.WriteString(frac)
	}
	return b.String()
}
