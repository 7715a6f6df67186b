package stringfn

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The string functions that queries use most (Reference Manual 14.8). Positions and lengths count characters, of binary
// strings bytes. Parts of a string share its memory.

// substringFunctions take parts of strings, or replace them.
func substringFunctions() []*expr.Function {
	return []*expr.Function{
		function("substring", "SUBSTRING(s, pos [, len]), SUBSTRING(s FROM pos [FOR len])",
			"The part of s from position pos (1 is the first, -1 the last character) on, of at most len characters.",
			2, 3, resolvePart, evalSubstring, "substr", "mid").WithCollationOf(expr.FirstOperand),
		function("left", "LEFT(s, n)", "The first n characters.", 2, 2, resolvePart, evalLeft).WithCollationOf(expr.FirstOperand),
		function("right", "RIGHT(s, n)", "The last n characters.", 2, 2, resolvePart, evalRight).WithCollationOf(expr.FirstOperand),
		function("trim", "TRIM([BOTH | LEADING | TRAILING] [rem FROM] s)", "s without spaces, or copies of rem, at both ends or one.", 1, 3, resolveTrim, evalTrim).WithCollationOf(expr.AllOperands),
		function("ltrim", "LTRIM(s)", "s without leading spaces.", 1, 1, resolveTrim, evalTrim).WithCollationOf(expr.AllOperands),
		function("rtrim", "RTRIM(s)", "s without trailing spaces.", 1, 1, resolveTrim, evalTrim).WithCollationOf(expr.AllOperands),
		function("substring_index", "SUBSTRING_INDEX(s, delim, n)", "The part of s before the n-th delimiter, or behind it, counted from the right, if n is negative.",
			3, 3, resolveSubstringIndex, evalSubstringIndex).WithCollationOf(expr.AllOperands),
		function("insert", "INSERT(s, pos, len, new)", "s with len characters from position pos on replaced by new.", 4, 4, resolveInsert, evalInsert).ParsedAs("insert_func").WithCollationOf(expr.AllOperands),
	}
}

func evalSubstring(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, pos := expr.Strings(args[0]), expr.Ints(args[1])
	inBytes := args[0].Type.IsBinaryString()
	var length expr.Reader[int64]
	if len(args) == 3 {
		length = expr.Ints(args[2])
	}
	for _, i := range expr.Positions(sel, n) {
		l := int64(1) << 40
		if len(args) == 3 {
			l = length.At(int(i))
		}
		out.Str[i] = substring(s.At(int(i)), pos.At(int(i)), l, inBytes)
	}
	return nil
}

func substring(s string, pos, length int64, inBytes bool) string {
	start := 0
	switch {
	case pos == 0 || length <= 0 || pos > int64(len(s)) || pos < -int64(len(s)):
		return ""
	case pos > 0:
		start = charOffset(s, int(pos-1), inBytes)
	default:
		var ok bool
		if start, ok = charOffsetBack(s, int(-pos), inBytes); !ok {
			return ""
		}
	}
	s = s[start:]
	if length < int64(len(s)) {
		s = s[:charOffset(s, int(length), inBytes)]
	}
	return s
}

func evalLeft(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, count := expr.Strings(args[0]), expr.Ints(args[1])
	inBytes := args[0].Type.IsBinaryString()
	for _, i := range expr.Positions(sel, n) {
		out.Str[i] = substring(s.At(int(i)), 1, count.At(int(i)), inBytes)
	}
	return nil
}

func evalRight(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, count := expr.Strings(args[0]), expr.Ints(args[1])
	inBytes := args[0].Type.IsBinaryString()
	for _, i := range expr.Positions(sel, n) {
		x, k := s.At(int(i)), count.At(int(i))
		if k <= 0 {
			out.Str[i] = ""
			continue
		}
		start := 0
		if k < int64(len(x)) {
			start, _ = charOffsetBack(x, int(k), inBytes)
		}
		out.Str[i] = x[start:]
	}
	return nil
}

func resolveTrim(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolvePart(args[:1])
	for _, a := range args[1:] {
		sig.Args = append(sig.Args, expr.CastToString(a))
	}
	if len(args) == 3 {
		if c, ok := args[2].(*expr.Const); !ok || !slices.Contains([]string{"BOTH", "LEADING", "TRAILING"}, strings.ToUpper(c.Value.S)) {
			return sig, sqlerr.WrongArguments("TRIM")
		}
	}
	return sig, err
}

// evalTrim is TRIM, LTRIM and RTRIM. TRIM's operands are the string, what is removed, and the direction as a word.
func evalTrim(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	left, right := call.Fn.Name != "rtrim", call.Fn.Name != "ltrim"
	if len(args) == 3 {
		direction := strings.ToUpper(args[2].StringAt(0))
		left, right = direction != "TRAILING", direction != "LEADING"
	}
	s, remove := expr.Strings(args[0]), expr.StringReader{V: []string{" "}}
	if len(args) > 1 {
		remove = expr.Strings(args[1])
	}
	work := interrupt.NewSteps(c)
	for _, i := range expr.Positions(sel, n) {
		x, r := s.At(int(i)), remove.At(int(i))
		for left && r != "" && strings.HasPrefix(x, r) {
			x = x[len(r):]
			if err := work.Pass(len(r)); err != nil {
				return err
			}
		}
		for right && r != "" && strings.HasSuffix(x, r) {
			x = x[:len(x)-len(r)]
			if err := work.Pass(len(r)); err != nil {
				return err
			}
		}
		out.Str[i] = x
	}
	return nil
}

func resolveSubstringIndex(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{expr.CastToString(args[0]), expr.CastToString(args[1]), types.Int64}, Result: varying(expr.StringType(args[0].Type())), Capped: true}, nil
}

func evalSubstringIndex(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, delim, count := expr.Strings(args[0]), expr.Strings(args[1]), expr.Ints(args[2])
	for _, i := range expr.Positions(sel, n) {
		var err error
		if out.Str[i], err = substringIndex(c, s.At(int(i)), delim.At(int(i)), count.At(int(i))); err != nil {
			return err
		}
	}
	return nil
}

func substringIndex(c *expr.Context, s, delim string, n int64) (string, error) {
	if delim == "" || n == 0 {
		return "", nil
	}
	work := interrupt.NewSteps(c)
	if n > 0 {
		at := 0
		for ; n > 0; n-- {
			k := strings.Index(s[at:], delim)
			if k < 0 {
				return s, nil
			}
			at += k + len(delim)
			if err := work.Pass(k + len(delim)); err != nil {
				return "", err
			}
		}
		return s[:at-len(delim)], nil
	}
	end := len(s)
	for ; n < 0; n++ {
		k := strings.LastIndex(s[:end], delim)
		if k < 0 {
			return s, nil
		}
		if err := work.Pass(end - k); err != nil {
			return "", err
		}
		end = k
	}
	return s[end+len(delim):], nil
}

func resolveInsert(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolveConcat([]expr.Expr{args[0], args[3]})
	sig.Args = []types.Type{sig.Args[0], types.Int64, types.Int64, sig.Args[1]}
	return sig, err
}

func evalInsert(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, pos, length, part := expr.Strings(args[0]), expr.Ints(args[1]), expr.Ints(args[2]), expr.Strings(args[3])
	inBytes := args[0].Type.IsBinaryString() || args[3].Type.IsBinaryString()
	for _, i := range expr.Positions(sel, n) {
		x, p, l, ins := s.At(int(i)), pos.At(int(i)), length.At(int(i)), part.At(int(i))
		chars := int64(charLength(x, inBytes))
		if p < 1 || p > chars {
			out.Str[i] = x
			continue
		}
		if l < 0 || l > chars-p+1 {
			l = chars - p + 1
		}
		start := charOffset(x, int(p-1), inBytes)
		end := start + charOffset(x[start:], int(l), inBytes)
		b, err := c.Reserve(start + len(ins) + len(x) - end)
		if err != nil {
			return err
		}
		b = append(append(b, x[:start]...), ins...)
		if out.Str[i], err = c.Commit(append(b, x[end:]...)); err != nil {
			return err
		}
	}
	return nil
}
