package parquet_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	arrowparquet "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

// shapes are columns whose values take every way of encoding: few and many values, runs, NULLs in parts of a row group, long strings.
var shapes = []struct {
	name  string
	typ   types.Type
	value func(r *rand.Rand, row int) types.Value
}{
	{"sequence", types.Int64, func(_ *rand.Rand, row int) types.Value { return types.IntValue(int64(row)) }},
	{"few", types.Int64, func(r *rand.Rand, _ int) types.Value { return types.IntValue(r.Int64N(5) - 2) }},
	{"keys", types.Int64, func(r *rand.Rand, _ int) types.Value { return types.IntValue(1 + r.Int64N(10_000)) }},
	{"runs", types.Int64, func(_ *rand.Rand, row int) types.Value { return types.IntValue(int64(row / 1000 % 7)) }},
	{"one", types.Int64, func(*rand.Rand, int) types.Value { return types.IntValue(-7) }},
	{"large", types.Uint64, func(r *rand.Rand, _ int) types.Value { return types.Value{Type: types.Uint64, I: int64(r.Uint64())} }},
	{"money", types.Decimal(15, 2), func(r *rand.Rand, _ int) types.Value {
		return types.Value{Type: types.Decimal(15, 2), I: r.Int64N(1e6) - 5e5}
	}},
	{"wide", types.Decimal(38, 2), func(r *rand.Rand, _ int) types.Value {
		return types.DecimalValue(types.Decimal(38, 2), types.Int128FromInt64(r.Int64()-r.Int64()))
	}},
	{"double", types.Double, func(r *rand.Rand, _ int) types.Value {
		return types.Value{Type: types.Double, F: math.Float64frombits(r.Uint64N(1<<62) | 1)}
	}},
	{"halves", types.Double, func(r *rand.Rand, row int) types.Value {
		return types.Value{Type: types.Double, F: float64(r.IntN(9)-4) / 2}
	}},
	{"late nulls", types.Int64, func(_ *rand.Rand, row int) types.Value {
		if row%table.RowGroupSize > 100_000 && row%3 == 0 {
			return types.NullOf(types.Int64)
		}
		return types.IntValue(int64(row % 11))
	}},
	{"all null", types.Text, func(*rand.Rand, int) types.Value { return types.NullOf(types.Text) }},
	{"words", types.Text, func(r *rand.Rand, row int) types.Value {
		if row%17 == 0 {
			return types.NullOf(types.Text)
		}
		return types.StringValue("word " + fmt.Sprint(r.IntN(300)))
	}},
	{"strings", types.Text, func(r *rand.Rand, row int) types.Value {
		return types.StringValue(strings.Repeat("ä", r.IntN(20)) + fmt.Sprint(row))
	}},
	{"empty", types.Text, func(*rand.Rand, int) types.Value { return types.StringValue("") }},
}

// TestWriterAgainstArrow has arrow-go read what the writer wrote: values, NULLs, and the statistics of each row group against the values themselves.
func TestWriterAgainstArrow(t *testing.T) {
	r := batchtest.Rand(t)
	var names []string
	var typs []types.Type
	for _, s := range shapes {
		names, typs = append(names, s.name), append(typs, s.typ)
	}
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, names, typs)
	if err != nil {
		t.Fatal(err)
	}
	w.Workers(3)
	const total = table.RowGroupSize + 60_000
	want := make([][]string, len(shapes)) // the values as arrow-go gives them, NULL as ""
	dictionary := column.NewDictionary()
	for row := 0; row < total; {
		n := min(1+r.IntN(5000), total-row)
		b := &column.Batch{N: n}
		selected := r.IntN(3) == 0
		for i := 0; selected && i < n; i++ {
			if r.IntN(8) > 0 {
				b.Sel = append(b.Sel, int32(i))
			}
		}
		for c, s := range shapes {
			v := column.New(s.typ, n)
			if s.name == "words" && r.IntN(9) > 0 { // now and then without a dictionary
				v.ReserveCodes(dictionary, n)
			}
			values := make([]types.Value, n)
			for i := range n {
				values[i] = s.value(r, row+i)
				if v.Dict != nil && !values[i].Null {
					v.Codes[i] = dictionary.Add(values[i].S)
				} else if v.Dict != nil {
					v.SetNull(i, n)
				} else {
					v.Set(i, n, values[i])
				}
			}
			for i := range n {
				if b.Sel == nil || isSelected(b.Sel, i) {
					want[c] = append(want[c], physical(values[i]))
				}
			}
			b.Cols = append(b.Cols, v)
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		row += n
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if f.NumRowGroups() < 1 || f.NumRows() != int64(len(want[0])) {
		t.Fatalf("%d row groups, %d rows of %d", f.NumRowGroups(), f.NumRows(), len(want[0]))
	}
	for c, s := range shapes {
		at := 0
		for g := range f.NumRowGroups() {
			got, low, high := chunk(t, f, g, c)
			for i, x := range got {
				if x != want[c][at+i] {
					t.Fatalf("%s, row %d: %q, want %q", s.name, at+i, x, want[c][at+i])
				}
			}
			var present []string
			for _, x := range got {
				if x != "" {
					present = append(present, x)
				}
			}
			checkExtremes(t, s.name, present, low, high)
			at += len(got)
			checkForm(t, s.name, f, g, c)
		}
	}
}

// checkForm checks of some shapes whether they have a dictionary, and whether pages are compressed: that has to save a sixteenth.
func checkForm(t *testing.T, name string, f *file.Reader, group, c int) {
	t.Helper()
	m, err := f.MetaData().RowGroup(group).ColumnChunk(c)
	if err != nil {
		t.Fatal(err)
	}
	want, known := map[string]string{
		"sequence": "SNAPPY without dictionary", "large": "UNCOMPRESSED without dictionary", "strings": "SNAPPY without dictionary",
		"few": "UNCOMPRESSED with dictionary", "halves": "UNCOMPRESSED with dictionary",
	}[name]
	got := m.Compression().String() + " without dictionary"
	if m.HasDictionaryPage() {
		got = m.Compression().String() + " with dictionary"
	}
	if known && got != want {
		t.Errorf("%s: %s, want %s", name, got, want)
	}
	if name == "keys" && !m.HasDictionaryPage() {
		t.Errorf("%s: no dictionary", name)
	}
	if packed, plain := m.TotalCompressedSize(), m.TotalUncompressedSize(); packed > plain || packed != plain && packed > plain/16*15 {
		t.Errorf("%s: %s, %d bytes of %d", name, m.Compression(), packed, plain)
	}
}

func isSelected(sel []int32, at int) bool {
	_, found := slices.BinarySearch(sel, int32(at))
	return found
}

// physical is a value as Parquet has it: bytes whose order is that of the values; "" is NULL.
func physical(v types.Value) string {
	switch {
	case v.Null:
		return ""
	case v.Type.IsString():
		return "s" + v.S
	case v.Type.IsFloat():
		return "f" + strconv.FormatFloat(v.F, 'g', -1, 64)
	case v.Type.Phys() == types.PhysInt128:
		return "d" + v.D.String()
	}
	return "i" + strconv.FormatInt(v.I, 10)
}

// chunk reads a column of a row group, and what the footer says of its least and greatest value.
func chunk(t *testing.T, f *file.Reader, group, c int) (values []string, low, high string) {
	t.Helper()
	rg := f.RowGroup(group)
	reader, err := rg.Column(c)
	if err != nil {
		t.Fatal(err)
	}
	n := int(rg.NumRows())
	levels := make([]int16, n)
	var text func(i int) string
	read := 0
	all := func(batch func(from int) (int64, int, error)) {
		for at := 0; at < n; {
			rows, present, err := batch(at)
			if err != nil || rows == 0 {
				t.Fatalf("column %d, row %d of %d: %v", c, at, n, err)
			}
			at += int(rows)
			read += present
		}
	}
	decimal := func(b []byte) string {
		x := types.Int128FromInt64(int64(int8(b[0])))
		for _, d := range b[1:] {
			hi := x.Hi<<8 | int64(x.Lo>>56)
			x = types.Int128{Hi: hi, Lo: x.Lo<<8 | uint64(d)}
		}
		if shapes[c].typ.Phys() == types.PhysInt128 {
			return "d" + x.String()
		}
		return "i" + x.String()
	}
	bound := func(b []byte) string {
		switch {
		case len(b) == 0 && shapes[c].name != "empty":
			return ""
		case shapes[c].typ.IsString():
			return "s" + string(b)
		case shapes[c].typ.IsFloat():
			return "f" + strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
		case shapes[c].typ.Kind == types.KindDecimal:
			return decimal(b)
		}
		return "i" + strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	}
	switch x := reader.(type) {
	case *file.Int64ColumnChunkReader:
		list := make([]int64, n)
		all(func(at int) (int64, int, error) { return x.ReadBatch(int64(n-at), list[read:], levels[at:], nil) })
		text = func(i int) string { return "i" + strconv.FormatInt(list[i], 10) }
	case *file.Float64ColumnChunkReader:
		list := make([]float64, n)
		all(func(at int) (int64, int, error) { return x.ReadBatch(int64(n-at), list[read:], levels[at:], nil) })
		text = func(i int) string { return "f" + strconv.FormatFloat(list[i], 'g', -1, 64) }
	case *file.FixedLenByteArrayColumnChunkReader:
		list := make([]string, 0, n)
		part := make([]arrowparquet.FixedLenByteArray, n)
		all(func(at int) (int64, int, error) {
			rows, present, err := x.ReadBatch(int64(n-at), part, levels[at:], nil)
			for _, b := range part[:present] {
				list = append(list, decimal(b))
			}
			return rows, present, err
		})
		text = func(i int) string { return list[i] }
	case *file.ByteArrayColumnChunkReader:
		list := make([]string, 0, n)
		part := make([]arrowparquet.ByteArray, n)
		all(func(at int) (int64, int, error) {
			rows, present, err := x.ReadBatch(int64(n-at), part, levels[at:], nil)
			for _, b := range part[:present] {
				list = append(list, "s"+string(b))
			}
			return rows, present, err
		})
		text = func(i int) string { return list[i] }
	default:
		t.Fatalf("column %d is read by %T", c, reader)
	}
	value := 0
	for _, level := range levels {
		if level == 0 {
			values = append(values, "")
			continue
		}
		values = append(values, text(value))
		value++
	}
	m, err := rg.MetaData().ColumnChunk(c)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := m.Statistics()
	if err != nil || stats == nil {
		t.Fatalf("column %d has no statistics: %v", c, err)
	}
	if stats.NullCount() != int64(n-value) {
		t.Errorf("column %d has %d NULLs, and says %d", c, n-value, stats.NullCount())
	}
	distinct := map[string]bool{}
	for _, x := range values {
		distinct[x] = true
	}
	delete(distinct, "")
	if n := stats.DistinctCount(); n > 0 && n != int64(len(distinct)) {
		t.Errorf("column %d has %d values, and says %d", c, len(distinct), stats.DistinctCount())
	}
	if stats.HasMinMax() {
		low, high = bound(stats.EncodeMin()), bound(stats.EncodeMax())
	}
	return values, low, high
}

// checkExtremes compares the footer's least and greatest value with those of the values.
func checkExtremes(t *testing.T, name string, present []string, low, high string) {
	t.Helper()
	less := func(a, b string) bool {
		if a[0] == 's' {
			return a < b
		}
		if name == "large" {
			return uint64(number[int64](t, strconv.ParseInt, a)) < uint64(number[int64](t, strconv.ParseInt, b))
		}
		float := func(s string, _, bits int) (float64, error) { return strconv.ParseFloat(s, bits) }
		return number(t, float, a) < number(t, float, b)
	}
	if len(present) == 0 {
		if low != "" || high != "" {
			t.Errorf("%s: %q to %q of no values", name, low, high)
		}
		return
	}
	least, greatest := present[0], present[0]
	for _, x := range present {
		if less(x, least) {
			least = x
		}
		if less(greatest, x) {
			greatest = x
		}
	}
	if less(least, low) || less(low, least) || less(greatest, high) || less(high, greatest) {
		t.Errorf("%s: %q to %q, and the footer says %q to %q", name, least, greatest, low, high)
	}
}

// number reads what stands behind the letter of a kind.
func number[T any](t *testing.T, parse func(s string, base, bits int) (T, error), text string) T {
	x, err := parse(text[1:], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestWriterCountsMemory writes strings of which several share memory. What the writer allocates in all its time is hardly more than it says that it holds at once: nothing
// that it has outgrown is left to the collector.
func TestWriterCountsMemory(t *testing.T) {
	const limit, slack = 64 << 20, 8 << 20
	for _, length := range []int{5_000, 100_000} {
		rows := 4 << 20 / length
		b := &column.Batch{N: rows, Cols: []*column.Vector{column.New(types.Int64, rows), column.New(types.Text, rows)}}
		for i := range rows {
			b.Cols[0].I64[i] = int64(i)
			b.Cols[1].Str[i] = strings.Repeat(strconv.Itoa(i%10), length)
		}
		w, err := parquet.NewWriter(io.Discard, []string{"i", "s"}, []types.Type{types.Int64, types.Text})
		if err != nil {
			t.Fatal(err)
		}
		most := int64(0)
		w.Workers(2).Meter(limit, func(bytes int64) error { most = max(most, bytes); return nil })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 50 {
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if taken := int64(after.TotalAlloc - before.TotalAlloc); taken > most+slack {
			t.Errorf("strings of %d bytes: %d bytes allocated, at most %d counted", length, taken, most)
		}
	}
}
