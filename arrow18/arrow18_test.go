package arrow18

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	memory17 "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish"
)

var background = context.Background()

func openDB(t *testing.T) *radish.DB {
	t.Helper()
	db, err := radish.Open(":memory:?time_zone=UTC")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// kinds are columns of v18 with three values each, the last but one of them NULL, what v17 makes of their type, and
// what SQL gives for the values.
var kinds = []struct {
	name   string
	typ    arrow.DataType
	json   string
	type17 string // empty: the same text
	values [3]string
}{
	{"bool", arrow.FixedWidthTypes.Boolean, `[true, null, false]`, "", [3]string{"1", "", "0"}},
	{"i8", arrow.PrimitiveTypes.Int8, `[-128, null, 7]`, "", [3]string{"-128", "", "7"}},
	{"i16", arrow.PrimitiveTypes.Int16, `[-32768, null, 7]`, "", [3]string{"-32768", "", "7"}},
	{"i32", arrow.PrimitiveTypes.Int32, `[-2147483648, null, 7]`, "", [3]string{"-2147483648", "", "7"}},
	{"i64", arrow.PrimitiveTypes.Int64, `[-9223372036854775807, null, 7]`, "", [3]string{"-9223372036854775807", "", "7"}},
	{"u8", arrow.PrimitiveTypes.Uint8, `[255, null, 7]`, "", [3]string{"255", "", "7"}},
	{"u16", arrow.PrimitiveTypes.Uint16, `[65535, null, 7]`, "", [3]string{"65535", "", "7"}},
	{"u32", arrow.PrimitiveTypes.Uint32, `[4294967295, null, 7]`, "", [3]string{"4294967295", "", "7"}},
	{"u64", arrow.PrimitiveTypes.Uint64, `[9223372036854775809, null, 7]`, "", [3]string{"9223372036854775809", "", "7"}},
	{"f16", arrow.FixedWidthTypes.Float16, `[1.5, null, -2]`, "", [3]string{"1.5", "", "-2"}},
	{"f32", arrow.PrimitiveTypes.Float32, `[1.5, null, -2]`, "", [3]string{"1.5", "", "-2"}},
	{"f64", arrow.PrimitiveTypes.Float64, `[1e300, null, -2]`, "", [3]string{"1e300", "", "-2"}},
	{"d128", &arrow.Decimal128Type{Precision: 38, Scale: 2},
		`["123456789012345678901234567890.25", null, "-0.75"]`, "",
		[3]string{"123456789012345678901234567890.25", "", "-0.75"}},
	{"d256", &arrow.Decimal256Type{Precision: 30, Scale: 1}, `["12345678901234567890.5", null, "-0.5"]`, "", [3]string{"12345678901234567890.5", "", "-0.5"}},
	{"d32", &arrow.Decimal32Type{Precision: 9, Scale: 3}, `["123456.789", null, "-0.001"]`, "decimal(9, 3)", [3]string{"123456.789", "", "-0.001"}},
	{"d64", &arrow.Decimal64Type{Precision: 18, Scale: 4},
		`["12345678901234.5678", null, "-0.0001"]`, "decimal(18, 4)",
		[3]string{"12345678901234.5678", "", "-0.0001"}},
	{"date32", arrow.FixedWidthTypes.Date32, `["2024-02-29", null, "1969-12-31"]`, "", [3]string{"2024-02-29", "", "1969-12-31"}},
	{"date64", arrow.FixedWidthTypes.Date64, `["2024-02-29", null, "1969-12-31"]`, "", [3]string{"2024-02-29", "", "1969-12-31"}},
	{"stamp_us", &arrow.TimestampType{Unit: arrow.Microsecond},
		`["2024-02-29 10:20:30.123456", null, "1969-12-31 23:59:59"]`, "",
		[3]string{"2024-02-29 10:20:30.123456", "", "1969-12-31 23:59:59.000000"}},
	{"stamp_ns", &arrow.TimestampType{Unit: arrow.Nanosecond},
		`["2024-02-29 10:20:30.123456", null, "1970-01-01 00:00:00"]`, "",
		[3]string{"2024-02-29 10:20:30.123456", "", "1970-01-01 00:00:00.000000"}},
	{"moment", &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"},
		`["2024-02-29 10:20:30Z", null, "2000-01-01 00:00:00Z"]`, "",
		[3]string{"2024-02-29 10:20:30", "", "2000-01-01 00:00:00"}},
	{"time32", arrow.FixedWidthTypes.Time32ms, `["10:20:30.125", null, "00:00:00"]`, "", [3]string{"10:20:30.125", "", "00:00:00.000"}},
	{"time64", arrow.FixedWidthTypes.Time64us, `["10:20:30.123456", null, "00:00:00"]`, "", [3]string{"10:20:30.123456", "", "00:00:00.000000"}},
	{"utf8", arrow.BinaryTypes.String, `["grün", null, ""]`, "", [3]string{"grün", "", ""}},
	{"large", arrow.BinaryTypes.LargeString, `["grün", null, ""]`, "", [3]string{"grün", "", ""}},
	{"view", arrow.BinaryTypes.StringView,
		`["a string longer than twelve bytes", null, "short"]`, "",
		[3]string{"a string longer than twelve bytes", "", "short"}},
	{"bin", arrow.BinaryTypes.Binary, `["YWI=", null, ""]`, "", [3]string{"ab", "", ""}},
	{"fixed", &arrow.FixedSizeBinaryType{ByteWidth: 2}, `["YWI=", null, "Y2Q="]`, "", [3]string{"ab", "", "cd"}},
	{"dict", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["x", null, "y"]`, "", [3]string{"x", "", "y"}},
	{"list", arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1, null], null, []]`, "", [3]string{"[1,null]", "", "[]"}},
	{"large_list", arrow.LargeListOf(arrow.BinaryTypes.String), `[["a"], null, ["b", "c"]]`, "", [3]string{`["a"]`, "", `["b","c"]`}},
	{"list_view", arrow.ListViewOf(arrow.PrimitiveTypes.Int64), `[[1], null, [2, 3]]`, "", [3]string{"[1]", "", "[2,3]"}},
	{"three", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), `[[1, 2], null, [3, 4]]`, "", [3]string{"[1.0,2.0]", "", "[3.0,4.0]"}},
	{"struct", arrow.StructOf(
		arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "b", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}),
		`[{"a": 1, "b": ["x"]}, null, {"a": null, "b": null}]`,
		"struct<a: int32, b: list<item: utf8, nullable>>",
		[3]string{`{"a":1,"b":["x"]}`, "", `{"a":null,"b":null}`}},
	{"map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), `[[{"key": "k", "value": 1}], null, []]`, "", [3]string{`{"k":1}`, "", `{}`}},
	{"dict_in_list", arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
		`[["x", "y"], null, ["y"]]`, "",
		[3]string{`["x","y"]`, "", `["y"]`}},
	{"runs", arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), `[5, null, 6]`, "", [3]string{"5", "", "6"}},
	{"months", arrow.FixedWidthTypes.MonthDayNanoInterval,
		`[{"months": 14, "days": 3, "nanoseconds": 1000000000}, null, {"months": 0, "days": 0, "nanoseconds": 0}]`, "",
		[3]string{"1 year 2 months 3 days 00:00:01", "", "00:00:00"}},
	{"none", arrow.Null, `[null, null, null]`, "", [3]string{"", "", ""}},
}

// readerOf returns a reader of the batches.
func readerOf(t *testing.T, schema *arrow.Schema, batches ...arrow.RecordBatch) array.RecordReader {
	t.Helper()
	r, err := array.NewRecordReader(schema, batches)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Release)
	return r
}

// TestTypesIn registers a column of every type as it is and as a slice that begins in the middle, and asks for its values.
func TestTypesIn(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			values, _, err := array.FromJSON(memory.DefaultAllocator, k.typ, strings.NewReader(k.json))
			if err != nil {
				t.Fatal(err)
			}
			schema := arrow.NewSchema([]arrow.Field{{Name: k.name, Type: k.typ, Nullable: true}}, nil)
			whole := array.NewRecordBatch(schema, []arrow.Array{values}, 3)
			r, err := ToV17(readerOf(t, schema, whole))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Release()
			want := k.type17
			if want == "" {
				want = k.typ.String()
			}
			if f := r.Schema().Field(0); f.Name != k.name || f.Type.String() != want || !f.Nullable {
				t.Errorf("the field is %v, want the type %s", f, want)
			}
			db := openDB(t)
			for name, batches := range map[string][]arrow.RecordBatch{
				"whole": {whole}, "slices": {whole.NewSlice(0, 1), whole.NewSlice(1, 1), whole.NewSlice(1, 3)}, "last": {whole.NewSlice(2, 3)}, "empty": {whole.NewSlice(3, 3)}, "nothing": {},
			} {
				if err := Register(db, name, readerOf(t, schema, batches...)); err != nil {
					t.Fatal(name, err)
				}
				var got []string
				conn, err := db.Conn()
				if err != nil {
					t.Fatal(err)
				}
				rows, err := conn.Query(background, "SELECT CAST(`"+k.name+"` AS CHAR) FROM `"+name+"`")
				if err != nil {
					t.Fatal(name, err)
				}
				for rows.Next() {
					v := rows.Values()[0]
					if v == nil {
						v = ""
					}
					got = append(got, fmt.Sprint(v))
				}
				if err := rows.Err(); err != nil {
					t.Fatal(name, err)
				}
				rows.Close()
				conn.Close()
				want := map[string][]string{"whole": k.values[:], "slices": k.values[:], "last": k.values[2:]}[name]
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

// TestTypesThere converts columns to v17 and back: the values are as before, read by either version.
func TestTypesThere(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			values, _, err := array.FromJSON(mem, k.typ, strings.NewReader(k.json))
			if err != nil {
				t.Fatal(err)
			}
			metadata := arrow.NewMetadata([]string{"unit"}, []string{"m"})
			schema := arrow.NewSchema([]arrow.Field{{Name: k.name, Type: k.typ, Nullable: true, Metadata: metadata}}, &metadata)
			whole := array.NewRecordBatch(schema, []arrow.Array{values}, 3)
			values.Release()
			slice := whole.NewSlice(1, 3)
			in, err := array.NewRecordReader(schema, []arrow.RecordBatch{whole, slice})
			if err != nil {
				t.Fatal(err)
			}
			there, err := ToV17(in)
			if err != nil {
				t.Fatal(err)
			}
			back, err := FromV17(there)
			if err != nil {
				t.Fatal(err)
			}
			if got := back.Schema().Metadata(); !got.Equal(metadata) || !back.Schema().Field(0).Metadata.Equal(metadata) {
				t.Errorf("metadata: %v", back.Schema())
			}
			for _, want := range []arrow.RecordBatch{whole, slice} {
				if !back.Next() {
					t.Fatalf("too few records: %v", back.Err())
				}
				got := back.RecordBatch().Column(0)
				if !strings.HasPrefix(k.type17, "decimal") && !array.Equal(got, want.Column(0)) {
					t.Errorf("got %v, want %v", got, want.Column(0))
				}
				if text, wanted := jsonOf(t, got), jsonOf(t, want.Column(0)); text != wanted {
					t.Errorf("got %s, want %s", text, wanted)
				}
				if text, wanted := jsonOf(t, there.Record().Column(0)), jsonOf(t, want.Column(0)); text != wanted {
					t.Errorf("v17 reads %s, want %s", text, wanted)
				}
			}
			if back.Next() {
				t.Error("too many records")
			}
			for _, r := range []interface{ Release() }{whole, slice, in, there, back} {
				r.Release()
			}
		})
	}
}

// stamp matches a time stamp as either version writes it.
var stamp = regexp.MustCompile(`"(\d+-\d+-\d+)[ T]([\d:.]+)Z?"`)

// jsonOf returns an array as JSON without the differences of the two versions in spaces and time stamps.
func jsonOf(t *testing.T, a json.Marshaler) string {
	t.Helper()
	text, err := a.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatal(err)
	}
	return stamp.ReplaceAllString(out.String(), `"$1 $2"`)
}

// TestTypesOut asks for columns of every SQL type, and compares what v18 reads with what v17 does.
func TestTypesOut(t *testing.T) {
	db := openDB(t)
	const values = `NULL, TRUE, -128, -32768, -8388608, -2147483648, -9223372036854775808, 255, 65535, 16777215, 4294967295, 18446744073709551615, 2024, 1.5, -1e300, 12345678901234567.25,
		-1.5, '2024-02-29', '2024-02-29 10:20:30', '2024-02-29 10:20:30.125', '2024-02-29 10:20:30.123456', '2024-02-29 10:20:30.123456', '10:20:30', '10:20:30.25', '10:20:30.123456',
		'c', 'grün', 'text', '{"a": [1]}', 'x', 'ab', 'abc', 'bytes'`
	_, err := db.Exec(background, `CREATE TABLE kinds (n INT, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i24 MEDIUMINT, i32 INT, i64 BIGINT, u8 TINYINT UNSIGNED, u16 SMALLINT UNSIGNED,
		u24 MEDIUMINT UNSIGNED, u32 INT UNSIGNED, u64 BIGINT UNSIGNED, y YEAR, f FLOAT, d DOUBLE, wide DECIMAL(30,2), narrow DECIMAL(5,1), day DATE, at DATETIME, at3 DATETIME(3), at6 DATETIME(6),
		moment TIMESTAMP(6), t TIME, t3 TIME(3), t6 TIME(6), c CHAR(3), v VARCHAR(10), txt TEXT, j JSON, e ENUM('x','y'), bi BINARY(2), vb VARBINARY(5), bl BLOB)`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(background, "INSERT INTO kinds VALUES ("+values+"), ("+strings.Repeat("NULL, ", 32)+"NULL), ("+values+")"); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"SELECT * FROM kinds", "SELECT * FROM kinds WHERE i32 IS NULL", "SELECT * FROM kinds WHERE FALSE", "SELECT NULL AS x, COUNT(*) AS n FROM kinds"} {
		want, err := db.QueryArrow(background, q)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Query(background, conn, q)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := got.Schema().String(), want.Schema().String(); g != w {
			t.Errorf("%s: the schema is\n%s, want\n%s", q, g, w)
		}
		rows := 0
		for want.Next() {
			if !got.Next() {
				t.Fatalf("%s: too few records: %v", q, got.Err())
			}
			rows += int(got.RecordBatch().NumRows())
			for i, c := range want.Record().Columns() {
				if g, w := jsonOf(t, got.RecordBatch().Column(i)), jsonOf(t, c); g != w {
					t.Errorf("%s, column %s: got %s, want %s", q, want.Schema().Field(i).Name, g, w)
				}
			}
		}
		if got.Next() || got.Err() != nil || want.Err() != nil {
			t.Errorf("%s: more records, or %v", q, got.Err())
		}
		if rows == 0 && !strings.Contains(q, "FALSE") {
			t.Errorf("%s: no rows", q)
		}
		want.Release()
		got.Release()
		conn.Close()
	}
}

// TestShared looks at addresses: a column's values are where they were, in both directions, and in a registered table too.
func TestShared(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	values := make([]int64, 20_000)
	for i := range values {
		values[i] = int64(i) << 30 // which no smaller integer holds
	}
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	batch := b.NewRecordBatch()
	there, err := ToV17(readerOf(t, schema, batch))
	if err != nil {
		t.Fatal(err)
	}
	back, err := FromV17(there)
	if err != nil {
		t.Fatal(err)
	}
	if !back.Next() {
		t.Fatal(back.Err())
	}
	own := batch.Column(0).(*array.Int64).Int64Values()
	if at := there.Record().Column(0).(*array17.Int64).Int64Values(); unsafe.SliceData(at) != unsafe.SliceData(own) {
		t.Error("v17 has a copy")
	}
	if at := back.RecordBatch().Column(0).(*array.Int64).Int64Values(); unsafe.SliceData(at) != unsafe.SliceData(own) {
		t.Error("v18 has a copy")
	}
	db := openDB(t)
	if err := Register(db, "shared", readerOf(t, schema, batch)); err != nil {
		t.Fatal(err)
	}
	own[5] = 7
	out, err := Query(background, db, "SELECT n + 0 AS n FROM shared")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if !out.Next() || out.RecordBatch().Column(0).ValueStr(5) != "7" {
		t.Error("the table has a copy")
	}
}

// TestReleases counts what allocators of both versions have given out: a retained record outlives its reader, and nothing is left at the end.
func TestReleases(t *testing.T) {
	mem := memory17.NewCheckedAllocator(memory17.DefaultAllocator)
	schema := arrow17.NewSchema([]arrow17.Field{
		{Name: "s", Type: arrow17.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow17.ListOf(arrow17.PrimitiveTypes.Int64), Nullable: true},
		{Name: "d", Type: &arrow17.DictionaryType{IndexType: arrow17.PrimitiveTypes.Int32, ValueType: arrow17.BinaryTypes.String}, Nullable: true},
	}, nil)
	record, _, err := array17.RecordFromJSON(mem, schema, strings.NewReader(`[{"s": "a", "l": [1, 2], "d": "x"}, {"s": null, "l": null, "d": null}, {"s": "b", "l": [3], "d": "x"}]`))
	if err != nil {
		t.Fatal(err)
	}
	in, err := array17.NewRecordReader(schema, []arrow17.Record{record})
	if err != nil {
		t.Fatal(err)
	}
	record.Release()
	out, err := FromV17(in)
	if err != nil {
		t.Fatal(err)
	}
	in.Release()
	out.Retain()
	out.Release()
	if !out.Next() {
		t.Fatal(out.Err())
	}
	batch := out.RecordBatch()
	batch.Retain()
	column := batch.Column(1)
	column.Retain()
	out.Release()
	if mem.CurrentAlloc() == 0 {
		t.Error("a retained batch has lost its memory")
	}
	if got := jsonOf(t, batch.Column(2)); got != `["x",null,"x"]` {
		t.Error(got)
	}
	batch.Release()
	if got := jsonOf(t, column); got != `[[1,2],null,[3]]` {
		t.Error(got)
	}
	column.Release()
	mem.AssertSize(t, 0)
}

// failing is a reader of v18 that fails after its first batch.
type failing struct {
	array.RecordReader
	read int
}

func (r *failing) Next() bool { r.read++; return r.read == 1 && r.RecordReader.Next() }

func (r *failing) Err() error { return errBroken }

var errBroken = errors.New("the source is broken")

// TestErrors: a type that v17 lacks is refused by name, errors of either side arrive.
func TestErrors(t *testing.T) {
	db := openDB(t)
	inner := arrow.NewSchema([]arrow.Field{{Name: "fine", Type: arrow.PrimitiveTypes.Int8}, {Name: "prices", Type: arrow.ListOf(&arrow.Decimal32Type{Precision: 9, Scale: 2})}}, nil)
	if err := Register(db, "x", readerOf(t, inner)); err == nil || !strings.Contains(err.Error(), `column "prices"`) || !strings.Contains(err.Error(), "decimal32(9, 2)") {
		t.Errorf("a list of decimal32: %v", err)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).Append(1)
	if err := Register(db, "x", &failing{RecordReader: readerOf(t, schema, b.NewRecordBatch())}); !errors.Is(err, errBroken) {
		t.Errorf("a reader that fails: %v", err)
	}
	if _, err := Query(background, db, "SELECT nothing"); err == nil {
		t.Error("a query of an unknown column has a reader")
	}
	out, err := Query(background, db, "SELECT CAST(-1 AS TIME) AS t")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if out.Next() || out.Err() == nil {
		t.Errorf("a negative TIME fits Arrow's time of day: %v", out.Err())
	}
}

// TestUnions converts unions, which JSON cannot make.
func TestUnions(t *testing.T) {
	for _, mode := range []arrow.UnionMode{arrow.SparseMode, arrow.DenseMode} {
		fields := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}
		typ := arrow.UnionOf(mode, fields, []arrow.UnionTypeCode{3, 5})
		b := array.NewBuilder(memory.DefaultAllocator, typ).(array.UnionBuilder)
		b.Append(3)
		b.Child(0).(*array.Int64Builder).Append(7)
		if mode == arrow.SparseMode {
			b.Child(1).AppendEmptyValue()
		}
		b.Append(5)
		b.Child(1).(*array.StringBuilder).Append("text")
		if mode == arrow.SparseMode {
			b.Child(0).AppendEmptyValue()
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "u", Type: typ, Nullable: true}}, nil)
		db := openDB(t)
		if err := Register(db, "u", readerOf(t, schema, array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 2))); err != nil {
			t.Fatal(err)
		}
		out, err := Query(background, db, "SELECT u FROM u")
		if err != nil {
			t.Fatal(err)
		}
		if !out.Next() || jsonOf(t, out.RecordBatch().Column(0)) != `["7","\"text\""]` {
			t.Errorf("%v: %v, %v", mode, out.RecordBatch(), out.Err())
		}
		out.Release()
	}
}
