package expr

import (
	"slices"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Collations (Reference Manual 12.8). The evaluator and the executors compare strings by their bytes. Where operands have another
// collation the functions that build expressions replace them by collation keys ([CollationKey]), or take a function of
// collationfunctions.go or sql/functions that knows the collation; nothing behind the binder needs to know of collations.

// Coercibility says how strongly an expression insists on its collation: where two differ, the lower number wins (Reference Manual
// 12.8.4). The numbers are those of MySQL's COERCIBILITY(), less 2, so that a column's is the zero value.
type Coercibility int8

// The coercibilities.
const (
	Explicit    Coercibility = -2 // by COLLATE
	NoCollation Coercibility = -1 // of a string made of strings with different collations
	Implicit    Coercibility = 0  // of a column
	Coercible   Coercibility = 2  // of a literal
	Numeric     Coercibility = 3  // of a number or a date
	Ignorable   Coercibility = 4  // of NULL
)

var coercibilityNames = map[Coercibility]string{
	Explicit: "EXPLICIT", NoCollation: "NONE", Implicit: "IMPLICIT", Coercible: "COERCIBLE", Numeric: "NUMERIC", Ignorable: "IGNORABLE",
}

// derivation is a collation and how strongly an expression insists on it.
type derivation struct {
	collation types.Collation
	level     Coercibility
}

// CollationOf returns the collation of an expression's values, CollationBinary for those that are no strings, and how strongly the expression
// insists on it.
func CollationOf(e Expr) (types.Collation, Coercibility) {
	d := derive(e)
	return d.collation, d.level
}

func derive(e Expr) derivation {
	t := e.Type()
	if c, ok := e.(*Const); ok && c.Value.Null {
		return derivation{t.Collation, Ignorable}
	}
	switch {
	case t.IsBinaryString():
		if c, ok := e.(*Const); ok && !c.Implicit {
			return derivation{types.CollationBinary, Coercible}
		}
		return derivation{types.CollationBinary, Implicit}
	case t.Kind == types.KindJSON:
		return derivation{types.CollationBin, Implicit}
	case !t.HasCollation():
		return derivation{types.CollationBinary, Numeric}
	}
	if t.Collation == types.CollationNone {
		return derivation{types.CollationBin, NoCollation}
	}
	own := derivation{t.Collation, Coercible}
	switch x := e.(type) {
	case *Column:
		own.level = x.Coercibility
	case *Const:
		if x.Implicit {
			own.level = Implicit
		}
	case *Cast:
		switch from := x.Arg.Type(); {
		case !from.HasCollation() && !from.IsString():
			own.level = Numeric
		case from.Collation != t.Collation || !from.HasCollation():
			own.level = Implicit
		default:
			own.level = derive(x.Arg).level
		}
	case *Case:
		results := make([]Expr, 0, len(x.Whens)+1)
		for _, w := range x.Whens {
			results = append(results, w.Then)
		}
		if x.Else != nil {
			results = append(results, x.Else)
		}
		d, _ := aggregate(results)
		own.level = d.level
	case *Call:
		switch {
		case x.Fn == collate:
			own.level = Explicit
		case x.Fn.Category == CategoryJSON || x.Fn == collationValue:
			own.level = Implicit
		case x.Fn.CollationOf != nil:
			if d, _ := aggregate(x.Fn.CollationOf(x.Args)); d.level < Numeric {
				own.level = d.level
			}
		}
	case *Subquery:
		if x.Kind == ScalarSubquery && len(x.Out) == 1 {
			return derive(x.Out[0])
		}
	}
	return own
}

// The operands from which a function takes its result's collation ([Function.CollationOf]).

func AllOperands(args []Expr) []Expr  { return args }
func FirstOperand(args []Expr) []Expr { return args[:1] }
func BehindFirst(args []Expr) []Expr  { return args[1:] }
func butLast(args []Expr) []Expr      { return args[:len(args)-1] }

// WithCollationOf says from which operands a function takes its result's collation.
func (f *Function) WithCollationOf(operands func(args []Expr) []Expr) *Function {
	f.CollationOf = operands
	return f
}

// GivesCollation says whether the result of a function takes its collation from operands, one of which is a string.
func GivesCollation(fn *Function, operand Expr) bool {
	return fn.CollationOf != nil && operand.Type().HasCollation() && derive(operand).level < Numeric
}

// aggregate returns the collation of what is made of, or chosen among, expressions. ok is false if COLLATE asks for different ones (MySQL's
// DTCollation::aggregate).
func aggregate(args []Expr) (d derivation, ok bool) {
	d = derivation{types.CollationBin, Ignorable}
	for _, e := range args {
		next := derive(e)
		switch {
		case next.level > Coercible && d.level > Coercible:
			d.level = min(d.level, next.level)
		case (d.collation == types.CollationBinary) != (next.collation == types.CollationBinary):
			// Bytes win over characters that insist no more than they do.
			bytes := d
			if next.collation == types.CollationBinary {
				bytes = next
			}
			if next.level < d.level || next.level == d.level && next == bytes {
				d = next
			}
		case d.level < next.level:
		case next.level < d.level:
			d = next
		case d.collation == next.collation:
		case d.level == Explicit:
			return d, false
		case d.collation.Bytewise():
		case next.collation.Bytewise():
			d = next
		default:
			d = derivation{types.CollationBin, NoCollation}
		}
	}
	return d, true
}

// ofString is the collation of a type of strings that are derived so.
func (d derivation) ofString() types.Collation {
	switch {
	case d.level == NoCollation:
		return types.CollationNone
	case d.collation == types.CollationBinary: // of numbers alone
		return types.CollationBin
	}
	return d.collation
}

// Mix returns the collation under which an operation compares expressions; there may be none (MySQL's errors 1267, 1270 and 1271).
func Mix(operation string, args ...Expr) (types.Collation, error) {
	d, ok := aggregate(args)
	if ok && d.level != NoCollation {
		return d.collation, nil
	}
	return 0, illegalMix(operation, args)
}

func illegalMix(operation string, args []Expr) error {
	describe := func(e Expr) string {
		d := derive(e)
		return "(" + d.collation.String() + "," + coercibilityNames[d.level] + ")"
	}
	switch len(args) {
	case 2:
		return sqlerr.New(sqlerr.CodeCantAggregate2Collations, sqlerr.User, "Illegal mix of collations %s and %s for operation '%s'",
			describe(args[0]), describe(args[1]), operation)
	case 3:
		return sqlerr.New(sqlerr.CodeCantAggregate3Collations, sqlerr.User, "Illegal mix of collations %s, %s, %s for operation '%s'",
			describe(args[0]), describe(args[1]), describe(args[2]), operation)
	}
	return sqlerr.New(sqlerr.CodeCantAggregateNCollations, sqlerr.User, "Illegal mix of collations for operation '%s'", operation)
}

// collated says whether some expression's type names a collation that is not the default.
func collated(args ...Expr) bool {
	return slices.ContainsFunc(args, func(e Expr) bool { return e.Type().Collation != types.CollationBin })
}

// ResultCollation gives a function's result type its collation.
func ResultCollation(fn *Function, args []Expr, result types.Type) (types.Type, error) {
	if !result.HasCollation() || result.Collation == types.CollationBin && !collated(args...) {
		return result, nil
	}
	if fn.CollationOf == nil {
		return result.Collate(types.CollationBin), nil
	}
	d, ok := aggregate(fn.CollationOf(args))
	if !ok {
		return result, illegalMix(fn.Name, fn.CollationOf(args))
	}
	return result.Collate(d.ofString()), nil
}

// Collate is `e COLLATE c`.
func Collate(e Expr, c types.Collation) Expr {
	t := StringType(e.Type())
	if e.Type().Kind == types.KindEnum || !e.Type().IsString() {
		e = NewCast(e, t)
	}
	return &Call{Fn: collate, Args: []Expr{e}, Typ: t.Collate(c), Null: e.Nullable()}
}

// uncollated takes away the COLLATE around an expression.
func uncollated(e Expr) Expr {
	for {
		c, ok := e.(*Call)
		if !ok || c.Fn != collate {
			return e
		}
		e = c.Args[0]
	}
}

// CollationKey returns an expression by whose bytes e's strings compare under its collation: e itself if that is by bytes. Whatever sorts,
// groups or compares takes it in place of e.
func CollationKey(e Expr) Expr {
	if !e.Type().Folds() {
		return e
	}
	return KeyUnder(e, e.Type().Collation)
}

// KeyUnder is CollationKey under a collation that need not be e's own.
func KeyUnder(e Expr, c types.Collation) Expr {
	e = uncollated(e)
	if c.Bytewise() {
		return bytewise(e)
	}
	if k, ok := e.(*Const); ok {
		if k.Value.Null {
			return &Const{Value: types.NullOf(types.Blob)}
		}
		return &Const{Value: types.Value{Type: types.Blob, S: c.Key(k.Value.S)}}
	}
	return &Call{Fn: collationKey, Args: []Expr{e, CollationName(c)}, Typ: types.Blob, Null: e.Nullable()}
}

// CollationKeyOf returns the string whose key under a collation e is, and the collation; ok is false if e is no such key.
func CollationKeyOf(e Expr) (text Expr, collation string, ok bool) {
	call, is := e.(*Call)
	if !is || call.Fn != collationKey {
		return nil, "", false
	}
	return call.Args[0], call.Args[1].(*Const).Value.S, true
}

// bytewise returns e under a collation by bytes, so that its type tells how it compares.
func bytewise(e Expr) Expr {
	if !e.Type().Folds() {
		return e
	}
	if k, ok := e.(*Const); ok {
		v := k.Value
		v.Type = v.Type.Collate(types.CollationBin)
		return &Const{Value: v}
	}
	return Collate(e, types.CollationBin)
}

// CollationName is the operand by which an internal function is told a collation.
func CollationName(c types.Collation) *Const { return &Const{Value: types.StringValue(c.String())} }

// underCollation casts operands that compare as strings, and replaces them by their keys under the collation of all.
func underCollation(operation string, l, r Expr, t types.Type) (Expr, Expr, error) {
	if !collated(l, r) {
		return castOperand(l, t), castOperand(r, t), nil
	}
	c, err := Mix(operation, l, r)
	if err != nil {
		return nil, nil, err
	}
	return KeyUnder(castOperand(l, t), c), KeyUnder(castOperand(r, t), c), nil
}

// sharedCollation returns the first of several operands that are compared with it under the collation of all.
func sharedCollation(operation string, first Expr, others []Expr) (Expr, error) {
	if !first.Type().HasCollation() && !first.Type().IsString() || !collated(first) && !collated(others...) {
		return first, nil
	}
	all := append([]Expr{first}, others...)
	c, err := Mix(operation, all...)
	if err != nil {
		return nil, err
	}
	if c == types.CollationBinary {
		return NewCast(uncollated(first), types.Blob), nil
	}
	return Collate(first, c), nil
}

// withCollation builds a call of a function that compares its operands where these do not compare by bytes; nil: any other call.
func withCollation(fn *Function, args []Expr) (Expr, error) {
	if fn.Under == nil || !collated(args...) {
		return nil, nil
	}
	return fn.Under(fn, args)
}

// ComparedUnder says how a call is built whose operands do not compare by bytes, of a function that compares the first of them: as many as
// operands says, or all if it is negative.
func (f *Function) ComparedUnder(operands int, build func(fn *Function, args []Expr, c types.Collation) (Expr, error)) *Function {
	f.Under = Comparing(operands, build)
	return f
}

func Comparing(operands int, build func(fn *Function, args []Expr, c types.Collation) (Expr, error)) func(*Function, []Expr) (Expr, error) {
	return func(fn *Function, args []Expr) (Expr, error) {
		compared := args
		if operands >= 0 {
			compared = args[:operands]
		}
		c, err := Mix(fn.Name, compared...)
		if err != nil || c.Bytewise() {
			return nil, err
		}
		return build(fn, args, c)
	}
}
