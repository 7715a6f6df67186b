package arrowipc

import (
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
)

// format is what messages call what is written.
const format = "Arrow"

// NewWriter returns a writer of the file format, one record batch for each batch. It does not close w.
func NewWriter(w io.WriteSeeker, names []string, columns []types.Type) (*arrowconv.Writer, error) {
	return arrowconv.NewWriter(format, names, columns, func(schema *arrow.Schema) (arrowconv.RecordWriter, error) {
		return ipc.NewFileWriter(w, ipc.WithSchema(schema))
	})
}

// NewStreamWriter returns a writer of the stream format, one record batch for each batch. It does not close w.
func NewStreamWriter(w io.Writer, names []string, columns []types.Type) (*arrowconv.Writer, error) {
	return arrowconv.NewWriter(format, names, columns, func(schema *arrow.Schema) (arrowconv.RecordWriter, error) {
		return ipc.NewWriter(w, ipc.WithSchema(schema)), nil
	})
}
