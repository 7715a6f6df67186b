package expr

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// interruptBytes is the length of strings after which a kernel looks whether its statement has been cancelled.
const interruptBytes = 4 << 20

// made counts the bytes of a string that a kernel has made. Kernels whose results may be far longer than their operands call
// it for each, so that a cancelled statement ends before a whole vector of them is there.
func (c *Context) made(s string) error {
	if c.fresh += len(s); c.fresh < interruptBytes {
		return nil
	}
	c.fresh = 0
	return c.Interrupted()
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
	c *Context
	r strings.Reader
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
		if err := r.c.Interrupted(); err != nil {
			return 0, 0, err
		}
	}
	return r.r.ReadRune()
}

// feedBytes is the length of the pieces that feed writes: some milliseconds of a digest.
const feedBytes = 1 << 20

// feed writes a string, piece by piece, to what takes all.
func (c *Context) feed(w io.Writer, s string) error {
	for {
		piece := s[:min(len(s), feedBytes)]
		if _, err := w.Write([]byte(piece)); err != nil {
			return err
		}
		if s = s[len(piece):]; s == "" {
			return nil
		}
		if err := c.Interrupted(); err != nil {
			return err
		}
	}
}

// isInterrupted says whether reading an interruptible failed because of the statement, not of what it read.
func isInterrupted(err error) bool {
	e := (*sqlerr.Error)(nil)
	return errors.As(err, &e)
}
