package arrow18

import (
	"bytes"
	"fmt"
	"sync/atomic"

	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	ipc17 "github.com/apache/arrow/go/v17/arrow/ipc"
	memory17 "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ToV17 returns a reader of v17 over one of v18, which it retains until it is released itself. Records live until the
// next call of Next unless they are retained. Types that v17 lacks inside of lists, structs and the like are an error
// that names the column.
func ToV17(records array.RecordReader) (array17.RecordReader, error) {
	schema, err := schemaTo17(records.Schema())
	if err != nil {
		return nil, err
	}
	records.Retain()
	r := &to17{records: records, schema: schema}
	r.refs.Store(1)
	return r, nil
}

// to17 reads the record batches of a reader of v18.
type to17 struct {
	records array.RecordReader
	schema  *arrow17.Schema
	record  arrow17.Record
	refs    atomic.Int64
}

func (r *to17) Retain() { r.refs.Add(1) }

func (r *to17) Release() {
	if r.refs.Add(-1) == 0 {
		r.drop()
		r.records.Release()
	}
}

func (r *to17) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

func (r *to17) Schema() *arrow17.Schema { return r.schema }

func (r *to17) Next() bool {
	r.drop()
	if !r.records.Next() {
		return false
	}
	r.record = recordTo17(r.schema, r.records.RecordBatch())
	return true
}

func (r *to17) Record() arrow17.Record { return r.record }

func (r *to17) Err() error { return r.records.Err() }

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
			buffers[i] = memory17.NewBufferWithAllocator(b.Bytes(), held18{b})
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

// held18 is the allocator of a buffer that wraps one of v18: freeing it gives that one back.
type held18 struct{ buffer *memory.Buffer }

func (held18) Allocate(size int) []byte { return memory17.DefaultAllocator.Allocate(size) }

// Reallocate serves who resizes a wrapped buffer: what it gets then is Go's memory.
func (h held18) Reallocate(size int, old []byte) []byte {
	fresh := memory17.DefaultAllocator.Allocate(size)
	copy(fresh, old)
	return fresh
}

func (h held18) Free([]byte) { h.buffer.Release() }

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
