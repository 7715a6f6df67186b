package expr

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The string functions that queries use most (Reference Manual 14.8). Positions and lengths count characters, of binary
// strings bytes. Parts of a string share its memory.

// substringFunctions take parts of strings, or put others in their place.
func substringFunctions() []*Function {
	return []*Function{
		function("substring", "SUBSTRING(s, pos [, len]), SUBSTRING(s FROM pos [FOR len])",
			"The part of s from position pos (1 is the first, -1 the last character) on, of at most len characters.",
			2, 3, resolvePart, evalSubstring, "substr", "mid").WithCollationOf(firstOperand),
		function("left", "LEFT(s, n)", "The first n characters.", 2, 2, resolvePart, evalLeft).WithCollationOf(firstOperand),
		function("right", "RIGHT(s, n)", "The last n characters.", 2, 2, resolvePart, evalRight).WithCollationOf(firstOperand),
		function("trim", "TRIM([BOTH | LEADING | TRAILING] [rem FROM] s)", "s without spaces, or copies of rem, at both ends or one.", 1, 3, resolveTrim, evalTrim).WithCollationOf(allOperands),
		function("ltrim", "LTRIM(s)", "s without leading spaces.", 1, 1, resolveTrim, evalTrim).WithCollationOf(allOperands),
		function("rtrim", "RTRIM(s)", "s without trailing spaces.", 1, 1, resolveTrim, evalTrim).WithCollationOf(allOperands),
		function("substring_index", "SUBSTRING_INDEX(s, delim, n)", "The part of s before the n-th delimiter, or behind it, counted from the right, if n is negative.",
			3, 3, resolveSubstringIndex, evalSubstringIndex).WithCollationOf(allOperands),
		function("insert", "INSERT(s, pos, len, new)", "s with len characters from position pos on replaced by new.", 4, 4, resolveInsert, evalInsert).ParsedAs("insert_func").WithCollationOf(allOperands),
	}
}

func evalSubstring(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, pos := texts(args[0]), ints(args[1])
	bytes := args[0].Type.IsBinaryString()
	var length reader[int64]
	if len(args) == 3 {
		length = ints(args[2])
	}
	for _, i := range positions(sel, n) {
		l := int64(1) << 40
		if len(args) == 3 {
			l = length.at(int(i))
		}
		out.Str[i] = substring(s.at(int(i)), pos.at(int(i)), l, bytes)
	}
	return nil
}

func substring(s string, pos, length int64, bytes bool) string {
	start := 0
	switch {
	case pos == 0 || length <= 0 || pos > int64(len(s)) || pos < -int64(len(s)):
		return ""
	case pos > 0:
		start = charOffset(s, int(pos-1), bytes)
	default:
		var ok bool
		if start, ok = charOffsetBack(s, int(-pos), bytes); !ok {
			return ""
		}
	}
	s = s[start:]
	if length < int64(len(s)) {
		s = s[:charOffset(s, int(length), bytes)]
	}
	return s
}

func evalLeft(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, count := texts(args[0]), ints(args[1])
	bytes := args[0].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		out.Str[i] = substring(s.at(int(i)), 1, count.at(int(i)), bytes)
	}
	return nil
}

func evalRight(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, count := texts(args[0]), ints(args[1])
	bytes := args[0].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		x, k := s.at(int(i)), count.at(int(i))
		if k <= 0 {
			out.Str[i] = ""
			continue
		}
		start := 0
		if k < int64(len(x)) {
			start, _ = charOffsetBack(x, int(k), bytes)
		}
		out.Str[i] = x[start:]
	}
	return nil
}

func resolveTrim(args []Expr) (Signature, error) {
	sig, err := resolvePart(args[:1])
	for _, a := range args[1:] {
		sig.Args = append(sig.Args, castText(a))
	}
	if len(args) == 3 {
		if c, ok := args[2].(*Const); !ok || !slices.Contains([]string{"BOTH", "LEADING", "TRAILING"}, strings.ToUpper(c.Value.S)) {
			return sig, sqlerr.WrongArguments("TRIM")
		}
	}
	return sig, err
}

// evalTrim is TRIM, LTRIM and RTRIM. TRIM's operands are the text, what is removed, and the direction as a word.
func evalTrim(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	left, right := call.Fn.Name != "rtrim", call.Fn.Name != "ltrim"
	if len(args) == 3 {
		direction := strings.ToUpper(args[2].StringAt(0))
		left, right = direction != "TRAILING", direction != "LEADING"
	}
	s, remove := texts(args[0]), textReader{v: []string{" "}}
	if len(args) > 1 {
		remove = texts(args[1])
	}
	work := steps{c: c}
	for _, i := range positions(sel, n) {
		x, r := s.at(int(i)), remove.at(int(i))
		for left && r != "" && strings.HasPrefix(x, r) {
			x = x[len(r):]
			if err := work.pass(len(r)); err != nil {
				return err
			}
		}
		for right && r != "" && strings.HasSuffix(x, r) {
			x = x[:len(x)-len(r)]
			if err := work.pass(len(r)); err != nil {
				return err
			}
		}
		out.Str[i] = x
	}
	return nil
}

func resolveSubstringIndex(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{castText(args[0]), castText(args[1]), types.Int64}, Result: varying(TextType(args[0].Type()))}, nil
}

func evalSubstringIndex(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, delim, count := texts(args[0]), texts(args[1]), ints(args[2])
	for _, i := range positions(sel, n) {
		var err error
		if out.Str[i], err = c.substringIndex(s.at(int(i)), delim.at(int(i)), count.at(int(i))); err != nil {
			return err
		}
	}
	return nil
}

func (c *Context) substringIndex(s, delim string, n int64) (string, error) {
	if delim == "" || n == 0 {
		return "", nil
	}
	work := steps{c: c}
	if n > 0 {
		at := 0
		for ; n > 0; n-- {
			k := strings.Index(s[at:], delim)
			if k < 0 {
				return s, nil
			}
			at += k + len(delim)
			if err := work.pass(k + len(delim)); err != nil {
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
		if err := work.pass(end - k); err != nil {
			return "", err
		}
		end = k
	}
	return s[end+len(delim):], nil
}

func resolveInsert(args []Expr) (Signature, error) {
	sig, err := resolveConcat([]Expr{args[0], args[3]})
	sig.Args = []types.Type{sig.Args[0], types.Int64, types.Int64, sig.Args[1]}
	return sig, err
}

func evalInsert(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, pos, length, part := texts(args[0]), ints(args[1]), ints(args[2]), texts(args[3])
	bytes := args[0].Type.IsBinaryString() || args[3].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		x, p, l, ins := s.at(int(i)), pos.at(int(i)), length.at(int(i)), part.at(int(i))
		chars := int64(charLength(x, bytes))
		if p < 1 || p > chars {
			out.Str[i] = x
			continue
		}
		if l < 0 || l > chars-p+1 {
			l = chars - p + 1
		}
		start := charOffset(x, int(p-1), bytes)
		end := start + charOffset(x[start:], int(l), bytes)
		b := append(c.arena.room(start+len(ins)+len(x)-end), x[:start]...)
		out.Str[i] = c.arena.keep(append(append(b, ins...), x[end:]...))
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}
