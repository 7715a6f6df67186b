// Package clients tests that the libraries which Go programs use over database/sql work with Radish's driver: sqlx, code that
// sqlc generates, GORM and ent with their MySQL dialects, and goose. Each test does what a person who analyses data does: makes
// tables, loads rows, asks for groups, joins and pages.
//
// It is a module of its own, so that Radish does not depend on them. `make test-clients` runs it.
package clients
