package textfile

import (
	"fmt"
	"strings"
)

// DefaultName is the name of a column that has none, by its position from 0.
func DefaultName(column int) string { return fmt.Sprintf("column%d", column+1) }

// NameColumns makes the names that a file gives its columns distinct, in any case of letters, as DuckDB does.
func NameColumns(names []string) {
	taken := map[string]bool{}
	for i, name := range names {
		if name == "" {
			name = DefaultName(i)
		}
		unique := name
		for n := 1; taken[strings.ToLower(unique)]; n++ {
			unique = fmt.Sprintf("%s_%d", name, n)
		}
		taken[strings.ToLower(unique)] = true
		names[i] = unique
	}
}
