package expr

// What the tests of package expr_test see of this package.

// Compiles says whether calls of a function become nodes of their own.
func Compiles(f *Function) bool { return f.compile != nil }

// OtherFunctions are the functions of other engines that users are told what to write for.
var OtherFunctions = otherEngines
