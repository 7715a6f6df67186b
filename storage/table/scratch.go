package table

import (
	"context"
	"sync"
)

// Scratch counts memory that the reader of a file takes beside the rows that its builder holds: what was read and not parsed
// yet, decompressed pages, long records. Both go to the context's meter as one sum. A nil Scratch counts nothing.
type Scratch struct {
	tell func(bytes int64) error
	mu   sync.Mutex
	rows int64
	more int64
}

type scratchKey struct{}

// WithScratch returns a context whose meter sees a builder's memory and a Scratch's together: both for one builder.
func WithScratch(ctx context.Context) context.Context {
	tell := MeterOf(ctx)
	if tell == nil {
		return ctx
	}
	s := &Scratch{tell: tell}
	ctx = WithMeter(ctx, func(bytes int64) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rows = bytes
		return s.tell(s.rows + s.more)
	})
	return context.WithValue(ctx, scratchKey{}, s)
}

// ScratchOf returns the context's Scratch, nil if it has none.
func ScratchOf(ctx context.Context) *Scratch {
	s, _ := ctx.Value(scratchKey{}).(*Scratch)
	return s
}

// Add counts memory that comes. An error says that the limit is reached: the memory must not be taken, and it counts for nothing.
func (s *Scratch) Add(bytes int64) error {
	if s == nil || bytes == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.tell(s.rows + s.more + bytes); err != nil {
		return err
	}
	s.more += bytes
	return nil
}

// Free counts memory that goes.
func (s *Scratch) Free(bytes int64) {
	if s == nil || bytes == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more -= bytes
	_ = s.tell(s.rows + s.more) // less than was reserved
}

// May asks whether so many bytes may be taken for a while.
func (s *Scratch) May(bytes int64) error {
	err := s.Add(bytes)
	if err == nil {
		s.Free(bytes)
	}
	return err
}

// Reset forgets all memory but the rows'.
func (s *Scratch) Reset() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more = 0
}
