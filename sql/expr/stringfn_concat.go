package expr

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// concatFunctions join strings.
func concatFunctions() []*Function {
	return []*Function{
		function("concat", "CONCAT(a, ...)", "The texts one after the other; NULL if any is NULL.", 1, -1, resolveConcat, evalConcat, "concat_op").WithCollationOf(allOperands),
		{Name: "concat_ws", Category: stringCategory, Syntax: "CONCAT_WS(sep, a, ...)", MinArgs: 2, MaxArgs: -1,
			Doc:   "The texts that are not NULL, with the separator between them; NULL if the separator is.",
			Nulls: NullCustom, Resolve: resolveConcatWS, Eval: evalConcatWS, CollationOf: allOperands},
	}
}

func resolveConcat(args []Expr) (Signature, error) {
	sig := Signature{}
	n, unlimited, binary := 0, false, false
	for _, a := range args {
		t := TextType(a.Type())
		sig.Args = append(sig.Args, castText(a))
		l := types.TextLength(t)
		n += l
		unlimited = unlimited || l == 0 && (t.Kind == types.KindText || t.Kind == types.KindBlob || t.Kind == types.KindJSON)
		binary = binary || t.IsBinaryString()
	}
	switch {
	case unlimited && binary:
		sig.Result = types.Blob
	case unlimited:
		sig.Result = types.Text
	case binary:
		sig.Result = types.Type{Kind: types.KindVarbinary, Length: int32(n)}
	default:
		sig.Result = types.Varchar(n)
	}
	return sig, nil
}

func evalConcat(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	parts := make([]textReader, len(args))
	for k, a := range args {
		parts[k] = texts(a)
	}
	for _, i := range positions(sel, n) {
		size := 0
		for _, p := range parts {
			size += len(p.at(int(i)))
		}
		b := c.arena.room(size)
		for _, p := range parts {
			b = append(b, p.at(int(i))...)
		}
		out.Str[i] = c.arena.keep(b)
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}

func resolveConcatWS(args []Expr) (Signature, error) {
	sig, err := resolveConcat(args)
	if n := int(sig.Result.Length); n > 0 {
		sig.Result.Length = int32(n + types.TextLength(TextType(args[0].Type()))*max(len(args)-3, 0))
	}
	sig.Nullable = args[0].Nullable()
	return sig, err
}

func evalConcatWS(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sep := texts(args[0])
	for _, i := range positions(sel, n) {
		if args[0].IsNull(int(i)) {
			out.SetNull(int(i), n)
			continue
		}
		size := 0
		for _, a := range args[1:] {
			if !a.IsNull(int(i)) {
				size += len(a.StringAt(int(i))) + len(sep.at(int(i)))
			}
		}
		b := c.arena.room(size)
		first := true
		for _, a := range args[1:] {
			if a.IsNull(int(i)) {
				continue
			}
			if !first {
				b = append(b, sep.at(int(i))...)
			}
			first = false
			b = append(b, a.StringAt(int(i))...)
		}
		out.Str[i] = c.arena.keep(b)
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}
