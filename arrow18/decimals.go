package arrow18

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// widenedType returns the type of a column in v17's terms: v17 has no decimals of 32 and 64 bits.
func widenedType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.Decimal32Type:
		return &arrow.Decimal128Type{Precision: t.Precision, Scale: t.Scale}
	case *arrow.Decimal64Type:
		return &arrow.Decimal128Type{Precision: t.Precision, Scale: t.Scale}
	}
	return t
}

// lacking returns a type inside of t that v17 lacks, nil if there is none.
func lacking(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.Decimal32Type, *arrow.Decimal64Type:
		return t
	case *arrow.DictionaryType:
		return lacking(t.ValueType)
	case arrow.ExtensionType:
		return lacking(t.StorageType())
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if found := lacking(f.Type); found != nil {
				return found
			}
		}
	}
	return nil
}

// widened returns a column of a type that v17 has, which the caller releases.
func widened(a arrow.Array) arrow.Array {
	var value func(i int) int64
	switch a := a.(type) {
	case *array.Decimal32:
		value = func(i int) int64 { return int64(a.Value(i)) }
	case *array.Decimal64:
		value = func(i int) int64 { return int64(a.Value(i)) }
	default:
		a.Retain()
		return a
	}
	values := make([]decimal128.Num, a.Len())
	for i := range values {
		if a.IsValid(i) {
			values[i] = decimal128.FromI64(value(i))
		}
	}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Decimal128Traits.CastToBytes(values))}
	if a.NullN() > 0 {
		valid := make([]byte, bitutil.BytesForBits(int64(a.Len())))
		bitutil.CopyBitmap(a.NullBitmapBytes(), a.Data().Offset(), a.Len(), valid, 0)
		buffers[0] = memory.NewBufferBytes(valid)
	}
	data := array.NewData(widenedType(a.DataType()), a.Len(), buffers, nil, a.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data)
}
