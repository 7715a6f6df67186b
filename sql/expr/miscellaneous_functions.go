package expr

import (
	"slices"

	"github.com/radish-sql/radish/sql/types"
)

const miscCategory = "Miscellaneous functions"

// miscellaneousFunctions returns the functions of network addresses, of unique identifiers, and what fits nowhere else (Reference Manual 14.23).
func miscellaneousFunctions() []*Function {
	return slices.Concat(addressFunctions(), uuidFunctions(), sleepFunctions(), unitFunctions())
}

// unary makes a function of one operand that may be computed once per distinct value of a dictionary.
func unary(name, syntax, doc string, resolve func([]Expr) (Signature, error), eval Kernel) *Function {
	return &Function{Name: name, Category: miscCategory, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
		ByDictionary: true, Resolve: resolve, Eval: eval}
}

// test makes a function that says whether a string is something.
func test(name, syntax, doc string, is func(s string) bool) *Function {
	return unary(name, syntax, doc, resolveTextTo(types.Bool), textToInt(func(s string) int64 { return int64(b2i(is(s))) }))
}
