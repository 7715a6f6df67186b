// Package arrow18 joins Radish, whose own interface has the types of Arrow's Go module v17, with programs that use v18
// (github.com/apache/arrow-go/v18), such as those of ADBC and duckdb-go.
//
//	out, err := arrow18.Query(ctx, db, "SELECT kind, COUNT(*) FROM events GROUP BY kind") // an array.RecordReader of v18
//	err = arrow18.Register(db, "events", reader)                                          // of one of v18
//
// [FromV17] and [ToV17] convert readers for everything else, such as table functions that return Arrow records.
//
// # Memory
//
// Records are converted by wrapping their buffers. No values are copied, but those of decimal32 and decimal64 columns:
// v17 has no such types, so they become decimal128. Each wrapped buffer holds a reference to the buffer that it wraps
// and gives it back when it is released itself. The rules of Arrow stay as they are: who retains a record
// releases it, whatever version made it.
//
// It is a module of its own, so that programs which use v17 do not need v18.
package arrow18
