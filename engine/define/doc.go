// Package define runs statements that make, change and drop tables (tables.go, alter.go), databases (tables.go) and views (views.go). What a table's definition
// becomes is package ddl's.
package define
