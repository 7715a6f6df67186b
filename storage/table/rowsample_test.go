package table

import (
	"context"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// TestSample wants whole rows in a sample, from all over the table, the same ones each time, and none that were deleted; a version that differs little keeps the sample of the one before.
func TestSample(t *testing.T) {
	s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64}, {Name: "b", Type: types.Int64}, {Name: "c", Type: types.Int64}}}
	made := func(rows int) *Version {
		cols := make([]encoding.Data, 3)
		for c := range cols {
			for i := range rows {
				cols[c].Ints = append(cols[c].Ints, int64((c+1)*i))
			}
		}
		b := NewBuilder(New(s))
		if err := b.AppendColumns(rows, cols); err != nil {
			t.Fatal(err)
		}
		v, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	small := made(100)
	if x := small.Sample([]int{0}); x.Rows != 100 || x.Column(0).I64[99] != 99 || x.Column(1) != nil {
		t.Errorf("a small table: %d rows", x.Rows)
	}
	large := made(10 * mostSampled)
	first := large.Sample([]int{0})
	x := large.Sample([]int{1})
	if !x.SameRows(first) || x.Rows != mostSampled || !made(10*mostSampled).Sample([]int{0}).equal(first) {
		t.Errorf("another sample of the same table, %d rows", x.Rows)
	}
	for i := range x.Rows {
		if a, b := x.Column(0).I64[i], x.Column(1).I64[i]; b != 2*a || a/10 != int64(i) {
			t.Fatalf("row %d is %d, %d", i, a, b)
		}
	}
	tried := 0
	try := func() (column.Bitmap, error) { tried++; return column.NewBitmap(x.Rows, true), nil }
	for range 2 {
		if _, err := large.Sample([]int{0}).Try("a", try); err != nil || tried != 1 {
			t.Errorf("a condition was tried %d times: %v", tried, err)
		}
	}

	less, _, err := small.Delete(context.Background(), []int64{3})
	if err != nil {
		t.Fatal(err)
	}
	if !less.Sample([]int{0}).SameRows(small.Sample([]int{0})) {
		t.Error("one row less makes another sample")
	}
	if x := less.Sample([]int{2}); x.Rows != 99 {
		t.Errorf("a column that the sample lacks: %d rows of 99", x.Rows)
	}
	least, _, err := less.Delete(context.Background(), rowNumbers(less)[:50])
	if err != nil {
		t.Fatal(err)
	}
	if x := least.Sample([]int{0}); x.Rows != 49 || x.Column(0).I64[0] != 51 {
		t.Errorf("half of the rows: %d, from %d on", x.Rows, x.Column(0).I64[0])
	}
	if New(s).Sample([]int{0}) != nil {
		t.Error("an empty table has a sample")
	}
}

// equal says whether two samples have the same values in their first column.
func (s *RowSample) equal(o *RowSample) bool {
	for i := range s.Rows {
		if s.Column(0).I64[i] != o.Column(0).I64[i] {
			return false
		}
	}
	return s.Rows == o.Rows
}
