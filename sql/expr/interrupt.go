package expr

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// interruptBytes is the length of strings after which a kernel looks whether its statement has been cancelled.
const interruptBytes = 4 << 20

// textCount is how many bytes the texts take that the programs of a Context have made: those of the last batch of each, which lives
// until its next one, as far as they are interruptBytes or more.
type textCount struct {
	fresh   int   // of the current batch, not in held yet
	held    int64 // by all programs
	program *ProgramSet
}

// made counts the bytes of a string that a kernel has made. Kernels that make texts call it for each, so that a statement that is
// cancelled, or out of memory, ends before a whole vector of them is there.
func (c *Context) made(s string) error { return c.hold(len(s)) }

// hold counts bytes that the program's values take.
func (c *Context) hold(bytes int) error {
	if c == nil {
		return nil
	}
	t := &c.texts
	if t.fresh += bytes; t.fresh < interruptBytes {
		return nil
	}
	t.held += int64(t.fresh)
	if t.program != nil {
		t.program.held += int64(t.fresh)
	}
	t.fresh = 0
	if c.Texts != nil {
		if err := c.Texts(t.held); err != nil {
			return err
		}
	}
	return c.Interrupted()
}

// keep counts bytes that a program's value takes as long as the program lives: those of its worker's Context.
func (c *Context) keep(bytes int64) error {
	if c == nil || bytes == 0 {
		return nil
	}
	if c.texts.held += bytes; c.Texts == nil {
		return nil
	}
	return c.Texts(c.texts.held)
}

// begin is called when a program starts a batch: what it made of the last one is not needed any more.
func (c *Context) begin(p *ProgramSet) {
	if c == nil {
		return
	}
	if p.held > 0 && p.holder == c {
		c.texts.held -= p.held
		c.told()
	}
	p.held, p.holder, c.texts.program, c.texts.fresh = 0, c, p, 0
}

// told says that fewer bytes are held, which cannot fail.
func (c *Context) told() {
	if c.Texts != nil {
		_ = c.Texts(c.texts.held)
	}
}

// while calls f and forgets what it has counted: it lives no longer than f.
func (c *Context) while(f func() error) error {
	if c == nil {
		return f()
	}
	before, program := c.texts, int64(0)
	if before.program != nil {
		program = before.program.held
	}
	err := f()
	held := c.texts.held
	if c.texts = before; before.program != nil {
		before.program.held = program
	}
	if held > before.held {
		c.told()
	}
	return err
}

// ForWorker returns a copy of c for a worker of a query. texts is told, now and then, how many bytes the texts take that the worker's
// functions have made and that are still there; an error from it ends the worker's statement. nil: nobody wants to know.
func (c Context) ForWorker(texts func(bytes int64) error) *Context {
	c.texts, c.Texts = textCount{}, texts
	return &c
}

// Interrupted returns an error if the statement has been cancelled.
func (c *Context) Interrupted() error {
	if c == nil || c.Ctx == nil || c.Ctx.Err() == nil {
		return nil
	}
	return sqlerr.Interrupted(context.Cause(c.Ctx))
}

// interruptible reads a string piece by piece, and fails when the statement has been cancelled: what works through a long text
// reads it this way.
type interruptible struct {
	c   *Context
	r   strings.Reader
	err error // of the statement, once ReadRune has given it
}

// interruptEvery is how many bytes of a text are read between looks at the statement: of a JSON document, some ten thousand values.
const interruptEvery = 32 << 10

func (c *Context) reader(s string) *interruptible {
	r := &interruptible{c: c}
	r.r.Reset(s)
	return r
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.c.Interrupted(); err != nil {
		return 0, err
	}
	return r.r.Read(p[:min(len(p), interruptEvery)])
}

// ReadRune implements io.RuneReader.
func (r *interruptible) ReadRune() (ch rune, size int, err error) {
	if r.r.Len()%interruptEvery < 4 {
		if r.err = r.c.Interrupted(); r.err != nil {
			return 0, 0, r.err
		}
	}
	return r.r.ReadRune()
}

// pieceBytes is the length of the pieces that long texts are worked through in: some milliseconds of work each.
const pieceBytes = 1 << 20

// pieces calls f for s piece by piece, cut between characters, and fails when the statement has been cancelled meanwhile.
func (c *Context) pieces(s string, f func(piece string)) error {
	for len(s) > pieceBytes {
		end := pieceBytes
		for end > pieceBytes-utf8.UTFMax && !utf8.RuneStart(s[end]) {
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

// feed writes a string, piece by piece, to a digest or the like, which cannot fail.
func (c *Context) feed(w io.Writer, s string) error {
	return c.pieces(s, func(piece string) { _, _ = w.Write([]byte(piece)) })
}

// steps counts the bytes that a loop has passed, and looks after every piece of them whether the statement goes on.
type steps struct {
	c      *Context
	passed int
}

func (s *steps) pass(bytes int) error {
	if s.passed += bytes; s.passed < pieceBytes {
		return nil
	}
	s.passed = 0
	return s.c.Interrupted()
}

// isInterrupted says whether reading an interruptible failed because of the statement, not of what it read.
func isInterrupted(err error) bool {
	e := (*sqlerr.Error)(nil)
	return errors.As(err, &e)
}
