package arrowconv

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// RecordWriter is what arrow-go's writers of files have in common.
type RecordWriter interface {
	Write(arrow.Record) error
	Close() error
}

// Writer writes batches as the records of a file. The file is whole only after Close.
type Writer struct {
	format string // for messages
	schema *arrow.Schema
	out    RecordWriter
}

// NewWriter returns a writer of columns of the given names and types in a format that messages call so; open gets their
// schema.
func NewWriter(format string, names []string, columns []types.Type, open func(*arrow.Schema) (RecordWriter, error)) (*Writer, error) {
	w := &Writer{format: format, schema: Schema(names, columns)}
	var err error
	if w.out, err = open(w.schema); err != nil {
		return nil, w.failed(err)
	}
	return w, nil
}

// Write adds the selected rows of a batch.
func (w *Writer) Write(b *column.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	record, err := Record(w.schema, b)
	if err != nil {
		return err
	}
	defer record.Release()
	if err := w.out.Write(record); err != nil {
		return w.failed(err)
	}
	return nil
}

// Close writes the end.
func (w *Writer) Close() error {
	if err := w.out.Close(); err != nil {
		return w.failed(err)
	}
	return nil
}

// Abandon does nothing: nothing works on the file but the caller.
func (w *Writer) Abandon() {}

func (w *Writer) failed(err error) error {
	return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.Resource, "can't write %s: %s", w.format, err).WithCause(err)
}
