// Package bind turns the parser's AST into typed logical plans.
//
// A statement comes here from sql/parse. The binder resolves names against a catalog snapshot and the scopes of the
// query, types every expression with the rules of sql/types and the functions of sql/functions, and builds planner/logical
// nodes. What leaves it needs no further name, type or coercion rule. SELECT goes through [Binder.Query]; INSERT,
// UPDATE and DELETE through their own methods (dml.go), which bind a query that delivers the rows to write.
//
// # Scopes
//
// A [scope] is the columns that a clause can see, with a parent for the query around it. A name that only an outer
// scope knows becomes a plain column reference that is free in the inner plan: that is all there is to correlation here;
// planner/rules removes it.
//
// # Files
//
//   - bind.go, scope.go, names.go: the binder, what it asks the catalog, scopes, and what a name without a table means.
//   - select.go, from.go, setop.go, cte.go, recursive.go, subquery.go, jsontable.go: the parts of a query. hint.go: its hints.
//   - group.go, rollup.go, window.go, frame.go: groups and windows. analysts.go: what analysts write.
//   - expr.go, func.go, row.go, collation.go, hidden.go: expressions, calls, expressions over given columns, collation keys, hidden digits of quotients.
//   - dml.go, multi.go, upsert.go, insertedrow.go: INSERT, UPDATE and DELETE. computed.go, check.go, foreign.go: columns and conditions of what is written.
//   - updatable.go, viewtext.go: views that are written through, and the text that they keep. coltype.go, like.go: types of columns, LIKE of SHOW.
package bind
