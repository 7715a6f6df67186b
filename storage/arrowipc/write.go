package arrowipc

import (
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/column"
)

// Writer writes batches in Arrow's file or stream format, one record batch each. A file is whole only after Close.
type Writer struct {
	schema *arrow.Schema
	out    interface {
		Write(arrow.Record) error
		Close() error
	}
}

// NewWriter returns a writer of the file format. It does not close w.
func NewWriter(w io.WriteSeeker, names []string, columns []types.Type) (*Writer, error) {
	schema := arrowconv.Schema(names, columns)
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(schema))
	if err != nil {
		return nil, cannotWrite(err)
	}
	return &Writer{schema, out}, nil
}

// NewStreamWriter returns a writer of the stream format. It does not close w.
func NewStreamWriter(w io.Writer, names []string, columns []types.Type) *Writer {
	schema := arrowconv.Schema(names, columns)
	return &Writer{schema, ipc.NewWriter(w, ipc.WithSchema(schema))}
}

// Write adds the selected rows of a batch.
func (w *Writer) Write(b *column.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	record, err := arrowconv.Record(w.schema, b)
	if err != nil {
		return err
	}
	defer record.Release()
	if err := w.out.Write(record); err != nil {
		return cannotWrite(err)
	}
	return nil
}

// Close writes the end.
func (w *Writer) Close() error {
	if err := w.out.Close(); err != nil {
		return cannotWrite(err)
	}
	return nil
}

func cannotWrite(err error) error {
	return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.Resource, "can't write Arrow: %s", err).WithCause(err)
}
