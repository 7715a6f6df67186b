package files

import (
	"context"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// Read returns a new table of the rows of one file, or of all files that match a pattern, as far as the policy allows them. If columns is not nil only
// those are kept, in that order.
func Read(ctx context.Context, policy *fileaccess.Policy, database, name string, source Source, columns []string) (*table.Version, error) {
	s, err := Open(ctx, policy, source)
	if err != nil {
		return nil, err
	}
	for {
		var ordinals []int
		if columns != nil {
			if ordinals, err = find(s.Columns, columns, s.paths[0]); err != nil {
				return nil, err
			}
		}
		v, err := s.Read(ctx, database, name, ordinals, -1)
		if err == nil {
			return v, nil
		}
		if s, err = s.Retype(ctx, err); err != nil {
			return nil, err
		}
	}
}

// find returns the indices of columns by name.
func find(defs []table.ColumnDef, names []string, path string) ([]int, error) {
	s := table.Schema{Columns: defs}
	out := make([]int, len(names))
	for i, n := range names {
		if out[i] = s.Ordinal(n); out[i] < 0 {
			var all []string
			for _, d := range defs {
				all = append(all, d.Name)
			}
			return nil, sqlerr.UnknownColumn(n, "file "+path, sqlerr.Suggest(n, all))
		}
	}
	return out, nil
}
