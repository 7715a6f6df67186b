// Package codegen turns typed expressions into CUDA C++. A caller writes a kernel into a Text: statements with Line and Open, expressions with Emit. What
// Emit writes computes what the evaluator of sql/expr computes.
//
//	Text       text.go             statements, and the parameters that they read; params.go: those that a launch does not pass
//	Scope      scope.go            which values are known at a position of the text
//	Value      value.go            the C++ that reads a value, and how the value lies in registers and memory; forms.go: what is known of it before any text is written
//	Ranges     range.go            proven bounds of values: they make arithmetic narrow and hash tables arrays
//	Emit       emit.go             an expression; compute.go chooses what writes it, functions.go lists the functions
//	           arith.go, math.go, cast.go, compare.go, case.go, string.go, temporal.go    the expressions, by kind
//	lookups    lookup.go           expressions over one dictionary column become tables, which package lookup makes and keeps between queries
//
// A kernel's text names no literal and no address: they are parameters (Param), so queries that differ in them alone share a compiled kernel. The package
// knows nothing of devices: whoever launches a kernel resolves its parameters.
package codegen
