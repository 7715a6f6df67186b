package codegen

import (
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// lazyEmitter writes a function that evaluates its operands itself.
type lazyEmitter func(t *Text, c *expr.Call, sc *Scope) (Value, error)

// function is how kernels compute a function of sql/expr's registry.
type function struct {
	strict strictEmitter
	lazy   lazyEmitter
	cheap  func(*expr.Call) bool // it raises nothing and costs a few instructions; nil: it may
	// reads are the operands that a strict emitter reads from the call where they are constants: keywords and patterns.
	reads []int
	limit string // what the CPU alone computes, for docs/reference/gpu.md
}

// but says what the CPU alone computes.
func (f function) but(limit string) function {
	f.limit = limit
	return f
}

func strict(e strictEmitter) function                   { return function{strict: e} }
func quick(e strictEmitter) function                    { return function{strict: e, cheap: always} }
func reading(e strictEmitter, operands ...int) function { return function{strict: e, reads: operands} }
func lazy(e lazyEmitter) function                       { return function{lazy: e, cheap: always} }

// functions are the functions that kernels compute over any operands, by their names in the registry. docs/reference/gpu.md's table follows
// from it. Over one dictionary column and constants every function that is not volatile can be had, see lookUp.
var functions map[string]function

func init() {
	exactCheap := func(e strictEmitter) function { return function{strict: e, cheap: harmlessArithmetic} }
	functions = map[string]function{
		"add": exactCheap(emitAdditive(false)), "sub": exactCheap(emitAdditive(true)), "mul": exactCheap(emitMul),
		"div": strict(emitDiv), "div_cut": strict(emitDiv), "intdiv": strict(emitIntDiv).but("DIV of doubles"), "mod": strict(emitMod), "neg": strict(emitNeg),

		"bitand": quick(emitBits("%s & %s")), "bitor": quick(emitBits("%s | %s")), "bitxor": quick(emitBits("%s ^ %s")),
		"bitnot": quick(emitBits("~%s")), "bit_count": quick(emitBits("popcount(%s)")),
		"shl": quick(emitShift("<<")), "shr": quick(emitShift(">>")), "xor": quick(emitXor),

		"coalesce": lazy(emitCoalesce), "ifnull": lazy(emitCoalesce), "nullif": lazy(emitNullIf), "if": lazy(emitIf), "isnull": lazy(emitIsNull),
		"interval": {lazy: emitInterval},
		"greatest": {strict: emitExtreme(">"), cheap: ofNumbers}, "least": {strict: emitExtreme("<"), cheap: ofNumbers},

		"abs": strict(emitAbs), "sign": quick(emitSign), "ceil": strict(emitWhole("ceil", 1)), "floor": strict(emitWhole("floor", -1)),
		"round": strict(emitRound(false)), "truncate": strict(emitRound(true)),
		"sqrt": strict(emitPartial("!(%s < 0)", "math_sqrt(%s)", false)), "exp": strict(emitMath("math_exp(%s)")),
		"ln": strict(emitPartial("!(%s <= 0)", "math_log(%s)", true)), "log2": strict(emitPartial("!(%s <= 0)", "math_log2(%s)", true)),
		"log10": strict(emitPartial("!(%s <= 0)", "math_log10(%s)", true)), "log": strict(emitLog), "pow": strict(emitMath("math_pow(%s, %s)")),
		"sin": strict(emitMath("math_sin(%s)")), "cos": strict(emitMath("math_cos(%s)")), "tan": strict(emitMath("math_tan(%s)")),
		"cot": strict(emitMath("1 / math_tan(%s)")), "atan": strict(emitAtan),
		"asin":    strict(emitPartial("!(math_fabs(%s) > 1)", "math_asin(%s)", false)),
		"acos":    strict(emitPartial("!(math_fabs(%s) > 1)", "math_acos(%s)", false)),
		"degrees": strict(emitMath("%s * 57.29577951308232")), "radians": strict(emitMath("%s * 0.017453292519943295")),

		"year": quick(emitDays("year_of(%s)")), "month": quick(emitDays("month_of(%s)")), "dayofmonth": quick(emitDays("day_of(%s)")),
		"quarter": quick(emitDays("quarter_of(%s)")), "dayofyear": quick(emitDays("day_of_year(%s)")),
		"dayofweek": quick(emitDays("day_of_week(%s)")), "weekday": quick(emitDays("weekday_of(%s)")),
		"last_day": strict(emitDays("last_day(%s)")), "date": quick(emitDays("%s")), "to_days": quick(emitDays("%s - min_date")),
		"week": strict(emitWeek("week")), "yearweek": strict(emitWeek("year_week")), "weekofyear": strict(emitDays("week(%s, 3)")),
		"hour": quick(emitClock("%s / micros_per_hour")), "minute": quick(emitClock("%s / micros_per_minute %% 60")),
		"second": quick(emitClock("%s / micros_per_second %% 60")), "microsecond": quick(emitClock("%s %% micros_per_second")),
		"extract": reading(emitExtract, 0).but("EXTRACT from text"), "date_add": reading(emitDateAdd(false), 1, 2).but(limitInterval), "adddate": reading(emitDateAdd(false), 1, 2).but(limitInterval),
		"date_sub": reading(emitDateAdd(true), 1, 2).but(limitInterval), "subdate": reading(emitDateAdd(true), 1, 2).but(limitInterval), "timestampadd": reading(emitTimestampAdd, 0, 1).but(limitInterval),
		"datediff": quick(emitDateDiff), "timestampdiff": reading(emitTimestampDiff, 0), "to_seconds": strict(emitToSeconds),
		"time": strict(emitSame), "timestamp": strict(emitTimestamp), "time_to_sec": strict(emitSeconds),
		"from_days": strict(emitMaybe("from_days")), "makedate": strict(emitMaybe("make_date")),

		"like": reading(emitLike, 1, 2).but("LIKE with a pattern that is not constant"), "substring": strict(emitSubstring), "left": strict(emitString("substring<{bytes}>(%s, 1, %s)")),
		"right": strict(emitString("right_part<{bytes}>(%s, %s)")), "length": quick(emitString("%s.size")),
		"char_length": strict(emitString("length_of<{bytes}>(%s)")), "locate": strict(emitLocate),
		"instr": strict(emitString("locate<{bytes}>(%s, %s, 1)")), "ascii": strict(emitString("(%[1]s.size == 0 ? 0 : %[1]s.data[0])")),
		"bit_length": quick(emitString("8 * %s.size")), "strcmp": strict(emitString("compare_views(%s, %s)")),
		"substring_index": strict(emitString("substring_index(%s, %s, %s)")), "elt": {lazy: emitElt}, "field": {lazy: emitField},
		"concat": strict(emitConcat), "concat_ws": {lazy: emitConcatWS},
		"trim": reading(emitTrim, 2), "ltrim": strict(emitTrim), "rtrim": strict(emitTrim),
	}
}

// limitInterval is what DATE_ADD and its like leave to the CPU.
const limitInterval = "text plus an interval; an interval that is not constant, if it is compound or no integer"

// ofNumbers says whether a call's result is a number.
func ofNumbers(c *expr.Call) bool { return !c.Typ.IsString() }

func emitSeconds(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	return t.Assign(c.Typ, "%s / %d", a[0].Text, types.MicrosPerSecond), nil
}
