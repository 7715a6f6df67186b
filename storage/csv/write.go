package csv

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/textfile"
)

// Writer writes batches as text. NULL is Options.NullText, bare; a value is put in quotes only where it would be read as
// something else without them. Lines end in LF.
type Writer struct {
	out          *bufio.Writer
	delimiter    byte
	quote        byte
	noQuote      bool
	null         string
	zone         *time.Location
	special      [256]bool // bytes of a value that have to stand in quotes
	quotesDigits bool      // a number or date may have to
	columns      []textfile.Format
	line         []byte
	field        []byte
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
	for _, c := range []byte{out.delimiter, '\n', '\r'} {
		out.special[c] = true
	}
	out.special[out.quote] = !out.noQuote || out.special[out.quote]
	out.quotesDigits = out.null != ""
	for _, c := range []byte("0123456789-+.: eE") {
		out.quotesDigits = out.quotesDigits || out.special[c]
	}
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
	if w.columns == nil {
		for _, v := range b.Cols {
			w.columns = append(w.columns, textfile.FormatOf(v.Type, w.zone))
		}
	}
	plain := make([]bool, len(b.Cols)) // values that never stand in quotes
	for c, v := range b.Cols {
		plain[c] = !w.quotesDigits && (v.Type.IsInteger() || v.Type.Kind == types.KindDecimal || v.Type.Kind == types.KindDate)
	}
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		for c, v := range b.Cols {
			switch {
			case v.IsNull(at):
				w.separate(c)
				w.line = append(w.line, w.null...)
			case plain[c]:
				w.separate(c)
				w.line = w.columns[c](w.line, v, at)
			default:
				w.field = w.columns[c](w.field[:0], v, at)
				if err := w.add(c, w.field, v.Type.IsString() || v.Type.Kind == types.KindEnum); err != nil {
					return err
				}
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
func (w *Writer) add(c int, field []byte, isText bool) error {
	w.separate(c)
	quoted := string(field) == w.null
	for i := 0; i < len(field) && !quoted; i++ {
		quoted = w.special[field[i]]
	}
	quoted = quoted || isText && c == 0 && bytes.HasPrefix(field, []byte("\xef\xbb\xbf"))
	if !quoted {
		w.line = append(w.line, field...)
		return nil
	}
	if w.noQuote {
		return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.User, "the value '%s' cannot be written as CSV without quotes: it has the delimiter, a line end or the text of NULL in it", shorten(field)).
			WithHint("choose another delimiter, or write Parquet")
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
