package expr

import "slices"

// stringCategory heads the string functions in the docs.
const stringCategory = "String functions"

// stringFunctions returns the string functions (Reference Manual 14.8) but LIKE, which is an operator of package expr.
func stringFunctions() []*Function {
	return slices.Concat(concatFunctions(), substringFunctions(), lengthFunctions(), changeFunctions(), searchFunctions(), fillFunctions(),
		choosers(), formatNumbers(), encodeFunctions(), charsetFunctions(), regexpFunctions())
}

// function makes a function that may be computed once per distinct value of a dictionary.
func function(name, syntax, doc string, minArgs, maxArgs int, resolve func([]Expr) (Signature, error), eval Kernel, aliases ...string) *Function {
	return &Function{Name: name, Aliases: aliases, Category: stringCategory, Syntax: syntax, Doc: doc,
		MinArgs: minArgs, MaxArgs: maxArgs, ByDictionary: true, Resolve: resolve, Eval: eval}
}
