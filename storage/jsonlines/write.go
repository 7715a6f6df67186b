package jsonlines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/jsontext"
	"github.com/radish-sql/radish/storage/textfile"
)

// Encoder writes rows as JSON objects. Numbers and decimals are JSON numbers with all their digits, JSON columns are values, everything else
// is a string, NaN and infinities too.
type Encoder struct {
	keys  [][]byte          // `"name":` of each column, with a comma before all but the first
	usual []textfile.Format // by column: the JSON of its values; nil, also for all: text is to be asked
	text  func(dst []byte, v *column.Vector, at int) []byte
	last  []byte
}

// NewEncoder returns an encoder of rows with columns of the given names. text appends what MySQL prints for a value.
func NewEncoder(names []string, text func(dst []byte, v *column.Vector, at int) []byte) *Encoder {
	e := &Encoder{text: text}
	// A second column of a name gets a number, since an object's keys should be distinct.
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
	}
	seen := map[string]bool{}
	for _, first := range names {
		name := first
		for i := 2; seen[name]; i++ {
			if next := first + "_" + strconv.Itoa(i); !taken[next] {
				name = next
			}
		}
		seen[name] = true
		var key []byte
		if len(e.keys) > 0 {
			key = append(key, ',')
		}
		e.keys = append(e.keys, append(jsontext.AppendString(key, name), ':'))
	}
	return e
}

// AppendRow appends a row of a batch.
func (e *Encoder) AppendRow(dst []byte, b *column.Batch, at int) []byte {
	dst = append(dst, '{')
	for i, v := range b.Cols {
		dst = append(dst, e.keys[i]...)
		if e.usual != nil && e.usual[i] != nil && !v.IsNull(at) {
			dst = e.usual[i](dst, v, at)
		} else {
			dst = e.appendValue(dst, v, at)
		}
	}
	return append(dst, '}')
}

// usualFormat returns what appends the JSON of a type's values that are no NULL; nil: there is nothing faster than the encoder's text.
func usualFormat(t types.Type) textfile.Format {
	format := textfile.FormatOf(t, nil)
	switch {
	case t.IsInteger() && t.Kind != types.KindYear, t.Kind == types.KindDecimal:
		return format
	case t.Kind == types.KindDate:
		return func(dst []byte, v *column.Vector, at int) []byte { return append(format(append(dst, '"'), v, at), '"') }
	case t.IsString() && t.Kind != types.KindJSON && t.Kind != types.KindEnum:
		return func(dst []byte, v *column.Vector, at int) []byte { return jsontext.AppendString(dst, v.StringAt(at)) }
	}
	return nil
}

func (e *Encoder) appendValue(dst []byte, v *column.Vector, at int) []byte {
	switch t := v.Type; {
	case v.IsNull(at) || t.Kind == types.KindNull:
		return append(dst, "null"...)
	case t.Kind == types.KindYear: // whose text 0000 would be no number
		return strconv.AppendInt(dst, v.Value(at).I, 10)
	case t.IsFloat() && !types.IsFinite(v.Value(at).F): // for which JSON has no number
	case t.IsNumeric():
		return e.text(dst, v, at)
	case t.Kind == types.KindJSON:
		s := v.StringAt(at)
		switch {
		case !json.Valid([]byte(s)):
		case strings.ContainsAny(s, "\r\n"): // an object is one line
			var line bytes.Buffer
			if json.Compact(&line, []byte(s)) == nil {
				return append(dst, line.Bytes()...)
			}
		default:
			return append(dst, s...)
		}
	}
	e.last = e.text(e.last[:0], v, at)
	return jsontext.AppendString(dst, string(e.last))
}

// Writer writes batches as lines of JSON. NULL is null.
type Writer struct {
	out     *bufio.Writer
	rows    *Encoder
	line    []byte
	isArray bool // the objects are an array's, still one on each line
	begun   bool
}

// NewWriter returns a writer to w of columns with the given names. TIMESTAMPs are written in zone (nil: UTC).
func NewWriter(w io.Writer, names []string, zone *time.Location) *Writer {
	if zone == nil {
		zone = time.UTC
	}
	return &Writer{out: bufio.NewWriterSize(w, 1<<16), rows: NewEncoder(names, func(dst []byte, v *column.Vector, at int) []byte {
		if v.Type.IsString() {
			return append(dst, v.StringAt(at)...)
		}
		return v.Value(at).AppendExactIn(dst, zone)
	})}
}

// NewArrayWriter is NewWriter of a file that is one array of objects.
func NewArrayWriter(w io.Writer, names []string, zone *time.Location) *Writer {
	out := NewWriter(w, names, zone)
	out.isArray = true
	return out
}

// Write adds the selected rows of a batch.
func (w *Writer) Write(b *column.Batch) error {
	for i := len(w.rows.usual); i < len(b.Cols); i++ {
		w.rows.usual = append(w.rows.usual, usualFormat(b.Cols[i].Type))
	}
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		w.line = w.line[:0]
		if w.isArray {
			w.line = append(w.line, w.before()...)
		}
		w.line = w.rows.AppendRow(w.line, b, at)
		if !w.isArray {
			w.line = append(w.line, '\n')
		}
		if _, err := w.out.Write(w.line); err != nil {
			return cannotWrite(err)
		}
	}
	return nil
}

// before returns what stands before the next object of an array.
func (w *Writer) before() string {
	if w.begun {
		return ",\n"
	}
	w.begun = true
	return "[\n"
}

// Close writes what is still buffered, and an array's end. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.isArray {
		end := "\n]\n"
		if !w.begun {
			end = "[]\n"
		}
		if _, err := w.out.WriteString(end); err != nil {
			return cannotWrite(err)
		}
	}
	return cannotWrite(w.out.Flush())
}

func cannotWrite(err error) error {
	if err == nil {
		return nil
	}
	return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.Resource, "can't write JSON: %s", err).WithCause(err)
}
