package stringfn

import (
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// lengthFunctions count bytes and characters, and give the number of one.
func lengthFunctions() []*expr.Function {
	return []*expr.Function{
		function("length", "LENGTH(s)", "The number of bytes.", 1, 1, expr.ResolveStringsTo(types.Int64),
			expr.StringToIntKernel(func(s string) int64 { return int64(len(s)) }), "octet_length"),
		function("char_length", "CHAR_LENGTH(s)", "The number of characters.", 1, 1, expr.ResolveStringsTo(types.Int64), evalCharLength, "character_length"),
		function("bit_length", "BIT_LENGTH(s)", "The number of bits.", 1, 1, expr.ResolveStringsTo(types.Int64), expr.StringToIntKernel(func(s string) int64 { return 8 * int64(len(s)) })),
		function("ascii", "ASCII(s)", "The first byte as a number, 0 for ''.", 1, 1, expr.ResolveStringsTo(types.Int64), expr.StringToIntKernel(asciiOf)),
		function("ord", "ORD(s)", "The bytes of the first character as a number, 0 for ''.", 1, 1, expr.ResolveStringsTo(types.Int64), expr.StringToIntKernel(ordOf)),
	}
}

func evalCharLength(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	inBytes := args[0].Type.IsBinaryString()
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = int64(charLength(s.At(int(i)), inBytes))
	}
	return nil
}

func asciiOf(s string) int64 {
	if s == "" {
		return 0
	}
	return int64(s[0])
}

func ordOf(s string) int64 {
	_, size := utf8.DecodeRuneInString(s)
	v := int64(0)
	for i := range size {
		v = v<<8 | int64(s[i])
	}
	return v
}
