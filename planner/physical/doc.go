// Package physical holds the plan that executors run: a DAG of pipelines.
//
// A pipeline takes rows from one source, passes them through transforms without storing them, and ends in a sink that
// either stores them (a pipeline breaker: hash table, groups, sorted rows) or hands them to the client. It is the unit
// of execution and of placement: exec/cpu runs it morsel by morsel on all cores, exec/gpu as one fused kernel.
//
// The semantics of each operator (NULLs, duplicates, order, overflow) stand here, once, in the comments of its type;
// exec/enginetest holds the cases that every backend has to pass.
//
// Expressions name columns by [expr.ColumnID]. An executor keeps a slot for each column that is alive in a pipeline.
//
// The files:
//
//   - pipeline.go, recursion.go, inequality.go: the plan and its operators. check.go: the rules that executors rely on.
//   - lower.go makes plans of logical ones; lowerjoin.go, lowermark.go, lowerset.go and lowerwindow.go are its parts. prune.go drops columns that nobody reads.
//   - arrays.go, sorted.go: when keys address arrays, and when the order of rows spares a table of groups.
//   - placement.go: devices. cut.go: the same plan with more pipelines.
//   - explain.go, tree.go: plans as text.
package physical
