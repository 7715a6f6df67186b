// Package engine runs statements: it is what stands between the ways in (package radish, its driver, the shell) and the
// layers below.
//
// An [Engine] (engine.go) is one database: a catalog, a memory budget and the files that queries have named. A [Session] is one
// connection to it: a current database, variables and warnings. Session.Execute takes one parsed statement through
// binding, planning and execution and returns a [Result], which is read batch by batch. dispatch.go sends each kind of
// statement to its function:
//
//	queries             query.go, explain.go, into.go, intofolder.go; prepared ones: prepare.go, check.go; plans that are kept: sessionplans.go, sharedplans.go
//	rows that change    dml.go, writing.go, insertrows.go, adopt.go, changes.go
//	definitions         ddl.go, alter.go, viewddl.go, temporary.go; what tables they define: package ddl
//	files               loaddata.go, importinto.go, textrules.go, fileuse.go
//	sessions            session.go, sessionvalues.go, processes.go, transaction.go, tablelocks.go
//	variables           variables.go has the list; toolvariables.go, set.go, setvariables.go, uservariables.go, unset.go, assigning.go, collation.go
//	what there is       show.go, infosource.go, catalog.go
//	the GPU             gpu.go, device.go, auto.go, calibrate.go, compileahead.go, preparing.go
//	Go programs         access.go, extend.go, result.go, call.go; errors' positions: position.go
//
// Packages below it hold what does not depend on sessions. docs/internals/architecture.md lists them, and says why the rest is one package.
package engine
