package parquet

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

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
