package expr

import (
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The aggregates that analysts know from other engines and that MySQL lacks. Names and meanings are DuckDB's; those of the regressions are
// SQL:2016's (10.9).

func init() {
	pair := func(kind AggKind, name, doc string) *Aggregate {
		result, null := types.Double, true
		if kind == AggRegrCount {
			result, null = types.Int64, false
		}
		return &Aggregate{Kind: kind, Name: name, Syntax: strings.ToUpper(name) + "(y, x)", Doc: doc, EmptyIsNull: null, NoWindow: true, Called: true,
			Resolve: func(args []Expr) (Signature, error) {
				if len(args) != 2 {
					return Signature{}, sqlerr.WrongParamCount(name)
				}
				return Signature{Args: []types.Type{types.Double, types.Double}, Result: result, Nullable: null}, nil
			}}
	}
	registerAggregates(
		&Aggregate{Kind: AggApproxCountDistinct, Name: "approx_count_distinct", Syntax: "APPROX_COUNT_DISTINCT(a)", NoWindow: true,
			Doc: "About how many different values there are: exact up to 64, then within some 2%.",
			Resolve: func(args []Expr) (Signature, error) {
				if len(args) != 1 {
					return Signature{}, sqlerr.WrongParamCount("approx_count_distinct")
				}
				return Signature{Args: make([]types.Type, 1), Result: types.Int64}, nil
			}},
		&Aggregate{Kind: AggArgMin, Name: "arg_min", Aliases: []string{"min_by"}, Syntax: "ARG_MIN(a, b)", EmptyIsNull: true, NoWindow: true, Called: true,
			Doc: "The value of a in the first row in which b is smallest. Rows with a NULL do not count.", Resolve: resolveArgExtreme("arg_min")},
		&Aggregate{Kind: AggArgMax, Name: "arg_max", Aliases: []string{"max_by"}, Syntax: "ARG_MAX(a, b)", EmptyIsNull: true, NoWindow: true, Called: true,
			Doc: "The value of a in the first row in which b is largest. Rows with a NULL do not count.", Resolve: resolveArgExtreme("arg_max")},
		&Aggregate{Kind: AggMode, Name: "mode", Syntax: "MODE(a)", EmptyIsNull: true, NoWindow: true, Called: true, KeepsRows: true,
			Doc: "The most frequent value; of several the smallest.",
			Resolve: func(args []Expr) (Signature, error) {
				if len(args) != 1 {
					return Signature{}, sqlerr.WrongParamCount("mode")
				}
				return Signature{Args: []types.Type{types.Null}, Result: args[0].Type(), Nullable: true}, nil
			}},
		&Aggregate{Kind: AggQuantileCont, Name: "quantile_cont", Syntax: "QUANTILE_CONT(a, q)", EmptyIsNull: true, NoWindow: true, Called: true, KeepsRows: true,
			Doc:     "The value below which the part q (0 to 1) lies, between two values a DOUBLE or DATETIME; MEDIAN(a) has q = 0.5.",
			Resolve: resolveQuantile("quantile_cont")},
		&Aggregate{Kind: AggQuantileDisc, Name: "quantile_disc", Syntax: "QUANTILE_DISC(a, q)", EmptyIsNull: true, NoWindow: true, Called: true, KeepsRows: true,
			Doc: "The first value, in order, at or below which the part q of the values lies.", Resolve: resolveQuantile("quantile_disc")},
		pair(AggCorr, "corr", "The correlation coefficient. Like the functions below, it counts the rows in which neither operand is NULL."),
		pair(AggCovarPop, "covar_pop", "The population covariance."),
		pair(AggCovarSamp, "covar_samp", "The sample covariance; NULL for one row."),
		pair(AggRegrAvgX, "regr_avgx", "The average of x."),
		pair(AggRegrAvgY, "regr_avgy", "The average of y."),
		pair(AggRegrCount, "regr_count", "The number of rows in which neither operand is NULL."),
		pair(AggRegrIntercept, "regr_intercept", "Where the line that fits best, by least squares, crosses x = 0."),
		pair(AggRegrR2, "regr_r2", "How well that line fits: the square of the correlation coefficient."),
		pair(AggRegrSlope, "regr_slope", "The slope of that line."),
		pair(AggRegrSXX, "regr_sxx", "The sum of squared distances of x from its average."),
		pair(AggRegrSXY, "regr_sxy", "The sum of products of the distances of x and y from their averages."),
		pair(AggRegrSYY, "regr_syy", "The sum of squared distances of y from its average."),
	)
}

// resolveArgExtreme resolves ARG_MIN and ARG_MAX.
func resolveArgExtreme(name string) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		if len(args) != 2 {
			return Signature{}, sqlerr.WrongParamCount(name)
		}
		sig := Signature{Args: make([]types.Type, 2), Result: args[0].Type(), Nullable: true}
		if t := args[1].Type(); t.Kind == types.KindEnum { // whose strings compare, not their numbers
			sig.Args[1] = StringType(t)
		}
		return sig, nil
	}
}

// resolveQuantile resolves QUANTILE_CONT, to whose second operand the binder has given its value, and QUANTILE_DISC.
func resolveQuantile(name string) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		if len(args) != 2 {
			return Signature{}, sqlerr.WrongParamCount(name)
		}
		t := args[0].Type()
		sig := Signature{Args: make([]types.Type, 2), Result: t, Nullable: true}
		if name == "quantile_disc" {
			return sig, nil
		}
		switch t.Kind {
		case types.KindDate, types.KindDatetime, types.KindTimestamp:
			sig.Result = types.DatetimeFsp(6)
		default:
			sig.Result = types.Double
		}
		sig.Args[0] = sig.Result
		return sig, nil
	}
}
