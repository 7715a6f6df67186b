// Package distribute says how several places answer one query: devices of a host today, and perhaps hosts one day.
//
// What enters is a physical plan and the number of places. What leaves is another plan with the same result: aggregates are computed in parts, and rows are
// stored where they have to move. It also says for each pipeline which places run it, over which rows. The package is a pure function of the plan and of its
// tables' row counts and zone maps. It knows no executor and no device.
//
// All places run the same pipelines in the same order. A place reads what it has stored itself, but for an [Exchange]. Once every pipeline that ends in its
// sink has run at every place, the sink's rows move. From then on each place reads what it was given. docs/internals/several-gpus.md has the rules and why they
// hold.
//
// A part of a sum may overflow where the whole sum does not, and a row may be computed that one place would never have reached. So an error that a distributed plan meets in a value is not the
// statement's: whoever runs it then runs the plan itself at one place, whose error or result counts.
//
// The files:
//
//   - distribute.go: what leaves. plan.go goes through the pipelines; aggregate.go, join.go and window.go decide about their operators, home.go says where rows are.
//   - slices.go: which rows of tables places scan. needs.go: which columns move. finish.go: the order of pipelines, and those that any place can run.
//   - tuning.go: numbers. copy.go: a plan that may be changed. explain.go: EXPLAIN.
package distribute
