package files

import (
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// arrange finds the columns that several files make. fields are the names of each file's columns; a file without any has no rows. at[i] has for each of the
// columns its index in file i, -1 where that lacks it.
func arrange(m Match, paths []string, fields [][]string) (names []string, at [][]int, err error) {
	names = fields[0]
	index := map[string]int{}
	for i, n := range names {
		index[strings.ToLower(n)] = i
	}
	if m == Union {
		for _, list := range fields[1:] {
			for _, n := range list {
				if _, ok := index[strings.ToLower(n)]; !ok {
					index[strings.ToLower(n)] = len(names)
					names = append(names[:len(names):len(names)], n)
				}
			}
		}
	}
	for i, list := range fields {
		indices := make([]int, len(names))
		if m == ByPosition && len(list) > 0 {
			if len(list) != len(names) {
				return nil, nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "'%s' has %d columns, and '%s' has %d", paths[i], len(list), paths[0], len(names))
			}
			for c := range indices {
				indices[c] = c
			}
			at = append(at, indices)
			continue
		}
		for c := range indices {
			indices[c] = -1
		}
		for c, n := range list {
			column, ok := index[strings.ToLower(n)]
			if !ok {
				return nil, nil, differ("'%s' has a column '%s', which '%s' lacks", paths[i], n, paths[0])
			}
			indices[column] = c
		}
		for c, ordinal := range indices {
			if ordinal < 0 && m == ByName && len(list) > 0 {
				return nil, nil, differ("'%s' lacks the column '%s', which '%s' has", paths[i], names[c], paths[0])
			}
		}
		at = append(at, indices)
	}
	return names, at, nil
}

func differ(format string, args ...any) error {
	return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, format, args...).
		WithHint("`read_csv('...', union_by_name = true)`, or read_parquet and so on, gives NULL where a file lacks a column; by_position = true matches columns by position")
}
