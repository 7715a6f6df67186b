package table

import (
	"context"
	"errors"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// A unique key that is added later is checked against the rows that are there, deleted ones left out.
func TestWithKeys(t *testing.T) {
	v := New(&Schema{Database: "db", Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64}}})
	vec := column.New(types.Int64, 3)
	copy(vec.I64, []int64{5, 3, 5})
	v, err := v.Append(&column.Batch{N: 3, Cols: []*column.Vector{vec}})
	if err != nil {
		t.Fatal(err)
	}
	keyed := *v.Schema
	keyed.Keys = []Key{{Name: "u", Columns: []int{0}, Unique: true}}
	if _, err := v.WithKeys(context.Background(), &keyed); !errors.Is(err, sqlerr.CodeDupEntry) {
		t.Fatalf("two rows with 5: got %v, want a duplicate entry", err)
	}
	v, _, _ = v.Delete(context.Background(), []int64{0})
	v, err = v.WithKeys(context.Background(), &keyed)
	if err != nil {
		t.Fatalf("after deleting one of them: %v", err)
	}
	one := column.New(types.Int64, 1)
	one.I64[0] = 3
	if _, err := v.Append(&column.Batch{N: 1, Cols: []*column.Vector{one}}); !errors.Is(err, sqlerr.CodeDupEntry) {
		t.Fatalf("insert of a present value: got %v, want a duplicate entry", err)
	}
}
