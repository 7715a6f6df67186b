// Package engine runs statements: it is what stands between the ways in (package radish, its driver, the shell) and the
// layers below.
//
// An [Engine] (engine.go) is one database. A [Session] (execute.go) is one connection to it. Session.Execute takes one parsed statement through binding, planning
// and execution and returns a result.Result, which is read batch by batch. dispatch.go sends each kind of statement to its function, most of which lie in packages
// below:
//
//	query     queries, their plans and devices
//	change    rows that change
//	define    definitions of tables, views and databases
//	fileio    LOAD DATA, IMPORT INTO, INTO OUTFILE
//	assign    values of variables
//	show      SHOW
//
// Here are those that few others are like: transactions.go, prepare.go (PREPARE and EXECUTE), call.go, calibrate.go (CALL radish_calibrate) and kill.go. check.go finds errors in
// statements without running them; position.go finds the positions of errors in a statement's text.
//
// Tests that run statements lie here, whichever package answers them.
//
// docs/internals/architecture.md lists all packages below this one and says how they were cut.
package engine
