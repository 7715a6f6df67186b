package stringfn

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/types"
)

// String functions that compare their operands, under collations that do not compare by bytes. The collation is the last operand, its name.

var (
	findInSetUnder = &expr.Function{Name: "collation_find_in_set", ByDictionary: true, Total: expr.Always, Eval: evalFindInSetUnder}
	locateUnder    = &expr.Function{Name: "collation_locate", ByDictionary: true, Total: expr.Always, Eval: evalLocateUnder}
)

func strcmpUnder(fn *expr.Function, args []expr.Expr, c types.Collation) (expr.Expr, error) {
	l, r := expr.KeyUnder(expr.AsString(args[0]), c), expr.KeyUnder(expr.AsString(args[1]), c)
	return expr.BuildCall(fn, expr.Signature{Args: make([]types.Type, 2), Result: types.Int64}, []expr.Expr{l, r}), nil
}

// fieldByCollation compares under a collation if all operands are strings.
func fieldByCollation(fn *expr.Function, args []expr.Expr) (expr.Expr, error) {
	if !allStrings(args) {
		return nil, nil
	}
	return expr.Comparing(-1, fieldUnder)(fn, args)
}

func fieldUnder(fn *expr.Function, args []expr.Expr, c types.Collation) (expr.Expr, error) {
	keys := expr.AsStrings(args)
	for i, e := range keys {
		keys[i] = expr.KeyUnder(e, c)
	}
	sig, err := fn.Resolve(keys)
	return expr.BuildCall(fn, sig, keys), err
}

func findUnder(_ *expr.Function, args []expr.Expr, c types.Collation) (expr.Expr, error) {
	return expr.InternalCall(findInSetUnder, types.Int64, expr.AsString(args[0]), expr.AsString(args[1]), expr.CollationName(c)), nil
}

func evalFindInSetUnder(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, list, under := expr.Strings(args[0]), expr.Strings(args[1]), expr.CollationOperand(args[2])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = 0
		// MySQL finds nothing in a list that is shorter than what it looks for, equal as it may be.
		x, all := s.At(int(i)), list.At(int(i))
		if all == "" || len(all) < len(x) || strings.Contains(x, ",") {
			continue
		}
		if err := withSetKey(c, under, x, func(wanted string) (err error) {
			out.I64[i], err = findKey(c, under, wanted, all)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// withSetKey calls f with the key of a part of a set, which lives no longer. Trailing spaces count here, whatever the collation: a comma behind them sees
// to that.
func withSetKey(c *expr.Context, under types.Collation, part string, f func(key string) error) error {
	return c.Scratch(under.KeyScratch(len(part)+1), func() error { return f(under.Key(part + ",")) })
}

// findKey returns the number of the first part of a list that has a key; 0: none has.
func findKey(c *expr.Context, under types.Collation, wanted, list string) (found int64, err error) {
	work, at := interrupt.NewSteps(c), int64(0)
	for part := range strings.SplitSeq(list, ",") {
		at++
		err := withSetKey(c, under, part, func(key string) error {
			if key == wanted {
				found = at
			}
			return work.Pass(keySteps * (len(part) + 1))
		})
		if err != nil || found > 0 {
			return found, err
		}
	}
	return 0, nil
}

// locateCall is LOCATE(sub, s [, pos]) and INSTR(s, sub).
func locateCall(fn *expr.Function, args []expr.Expr, c types.Collation) (expr.Expr, error) {
	sub, s, from := args[0], args[1], expr.Expr(&expr.Const{Value: types.IntValue(1)})
	if fn.Name == "instr" {
		sub, s = s, sub
	}
	if len(args) == 3 {
		from = expr.NewCast(args[2], types.Int64)
	}
	return expr.InternalCall(locateUnder, types.Int64, expr.AsString(sub), expr.AsString(s), from, expr.CollationName(c)), nil
}

func evalLocateUnder(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sub, s, from, under := expr.Strings(args[0]), expr.Strings(args[1]), expr.Ints(args[2]), expr.CollationOperand(args[3])
	for _, i := range expr.Positions(sel, n) {
		var err error
		if out.I64[i], err = locateEqual(c, s.At(int(i)), sub.At(int(i)), from.At(int(i)), under); err != nil {
			return err
		}
	}
	return nil
}

// keySteps is how many times as long as copying a string it takes, about, to make its key.
const keySteps = 16

// locateEqual is locate for strings that are equal without being the same. As in MySQL what is found is as long as sub, in bytes.
func locateEqual(c *expr.Context, s, sub string, from int64, under types.Collation) (int64, error) {
	if from < 1 || from > int64(utf8.RuneCountInString(s))+1 {
		return 0, nil
	}
	key, work := under.Key(sub), interrupt.NewSteps(c)
	for at := charOffset(s, int(from-1), false); at+len(sub) <= len(s); from++ {
		if part := s[at : at+len(sub)]; part == sub || utf8.ValidString(part) && under.Key(part) == key {
			return from, nil
		}
		if err := work.Pass(keySteps * (len(sub) + 1)); err != nil {
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

func allStrings(args []expr.Expr) bool {
	return !slices.ContainsFunc(args, func(e expr.Expr) bool {
		return !e.Type().IsString() && e.Type().Kind != types.KindEnum && e.Type().Kind != types.KindNull
	})
}
