// Package catalog knows the databases, their tables and their views.
//
// A statement takes one [Snapshot] when it starts and sees nothing else: names, definitions and rows are those of one
// moment. A write makes a new snapshot, which shares everything that did not change, and swaps one pointer. Readers take
// no lock and are never blocked; writers wait for each other.
//
// Names of databases, tables and views are found without regard to case and keep the spelling they were created with.
package catalog
