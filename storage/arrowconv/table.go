package arrowconv

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// shareRows is the number of rows from which on a record becomes a row group of its own, in the record's memory.
// Smaller ones are collected and encoded.
const shareRows = 1 << 14

// Table returns a table of the records, which have the given Arrow schema. It shares their memory where the layouts agree: the
// caller keeps it alive and unchanged as long as the table is used.
func Table(database, name string, schema *arrow.Schema, records []arrow.Record) (*table.Version, error) {
	defs, err := Columns(schema)
	if err != nil {
		return nil, err
	}
	b := table.NewBuilder(table.New(&table.Schema{Database: database, Name: name, Columns: defs}))
	all := make([]int, len(defs))
	for i := range all {
		all[i] = i
	}
	for _, r := range records {
		if err := AppendRecord(b, defs, r, all, r.NumRows() >= shareRows); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

// AppendRecord adds the fields of a record at ordinals to a builder for a table of the columns defs. With share they
// become row groups of their own that keep the record's memory where the layouts agree; else they are encoded.
func AppendRecord(b *table.Builder, defs []table.ColumnDef, r arrow.Record, ordinals []int, share bool) error {
	for _, ordinal := range ordinals {
		if ordinal >= int(r.NumCols()) {
			return sqlerr.Bug("field %d of a record that has %d", ordinal, r.NumCols())
		}
	}
	return appendArrays(b, defs, r.Columns(), ordinals, nil, int(r.NumRows()), share, nil)
}

// AppendArrays adds the arrays at ordinals, all of rows values, to a builder for a table of the columns defs. Those of columns that
// nobody can read may be nil; a column at -1 is NULL in all rows, those at -2, -3 and so on have the constants. For hold see [Data].
func AppendArrays(b *table.Builder, defs []table.ColumnDef, arrays []arrow.Array, ordinals []int, constants []types.Value, rows int, hold func(bytes int64) error) error {
	return appendArrays(b, defs, arrays, ordinals, constants, rows, false, hold)
}

func appendArrays(b *table.Builder, defs []table.ColumnDef, arrays []arrow.Array, ordinals []int, constants []types.Value, rows int, share bool, hold func(bytes int64) error) error {
	if rows == 0 {
		return nil
	}
	cols := make([]encoding.Data, len(defs))
	for i, ordinal := range ordinals {
		if ordinal < 0 {
			cols[i] = ConstantData(ordinal, constants, rows)
			continue
		}
		if defs[i].Foreign != "" {
			cols[i] = ForeignData(rows)
			continue
		}
		a := arrays[ordinal]
		d, err := Data(a, defs[i].Type, hold)
		if err != nil {
			return inColumn(err, defs[i].Name)
		}
		id := a.DataType().ID()
		d.KeepsInts = share && d.Valid == nil && (id == arrow.INT64 || id == arrow.UINT64)
		cols[i] = d
	}
	if share {
		return b.AppendColumns(rows, cols)
	}
	return b.AppendData(rows, cols)
}

// ConstantData returns a column at an ordinal below 0: -1 is NULL in all rows, -2, -3 and so on have the constants.
func ConstantData(ordinal int, constants []types.Value, rows int) encoding.Data {
	if ordinal == -1 {
		return encoding.Absent(rows)
	}
	return encoding.Repeated(constants[-ordinal-2], rows)
}

func inColumn(err error, name string) error {
	e := sqlerr.From(err)
	out := *e
	out.Message += " (column '" + name + "')"
	return &out
}
