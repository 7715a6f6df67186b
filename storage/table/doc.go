// Package table holds tables as immutable versions: a schema and a list of row groups of encoded columns.
//
// A reader takes the current version from the catalog and keeps it for the length of its statement: nothing that it
// sees ever changes. A writer makes a new version that shares every row group which it did not touch, and swaps one
// pointer in the catalog.
//
//	versions     version.go, lineage.go         row groups, and what versions share; own.go: copies of definitions; slice.go: runs of row groups; outline.go, stream.go: tables of files
//	new rows     builder.go, append.go, tail.go many and few; adopt.go, encoded.go: whole columns, take.go: of stored results; autoincrement.go; merge.go: rows of two transactions
//	old rows     update.go, delete.go           changes.go: those of few rows, apart from row groups
//	keys         keys.go, index.go, seek.go     unique keys and their hash indexes; foreign.go; withkeys.go: keys of rows that are there
//	statistics   stats.go, distinct.go          histogram.go, rowsample.go: bounds, counts and samples, for the planner
//	memory       memory.go, footprint.go        ledger.go: of several versions, scratch.go: of readers; reads.go: bytes that are read
package table
