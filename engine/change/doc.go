// Package change runs statements that change rows: INSERT, REPLACE, UPDATE, DELETE and TRUNCATE. What happens to a row on its way into a table is package write's.
//
//	change.go      the statements, and [Fill], which CREATE TABLE ... AS and ALTER TABLE use too
//	insertrows.go  the rows of a long INSERT ... VALUES
//	insertfile.go  what is wrong with rows that an INSERT takes from a file
//	adopt.go       tables that share the columns of the table they are filled from
package change
