// Package interrupt lets long work on a string end when its statement is cancelled: work is done piece by piece, and between pieces it
// looks whether the statement goes on. The package is a leaf.
package interrupt

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Statement is what work is done for.
type Statement interface {
	// Interrupted returns an error if the statement has been cancelled.
	Interrupted() error
}

// LongBytes is the length of strings after which a function looks whether its statement has been cancelled.
const LongBytes = 4 << 20

// Reader reads a string piece by piece, and fails when the statement has been cancelled: what works through a long text
// reads it this way.
type Reader struct {
	c   Statement
	r   strings.Reader
	Err error // of the statement, once ReadRune has given it
}

// ReadBytes is how many bytes of a text are read between looks at the statement: of a JSON document, some ten thousand values.
const ReadBytes = 32 << 10

func NewReader(c Statement, s string) *Reader {
	r := &Reader{c: c}
	r.r.Reset(s)
	return r
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if err := r.c.Interrupted(); err != nil {
		return 0, err
	}
	return r.r.Read(p[:min(len(p), ReadBytes)])
}

// ReadRune implements io.RuneReader.
func (r *Reader) ReadRune() (ch rune, size int, err error) {
	if r.r.Len()%ReadBytes < 4 {
		if r.Err = r.c.Interrupted(); r.Err != nil {
			return 0, 0, r.Err
		}
	}
	return r.r.ReadRune()
}

// PieceBytes is the length of the pieces that long strings are worked through in: some milliseconds of work each.
const PieceBytes = 1 << 20

// Pieces calls f for s piece by piece, cut between characters, and fails when the statement has been cancelled meanwhile.
func Pieces(c Statement, s string, f func(piece string)) error {
	for len(s) > PieceBytes {
		end := PieceBytes
		for end > PieceBytes-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		f(s[:end])
		s = s[end:]
		if err := c.Interrupted(); err != nil {
			return err
		}
	}
	f(s)
	return nil
}

// Feed writes a string, piece by piece, to a digest or the like, which cannot fail.
func Feed(c Statement, w io.Writer, s string) error {
	return Pieces(c, s, func(piece string) { _, _ = w.Write(unsafe.Slice(unsafe.StringData(piece), len(piece))) })
}

// steps counts the bytes that a loop has passed, and looks after every piece of them whether the statement goes on.
type steps struct {
	c      Statement
	passed int
}

// NewSteps counts the steps of a statement.
func NewSteps(c Statement) steps { return steps{c: c} }

func (s *steps) Pass(bytes int) error {
	if s.passed += bytes; s.passed < PieceBytes {
		return nil
	}
	s.passed = 0
	return s.c.Interrupted()
}

// IsInterrupted says whether reading an interruptible failed because of the statement, not of what it read.
func IsInterrupted(err error) bool {
	e := (*sqlerr.Error)(nil)
	return errors.As(err, &e)
}
