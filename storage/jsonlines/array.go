package jsonlines

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/textfile"
)

// Values returns a source of a text of JSON objects as lines, one for each object: those of an array, or objects that follow each other, on lines or over several.
// Numbers of lines in messages are then those of objects.
func Values(s textfile.Source) textfile.Source {
	return textfile.Source{Name: s.Name, Open: func(ctx context.Context) (io.ReadCloser, error) {
		in, err := s.Open(ctx)
		if err != nil {
			return nil, err
		}
		return &valueReader{name: s.Name, in: bufio.NewReaderSize(in, 1<<16), close: in}, nil
	}}
}

// valueReader puts the objects of a text on lines.
type valueReader struct {
	name  string
	in    *bufio.Reader
	close io.Closer
	line  int // of the text, from 0

	array   arrayState
	depth   int  // of braces and brackets within an object
	quoted  bool // within a string
	escaped bool // behind a backslash in it
	begun   bool // there was something but white space
	err     error
}

// arrayState is where in an array the text is, outside of its objects.
type arrayState uint8

const (
	noArray  arrayState = iota // the text is none
	opened                     // behind the bracket: an object or the end follows
	behind                     // behind an object: a comma or the end
	expected                   // behind a comma: an object
	closed                     // nothing but white space
)

func (r *valueReader) Close() error { return r.close.Close() }

func (r *valueReader) Read(p []byte) (n int, err error) {
	for n < len(p) && r.err == nil {
		c, err := r.in.ReadByte()
		if err != nil {
			if r.err = err; err == io.EOF && r.array != noArray && r.array != closed && r.depth == 0 {
				r.err = r.wrong("the array is not closed; expected ]")
			}
			break
		}
		if c == '\n' {
			r.line++
		}
		if r.depth > 0 {
			p[n] = r.inside(c)
			n++
			continue
		}
		if c, ok := r.between(c); ok {
			p[n] = c
			n++
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// inside returns what becomes of a character of an object.
func (r *valueReader) inside(c byte) byte {
	switch {
	case r.escaped:
		r.escaped = false
	case r.quoted:
		r.escaped = c == '\\'
		r.quoted = c != '"'
	case c == '"':
		r.quoted = true
	case c == '{' || c == '[':
		r.depth++
	case c == '}' || c == ']':
		if r.depth--; r.depth == 0 && r.array != noArray {
			r.array = behind
		}
	case c == '\n' || c == '\r':
		return ' '
	}
	return c
}

// between returns what becomes of a character outside of objects; ok is false if nothing does.
func (r *valueReader) between(c byte) (out byte, ok bool) {
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n' || !r.begun && (c == 0xef || c == 0xbb || c == 0xbf): // the last are a byte order mark
		return 0, false
	case c == '[' && !r.begun:
		r.begun, r.array = true, opened
		return 0, false
	case r.array == closed:
		r.err = r.wrong("text behind the end of the array")
	case c == ']' && (r.array == opened || r.array == behind):
		r.array = closed
	case c == ',' && r.array == behind:
		r.array = expected
		return '\n', true
	case c == '{' && r.array != behind:
		first := !r.begun
		r.begun, r.depth = true, 1
		if r.array == noArray && !first {
			_ = r.in.UnreadByte() // which was read just now
			r.depth, r.begun = 0, false
			return '\n', true
		}
		return c, true
	default:
		what := "an object"
		if r.array == behind {
			what = "a comma or ]"
		}
		r.err = r.wrong("'%c' stands where %s is expected", c, what)
	}
	return 0, false
}

func (r *valueReader) wrong(format string, args ...any) error {
	return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s', line %d: %s", r.name, r.line+1, fmt.Sprintf(format, args...))
}
