// Package logical holds the relational algebra that a statement becomes: immutable nodes that print themselves.
//
// planner/bind makes the first tree from the parser's AST, planner/rules rewrites it, planner/physical turns the last
// one into pipelines. Columns are named by [expr.ColumnID], unique in a statement, so a node can be moved without
// touching the expressions in it.
//
// The files:
//
//   - node.go: the operators; window.go, recursive.go and unnest.go have their own. build.go makes nodes, children.go, walk.go and copy.go take trees apart.
//   - schema.go, colset.go, free.go: the columns of a node, sets of columns, and which a tree leaves free.
//   - format.go, fingerprint.go: trees as text, and as a number that equal statements share.
//   - check.go, collation.go: what would be a bug in a plan. zeroscale.go: digits of zeros that user variables take.
package logical
