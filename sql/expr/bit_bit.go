package expr

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Bit operators work on BIGINT UNSIGNED; a negative operand stands for its two's complement (Reference Manual 14.12).
// MySQL's bit operators over binary strings are not supported: such operands are numbers too.

// bitFunctions are the operators and functions of bits (Reference Manual 14.12).
func bitFunctions() []*Function {
	const category = "Bit functions and operators"
	op := func(name, infix, syntax, doc string, f func(a, b uint64) uint64) *Function {
		return &Function{Name: name, Infix: infix, Category: category, Syntax: syntax, Doc: doc, MinArgs: 2, MaxArgs: 2,
			Resolve: resolveBits, Eval: bitKernel(f), total: func(*Call) bool { return true }}
	}
	return []*Function{
		op("bitand", "&", "a & b", "Bitwise AND.", func(a, b uint64) uint64 { return a & b }),
		op("bitor", "|", "a | b", "Bitwise OR.", func(a, b uint64) uint64 { return a | b }),
		op("bitxor", "^", "a ^ b", "Bitwise XOR.", func(a, b uint64) uint64 { return a ^ b }),
		op("shl", "<<", "a << n", "a shifted left; 0 from 64 places on.", func(a, b uint64) uint64 { return a << b }),
		op("shr", ">>", "a >> n", "a shifted right; 0 from 64 places on.", func(a, b uint64) uint64 { return a >> b }),
		{Name: "bitnot", Category: category, Syntax: "~a", Doc: "All bits inverted.", MinArgs: 1, MaxArgs: 1,
			Resolve: resolveBits, Eval: evalBitNot, format: prefixed("~"), total: func(*Call) bool { return true }},
		{Name: "bit_count", Category: category, Syntax: "BIT_COUNT(a)", Doc: "The number of bits set.", MinArgs: 1, MaxArgs: 1,
			Resolve: func(args []Expr) (Signature, error) {
				return Signature{Args: []types.Type{types.Uint64}, Result: types.Int64}, nil
			},
			Eval: evalBitCount, total: func(*Call) bool { return true }},
	}
}

func resolveBits(args []Expr) (Signature, error) {
	sig := Signature{Result: types.Uint64}
	for range args {
		sig.Args = append(sig.Args, types.Uint64)
	}
	return sig, nil
}

func bitKernel(f func(a, b uint64) uint64) Kernel {
	return func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a, b := uints(args[0]), uints(args[1])
		for _, i := range positions(sel, n) {
			out.I64[i] = int64(f(a.at(int(i)), b.at(int(i))))
		}
		return nil
	}
}

func evalBitNot(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a := ints(args[0])
	for _, i := range positions(sel, n) {
		out.I64[i] = ^a.at(int(i))
	}
	return nil
}

func evalBitCount(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a := uints(args[0])
	for _, i := range positions(sel, n) {
		out.I64[i] = int64(bits.OnesCount64(a.at(int(i))))
	}
	return nil
}
