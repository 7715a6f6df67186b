package arrowconv

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Data returns an array's values as a column of type t, which is TypeOf the array's type. It may share the array's
// memory, which the caller must then keep alive (Go's allocator does so by itself) and unchanged. hold is asked for the memory of nested values, which
// may take more than the array; nil: nothing is asked.
func Data(a arrow.Array, t types.Type, hold func(bytes int64) error) (encoding.Data, error) {
	if _, nested := nestedType(a.DataType()); nested {
		return nestedData(a, t, hold)
	}
	d := encoding.Data{Type: t, Rows: a.Len(), Valid: validity(a)}
	var err error
	switch x := a.(type) {
	case *array.Null:
		d.Ints = make([]int64, d.Rows)
	case *array.Boolean:
		d.Ints = make([]int64, d.Rows)
		for i := range d.Ints {
			if x.Value(i) {
				d.Ints[i] = 1
			}
		}
	case *array.Int8, *array.Int16, *array.Int32, *array.Uint8, *array.Uint16, *array.Uint32:
		d.Ints = widened(a)
	case *array.Int64:
		d.Ints = own(x.Int64Values(), d.Valid)
	case *array.Uint64:
		values := x.Uint64Values()
		d.Ints = own(unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(values))), len(values)), d.Valid)
	case *array.Float16:
		d.Floats = make([]float64, d.Rows)
		for i := range d.Floats {
			d.Floats[i] = float64(x.Value(i).Float32())
		}
	case *array.Float32:
		d.Floats = make([]float64, d.Rows)
		for i, f := range x.Float32Values() {
			d.Floats[i] = float64(f)
		}
	case *array.Float64:
		d.Floats = own(x.Float64Values(), d.Valid)
	case *array.Decimal128:
		err = decimals(&d, func(i int) types.Int128 {
			n := x.Value(i)
			return types.Int128{Hi: n.HighBits(), Lo: n.LowBits()}
		})
	case *array.Decimal256:
		err = decimals(&d, func(i int) types.Int128 {
			// TypeOf lets no more than 38 digits through, so the upper half only repeats the sign.
			words := x.Value(i).Array() // least significant first
			return types.Int128{Hi: int64(words[1]), Lo: words[0]}
		})
	case *array.Date32, *array.Date64, *array.Timestamp, *array.Time32, *array.Time64:
		d.Ints = widened(a)
		err = FinishInts(&d, a.DataType())
	case *array.String:
		d.Offsets, d.Bytes = offsets(x.ValueOffsets(), d.Rows), x.ValueBytes()
	case *array.Binary:
		d.Offsets, d.Bytes = offsets(x.ValueOffsets(), d.Rows), x.ValueBytes()
	case *array.LargeString:
		d.Strings = collect(d.Rows, x.Value)
	case *array.LargeBinary:
		d.Strings = collect(d.Rows, x.ValueString)
	case array.ViewLike:
		d.Strings = collect(d.Rows, func(i int) string { return x.ValueStr(i) })
	case *array.FixedSizeBinary:
		d.Strings = collect(d.Rows, func(i int) string { return string(x.Value(i)) })
	case *array.Dictionary:
		return dictionary(x, t, d)
	case *array.RunEndEncoded:
		return runs(x, t)
	case array.ExtensionArray:
		return Data(x.Storage(), t, hold)
	default:
		return d, sqlerr.NotSupportedf("Arrow type "+a.DataType().String(), "")
	}
	return d, err
}

// widened returns the integers of an array as a column keeps them.
func widened(a arrow.Array) []int64 {
	switch x := a.(type) {
	case *array.Int8:
		return widen(x.Int8Values())
	case *array.Int16:
		return widen(x.Int16Values())
	case *array.Int32:
		return widen(x.Int32Values())
	case *array.Uint8:
		return widen(x.Uint8Values())
	case *array.Uint16:
		return widen(x.Uint16Values())
	case *array.Uint32:
		return widen(x.Uint32Values())
	case *array.Date32:
		return widen(x.Date32Values())
	case *array.Date64:
		return widen(x.Date64Values())
	case *array.Timestamp:
		return widen(x.TimestampValues())
	case *array.Time32:
		return widen(x.Time32Values())
	case *array.Time64:
		return widen(x.Time64Values())
	}
	return nil
}

// validity returns an array's validity as a bitmap of its own, nil if it has no NULLs.
func validity(a arrow.Array) column.Bitmap {
	switch {
	case a.DataType().ID() == arrow.NULL:
		return column.NewBitmap(a.Len(), false)
	case a.NullN() == 0:
		return nil
	}
	b := column.NewBitmap(a.Len(), false)
	words := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), 8*len(b)) // little-endian, as Arrow's are
	bitutil.CopyBitmap(a.NullBitmapBytes(), a.Data().Offset(), a.Len(), words, 0)
	return b
}

// own returns values that may be overwritten where they are NULL: a copy if there are NULLs.
func own[T any](values []T, valid column.Bitmap) []T {
	if valid == nil {
		return values
	}
	return append([]T(nil), values...)
}

func widen[T ~int8 | ~int16 | ~int32 | ~int64 | uint8 | uint16 | uint32](values []T) []int64 {
	out := make([]int64, len(values))
	for i, x := range values {
		out[i] = int64(x)
	}
	return out
}

// offsets returns n+1 offsets that begin at 0.
func offsets(o []int32, n int) []uint32 {
	if n == 0 {
		return []uint32{0}
	}
	out := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(o))), n+1)
	if first := out[0]; first != 0 {
		moved := make([]uint32, n+1)
		for i, x := range out {
			moved[i] = x - first
		}
		return moved
	}
	return out
}

func collect(n int, value func(int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = value(i)
	}
	return out
}

// dictionary reads a dictionary array: strings stay coded, other values are looked up.
func dictionary(x *array.Dictionary, t types.Type, d encoding.Data) (encoding.Data, error) {
	values, err := Data(x.Dictionary(), t, nil)
	if err != nil {
		return d, err
	}
	if values.Valid != nil && d.Valid == nil {
		d.Valid = column.NewBitmap(d.Rows, true)
	}
	index := make([]int32, d.Rows)
	for i := range index {
		if d.Valid != nil && !d.Valid.Get(i) {
			continue
		}
		at := x.GetValueIndex(i)
		if index[i] = int32(at); values.Valid != nil && !values.Valid.Get(at) {
			d.Valid.Clear(i)
			index[i] = 0
		}
	}
	if values.Rows == 0 { // all NULL
		d.Ints, d.Floats, d.Wide, d.Strings = make([]int64, d.Rows), make([]float64, d.Rows), make([]types.Int128, d.Rows), make([]string, d.Rows)
		return d, nil
	}
	switch t.Phys() {
	case types.PhysString:
		if 2*values.Rows > d.Rows { // hardly a dictionary: not worth the codes
			d.Strings = make([]string, d.Rows)
			for i, at := range index {
				d.Strings[i] = values.StringAt(int(at))
			}
			return d, nil
		}
		d.Words, d.Codes = make([]string, values.Rows), make([]uint32, d.Rows)
		for i := range d.Words {
			d.Words[i] = values.StringAt(i)
		}
		for i, at := range index {
			d.Codes[i] = uint32(at)
		}
	case types.PhysFloat64:
		d.Floats = take(values.Floats, index)
	case types.PhysInt128:
		d.Wide = take(values.Wide, index)
	default:
		d.Ints = take(values.Ints, index)
	}
	return d, nil
}

// runs repeats the values of runs.
func runs(x *array.RunEndEncoded, t types.Type) (encoding.Data, error) {
	d := encoding.Data{Type: t, Rows: x.Len()}
	first, n := x.GetPhysicalOffset(), x.GetPhysicalLength()
	values, err := Data(array.NewSlice(x.Values(), int64(first), int64(first+n)), t, nil)
	if err != nil {
		return d, err
	}
	index := make([]int32, 0, d.Rows)
	for i := range n {
		end := min(runEnd(x.RunEndsArr(), first+i)-x.Data().Offset(), d.Rows)
		for len(index) < end {
			index = append(index, int32(i))
		}
	}
	if values.Valid != nil {
		d.Valid = column.NewBitmap(d.Rows, true)
		for i, at := range index {
			if !values.Valid.Get(int(at)) {
				d.Valid.Clear(i)
			}
		}
	}
	switch t.Phys() {
	case types.PhysString:
		d.Strings = make([]string, d.Rows)
		for i, at := range index {
			d.Strings[i] = values.StringAt(int(at))
		}
	case types.PhysFloat64:
		d.Floats = take(values.Floats, index)
	case types.PhysInt128:
		d.Wide = take(values.Wide, index)
	default:
		d.Ints = take(values.Ints, index)
	}
	return d, nil
}

// runEnd returns where a run ends.
func runEnd(ends arrow.Array, i int) int {
	switch x := ends.(type) {
	case *array.Int16:
		return int(x.Value(i))
	case *array.Int32:
		return int(x.Value(i))
	}
	return int(ends.(*array.Int64).Value(i))
}

func take[T any](values []T, index []int32) []T {
	out := make([]T, len(index))
	for i, at := range index {
		out[i] = values[at]
	}
	return out
}
