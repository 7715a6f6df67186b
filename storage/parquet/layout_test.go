package parquet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	pq "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/table"
)

// writeAs writes batches in row groups as large as the properties allow.
func writeAs(t *testing.T, defs []table.ColumnDef, batches []*column.Batch, props ...pq.WriterProperty) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var fields []arrow.Field
	for _, d := range defs {
		fields = append(fields, arrow.Field{Name: d.Name, Type: arrowconv.ArrowType(d.Type), Nullable: d.Nullable})
	}
	schema := arrow.NewSchema(fields, nil)
	w, err := pqarrow.NewFileWriter(schema, out, pq.NewWriterProperties(props...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		record, err := arrowconv.Record(schema, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteBuffered(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// load reads a whole file.
func load(t *testing.T, path string) *table.Version {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := table.NewBuilder(table.New(&table.Schema{Name: "t", Columns: f.Columns()}))
	if err := f.Load(context.Background(), b, nil); err != nil {
		t.Fatal(err)
	}
	v, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// text returns what a value reads as after Parquet, which has no seconds: those with no fraction come back with three zeros.
func text(v types.Value) string {
	if v.Type.IsTemporal() && v.Type.Kind != types.KindDate && v.Type.Kind != types.KindYear && v.Type.Scale == 0 && !v.Null {
		return v.Text() + ".000"
	}
	return v.Text()
}

// Every type in every layout that arrow-go's own writer makes.
func TestLayouts(t *testing.T) {
	const seed = 20260101
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	nullable := batchtest.Columns()
	var full []table.ColumnDef
	for _, d := range nullable {
		d.Nullable = false
		full = append(full, d)
	}
	isInteger := func(d table.ColumnDef) bool {
		id := arrowconv.ArrowType(d.Type).ID()
		return id != arrow.DECIMAL128 && id != arrow.FLOAT32 && id != arrow.FLOAT64 && !isString(d)
	}
	for _, tc := range []struct {
		name  string
		only  func(table.ColumnDef) bool // columns that can be in the encoding; nil: all
		props []pq.WriterProperty
	}{
		{"dictionaries", nil, []pq.WriterProperty{pq.WithCompression(compress.Codecs.Snappy)}},
		{"plain", nil, []pq.WriterProperty{pq.WithDictionaryDefault(false), pq.WithCompression(compress.Codecs.Zstd)}},
		{"dictionaries that overflow", nil, []pq.WriterProperty{pq.WithDictionaryPageSizeLimit(100), pq.WithBatchSize(7), pq.WithDataPageSize(100), pq.WithCompression(compress.Codecs.Gzip)}},
		{"small pages", nil, []pq.WriterProperty{pq.WithDataPageSize(50), pq.WithBatchSize(3)}},
		{"pages of version 2", nil, []pq.WriterProperty{pq.WithDataPageVersion(pq.DataPageV2), pq.WithVersion(pq.V2_LATEST), pq.WithDataPageSize(300), pq.WithBatchSize(10), pq.WithCompression(compress.Codecs.Snappy)}},
		{"row groups", nil, []pq.WriterProperty{pq.WithMaxRowGroupLength(100)}},
		{"decimals as integers", nil, []pq.WriterProperty{pq.WithStoreDecimalAsInteger(true)}},
		{"delta", isInteger, []pq.WriterProperty{pq.WithDictionaryDefault(false), pq.WithEncoding(pq.Encodings.DeltaBinaryPacked)}},
		{"lengths as delta", isString, []pq.WriterProperty{pq.WithDictionaryDefault(false), pq.WithEncoding(pq.Encodings.DeltaLengthByteArray), pq.WithCompression(compress.Codecs.Zstd)}},
		{"strings as delta", isString, []pq.WriterProperty{pq.WithDictionaryDefault(false), pq.WithEncoding(pq.Encodings.DeltaByteArray), pq.WithDataPageSize(200), pq.WithBatchSize(9)}},
	} {
		for _, defs := range [][]table.ColumnDef{nullable, full} {
			t.Run(fmt.Sprintf("%s, nullable=%v", tc.name, defs[0].Nullable), func(t *testing.T) {
				if tc.only != nil {
					defs = slices.DeleteFunc(slices.Clone(defs), func(d table.ColumnDef) bool { return !tc.only(d) })
				}
				var batches []*column.Batch
				for _, n := range []int{200, 1, 133} {
					b := batchtest.Batch(r, defs, n, false)
					for c, v := range b.Cols {
						for i := range n {
							for !defs[c].Nullable && v.IsNull(i) {
								v.Set(i, n, batchtest.Value(r, v.Type))
							}
							if defs[c].Nullable && i > 150 { // pages of nothing but NULL
								v.SetNull(i, n)
							}
						}
					}
					batches = append(batches, b)
				}
				path := writeAs(t, defs, batches, tc.props...)
				got := load(t, path)
				row := int64(0)
				for _, b := range batches {
					for i := range b.N {
						a, _ := got.Row(row)
						for c, v := range b.Cols {
							if want := text(v.Value(i)); a[c].Text() != want {
								t.Fatalf("row %d, %s: %s, want %s", row, defs[c].Type, a[c].Text(), want)
							}
						}
						row++
					}
				}
				if got.Rows() != row {
					t.Fatalf("%d rows, want %d", got.Rows(), row)
				}
				for range 3 {
					compareLate(t, path, got, r)
				}
			})
		}
	}
}

func isString(d table.ColumnDef) bool { return d.Type.IsString() || d.Type.Kind == types.KindEnum }

// A row group of more rows than one of Radish's, strings of few and of many values, so that codes turn into strings on the
// way, with and without NULLs.
func TestLargeRowGroup(t *testing.T) {
	const seed, total = 20260102, table.RowGroupSize + 4321
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	defs := []table.ColumnDef{
		{Name: "id", Type: types.Int64}, {Name: "few", Type: types.Text, Nullable: true}, {Name: "many", Type: types.Text, Nullable: true},
		{Name: "later", Type: types.Text}, {Name: "price", Type: types.Decimal(15, 2), Nullable: true},
	}
	var batches []*column.Batch
	for at := 0; at < total; at += 10000 {
		n := min(10000, total-at)
		b := &column.Batch{N: n}
		for c, d := range defs {
			v := column.New(d.Type, n)
			for i := range n {
				switch {
				case d.Nullable && r.IntN(10) == 0:
					v.SetNull(i, n)
				case c == 0:
					v.I64[i] = int64(at + i)
				case c == 1:
					v.Str[i] = fmt.Sprint("few ", r.IntN(300))
				case c == 2:
					v.Str[i] = fmt.Sprint("many ", r.Int64())
				case c == 3 && at < 100000:
					v.Str[i] = "early"
				case c == 3:
					v.Str[i] = strings.Repeat("x", i%5) + fmt.Sprint(r.Int64())
				case c == 4:
					v.I64[i] = r.Int64N(1e6) - 5e5
				}
			}
			b.Cols = append(b.Cols, v)
		}
		batches = append(batches, b)
	}
	path := writeAs(t, defs, batches, pq.WithMaxRowGroupLength(1<<30), pq.WithCompression(compress.Codecs.Snappy))
	v := load(t, path)
	for range 3 {
		compareLate(t, path, v, r)
	}
	if v.Rows() != total || len(v.Groups()) != 2 {
		t.Fatalf("%d rows in %d groups", v.Rows(), len(v.Groups()))
	}
	for i := 0; i < total; i += 7 {
		row, _ := v.Row(int64(i))
		for c, want := range batches[i/10000].Cols {
			if want := want.Value(i % 10000); row[c].Text() != want.Text() {
				t.Fatalf("row %d, %s: %s, want %s", i, defs[c].Name, row[c].Text(), want.Text())
			}
		}
	}
}

// Damaged files of several layouts give an error or rows, but no panic, and the error names the file.
func TestDamagedLayouts(t *testing.T) {
	const seed = 20260103
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	defs := batchtest.Columns()
	bad := filepath.Join(t.TempDir(), "bad.parquet")
	for _, props := range [][]pq.WriterProperty{
		{pq.WithDictionaryDefault(false)},
		{pq.WithDataPageVersion(pq.DataPageV2), pq.WithVersion(pq.V2_LATEST), pq.WithDataPageSize(100), pq.WithBatchSize(5)},
		{pq.WithStoreDecimalAsInteger(true)},
	} {
		good, err := os.ReadFile(writeAs(t, defs, []*column.Batch{batchtest.Batch(r, defs, 100, false)}, props...))
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for range 40 {
			content := slices.Clone(good)
			for range 1 + r.IntN(4) {
				// The pages; what follows them is metadata.
				content[4+r.IntN(len(content)*2/3)] ^= byte(1 << r.IntN(8))
			}
			if err := os.WriteFile(bad, content, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(bad)
			if err == nil {
				err = f.Load(context.Background(), table.NewBuilder(table.New(&table.Schema{Name: "t", Columns: f.Columns()})), nil)
				f.Close()
			}
			if err != nil {
				refused++
				if !strings.Contains(err.Error(), "bad.parquet") {
					t.Fatalf("the error does not name the file: %v", err)
				}
			}
		}
		t.Logf("%d of 40 damaged files refused", refused)
	}
}

// The decoder of runs against a plain one of bits, over widths and lengths, in pieces of any size.
func TestHybrid(t *testing.T) {
	const seed = 20260104
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for width := uint(0); width <= 32; width++ {
		var src []byte
		var want []uint32
		for range 20 {
			value := func() uint32 { return uint32(r.Uint64() & (1<<width - 1)) }
			if r.IntN(2) == 0 { // a repeated value
				n, x := 1+r.IntN(300), value()
				src = append(src, byte(n<<1&0x7f|0x80), byte(n>>6))
				for i := uint(0); i < (width+7)/8; i++ {
					src = append(src, byte(x>>(8*i)))
				}
				want = append(want, slices.Repeat([]uint32{x}, n)...)
				continue
			}
			groups := 1 + r.IntN(40)
			src = append(src, byte(groups<<1|1)&0x7f|0x80, byte(groups>>6))
			packed := make([]byte, groups*int(width))
			for i := range 8 * groups {
				x := value()
				want = append(want, x)
				for b := range int(width) {
					if x>>b&1 == 1 {
						at := i*int(width) + b
						packed[at/8] |= 1 << (at % 8)
					}
				}
			}
			src = append(src, packed...)
		}
		h, err := newHybrid(src, width)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(want); {
			n := min(1+r.IntN(200), len(want)-at)
			got := make([]uint32, n)
			if err := h.decode(got); err != nil {
				t.Fatalf("width %d at %d: %v", width, at, err)
			}
			if !slices.Equal(got, want[at:at+n]) {
				t.Fatalf("width %d at %d: %v, want %v", width, at, got, want[at:at+n])
			}
			at += n
		}
		if err := h.decode(make([]uint32, 1)); err == nil {
			t.Errorf("width %d: a value behind the end", width)
		}
		if width != 1 {
			continue
		}
		h, _ = newHybrid(src, 1)
		var valid column.Bitmap
		for at := 0; at < len(want); {
			n := min(1+r.IntN(200), len(want)-at)
			var ones int
			if valid, ones, err = h.validity(valid, len(want), at, n); err != nil {
				t.Fatal(err)
			}
			for i := at; i < at+n; i++ {
				if got := valid == nil || valid.Get(i); got != (want[i] == 1) {
					t.Fatalf("bit %d is %v", i, got)
				} else if got {
					ones--
				}
			}
			if ones != 0 {
				t.Fatalf("%d too many counted from %d on", ones, at)
			}
			at += n
		}
	}
}
