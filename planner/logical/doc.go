// Package logical holds the relational algebra that a statement becomes: immutable nodes that print themselves.
//
// planner/bind makes the first tree from the parser's AST, planner/rules rewrites it, planner/physical turns the last
// one into pipelines. Columns are named by [expr.ColumnID], unique in a statement, so a node can be moved without
// touching the expressions in it.
package logical
