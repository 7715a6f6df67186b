// Package query plans and runs queries. A bound query is optimized, lowered to pipelines, placed on a device and started; [Plan] and [Start] are the two
// halves. Statements of other families run theirs by [RunBound].
//
//	query.go          the way of a SELECT; few rows go directly (package direct)
//	sessionplans.go   statements that a session has bound to run directly again
//	sharedplans.go    plans that all sessions share (package plans)
//	explain.go        EXPLAIN
//	gpu.go            putting pipelines on the device that radish_device names
//	auto.go           choosing a device, and racing both
//	compileahead.go   compiling the kernels of prepared statements before they run
//	calibratesoon.go  measuring costs and uploading tables while nobody waits
package query
