package csv

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// Writer writes batches as text. NULL is Options.NullText, bare; a value is put in quotes only where it would be read as
// something else without them. Lines end in LF.
type Writer struct {
	out       *bufio.Writer
	delimiter byte
	quote     byte
	noQuote   bool
	null      string
	zone      *time.Location
	line      []byte
	field     []byte
}

// NewWriter returns a writer to w. It writes a header of names unless opts says HeaderNo. TIMESTAMPs are written in
// zone (nil: UTC).
func NewWriter(w io.Writer, names []string, opts Options, zone *time.Location) (*Writer, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if zone == nil {
		zone = time.UTC
	}
	out := &Writer{out: bufio.NewWriterSize(w, 1<<16), delimiter: opts.delimiter(), quote: opts.quote(), noQuote: opts.NoQuote, null: opts.NullText, zone: zone}
	if opts.Header == HeaderNo {
		return out, nil
	}
	for i, name := range names {
		if err := out.add(i, []byte(name), true); err != nil {
			return nil, err
		}
	}
	return out, out.endLine()
}

// Write adds the selected rows of a batch.
func (w *Writer) Write(b *column.Batch) error {
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		for c, v := range b.Cols {
			if v.IsNull(at) {
				w.separate(c)
				w.line = append(w.line, w.null...)
				continue
			}
			text := v.Type.IsString() || v.Type.Kind == types.KindEnum
			if v.Type.IsString() {
				w.field = append(w.field[:0], v.StringAt(at)...)
			} else {
				w.field = v.Value(at).AppendExactIn(w.field[:0], w.zone)
			}
			if err := w.add(c, w.field, text); err != nil {
				return err
			}
		}
		if err := w.endLine(); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) separate(c int) {
	if c > 0 {
		w.line = append(w.line, w.delimiter)
	}
}

// add adds a value that is not NULL.
func (w *Writer) add(c int, field []byte, text bool) error {
	w.separate(c)
	special := func(b byte) bool {
		return b == w.delimiter || b == '\n' || b == '\r' || b == w.quote && !w.noQuote
	}
	quoted := string(field) == w.null
	for i := 0; i < len(field) && !quoted; i++ {
		quoted = special(field[i])
	}
	quoted = quoted || text && c == 0 && bytes.HasPrefix(field, []byte("\xef\xbb\xbf"))
	if !quoted {
		w.line = append(w.line, field...)
		return nil
	}
	if w.noQuote {
		return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.User, "the value '%s' cannot be written as CSV without quotes", shorten(field))
	}
	w.line = append(w.line, w.quote)
	for _, b := range field {
		if b == w.quote {
			w.line = append(w.line, b)
		}
		w.line = append(w.line, b)
	}
	w.line = append(w.line, w.quote)
	return nil
}

func (w *Writer) endLine() error {
	_, err := w.out.Write(append(w.line, '\n'))
	w.line = w.line[:0]
	return cannotWrite(err)
}

// Close writes what is still buffered. It does not close the underlying writer.
func (w *Writer) Close() error { return cannotWrite(w.out.Flush()) }

func cannotWrite(err error) error {
	if err == nil {
		return nil
	}
	return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.Resource, "can't write CSV: %s", err).WithCause(err)
}

// shorten cuts a field for a message.
func shorten(field []byte) string {
	if len(field) > 60 {
		return strings.ToValidUTF8(string(field[:60]), "") + "..."
	}
	return string(field)
}
