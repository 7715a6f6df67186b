package render

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// jsonObjects writes an object for each row, in an array or on lines of their own. Numbers and decimals are JSON
// numbers with all their digits, JSON columns are values, everything else is a string, NaN and infinities too.
type jsonObjects struct {
	output
	array bool
	keys  [][]byte // `"name":` of each column
	rows  int64
	line  []byte
	text  []byte
}

func newJSON(o output, array bool) *jsonObjects {
	j := &jsonObjects{output: o, array: array}
	// A second column of a name gets a number, since an object's keys should be distinct.
	taken := map[string]bool{}
	for _, c := range o.cols {
		taken[c.Name] = true
	}
	seen := map[string]bool{}
	for _, c := range o.cols {
		name := c.Name
		for i := 2; seen[name]; i++ {
			if next := c.Name + "_" + strconv.Itoa(i); !taken[next] {
				name = next
			}
		}
		seen[name] = true
		j.keys = append(j.keys, append(appendJSONString(nil, name), ':'))
	}
	return j
}

func (j *jsonObjects) begin() {
	if j.array {
		j.w.WriteByte('[')
	}
}

func (j *jsonObjects) row(b *column.Batch, at int) {
	j.line = j.line[:0]
	if j.array {
		if j.rows > 0 {
			j.line = append(j.line, ',')
		}
		j.line = append(j.line, '\n')
	}
	j.rows++
	j.line = append(j.line, '{')
	for i, v := range b.Cols {
		if i > 0 {
			j.line = append(j.line, ',')
		}
		j.line = append(j.line, j.keys[i]...)
		j.line = j.appendJSON(j.line, v, at)
	}
	j.line = append(j.line, '}')
	if !j.array {
		j.line = append(j.line, '\n')
	}
	j.w.Write(j.line)
}

func (j *jsonObjects) batchEnd() {}

func (j *jsonObjects) end() {
	if j.array {
		if j.rows > 0 {
			j.w.WriteByte('\n')
		}
		j.w.WriteString("]\n")
	}
}

func (j *jsonObjects) appendJSON(dst []byte, v *column.Vector, at int) []byte {
	switch t := v.Type; {
	case isNull(v, at):
		return append(dst, "null"...)
	case t.Kind == types.KindYear: // whose text 0000 would be no number
		return strconv.AppendInt(dst, v.Value(at).I, 10)
	case t.IsFloat() && !finite(v.Value(at).F): // for which JSON has no number
	case t.IsNumeric():
		return j.appendValue(dst, v, at)
	case t.Kind == types.KindJSON:
		if s := v.StringAt(at); json.Valid([]byte(s)) {
			return append(dst, s...)
		}
	}
	j.text = j.appendValue(j.text[:0], v, at)
	return appendJSONString(dst, string(j.text))
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// appendJSONString quotes a string as RFC 8259 asks: quotation marks, backslashes and control characters are escaped,
// bytes that are no UTF-8 become the replacement character.
func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ' || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}
