package expr

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Makers of kernels and resolvers for functions of strings.

// StringKernel makes the kernel of a function of one string whose result is a part of it, or a new string, which the function counts: it
// makes it by Reserve or a Builder.
func StringKernel(f func(c *Context, s string) (string, error)) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s := Strings(args[0])
		for _, i := range Positions(sel, n) {
			r, err := f(c, s.At(int(i)))
			if err != nil {
				return err
			}
			out.Str[i] = r
		}
		return nil
	}
}

// AsItIs is what StringKernel takes for a function that only changes the type.
func AsItIs(_ *Context, s string) (string, error) { return s, nil }

// StringToIntKernel makes the kernel of a function of one string that gives an integer.
func StringToIntKernel(f func(s string) int64) Kernel {
	return func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s := Strings(args[0])
		for _, i := range Positions(sel, n) {
			out.I64[i] = f(s.At(int(i)))
		}
		return nil
	}
}

// ResolveStringsTo resolves a function of strings with a fixed result type.
func ResolveStringsTo(result types.Type) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig := Signature{Result: result}
		for _, a := range args {
			sig.Args = append(sig.Args, CastToString(a))
		}
		return sig, nil
	}
}

// MaxAllowedPacket is MySQL's max_allowed_packet, which bounds the strings that functions make, in bytes.
const MaxAllowedPacket = 64 << 20

// ShortStringKernel makes the kernel of a function of one string that gives a short string, or none.
func ShortStringKernel(f func(s string) (string, bool)) Kernel {
	return PartialStringKernel(func(c *Context, s string) (string, bool, error) {
		r, ok := f(s)
		return r, ok, c.Made(r)
	})
}

// PartialStringKernel makes the kernel of a function of one string that has no result for some. See StringKernel.
func PartialStringKernel(f func(c *Context, s string) (string, bool, error)) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s := Strings(args[0])
		for _, i := range Positions(sel, n) {
			r, ok, err := f(c, s.At(int(i)))
			if err != nil {
				return err
			}
			if out.Str[i] = r; !ok {
				out.SetNull(int(i), n)
			}
		}
		return nil
	}
}

// Partial marks a function that has no result for some operands.
func Partial(resolve func([]Expr) (Signature, error)) func([]Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig, err := resolve(args)
		sig.Nullable = true
		return sig, err
	}
}

// CastToString is a Signature's cast to text: KindNull for what is text already.
func CastToString(e Expr) types.Type {
	if e.Type().IsString() {
		return types.Null
	}
	return StringType(e.Type())
}
