// Package accumulate computes aggregates for numbered groups.
//
// NewPlan says which accumulators a list of aggregates needs. Each Accumulator is given vectors of arguments with their groups' numbers,
// merges what other workers have, and stores the values that an Output asks for. Which rows form a group is decided elsewhere
// (packages grouptable and groupby). Window functions use the same arithmetic.
//
// A new aggregate takes a file with its accumulator, and a case in argument.add (plan.go).
package accumulate
