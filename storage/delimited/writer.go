package delimited

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/textfile"
)

// Rules are the FIELDS and LINES clauses of LOAD DATA and SELECT ... INTO OUTFILE (MySQL manual, "Field and Line Handling").
type Rules struct {
	Terminated, Starting, Ending string
	Enclosed, Escaped            byte // 0: none
	EnclosesStringsOnly          bool // only strings are enclosed
}

// textWriter writes rows as MySQL's SELECT ... INTO OUTFILE does, byte by byte: what it escapes, and how, depends on the clauses.
type textWriter struct {
	Rules
	to      *bufio.Writer
	columns []textColumn
	zone    *time.Location
	scratch []byte
}

// textColumn says how the values of a column are written.
type textColumn struct {
	enclosed bool
	escapes  bool
	special  [256]bool // bytes that are escaped
	doubled  int       // the byte that is escaped by being doubled; -1: none
}

func newTextWriter(w io.Writer, r Rules, columns []types.Type, zone *time.Location) *textWriter {
	t := &textWriter{Rules: r, zone: zone, to: bufio.NewWriterSize(w, 1<<16)}
	separator := r.Terminated[0]
	if r.Enclosed != 0 {
		separator = r.Enclosed
	}
	// What follows the escape character may stand for something else, so such a byte cannot be escaped by it.
	const ambiguous, inNumbers = "ntrb0ZN", ".0123456789e+-"
	for _, c := range columns {
		isString := !c.IsNumeric() || c.Kind == types.KindNull
		col := textColumn{
			enclosed: r.Enclosed != 0 && (!r.EnclosesStringsOnly || isString),
			escapes:  r.Escaped != 0 && (isString || strings.IndexByte(inNumbers, separator) >= 0),
			doubled:  -1,
		}
		col.special[r.Escaped], col.special[r.Ending[0]], col.special[0] = true, true, true
		if col.enclosed {
			col.special[separator] = true
		} else if strings.IndexByte(ambiguous, r.Terminated[0]) < 0 {
			col.special[r.Terminated[0]] = true
		}
		if isString && !c.IsBinaryString() {
			clear(col.special[0x80:]) // parts of characters
		}
		if strings.IndexByte(ambiguous, separator) >= 0 {
			col.doubled = int(separator)
		}
		t.columns = append(t.columns, col)
	}
	return t
}

// write writes the rows of a batch.
func (t *textWriter) write(b *column.Batch) error {
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		t.to.WriteString(t.Starting) // errors of a bufio.Writer stay until Flush
		for c, v := range b.Cols {
			if c > 0 {
				t.to.WriteString(t.Terminated)
			}
			t.value(&t.columns[c], v, at)
		}
		t.to.WriteString(t.Ending)
	}
	return nil
}

func (t *textWriter) value(c *textColumn, v *column.Vector, at int) {
	if v.IsNull(at) {
		if t.Escaped == 0 {
			t.to.WriteString("NULL")
			return
		}
		t.to.WriteByte(t.Escaped)
		t.to.WriteByte('N')
		return
	}
	if c.enclosed {
		t.to.WriteByte(t.Enclosed)
	}
	switch {
	case v.Type.IsString() && v.Type.Kind != types.KindEnum:
		t.text(c, v.StringAt(at))
	case v.Type.IsInteger() && v.Type.Kind != types.KindYear && v.Type.Kind != types.KindUint64 && !c.escapes:
		if v.Const {
			at = 0
		}
		t.scratch = strconv.AppendInt(t.scratch[:0], v.I64[at], 10)
		t.to.Write(t.scratch)
	default:
		t.scratch = v.Value(at).AppendExactIn(t.scratch[:0], t.zone)
		t.text(c, unsafe.String(unsafe.SliceData(t.scratch), len(t.scratch)))
	}
	if c.enclosed {
		t.to.WriteByte(t.Enclosed)
	}
}

func (t *textWriter) text(c *textColumn, s string) {
	if !c.escapes {
		t.to.WriteString(s)
		return
	}
	start := 0
	for i := range len(s) {
		x := s[i]
		if !c.special[x] {
			continue
		}
		t.to.WriteString(s[start:i])
		start = i + 1
		if int(x) == c.doubled {
			t.to.WriteByte(x)
		} else {
			t.to.WriteByte(t.Escaped)
		}
		if x == 0 {
			x = '0'
		}
		t.to.WriteByte(x)
	}
	t.to.WriteString(s[start:])
}

// Write writes all rows that next gives, TIMESTAMPs in a zone, to a file of a name, which tells whether it is compressed, and returns their
// number.
func Write(next func() (*column.Batch, error), columns []types.Type, f io.Writer, name string, r Rules, zone *time.Location) (rows int64, err error) {
	w, err := textfile.NewWriter(f, name)
	if err != nil {
		return 0, sqlerr.Bug("compressing '%s': %v", name, err)
	}
	t := newTextWriter(w, r, columns, zone)
	for {
		b, err := next()
		if err != nil {
			return 0, err
		}
		if b == nil {
			if err := t.to.Flush(); err != nil {
				return 0, files.CannotWrite(name, err)
			}
			if err := w.Close(); err != nil {
				return 0, files.CannotWrite(name, err)
			}
			return rows, nil
		}
		rows += int64(b.Rows())
		if err := t.write(b); err != nil {
			return 0, err
		}
	}
}
