package sort

import (
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Shape lists what orders the rows of a Sort, and the stored column of each. These are the keys, then what else is kept, so that
// rows which agree in all keys come in the same order in two runs.
func Shape(g *kernel.Pipelines, s *physical.Sort) (cols []Column, at []int) {
	rows := g.Sinks[s]
	at = stored(s)
	for i, n := range at {
		cols = append(cols, ColumnOf(&rows.Cols[n].Form, i < len(s.Keys) && s.Keys[i].Desc))
	}
	return cols, at
}

// stored lists the numbers, among the stored columns, of those that order the rows of a Sort.
func stored(s *physical.Sort) (at []int) {
	keys := map[expr.ColumnID]bool{}
	for i, key := range s.Keys {
		if c, ok := key.Expr.(*expr.Column); ok {
			keys[c.ID] = true
		}
		at = append(at, len(s.Cols)+i)
	}
	for i, c := range s.Cols {
		if !keys[c.ID] {
			at = append(at, i)
		}
	}
	return at
}

// IsHere says whether the rows of a Sort are ordered on the device, since what orders them is stored there.
func IsHere(g *kernel.Pipelines, s *physical.Sort) bool {
	rows := g.Sinks[s]
	return rows != nil && !g.IsHost(s) && len(rows.Cols) >= len(s.Cols)+len(s.Keys)
}

// Outline decides how the rows of a pipeline are stored that a Sort orders: what is kept, then the keys.
func Outline(o *kernel.Outline, s *physical.Sort) error {
	values, ids := Values(s)
	return o.StoredAll(s, values, ids)
}

// Values are what is stored of a row, and the columns that they are.
func Values(s *physical.Sort) (values []expr.Expr, ids []expr.ColumnID) {
	for _, c := range s.Cols {
		values, ids = append(values, c), append(ids, c.ID)
	}
	for _, key := range s.Keys {
		values, ids = append(values, key.Expr), append(ids, 0)
	}
	return values, ids
}
