package render

import (
	"encoding/hex"
	"html"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// htmlTable writes an HTML table, as mysql --html does.
type htmlTable struct {
	output
	line, text []byte
}

func (h *htmlTable) begin() {
	h.w.WriteString("<table>\n")
	if h.settings.NoHeaders {
		return
	}
	h.line = append(h.line, "<tr>"...)
	for _, c := range h.cols {
		h.line = append(h.line, "<th>"+html.EscapeString(c.Name)+"</th>"...)
	}
	h.w.Write(append(h.line, "</tr>\n"...))
}

func (h *htmlTable) row(b *column.Batch, at int) {
	h.line = append(h.line[:0], "<tr>"...)
	for i, v := range b.Cols {
		if alignRight(h.cols[i].Type) {
			h.line = append(h.line, `<td align="right">`...)
		} else {
			h.line = append(h.line, "<td>"...)
		}
		if isNull(v, at) {
			h.line = append(h.line, html.EscapeString(h.null("NULL"))...)
		} else {
			h.text = h.appendValue(h.text[:0], v, at)
			h.line = append(h.line, html.EscapeString(string(h.text))...)
		}
		h.line = append(h.line, "</td>"...)
	}
	h.w.Write(append(h.line, "</tr>\n"...))
}

func (h *htmlTable) batchEnd() {}

func (h *htmlTable) end() { h.w.WriteString("</table>\n") }

// A statement of inserts ends where it has so many rows or bytes.
const (
	insertRows  = 1000
	insertBytes = 1 << 20
)

// inserts writes INSERT statements that make the rows again.
type inserts struct {
	output
	head  string
	rows  int // of the statement that is written
	bytes int // of it
	line  []byte
}

func (s *inserts) begin() {
	into := s.settings.Into
	if into == "" {
		into = "t"
	}
	var names []string
	for _, c := range s.cols {
		names = append(names, QuoteName(c.Name))
	}
	parts := strings.SplitN(into, ".", 2)
	for i, p := range parts {
		parts[i] = QuoteName(p)
	}
	s.head = "INSERT INTO " + strings.Join(parts, ".") + " (" + strings.Join(names, ", ") + ") VALUES\n"
}

func (s *inserts) row(b *column.Batch, at int) {
	s.line = s.line[:0]
	switch {
	case s.rows == 0:
		s.line = append(s.line, s.head...)
	case s.rows >= insertRows || s.bytes >= insertBytes:
		s.line = append(append(s.line, ";\n"...), s.head...)
		s.rows, s.bytes = 0, 0
	default:
		s.line = append(s.line, ",\n"...)
	}
	s.rows++
	s.line = append(s.line, '(')
	for i, v := range b.Cols {
		if i > 0 {
			s.line = append(s.line, ", "...)
		}
		switch t := v.Type; {
		case isNull(v, at):
			s.line = append(s.line, "NULL"...)
		case t.IsFloat():
			s.line = s.appendFloat(s.line, v.Value(at))
		case t.IsNumeric():
			s.line = v.Value(at).AppendExactIn(s.line, s.zone)
		case t.IsBinaryString() && !utf8.ValidString(v.StringAt(at)):
			s.line = append(append(s.line, "x'"...), hex.EncodeToString([]byte(v.StringAt(at)))...)
			s.line = append(s.line, '\'')
		case t.IsString():
			s.line = AppendString(s.line, v.StringAt(at))
		default: // dates and times, without characters to escape
			s.line = append(s.appendValue(append(s.line, '\''), v, at), '\'')
		}
	}
	s.line = append(s.line, ')')
	s.bytes += len(s.line)
	s.w.Write(s.line)
}

// appendFloat appends a double as SQL reads it. Those that no number in SQL means are strings, which a column of doubles takes; -0 is
// a double because of its exponent, where the sign of an integer 0 is lost.
func (s *inserts) appendFloat(dst []byte, v types.Value) []byte {
	switch {
	case !types.IsFinite(v.F):
		return append(v.AppendTextIn(append(dst, '\''), s.zone), '\'')
	case v.F == 0 && math.Signbit(v.F):
		return append(dst, "-0e0"...)
	}
	return v.AppendExactIn(dst, s.zone)
}

func (s *inserts) batchEnd() {}

func (s *inserts) end() {
	if s.rows > 0 {
		s.w.WriteString(";\n")
	}
}

// QuoteName quotes a name as SQL reads it.
func QuoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// escapes are what stands behind a backslash in place of a character; 0: the character stands for itself.
var escapes = [256]byte{'\'': '\'', '\\': '\\', '\n': 'n', '\r': 'r', 0: '0'}

// AppendString appends a string as a literal that MySQL reads back, unless the sql_mode has NO_BACKSLASH_ESCAPES.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	begin := 0 // of what is not appended yet
	for i := range len(s) {
		if e := escapes[s[i]]; e != 0 {
			dst = append(append(dst, s[begin:i]...), '\\', e)
			begin = i + 1
		}
	}
	return append(append(dst, s[begin:]...), '\'')
}
