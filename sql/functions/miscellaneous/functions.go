// Package miscellaneous holds functions of network addresses and of unique identifiers, and what fits in no other chapter (Reference Manual 14.23).
package miscellaneous

import (
	"slices"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const category = "Miscellaneous functions"

// Functions returns the functions of this chapter.
func Functions() []*expr.Function {
	return slices.Concat(addressFunctions(), uuidFunctions(), sleepFunctions(), unitFunctions())
}

// unary makes a function of one operand that may be computed once per distinct value of a dictionary.
func unary(name, syntax, doc string, resolve func([]expr.Expr) (expr.Signature, error), eval expr.Kernel) *expr.Function {
	return &expr.Function{Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
		ByDictionary: true, Resolve: resolve, Eval: eval}
}

// test makes a function that says whether a string is something.
func test(name, syntax, doc string, is func(s string) bool) *expr.Function {
	return unary(name, syntax, doc, expr.ResolveStringsTo(types.Bool), expr.StringToIntKernel(func(s string) int64 { return int64(expr.BoolToInt(is(s))) }))
}
