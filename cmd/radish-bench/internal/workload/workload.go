// Package workload is the form in which a benchmark lends its tables and queries to another one.
package workload

import (
	"context"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
)

// Question is a statement that reads much and gives few rows.
type Question struct {
	Name string
	What string // it is about, in words
	SQL  string
}

// A workload is some queries over tables of some size.
type Workload struct {
	Tables  func(ctx context.Context, db *database.DB, size float64) error // makes them, or makes them anew
	Queries func(size float64) []Question
}
