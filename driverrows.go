package radish

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"time"

	"github.com/radish-sql/radish/sql/types"
)

// driverRows are Rows as database/sql wants them.
type driverRows struct{ *Rows }

var (
	_ driver.RowsNextResultSet              = (*driverRows)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*driverRows)(nil)
	_ driver.RowsColumnTypeLength           = (*driverRows)(nil)
	_ driver.RowsColumnTypeNullable         = (*driverRows)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*driverRows)(nil)
	_ driver.RowsColumnTypeScanType         = (*driverRows)(nil)
)

func (r *driverRows) Columns() []string {
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = c.Name
	}
	return names
}

func (r *driverRows) Next(dest []driver.Value) error {
	if !r.Rows.Next() {
		if r.err != nil {
			return r.err
		}
		return io.EOF
	}
	at, zone := r.position(), r.Location()
	for i := range dest {
		dest[i] = goValue(r.batch.Cols[i], at, zone)
	}
	return nil
}

// HasNextResultSet says whether statements are left. They may turn out to give no rows.
func (r *driverRows) HasNextResultSet() bool { return !r.closed && len(r.rest) > 0 }

func (r *driverRows) NextResultSet() error {
	if r.NextResult() {
		return nil
	}
	if r.err != nil {
		return r.err
	}
	return io.EOF
}

func (r *driverRows) ColumnTypeDatabaseTypeName(i int) string { return r.columns[i].Type.Kind.Name() }

// ColumnTypeLength returns the length of types that vary in it, in characters or bytes.
func (r *driverRows) ColumnTypeLength(i int) (length int64, ok bool) {
	t := r.columns[i].Type
	switch t.Kind {
	case types.KindChar, types.KindVarchar, types.KindBinary, types.KindVarbinary:
		return int64(max(t.Length, 0)), true
	case types.KindText, types.KindBlob, types.KindJSON:
		return math.MaxInt64, true
	}
	return 0, false
}

func (r *driverRows) ColumnTypeNullable(i int) (nullable, ok bool) {
	return r.columns[i].Nullable, true
}

// ColumnTypePrecisionScale returns the digits of a DECIMAL, and the fractional seconds of a time as both, as other
// MySQL drivers do.
func (r *driverRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	t := r.columns[i].Type
	switch t.Kind {
	case types.KindDecimal:
		return int64(t.Precision), int64(t.Scale), true
	case types.KindDatetime, types.KindTimestamp, types.KindTime:
		return int64(t.Scale), int64(t.Scale), true
	}
	return 0, 0, false
}

// ColumnTypeScanType returns a type that holds every value of the column, NULL included.
func (r *driverRows) ColumnTypeScanType(i int) reflect.Type {
	c := r.columns[i]
	either := func(value, null reflect.Type) reflect.Type {
		if c.Nullable {
			return null
		}
		return value
	}
	switch t := c.Type; {
	case t.Kind == types.KindNull:
		return reflect.TypeFor[any]()
	case t.Kind == types.KindUint64:
		return either(reflect.TypeFor[uint64](), reflect.TypeFor[sql.Null[uint64]]())
	case t.IsInteger():
		return either(reflect.TypeFor[int64](), reflect.TypeFor[sql.NullInt64]())
	case t.IsFloat():
		return either(reflect.TypeFor[float64](), reflect.TypeFor[sql.NullFloat64]())
	case t.Kind == types.KindDate, t.Kind == types.KindDatetime, t.Kind == types.KindTimestamp:
		return either(reflect.TypeFor[time.Time](), reflect.TypeFor[sql.NullTime]())
	case t.Kind == types.KindJSON:
		return either(reflect.TypeFor[json.RawMessage](), reflect.TypeFor[sql.Null[json.RawMessage]]())
	case t.IsBinaryString():
		return reflect.TypeFor[[]byte]()
	}
	return either(reflect.TypeFor[string](), reflect.TypeFor[sql.NullString]())
}
