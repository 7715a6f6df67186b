package stringfn

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// concatFunctions join strings.
func concatFunctions() []*expr.Function {
	return []*expr.Function{
		function("concat", "CONCAT(a, ...)", "The strings one after the other; NULL if any is NULL.", 1, -1, resolveConcat, evalConcat, "concat_op").WithCollationOf(expr.AllOperands),
		{Name: "concat_ws", Category: category, Syntax: "CONCAT_WS(sep, a, ...)", MinArgs: 2, MaxArgs: -1,
			Doc:   "The strings that are not NULL, with the separator between them; NULL if the separator is.",
			Nulls: expr.NullCustom, Resolve: resolveConcatWS, Eval: evalConcatWS, CollationOf: expr.AllOperands},
	}
}

func resolveConcat(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{}
	n, unlimited, isBinary := 0, false, false
	for _, a := range args {
		t := expr.StringType(a.Type())
		sig.Args = append(sig.Args, expr.CastToString(a))
		l := types.TextLength(t)
		n += l
		unlimited = unlimited || l == 0 && (t.Kind == types.KindText || t.Kind == types.KindBlob || t.Kind == types.KindJSON)
		isBinary = isBinary || t.IsBinaryString()
	}
	switch {
	case unlimited && isBinary:
		sig.Result = types.Blob
	case unlimited:
		sig.Result = types.Text
	case isBinary:
		sig.Result = types.Type{Kind: types.KindVarbinary, Length: int32(n)}
	default:
		sig.Result = types.Varchar(n)
	}
	return sig, nil
}

func evalConcat(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	parts := make([]expr.StringReader, len(args))
	for k, a := range args {
		parts[k] = expr.Strings(a)
	}
	row := make([]string, len(args))
	m := c.Maker()
	for _, i := range expr.Positions(sel, n) {
		size := 0
		for k := range parts {
			row[k] = parts[k].At(int(i))
			size += len(row[k])
		}
		b, err := m.Reserve(size)
		if err != nil {
			return err
		}
		for _, s := range row {
			b = append(b, s...)
		}
		out.Str[i] = m.Take(b)
	}
	return m.Close()
}

func resolveConcatWS(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolveConcat(args)
	if n := int(sig.Result.Length); n > 0 {
		sig.Result.Length = int32(n + types.TextLength(expr.StringType(args[0].Type()))*max(len(args)-3, 0))
	}
	sig.Nullable = args[0].Nullable()
	return sig, err
}

func evalConcatWS(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sep := expr.Strings(args[0])
	m := c.Maker()
	for _, i := range expr.Positions(sel, n) {
		if args[0].IsNull(int(i)) {
			out.SetNull(int(i), n)
			continue
		}
		size := 0
		for _, a := range args[1:] {
			if !a.IsNull(int(i)) {
				size += len(a.StringAt(int(i))) + len(sep.At(int(i)))
			}
		}
		b, err := m.Reserve(size)
		if err != nil {
			return err
		}
		first := true
		for _, a := range args[1:] {
			if a.IsNull(int(i)) {
				continue
			}
			if !first {
				b = append(b, sep.At(int(i))...)
			}
			first = false
			b = append(b, a.StringAt(int(i))...)
		}
		out.Str[i] = m.Take(b)
	}
	return m.Close()
}
