package parquet

import (
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/table"
)

// Writer writes batches to a Parquet file: row groups of table.RowGroupSize rows, pages compressed with Snappy. The file
// is whole only after Close.
type Writer struct {
	schema *arrow.Schema
	file   *pqarrow.FileWriter
}

// NewWriter returns a writer of columns of the given names and types. It does not close w.
func NewWriter(w io.Writer, names []string, columns []types.Type) (*Writer, error) {
	schema := arrowconv.Schema(names, columns)
	props := parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithMaxRowGroupLength(table.RowGroupSize),
		parquet.WithCreatedBy("Radish"),
	)
	file, err := pqarrow.NewFileWriter(schema, keepOpen{w}, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, cannotWrite(err)
	}
	return &Writer{schema: schema, file: file}, nil
}

// keepOpen hides the Close method that the library would call.
type keepOpen struct{ io.Writer }

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
	if err := w.file.WriteBuffered(record); err != nil {
		return cannotWrite(err)
	}
	return nil
}

// Close writes the footer.
func (w *Writer) Close() error {
	if err := w.file.Close(); err != nil {
		return cannotWrite(err)
	}
	return nil
}

func cannotWrite(err error) error {
	return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.Resource, "can't write Parquet: %s", err).WithCause(err)
}
