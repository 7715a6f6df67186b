package expr

import (
	"unsafe"

	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// arena holds the bytes of strings that functions make: one allocation for many strings. A chunk is never written
// again once it is full, so the strings live as long as anybody keeps them.
//
// A Context, which holds an arena, is copied for each worker. A copy must not write where the original does: it notices
// that it is one by its address and starts with nothing.
type arena struct {
	buf     []byte
	self    *arena
	counted int // bytes of the slice that Reserve gave last which count already
}

const (
	arenaChunk = 32 << 10
	// arenaString is the length of strings from which each has an allocation of its own, which counts before it is made.
	arenaString = 4 << 10
)

// reserve returns an empty slice to append a string's bytes to; up to n of them cost no allocation of their own.
func (a *arena) reserve(n int) []byte {
	if a.self != a {
		a.self, a.buf = a, nil
	}
	if cap(a.buf)-len(a.buf) < n {
		a.buf = make([]byte, 0, arenaChunk)
	}
	return a.buf[len(a.buf):len(a.buf):cap(a.buf)]
}

// commit makes a string of what was appended to the slice that reserve gave last.
func (a *arena) commit(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if free := a.buf[len(a.buf):cap(a.buf)]; len(free) > 0 && &free[0] == &b[0] {
		a.buf = a.buf[:len(a.buf)+len(b)]
	}
	return unsafe.String(&b[0], len(b))
}

// Reserve returns an empty slice to append the bytes of a string to, which Commit takes; n is how many there are at most. It counts long
// strings before it takes their memory. A string whose length nobody knows is made by a Builder.
func (c *Context) Reserve(n int) ([]byte, error) {
	a := &c.arena
	if a.counted = 0; n <= arenaString {
		return a.reserve(n), nil
	}
	if err := c.Hold(n); err != nil {
		return nil, err
	}
	a.counted = n
	return make([]byte, 0, n), nil
}

// Commit makes a string of what was appended to the slice that Reserve gave last, and counts what Reserve has not.
func (c *Context) Commit(b []byte) (string, error) {
	a := &c.arena
	taken := len(b)
	if taken > a.counted && a.counted > 0 {
		taken = cap(b) // it has outgrown what was reserved
	}
	more := taken - a.counted
	a.counted = 0
	if more > 0 {
		if err := c.Hold(more); err != nil {
			return "", err
		}
	}
	return a.commit(b), nil
}

// MakeString makes a string of what f appends to a slice, n bytes at most.
func (c *Context) MakeString(n int, f func(b []byte) []byte) (string, error) {
	b, err := c.Reserve(n)
	if err != nil {
		return "", err
	}
	return c.Commit(f(b))
}

// Builder returns a builder for a string whose length is not known before.
func (c *Context) Builder() *interrupt.Builder {
	return interrupt.NewBuilder(c, c.arena.reserve(arenaString/8))
}

// Built makes a string of what was written to a builder of c, the last that c has given.
func (c *Context) Built(w *interrupt.Builder) (string, error) {
	b, counted, err := w.Bytes()
	if err != nil {
		return "", err
	}
	c.arena.counted = counted
	return c.Commit(b)
}

// Maker makes many strings in memory that it takes from its Context for several of them at once. Until Close nothing else may take memory
// from the Context's arena.
type Maker struct {
	c *Context
	b []byte // of the strings so far that lie in one piece of memory
}

// Maker returns a maker of strings, which the caller closes.
func (c *Context) Maker() Maker { return Maker{c: c} }

// Reserve returns a slice to which n bytes can be appended, which Take makes a string of.
func (m *Maker) Reserve(n int) ([]byte, error) {
	if cap(m.b)-len(m.b) >= n {
		return m.b, nil
	}
	return m.next(n)
}

func (m *Maker) next(n int) (b []byte, err error) {
	if err := m.Close(); err != nil {
		return nil, err
	}
	m.b, err = m.c.Reserve(n)
	return m.b, err
}

// Take returns the string of what was appended to the slice that Reserve gave last.
func (m *Maker) Take(b []byte) string {
	if cap(b) != cap(m.b) {
		panic(sqlerr.Bug("a string of %d bytes is longer than was reserved", len(b)-len(m.b)))
	}
	made := b[len(m.b):]
	m.b = b
	if len(made) == 0 {
		return ""
	}
	return unsafe.String(&made[0], len(made))
}

// Close counts what the strings take. The maker can be used again.
func (m *Maker) Close() error {
	b := m.b
	m.b = nil
	if len(b) == 0 {
		return nil
	}
	_, err := m.c.Commit(b)
	return err
}
