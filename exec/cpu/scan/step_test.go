package scan

import (
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Vectors of wide rows are as short as bounds what they take, and those of others are whole.
func TestStepOf(t *testing.T) {
	wide := types.Decimal(30, 2)
	for _, tt := range []struct {
		columns int
		typ     types.Type
		rows    int
	}{
		{0, types.Int64, column.VectorSize}, {16, types.Int64, column.VectorSize}, {64, wide, column.VectorSize}, {128, types.Int64, column.VectorSize},
		{129, types.Int64, 1024}, {500, types.Int64, 512}, {1000, wide, 128}, {1000, types.Varchar(10), 128}, {4096, types.Int64, 64}, {100_000, types.Int64, 64},
	} {
		cols := make([]*expr.Column, tt.columns)
		for i := range cols {
			cols[i] = &expr.Column{Typ: tt.typ}
		}
		if got := stepOf(cols); got != tt.rows {
			t.Errorf("%d columns of type %s: %d rows, want %d", tt.columns, tt.typ, got, tt.rows)
		}
	}
}
