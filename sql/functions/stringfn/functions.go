package stringfn

import (
	"slices"

	"github.com/radish-sql/radish/sql/expr"
)

const category = "String functions"

// Functions returns the functions of this chapter.
func Functions() []*expr.Function {
	return slices.Concat(concatFunctions(), substringFunctions(), lengthFunctions(), changeFunctions(), searchFunctions(), fillFunctions(),
		choosers(), formatNumbers(), encodeFunctions(), charsetFunctions(), regexpFunctions())
}

// function makes a function that may be computed once per distinct value of a dictionary.
func function(name, syntax, doc string, minArgs, maxArgs int, resolve func([]expr.Expr) (expr.Signature, error), eval expr.Kernel, aliases ...string) *expr.Function {
	return &expr.Function{Name: name, Aliases: aliases, Category: category, Syntax: syntax, Doc: doc,
		MinArgs: minArgs, MaxArgs: maxArgs, ByDictionary: true, Resolve: resolve, Eval: eval}
}
