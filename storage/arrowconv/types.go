package arrowconv

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// TypeOf returns the SQL type for an Arrow type, if it has one.
func TypeOf(dt arrow.DataType) (t types.Type, ok bool) {
	switch t := dt.(type) {
	case *arrow.Decimal128Type:
		return decimalType(t)
	case *arrow.Decimal256Type:
		return decimalType(t)
	case *arrow.TimestampType:
		kind := types.KindDatetime
		if t.TimeZone != "" {
			kind = types.KindTimestamp
		}
		return types.Type{Kind: kind, Scale: digits(t.Unit)}, true
	case *arrow.Time32Type:
		return types.Type{Kind: types.KindTime, Scale: digits(t.Unit)}, true
	case *arrow.Time64Type:
		return types.Type{Kind: types.KindTime, Scale: digits(t.Unit)}, true
	case *arrow.FixedSizeBinaryType:
		return types.Type{Kind: types.KindBinary, Length: int32(t.ByteWidth)}, true
	case *arrow.DictionaryType:
		return TypeOf(t.ValueType)
	case *arrow.RunEndEncodedType:
		return TypeOf(t.Encoded())
	case arrow.ExtensionType:
		return TypeOf(t.StorageType())
	}
	if t, ok = simpleTypes[dt.ID()]; ok {
		return t, true
	}
	return nestedType(dt)
}

var simpleTypes = map[arrow.Type]types.Type{
	arrow.NULL: types.Int64, arrow.BOOL: types.Bool,
	arrow.INT8: types.Int8, arrow.INT16: types.Int16, arrow.INT32: types.Int32, arrow.INT64: types.Int64,
	arrow.UINT8: types.Uint8, arrow.UINT16: types.Uint16, arrow.UINT32: types.Uint32, arrow.UINT64: types.Uint64,
	arrow.FLOAT16: types.Float, arrow.FLOAT32: types.Float, arrow.FLOAT64: types.Double,
	arrow.DATE32: types.Date, arrow.DATE64: types.Date,
	arrow.STRING: types.Text, arrow.LARGE_STRING: types.Text, arrow.STRING_VIEW: types.Text,
	arrow.BINARY: types.Blob, arrow.LARGE_BINARY: types.Blob, arrow.BINARY_VIEW: types.Blob,
}

func decimalType(t arrow.DecimalType) (types.Type, bool) {
	p, s := t.GetPrecision(), t.GetScale()
	if p < 1 || p > types.MaxDecimalPrecision || s < 0 || s > types.MaxDecimalScale || s > p {
		return types.Type{}, false
	}
	return types.Decimal(int(p), int(s)), true
}

// digits returns the fractional digits of seconds that a unit has, at most 6.
func digits(u arrow.TimeUnit) uint8 {
	return [...]uint8{arrow.Second: 0, arrow.Millisecond: 3, arrow.Microsecond: 6, arrow.Nanosecond: 6}[u]
}

// unitOf returns the coarsest unit that holds so many fractional digits.
func unitOf(fsp uint8) arrow.TimeUnit {
	switch {
	case fsp == 0:
		return arrow.Second
	case fsp <= 3:
		return arrow.Millisecond
	}
	return arrow.Microsecond
}

// ArrowType returns the Arrow type for a SQL type.
func ArrowType(t types.Type) arrow.DataType {
	switch t.Kind {
	case types.KindNull:
		return arrow.Null
	case types.KindBool, types.KindInt8:
		return arrow.PrimitiveTypes.Int8
	case types.KindInt16:
		return arrow.PrimitiveTypes.Int16
	case types.KindInt24, types.KindInt32:
		return arrow.PrimitiveTypes.Int32
	case types.KindUint8:
		return arrow.PrimitiveTypes.Uint8
	case types.KindUint16, types.KindYear:
		return arrow.PrimitiveTypes.Uint16
	case types.KindUint24, types.KindUint32:
		return arrow.PrimitiveTypes.Uint32
	case types.KindUint64:
		return arrow.PrimitiveTypes.Uint64
	case types.KindFloat:
		return arrow.PrimitiveTypes.Float32
	case types.KindDouble:
		return arrow.PrimitiveTypes.Float64
	case types.KindDecimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case types.KindDate:
		return arrow.FixedWidthTypes.Date32
	case types.KindDatetime:
		return &arrow.TimestampType{Unit: unitOf(t.Scale)}
	case types.KindTimestamp:
		return &arrow.TimestampType{Unit: unitOf(t.Scale), TimeZone: "UTC"}
	case types.KindTime:
		if u := unitOf(t.Scale); u != arrow.Microsecond {
			return &arrow.Time32Type{Unit: u}
		}
		return arrow.FixedWidthTypes.Time64us
	case types.KindBinary, types.KindVarbinary, types.KindBlob:
		return arrow.BinaryTypes.Binary
	case types.KindChar, types.KindVarchar, types.KindText, types.KindEnum, types.KindJSON:
		return arrow.BinaryTypes.String
	default:
		return arrow.PrimitiveTypes.Int64
	}
}

// Columns returns the column definitions for the fields of an Arrow schema. Two fields of one name are an error, as is none.
func Columns(schema *arrow.Schema) ([]table.ColumnDef, error) {
	defs := make([]table.ColumnDef, schema.NumFields())
	for i, f := range schema.Fields() {
		defs[i] = Column(f)
	}
	return defs, CheckColumns(defs)
}

// Column returns the column definition for a field.
func Column(f arrow.Field) table.ColumnDef {
	t, ok := TypeOf(f.Type)
	if !ok {
		return ForeignColumn(f.Name, f.Type.String())
	}
	return table.ColumnDef{Name: f.Name, Type: t, Nullable: f.Nullable || f.Type.ID() == arrow.NULL}
}

// ForeignColumn returns the definition of a column of a type that SQL does not have.
func ForeignColumn(name, typ string) table.ColumnDef {
	return table.ColumnDef{Name: name, Type: types.Int64, Nullable: true, Foreign: typ}
}

// ForeignData returns the rows of such a column.
func ForeignData(rows int) encoding.Data {
	return encoding.Data{Type: types.Int64, Rows: rows, Ints: make([]int64, rows), Valid: column.NewBitmap(rows, false)}
}

// CheckColumns checks that columns can be a table's.
func CheckColumns(defs []table.ColumnDef) error {
	if len(defs) == 0 {
		return sqlerr.New(sqlerr.CodeTableMustHaveColumns, sqlerr.User, "there are no columns; a table must have at least 1")
	}
	taken := map[string]bool{}
	for i := range defs {
		name := strings.ToLower(defs[i].Name)
		if taken[name] {
			return sqlerr.DupFieldName(defs[i].Name)
		}
		taken[name] = true
	}
	return nil
}

// NameColumns makes the names of a file's columns distinct, since those of a table are in any case of letters.
func NameColumns(defs []table.ColumnDef) {
	names := make([]string, len(defs))
	for i := range defs {
		names[i] = defs[i].Name
	}
	table.DistinctNames(names)
	for i := range defs {
		defs[i].Name = names[i]
	}
}

// Schema returns an Arrow schema of nullable fields.
func Schema(names []string, columns []types.Type) *arrow.Schema {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: ArrowType(columns[i]), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}
