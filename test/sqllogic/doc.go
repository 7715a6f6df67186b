// Package sqllogic runs sqllogictest scripts: text files of statements and queries, each with the
// outcome that the engine under test has to show.
//
// It stands beside the engine, not in it. A script is parsed into records (record.go), and every record is
// put to an Engine (engine.go adapts any database/sql connection). Values are brought into the
// script's textual form (format.go) and compared. A Report counts what passed, what was refused with
// an error, and what was answered wrongly (run.go).
//
// The format is that of https://www.sqlite.org/sqllogictest/doc/trunk/about.wiki. Conditions (skipif, onlyif)
// are judged as the engine named "mysql". A query's label is read and otherwise unused: equal labels promise
// equal results, and every query's own expectation already says more. Two additions serve this repository's
// own scripts in testdata: `query error` beside `statement error`, and a text after `error` which the
// error's message has to contain.
package sqllogic
