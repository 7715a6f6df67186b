package tabletest

import (
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Make returns a table of database db with so many rows, whose values are value's. key makes the first column its primary key. The columns are encoded, as those of a loaded table are.
func Make(t testing.TB, name string, rows int, hasKey bool, defs []table.ColumnDef, value func(row, col int) types.Value) *table.Version {
	t.Helper()
	s := &table.Schema{Database: "db", Name: name, Columns: defs}
	if hasKey {
		s.Keys = []table.Key{{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true}}
	}
	b := &column.Batch{N: rows}
	for c, def := range defs {
		v := column.New(def.Type, rows)
		for r := range rows {
			v.Set(r, rows, value(r, c))
		}
		b.Cols = append(b.Cols, v)
	}
	builder := table.NewBuilder(table.New(s)) // rather than Append: it encodes
	if err := builder.Append(b); err != nil {
		t.Fatal(err)
	}
	v, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
