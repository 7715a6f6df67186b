package table_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/table"
)

func footprintBatch(r *rand.Rand, first, n int) *column.Batch {
	id, word, note := column.New(types.Int64, n), column.New(types.Varchar(10), n), column.New(types.Text, n)
	for i := range n {
		id.I64[i] = int64(first + i)
		word.Str[i] = fmt.Sprint("w", r.IntN(20))
		note.Str[i] = fmt.Sprint("a note of its own, ", r.Uint64())
		if r.IntN(50) == 0 {
			note.SetNull(i, n)
		}
	}
	return &column.Batch{N: n, Cols: []*column.Vector{id, word, note}}
}

// Whatever is done to a table, what each version adds and drops sums up to what the last one takes, and that is about
// what the heap has to hold.
func TestGrowth(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		v := table.New(&table.Schema{Name: "t", Columns: []table.ColumnDef{{Name: "id", Type: types.Int64}, {Name: "w", Type: types.Varchar(10)}, {Name: "n", Type: types.Text, Nullable: true}}})
		sum, next := int64(0), 0
		for step := range 40 {
			before := v
			var err error
			switch k := r.IntN(12); {
			case k < 6:
				n := 1 + r.IntN(300)
				v, err = v.Append(footprintBatch(r, next, n))
				next += n
			case k < 7:
				b := table.NewBuilder(v)
				n := 1 + r.IntN(60000)
				err = b.Append(footprintBatch(r, next, n))
				next += n
				if err == nil {
					v, err = b.Finish()
				}
			case k < 8:
				var rows []int64
				for row := range v.Span() {
					if r.IntN(3) == 0 {
						rows = append(rows, row)
					}
				}
				v, _ = v.Delete(rows)
			case k < 10 && v.Rows() > 0:
				var rows []int64
				for row := range v.Span() {
					if _, _, ok := v.Locate(row); ok && r.IntN(100) == 0 {
						rows = append(rows, row)
					}
				}
				v, err = v.Update(rows, []int{2}, []*column.Vector{footprintBatch(r, 0, len(rows)).Cols[2]})
			case k < 11:
				renamed := *v.Schema
				renamed.Name += "x"
				v = v.WithSchema(&renamed)
			case r.IntN(4) == 0:
				v = v.Truncate()
			}
			if err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			added, dropped := table.Growth([]*table.Version{before}, []*table.Version{v})
			if sum += added - dropped; added < 0 || dropped < 0 {
				t.Fatalf("seed %d, step %d: %d bytes added, %d dropped", seed, step, added, dropped)
			}
			if whole, none := table.Growth(nil, []*table.Version{v}); whole != sum || none != 0 {
				t.Fatalf("seed %d, step %d: the version takes %d bytes, its history says %d", seed, step, whole, sum)
			}
		}
		if all := sum + v.SharedBytes(); v.Rows() > 0 && (all > v.Bytes()*11/10+4096 || all < v.Bytes()/2) {
			t.Errorf("seed %d: %d bytes, of which the version says %d", seed, all, v.Bytes())
		}
	}
}

// A version that adds a row to an open row group shares its arrays with the one before: it costs a few bytes.
func TestGrowthOfOneRow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	v := table.New(&table.Schema{Name: "t", Columns: []table.ColumnDef{{Name: "id", Type: types.Int64}, {Name: "w", Type: types.Varchar(10)}, {Name: "n", Type: types.Text, Nullable: true}}})
	v, err := v.Append(footprintBatch(r, 0, 5000))
	if err != nil {
		t.Fatal(err)
	}
	moved := 0
	for i := range 1000 {
		next, err := v.Append(footprintBatch(r, 5000+i, 1))
		if err != nil {
			t.Fatal(err)
		}
		if added, dropped := table.Growth([]*table.Version{v}, []*table.Version{next}); added > 20000 || dropped > 20000 {
			moved++ // an array had to be moved to grow
		}
		v = next
	}
	if moved > 40 {
		t.Errorf("%d of 1000 rows cost as much as a copy of the row group", moved)
	}
}

func TestMeter(t *testing.T) {
	full := errors.New("full")
	for _, limit := range []int64{1 << 16, 1 << 22, 1 << 30} {
		var last, most int64
		ctx := table.WithMeter(context.Background(), func(bytes int64) error {
			if last = bytes; bytes > limit {
				return full
			}
			most = max(most, bytes)
			return nil
		})
		r := rand.New(rand.NewPCG(5, 5))
		b := table.NewBuilder(table.New(&table.Schema{Name: "t", Columns: []table.ColumnDef{{Name: "id", Type: types.Int64}, {Name: "w", Type: types.Varchar(10)}, {Name: "n", Type: types.Text, Nullable: true}}})).Meter(ctx)
		var v *table.Version
		var err error
		for i := 0; i < 200 && err == nil; i++ {
			err = b.Append(footprintBatch(r, 2048*i, 2048))
		}
		if err == nil {
			v, err = b.Finish()
		}
		if limit < 1<<30 {
			if !errors.Is(err, full) {
				t.Errorf("a limit of %d bytes: %v", limit, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		added, _ := table.Growth(nil, []*table.Version{v})
		if took := added + v.SharedBytes(); last < took*9/10 || last > took*11/10 {
			t.Errorf("the builder said %d bytes in the end, the version takes %d", last, took)
		}
	}
}
