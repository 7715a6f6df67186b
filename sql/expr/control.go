package expr

import (
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that choose among their operands or compare them. The lazy ones evaluate an operand only for the rows that
// need it, so that `IF(b = 0, 0, a / b)` warns of nothing.

// controlFunctions compare and choose (Reference Manual 14.4.2, 14.4.3, 14.5).
func controlFunctions() []*Function {
	const category = "Comparison and flow control functions"
	return []*Function{
		{Name: "coalesce", Category: category, Syntax: "COALESCE(a, ...)", MinArgs: 1, MaxArgs: -1,
			Doc:   "The first operand that is not NULL.",
			Nulls: NullCustom, Resolve: resolveCoalesce, compile: compileCoalesce, CollationOf: AllOperands, Digits: Digits{Chooses: true}},
		{Name: "ifnull", Category: category, Syntax: "IFNULL(a, b)", MinArgs: 2, MaxArgs: 2,
			Doc:   "a, or b where a is NULL.",
			Nulls: NullCustom, Resolve: resolveCoalesce, compile: compileCoalesce, CollationOf: AllOperands, Digits: Digits{Chooses: true}},
		{Name: "nullif", Category: category, Syntax: "NULLIF(a, b)", MinArgs: 2, MaxArgs: 2,
			Doc:   "NULL where a = b, otherwise a.",
			Nulls: NullCustom, Resolve: resolveNullIf, compile: compileNullIf, CollationOf: FirstOperand, Under: Comparing(-1, nullIfUnder), Digits: Digits{Chooses: true}},
		{Name: "if", Category: category, Syntax: "IF(cond, a, b)", MinArgs: 3, MaxArgs: 3,
			Doc:   "a where the condition is TRUE, otherwise b.",
			Nulls: NullCustom, Resolve: resolveIf, compile: compileIf, CollationOf: BehindFirst, Digits: Digits{Chooses: true}},
		{Name: "isnull", Category: category, Syntax: "ISNULL(a)", MinArgs: 1, MaxArgs: 1,
			Doc:     "1 where a is NULL, otherwise 0.",
			Nulls:   NullCustom,
			Resolve: func([]Expr) (Signature, error) { return Signature{Result: types.Bool}, nil },
			compile: func(_ *Call, ops []node) (node, error) { return &isNullNode{ops: [1]node(ops)}, nil }},
		{Name: "any_value", Category: "Miscellaneous functions", Syntax: "ANY_VALUE(a)", MinArgs: 1, MaxArgs: 1,
			Doc:   "a, of some row of the group where rows are grouped. It is no aggregate function: without groups it is the value of each row.",
			Nulls: NullCustom, Resolve: resolveCoalesce, compile: compileCoalesce, CollationOf: AllOperands, Digits: Digits{Chooses: true}},
		{Name: "greatest", Category: category, Syntax: "GREATEST(a, b, ...)", MinArgs: 2, MaxArgs: -1,
			Doc:     "The largest operand; NULL if any is NULL.",
			Resolve: resolveExtreme, Eval: extreme(GT), CollationOf: AllOperands, Under: Comparing(-1, extremeCall), Digits: Digits{Chooses: true}},
		{Name: "least", Category: category, Syntax: "LEAST(a, b, ...)", MinArgs: 2, MaxArgs: -1,
			Doc:     "The smallest operand; NULL if any is NULL.",
			Resolve: resolveExtreme, Eval: extreme(LT), CollationOf: AllOperands, Under: Comparing(-1, extremeCall), Digits: Digits{Chooses: true}},
		{Name: "interval", Category: category, Syntax: "INTERVAL(n, a, b, ...)", MinArgs: 2, MaxArgs: -1,
			Doc:   "How many of the ascending operands a, b, ... are at most n; -1 if n is NULL.",
			Nulls: NullCustom, Resolve: resolveInterval, Eval: evalInterval},
		{Name: "xor", Spelling: Spelling{Infix: "XOR"}, Category: "Logical operators", Syntax: "a XOR b", MinArgs: 2, MaxArgs: 2,
			Doc: "Exactly one of both is true; NULL if one is NULL.",
			Resolve: func(args []Expr) (Signature, error) {
				return Signature{Args: []types.Type{types.Bool, types.Bool}, Result: types.Bool}, nil
			},
			Eval: evalXor},
	}
}

func resolveCoalesce(args []Expr) (Signature, error) {
	t := CommonTypeOf(args...)
	sig := Signature{Result: t, Args: make([]types.Type, len(args)), Nullable: true}
	for i := range args {
		sig.Args[i] = t
		sig.Nullable = sig.Nullable && args[i].Nullable()
	}
	return sig, nil
}

func compileCoalesce(call *Call, ops []node) (node, error) {
	return &coalesceNode{ops: ops, merge: newMerger(call.Typ), sels: make([]selection, len(ops))}, nil
}

func resolveNullIf(args []Expr) (Signature, error) {
	if _, _, err := comparable("nullif", args[0], args[1]); err != nil {
		return Signature{}, err
	}
	// The operands keep their hidden digits, with which they are compared.
	a, b := WithHiddenDigits(args[0]).Type(), WithHiddenDigits(args[1]).Type()
	return Signature{Args: []types.Type{a, b}, Result: args[0].Type(), Nullable: true}, nil
}

// compileNullIf makes CASE WHEN a = b THEN NULL ELSE a END.
func compileNullIf(call *Call, ops []node) (node, error) {
	l, r, err := comparableAsShown("nullif", call.Args[0], call.Args[1])
	if err != nil {
		return nil, err
	}
	if s, ok := ops[0].(*shared); ok {
		s.refs++ // read twice: compared, and returned
	}
	cast := func(e, arg Expr, op node) node {
		if c, ok := e.(*Cast); ok && e != arg {
			return newCastNode(c, op)
		}
		if c, ok := e.(*Const); ok && e != arg {
			return &constNode{column.ConstVector(c.Value)}
		}
		return op
	}
	equal, err := newCompareNode(&Compare{EQ, l, r}, cast(l, call.Args[0], ops[0]), cast(r, call.Args[1], ops[1]))
	if err != nil {
		return nil, err
	}
	null := &constNode{column.ConstVector(types.NullOf(call.Typ))}
	result := ops[0]
	if call.Args[0].Type() != call.Typ {
		result = newCastNode(&Cast{Arg: call.Args[0], To: call.Typ}, result)
	}
	return newCaseNode(&Case{Typ: call.Typ}, []node{equal, null, result}), nil
}

func resolveIf(args []Expr) (Signature, error) {
	t := CommonTypeOf(args[1:]...)
	return Signature{
		Args: []types.Type{types.Bool, t, t}, Result: t,
		Nullable: args[1].Nullable() || args[2].Nullable(),
	}, nil
}

func compileIf(call *Call, ops []node) (node, error) {
	return newCaseNode(&Case{Typ: call.Typ}, ops), nil
}

// resolveExtreme: the operands' common type, except that a temporal value among strings makes them all temporal strings,
// and numbers among strings are compared as numbers.
func resolveExtreme(args []Expr) (Signature, error) {
	t := CommonTypeOf(args...)
	if t.IsString() {
		hasStrings, hasNumbers := false, false
		for _, a := range args {
			hasStrings = hasStrings || a.Type().IsString()
			hasNumbers = hasNumbers || a.Type().IsNumeric()
		}
		if hasStrings && hasNumbers {
			t = types.Double
		}
	}
	sig := Signature{Result: t, Args: make([]types.Type, len(args))}
	for i := range args {
		sig.Args[i] = t
	}
	return sig, nil
}

func extreme(op Op) Kernel {
	return func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		sel = Positions(sel, n)
		switch out.Type.Phys() {
		case types.PhysFloat64:
			extremeOf(out.F64, args, Floats, sel, betterFloat(op))
		case types.PhysUint64:
			extremeOf(asUint64(out.I64), args, Uints, sel, func(a, b uint64) bool { return (op == LT) == (a < b) })
		case types.PhysInt128:
			extremeOf(out.I128, args, Int128s, sel, func(a, b types.Int128) bool { return (op == LT) == a.Less(b) })
		case types.PhysString:
			for k, a := range args {
				r := Strings(a)
				for _, i := range sel {
					if x := r.At(int(i)); k == 0 || compareResult(op, strings.Compare(x, out.Str[i])) {
						out.Str[i] = x
					}
				}
			}
		default:
			extremeInts(out.I64, args, sel, op == LT)
		}
		return nil
	}
}

// extremeInts is extremeOf without a call for each value.
func extremeInts(dst []int64, args []*column.Vector, sel []int32, least bool) {
	first := Ints(args[0])
	for _, i := range sel {
		dst[i] = first.At(int(i))
	}
	for _, a := range args[1:] {
		r := Ints(a)
		if least {
			for _, i := range sel {
				dst[i] = min(dst[i], r.At(int(i)))
			}
			continue
		}
		for _, i := range sel {
			dst[i] = max(dst[i], r.At(int(i)))
		}
	}
}

func extremeOf[T any](dst []T, args []*column.Vector, read func(*column.Vector) Reader[T], sel []int32, better func(a, b T) bool) {
	for k, a := range args {
		r := read(a)
		for _, i := range sel {
			if x := r.At(int(i)); k == 0 || better(x, dst[i]) {
				dst[i] = x
			}
		}
	}
}

func resolveInterval(args []Expr) (Signature, error) {
	sig := Signature{Args: make([]types.Type, len(args)), Result: types.Int64}
	for i := range args {
		sig.Args[i] = types.Double
	}
	return sig, nil
}

func evalInterval(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	x := Floats(args[0])
	for _, i := range Positions(sel, n) {
		if args[0].IsNull(int(i)) {
			out.I64[i] = -1
			continue
		}
		k := int64(0)
		for _, a := range args[1:] {
			if !a.IsNull(int(i)) && types.LessFloats(x.At(int(i)), Floats(a).At(int(i))) {
				break
			}
			k++
		}
		out.I64[i] = k
	}
	return nil
}

func evalXor(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a, b := Ints(args[0]), Ints(args[1])
	for _, i := range Positions(sel, n) {
		out.I64[i] = int64(BoolToInt((a.At(int(i)) != 0) != (b.At(int(i)) != 0)))
	}
	return nil
}

// extremeCall is GREATEST and LEAST.
func extremeCall(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	sig, err := fn.Resolve(args)
	if err != nil || !sig.Result.IsString() || sig.Result.IsBinaryString() {
		return nil, err
	}
	own := AsStrings(args)
	under := greatestUnder
	if fn.Name == "least" {
		under = leastUnder
	}
	return InternalCall(under, sig.Result.Collate(c), append(own, CollationName(c))...), nil
}

// extremeUnder takes the first of equal operands.
func extremeUnder(sign int) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		last := len(args) - 1
		under := CollationOperand(args[last])
		for _, i := range Positions(sel, n) {
			best := args[0].StringAt(int(i))
			key := under.Key(best)
			for _, a := range args[1:last] {
				x := a.StringAt(int(i))
				if k := under.Key(x); strings.Compare(k, key)*sign > 0 {
					best, key = x, k
				}
			}
			out.Str[i] = best
		}
		return nil
	}
}

// nullIfUnder makes CASE WHEN a = b THEN NULL ELSE a END.
func nullIfUnder(_ *Function, args []Expr, _ types.Collation) (Expr, error) {
	equal, err := NewCompare(EQ, args[0], args[1])
	if err != nil {
		return nil, err
	}
	a := args[0]
	return &Case{Whens: []When{{equal, &Const{Value: types.NullOf(a.Type())}}}, Else: a, Typ: a.Type()}, nil
}
