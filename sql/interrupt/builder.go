package interrupt

// Memory is a statement that counts what is made for it.
type Memory interface {
	Statement
	// Hold counts bytes that are about to be taken, or fewer than before. Its error ends the statement.
	Hold(bytes int) error
}

// Builder makes a string whose length is not known before. It counts memory before it takes it. After an error, which String returns, it ignores what is written.
type Builder struct {
	c       Memory
	b       []byte
	counted int
	err     error
}

// uncountedBytes is the length up to which a Builder leaves counting to who keeps the string.
const uncountedBytes = 4 << 10

// NewBuilder returns a builder that begins with the memory of b.
func NewBuilder(c Memory, b []byte) *Builder { return &Builder{c: c, b: b[:0]} }

// grow makes the capacity for n bytes more.
func (w *Builder) grow(n int) bool {
	if w.err != nil {
		return false
	}
	if len(w.b)+n <= cap(w.b) {
		return true
	}
	size := max(len(w.b)+n, len(w.b)+len(w.b)/2, 64)
	if size > uncountedBytes {
		if w.err = w.c.Hold(size); w.err == nil {
			w.err = w.c.Interrupted()
		}
		if w.err != nil {
			w.b = nil
			return false
		}
	}
	b := make([]byte, len(w.b), size)
	copy(b, w.b)
	w.b = b
	if size > uncountedBytes {
		w.err = w.c.Hold(-w.counted) // the memory before
		w.counted = size
	}
	return w.err == nil
}

// Len returns the length of what has been written.
func (w *Builder) Len() int { return len(w.b) }

// Err returns the error that the string cannot be made for.
func (w *Builder) Err() error { return w.err }

// Write implements io.Writer.
func (w *Builder) Write(p []byte) (int, error) {
	if w.grow(len(p)) {
		w.b = append(w.b, p...)
	}
	return len(p), w.err
}

// WriteString appends s.
func (w *Builder) WriteString(s string) {
	if w.grow(len(s)) {
		w.b = append(w.b, s...)
	}
}

// WriteChar appends a byte.
func (w *Builder) WriteChar(c byte) {
	if w.grow(1) {
		w.b = append(w.b, c)
	}
}

// Extend appends what f appends to a slice, which is n bytes at most.
func (w *Builder) Extend(n int, f func(b []byte) []byte) {
	if w.grow(n) {
		w.b = f(w.b)
	}
}

// Bytes returns what has been written, and how many bytes of its memory are counted.
func (w *Builder) Bytes() (b []byte, counted int, err error) { return w.b, w.counted, w.err }
