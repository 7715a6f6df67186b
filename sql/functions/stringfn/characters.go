package stringfn

import (
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// resolvePart resolves a function whose result is a part of its first operand, or as long, the others being integers.
func resolvePart(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: []types.Type{expr.CastToString(args[0])}, Result: varying(expr.StringType(args[0].Type())), Capped: true}
	for range args[1:] {
		sig.Args = append(sig.Args, types.Int64)
	}
	return sig, nil
}

// resolveStringOf resolves a function of strings that gives strings of no particular length.
func resolveStringOf(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Result: types.Text}
	for _, a := range args {
		sig.Args = append(sig.Args, expr.CastToString(a))
		if a.Type().IsBinaryString() {
			sig.Result = types.Blob
		}
	}
	return sig, nil
}

// varying is t without padding: CHAR becomes VARCHAR, BINARY becomes VARBINARY.
func varying(t types.Type) types.Type {
	switch t.Kind {
	case types.KindChar:
		t.Kind = types.KindVarchar
	case types.KindBinary:
		t.Kind = types.KindVarbinary
	case types.KindJSON:
		return types.Text
	}
	return t
}

// charLength counts the characters of s; a character of a binary string is a byte.
func charLength(s string, inBytes bool) int {
	if inBytes {
		return len(s)
	}
	ascii := asciiPrefix(s)
	return ascii + utf8.RuneCountInString(s[ascii:])
}

// charOffset returns the byte at which character n (from 0) of s begins, len(s) if there are not as many.
func charOffset(s string, n int, inBytes bool) int {
	if inBytes || n >= len(s) || n <= 0 {
		return min(max(n, 0), len(s))
	}
	i := asciiPrefix(s[:n]) // n characters take at least as many bytes
	for n -= i; n > 0 && i < len(s); n-- {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// charOffsetBack returns the byte at which the n-th character from the end of s begins; ok is false if there are not
// as many.
func charOffsetBack(s string, n int, inBytes bool) (i int, ok bool) {
	if inBytes {
		return len(s) - n, n <= len(s)
	}
	i = len(s)
	for ; n > 0; n-- {
		if i == 0 {
			return 0, false
		}
		if s[i-1] < utf8.RuneSelf {
			i--
			continue
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i, true
}
