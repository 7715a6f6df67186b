// Package table holds tables as immutable versions: a schema and a list of row groups of encoded columns.
//
// A reader takes the current version from the catalog and keeps it for the length of its statement: nothing that it
// sees ever changes. A writer makes a new version that shares every row group which it did not touch, and swaps one
// pointer in the catalog.
package table
