// Package table holds tables as immutable versions: a schema and a list of row groups of encoded columns.
//
// A reader takes the current version from the catalog and keeps it for the length of its statement: nothing that it
// sees ever changes. A writer makes a new version that shares every row group which it did not touch, and swaps one
// pointer in the catalog.
package table

import (
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/encoding"
)

// RowGroupSize is the number of rows in a full row group.
const RowGroupSize = 1 << 17

// ColumnDef describes a column of a table.
type ColumnDef struct {
	Name     string
	Type     types.Type
	Nullable bool
	Default  *Default // nil: NULL if Nullable, else none
	Comment  string
}

// Default is a column's default: a value of the column's type, or an expression's text that is evaluated per insert
// (CURRENT_TIMESTAMP and expressions in parentheses).
type Default struct {
	Value types.Value
	Expr  string // SQL text; empty: Value
}

// Key is a primary key, a unique key or a plain index. Plain indexes are kept for SHOW and DESCRIBE only.
type Key struct {
	Name    string
	Columns []int // ordinals
	Primary bool
	Unique  bool // true for primary keys too
}

// Schema is a table's definition. It is immutable.
type Schema struct {
	Database string
	Name     string
	Columns  []ColumnDef
	Keys     []Key
	Comment  string
}

// Ordinal returns the position of the column called name (case-insensitive), or -1.
func (s *Schema) Ordinal(name string) int {
	for i := range s.Columns {
		if equalFold(s.Columns[i].Name, name) {
			return i
		}
	}
	return -1
}

// Version is an immutable state of a table.
type Version struct {
	Schema *Schema
	Groups []*RowGroup
	rows   int64
	stats  *statsCache
}

// RowGroup is up to RowGroupSize rows (more only in tables that were registered from outside), column by column.
type RowGroup struct {
	// First is the row number of the group's first row in the version, deleted rows counted.
	First   int64
	Rows    int               // deleted rows counted
	Columns []*encoding.Chunk // by ordinal
	// Deleted has a set bit for each deleted row; nil: none.
	Deleted column.Bitmap
}

// Rows returns the number of rows that are not deleted.
func (v *Version) Rows() int64 { return v.rows }
