package arrow18

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	ipc17 "github.com/apache/arrow/go/v17/arrow/ipc"
)

// FromV17 returns a reader of v18 over one of v17, which it retains until it is released itself. Record batches live
// until the next call of Next unless they are retained.
func FromV17(records array17.RecordReader) (array.RecordReader, error) {
	schema, err := schemaFrom17(records.Schema())
	if err != nil {
		return nil, err
	}
	convert := func() arrow.RecordBatch { return recordFrom17(schema, records.Record()) }
	return &from17{newReader(records, schema, convert)}, nil
}

// from17 reads the records of a reader of v17.
type from17 struct {
	*reader[*arrow.Schema, arrow.RecordBatch]
}

func (r *from17) RecordBatch() arrow.RecordBatch { return r.Record() }

// recordFrom17 returns a record over the same buffers, which the caller releases. The schema is that of the record.
func recordFrom17(schema *arrow.Schema, record arrow17.Record) arrow.RecordBatch {
	columns := make([]arrow.Array, record.NumCols())
	for i := range columns {
		data := dataFrom17(schema.Field(i).Type, record.Column(i).Data())
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	batch := array.NewRecordBatch(schema, columns, record.NumRows())
	for _, c := range columns {
		c.Release()
	}
	return batch
}

// dataFrom17 returns an array's data as that of type t, which is its type in v18.
func dataFrom17(t arrow.DataType, data arrow17.ArrayData) *array.Data {
	if e, ok := t.(arrow.ExtensionType); ok { // what is stored has the layout and the type of the storage
		stored := dataFrom17(e.StorageType(), data)
		defer stored.Release()
		return array.NewData(t, stored.Len(), stored.Buffers(), stored.Children(), stored.NullN(), stored.Offset())
	}
	buffers := make([]*memory.Buffer, len(data.Buffers()))
	for i, b := range data.Buffers() {
		if b != nil {
			b.Retain()
			buffers[i] = memory.NewBufferWithAllocator(b.Bytes(), held{memory.DefaultAllocator, b})
			defer buffers[i].Release() // the array's data retains it
		}
	}
	if d, ok := t.(*arrow.DictionaryType); ok {
		words := dataFrom17(d.ValueType, data.Dictionary())
		defer words.Release()
		return array.NewDataWithDictionary(t, data.Len(), buffers, data.NullN(), data.Offset(), words)
	}
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, c := range data.Children() {
		children[i] = dataFrom17(t.(arrow.NestedType).Fields()[i].Type, c)
		defer children[i].Release()
	}
	return array.NewData(t, data.Len(), buffers, children, data.NullN(), data.Offset())
}

// schemaFrom17 passes a schema through Arrow's format for streams, which both versions write and read.
func schemaFrom17(schema *arrow17.Schema) (*arrow.Schema, error) {
	var text bytes.Buffer
	w := ipc17.NewWriter(&text, ipc17.WithSchema(schema))
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("arrow18: the schema %v: %w", schema, err)
	}
	r, err := ipc.NewReader(&text)
	if err != nil {
		return nil, fmt.Errorf("arrow18: the schema %v: %w", schema, err)
	}
	defer r.Release()
	return r.Schema(), nil
}
