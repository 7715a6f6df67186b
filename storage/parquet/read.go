// Package parquet reads Parquet files into tables and writes batches to them.
//
// The format itself is arrow-go's work (parquet/file and parquet/pqarrow); this package chooses columns, reads them in
// parallel, and turns whatever goes wrong in there into an error that names the file. Types map as [arrowconv] says;
// Parquet has no seconds, so DATETIME(0) and TIME(0) come back with three fractional digits. Nested columns are refused
// when they are asked for.
package parquet

import (
	"context"
	"errors"
	"os"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// File is an open Parquet file. It is used by one goroutine.
type File struct {
	path    string
	source  *os.File
	reader  *pqarrow.FileReader
	schema  *arrow.Schema
	columns []table.ColumnDef
}

// Open opens a file and reads its schema. Columns of types that Radish does not have are an error.
func Open(path string) (f *File, err error) {
	source, err := os.Open(path)
	if err != nil {
		return nil, arrowconv.ReadError(path, kind, err)
	}
	defer func() {
		if err != nil {
			_ = source.Close() // the error that matters is err
		}
	}()
	f = &File{path: path, source: source}
	err = f.guard(func() error {
		reader, err := file.NewParquetReader(source)
		if err != nil {
			return err
		}
		props := pqarrow.ArrowReadProperties{BatchSize: table.RowGroupSize}
		for i := range reader.MetaData().Schema.NumColumns() {
			props.SetReadDict(i, dictionaryCoded(reader, i))
		}
		if f.reader, err = pqarrow.NewFileReader(reader, props, memory.DefaultAllocator); err != nil {
			return err
		}
		f.schema, err = f.reader.Schema()
		return err
	})
	if err != nil {
		return nil, err
	}
	if f.columns, err = arrowconv.Columns(f.schema); err != nil {
		return nil, sqlerr.From(err).WithHint("file '%s'", path)
	}
	return f, nil
}

// dictionaryCoded says whether a column's chunks begin with a dictionary, so that reading it coded pays.
func dictionaryCoded(r *file.Reader, column int) bool {
	for g := range r.NumRowGroups() {
		chunk, err := r.MetaData().RowGroup(g).ColumnChunk(column)
		if err != nil || !chunk.HasDictionaryPage() {
			return false
		}
	}
	return r.NumRowGroups() > 0
}

// Columns returns the file's columns. The slice must not be changed.
func (f *File) Columns() []table.ColumnDef { return f.columns }

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.reader.ParquetReader().NumRows() }

// Close closes the file.
func (f *File) Close() error { return f.source.Close() }

// Load adds the rows to a builder for a table of the columns at ordinals (nil: all), in that order. It reads the columns of a
// row group in parallel and ends soon after ctx is cancelled.
func (f *File) Load(ctx context.Context, b *table.Builder, ordinals []int) error {
	if ordinals == nil {
		for i := range f.columns {
			ordinals = append(ordinals, i)
		}
	}
	for g := range f.reader.ParquetReader().NumRowGroups() {
		rows := int(f.reader.ParquetReader().MetaData().RowGroup(g).NumRows())
		data := make([]encoding.Data, len(ordinals))
		work, workCtx := errgroup.WithContext(ctx)
		work.SetLimit(runtime.GOMAXPROCS(0))
		for i, ordinal := range ordinals {
			work.Go(func() error {
				if err := workCtx.Err(); err != nil {
					return sqlerr.Interrupted(err)
				}
				var err error
				data[i], err = f.readColumn(workCtx, g, ordinal, rows)
				return err
			})
		}
		if err := work.Wait(); err != nil {
			return err
		}
		add := b.AppendColumns
		if rows < table.RowGroupSize/2 {
			add = b.AppendData
		}
		if rows == 0 {
			continue
		}
		if err := add(rows, data); err != nil {
			return err
		}
	}
	return nil
}

// readColumn reads one column of one row group.
func (f *File) readColumn(ctx context.Context, group, ordinal, rows int) (d encoding.Data, err error) {
	err = f.guard(func() error {
		leaf := f.reader.Manifest.Fields[ordinal].ColIndex
		reader, err := f.reader.GetFieldReader(ctx, ordinal, map[int]bool{leaf: true}, []int{group})
		if err != nil {
			return err
		}
		chunks, err := reader.NextBatch(int64(rows))
		if err != nil {
			return err
		}
		if chunks.Len() != rows {
			return errors.New("a column is shorter than its row group")
		}
		var values arrow.Array
		switch len(chunks.Chunks()) {
		case 0:
			values = array.MakeArrayOfNull(memory.DefaultAllocator, chunks.DataType(), 0)
		case 1:
			values = chunks.Chunk(0)
		default:
			if values, err = array.Concatenate(chunks.Chunks(), memory.DefaultAllocator); err != nil {
				return err
			}
		}
		d, err = arrowconv.Data(values, f.columns[ordinal].Type)
		return err
	})
	return d, err
}

// kind is what messages call such a file.
const kind = "Parquet file"

func (f *File) guard(run func() error) error { return arrowconv.Guard(f.path, kind, run) }
