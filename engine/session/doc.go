// Package session holds what statements run in: a [Session] with its variables, transaction, temporary tables and warnings, and the [Statement] that is being run.
// It binds expressions and queries but plans none: whoever makes a session says how bound queries are run. The families of statements (query, change, define,
// fileio, assign, show) lie above it.
//
//	session.go      the session, and what names of tables mean in it
//	statement.go    the statement: its memory, and what it holds
//	writing.go      what binding and writing ask of it, and running its queries batch by batch
//	evaluate.go     the value of an expression
//	catalog.go      the catalog as a statement sees it, and what it has asked of it
//	given.go        names in FROM that are no tables: given tables, table functions, files that Check has seen
//	fileuse.go      the files that a statement reads
//	infosource.go   what information_schema tells of the session, the database and the GPUs
//	transaction.go  transactions, savepoints, and what a statement means for them
//	temporary.go    TEMPORARY tables
//	tablelocks.go   waiting for LOCK TABLES of others
//	values.go       user variables, and texts that come again
//	hints.go        variables that a SELECT's hints set
//	facts.go        what variables tell of the session
//	access.go       what ways in need besides statements
package session
