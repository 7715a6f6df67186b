package files

import (
	"io"
	"time"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/textfile"
)

// Writer writes batches to a file.
type Writer interface {
	rowWriter
	// Abandon ends a file that is not to be finished: nothing works on it any more. After Close it does nothing.
	Abandon()
}

type rowWriter interface {
	Write(*column.Batch) error
	// Close finishes what Write began. It does not close the file.
	Close() error
}

// Options say how files are written. What the zero value writes is read as the same rows.
type Options struct {
	Zone     *time.Location // of TIMESTAMPs in text; nil: UTC
	NoHeader bool           // CSV without the names of the columns
	Null     string         // what stands for NULL in CSV
	Threads  int            // that may work on a file; 0: as many as there are cores
	// Meter is told how many bytes are held before they are, where a format holds many; nil: nobody counts them. Several goroutines call it, one at a time. Limit is how
	// many there may be; 0: any number.
	Meter func(bytes int64) error
	Limit int64
}

// NewWriter returns a writer to f in the format that name tells, packed if it says so.
func NewWriter(f io.WriteSeeker, name string, names []string, columns []types.Type, o Options) (Writer, error) {
	if err := CheckWriting(name); err != nil {
		return nil, err
	}
	format := &formats[FormatOf(name)]
	if format.writeText == nil {
		return format.write(f, names, columns, o)
	}
	packed, err := textfile.NewWriter(f, name)
	if err != nil {
		return nil, sqlerr.Bug("compressing '%s': %v", name, err)
	}
	w, err := format.writeText(packed, name, names, o)
	if err != nil {
		return nil, err
	}
	return &textWriter{rowWriter: w, packed: packed, name: name, columns: names}, nil
}

func writeParquet(f io.WriteSeeker, names []string, columns []types.Type, o Options) (Writer, error) {
	w, err := parquet.NewWriter(f, names, columns)
	if err != nil {
		return nil, err
	}
	if o.Meter != nil {
		w.Meter(o.Limit, o.Meter)
	}
	return w.Workers(o.Threads), nil
}

func writeCSV(to io.Writer, name string, names []string, o Options) (rowWriter, error) {
	options := CSVOptions(name)
	if options.NullText = o.Null; o.NoHeader {
		options.Header = csv.HeaderNo
	}
	return csv.NewWriter(to, names, options, o.Zone)
}

// textWriter writes text that is packed behind the writer.
type textWriter struct {
	rowWriter
	packed  io.Closer
	name    string
	columns []string
	rows    int64
}

// Write fails if the file would have bytes that are no text, so that it could not be read again.
func (w *textWriter) Write(b *column.Batch) error {
	for c, v := range b.Cols {
		if !v.Type.IsBinaryString() {
			continue
		}
		for i := range b.Rows() {
			at := i
			if b.Sel != nil {
				at = int(b.Sel[i])
			}
			if !v.IsNull(at) && !utf8.ValidString(v.StringAt(at)) {
				return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.User, "cannot write '%s': column '%s' of row %d is not valid UTF-8", w.name, w.columns[c], w.rows+int64(i)+1).
					WithHint("write HEX(%s), which UNHEX reads, or a Parquet or Arrow file, or MySQL's format for LOAD DATA (name FIELDS or LINES)", w.columns[c])
			}
		}
	}
	w.rows += int64(b.Rows())
	return w.rowWriter.Write(b)
}

func (w *textWriter) Abandon() {}

func (w *textWriter) Close() error {
	if err := w.rowWriter.Close(); err != nil {
		return err
	}
	if err := w.packed.Close(); err != nil {
		return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.Resource, "can't compress the file: %s", err).WithCause(err)
	}
	return nil
}
