package change

import (
	"slices"

	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/table"
)

// adopt fills an empty table from a query that gives all rows of another table or file. It does not run the query. The tables share the encoded columns, as
// they are or assigned to columns of other types. ok is false if the query is another, or if the assignment would change a value, refuse one or warn of one.
func adopt(st *session.Statement, v *table.Version, q *logical.Query) (next *table.Version, rows int64, ok bool, err error) {
	if v.Rows() > 0 {
		return nil, 0, false, nil
	}
	var scan *logical.Scan
	ordinals := make([]int, len(q.Cols))
	for i, c := range q.Cols {
		from, ordinal, ok := scanned(q.Root, c, true)
		if !ok || scan != nil && from != scan {
			return nil, 0, false, nil
		}
		scan, ordinals[i] = from, ordinal
	}
	if scan == nil || scan.Table.Rows() <= write.BulkRows {
		return nil, 0, false, nil
	}
	if u := st.UseOf(scan.Table); u != nil {
		if _, err := st.Read(u, slices.Clone(ordinals)); err != nil {
			return nil, 0, false, err
		}
	}
	b := table.NewBuilder(v)
	if !b.Adopt(scan.Table, ordinals) {
		return nil, 0, false, nil
	}
	next, err = b.Finish()
	return next, scan.Table.Rows(), true, err
}

// scanned returns the scan of a whole table below projections of columns, and the table's column that c is. The topmost
// projection may assign it to a column of a table if assigned says so.
func scanned(n logical.Node, c *expr.Column, assigned bool) (scan *logical.Scan, ordinal int, ok bool) {
	switch n := n.(type) {
	case *logical.Scan:
		for i, have := range n.Cols {
			if have.ID == c.ID && len(n.Filter) == 0 && n.Ordinals[i] != logical.RowIDOrdinal {
				return n, n.Ordinals[i], true
			}
		}
	case *logical.Project:
		for _, item := range n.Items {
			if item.Col.ID != c.ID {
				continue
			}
			e := item.Expr
			if cast, is := e.(*expr.Cast); is && assigned && cast.Column != "" {
				e = cast.Arg
			}
			if from, is := e.(*expr.Column); is {
				return scanned(n.Input, from, false)
			}
		}
	}
	return nil, 0, false
}
