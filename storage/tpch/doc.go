// Package tpch makes the data of the TPC-H benchmark (TPC Benchmark H, standard specification revision 3, clause 4.2),
// value for value what the benchmark's program dbgen makes, at any scale factor from 0.01. Columns come in chunks as large
// as a table's row groups. CALL tpch_generate and the benchmarks get their tables here; no file is read, and nothing
// here knows of the tables that the chunks go into. A program has CALL tpch_generate if it imports this package, which registers itself with
// storage/generated (register.go).
//
// Generate is the one way in. It lays out the work (generate.go), and workers make chunks, each from its number alone.
// Every column has a stream of random numbers that can be entered at any row (random.go). So no chunk waits for
// another, and one worker makes the same data as many. Values come from lists of the specification (dists.go) and from
// a pool of text (text.go); the tables are in geography.go (region, nation), party.go (supplier, customer), part.go
// (part, partsupp), orders.go and lineitem.go, their columns in tables.go.
//
// Queries are the benchmark's 22 queries in MySQL's dialect (queries.go, queries/), and LoadAnswer, Answer.Compare and
// Query.Digest hold a result against what is published (answers.go).
//
// Two editions of the data exist, which differ in comments and addresses (editions.go).
package tpch
