package arrowconv_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/encoding"
)

// Values in Arrow's JSON form, which Arrow itself reads, and the strings that MySQL gives the same values.
var importCases = []struct {
	dt   arrow.DataType
	json string
	typ  string
	want []string
}{
	{arrow.Null, `[null, null]`, "BIGINT", []string{"NULL", "NULL"}},
	{arrow.FixedWidthTypes.Boolean, `[true, null, false]`, "BOOLEAN", []string{"1", "NULL", "0"}},
	{arrow.PrimitiveTypes.Int8, `[-128, null, 127]`, "TINYINT", []string{"-128", "NULL", "127"}},
	{arrow.PrimitiveTypes.Int16, `[-32768, 32767]`, "SMALLINT", []string{"-32768", "32767"}},
	{arrow.PrimitiveTypes.Int32, `[-2147483648, null]`, "INT", []string{"-2147483648", "NULL"}},
	{arrow.PrimitiveTypes.Int64, `[-9223372036854775808, 9223372036854775807]`, "BIGINT", []string{"-9223372036854775808", "9223372036854775807"}},
	{arrow.PrimitiveTypes.Uint8, `[255]`, "TINYINT UNSIGNED", []string{"255"}},
	{arrow.PrimitiveTypes.Uint16, `[65535, null]`, "SMALLINT UNSIGNED", []string{"65535", "NULL"}},
	{arrow.PrimitiveTypes.Uint32, `[4294967295]`, "INT UNSIGNED", []string{"4294967295"}},
	{arrow.PrimitiveTypes.Uint64, `[18446744073709551615, null, 0]`, "BIGINT UNSIGNED", []string{"18446744073709551615", "NULL", "0"}},
	{arrow.FixedWidthTypes.Float16, `[1.5, null]`, "FLOAT", []string{"1.5", "NULL"}},
	{arrow.PrimitiveTypes.Float32, `[-0.25, null]`, "FLOAT", []string{"-0.25", "NULL"}},
	{arrow.PrimitiveTypes.Float64, `[1e300, null, 0.1]`, "DOUBLE", []string{"1e300", "NULL", "0.1"}},
	{&arrow.Decimal128Type{Precision: 15, Scale: 2}, `["-1.50", null, "9999999999999.99"]`, "DECIMAL(15,2)", []string{"-1.50", "NULL", "9999999999999.99"}},
	{&arrow.Decimal128Type{Precision: 38, Scale: 4}, `["-1234567890123456789012345678901234.5678", null]`, "DECIMAL(38,4)", []string{"-1234567890123456789012345678901234.5678", "NULL"}},
	{&arrow.Decimal256Type{Precision: 30, Scale: 1}, `["-3.5", "12345678901234567890.1"]`, "DECIMAL(30,1)", []string{"-3.5", "12345678901234567890.1"}},
	{arrow.FixedWidthTypes.Date32, `["1992-02-29", null, "0101-01-01"]`, "DATE", []string{"1992-02-29", "NULL", "0101-01-01"}},
	{arrow.FixedWidthTypes.Date64, `["1969-12-31", null]`, "DATE", []string{"1969-12-31", "NULL"}},
	{&arrow.TimestampType{Unit: arrow.Second}, `["2024-02-29 23:59:59", null]`, "DATETIME", []string{"2024-02-29 23:59:59", "NULL"}},
	{&arrow.TimestampType{Unit: arrow.Millisecond}, `["1960-01-01 00:00:00.007"]`, "DATETIME(3)", []string{"1960-01-01 00:00:00.007"}},
	{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["1960-01-01 00:00:00.123456789"]`, "DATETIME(6)", []string{"1960-01-01 00:00:00.123456"}},
	{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, `["2001-02-03 04:05:06.000007"]`, "TIMESTAMP(6)", []string{"2001-02-03 04:05:06.000007"}},
	{arrow.FixedWidthTypes.Time32s, `["23:59:59", null]`, "TIME", []string{"23:59:59", "NULL"}},
	{arrow.FixedWidthTypes.Time64ns, `["00:00:00.000001999"]`, "TIME(6)", []string{"00:00:00.000001"}},
	{arrow.BinaryTypes.String, `["", "ä", null, "long enough"]`, "TEXT", []string{"", "ä", "NULL", "long enough"}},
	{arrow.BinaryTypes.LargeString, `["x", null]`, "TEXT", []string{"x", "NULL"}},
	{arrow.BinaryTypes.StringView, `["short", null, "one that does not fit inline"]`, "TEXT", []string{"short", "NULL", "one that does not fit inline"}},
	{arrow.BinaryTypes.Binary, `["QUI=", null]`, "BLOB", []string{"AB", "NULL"}},
	{arrow.BinaryTypes.LargeBinary, `["QUI="]`, "BLOB", []string{"AB"}},
	{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `["QUI=", null]`, "BINARY(2)", []string{"AB", "NULL"}},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["a", "b", null, "a"]`, "TEXT", []string{"a", "b", "NULL", "a"}},
	{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64), `[5, 5, null, null, 7, 7, 7]`, "BIGINT", []string{"5", "5", "NULL", "NULL", "7", "7", "7"}},
	{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `["a", "a", "b", null]`, "TEXT", []string{"a", "a", "b", "NULL"}},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.PrimitiveTypes.Int32}, `[7, null, -7]`, "INT", []string{"7", "NULL", "-7"}},
}

func TestImport(t *testing.T) {
	for _, tc := range importCases {
		t.Run(tc.dt.String(), func(t *testing.T) {
			a, _, err := array.FromJSON(memory.DefaultAllocator, tc.dt, strings.NewReader(tc.json), array.WithUseNumber())
			if err != nil {
				t.Fatal(err)
			}
			typ, ok := arrowconv.TypeOf(tc.dt)
			if !ok || typ.String() != tc.typ {
				t.Fatalf("type %v, %v; want %s", typ, ok, tc.typ)
			}
			// The whole array, then its parts, whose offsets are not 0.
			for from := 0; from < a.Len(); from++ {
				part := array.NewSlice(a, int64(from), int64(a.Len()))
				d, err := arrowconv.Data(part, typ, nil)
				if err != nil {
					t.Fatal(err)
				}
				if d.Rows != part.Len() {
					t.Fatalf("%d rows of %d", d.Rows, part.Len())
				}
				c := encoding.Encode(d)
				for i, want := range tc.want[from:] {
					if got := c.At(i).Text(); got != want {
						t.Errorf("from %d, value %d: %s, want %s", from, i, got, want)
					}
				}
			}
		})
	}
}

// Columns of types that SQL lacks are there by name.
func TestForeign(t *testing.T) {
	for _, dt := range []arrow.DataType{
		arrow.ListOf(&arrow.Decimal256Type{Precision: 39, Scale: 2}),
		&arrow.Decimal256Type{Precision: 39, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 31}, &arrow.Decimal128Type{Precision: 5, Scale: -2},
	} {
		defs, err := arrowconv.Columns(arrow.NewSchema([]arrow.Field{{Name: "col", Type: dt}}, nil))
		if err != nil || defs[0].Foreign != dt.String() {
			t.Errorf("%s: %+v, %v", dt, defs, err)
		}
	}
}

// Dates beyond the years 0 to 9999, and infinite ones, are refused; what lies behind a NULL does not matter.
func TestDatesOutOfRange(t *testing.T) {
	for _, tc := range []struct {
		day int32
		ok  bool
	}{{-719528, true}, {-719529, false}, {2932896, true}, {2932897, false}, {math.MaxInt32, false}, {math.MinInt32, false}} {
		b := array.NewDate32Builder(memory.DefaultAllocator)
		b.AppendValues([]arrow.Date32{0, arrow.Date32(tc.day)}, []bool{true, true})
		days := b.NewArray()
		b.AppendValues([]arrow.Date32{0, arrow.Date32(tc.day)}, []bool{true, false})
		hidden := b.NewArray()
		if _, err := arrowconv.Data(days, types.Date, nil); (err == nil) != tc.ok || err != nil && !errors.Is(err, sqlerr.CodeWrongValueForType) {
			t.Errorf("day %d: %v", tc.day, err)
		}
		if _, err := arrowconv.Data(hidden, types.Date, nil); err != nil {
			t.Errorf("day %d behind NULL: %v", tc.day, err)
		}
	}
}

// A decimal with a digit too many is found wherever it stands, one with as many as the type has is none.
func TestDigits(t *testing.T) {
	for precision := 1; precision <= 18; precision++ {
		typ := types.Decimal(precision, 0)
		dt := &arrow.Decimal128Type{Precision: int32(precision)}
		most := types.Pow10(precision) - 1
		for n := range 12 {
			for at := range n {
				for _, x := range []int64{0, 1, most, most + 1, -most, -most - 1, math.MaxInt64, math.MinInt64} {
					values := make([]int64, n)
					for i := range values {
						values[i] = int64(i) % (most + 1)
					}
					values[at] = x
					err := arrowconv.FinishInts(&encoding.Data{Type: typ, Rows: n, Ints: values}, dt)
					if fits := -most <= x && x <= most; (err == nil) != fits {
						t.Errorf("%d, the value %d of %d, as %s: %v", x, at, n, typ, err)
					}
				}
			}
		}
	}
}

// Exported values, as Arrow writes them in JSON: a Z ends every timestamp, with a zone or without.
func TestExport(t *testing.T) {
	enum := types.Type{Kind: types.KindEnum, Enum: &types.EnumMembers{Names: []string{"red", "green"}}}
	for _, tc := range []struct {
		typ  types.Type
		in   []string // "NULL" or what CAST would read
		want string
	}{
		{types.Bool, []string{"1", "NULL", "5"}, `[1,null,5]`},
		{types.Int24, []string{"-8388608", "NULL"}, `[-8388608,null]`},
		{types.Uint64, []string{"18446744073709551615", "0"}, `[18446744073709551615,0]`},
		{types.Year, []string{"2155"}, `[2155]`},
		{types.Uint8, []string{"255"}, `[255]`},
		{types.Float, []string{"1.5", "NULL"}, `[1.5,null]`},
		{types.Decimal(5, 2), []string{"-1.50", "NULL"}, `["-1.5",null]`},
		{types.Decimal(30, 1), []string{"12345678901234567890.1"}, `["12345678901234567890.1"]`},
		{types.Date, []string{"1992-02-29", "NULL"}, `["1992-02-29",null]`},
		{types.DatetimeFsp(0), []string{"1960-01-01 01:02:03"}, `["1960-01-01 01:02:03Z"]`},
		{types.DatetimeFsp(2), []string{"1960-01-01 01:02:03.07"}, `["1960-01-01 01:02:03.07Z"]`},
		{types.DatetimeFsp(6), []string{"2024-02-29 23:59:59.123456"}, `["2024-02-29 23:59:59.123456Z"]`},
		{types.TimeFsp(6), []string{"23:59:59.000001"}, `["23:59:59.000001"]`},
		{types.TimeFsp(0), []string{"00:00:01", "NULL"}, `["00:00:01",null]`},
		{types.Varchar(10), []string{"ä", "", "NULL"}, `["ä","",null]`},
		{types.Blob, []string{"AB", "NULL"}, `["QUI=",null]`},
		{enum, []string{"green", "NULL", "red"}, `["green",null,"red"]`},
	} {
		values := make([]types.Value, len(tc.in))
		for i, s := range tc.in {
			values[i] = types.NullOf(tc.typ)
			if s != "NULL" {
				v, status := types.Store(types.StringValue(s), tc.typ)
				if status != types.ConvertOK {
					t.Fatalf("%s as %s: %s", s, tc.typ, status)
				}
				values[i] = v
			}
		}
		n := len(values)
		flat, sparse := column.New(tc.typ, n), column.New(tc.typ, 2*n)
		var sel []int32
		for i, v := range values {
			flat.Set(i, n, v)
			sparse.Set(2*i+1, 2*n, v)
			sel = append(sel, int32(2*i+1))
		}
		for name, f := range map[string]func() (arrow.Array, error){
			"flat":     func() (arrow.Array, error) { return arrowconv.Array(flat, n, nil) },
			"selected": func() (arrow.Array, error) { return arrowconv.Array(sparse, 2*n, sel) },
		} {
			a, err := f()
			if err != nil {
				t.Errorf("%s, %s: %v", tc.typ, name, err)
				continue
			}
			text, err := a.(interface{ MarshalJSON() ([]byte, error) }).MarshalJSON()
			if err != nil || string(text) != tc.want {
				t.Errorf("%s, %s: %s, %v; want %s", tc.typ, name, text, err, tc.want)
			}
		}
		constant := column.ConstVector(values[0])
		a, err := arrowconv.Array(constant, 3, nil)
		if err != nil || a.Len() != 3 || a.ValueStr(2) != a.ValueStr(0) {
			t.Errorf("%s: constant: %v, %v", tc.typ, a, err)
		}
	}
	out := column.ConstVector(types.Value{Type: types.Time, I: -1})
	if _, err := arrowconv.Array(out, 1, nil); !errors.Is(err, sqlerr.NotSupported) {
		t.Errorf("a negative TIME: %v", err)
	}
}

// A registered table reads what Arrow holds, in Arrow's memory where that is possible.
func TestTable(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	var records []arrow.Record
	total := 0
	for _, n := range []int{200000, 3, 100, 20000} {
		for range n {
			b.Field(0).(*array.Int64Builder).Append(int64(total) << 20)
			if total%5 == 0 {
				b.Field(1).AppendNull()
			} else {
				b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("row ", total))
			}
			b.Field(2).(*array.Float64Builder).Append(float64(total) / 2)
			total++
		}
		records = append(records, b.NewRecord())
	}
	v, err := arrowconv.Table("d", "t", schema, records)
	if err != nil {
		t.Fatal(err)
	}
	if v.Rows() != int64(total) {
		t.Fatalf("%d rows", v.Rows())
	}
	for i := 0; i < total; i += 17 {
		row, _ := v.Row(int64(i))
		if row[0].I != int64(i)<<20 || row[1].Null != (i%5 == 0) || !row[1].Null && row[1].S != fmt.Sprint("row ", i) || row[2].F != float64(i)/2 {
			t.Fatalf("row %d: %v", i, row)
		}
	}
	first := records[0].Column(0).(*array.Int64).Int64Values()
	if c := v.Groups()[0].Columns[0]; c.Kind != encoding.Raw64 || &c.I64[0] != &first[0] {
		t.Error("integers were copied")
	}
	if f := records[0].Column(2).(*array.Float64).Float64Values(); &v.Groups()[0].Columns[2].F64[0] != &f[0] {
		t.Error("doubles were copied")
	}
	if s := records[0].Column(1).(*array.String).ValueBytes(); &v.Groups()[0].Columns[1].Bytes[0] != &s[0] {
		t.Error("strings were copied")
	}
	if _, err := arrowconv.Table("d", "t", arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "A", Type: arrow.PrimitiveTypes.Int64}}, nil), nil); !errors.Is(err, sqlerr.CodeDupFieldName) {
		t.Errorf("two columns of one name: %v", err)
	}
	null := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	null.Field(0).AppendNull()
	null.Field(1).AppendNull()
	null.Field(2).AppendNull()
	if _, err := arrowconv.Table("d", "t", schema, []arrow.Record{null.NewRecord()}); !errors.Is(err, sqlerr.CodeBadNull) {
		t.Errorf("NULL in a column that has none: %v", err)
	}
}
