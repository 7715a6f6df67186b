// Package stats estimates what a logical plan's nodes give: rows, distinct values, shares of NULLs; and proves what it
// can: bounds of values, unique keys, functional dependencies. planner/rules and planner/joinorder ask it what pays,
// planner/physical how to build.
//
// Estimates are asked for top down and memoised per node; a plan that nobody asks about costs nothing. Proofs (Bounds,
// Unique, Closure) never rest on estimates.
//
// stats.go has rows and distinct values, join.go those of joins, selectivity.go conditions, sample.go conditions on several columns, frequent.go the most common values of keys. The
// proofs are in bounds.go, magnitude.go (absolute values of numbers) and unique.go.
package stats
