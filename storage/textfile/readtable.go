package textfile

import (
	"context"
	"errors"

	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Add takes the rows of a block into a table. Its error ends reading.
type Add func(rows int, cols []encoding.Data) error

// errEnough ends reading without being a failure.
var errEnough = errors.New("enough rows")

// Chosen returns the definition of a table of some of a text's columns; without ordinals it has all of them.
func Chosen(database, name string, columns []table.ColumnDef, ordinals []int) (*table.Schema, []int) {
	if ordinals == nil {
		for i := range columns {
			ordinals = append(ordinals, i)
		}
	}
	schema := &table.Schema{Database: database, Name: name}
	for _, o := range ordinals {
		schema.Columns = append(schema.Columns, columns[o])
	}
	return schema, ordinals
}

// ReadTable makes a table of a schema. read gives rows to add, block by block. The table ends with the block that has row number limit; all blocks are read
// if limit is negative.
func ReadTable(ctx context.Context, schema *table.Schema, limit int64, read func(ctx context.Context, add Add) error) (*table.Version, error) {
	ctx = Metered(ctx)
	b := table.NewBuilder(table.New(schema)).Meter(ctx)
	rows := int64(0)
	err := read(ctx, func(n int, cols []encoding.Data) error {
		if rows += int64(n); n > 0 && len(schema.Columns) > 0 {
			if err := b.AppendData(n, cols); err != nil {
				return err
			}
		}
		if limit >= 0 && rows >= limit {
			return errEnough
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, errEnough):
		return nil, err
	case len(schema.Columns) == 0:
		return table.Blank(schema, rows), nil
	}
	return b.Finish()
}
