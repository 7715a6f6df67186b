package parquet

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Rows that meet a condition are never left out, and others are: by the indexes of pages that pyarrow writes, by DuckDB's Bloom filters, and by dictionaries.
func TestPruning(t *testing.T) {
	const seed = 20260105
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for path, least := range map[string]float64{"testdata/pages.parquet": 0.3, "testdata/bloom.parquet": 0.1} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		whole := load(t, path)
		given, all := int64(0), int64(0)
		for range 120 {
			o := r.IntN(len(f.columns))
			name, p, holds := randomCondition(r, whole, o)
			given += compareWanted(t, f, o, name, p, holds, whole)
			all += whole.Rows()
		}
		if share := 1 - float64(given)/float64(all); share < least {
			t.Errorf("%s: only %.2f of the rows were left out", path, share)
		}
	}
}

// randomCondition returns a condition on a column, in words, and what it says of a value.
func randomCondition(r *rand.Rand, whole *table.Version, o int) (name string, p *encoding.Predicate, holds func(types.Value) bool) {
	value := func() types.Value {
		for {
			row, _ := whole.Row(r.Int64N(whole.Rows()))
			if v := row[o]; !v.Null {
				switch {
				case r.IntN(2) == 0:
				case v.Type.IsString():
					v.S += "x"
				default:
					v.I += r.Int64N(7) - 3
				}
				return v
			}
		}
	}
	v, w := value(), value()
	compared := func(f func(c int) bool) func(types.Value) bool {
		return func(x types.Value) bool { return !x.Null && f(types.Compare(x, v)) }
	}
	switch r.IntN(7) {
	case 0:
		return "< " + v.Text(), encoding.Comparison(encoding.LT, v), compared(func(c int) bool { return c < 0 })
	case 1:
		return ">= " + v.Text(), encoding.Comparison(encoding.GE, v), compared(func(c int) bool { return c >= 0 })
	case 2:
		return "<> " + v.Text(), encoding.Comparison(encoding.NE, v), compared(func(c int) bool { return c != 0 })
	case 3:
		return "IS NULL", encoding.IsNull(), func(x types.Value) bool { return x.Null }
	case 4:
		return "IS NOT NULL", encoding.IsNotNull(), func(x types.Value) bool { return !x.Null }
	case 5:
		return "IN " + v.Text() + ", " + w.Text(), encoding.In([]types.Value{v, w}), func(x types.Value) bool {
			return !x.Null && (types.Compare(x, v) == 0 || types.Compare(x, w) == 0)
		}
	}
	return "= " + v.Text(), encoding.Comparison(encoding.EQ, v), compared(func(c int) bool { return c == 0 })
}

// compareWanted reads the rows that may meet a condition, with another column late, and compares them with the whole file. It returns how many there are.
func compareWanted(t *testing.T, f *File, o int, name string, p *encoding.Predicate, holds func(types.Value) bool, whole *table.Version) (given int64) {
	t.Helper()
	late := (o + 1) % len(f.columns)
	shared := []*column.Dictionary{column.NewDictionary(), column.NewDictionary()}
	var v column.Vector
	begin := int64(0)
	held := int64(0)
	for g := range f.Groups() {
		ctx := table.WithScratch(table.WithMeter(context.Background(), func(bytes int64) error { held = bytes; return nil }))
		in, err := f.Stream(ctx, g, []int{o}, []int{late}, []Condition{{0, p}}, shared)
		if err != nil {
			t.Fatal(err)
		}
		next := begin
		end := begin + int64(f.GroupRows(g))
		skipped := func(to int64) {
			for ; next < to; next++ {
				if row, _ := whole.Row(next); holds(row[o]) {
					t.Fatalf("%s: row %d, %s, meets %s %s, and was left out", f.path, next, row[o].Text(), f.columns[o].Name, name)
				}
			}
		}
		for {
			rows, chunks, err := in.Next([]types.Type{f.columns[o].Type})
			if err != nil {
				t.Fatal(err)
			}
			if rows == 0 {
				break
			}
			skipped(begin + in.First())
			for from := 0; from < rows; from += column.VectorSize {
				n := min(column.VectorSize, rows-from)
				if err := in.Gather(&v, f.columns[late].Type, 0, from, n, nil); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					want, _ := whole.Row(next)
					if a, b := fmt.Sprint(chunks[0].At(from+i).Text(), v.Value(i).Text()), fmt.Sprint(want[o].Text(), want[late].Text()); a != b {
						t.Fatalf("%s, row %d: %s, want %s", f.path, next, a, b)
					}
					next++
				}
			}
			given += int64(rows)
		}
		skipped(end)
		begin = end
		if in.Close(); held != 0 {
			t.Fatalf("%s: %d bytes are still counted", f.path, held)
		}
	}
	return given
}

// Hashes of bytes of all lengths that xxHash64 treats in ways of their own, computed by the reference implementation.
func TestXXHash64(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0xef46db3751d8e999, "a": 0xd24ec4f1a98c6e5b, "as": 0x1c330fb2d66be179, "asd": 0x631c37ce72a97393, "asdf": 0x415872f599cea71e,
		"Call me Ishmael. Some years ago--never mind how long precisely-": 0x02a2e85470d6fd96,
	} {
		if got := xxHash64([]byte(text)); got != want {
			t.Errorf("%q: %x, want %x", text, got, want)
		}
	}
}

// A filter is asked for the bytes that the file has, or for none: some writers annotate INT32 and INT64 with more digits than they can have, and such values lie in 128 bits.
func TestBloomFilterOfManyDigits(t *testing.T) {
	for physical, want := range map[parquet.Type][]byte{parquet.Types.Int32: {7, 0, 0, 0}, parquet.Types.Int64: {7, 0, 0, 0, 0, 0, 0, 0}} {
		for _, digits := range []int32{9, 18, 30} {
			e := element{isLeaf: true, physical: physical, logical: logical{id: logicalDecimal, scale: 2, precision: digits}}
			l := leaf{physical: physical, arrow: e.arrowType()}
			l.typ = arrowconv.Column(arrow.Field{Type: l.arrow}).Type
			v := types.Value{Type: l.typ, I: 7}
			if l.typ.Phys() == types.PhysInt128 {
				v = types.Value{Type: l.typ, D: types.Int128FromInt64(7)}
			}
			if got, hashed := l.plainBytes(v); hashed && !bytes.Equal(got, want) {
				t.Errorf("%s of %d digits: %v, want %v", physical, digits, got, want)
			}
		}
	}
}

// A cancelled statement looks through no indexes.
func TestPruningStops(t *testing.T) {
	f, err := Open("testdata/pages.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shared := []*column.Dictionary{column.NewDictionary()}
	for _, cancelled := range []bool{false, true} {
		in, err := f.Stream(ctx, 0, []int{0}, nil, []Condition{{0, encoding.IsNotNull()}}, shared)
		if (err != nil) != cancelled {
			t.Errorf("cancelled %t: %v", cancelled, err)
		}
		in.Close()
		cancel()
	}
}

// Indexes and filters that lie about their size are errors or change nothing, and never a panic.
func TestDamagedIndexes(t *testing.T) {
	r := rand.New(rand.NewPCG(20260106, 1))
	path := "testdata/pages.parquet"
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &f.leaves[0]
	c := &f.footer.groups[0].chunks[l.index]
	bounds, err := f.section(c.columnIndex, c.columnIndexSize)
	if err != nil || len(bounds) == 0 {
		t.Fatal(err, len(bounds))
	}
	offsets, err := f.section(c.offsetIndex, c.offsetIndexSize)
	if err != nil || len(offsets) == 0 {
		t.Fatal(err, len(offsets))
	}
	p := encoding.Comparison(encoding.EQ, types.Value{Type: l.typ, I: 77})
	refused := 0
	for range 5000 {
		a, b := append([]byte(nil), bounds...), append([]byte(nil), offsets...)
		x := a
		if r.IntN(2) == 0 {
			x = b
		}
		x[r.IntN(len(x))] ^= 1 << r.IntN(8)
		if r.IntN(4) == 0 {
			a = a[:r.IntN(len(a))]
		}
		spans, err := f.pagesOf(l, c, p, &compact{b: a}, &compact{b: b}, f.footer.groups[0].rows)
		if err != nil {
			refused++
			continue
		}
		last := int64(0)
		for _, s := range spans {
			if s.from < last || s.to < s.from || s.to > f.footer.groups[0].rows {
				t.Fatal(spans)
			}
			last = s.to
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}
