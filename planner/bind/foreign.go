package bind

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Queries over two tables by which foreign keys are checked and followed: they find rows by the values of their columns, by
// joins of versions that need not stand in a catalog.

// Referring binds the query that finds the rows of v whose values in columns are those of the first columns of keys, which
// has no value twice. It gives the number of the row, and the further columns of keys.
func (b *Binder) Referring(v *table.Version, columns []int, keys *table.Version) (*logical.Query, error) {
	scan, cols := b.scan(v, v.Schema.Name, v.Schema.Database)
	id := b.rowID(scan)
	wanted, keyCols := b.scan(keys, keys.Schema.Name, "")
	on, err := equalColumns(cols, columns, keyCols)
	if err != nil {
		return nil, err
	}
	give := []*expr.Column{id}
	for _, c := range keyCols[len(columns):] {
		give = append(give, c.col)
	}
	return b.delivering(&logical.Join{Kind: logical.InnerJoin, Left: scan, Right: wanted, On: on}, give), nil
}

// Orphans binds the query that finds the rows of v from number first on whose values in columns no row of parent has in the
// columns at the ordinals referenced. Rows with a NULL there refer to none and are none.
func (b *Binder) Orphans(v *table.Version, columns []int, first int64, parent *table.Version, referenced []int) (*logical.Query, error) {
	scan, cols := b.scan(v, v.Schema.Name, v.Schema.Database)
	id := b.rowID(scan)
	var conditions []expr.Expr
	for _, o := range columns {
		if c := cols[o].col; c.Null {
			conditions = append(conditions, &expr.Not{Arg: &expr.IsNull{Arg: c}})
		}
	}
	if first > 0 {
		from, err := expr.NewCompare(expr.GE, id, &expr.Const{Value: types.IntValue(first)})
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, from)
	}
	there, parentCols := b.scan(parent, parent.Schema.Name, parent.Schema.Database)
	wanted := make([]scopeColumn, len(referenced))
	for i, o := range referenced {
		wanted[i] = parentCols[o]
	}
	on, err := equalColumns(cols, columns, wanted)
	if err != nil {
		return nil, err
	}
	join := &logical.Join{Kind: logical.AntiJoin, Left: logical.NewFilter(scan, conditions...), Right: there, On: on}
	return b.delivering(&logical.Limit{Input: join, Count: 1}, []*expr.Column{id}), nil
}

// equalColumns makes the conditions under which the columns at some ordinals are those of others, in their order.
func equalColumns(cols []scopeColumn, ordinals []int, others []scopeColumn) ([]expr.Expr, error) {
	on := make([]expr.Expr, len(ordinals))
	for i, o := range ordinals {
		var err error
		if on[i], err = expr.NewCompare(expr.EQ, cols[o].col, others[i].col); err != nil {
			return nil, err
		}
	}
	return on, nil
}

// delivering makes a query of the columns of a plan that are given.
func (b *Binder) delivering(n logical.Node, cols []*expr.Column) *logical.Query {
	q := &logical.Query{Root: logical.Keep(n, cols), Cols: cols, Alloc: &b.alloc}
	for _, c := range cols {
		q.Names = append(q.Names, c.Name)
	}
	return q
}
