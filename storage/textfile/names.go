package textfile

import (
	"fmt"

	"github.com/radish-sql/radish/storage/table"
)

// DefaultName is the name of a column that has none, by its position from 0.
func DefaultName(column int) string { return fmt.Sprintf("column%d", column+1) }

// NameColumns gives columns names that have none, and makes all names distinct.
func NameColumns(names []string) {
	for i, name := range names {
		if name == "" {
			names[i] = DefaultName(i)
		}
	}
	table.DistinctNames(names)
}
