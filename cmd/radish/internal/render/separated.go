package render

import (
	"bytes"

	"github.com/radish-sql/radish/column"
)

// separated writes CSV and TSV: a header line, then a line for each row.
type separated struct {
	output
	separator byte
	// cell appends a value's text, quoted or escaped.
	cell       func(dst, text []byte, null bool) []byte
	line, text []byte
}

func (s *separated) begin() {
	if s.settings.NoHeaders {
		return
	}
	s.line = s.line[:0]
	for i, c := range s.cols {
		if i > 0 {
			s.line = append(s.line, s.separator)
		}
		s.line = s.cell(s.line, []byte(c.Name), false)
	}
	s.w.Write(append(s.line, '\n'))
}

func (s *separated) row(b *column.Batch, at int) {
	s.line = s.line[:0]
	for i, v := range b.Cols {
		if i > 0 {
			s.line = append(s.line, s.separator)
		}
		if isNull(v, at) {
			if s.settings.Null != nil {
				s.line = append(s.line, *s.settings.Null...)
			} else {
				s.line = s.cell(s.line, nil, true)
			}
			continue
		}
		s.text = s.appendValue(s.text[:0], v, at)
		s.line = s.cell(s.line, s.text, false)
	}
	s.line = append(s.line, '\n')
	s.w.Write(s.line)
}

func (s *separated) batchEnd() {}

func (s *separated) end() {}

// appendCSV quotes where RFC 4180 asks for it, and the empty string, which would read as NULL.
func appendCSV(dst, text []byte, null bool) []byte {
	if null {
		return dst
	}
	if len(text) > 0 && !bytes.ContainsAny(text, ",\"\n\r") && text[0] != ' ' && text[len(text)-1] != ' ' {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for _, c := range text {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// appendTSV escapes as SELECT ... INTO OUTFILE does.
func appendTSV(dst, text []byte, null bool) []byte {
	if null {
		return append(dst, `\N`...)
	}
	for _, c := range text {
		switch c {
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case 0:
			dst = append(dst, `\0`...)
		case '\\':
			dst = append(dst, `\\`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
