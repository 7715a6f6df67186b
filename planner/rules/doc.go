// Package rules rewrites logical plans: it takes the tree that planner/bind made of a statement and gives the tree that
// planner/physical turns into pipelines. It removes every subquery from expressions, moves predicates to where they cost least,
// orders joins, and drops whatever no one needs.
//
// The rules stand in one ordered list, [List]. Each is a function over a whole query, has a file of its own that says
// why it is legal and which SQL would break if it were not, and can be switched off by name. A statement passes
// through [Optimize] once.
package rules
