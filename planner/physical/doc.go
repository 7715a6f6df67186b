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
package physical
