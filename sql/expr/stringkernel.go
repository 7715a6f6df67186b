package expr

import (
	"unicode/utf8"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Makers of kernels and resolvers for functions of text.

// textToText makes the kernel of a function of one text whose result is a part of it, or a new string.
func textToText(f func(c *Context, s string) (string, error)) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s := texts(args[0])
		for _, i := range positions(sel, n) {
			x := s.at(int(i))
			r, err := f(c, x)
			if err != nil {
				return err
			}
			if out.Str[i] = r; r != "" && (x == "" || unsafe.StringData(r) != unsafe.StringData(x)) {
				if err := c.made(r); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// asItIs is what textToText takes for a function that only changes the type.
func asItIs(_ *Context, s string) (string, error) { return s, nil }

// textToInt makes the kernel of a function of one text that gives an integer.
func textToInt(f func(s string) int64) Kernel {
	return func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s := texts(args[0])
		for _, i := range positions(sel, n) {
			out.I64[i] = f(s.at(int(i)))
		}
		return nil
	}
}

// resolveTextTo resolves a function of texts with a fixed result type.
func resolveTextTo(result types.Type) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig := Signature{Result: result}
		for _, a := range args {
			sig.Args = append(sig.Args, castText(a))
		}
		return sig, nil
	}
}

// resolvePart resolves a function whose result is a part of its first operand, or as long, the others being integers.
func resolvePart(args []Expr) (Signature, error) {
	sig := Signature{Args: []types.Type{castText(args[0])}, Result: varying(TextType(args[0].Type()))}
	for range args[1:] {
		sig.Args = append(sig.Args, types.Int64)
	}
	return sig, nil
}

// resolveTextOf resolves a function of texts that gives text of no particular length.
func resolveTextOf(args []Expr) (Signature, error) {
	sig := Signature{Result: types.Text}
	for _, a := range args {
		sig.Args = append(sig.Args, castText(a))
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
func charLength(s string, bytes bool) int {
	if bytes {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// charOffset returns the byte at which character n (from 0) of s begins, len(s) if there are not as many.
func charOffset(s string, n int, bytes bool) int {
	if bytes || n >= len(s) {
		return min(max(n, 0), len(s))
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
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
func charOffsetBack(s string, n int, bytes bool) (i int, ok bool) {
	if bytes {
		return len(s) - n, n <= len(s)
	}
	i = len(s)
	for ; n > 0; n-- {
		if i == 0 {
			return 0, false
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i, true
}

// MaxAllowedPacket is MySQL's max_allowed_packet, which bounds the texts that functions make, in bytes.
const MaxAllowedPacket = 64 << 20

// partialText makes the kernel of a function of one text that has no result for some.
func partialText(f func(s string) (string, bool)) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s := texts(args[0])
		for _, i := range positions(sel, n) {
			r, ok := f(s.at(int(i)))
			if out.Str[i] = r; len(r) > 0 {
				if err := c.made(r); err != nil {
					return err
				}
			}
			if !ok {
				out.SetNull(int(i), n)
			}
		}
		return nil
	}
}

// partial marks a function that has no result for some operands.
func partial(resolve func([]Expr) (Signature, error)) func([]Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig, err := resolve(args)
		sig.Nullable = true
		return sig, err
	}
}

// castText is a Signature's cast to text: KindNull for what is text already.
func castText(e Expr) types.Type {
	if e.Type().IsString() {
		return types.Null
	}
	return TextType(e.Type())
}
