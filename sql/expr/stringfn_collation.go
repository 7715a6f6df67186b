package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// String functions that compare their operands, under collations that do not compare by bytes. The collation is the last operand, its name.

var (
	findInSetUnder = &Function{Name: "collation_find_in_set", ByDictionary: true, total: always, Eval: evalFindInSetUnder}
	locateUnder    = &Function{Name: "collation_locate", ByDictionary: true, total: always, Eval: evalLocateUnder}
)

func strcmpUnder(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	l, r := keyUnder(asText(args[0]), c), keyUnder(asText(args[1]), c)
	return build(fn, Signature{Args: make([]types.Type, 2), Result: types.Int64}, []Expr{l, r}), nil
}

// fieldByCollation compares under a collation if all operands are strings.
func fieldByCollation(fn *Function, args []Expr) (Expr, error) {
	if !allTexts(args) {
		return nil, nil
	}
	return comparing(-1, fieldUnder)(fn, args)
}

func fieldUnder(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	keys := asTexts(args)
	for i, e := range keys {
		keys[i] = keyUnder(e, c)
	}
	sig, err := fn.Resolve(keys)
	return build(fn, sig, keys), err
}

func findUnder(_ *Function, args []Expr, c types.Collation) (Expr, error) {
	return internal(findInSetUnder, types.Int64, asText(args[0]), asText(args[1]), collationName(c)), nil
}

func evalFindInSetUnder(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, list, under := texts(args[0]), texts(args[1]), collationOperand(args[2])
	for _, i := range positions(sel, n) {
		// Trailing spaces count here, whatever the collation: a comma behind them sees to that.
		key := func(part string) string { return under.Key(part + ",") }
		parts := strings.Split(list.at(int(i)), ",")
		work := steps{c: c}
		for k, part := range parts {
			parts[k] = key(part)
			if err := work.pass(keySteps * (len(part) + 1)); err != nil {
				return err
			}
		}
		out.I64[i] = 0
		// MySQL finds nothing in a list that is shorter than what it looks for, equal as it may be.
		if x := s.at(int(i)); list.at(int(i)) != "" && len(list.at(int(i))) >= len(x) && !strings.Contains(x, ",") {
			out.I64[i] = int64(slices.Index(parts, key(x)) + 1)
		}
	}
	return nil
}

// locateCall is LOCATE(sub, s [, pos]) and INSTR(s, sub).
func locateCall(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	sub, s, from := args[0], args[1], Expr(&Const{types.IntValue(1)})
	if fn.Name == "instr" {
		sub, s = s, sub
	}
	if len(args) == 3 {
		from = NewCast(args[2], types.Int64)
	}
	return internal(locateUnder, types.Int64, asText(sub), asText(s), from, collationName(c)), nil
}

func evalLocateUnder(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sub, s, from, under := texts(args[0]), texts(args[1]), ints(args[2]), collationOperand(args[3])
	for _, i := range positions(sel, n) {
		var err error
		if out.I64[i], err = c.locateEqual(s.at(int(i)), sub.at(int(i)), from.at(int(i)), under); err != nil {
			return err
		}
	}
	return nil
}

// keySteps is how many times as long as copying a text it takes, about, to make its key.
const keySteps = 16

// locateEqual is locate for texts that are equal without being the same. As in MySQL what is found is as long as sub, in bytes.
func (c *Context) locateEqual(s, sub string, from int64, under types.Collation) (int64, error) {
	if from < 1 || from > int64(utf8.RuneCountInString(s))+1 {
		return 0, nil
	}
	key, work := under.Key(sub), steps{c: c}
	for at := charOffset(s, int(from-1), false); at+len(sub) <= len(s); from++ {
		if part := s[at : at+len(sub)]; part == sub || utf8.ValidString(part) && under.Key(part) == key {
			return from, nil
		}
		if err := work.pass(keySteps * (len(sub) + 1)); err != nil {
			return 0, err
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		if size == 0 {
			break
		}
		at += size
	}
	return 0, nil
}

func allTexts(args []Expr) bool {
	return !slices.ContainsFunc(args, func(e Expr) bool {
		return !e.Type().IsString() && e.Type().Kind != types.KindEnum && e.Type().Kind != types.KindNull
	})
}
