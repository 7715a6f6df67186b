package stringfn

import (
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// searchFunctions compare strings and find them in others.
func searchFunctions() []*expr.Function {
	return []*expr.Function{
		function("locate", "LOCATE(sub, s [, pos]), POSITION(sub IN s)", "The first position of sub in s, from pos on; 0 if there is none. Under other collations than those by bytes, of a part as many bytes long that is equal.",
			2, 3, resolveLocate, evalLocate, "position").ComparedUnder(2, locateCall),
		function("instr", "INSTR(s, sub)", "As LOCATE(sub, s).", 2, 2, expr.ResolveStringsTo(types.Int64), evalInstr).ComparedUnder(2, locateCall),
		function("strcmp", "STRCMP(a, b)", "-1, 0 or 1: how a compares with b.", 2, 2, expr.ResolveStringsTo(types.Int64), evalStrcmp).ComparedUnder(-1, strcmpUnder),
		function("find_in_set", "FIND_IN_SET(s, list)", "The position of s in a string of parts separated by commas; 0 if it is not there.",
			2, 2, expr.ResolveStringsTo(types.Int64), evalFindInSet).ComparedUnder(-1, findUnder),
	}
}

func resolveLocate(args []expr.Expr) (expr.Signature, error) {
	sig, err := expr.ResolveStringsTo(types.Int64)(args[:2])
	if len(args) == 3 {
		sig.Args = append(sig.Args, types.Int64)
	}
	return sig, err
}

func evalLocate(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sub, s := expr.Strings(args[0]), expr.Strings(args[1])
	inBytes := args[0].Type.IsBinaryString() || args[1].Type.IsBinaryString()
	from := expr.ConstantInt(1)
	if len(args) == 3 {
		from = expr.Ints(args[2])
	}
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = locate(s.At(int(i)), sub.At(int(i)), from.At(int(i)), inBytes)
	}
	return nil
}

// locate returns the position, from 1, of sub in s at or after position from; 0 if there is none.
func locate(s, sub string, from int64, inBytes bool) int64 {
	if from < 1 || from > int64(len(s))+1 {
		return 0
	}
	start := charOffset(s, int(from-1), inBytes)
	if start == len(s) && from-1 > int64(charLength(s, inBytes)) {
		return 0
	}
	at := strings.Index(s[start:], sub)
	if at < 0 {
		return 0
	}
	return from + int64(charLength(s[start:start+at], inBytes))
}

func evalInstr(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, sub := expr.Strings(args[0]), expr.Strings(args[1])
	inBytes := args[0].Type.IsBinaryString() || args[1].Type.IsBinaryString()
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = locate(s.At(int(i)), sub.At(int(i)), 1, inBytes)
	}
	return nil
}

func evalStrcmp(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a, b := expr.Strings(args[0]), expr.Strings(args[1])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = int64(strings.Compare(a.At(int(i)), b.At(int(i))))
	}
	return nil
}

func evalFindInSet(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, list := expr.Strings(args[0]), expr.Strings(args[1])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = findInSet(s.At(int(i)), list.At(int(i)))
	}
	return nil
}

// findInSet: an empty list has no parts, and s with a comma is none.
func findInSet(s, list string) int64 {
	for k := int64(1); list != ""; k++ {
		part, rest, more := strings.Cut(list, ",")
		if part == s {
			return k
		}
		if more && rest == "" && s == "" {
			return k + 1
		}
		list = rest
	}
	return 0
}
