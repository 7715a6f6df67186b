package expr

import (
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// searchFunctions compare strings and find them in others.
func searchFunctions() []*Function {
	return []*Function{
		function("locate", "LOCATE(sub, s [, pos]), POSITION(sub IN s)", "The first position of sub in s, from pos on; 0 if there is none. Under other collations than those by bytes, of a part as many bytes long that is equal.",
			2, 3, resolveLocate, evalLocate, "position").ComparedUnder(2, locateCall),
		function("instr", "INSTR(s, sub)", "As LOCATE(sub, s).", 2, 2, resolveTextTo(types.Int64), evalInstr).ComparedUnder(2, locateCall),
		function("strcmp", "STRCMP(a, b)", "-1, 0 or 1: how a compares with b.", 2, 2, resolveTextTo(types.Int64), evalStrcmp).ComparedUnder(-1, strcmpUnder),
		function("find_in_set", "FIND_IN_SET(s, list)", "The position of s in a text of parts separated by commas; 0 if it is not there.",
			2, 2, resolveTextTo(types.Int64), evalFindInSet).ComparedUnder(-1, findUnder),
	}
}

func resolveLocate(args []Expr) (Signature, error) {
	sig, err := resolveTextTo(types.Int64)(args[:2])
	if len(args) == 3 {
		sig.Args = append(sig.Args, types.Int64)
	}
	return sig, err
}

func evalLocate(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sub, s := texts(args[0]), texts(args[1])
	bytes := args[0].Type.IsBinaryString() || args[1].Type.IsBinaryString()
	from := reader[int64]{v: []int64{1}}
	if len(args) == 3 {
		from = ints(args[2])
	}
	for _, i := range positions(sel, n) {
		out.I64[i] = locate(s.at(int(i)), sub.at(int(i)), from.at(int(i)), bytes)
	}
	return nil
}

// locate returns the position, from 1, of sub in s at or after position from; 0 if there is none.
func locate(s, sub string, from int64, bytes bool) int64 {
	if from < 1 || from > int64(len(s))+1 {
		return 0
	}
	start := charOffset(s, int(from-1), bytes)
	if start == len(s) && from-1 > int64(charLength(s, bytes)) {
		return 0
	}
	at := strings.Index(s[start:], sub)
	if at < 0 {
		return 0
	}
	return from + int64(charLength(s[start:start+at], bytes))
}

func evalInstr(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, sub := texts(args[0]), texts(args[1])
	bytes := args[0].Type.IsBinaryString() || args[1].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		out.I64[i] = locate(s.at(int(i)), sub.at(int(i)), 1, bytes)
	}
	return nil
}

func evalStrcmp(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a, b := texts(args[0]), texts(args[1])
	for _, i := range positions(sel, n) {
		out.I64[i] = int64(strings.Compare(a.at(int(i)), b.at(int(i))))
	}
	return nil
}

func evalFindInSet(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, list := texts(args[0]), texts(args[1])
	for _, i := range positions(sel, n) {
		out.I64[i] = findInSet(s.at(int(i)), list.at(int(i)))
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
