// Package results brings rows that a query has stored on a device to the host.
//
//	Rows            rows.go       those of a sink
//	Rows.Download   download.go   as batches of values; those of small results by one copy
//	Rows.Encode     encode.go     as encoded columns of a table, which the device keeps, too
//
// Rows belong to a query: its sinks own their memory, and they are gone when it is closed.
package results
