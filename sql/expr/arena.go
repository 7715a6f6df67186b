package expr

import "unsafe"

// arena holds the bytes of strings that functions make: one allocation for many strings. A chunk is never written
// again once it is full, so the strings live as long as anybody keeps them.
//
// A Context, which holds an arena, is copied for each worker. A copy must not write where the original does: it notices
// that it is one by its address and starts with nothing.
type arena struct {
	buf  []byte
	self *arena
}

const arenaChunk = 32 << 10

// reserve returns an empty slice to append a string's bytes to; up to n of them cost no allocation of their own.
func (a *arena) reserve(n int) []byte {
	if a.self != a {
		a.self, a.buf = a, nil
	}
	if cap(a.buf)-len(a.buf) < n {
		a.buf = make([]byte, 0, max(n, arenaChunk))
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

// Reserve returns an empty slice to append a string's bytes to; up to n of them cost no allocation of their own.
func (c *Context) Reserve(n int) []byte { return c.arena.reserve(n) }

// Commit makes a string of what was appended to the slice that reserve gave last.
func (c *Context) Commit(b []byte) string { return c.arena.commit(b) }
