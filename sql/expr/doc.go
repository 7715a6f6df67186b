// Package expr holds typed SQL expressions, the function registry and the evaluator over vectors.
//
// planner/bind makes these trees from the parser's AST: every name is resolved to a [ColumnID], every operand is cast to the
// type in which MySQL compares or computes, so that after binding nobody needs coercion rules. planner/rules rewrites
// them; exec/cpu compiles them with [Compile] and runs them; constant folding runs the same code over one row.
//
// Expressions are immutable: a rewrite builds new nodes and shares what did not change.
package expr
