package csv

import (
	"bufio"
	"bytes"
	"io"
)

// unescaped returns a text whose fields in quotes have no escapes: quotes behind them are doubled, and other characters stand for themselves. So whatever
// reads it, such as what cuts it into blocks, knows doubled quotes only.
func unescaped(in io.Reader, opts Options) io.Reader {
	if opts.escape() == 0 {
		return in
	}
	opens := []byte{'\n', '\r'}
	if opts.Delimiter != 0 {
		opens = append(opens, opts.Delimiter)
	} else {
		opens = append(opens, delimiters...)
	}
	r := &escapeFilter{in: bufio.NewReader(in), quote: opts.quote(), escape: opts.escape(), opens: opens, begins: true}
	if head, _ := r.in.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = r.in.Discard(len(byteOrderMark)) // they are there
	}
	return r
}

const byteOrderMark = "\xef\xbb\xbf"

// escapeFilter takes escapes out of fields in quotes.
type escapeFilter struct {
	in            *bufio.Reader
	quote, escape byte
	opens         []byte // characters behind which a quote opens a field
	begins        bool   // a quote that comes next opens a field, or is the second of two
	quoted        bool   // it is inside a field in quotes
	escaped       bool   // an escape came last
	endsOrDoubles bool   // a quote came behind an escape, and was not doubled yet
}

func (r *escapeFilter) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if r.endsOrDoubles {
			r.endsOrDoubles = false
			p[n] = r.quote
			n++
			continue
		}
		if n > 0 && r.in.Buffered() == 0 {
			return n, nil
		}
		c, err := r.in.ReadByte()
		if err != nil {
			return n, err
		}
		switch {
		case r.escaped:
			r.escaped, r.endsOrDoubles = false, c == r.quote
		case r.quoted && c == r.escape:
			r.escaped = true
			continue
		case c == r.quote && (r.quoted || r.begins):
			r.begins = r.quoted
			r.quoted = !r.quoted
		default:
			r.begins = bytes.IndexByte(r.opens, c) >= 0
		}
		p[n] = c
		n++
	}
	return n, nil
}
