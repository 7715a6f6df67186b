package arrow18

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	ipc17 "github.com/apache/arrow/go/v17/arrow/ipc"
	memory17 "github.com/apache/arrow/go/v17/arrow/memory"
)

// ToV17 returns a reader of v17 over one of v18, which it retains until it is released itself. Records live until the
// next call of Next unless they are retained. Types that v17 lacks inside of lists, structs and the like are an error
// that names the column.
func ToV17(records array.RecordReader) (array17.RecordReader, error) {
	schema, err := schemaTo17(records.Schema())
	if err != nil {
		return nil, err
	}
	convert := func() arrow17.Record { return recordTo17(schema, records.RecordBatch()) }
	return newReader(records, schema, convert), nil
}

// recordTo17 returns a record over the same buffers, which the caller releases. The schema is that of the batch.
func recordTo17(schema *arrow17.Schema, batch arrow.RecordBatch) arrow17.Record {
	columns := make([]arrow17.Array, batch.NumCols())
	for i := range columns {
		column := widened(batch.Column(i))
		data := dataTo17(schema.Field(i).Type, column.Data())
		columns[i] = array17.MakeFromData(data)
		data.Release()
		column.Release()
	}
	record := array17.NewRecord(schema, columns, batch.NumRows())
	for _, c := range columns {
		c.Release()
	}
	return record
}

// dataTo17 returns an array's data as that of type t, which is its type in v17.
func dataTo17(t arrow17.DataType, data arrow.ArrayData) *array17.Data {
	if e, ok := t.(arrow17.ExtensionType); ok { // what is stored has the layout and the type of the storage
		stored := dataTo17(e.StorageType(), data)
		defer stored.Release()
		return array17.NewData(t, stored.Len(), stored.Buffers(), stored.Children(), stored.NullN(), stored.Offset())
	}
	buffers := make([]*memory17.Buffer, len(data.Buffers()))
	for i, b := range data.Buffers() {
		if b != nil {
			b.Retain()
			buffers[i] = memory17.NewBufferWithAllocator(b.Bytes(), held{memory17.DefaultAllocator, b})
			defer buffers[i].Release() // the array's data retains it
		}
	}
	if d, ok := t.(*arrow17.DictionaryType); ok {
		words := dataTo17(d.ValueType, data.Dictionary())
		defer words.Release()
		return array17.NewDataWithDictionary(t, data.Len(), buffers, data.NullN(), data.Offset(), words)
	}
	children := make([]arrow17.ArrayData, len(data.Children()))
	for i, c := range data.Children() {
		children[i] = dataTo17(t.(arrow17.NestedType).Fields()[i].Type, c)
		defer children[i].Release()
	}
	return array17.NewData(t, data.Len(), buffers, children, data.NullN(), data.Offset())
}

// schemaTo17 passes a schema through Arrow's format for streams, which both versions write and read.
func schemaTo17(schema *arrow.Schema) (*arrow17.Schema, error) {
	fields := schema.Fields()
	for i, f := range fields {
		fields[i].Type = widenedType(f.Type)
		if t := lacking(fields[i].Type); t != nil {
			return nil, fmt.Errorf("arrow18: column %q has the type %v, and Arrow's module v17 has no %v", f.Name, f.Type, t)
		}
	}
	metadata := schema.Metadata()
	schema = arrow.NewSchema(fields, &metadata)
	var text bytes.Buffer
	w := ipc.NewWriter(&text, ipc.WithSchema(schema))
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("arrow18: the schema %v: %w", schema, err)
	}
	r, err := ipc17.NewReader(&text)
	if err != nil {
		return nil, fmt.Errorf("arrow18: the schema %v: %w", schema, err)
	}
	defer r.Release()
	return r.Schema(), nil
}
