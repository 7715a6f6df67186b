// Package bit holds the functions and operators of bits (Reference Manual 14.12).
package bit

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Bit operators work on BIGINT UNSIGNED; a negative operand stands for its two's complement (Reference Manual 14.12).
// MySQL's bit operators over binary strings are not supported: such operands are numbers too.

// Functions returns the functions of this chapter.
func Functions() []*expr.Function {
	const category = "Bit functions and operators"
	op := func(name, infix, syntax, doc string, f func(a, b uint64) uint64) *expr.Function {
		return &expr.Function{Name: name, Spelling: expr.Spelling{Infix: infix}, Category: category, Syntax: syntax, Doc: doc, MinArgs: 2, MaxArgs: 2,
			Resolve: resolveBits, Eval: bitKernel(f), Total: expr.Always}
	}
	return []*expr.Function{
		op("bitand", "&", "a & b", "Bitwise AND.", func(a, b uint64) uint64 { return a & b }),
		op("bitor", "|", "a | b", "Bitwise OR.", func(a, b uint64) uint64 { return a | b }),
		op("bitxor", "^", "a ^ b", "Bitwise XOR.", func(a, b uint64) uint64 { return a ^ b }),
		op("shl", "<<", "a << n", "a shifted left; 0 from 64 places on.", func(a, b uint64) uint64 { return a << b }),
		op("shr", ">>", "a >> n", "a shifted right; 0 from 64 places on.", func(a, b uint64) uint64 { return a >> b }),
		{Name: "bitnot", Category: category, Syntax: "~a", Doc: "All bits inverted.", MinArgs: 1, MaxArgs: 1,
			Resolve: resolveBits, Eval: evalBitNot, Spelling: expr.Spelling{Format: expr.Prefixed("~")}, Total: expr.Always},
		{Name: "bit_count", Category: category, Syntax: "BIT_COUNT(a)", Doc: "The number of bits set.", MinArgs: 1, MaxArgs: 1,
			Resolve: func(args []expr.Expr) (expr.Signature, error) {
				return expr.Signature{Args: []types.Type{types.Uint64}, Result: types.Int64}, nil
			},
			Eval: evalBitCount, Total: expr.Always},
	}
}

func resolveBits(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Result: types.Uint64}
	for range args {
		sig.Args = append(sig.Args, types.Uint64)
	}
	return sig, nil
}

func bitKernel(f func(a, b uint64) uint64) expr.Kernel {
	return func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a, b := expr.Uints(args[0]), expr.Uints(args[1])
		for _, i := range expr.Positions(sel, n) {
			out.I64[i] = int64(f(a.At(int(i)), b.At(int(i))))
		}
		return nil
	}
}

func evalBitNot(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = ^a.At(int(i))
	}
	return nil
}

func evalBitCount(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a := expr.Uints(args[0])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = int64(bits.OnesCount64(a.At(int(i))))
	}
	return nil
}
