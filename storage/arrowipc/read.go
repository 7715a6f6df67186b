// Package arrowipc reads and writes Arrow's own files: the file format (also called Feather V2) and the stream format.
//
// The format is arrow-go's work (arrow/ipc); types map as [arrowconv] says.
package arrowipc

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// File is an open Arrow file or stream. It is used by one goroutine; a stream can be loaded once.
type File struct {
	path    string
	source  *os.File
	file    *ipc.FileReader // of the file format
	stream  *ipc.Reader     // of the stream format
	columns []table.ColumnDef
}

// Open is OpenIn for whatever file the process may read.
func Open(path string) (*File, error) { return OpenIn(fileaccess.Full(), path) }

// OpenIn opens a file that a policy allows in either format and reads its schema.
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
	var schema *arrow.Schema
	err = f.guard(func() error {
		magic := make([]byte, len(ipc.Magic))
		if _, err := io.ReadFull(source, magic); err != nil {
			return err
		}
		if _, err := source.Seek(0, io.SeekStart); err != nil {
			return err
		}
		info, err := source.Stat()
		if err != nil {
			return err
		}
		alloc := ipc.WithAllocator(arrowconv.BoundedAllocator(arrowconv.MaxBuffer(info.Size())))
		if bytes.Equal(magic, ipc.Magic) {
			if f.file, err = ipc.NewFileReader(source, alloc); err != nil {
				return err
			}
			schema = f.file.Schema()
			return nil
		}
		if f.stream, err = ipc.NewReader(bufio.NewReaderSize(source, 1<<20), alloc); err != nil {
			return err
		}
		schema = f.stream.Schema()
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.columns, err = arrowconv.Columns(schema); err != nil {
		return nil, sqlerr.From(err).WithHint("file '%s'", path)
	}
	return f, nil
}

// Columns returns the file's columns. The slice must not be changed.
func (f *File) Columns() []table.ColumnDef { return f.columns }

// Close closes the file.
func (f *File) Close() error { return f.source.Close() }

// Load adds the rows to a builder for a table of the columns at ordinals (nil: all), in that order. It ends soon after ctx is
// cancelled.
func (f *File) Load(ctx context.Context, b *table.Builder, ordinals []int) error {
	if ordinals == nil {
		for i := range f.columns {
			ordinals = append(ordinals, i)
		}
	}
	defs := make([]table.ColumnDef, len(ordinals))
	for i, ordinal := range ordinals {
		defs[i] = f.columns[ordinal]
	}
	for i := 0; ; i++ {
		if err := ctx.Err(); err != nil {
			return sqlerr.Interrupted(err)
		}
		var record arrow.Record
		err := f.guard(func() (err error) {
			record, err = f.record(i)
			return err
		})
		if err != nil {
			return err
		}
		if record == nil {
			return nil
		}
		err = f.guard(func() error {
			return arrowconv.AppendRecord(b, defs, record, ordinals, false)
		})
		if err != nil {
			return err
		}
	}
}

// record returns record batch i, nil after the last.
func (f *File) record(i int) (arrow.Record, error) {
	if f.file != nil {
		if i >= f.file.NumRecords() {
			return nil, nil
		}
		return f.file.RecordAt(i)
	}
	if f.stream.Next() {
		record := f.stream.Record()
		record.Retain() // the next Next releases it
		return record, nil
	}
	return nil, f.stream.Err()
}

// kind is what messages call such a file.
const kind = "Arrow file or stream"

func (f *File) guard(run func() error) error { return arrowconv.Guard(f.path, kind, run) }
