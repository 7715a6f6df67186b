package parquet

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/table"
)

// maxGroupBytes bounds the values of a row group that is collected, however long its strings are.
const maxGroupBytes = 64 << 20

// leastGroupBytes is what the values of a row group may take however little memory there is.
const leastGroupBytes = 256 << 10

// Writer writes batches as the row groups of a file: of table.RowGroupSize rows, or fewer if their values take maxGroupBytes, with pages that have checksums
// and are compressed by Snappy, in columns where that saves something. While one row group is collected, the one before is encoded, its columns on all cores. The file is whole only after Close.
//
// Schema and footer are made by arrow-go's packages; pages are encoded here, since values come with what the library would have to find out again, such as
// a table's dictionaries.
type Writer struct {
	out     io.Writer
	at      int64 // bytes of the file so far
	footer  *metadata.FileMetaDataBuilder
	groups  int16
	columns []*columnWriter // what is collected
	rows    int
	spare   []*columnWriter // of the row group before, once it is written
	scratch []scratch       // of each worker
	most    int             // bytes of values in a row group
	writing chan error      // gets the outcome of the row group that is written; nil: none is

	meter func(bytes int64) error
	mu    sync.Mutex
	held  int64 // guarded by mu: bytes that meter was told of
}

// NewWriter returns a writer to w, which it does not close, of columns of the given names and types.
func NewWriter(w io.Writer, names []string, columns []types.Type) (*Writer, error) {
	var nodes schema.FieldList
	for _, f := range arrowconv.Schema(names, columns).Fields() {
		n, err := nodeOf(f)
		if err != nil {
			return nil, cannotWrite(fmt.Errorf("column '%s': %w", f.Name, err))
		}
		nodes = append(nodes, n)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, cannotWrite(err)
	}
	s := schema.NewSchema(root)
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithCreatedBy("Radish"))
	out := &Writer{out: w, most: maxGroupBytes, meter: func(int64) error { return nil }, scratch: make([]scratch, min(runtime.GOMAXPROCS(0), max(len(columns), 1))), footer: metadata.NewFileMetadataBuilder(s, props, nil)}
	for i, t := range columns {
		out.columns = append(out.columns, newColumnWriter(t, s.Column(i), out.hold))
		out.spare = append(out.spare, newColumnWriter(t, s.Column(i), out.hold))
	}
	return out, cannotWrite(out.write([]byte("PAR1")))
}

// Workers bounds the goroutines that encode columns, before the first Write; there are as many as cores otherwise.
func (w *Writer) Workers(n int) *Writer {
	if n > 0 {
		w.scratch = w.scratch[:min(n, len(w.scratch))]
	}
	return w
}

// Meter has the bytes that are held counted, before they are: it is told how many there are in all, by several goroutines in turn. Row groups end where their values take an
// eighth of a limit; 0: there is none.
func (w *Writer) Meter(limit int64, meter func(bytes int64) error) *Writer {
	if limit > 0 {
		w.most = int(min(maxGroupBytes, max(limit/8, leastGroupBytes)))
	}
	w.meter = meter
	return w
}

// hold counts so many bytes more.
func (w *Writer) hold(bytes int64) error {
	if bytes == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.meter(w.held + bytes); err != nil {
		return err
	}
	w.held += bytes
	return nil
}

func (w *Writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

// Write adds the selected rows of a batch.
func (w *Writer) Write(b *column.Batch) error {
	for from, rows := 0, b.Rows(); from < rows; {
		n := min(table.RowGroupSize-w.rows, rows-from)
		bytes := 0
		for i, v := range b.Cols {
			if err := w.columns[i].add(v, b.Sel, from, n); err != nil {
				return err
			}
			if err := w.columns[i].count(); err != nil {
				return err
			}
			bytes += w.columns[i].bytes()
		}
		from += n
		w.rows += n
		if w.rows == table.RowGroupSize || bytes >= w.most {
			if err := w.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// endGroup has the row group that is collected encoded and written, when the one before is.
func (w *Writer) endGroup() error {
	if err := w.wait(); err != nil {
		return err
	}
	group, rows := w.columns, w.rows
	w.columns, w.spare, w.rows = w.spare, group, 0
	w.writing = make(chan error, 1)
	go func(done chan<- error) {
		done <- sqlerr.Guard(func() error { return w.writeGroup(group, rows) })
	}(w.writing)
	return nil
}

// wait waits until the row group before is written.
func (w *Writer) wait() error {
	if w.writing == nil {
		return nil
	}
	err := <-w.writing
	w.writing = nil
	for _, c := range w.spare {
		c.reset()
	}
	return err
}

// writeGroup encodes the columns of a row group on all cores and writes them one behind the other.
func (w *Writer) writeGroup(columns []*columnWriter, rows int) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, len(columns))
	for worker := range w.scratch {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(columns); i = int(next.Add(1)) - 1 {
				errs[i] = sqlerr.Guard(func() error { return columns[i].encode(&w.scratch[worker]) })
			}
		})
	}
	group.Wait()
	for i := range w.scratch {
		w.scratch[i].trim(w.hold)
	}
	m := w.footer.AppendRowGroup()
	m.SetNumRows(rows)
	start := w.at
	for i, c := range columns {
		if errs[i] != nil {
			return errs[i]
		}
		if err := c.finish(m.NextColumnChunk(), w.at); err != nil {
			return cannotWrite(err)
		}
		for _, piece := range c.out.list[:c.out.used] {
			if err := w.write(piece); err != nil {
				return cannotWrite(err)
			}
		}
	}
	if w.groups == math.MaxInt16 {
		return sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "a Parquet file has at most %d row groups", math.MaxInt16)
	}
	err := m.Finish(w.at-start, w.groups)
	w.groups++
	return cannotWrite(err)
}

// Close writes what is left and the footer.
func (w *Writer) Close() error {
	if w.rows > 0 {
		if err := w.endGroup(); err != nil {
			return err
		}
	}
	if err := w.wait(); err != nil {
		return err
	}
	footer, err := w.footer.Finish()
	if err != nil {
		return cannotWrite(err)
	}
	n, err := footer.WriteTo(w.out, nil)
	if err != nil {
		return cannotWrite(err)
	}
	return cannotWrite(w.write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), 'P', 'A', 'R', '1'}))
}

// Abandon waits until nothing works on the file any more, without finishing it. After Close it does nothing.
func (w *Writer) Abandon() { _ = w.wait() }

func cannotWrite(err error) error {
	if err == nil {
		return nil
	}
	return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.Resource, "can't write Parquet: %s", err).WithCause(err)
}
