package stringfn

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that choose among strings by position or by bits (Reference Manual 14.8).

// choosers take one of their operands, or several.
func choosers() []*expr.Function {
	return []*expr.Function{
		{Name: "field", Category: category, Syntax: "FIELD(x, a, b, ...)", MinArgs: 2, MaxArgs: -1,
			Doc:   "The position of x among the operands after it; 0 if it is not there or NULL. All strings compare as strings, all numbers as numbers, others as DOUBLE.",
			Nulls: expr.NullCustom, Resolve: resolveField, Eval: evalField, Under: fieldByCollation},
		{Name: "elt", Category: category, Syntax: "ELT(n, a, b, ...)", MinArgs: 2, MaxArgs: -1,
			Doc: "The n-th string; NULL if there is none.", Nulls: expr.NullCustom, Resolve: resolveElt, Eval: evalElt, CollationOf: expr.BehindFirst},
		{Name: "make_set", Category: category, Syntax: "MAKE_SET(bits, a, b, ...)", MinArgs: 2, MaxArgs: -1,
			Doc: "The strings whose bit is set, separated by commas; NULLs are left out.", Nulls: expr.NullCustom, Resolve: resolveElt, Eval: evalMakeSet, CollationOf: expr.BehindFirst},
		{Name: "export_set", Category: category, Syntax: "EXPORT_SET(bits, on, off [, sep [, n]])", MinArgs: 3, MaxArgs: 5,
			Doc:     "For each of n (64) bits, from the lowest, the string on or off, with a separator (',').",
			Resolve: resolveExportSet, Eval: evalExportSet, CollationOf: expr.BehindFirst},
	}
}

func resolveField(args []expr.Expr) (expr.Signature, error) {
	areStrings, areNumbers := true, true
	for _, a := range args {
		t := a.Type()
		areStrings = areStrings && (t.IsString() || t.Kind == types.KindNull || t.Kind == types.KindEnum)
		areNumbers = areNumbers && (t.IsNumeric() && !t.IsFloat() || t.Kind == types.KindNull)
	}
	sig := expr.Signature{Result: types.Int64, Args: make([]types.Type, len(args))}
	t := types.Double
	if areNumbers && !areStrings {
		t = expr.CommonTypeOf(args...)
	}
	for i, a := range args {
		sig.Args[i] = t
		if areStrings {
			sig.Args[i] = expr.CastToString(a)
		}
	}
	return sig, nil
}

func evalField(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = 0
		if args[0].IsNull(int(i)) {
			continue
		}
		x := args[0].Value(int(i))
		for k, a := range args[1:] {
			if y := a.Value(int(i)); !y.Null && types.Compare(x, y) == 0 {
				out.I64[i] = int64(k + 1)
				break
			}
		}
	}
	return nil
}

// resolveElt resolves a function of an integer and strings whose result is text.
func resolveElt(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolveConcat(args[1:])
	sig.Args = append([]types.Type{types.Int64}, sig.Args...)
	if sig.Result.Length > 0 {
		sig.Result.Length += int32(len(args)) // MAKE_SET's commas
	}
	sig.Nullable = true
	return sig, err
}

func evalElt(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	k := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		x := k.At(int(i))
		if args[0].IsNull(int(i)) || x < 1 || x >= int64(len(args)) || args[x].IsNull(int(i)) {
			out.SetNull(int(i), n)
			continue
		}
		out.Str[i] = args[x].StringAt(int(i))
	}
	return nil
}

func evalMakeSet(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	bits := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		if args[0].IsNull(int(i)) {
			out.SetNull(int(i), n)
			continue
		}
		b := c.Builder()
		x, first := uint64(bits.At(int(i))), true
		for k, a := range args[1:] {
			if k > 63 || x>>k&1 == 0 || a.IsNull(int(i)) {
				continue
			}
			if !first {
				b.WriteChar(',')
			}
			first = false
			b.WriteString(a.StringAt(int(i)))
		}
		var err error
		if out.Str[i], err = c.Built(b); err != nil {
			return err
		}
	}
	return nil
}

func resolveExportSet(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: []types.Type{types.Int64}, Result: types.Text}
	for i, a := range args[1:] {
		t := expr.CastToString(a)
		if i == 3 {
			t = types.Int64
		}
		sig.Args = append(sig.Args, t)
	}
	return sig, nil
}

func evalExportSet(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	bits, on, off := expr.Ints(args[0]), expr.Strings(args[1]), expr.Strings(args[2])
	for _, i := range expr.Positions(sel, n) {
		sep, count := ",", int64(64)
		if len(args) > 3 {
			sep = args[3].StringAt(int(i))
		}
		if len(args) > 4 {
			if k := expr.Ints(args[4]).At(int(i)); k >= 0 && k < 64 {
				count = k
			}
		}
		b := c.Builder()
		x := uint64(bits.At(int(i)))
		for k := range count {
			if k > 0 {
				b.WriteString(sep)
			}
			if x>>k&1 != 0 {
				b.WriteString(on.At(int(i)))
			} else {
				b.WriteString(off.At(int(i)))
			}
		}
		var err error
		if out.Str[i], err = c.Built(b); err != nil {
			return err
		}
	}
	return nil
}
