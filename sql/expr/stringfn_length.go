package expr

import (
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// lengthFunctions count bytes and characters, and give the number of one.
func lengthFunctions() []*Function {
	return []*Function{
		function("length", "LENGTH(s)", "The number of bytes.", 1, 1, resolveTextTo(types.Int64),
			textToInt(func(s string) int64 { return int64(len(s)) }), "octet_length"),
		function("char_length", "CHAR_LENGTH(s)", "The number of characters.", 1, 1, resolveTextTo(types.Int64), evalCharLength, "character_length"),
		function("bit_length", "BIT_LENGTH(s)", "The number of bits.", 1, 1, resolveTextTo(types.Int64), textToInt(func(s string) int64 { return 8 * int64(len(s)) })),
		function("ascii", "ASCII(s)", "The first byte as a number, 0 for ''.", 1, 1, resolveTextTo(types.Int64), textToInt(asciiOf)),
		function("ord", "ORD(s)", "The bytes of the first character as a number, 0 for ''.", 1, 1, resolveTextTo(types.Int64), textToInt(ordOf)),
	}
}

func evalCharLength(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	bytes := args[0].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		out.I64[i] = int64(charLength(s.at(int(i)), bytes))
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
