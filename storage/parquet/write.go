package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/table"
)

// NewWriter returns a writer of columns of the given names and types: row groups of table.RowGroupSize rows, pages
// compressed with Snappy. It does not close w.
//
// It writes by arrow-go's parquet/file. The package above that, pqarrow, would bring gRPC, protobuf and Arrow's compute functions into every
// program: a third of the size of cmd/radish.
func NewWriter(w io.Writer, names []string, columns []types.Type) (*arrowconv.Writer, error) {
	return arrowconv.NewWriter("Parquet", names, columns, func(s *arrow.Schema) (arrowconv.RecordWriter, error) {
		var nodes schema.FieldList
		for _, f := range s.Fields() {
			n, err := nodeOf(f)
			if err != nil {
				return nil, fmt.Errorf("column '%s': %w", f.Name, err)
			}
			nodes = append(nodes, n)
		}
		root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
		if err != nil {
			return nil, err
		}
		props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithCreatedBy("Radish"))
		return &recordWriter{file: file.NewParquetWriter(keepOpen{w}, root, file.WithWriterProps(props))}, nil
	})
}

// keepOpen hides the Close method that the library would call.
type keepOpen struct{ io.Writer }

// nodeOf returns the schema's node for a column of a type that arrowconv.ArrowType gives.
func nodeOf(f arrow.Field) (schema.Node, error) {
	var l schema.LogicalType = schema.NoLogicalType{}
	physical, width := parquet.Types.Int32, -1
	switch t := f.Type.(type) {
	case *arrow.NullType:
		l = schema.NullLogicalType{}
	case *arrow.Int8Type, *arrow.Uint8Type, *arrow.Int16Type, *arrow.Uint16Type, *arrow.Uint32Type:
		l = schema.NewIntLogicalType(int8(t.(arrow.FixedWidthDataType).BitWidth()), !arrow.IsUnsignedInteger(t.ID()))
	case *arrow.Int32Type:
	case *arrow.Int64Type:
		physical = parquet.Types.Int64
	case *arrow.Uint64Type:
		physical, l = parquet.Types.Int64, schema.NewIntLogicalType(64, false)
	case *arrow.Float32Type:
		physical = parquet.Types.Float
	case *arrow.Float64Type:
		physical = parquet.Types.Double
	case *arrow.Decimal128Type:
		physical, width = parquet.Types.FixedLenByteArray, decimalWidth(t.Precision)
		l = schema.NewDecimalLogicalType(t.Precision, t.Scale)
	case *arrow.Date32Type:
		l = schema.DateLogicalType{}
	case *arrow.Time32Type:
		l = schema.NewTimeLogicalType(true, schema.TimeUnitMillis)
	case *arrow.Time64Type:
		physical, l = parquet.Types.Int64, schema.NewTimeLogicalType(true, schema.TimeUnitMicros)
	case *arrow.TimestampType:
		unit := schema.TimeUnitMicros
		if t.Unit != arrow.Microsecond {
			unit = schema.TimeUnitMillis
		}
		// Old readers are told, too, that it is a moment, though they take it for one in UTC.
		physical, l = parquet.Types.Int64, schema.NewTimestampLogicalTypeForce(t.TimeZone != "", unit)
	case *arrow.StringType:
		physical, l = parquet.Types.ByteArray, schema.StringLogicalType{}
	case *arrow.BinaryType:
		physical = parquet.Types.ByteArray
	default:
		return nil, fmt.Errorf("the type %s cannot be written", t)
	}
	repetition := parquet.Repetitions.Required
	if f.Nullable {
		repetition = parquet.Repetitions.Optional
	}
	return schema.NewPrimitiveNodeLogical(f.Name, repetition, l, physical, width, -1)
}

// decimalWidth returns the least number of bytes that hold a signed integer of so many decimal digits.
func decimalWidth(precision int32) int {
	return int(math.Ceil((float64(precision)*math.Log2(10) + 1) / 8))
}

// recordWriter collects records into row groups.
type recordWriter struct {
	file  *file.Writer
	group file.BufferedRowGroupWriter
	rows  int64 // of group
}

// Write adds the rows of a record.
func (w *recordWriter) Write(r arrow.Record) error {
	for at := int64(0); at < r.NumRows(); {
		if w.group == nil {
			w.group, w.rows = w.file.AppendBufferedRowGroup(), 0
		}
		n := min(table.RowGroupSize-w.rows, r.NumRows()-at)
		part := r.NewSlice(at, at+n)
		for i, a := range part.Columns() {
			out, err := w.group.Column(i)
			if err == nil {
				err = writeArray(out, a)
			}
			if err != nil {
				return fmt.Errorf("column '%s': %w", r.ColumnName(i), err)
			}
		}
		part.Release()
		at += n
		if w.rows += n; w.rows == table.RowGroupSize {
			if err := w.group.Close(); err != nil {
				return err
			}
			w.group = nil
		}
	}
	return nil
}

// Close writes what is left and the footer.
func (w *recordWriter) Close() error {
	if w.group != nil {
		if err := w.group.Close(); err != nil {
			return err
		}
	}
	return w.file.Close()
}

// writeArray adds the values of an array to a column: the levels tell which are there, and only those are written.
func writeArray(out file.ColumnChunkWriter, a arrow.Array) (err error) {
	var levels []int16
	if out.Descr().MaxDefinitionLevel() > 0 {
		levels = make([]int16, a.Len())
		for i := range levels {
			if a.IsValid(i) {
				levels[i] = 1
			}
		}
	}
	switch w := out.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(present(a, int32At(a)), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(present(a, int64At(a)), levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(present(a, a.(*array.Float32).Value), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(present(a, a.(*array.Float64).Value), levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		x, width := a.(*array.Decimal128), out.Descr().TypeLength()
		bytes := make([]byte, 0, width*a.Len())
		_, err = w.WriteBatch(present(a, func(i int) parquet.FixedLenByteArray {
			var b [16]byte
			binary.BigEndian.PutUint64(b[:], uint64(x.Value(i).HighBits()))
			binary.BigEndian.PutUint64(b[8:], x.Value(i).LowBits())
			bytes = append(bytes, b[16-width:]...)
			return parquet.FixedLenByteArray(bytes[len(bytes)-width:])
		}), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		if x, ok := a.(*array.String); ok {
			_, err = w.WriteBatch(present(a, func(i int) parquet.ByteArray { return parquet.ByteArray(x.Value(i)) }), levels, nil)
			break
		}
		_, err = w.WriteBatch(present(a, func(i int) parquet.ByteArray { return a.(*array.Binary).Value(i) }), levels, nil)
	default:
		err = fmt.Errorf("the physical type %s cannot be written", out.Type())
	}
	return err
}

// present returns the values that are not NULL.
func present[T any](a arrow.Array, value func(i int) T) []T {
	out := make([]T, 0, a.Len()-a.NullN())
	for i := range a.Len() {
		if a.IsValid(i) {
			out = append(out, value(i))
		}
	}
	return out
}

// int32At and int64At return values as Parquet keeps them, which has no seconds.
func int32At(a arrow.Array) func(i int) int32 {
	switch x := a.(type) {
	case *array.Int8:
		return func(i int) int32 { return int32(x.Value(i)) }
	case *array.Uint8:
		return func(i int) int32 { return int32(x.Value(i)) }
	case *array.Int16:
		return func(i int) int32 { return int32(x.Value(i)) }
	case *array.Uint16:
		return func(i int) int32 { return int32(x.Value(i)) }
	case *array.Int32:
		return x.Value
	case *array.Uint32:
		return func(i int) int32 { return int32(x.Value(i)) }
	case *array.Date32:
		return func(i int) int32 { return int32(x.Value(i)) }
	case *array.Time32:
		scale := int32(1)
		if x.DataType().(*arrow.Time32Type).Unit == arrow.Second {
			scale = 1000
		}
		return func(i int) int32 { return int32(x.Value(i)) * scale }
	}
	return func(int) int32 { return 0 } // of a column that is all NULL
}

func int64At(a arrow.Array) func(i int) int64 {
	switch x := a.(type) {
	case *array.Uint64:
		return func(i int) int64 { return int64(x.Value(i)) }
	case *array.Time64:
		return func(i int) int64 { return int64(x.Value(i)) }
	case *array.Timestamp:
		scale := int64(1)
		if x.DataType().(*arrow.TimestampType).Unit == arrow.Second {
			scale = 1000
		}
		return func(i int) int64 { return int64(x.Value(i)) * scale }
	}
	return a.(*array.Int64).Value
}
