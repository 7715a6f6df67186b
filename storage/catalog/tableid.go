package catalog

import (
	"strings"

	"github.com/radish-sql/radish/storage/table"
)

// TableID is a table's database and name in lower case.
type TableID struct{ Database, Name string }

// NewTableID returns the identity of the table that a database has under a name.
func NewTableID(database, name string) TableID {
	return TableID{strings.ToLower(database), strings.ToLower(name)}
}

// IDOf returns the identity of a table with a schema.
func IDOf(schema *table.Schema) TableID { return NewTableID(schema.Database, schema.Name) }
