package table_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

func footprintSchema(keys ...table.Key) *table.Schema {
	return &table.Schema{Name: "t", Keys: keys, Columns: []table.ColumnDef{
		{Name: "id", Type: types.Int64}, {Name: "w", Type: types.Varchar(10)}, {Name: "n", Type: types.Text, Nullable: true},
	}}
}

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

// ledger is a Ledger and the sum of what it has said.
type ledger struct {
	table.Ledger
	sum int64
}

func (l *ledger) replace(before, after *table.Version) {
	r := l.Replace(before, after)
	l.sum += r.Added - r.Commit()
}

// Whatever is done to tables, and whatever they share, what a ledger adds and drops sums up to what the versions take that are
// there, each piece of memory once, and to nothing when they are gone.
func TestLedger(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		schema := footprintSchema(table.Key{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true})
		tables := []*table.Version{table.New(schema)}
		var l ledger
		l.replace(nil, tables[0])
		next := 0
		for step := range 50 {
			at := r.IntN(len(tables))
			before := tables[at]
			v := before
			var err error
			switch k := r.IntN(13); {
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
				v, _, _ = v.Delete(context.Background(), someRows(r, v, 3))
			case k < 10 && v.Rows() > 0:
				rows := someRows(r, v, 100)
				v, _, err = v.Update(context.Background(), rows, []int{2}, []*column.Vector{footprintBatch(r, 0, len(rows)).Cols[2]})
			case k < 11:
				renamed := *v.Schema
				renamed.Name += "x"
				v = v.WithSchema(&renamed)
			case k < 12 && len(tables) < 4: // a table that shares columns of this one
				copied := v.Project([]int{0, 1, 2})
				tables = append(tables, copied)
				l.replace(nil, copied)
			case r.IntN(3) == 0 && len(tables) > 1:
				l.replace(v, nil)
				tables = append(tables[:at], tables[at+1:]...)
				continue
			case r.IntN(3) == 0:
				v = v.Truncate()
			}
			if err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			if r.IntN(5) == 0 { // a change that fails in the end
				undone := l.Replace(before, v)
				if extra := undone.Undo(); extra != 0 {
					t.Fatalf("seed %d, step %d: what was undone dropped %d bytes", seed, step, extra)
				}
			}
			l.replace(before, v)
			tables[at] = v
			all := table.Footprints(tables)
			if l.sum < all || l.sum > all+all/5 { // an array that was given up keeps its greatest extent while it is read
				t.Fatalf("seed %d, step %d: the versions take %d bytes, the ledger says %d", seed, step, all, l.sum)
			}
		}
		for _, v := range tables {
			if own := v.Footprint(); v.Rows() > 0 && (own > v.Bytes()*11/10+4096 || own < v.Bytes()/2) {
				t.Errorf("seed %d: a version takes %d bytes by one count and %d by another", seed, own, v.Bytes())
			}
			l.replace(v, nil)
		}
		if l.sum != 0 {
			t.Errorf("seed %d: %d bytes are left of no tables", seed, l.sum)
		}
	}
}

func someRows(r *rand.Rand, v *table.Version, oneIn int) (rows []int64) {
	for row := range v.Span() {
		if _, _, ok := v.Locate(row); ok && r.IntN(oneIn) == 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// If the only other holder of memory goes while a replacement is under way, undoing that gives the memory back.
func TestLedgerUndo(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	v, err := table.New(footprintSchema()).Append(footprintBatch(r, 0, 1000))
	if err != nil {
		t.Fatal(err)
	}
	var l ledger
	l.replace(nil, v)
	copied := l.Replace(nil, v.Project([]int{0, 1, 2}))
	if copied.Added > 1000 {
		t.Errorf("a copy that shares the columns adds %d bytes", copied.Added)
	}
	l.replace(v, nil)
	if l.sum -= copied.Undo(); l.sum != 0 {
		t.Errorf("%d bytes are left", l.sum)
	}
}

// A version that adds a row to an open row group shares its arrays with the one before: it costs a few bytes.
func TestGrowthOfOneRow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	v := table.New(footprintSchema())
	v, err := v.Append(footprintBatch(r, 0, 5000))
	if err != nil {
		t.Fatal(err)
	}
	var l table.Ledger
	l.Replace(nil, v).Commit()
	moved := 0
	for i := range 1000 {
		next, err := v.Append(footprintBatch(r, 5000+i, 1))
		if err != nil {
			t.Fatal(err)
		}
		step := l.Replace(v, next)
		if dropped := step.Commit(); step.Added > 20000 || dropped > 20000 {
			moved++ // an array had to be moved to grow
		}
		v = next
	}
	if moved > 40 {
		t.Errorf("%d of 1000 rows cost as much as a copy of the row group", moved)
	}
}

// Chunks that share a slab keep all of it: a ledger counts it once, until the last of them is gone, and so does the builder that they are given to.
func TestSlabsCount(t *testing.T) {
	const groups, rows, width = 8, 1000, 4
	schema := &table.Schema{Name: "t", Columns: []table.ColumnDef{{Name: "a", Type: types.Int64}, {Name: "b", Type: types.Int64}}}
	chunks := make([][]*encoding.Chunk, len(schema.Columns))
	var slabs encoding.Slabs
	for i := range chunks {
		for range groups {
			chunks[i] = append(chunks[i], encoding.NewUnfilled(types.Int64, encoding.Bounds{Rows: rows, High: math.MaxUint32}))
		}
		slabs.Fill(chunks[i])
		for _, c := range chunks[i] {
			for row := range c.U32 {
				c.U32[row] = uint32(row)
			}
		}
	}
	const slab = groups * ((rows*width + 63) &^ 63) // each column has one: items begin at multiples of 64 bytes
	var told int64
	b := table.NewBuilder(table.New(schema)).Meter(table.WithMeter(context.Background(), func(bytes int64) error { told = bytes; return nil }))
	for g := range groups {
		if err := b.AppendEncoded(&table.EncodedGroup{Rows: rows, Chunks: []*encoding.Chunk{chunks[0][g], chunks[1][g]}, Data: make([]encoding.Data, 2)}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var l ledger
	l.replace(nil, v)
	beside := l.sum - 2*slab // chunks, row groups and the definition
	if beside < 0 || beside > 20000 || told < 2*slab || told > l.sum {
		t.Fatalf("two slabs of %d bytes: the ledger says %d, the builder %d", slab, l.sum, told)
	}
	for g := range groups { // every value of a row group's second column changes
		at, values := make([]int64, rows), column.New(types.Int64, rows)
		for row := range at {
			at[row], values.I64[row] = int64(g*rows+row), int64(row+1)
		}
		next, _, err := v.Update(context.Background(), at, []int{1}, []*column.Vector{values})
		if err != nil {
			t.Fatal(err)
		}
		l.replace(v, next)
		v = next
		if left := l.sum - slab; g+1 < groups && left < slab+int64(g+1)*rows {
			t.Errorf("with %d of %d columns in the slab, the ledger says %d bytes beside the other one of %d", groups-1-g, groups, left, slab)
		} else if g+1 == groups && left > slab+beside+groups*1000 {
			t.Errorf("with nothing in the slab, the ledger says %d bytes beside the other one of %d", left, slab)
		}
	}
	l.replace(v, nil)
	if l.sum != 0 {
		t.Errorf("%d bytes are left of no table", l.sum)
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
		b := table.NewBuilder(table.New(footprintSchema())).Meter(ctx)
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
		if took := v.Footprint(); last < took*9/10 || last > took*11/10 {
			t.Errorf("the builder said %d bytes in the end, the version takes %d", last, took)
		}
	}
}

// A builder tells its meter of the copies that encoding makes of strings before it makes them, and gives up where no memory is left.
func TestBuilderCountsCopiesFirst(t *testing.T) {
	const length, rows, limit = 1 << 20, 10, 15 << 20
	most := int64(0)
	ctx := table.WithMeter(context.Background(), func(bytes int64) error {
		if most = max(most, bytes); bytes > limit {
			return errors.New("no memory is left")
		}
		return nil
	})
	v := table.New(&table.Schema{Name: "t", Columns: []table.ColumnDef{{Name: "s", Type: types.Varchar(length)}}})
	b := table.NewBuilder(v).Meter(ctx)
	for i := range rows {
		s := strings.Repeat(string(rune('a'+i)), length)
		if err := b.Append(&column.Batch{N: 1, Cols: []*column.Vector{{Type: types.Varchar(length), Str: []string{s}}}}); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
	}
	if _, err := b.Finish(); err == nil || most < 2*rows*length {
		t.Errorf("error %v; %d bytes were told of %d and their copies", err, most, rows*length)
	}
}
