package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Batches that a builder takes are the table's rows, in order: across groups, selected, with NULLs, constants and
// dictionaries, and mixed with others that are appended.
func TestBuilderTakes(t *testing.T) {
	const seed = 20261128
	r := rand.New(rand.NewPCG(seed, 0))
	schema := &Schema{Name: "t", Columns: []ColumnDef{
		{Name: "i", Type: types.Int64}, {Name: "s", Type: types.Varchar(20), Nullable: true}, {Name: "d", Type: types.Varchar(20), Nullable: true},
	}}
	dict := column.NewDictionary("a", "few", "words", "of", "a dictionary")
	for _, rows := range []int{1, 5000, RowGroupSize, 2*RowGroupSize + 777} {
		for _, mixed := range []bool{false, true} {
			taken := NewBuilder(New(schema))
			var want []row
			width := r.IntN(2) * (1 + r.IntN(63)) // 0: integers ascend
			for at := 0; at < rows; {
				n := min(1+r.IntN(4000), rows-at)
				batch := &column.Batch{N: n, Cols: []*column.Vector{column.New(types.Int64, n), column.New(types.Varchar(20), n), {Type: types.Varchar(20)}}}
				batch.Cols[1].Valid = column.NewBitmap(n, true)
				batch.Cols[2].ReserveCodes(dict, n)
				for i := range n {
					if batch.Cols[0].I64[i] = int64(at + i); width > 0 {
						batch.Cols[0].I64[i] = int64(r.Uint64()>>(64-width)) - 99
					}
					batch.Cols[1].Str[i] = fmt.Sprint("row ", at+i)
					if i%7 == 0 {
						batch.Cols[1].Valid.Clear(i)
					}
					batch.Cols[2].Codes[i] = uint32(r.IntN(5))
				}
				if r.IntN(4) == 0 {
					batch.Cols[1] = column.ConstVector(types.StringValue("all the same"))
				}
				if r.IntN(8) == 0 {
					batch.Cols[0] = column.ConstVector(types.IntValue(int64(at)))
				}
				if r.IntN(3) == 0 {
					for i := range n {
						if r.IntN(3) > 0 || len(batch.Sel) == 0 {
							batch.Sel = append(batch.Sel, int32(i))
						}
					}
				}
				at += batch.Rows()
				give := taken.Take
				if mixed && r.IntN(20) == 0 {
					give = taken.Append
				}
				if err := give(batch); err != nil {
					t.Fatal(err)
				}
				for i := range batch.Rows() {
					p := i
					if batch.Sel != nil {
						p = int(batch.Sel[i])
					}
					want = append(want, row{batch.Cols[0].Value(p), batch.Cols[1].Value(p), batch.Cols[2].Value(p)})
				}
				if taken.Rows() != int64(at) {
					t.Fatalf("%d rows were added, the builder has %d", at, taken.Rows())
				}
			}
			got, err := taken.Finish()
			if err != nil {
				t.Fatal(err)
			}
			check(t, got, want)
			raw := taken.held.Load()
			for _, g := range got.groups {
				for _, c := range g.Columns {
					c.Buffers(func(_ unsafe.Pointer, bytes int64) { raw -= bytes })
				}
			}
			if raw != 0 {
				t.Errorf("%d rows, mixed %v: the builder counts %d bytes too many at the end", rows, mixed, raw)
			}
		}
	}
	null := column.ConstVector(types.NullOf(types.Int64))
	batch := &column.Batch{N: 3, Cols: []*column.Vector{null, column.ConstVector(types.StringValue("a")), column.ConstVector(types.StringValue("b"))}}
	if err := NewBuilder(New(schema)).Take(batch); err == nil {
		t.Error("NULL is taken for a column that is NOT NULL")
	}
}
