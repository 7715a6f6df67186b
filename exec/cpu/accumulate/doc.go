// Package accumulate computes aggregates for numbered groups.
//
// NewPlan says which accumulators a list of aggregates needs. Each Accumulator is given vectors of arguments with their groups' numbers,
// merges what other workers have, and stores the values that an Output asks for. Which rows form a group is decided elsewhere
// (packages grouptable and groupby). Window functions use the same arithmetic.
//
// A new aggregate takes a file with its accumulator, and a case in argument.add (plan.go).
//
// The files:
//
//   - accumulator.go, plan.go, output.go: the contract, which accumulators aggregates need, and what is made of them.
//   - count.go, exactsum.go, doublesum.go, extremes.go, extremestrings.go, bitwise.go, moments.go, regression.go, argextreme.go, approxdistinct.go: one state for each group.
//   - whole.go: accumulators that keep entries of groups: distinct.go and groupconcat.go; heldrows.go for those that need the rows of a group together, as ranked.go does.
//   - fewgroups.go: rows of few groups, which add to copies.
package accumulate
