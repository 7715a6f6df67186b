// Package parquet reads Parquet files into tables and writes batches to them.
//
// arrow-go reads the file's metadata and takes the pages out of their compression (parquet/file). What is in the pages goes
// straight into columns ([cursor]) where types and encodings are those that nearly all files have; arrow-go reads the rest
// by way of Arrow arrays ([arrowReader]). The package chooses columns, reads them in parallel, and turns whatever goes
// wrong into an error that names the file. Types map as [arrowconv] says; Parquet has no seconds, so DATETIME(0) and
// TIME(0) come back with three fractional digits. Nested columns are refused when they are asked for.
package parquet

import (
	"context"
	"errors"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// File is an open Parquet file. It is used by one goroutine.
type File struct {
	path    string
	source  *os.File
	size    int64
	alloc   memory.Allocator
	reader  *pqarrow.FileReader
	columns []table.ColumnDef
	leaves  []leaf // by column
}

// Open is OpenIn for whatever file the process may read.
func Open(path string) (*File, error) { return OpenIn(fileaccess.Full(), path) }

// OpenIn opens a file that a policy allows and reads its schema. Columns of types that Radish does not have are an error.
func OpenIn(policy *fileaccess.Policy, path string) (f *File, err error) {
	source, err := policy.Open(path)
	if err != nil {
		return nil, arrowconv.ReadError(path, kind, err)
	}
	defer func() {
		if err != nil {
			_ = source.Close() // the error that matters is err
		}
	}()
	f = &File{path: path, source: source}
	var fields *arrow.Schema
	err = f.guard(func() error {
		info, err := source.Stat()
		if err != nil {
			return err
		}
		f.size = info.Size()
		f.alloc = arrowconv.BoundedAllocator(arrowconv.MaxBuffer(f.size))
		reader, err := file.NewParquetReader(source, file.WithReadProps(parquet.NewReaderProperties(f.alloc)))
		if err != nil {
			return err
		}
		// The Arrow schema that some writers leave here tells nothing more of types that Radish has, and the library trusts the
		// lengths in it.
		reader.MetaData().FileMetaData.KeyValueMetadata = nil
		props := pqarrow.ArrowReadProperties{BatchSize: table.RowGroupSize}
		if f.reader, err = pqarrow.NewFileReader(reader, props, f.alloc); err != nil {
			return err
		}
		if fields, err = f.reader.Schema(); err != nil {
			return err
		}
		return refuseIntervals(reader.MetaData().Schema)
	})
	if err != nil {
		return nil, err
	}
	if f.columns, err = arrowconv.Columns(fields); err != nil {
		return nil, sqlerr.From(err).WithHint("file '%s'", path)
	}
	return f, f.guard(func() error {
		f.leaves = f.makeLeaves(fields)
		return nil
	})
}

// Columns returns the file's columns. The slice must not be changed.
func (f *File) Columns() []table.ColumnDef { return f.columns }

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.reader.ParquetReader().NumRows() }

// Close closes the file.
func (f *File) Close() error { return f.source.Close() }

// refuseIntervals refuses Parquet's INTERVAL, which arrow-go takes for the bytes that hold it.
func refuseIntervals(s *schema.Schema) error {
	for i := range s.NumColumns() {
		if c := s.Column(i); c.ConvertedType() == schema.ConvertedTypes.Interval {
			return sqlerr.NotSupportedf("Parquet type INTERVAL", "column '%s': there is no type for intervals in SQL; write days or seconds as a number", c.Path())
		}
	}
	return nil
}

// makeLeaves describes the columns for reading. None of them is nested.
func (f *File) makeLeaves(fields *arrow.Schema) []leaf {
	leaves := make([]leaf, len(f.columns))
	for i := range leaves {
		l := &leaves[i]
		*l = leaf{index: f.reader.Manifest.Fields[i].ColIndex, typ: f.columns[i].Type, arrow: fields.Field(i).Type}
		c := f.reader.ParquetReader().MetaData().Schema.Column(l.index)
		l.physical, l.width = c.PhysicalType(), c.TypeLength()
		l.optional = c.MaxDefinitionLevel() > 0
		l.flat = c.MaxDefinitionLevel() <= 1 && c.MaxRepetitionLevel() == 0
	}
	return leaves
}

// columnReader reads the values of a column chunk in order.
type columnReader interface {
	// read returns the next rows values. That the column has no more is an error.
	read(rows int) (encoding.Data, error)
}

// openColumn returns a reader of a column of a row group.
func (f *File) openColumn(ctx context.Context, group, ordinal int) (columnReader, error) {
	l := &f.leaves[ordinal]
	chunk, err := f.reader.ParquetReader().MetaData().RowGroup(group).ColumnChunk(l.index)
	if err != nil {
		return nil, err
	}
	if err := checkCodec(chunk.Compression(), f.columns[ordinal].Name); err != nil {
		return nil, err
	}
	begin, size, err := f.extent(chunk)
	if err != nil {
		return nil, err
	}
	if l.direct() && plainOrCoded(chunk) {
		return f.newCursor(l, chunk, begin, size)
	}
	reader, err := f.reader.GetFieldReader(ctx, ordinal, map[int]bool{l.index: true}, []int{group})
	if err != nil {
		return nil, err
	}
	return &arrowReader{reader, l.typ}, nil
}

// arrowReader reads by way of Arrow arrays.
type arrowReader struct {
	reader *pqarrow.ColumnReader
	typ    types.Type
}

func (r *arrowReader) read(rows int) (encoding.Data, error) {
	chunks, err := r.reader.NextBatch(int64(rows))
	if err != nil {
		return encoding.Data{}, err
	}
	if chunks.Len() != rows {
		return encoding.Data{}, errTooShort
	}
	values := chunks.Chunks()[0]
	if len(chunks.Chunks()) > 1 {
		if values, err = array.Concatenate(chunks.Chunks(), memory.DefaultAllocator); err != nil {
			return encoding.Data{}, err
		}
	}
	return arrowconv.Data(values, r.typ)
}

var errTooShort = errors.New("a column is shorter than its row group")

// kind is what messages call such a file.
const kind = "Parquet file"

func (f *File) guard(run func() error) error { return arrowconv.Guard(f.path, kind, run) }
