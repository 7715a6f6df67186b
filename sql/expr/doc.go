// Package expr holds typed SQL expressions, the function registry and the evaluator over vectors.
//
// planner/bind makes these trees from the parser's AST. Every name is resolved to a [ColumnID], every operand is cast to the
// type in which MySQL compares or computes. So after binding nobody needs coercion rules. planner/rules rewrites
// them. exec/cpu compiles them with [Compile] and runs them. Constant folding runs the same code over one row.
//
// Expressions are immutable: a rewrite builds new nodes and shares what did not change.
//
// The tree:
//
//   - expr.go, node.go: the nodes; build.go makes calls of them, walk.go visits, equal.go, hash.go and print.go compare and print them.
//   - registry.go, lookup.go: functions, and those of a name; otherengines.go has hints for names of other engines, user.go the functions of a program.
//   - aggregates.go, analysis.go, windows.go: names and types of MySQL's aggregates, of those that analysts know, and of window functions.
//   - collation.go, collationfunctions.go: which collation an expression has, and the functions that know one.
//   - fold.go: constants; volatile.go, zeros.go, zeroscale.go and narrow.go: what follows from an expression for those who rewrite it; hidden.go: digits
//     that quotients have and do not show.
//
// The evaluator:
//
//   - compile.go, program.go: from trees to programs, whose nodes are in eval_call.go, eval_case.go, eval_cast.go, eval_compare.go, eval_in.go, eval_json.go and eval_logic.go.
//   - select.go, selectfloat.go: comparisons straight into selections.
//   - arithmetic.go, arithmetickernels.go, control.go, like.go, likematcher.go: operators. Other functions are in sql/functions.
//   - plaincast.go, caststring.go: casts that need no warning, and those to strings.
//   - operands.go, stringkernel.go: what kernels read and are made of; arena.go, heldstrings.go, memo.go: the memory of strings, and what a call computes once.
//   - codegen.go: what those who write code of expressions have to know.
package expr
