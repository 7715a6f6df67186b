package arrowconv

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Record returns the selected rows of a batch as an Arrow record of the given schema, which [Schema] made for the
// columns' types. Everything is copied, since a batch lives only until the next one. Strings must be valid UTF-8 in
// text columns, as everywhere in Radish.
func Record(schema *arrow.Schema, b *column.Batch) (arrow.Record, error) {
	arrays := make([]arrow.Array, len(b.Cols))
	for i, v := range b.Cols {
		a, err := Array(v, b.N, b.Sel)
		if err != nil {
			return nil, err
		}
		arrays[i] = a
	}
	return array.NewRecord(schema, arrays, int64(b.Rows())), nil
}

// Array returns the values of v at the positions of sel (nil: 0..n-1) as an array of type ArrowType(v.Type). Nothing
// of v is shared.
func Array(v *column.Vector, n int, sel []int32) (arrow.Array, error) {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	at := func(i int) int {
		switch {
		case v.Const:
			return 0
		case sel != nil:
			return int(sel[i])
		}
		return i
	}
	if v.Type.Kind == types.KindNull {
		return array.NewNull(rows), nil
	}
	valid, nulls := exportValidity(v, rows, at)
	dt := ArrowType(v.Type)
	data := func(buffers ...*memory.Buffer) arrow.Array {
		return array.MakeFromData(array.NewData(dt, rows, append([]*memory.Buffer{valid}, buffers...), nil, nulls, 0))
	}
	switch t := v.Type; t.Kind {
	case types.KindBool, types.KindInt8, types.KindUint8:
		return data(ints[int8](v, rows, at)), nil
	case types.KindInt16, types.KindUint16, types.KindYear:
		return data(ints[int16](v, rows, at)), nil
	case types.KindInt24, types.KindInt32, types.KindUint24, types.KindUint32, types.KindDate:
		return data(ints[int32](v, rows, at)), nil
	case types.KindFloat:
		return data(fixed(rows, func(i int) float32 { return float32(v.F64[at(i)]) })), nil
	case types.KindDouble:
		return data(fixed(rows, func(i int) float64 { return v.F64[at(i)] })), nil
	case types.KindDecimal:
		return data(fixed(rows, func(i int) decimal128.Num {
			if t.Phys() == types.PhysInt128 {
				x := v.I128[at(i)]
				return decimal128.New(x.Hi, x.Lo)
			}
			return decimal128.FromI64(v.I64[at(i)])
		})), nil
	case types.KindDatetime, types.KindTimestamp:
		return data(units[int64](v, rows, at, unitOf(t.Scale))), nil
	case types.KindTime:
		for i := range rows {
			if x := v.I64[at(i)]; !v.IsNull(at(i)) && (x < 0 || x >= types.MicrosPerDay) {
				return nil, sqlerr.NotSupportedf("TIME '"+v.Value(at(i)).Text()+"' in Arrow", "Arrow's time of day lies between 00:00 and 24:00; cast it to CHAR")
			}
		}
		if u := unitOf(t.Scale); u != arrow.Microsecond {
			return data(units[int32](v, rows, at, u)), nil
		}
		return data(ints[int64](v, rows, at)), nil
	case types.KindEnum:
		return stringData(data, rows, func(i int) string {
			if v.IsNull(at(i)) {
				return ""
			}
			return t.EnumName(v.I64[at(i)])
		})
	}
	if v.Type.IsString() {
		return stringData(data, rows, func(i int) string {
			if v.IsNull(at(i)) {
				return ""
			}
			return v.StringAt(at(i))
		})
	}
	return data(ints[int64](v, rows, at)), nil
}

func exportValidity(v *column.Vector, rows int, at func(int) int) (*memory.Buffer, int) {
	if v.Valid == nil {
		return nil, 0
	}
	b := column.NewBitmap(rows, true)
	for i := range rows {
		if !v.Valid.Get(at(i)) {
			b.Clear(i)
		}
	}
	return buffer(b), b.CountZeros(rows)
}

// buffer returns the memory of a slice as an Arrow buffer.
func buffer[T any](s []T) *memory.Buffer {
	var x T
	return memory.NewBufferBytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(x))))
}

func fixed[T any](rows int, value func(int) T) *memory.Buffer {
	out := make([]T, rows)
	for i := range out {
		out[i] = value(i)
	}
	return buffer(out)
}

// ints stores the low bits of integers: the type says how they are read.
func ints[T int8 | int16 | int32 | int64](v *column.Vector, rows int, at func(int) int) *memory.Buffer {
	return fixed(rows, func(i int) T { return T(v.I64[at(i)]) })
}

// units stores microseconds in a coarser unit, rounded down.
func units[T int32 | int64](v *column.Vector, rows int, at func(int) int, u arrow.TimeUnit) *memory.Buffer {
	div, _ := microseconds(u)
	return fixed(rows, func(i int) T {
		x := v.I64[at(i)]
		q := x / div
		if x%div < 0 {
			q--
		}
		return T(q)
	})
}

// stringData makes an array of strings, whose offsets are 32 bits wide.
func stringData(data func(...*memory.Buffer) arrow.Array, rows int, value func(int) string) (arrow.Array, error) {
	offsets, size := make([]int32, rows+1), 0
	for i := range rows {
		size += len(value(i))
		if size > 1<<31-1 {
			return nil, sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "the strings of one batch take more than 2 GiB")
		}
		offsets[i+1] = int32(size)
	}
	bytes := make([]byte, 0, size)
	for i := range rows {
		bytes = append(bytes, value(i)...)
	}
	return data(buffer(offsets), buffer(bytes)), nil
}
