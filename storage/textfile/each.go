package textfile

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// Head calls f with the blocks of a text from the first one on, until it says that it has seen enough. See [Each] for quote and the context.
func Head(ctx context.Context, source Source, quote byte, f func(*Block) (enough bool, err error)) error {
	in, err := source.Open(ctx)
	if err != nil {
		return source.failed(err)
	}
	defer in.Close()
	held := table.ScratchOf(ctx)
	for c := newCutter(source, in, quote, held); ; {
		b, err := c.next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		enough, err := f(&b)
		held.Free(b.counted)
		if enough || err != nil {
			return err
		}
	}
}

// Each calls work with the blocks of all texts, several at once, and deliver with the results, one at a time and in order. Records end at line ends
// outside of quotes (0: there are none). Of several errors it returns that of the first block.
//
// Of blocks that a long record makes larger than others there is one at a time. The context's meter (see [table.WithMeter]) is asked for its memory.
func Each[T any](ctx context.Context, quote byte, sources []Source, work func(*Block) (T, error), deliver func(T) error) error {
	held := table.ScratchOf(ctx)
	defer held.Reset()
	group, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	l := &line[T]{ctx: ctx, held: held, jobs: make(chan job[T], workers), order: make(chan chan result[T], 2*workers), gone: make(chan struct{}, 1)}
	start := func(f func() error) { group.Go(func() error { return sqlerr.Guard(f) }) }
	start(func() error { return l.cut(quote, sources) })
	for range workers {
		start(func() error { return l.work(work) })
	}
	start(func() error { return l.deliver(deliver) })
	if err := group.Wait(); err != nil {
		return sqlerr.From(err)
	}
	return nil
}

// line is the assembly line of Each: one goroutine cuts blocks, several work with them, one delivers.
type line[T any] struct {
	ctx     context.Context
	held    *table.Scratch
	jobs    chan job[T]
	order   chan chan result[T] // of all jobs, in their order
	waiting atomic.Int64        // large blocks that were not delivered yet
	gone    chan struct{}       // wakes who waits for these
}

// job is a block to work with, and where what is made of it goes.
type job[T any] struct {
	block Block
	done  chan result[T]
}

// result is what was made of a block.
type result[T any] struct {
	value T
	block int64 // bytes of the block that the meter knows
	err   error
}

// alone waits until no large block waits to be delivered.
func (l *line[T]) alone() error {
	for l.waiting.Load() > 0 {
		select {
		case <-l.gone:
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
	return nil
}

// cut cuts all sources into blocks.
func (l *line[T]) cut(quote byte, sources []Source) error {
	defer close(l.jobs)
	defer close(l.order)
	for number, source := range sources {
		err := cutAll(l.ctx, source, quote, l.held, l.alone, func(b Block) error {
			b.Number = number
			if b.counted > 0 {
				l.waiting.Add(1)
			}
			j := job[T]{b, make(chan result[T], 1)}
			if !send(l.ctx, l.order, j.done) || !send(l.ctx, l.jobs, j) {
				return l.ctx.Err()
			}
			return nil
		})
		if err != nil {
			// It has its turn after the blocks before.
			failed := make(chan result[T], 1)
			failed <- result[T]{err: err}
			if !send(l.ctx, l.order, failed) {
				return l.ctx.Err()
			}
			return nil
		}
	}
	return nil
}

// work works with blocks as they come.
func (l *line[T]) work(work func(*Block) (T, error)) error {
	for j := range l.jobs {
		if err := l.ctx.Err(); err != nil { // several blocks may wait
			return err
		}
		value, err := work(&j.block)
		table.Reads(l.ctx, int64(len(j.block.Text)))
		j.done <- result[T]{value, j.block.counted, err}
	}
	return nil
}

// deliver hands results over in the order of their blocks.
func (l *line[T]) deliver(deliver func(T) error) error {
	for done := range l.order {
		select {
		case r := <-done:
			if r.err != nil {
				return r.err
			}
			if err := deliver(r.value); err != nil {
				return err
			}
			l.free(r.block)
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
	return nil
}

// free gives the bytes of a large block back, which was delivered, and wakes who waits for that.
func (l *line[T]) free(bytes int64) {
	if bytes == 0 {
		return
	}
	l.held.Free(bytes)
	l.waiting.Add(-1)
	select {
	case l.gone <- struct{}{}:
	default: // it is awake already
	}
}

// send sends x, unless ctx ends first.
func send[T any](ctx context.Context, to chan<- T, x T) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case to <- x:
		return true
	case <-ctx.Done():
		return false
	}
}

func cutAll(ctx context.Context, source Source, quote byte, held *table.Scratch, alone func() error, f func(Block) error) error {
	in, err := source.Open(ctx)
	if err != nil {
		return source.failed(err)
	}
	defer in.Close()
	c := newCutter(source, in, quote, held)
	c.alone = alone
	for {
		b, err := c.next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

// Metered returns a context for [Each] and the builder that it fills, so that the context's meter sees the memory of both.
func Metered(ctx context.Context) context.Context { return table.WithScratch(ctx) }

// Spare asks the meter of a context that is Metered whether so many more bytes may be taken for a while.
func Spare(ctx context.Context, bytes int) error { return table.ScratchOf(ctx).May(int64(bytes)) }
