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
package bind
