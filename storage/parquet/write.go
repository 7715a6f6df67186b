package parquet

import (
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/table"
)

// NewWriter returns a writer of columns of the given names and types: row groups of table.RowGroupSize rows, pages
// compressed with Snappy. It does not close w.
func NewWriter(w io.Writer, names []string, columns []types.Type) (*arrowconv.Writer, error) {
	return arrowconv.NewWriter("Parquet", names, columns, func(schema *arrow.Schema) (arrowconv.RecordWriter, error) {
		props := parquet.NewWriterProperties(
			parquet.WithCompression(compress.Codecs.Snappy),
			parquet.WithMaxRowGroupLength(table.RowGroupSize),
			parquet.WithCreatedBy("Radish"),
		)
		file, err := pqarrow.NewFileWriter(schema, keepOpen{w}, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
		return buffered{file}, err
	})
}

// keepOpen hides the Close method that the library would call.
type keepOpen struct{ io.Writer }

// buffered collects records into row groups, where the library's Write would make one of each.
type buffered struct{ *pqarrow.FileWriter }

func (b buffered) Write(r arrow.Record) error { return b.WriteBuffered(r) }
