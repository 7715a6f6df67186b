package stringfn

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// fillFunctions repeat strings.
func fillFunctions() []*expr.Function {
	return []*expr.Function{
		function("lpad", "LPAD(s, n, pad)", "s filled up from the left with pad to n characters, or cut to n; NULL for a negative n.",
			3, 3, resolvePad, padder(true)).WithCollationOf(expr.AllOperands),
		function("rpad", "RPAD(s, n, pad)", "s filled up from the right with pad to n characters, or cut to n; NULL for a negative n.",
			3, 3, resolvePad, padder(false)).WithCollationOf(expr.AllOperands),
		function("repeat", "REPEAT(s, n)", "s n times; NULL with a warning above 64 MiB.", 2, 2, resolveRepeat, evalRepeat).WithCollationOf(expr.FirstOperand),
		function("space", "SPACE(n)", "n spaces.", 1, 1, resolveSpace, evalSpace),
	}
}

const codeWarnAllowedPacket sqlerr.Code = 1301

// tooLong makes position i NULL because the function's result would exceed MaxAllowedPacket.
func tooLong(c *expr.Context, call *expr.Call, out *column.Vector, i, n int) {
	c.Warnings.Add(sqlerr.LevelWarning, codeWarnAllowedPacket, "Result of %s() was larger than max_allowed_packet (%d) - truncated", call.Fn.Name, expr.MaxAllowedPacket)
	out.SetNull(i, n)
}

func resolvePad(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: []types.Type{expr.CastToString(args[0]), types.Int64, expr.CastToString(args[2])}, Result: paddedType(args[1], args[0], args[2]), Nullable: true, Capped: true}
	return sig, nil
}

// paddedType is the type of a string of n characters: n's value decides, if it is a literal.
func paddedType(n expr.Expr, operands ...expr.Expr) types.Type {
	isBinary := false
	for _, t := range operands {
		isBinary = isBinary || t.Type().IsBinaryString()
	}
	length := int64(-1)
	if c, ok := expr.CappedInt(n).(*expr.Const); ok && n.Type().IsInteger() && !c.Value.Null {
		length = max(c.Value.I, 0)
	}
	switch {
	case isBinary && (length < 0 || length > 65535):
		return types.Blob
	case isBinary:
		return types.Type{Kind: types.KindVarbinary, Length: int32(length)}
	case length < 0 || length > 16383:
		return types.Text
	}
	return types.Varchar(int(length))
}

// padder makes LPAD, or RPAD. An empty pad gives ” where there is something to fill.
func padder(left bool) expr.Kernel {
	return func(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s, count, pad := expr.Strings(args[0]), expr.Ints(args[1]), expr.Strings(args[2])
		inBytes := args[0].Type.IsBinaryString() || args[2].Type.IsBinaryString()
		for _, i := range expr.Positions(sel, n) {
			x, k, p := s.At(int(i)), count.At(int(i)), pad.At(int(i))
			if k < 0 {
				out.SetNull(int(i), n)
				continue
			}
			have := int64(charLength(x, inBytes))
			switch {
			case k <= have:
				out.Str[i] = x[:charOffset(x, int(k), inBytes)]
				continue
			case p == "":
				out.Str[i] = ""
				continue
			case k > expr.MaxAllowedPacket:
				tooLong(c, call, out, int(i), n)
				continue
			}
			fill := int(k - have)
			unit := charLength(p, inBytes)
			rest := p[:charOffset(p, fill%unit, inBytes)]
			size := len(x) + fill/unit*len(p) + len(rest)
			if size > expr.MaxAllowedPacket {
				tooLong(c, call, out, int(i), n)
				continue
			}
			b, err := c.Reserve(size)
			if err != nil {
				return err
			}
			if !left {
				b = append(b, x...)
			}
			b = appendRepeated(b, p, fill/unit)
			b = append(b, rest...)
			if left {
				b = append(b, x...)
			}
			if out.Str[i], err = c.Commit(b); err != nil {
				return err
			}
		}
		return nil
	}
}

// appendRepeated appends s n times, by copying ever longer pieces that it has appended.
func appendRepeated(b []byte, s string, n int) []byte {
	from, end := len(b), len(b)+len(s)*n
	if n > 0 {
		b = append(b, s...)
	}
	for len(b) < end {
		b = append(b, b[from:from+min(len(b)-from, end-len(b))]...)
	}
	return b
}

func resolveRepeat(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: []types.Type{expr.CastToString(args[0]), types.Int64}, Result: paddedType(args[1], args[0]), Nullable: true, Capped: true}
	if n := types.TextLength(expr.StringType(args[0].Type())); sig.Result.Length > 0 {
		if long := n * int(sig.Result.Length); n > 0 && long <= 16383 {
			sig.Result.Length = int32(long)
		} else if args[0].Type().IsBinaryString() {
			sig.Result = types.Blob
		} else {
			sig.Result = types.Text
		}
	}
	return sig, nil
}

func evalRepeat(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, count := expr.Strings(args[0]), expr.Ints(args[1])
	for _, i := range expr.Positions(sel, n) {
		x, k := s.At(int(i)), count.At(int(i))
		switch {
		case k <= 0 || x == "":
			out.Str[i] = ""
		case k > expr.MaxAllowedPacket/int64(len(x)):
			tooLong(c, call, out, int(i), n)
		default:
			b, err := c.Reserve(len(x) * int(k))
			if err != nil {
				return err
			}
			if out.Str[i], err = c.Commit(appendRepeated(b, x, int(k))); err != nil {
				return err
			}
		}
	}
	return nil
}

func resolveSpace(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{types.Int64}, Result: paddedType(args[0]), Nullable: true, Capped: true}, nil
}

func evalSpace(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	count := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		k := max(count.At(int(i)), 0)
		if k > expr.MaxAllowedPacket {
			tooLong(c, call, out, int(i), n)
			continue
		}
		b, err := c.Reserve(int(k))
		if err != nil {
			return err
		}
		if out.Str[i], err = c.Commit(appendRepeated(b, " ", int(k))); err != nil {
			return err
		}
	}
	return nil
}
