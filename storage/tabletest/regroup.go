// Package tabletest makes tables for tests.
package tabletest

import (
	"context"
	"slices"

	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Regroup returns a table with the same live rows in row groups of at most so many: a small table then has many of them.
func Regroup(v *table.Version, rows int) (*table.Version, error) {
	ordinals := make([]int, len(v.Schema.Columns))
	for i := range ordinals {
		ordinals[i] = i
	}
	numbers, err := v.RowsFrom(context.Background(), 0)
	if err != nil {
		return nil, err
	}
	b := table.NewBuilder(table.New(v.Schema))
	b.TrustKeys()
	for part := range slices.Chunk(numbers, rows) {
		data := make([]encoding.Data, len(ordinals))
		for i, c := range v.Gather(part, ordinals) {
			data[i].Type = c.Type
			data[i].Append(c, len(part), nil)
		}
		if err := b.AppendColumns(len(part), data); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}
