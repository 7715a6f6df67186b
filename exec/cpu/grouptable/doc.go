// Package grouptable finds the groups of rows: key columns go in, a vector at a time, and a group number comes out for each row.
//
// NewLayout chooses the form of the keys by what the planner knows and the first keys that come. Table.Find looks vectors of keys up, Absorb
// takes in another table's groups, KeyColumn gives keys back. Partition cuts a table's groups by hash, so that workers can merge tables in
// parallel.
package grouptable
