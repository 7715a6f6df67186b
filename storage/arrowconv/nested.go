package arrowconv

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/jsontext"
)

// nestedType returns the SQL type of nested columns, and of those whose values become text; ok is false if there is none.
func nestedType(dt arrow.DataType) (t types.Type, ok bool) {
	switch x := dt.(type) {
	case *arrow.DurationType, *arrow.MonthIntervalType, *arrow.DayTimeIntervalType, *arrow.MonthDayNanoIntervalType:
		return types.Text, true
	case *arrow.ListViewType, *arrow.LargeListViewType, *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType:
		return types.JSON, canBeJSON(x.(arrow.NestedType).Fields()[0].Type)
	case *arrow.MapType:
		return types.JSON, canBeJSON(x.KeyType()) && canBeJSON(x.ItemType())
	case *arrow.StructType, *arrow.SparseUnionType, *arrow.DenseUnionType:
		for _, f := range x.(arrow.NestedType).Fields() {
			if !canBeJSON(f.Type) {
				return t, false
			}
		}
		return types.JSON, true
	}
	return t, false
}

// canBeJSON says whether values of a type can stand in a document.
func canBeJSON(dt arrow.DataType) bool {
	_, ok := TypeOf(dt)
	return ok
}

// document appends value i of an array, NULL or not, to the rows.
type document func(r *jsontext.Rows, i int)

// nestedData returns the values of an array of a type that nestedType knows.
func nestedData(a arrow.Array, t types.Type, hold func(bytes int64) error) (encoding.Data, error) {
	if t.Kind != types.KindJSON {
		return intervals(a)
	}
	write, err := documents(a, hold)
	if err != nil {
		return encoding.Data{}, err
	}
	rows := jsontext.NewRows(a.Len(), hold)
	d := encoding.Data{Valid: validity(a)}
	for i := range a.Len() {
		if d.Valid == nil || d.Valid.Get(i) {
			write(rows, i)
		}
		if err := rows.End(); err != nil {
			return d, err
		}
	}
	valid := d.Valid
	d = rows.Data(t)
	d.Valid = valid
	return d, nil
}

// leafBytes is how much memory a value inside nested ones takes while documents are made of it.
const leafBytes = 16

// documents returns what writes the values of an array.
func documents(a arrow.Array, hold func(bytes int64) error) (document, error) {
	write, err := presentDocuments(a, hold)
	if err != nil || a.NullN() == 0 {
		return write, err
	}
	return func(r *jsontext.Rows, i int) {
		if a.IsNull(i) {
			r.Bytes = append(r.Bytes, "null"...)
			return
		}
		write(r, i)
	}, nil
}

func presentDocuments(a arrow.Array, hold func(bytes int64) error) (document, error) {
	switch x := a.(type) {
	case *array.Null:
		return func(r *jsontext.Rows, _ int) { r.Bytes = append(r.Bytes, "null"...) }, nil
	case *array.Map:
		return mapDocuments(x, hold)
	case array.ListLike: // lists of all kinds
		return listDocuments(x, hold)
	case *array.Struct:
		return structDocuments(x, hold)
	case array.Union:
		return unionDocuments(x, hold)
	case array.ExtensionArray:
		return documents(x.Storage(), hold)
	}
	t, ok := TypeOf(a.DataType())
	if !ok {
		return nil, sqlerr.NotSupportedf("Arrow type "+a.DataType().String(), "")
	}
	if hold != nil {
		if err := hold(leafBytes * int64(a.Len())); err != nil {
			return nil, err
		}
	}
	d, err := Data(a, t, hold)
	if err == nil {
		err = jsontext.CheckValues(&d)
	}
	return func(r *jsontext.Rows, i int) {
		if !valid(&d, i) {
			r.Bytes = append(r.Bytes, "null"...)
			return
		}
		r.Bytes = jsontext.Append(r.Bytes, &d, i)
	}, err
}

// itemsOf returns the items of an array of lists that its rows use, and the first one's position.
func itemsOf(x array.ListLike) (items arrow.Array, first int64) {
	last := int64(0)
	used := false
	for i := range x.Len() {
		from, to := x.ValueOffsets(i)
		if x.IsNull(i) || from == to {
			continue
		}
		if !used {
			first, last, used = from, to, true
		}
		first, last = min(first, from), max(last, to)
	}
	return array.NewSlice(x.ListValues(), first, last), first
}

func listDocuments(x array.ListLike, hold func(bytes int64) error) (document, error) {
	items, first := itemsOf(x)
	item, err := documents(items, hold)
	return func(r *jsontext.Rows, i int) {
		from, to := x.ValueOffsets(i)
		r.Bytes = append(r.Bytes, '[')
		for k := from; k < to; k++ {
			if k > from {
				r.Bytes = append(r.Bytes, ',')
			}
			if item(r, int(k-first)); r.Check() != nil {
				return
			}
		}
		r.Bytes = append(r.Bytes, ']')
	}, err
}

func mapDocuments(x *array.Map, hold func(bytes int64) error) (document, error) {
	items, first := itemsOf(x)
	pairs := items.(*array.Struct)
	key, err := documents(pairs.Field(0), hold)
	if err != nil {
		return nil, err
	}
	value, err := documents(pairs.Field(1), hold)
	var name jsontext.Rows
	return func(r *jsontext.Rows, i int) {
		from, to := x.ValueOffsets(i)
		r.Bytes = append(r.Bytes, '{')
		for k := from; k < to; k++ {
			if k > from {
				r.Bytes = append(r.Bytes, ',')
			}
			name.Bytes = name.Bytes[:0]
			key(&name, int(k-first))
			r.Bytes = jsontext.AppendName(r.Bytes, name.Bytes)
			if value(r, int(k-first)); r.Check() != nil {
				return
			}
		}
		r.Bytes = append(r.Bytes, '}')
	}, err
}

func structDocuments(x *array.Struct, hold func(bytes int64) error) (document, error) {
	fields := x.DataType().(*arrow.StructType).Fields()
	names, members := make([][]byte, len(fields)), make([]document, len(fields))
	for k, f := range fields {
		names[k] = append(jsontext.AppendString(nil, f.Name), ':')
		var err error
		if members[k], err = documents(x.Field(k), hold); err != nil {
			return nil, err
		}
	}
	return func(r *jsontext.Rows, i int) {
		r.Bytes = append(r.Bytes, '{')
		for k, name := range names {
			if k > 0 {
				r.Bytes = append(r.Bytes, ',')
			}
			r.Bytes = append(r.Bytes, name...)
			if members[k](r, i); r.Check() != nil {
				return
			}
		}
		r.Bytes = append(r.Bytes, '}')
	}, nil
}

// unionDocuments writes the member that a row has, without its name.
func unionDocuments(x array.Union, hold func(bytes int64) error) (document, error) {
	members := make([]document, x.NumFields())
	for k := range members {
		var err error
		if members[k], err = documents(x.Field(k), hold); err != nil {
			return nil, err
		}
	}
	dense, _ := x.(*array.DenseUnion)
	return func(r *jsontext.Rows, i int) {
		at := i
		if dense != nil {
			at = int(dense.ValueOffset(i))
		}
		members[x.ChildID(i)](r, at)
	}, nil
}

// intervals returns durations and intervals as text.
func intervals(a arrow.Array) (encoding.Data, error) {
	d := encoding.Data{Type: types.Text, Rows: a.Len(), Valid: validity(a)}
	var of func(i int) (months, days, micros int64)
	switch x := a.(type) {
	case *array.Duration:
		mul, div := microseconds(x.DataType().(*arrow.DurationType).Unit)
		for i, v := range x.DurationValues() {
			if limit := int64(1<<63-1) / mul; (int64(v) > limit || int64(v) < -limit) && valid(&d, i) {
				return d, outOfRange(i, x.DataType())
			}
		}
		of = func(i int) (int64, int64, int64) { return 0, 0, int64(x.Value(i)) * mul / div }
	case *array.MonthInterval:
		of = func(i int) (int64, int64, int64) { return int64(x.Value(i)), 0, 0 }
	case *array.DayTimeInterval:
		of = func(i int) (int64, int64, int64) {
			v := x.Value(i)
			return 0, int64(v.Days), int64(v.Milliseconds) * 1000
		}
	case *array.MonthDayNanoInterval:
		of = func(i int) (int64, int64, int64) {
			v := x.Value(i)
			return int64(v.Months), int64(v.Days), v.Nanoseconds / 1000
		}
	default:
		return d, sqlerr.NotSupportedf("Arrow type "+a.DataType().String(), "")
	}
	var text []byte
	d.Strings = make([]string, d.Rows)
	for i := range d.Strings {
		if valid(&d, i) {
			from := len(text)
			months, days, micros := of(i)
			text = jsontext.AppendInterval(text, months, days, micros)
			b := text[from:]
			d.Strings[i] = unsafe.String(unsafe.SliceData(b), len(b))
		}
	}
	return d, nil
}
