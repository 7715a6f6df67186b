package expr

import (
	"math"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// NewCall resolves a function or operator of the registry by name, casts the operands to the types that it computes
// in, and builds the node.
func NewCall(name string, args ...Expr) (Expr, error) {
	fn := Lookup(name)
	if fn == nil {
		if instead := otherEngines[strings.ToLower(name)]; instead != "" {
			return nil, sqlerr.UnknownFunction(name, "").WithHint("%s", instead)
		}
		names := make([]string, 0, len(scalarByName))
		for n := range scalarByName {
			names = append(names, n)
		}
		slices.Sort(names)
		return nil, sqlerr.UnknownFunction(name, sqlerr.Suggest(strings.ToLower(name), names))
	}
	return Apply(fn, args...)
}

// Apply is NewCall for a function that was looked up.
func Apply(fn *Function, args ...Expr) (Expr, error) {
	if len(args) < fn.MinArgs || fn.MaxArgs >= 0 && len(args) > fn.MaxArgs {
		return nil, sqlerr.WrongParamCount(strings.ToUpper(fn.Name))
	}
	if e, err := withCollation(fn, args); e != nil || err != nil {
		return e, err
	}
	sig, err := fn.Resolve(args)
	if err != nil {
		return nil, err
	}
	if sig.Result, err = ResultCollation(fn, args, sig.Result); err != nil {
		return nil, err
	}
	switch {
	case fn.Digits.Hidden != nil || fn.Digits.Rounds:
		return applyHidden(fn, sig, args)
	case fn.Digits.Chooses:
		return applyChoice(fn, sig, args), nil
	}
	return BuildCall(fn, sig, args), nil
}

// BuildCall casts the operands as the signature says and makes the node.
func BuildCall(fn *Function, sig Signature, args []Expr) Expr {
	own := slices.Clone(args)
	for i, t := range sig.Args {
		switch {
		case t.Kind == types.KindBool:
			own[i] = Truth(own[i])
		case sig.Capped && t.Kind == types.KindInt64:
			own[i] = CappedInt(own[i])
		case t.Kind != types.KindNull && !sameValues(own[i].Type(), t):
			own[i] = NewCast(own[i], t)
		}
	}
	return &Call{Fn: fn, Args: own, Typ: sig.Result, Null: sig.Nullable || fn.Nulls == NullIfAny && anyNullable(own)}
}

// CappedInt returns e as a BIGINT: the largest one where e is UNSIGNED and larger.
func CappedInt(e Expr) Expr {
	if e.Type().Kind == types.KindUint64 {
		largest := &Const{Value: types.UintValue(math.MaxInt64)}
		if c, ok := e.(*Const); !ok || c.Value.Null {
			e = InternalCall(Lookup("least"), types.Uint64, e, largest)
		} else if uint64(c.Value.I) > math.MaxInt64 {
			e = largest
		}
	}
	return NewCast(e, types.Int64)
}

// NewCast returns e as a value of type to, as CAST gives it. Constants are converted at once where nothing is lost and
// no time zone matters.
func NewCast(e Expr, to types.Type) Expr {
	from := e.Type()
	if from == to {
		return e
	}
	e = BitsFor(e, to)
	if from = e.Type(); from == to {
		return e
	}
	if to.IsNumeric() || to.IsTemporal() { // a string has the digits that are shown
		e = WithHiddenDigits(e)
		if from = e.Type(); from == to {
			return e
		}
	}
	if c, ok := e.(*Const); ok && !sessionCast(from, to) && !isMoment(c.Value, to) && !isJSONCast(from, to) {
		if v, status := types.Cast(c.Value, to); status <= types.ConvertRounded {
			v.IsBits = c.Value.IsBits && to.IsString() && v.S == c.Value.S
			return &Const{Value: v}
		}
	}
	return &Cast{Arg: e, To: to}
}

// BitsFor makes a number of a hexadecimal or bit literal that becomes a value of a numeric type. Evaluation knows bytes alone.
func BitsFor(e Expr, to types.Type) Expr {
	if !TakesNumber(to) {
		return e
	}
	switch x := e.(type) {
	case *Const:
		if x.Value.IsBits {
			return &Const{Value: x.Value.Number()}
		}
	case *Column:
		if x.Long != nil && x.Typ.IsString() { // of a derived table that is merged
			return x.Long
		}
	case *Case:
		if !x.Typ.IsString() {
			return e
		}
		results := make([]Expr, 0, len(x.Whens)+1)
		for _, w := range x.Whens {
			results = append(results, w.Then)
		}
		if x.Else != nil {
			results = append(results, x.Else)
		}
		t, ok := numbersOfBits(results, to)
		if !ok {
			return e
		}
		out := &Case{Whens: slices.Clone(x.Whens), Typ: t}
		for i := range out.Whens {
			out.Whens[i].Then = results[i]
		}
		if x.Else != nil {
			out.Else = results[len(x.Whens)]
		}
		return out
	case *Call:
		if x.Fn.Name != "if" || !x.Typ.IsString() {
			return e
		}
		args := slices.Clone(x.Args)
		if t, ok := numbersOfBits(args[1:], to); ok {
			return &Call{Fn: x.Fn, Args: args, Typ: t, Null: x.Null}
		}
	}
	return e
}

// TakesNumber says whether a hexadecimal or bit literal is a number beside a value of type t.
func TakesNumber(t types.Type) bool { return t.IsNumeric() || t.Kind == types.KindYear }

// numbersOfBits makes numbers of results, one of which is chosen where a number is wanted, if a hexadecimal or bit literal is among them. As in
// MySQL each is converted by itself (Item_func_if::val_real, Item_func_case::val_real); COALESCE and IFNULL convert the string.
func numbersOfBits(results []Expr, to types.Type) (t types.Type, ok bool) {
	t = types.Uint64
	numbers := make([]Expr, len(results))
	for i, e := range results {
		numbers[i] = BitsFor(e, to)
		ok = ok || numbers[i] != e
		if numbers[i].Type() != types.Uint64 && !isNull(e) {
			t = types.Double
		}
	}
	if !ok {
		return t, false
	}
	for i, e := range numbers {
		results[i] = NewCast(e, t)
	}
	return t, true
}

func isNull(e Expr) bool {
	c, ok := e.(*Const)
	return ok && c.Value.Null
}

// BitsStored is BitsFor for a value that is assigned to a column.
func BitsStored(e Expr, to types.Type) Expr {
	if c, ok := e.(*Const); ok && c.Value.IsBits && TakesNumber(to) {
		return &Const{Value: c.Value.StoredNumber()}
	}
	return e
}

// sessionCast says whether a conversion depends on the session's time zone or date.
func sessionCast(from, to types.Type) bool {
	return from.Kind == types.KindTimestamp || to.Kind == types.KindTimestamp ||
		from.Kind == types.KindTime && (to.Kind == types.KindDate || to.Kind == types.KindDatetime)
}

// isMoment says whether a value is a string with an offset from UTC that is to become a date or time, which depends on the session's time zone too.
func isMoment(v types.Value, to types.Type) bool {
	if !v.Type.IsString() || !to.IsTemporal() {
		return false
	}
	_, ok := types.ParseMoment(v.S)
	return ok
}

// NewCompare compares two operands after casting them to the type in which MySQL compares them (Reference Manual 14.3).
// A constant is converted to the other side's type where that cannot change the outcome, so that columns stay bare.
func NewCompare(op Op, l, r Expr) (Expr, error) {
	if op != EQ && op != NE && op != NSEQ {
		l, r = enumString(l, r), enumString(r, l)
	}
	l, r, err := comparable(op.String(), l, r)
	if err != nil {
		return nil, err
	}
	return &Compare{op, l, r}, nil
}

// enumString makes a string of an ENUM that is ordered beside a string. Its members have the order of their numbers in ORDER BY and beside numbers only.
func enumString(e, other Expr) Expr {
	if e.Type().Kind == types.KindEnum && other.Type().IsString() {
		return NewCast(e, StringType(e.Type()))
	}
	return e
}

// comparable casts two operands to a common representation, strings to such as compare by their bytes.
func comparable(operation string, l, r Expr) (Expr, Expr, error) {
	if mayHoldRounded(l, r) || mayHoldRounded(r, l) {
		return comparableAsShown(operation, l, r)
	}
	return comparableAsShown(operation, WithHiddenDigits(l), WithHiddenDigits(r))
}

// comparableAsShown is comparable for operands whose hidden digits do not count, or are no longer hidden.
func comparableAsShown(operation string, l, r Expr) (Expr, Expr, error) {
	l, r, err := unquoteJSON(l, r)
	if err != nil {
		return nil, nil, err
	}
	l, r = BitsFor(l, r.Type()), BitsFor(r, l.Type())
	lc, lok := l.(*Const)
	rc, rok := r.(*Const)
	switch {
	case rok && !lok && !l.Type().Folds():
		if c, err := constFor(l.Type(), rc); c != nil || err != nil {
			return l, c, err
		}
	case lok && !rok && !r.Type().Folds():
		if c, err := constFor(r.Type(), lc); c != nil || err != nil {
			return c, r, err
		}
	}
	lt, rt := l.Type(), r.Type()
	if lt.Kind == types.KindDecimal || rt.Kind == types.KindDecimal {
		lt, rt = literalType(l), literalType(r)
	}
	t := types.ComparisonType(lt, rt)
	if t.Kind == types.KindDecimal {
		scale := int(t.Scale)
		if WholeDigits(lt)+scale > types.MaxDecimalPrecision || WholeDigits(rt)+scale > types.MaxDecimalPrecision {
			// Aligning the scales could overflow: each side keeps its own, which the evaluator compares exactly.
			return castToDecimalAsIs(l), castToDecimalAsIs(r), nil
		}
	}
	if t.IsString() {
		return underCollation(operation, l, r, t)
	}
	return castOperand(l, t), castOperand(r, t), nil
}

// literalType is e's type, but a DECIMAL as short as it can be for an integer literal.
func literalType(e Expr) types.Type {
	if e.Type().IsInteger() {
		return exactType(e)
	}
	return e.Type()
}

func WholeDigits(t types.Type) int {
	d := types.AsDecimal(t)
	return int(d.Precision) - int(d.Scale)
}

func castToDecimalAsIs(e Expr) Expr {
	d := types.AsDecimal(e.Type())
	if d.Precision <= types.MaxShortDecimal {
		d.Precision = types.MaxShortDecimal + 1 // both sides as Int128
	}
	return NewCast(e, d)
}

// castOperand casts e to t unless its values are represented alike.
func castOperand(e Expr, t types.Type) Expr {
	from := e.Type()
	if from.Phys() == t.Phys() && (sameValues(from, t) || from.IsString() ||
		from.IsTemporal() && from.Kind == t.Kind ||
		t.Kind == types.KindInt64 && (from.IsInteger() || from.Kind == types.KindEnum)) {
		return e
	}
	e = NewCast(e, t)
	if c, ok := e.(*Cast); ok && t.Kind == types.KindDatetime && (from.IsString() || from.Kind == types.KindEnum) {
		c.Compared = true
	}
	return e
}

// constFor returns c converted for comparison with a column or expression of type t, or nil if the general rules have
// to decide.
func constFor(t types.Type, c *Const) (Expr, error) {
	v := c.Value
	from := v.Type
	if v.Null || from.Kind == types.KindNull {
		return &Const{Value: types.NullOf(t)}, nil
	}
	exactly := func(to types.Type) Expr {
		if x, status := types.Cast(v, to); status == types.ConvertOK && !x.Null {
			return &Const{Value: x}
		}
		return nil
	}
	switch {
	case from == t:
		return c, nil
	case isMoment(v, t):
	case t.Kind == types.KindDate && (from.IsString() || from.IsNumeric() || from.Kind == types.KindDatetime):
		// Only midnight can be a DATE; anything later lifts the comparison to DATETIME.
		x, status := types.Cast(v, types.DatetimeFsp(types.MaxFsp))
		switch {
		case status == types.ConvertInvalid && from.IsString():
			return nil, wrongTemporal("DATE", v)
		case status == types.ConvertOK && !x.Null && types.TimeOf(x.I) == 0:
			return &Const{Value: types.Value{Type: types.Date, I: types.DateOf(x.I)}}, nil
		}
	case t.Kind == types.KindDatetime && (from.IsString() || from.IsNumeric() || from.Kind == types.KindDate):
		x, status := types.Cast(v, types.DatetimeFsp(types.MaxFsp))
		switch {
		case status == types.ConvertInvalid && from.IsString():
			return nil, wrongTemporal("DATETIME", v)
		case status == types.ConvertOK && !x.Null:
			return &Const{Value: x}, nil
		}
	case t.Kind == types.KindTimestamp && from.IsString():
		if _, status := types.Cast(v, types.DatetimeFsp(types.MaxFsp)); status == types.ConvertInvalid {
			return nil, wrongTemporal("TIMESTAMP", v)
		}
	case t.Kind == types.KindTime && from.IsString():
		if x := exactly(types.TimeFsp(types.MaxFsp)); x != nil {
			return x, nil
		}
	case t.Kind == types.KindYear && from.IsInteger():
		if y, status := types.YearFromNumber(v.I); status == types.ConvertOK && from.Kind != types.KindUint64 {
			return &Const{Value: types.IntValue(y)}, nil
		}
	case t.Kind == types.KindYear && (from.Kind == types.KindDecimal || from.IsFloat()):
		if n, status := types.Cast(v, types.Int64); status == types.ConvertOK {
			if y, status := types.YearFromNumber(n.I); status == types.ConvertOK {
				return &Const{Value: types.IntValue(y)}, nil
			}
		}
	case t.Kind == types.KindYear && from.IsString():
		if y, status := types.Cast(v, t); status == types.ConvertOK && !y.Null {
			return &Const{Value: types.IntValue(y.I)}, nil
		}
	case t.Kind == types.KindEnum && from.IsString():
		if i, ok := t.EnumIndex(v.S); ok {
			return &Const{Value: types.Value{Type: t, I: i}}, nil
		}
	case t.IsInteger() && (from.IsNumeric() && !from.IsFloat() || from.IsString()):
		if from.IsString() {
			d, scale, status := types.ParseDecimal(v.S)
			if status != types.ConvertOK {
				return nil, nil
			}
			v = types.DecimalValue(types.Decimal(types.MaxDecimalPrecision, scale), d)
		}
		if t.Kind == types.KindUint64 {
			if x := exactly(types.Uint64); x != nil && (v.Type.Kind == types.KindUint64 || !negative(v)) {
				return x, nil
			}
			return nil, nil
		}
		if x := exactly(types.Int64); x != nil && (v.Type.Kind != types.KindUint64 || v.I >= 0) {
			return x, nil
		}
	}
	return nil, nil
}

func negative(v types.Value) bool {
	if v.Type.Kind == types.KindDecimal {
		return v.Unscaled().Sign() < 0
	}
	return v.I < 0
}

// wrongTemporal is MySQL's error 1525 for a string that is compared with a temporal column and is no such value.
func wrongTemporal(name string, v types.Value) error {
	return sqlerr.New(sqlerr.CodeWrongValue, sqlerr.User, "Incorrect %s value: '%s'", name, v.S)
}

// NewIn builds `arg IN (list)`. Constants that compare with arg in the same type share one In; everything else becomes
// a comparison of its own. A long list is given up when the statement has been cancelled; without a context it is not.
func NewIn(ctx *Context, arg Expr, list []Expr) (Expr, error) {
	var ins []*In
	var alternatives []Expr
	hasNull := false
	arg, err := sharedCollation("IN", Once(arg), list)
	if err != nil {
		return nil, err
	}
	for k, e := range list {
		if k%1024 == 0 {
			if err := ctx.Interrupted(); err != nil {
				return nil, err
			}
		}
		if c, ok := e.(*Const); ok && c.Value.Null {
			hasNull = true
			continue
		}
		l, r, err := comparable("IN", arg, e)
		if err != nil {
			return nil, err
		}
		c, ok := r.(*Const)
		if !ok || c.Value.Null || l.Type().Phys() != c.Value.Type.Phys() || ScaleOf(l.Type()) != ScaleOf(c.Value.Type) {
			alternatives = append(alternatives, &Compare{EQ, l, r})
			continue
		}
		i := slices.IndexFunc(ins, func(n *In) bool { return n.Arg == l || n.Arg.Type() == l.Type() })
		if i < 0 {
			i = len(ins)
			ins = append(ins, &In{Arg: l, List: make([]types.Value, 0, len(list)-k)})
		}
		ins[i].List = append(ins[i].List, c.Value)
	}
	if len(ins) == 0 && hasNull {
		l, _, err := comparable("IN", arg, &Const{Value: types.NullOf(types.Null)})
		if err != nil {
			return nil, err
		}
		ins = append(ins, &In{Arg: l})
	}
	var parts []Expr
	for _, n := range ins {
		n.HasNull = hasNull
		parts = append(parts, n)
	}
	parts = append(parts, alternatives...)
	if len(parts) == 1 {
		return parts[0], nil
	}
	return Whole(OrOf(parts)), nil
}

// NewBetween builds `e BETWEEN lo AND hi`.
func NewBetween(e, lo, hi Expr) (Expr, error) {
	e, err := sharedCollation("BETWEEN", Once(e), []Expr{lo, hi})
	if err != nil {
		return nil, err
	}
	a, err := NewCompare(GE, e, lo)
	if err != nil {
		return nil, err
	}
	b, err := NewCompare(LE, e, hi)
	if err != nil {
		return nil, err
	}
	return Whole(&And{Args: []Expr{a, b}}), nil
}

// NewCase builds a searched CASE; els may be nil. Conditions become truth values, results get a common type.
func NewCase(whens []When, els Expr) (Expr, error) {
	var results []Expr
	for _, w := range whens {
		results = append(results, w.Then)
	}
	if els != nil {
		results = append(results, els)
	}
	if collated(results...) {
		if _, ok := aggregate(results); !ok {
			return nil, illegalMix("case", results)
		}
	}
	return chosen(results, CommonTypeOf(results...), func(results []Expr, t types.Type) Expr {
		out := &Case{Whens: make([]When, len(whens)), Typ: t}
		for i, w := range whens {
			out.Whens[i] = When{Truth(w.Cond), NewCast(results[i], t)}
		}
		if els != nil {
			out.Else = NewCast(results[len(whens)], t)
		}
		return out
	}), nil
}

// NewLike builds `e LIKE pattern ESCAPE escape`; a nil escape is the backslash.
func NewLike(e, pattern, escape Expr) (Expr, error) {
	if escape == nil {
		return NewCall("like", e, pattern)
	}
	return NewCall("like", e, pattern, escape)
}

// CommonTypeOf returns the type of a result that is one of several expressions: CASE, IF, COALESCE, UNION. An integer
// literal among decimals counts as many digits as it has.
func CommonTypeOf(exprs ...Expr) types.Type {
	decimal := slices.ContainsFunc(exprs, func(e Expr) bool { return e.Type().Kind == types.KindDecimal })
	t := types.Null
	for _, e := range exprs {
		et := e.Type()
		if decimal {
			et = literalType(e)
		}
		t = types.CommonType(t, et)
	}
	if t.HasCollation() && collated(exprs...) {
		d, _ := aggregate(exprs)
		t.Collation = d.ofString()
	}
	return t
}

// IsTruth builds `e IS TRUE` (want) or `e IS FALSE`, which are never NULL.
func IsTruth(e Expr, want bool) Expr {
	cond := Truth(e)
	switch e.(type) {
	case *Compare, *And, *Or, *Not, *IsNull, *In:
	default:
		if cond == e { // a BOOLEAN column may hold other numbers than 0 and 1
			cond = &Compare{NE, e, False}
		}
	}
	if want {
		return &Compare{NSEQ, cond, True}
	}
	return &Compare{NSEQ, cond, False}
}

// unquoteJSON makes the text of a JSON value that is compared with a string the string that it holds, if it is one.
func unquoteJSON(l, r Expr) (Expr, Expr, error) {
	isJSON := func(e Expr) bool { return e.Type().Kind == types.KindJSON }
	isText := func(e Expr) bool { return e.Type().IsString() && !isJSON(e) }
	var err error
	switch {
	case isJSON(l) && isText(r):
		l, err = NewCall("json_unquote", l)
	case isText(l) && isJSON(r):
		r, err = NewCall("json_unquote", r)
	}
	return l, r, err
}
