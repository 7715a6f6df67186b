package expr

import (
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The aggregate functions (Reference Manual 14.19.1): names, types, descriptions. Executors compute them by Kind.

// Aggregate describes an aggregate function; how it is computed is the executor's business (exec/cpu, exec/gpu),
// which keys on Kind.
type Aggregate struct {
	Kind    AggKind
	Name    string   // lower case
	Aliases []string // other names
	Syntax  string   // empty: the planner makes it, and no query can write it
	Doc     string
	// Resolve chooses the types, as for functions. COUNT(*) has no operand.
	Resolve func(args []Expr) (Signature, error)
	// EmptyIsNull says that the result over no rows is NULL (COUNT gives 0, BIT_AND all ones).
	EmptyIsNull bool
	// NoWindow says that it may not stand before OVER.
	NoWindow bool
	// Called says that MySQL has no such aggregate: the parser reads its calls as those of a function.
	Called bool
	// KeepsRows says that it needs all values of a group together.
	KeepsRows bool
}

// Constants returns how many of its last operands are constants, which are no operands of a row.
func (a *Aggregate) Constants() int {
	if a.Kind == AggQuantileCont || a.Kind == AggQuantileDisc {
		return 1
	}
	return 0
}

// AggKind is an aggregate function.
type AggKind uint8

// The aggregate functions. AggAnyValue is also what the planner uses for columns that depend on the group's key.
const (
	AggCountStar AggKind = iota
	AggCount
	AggSum
	AggAvg
	AggMin
	AggMax
	AggAnyValue
	AggVarPop
	AggVarSamp
	AggStddevPop
	AggStddevSamp
	AggBitAnd
	AggBitOr
	AggBitXor
	AggGroupConcat
	AggSingle // the value of the only row; an error if there are more: scalar subqueries
	AggApproxCountDistinct
	AggArgMin
	AggArgMax
	AggMode
	AggQuantileCont
	AggQuantileDisc
	AggCorr
	AggCovarPop
	AggCovarSamp
	AggRegrAvgX
	AggRegrAvgY
	AggRegrCount
	AggRegrIntercept
	AggRegrR2
	AggRegrSlope
	AggRegrSXX
	AggRegrSXY
	AggRegrSYY
)

func init() {
	double := func(args []Expr) (Signature, error) {
		return Signature{Args: []types.Type{types.Double}, Result: types.Double, Nullable: true}, nil
	}
	// Numbers that are no integers become signed ones, as everywhere in MySQL: what lies above 2^63 - 1 counts as that.
	bitwise := func(args []Expr) (Signature, error) {
		sig := Signature{Args: []types.Type{types.Uint64}, Result: types.Uint64}
		if t := args[0].Type(); t.Kind == types.KindDecimal || t.IsFloat() {
			sig.Args[0] = types.Int64
		}
		return sig, nil
	}
	same := func(args []Expr) (Signature, error) {
		return Signature{Args: []types.Type{types.Null}, Result: args[0].Type(), Nullable: true}, nil
	}
	extreme := func(args []Expr) (Signature, error) {
		if t := args[0].Type(); t.Kind == types.KindEnum { // whose strings compare, not their numbers
			return Signature{Args: []types.Type{StringType(t)}, Result: StringType(t), Nullable: true}, nil
		}
		return same(args)
	}
	registerAggregates(
		&Aggregate{Kind: AggCountStar, Name: "count(*)", Syntax: "COUNT(*)", Doc: "The number of rows.",
			Resolve: func([]Expr) (Signature, error) { return Signature{Result: types.Int64}, nil }},
		&Aggregate{Kind: AggCount, Name: "count", Syntax: "COUNT([DISTINCT] a, ...)",
			Doc: "The number of rows in which no operand is NULL; with DISTINCT, of different ones.",
			Resolve: func(args []Expr) (Signature, error) {
				return Signature{Args: make([]types.Type, len(args)), Result: types.Int64}, nil
			}},
		&Aggregate{Kind: AggSum, Name: "sum", Syntax: "SUM([DISTINCT] a)", EmptyIsNull: true,
			Doc:     "The sum: exact, a DECIMAL, for integers and decimals; a DOUBLE for floats and strings.",
			Resolve: resolveTotal(types.SumType)},
		&Aggregate{Kind: AggAvg, Name: "avg", Syntax: "AVG([DISTINCT] a)", EmptyIsNull: true,
			Doc:     "The average: a DECIMAL with 4 more fractional digits for integers and decimals, a DOUBLE for floats and strings.",
			Resolve: resolveTotal(types.AvgType)},
		&Aggregate{Kind: AggMin, Name: "min", Syntax: "MIN(a)", Doc: "The smallest value; of an ENUM the first string.", EmptyIsNull: true, Resolve: extreme},
		&Aggregate{Kind: AggMax, Name: "max", Syntax: "MAX(a)", Doc: "The largest value; of an ENUM the last string.", EmptyIsNull: true, Resolve: extreme},
		&Aggregate{Kind: AggAnyValue, Name: "any_value", EmptyIsNull: true, NoWindow: true, Resolve: same,
			Doc: "What a column that is not grouped becomes: its value in some row of the group."},
		&Aggregate{Kind: AggVarPop, Name: "var_pop", Aliases: []string{"variance"}, Syntax: "VAR_POP(a)", EmptyIsNull: true,
			Doc: "The population variance.", Resolve: double},
		&Aggregate{Kind: AggVarSamp, Name: "var_samp", Syntax: "VAR_SAMP(a)", EmptyIsNull: true,
			Doc: "The sample variance; NULL for one row.", Resolve: double},
		&Aggregate{Kind: AggStddevPop, Name: "stddev_pop", Aliases: []string{"std", "stddev"}, Syntax: "STDDEV_POP(a)", EmptyIsNull: true,
			Doc: "The population standard deviation.", Resolve: double},
		&Aggregate{Kind: AggStddevSamp, Name: "stddev_samp", Syntax: "STDDEV_SAMP(a)", EmptyIsNull: true,
			Doc: "The sample standard deviation; NULL for one row.", Resolve: double},
		&Aggregate{Kind: AggBitAnd, Name: "bit_and", Syntax: "BIT_AND(a)", Doc: "The bitwise AND; all ones over no rows.", Resolve: bitwise},
		&Aggregate{Kind: AggBitOr, Name: "bit_or", Syntax: "BIT_OR(a)", Doc: "The bitwise OR; 0 over no rows.", Resolve: bitwise},
		&Aggregate{Kind: AggBitXor, Name: "bit_xor", Syntax: "BIT_XOR(a)", Doc: "The bitwise XOR; 0 over no rows.", Resolve: bitwise},
		&Aggregate{Kind: AggGroupConcat, Name: "group_concat", EmptyIsNull: true, NoWindow: true,
			KeepsRows: true,
			Syntax:    "GROUP_CONCAT([DISTINCT] a, ... [ORDER BY ...] [SEPARATOR s])",
			Doc:       "The strings of the group, joined by commas or the separator.",
			Resolve: func(args []Expr) (Signature, error) {
				sig := Signature{Args: make([]types.Type, len(args)), Result: types.Text, Nullable: true}
				for i, a := range args {
					if !a.Type().IsString() {
						sig.Args[i] = StringType(a.Type())
					}
				}
				return sig, nil
			}},
		&Aggregate{Kind: AggSingle, Name: "single_value", EmptyIsNull: true, NoWindow: true, Resolve: same,
			Doc: "What a scalar subquery does: the value of the only row; an error if there are more."},
	)
}

// Average returns sum / count, an AVG of a type: see types.DecimalAvg. The sum has the scale of what was summed.
func Average(sum, count Expr, t types.Type) Expr {
	by := division
	switch {
	case t.IsFloat():
		count = &Cast{Arg: count, To: types.Double}
	case t.Scale > sum.Type().Scale && t.Scale%9 == 0:
		by = longDivision
	}
	return &Call{Fn: by, Args: []Expr{sum, count}, Typ: t, Null: true}
}

// resolveTotal resolves SUM and AVG: exact over integers and decimals, DOUBLE over everything else. Temporal values count by
// their number form.
func resolveTotal(exact func(types.Type) types.Type) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		if len(args) != 1 {
			return Signature{}, sqlerr.WrongArguments("SUM or AVG")
		}
		t := NumericType(args[0].Type())
		if t.IsFloat() {
			sig := Signature{Args: []types.Type{types.Double}, Result: types.Double, Nullable: true}
			if args[0].Type().IsFloat() {
				sig.Args[0] = types.Null
			}
			return sig, nil
		}
		return Signature{Args: []types.Type{CastNumeric(args[0].Type())}, Result: exact(t), Nullable: true}, nil
	}
}

// StringType is the string type that holds every value of t as a string.
func StringType(t types.Type) types.Type {
	if t.IsString() {
		return t
	}
	return types.Varchar(types.TextLength(t)).Collate(t.Collation)
}
