// Package infoschema makes the tables of information_schema: those that MySQL has, for its tools, and radish_*, which tell what Radish itself does.
//
// A table is made when a statement names it, from a snapshot of the catalog and from what a [Source] knows beside it: sessions, variables, memory and devices. SHOW
// takes its rows from the same functions, so both tell the same.
package infoschema
