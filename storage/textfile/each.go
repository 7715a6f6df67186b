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
	in, err := source.Open()
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

// Each calls work with the blocks of all texts, several at once, but for those that a long record makes larger, and then deliver with what work made of them, one at a time and in
// order. Records end at line ends outside quotes (0: there are none). Of several errors it returns that of the first
// block. The context's meter (see [table.WithMeter]) is asked for blocks that a long record makes larger than others.
func Each[T any](ctx context.Context, quote byte, sources []Source, work func(*Block) (T, error), deliver func(T) error) error {
	type result struct {
		value T
		block int64 // bytes of its block that the meter knows
		err   error
	}
	type job struct {
		block Block
		done  chan result
	}
	held := table.ScratchOf(ctx)
	defer held.Reset()
	group, ctx := errgroup.WithContext(ctx)
	start := func(f func() error) { group.Go(func() error { return sqlerr.Guard(f) }) }
	workers := runtime.GOMAXPROCS(0)
	jobs, order := make(chan job, workers), make(chan chan result, 2*workers)
	gone := make(chan struct{}, 1) // wakes who waits for large blocks to go
	var waiting atomic.Int64       // large blocks that were not delivered yet
	alone := func() error {
		for waiting.Load() > 0 {
			select {
			case <-gone:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	start(func() error {
		defer close(jobs)
		defer close(order)
		for number, source := range sources {
			err := cutAll(source, quote, held, alone, func(b Block) error {
				b.Number = number
				if b.counted > 0 {
					waiting.Add(1)
				}
				j := job{b, make(chan result, 1)}
				if !send(ctx, order, j.done) || !send(ctx, jobs, j) {
					return ctx.Err()
				}
				return nil
			})
			if err != nil {
				// It has its turn after the blocks before.
				failed := make(chan result, 1)
				failed <- result{err: err}
				if !send(ctx, order, failed) {
					return ctx.Err()
				}
				return nil
			}
		}
		return nil
	})
	for range workers {
		start(func() error {
			for j := range jobs {
				if err := ctx.Err(); err != nil { // several blocks may wait
					return err
				}
				value, err := work(&j.block)
				table.Reads(ctx, int64(len(j.block.Text)))
				j.done <- result{value, j.block.counted, err}
			}
			return nil
		})
	}
	start(func() error {
		for done := range order {
			select {
			case r := <-done:
				if r.err != nil {
					return r.err
				}
				if err := deliver(r.value); err != nil {
					return err
				}
				if r.block > 0 {
					held.Free(r.block)
					waiting.Add(-1)
					select {
					case gone <- struct{}{}:
					default: // it is awake already
					}
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return sqlerr.From(err)
	}
	return nil
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

func cutAll(source Source, quote byte, held *table.Scratch, alone func() error, f func(Block) error) error {
	in, err := source.Open()
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

// Room asks the meter of a context that is Metered whether there is room for so many more bytes for a while.
func Room(ctx context.Context, bytes int) error { return table.ScratchOf(ctx).May(int64(bytes)) }
