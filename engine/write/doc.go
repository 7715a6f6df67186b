// Package write stores rows: what happens to them on their way into a table, and what a statement that changes some tables does to others.
//
// A statement's bound form enters; new versions of tables leave, through [Statement.Publish]. [Rules] give out AUTO_INCREMENT values, compute columns and test CHECK constraints.
// [Integrity] collects the versions that a statement makes, follows foreign keys from them to other tables, and checks all references at the end.
// [Upsert], [UpdateIgnore] and [Multi] are the statements that do more than append, change or delete rows of one table.
package write
