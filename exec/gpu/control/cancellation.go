package control

import (
	"context"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/gpukernels"
)

// Cancellation ends what a query does when its context ends: waiting for kernels, and kernels whose loops may be long.
type Cancellation struct {
	stream  *gpukernels.Stream
	Signal  *gpukernels.Signal // nil: no kernel has loops that may be long
	GiveUp  func()             // waiting for kernels and columns; nil: nothing was begun
	Unwatch func()             // see watch
}

// NewCancellation prepares a query's, with a signal if one of its kernels asks for it.
func NewCancellation(g *program.Program, d *gpukernels.Device, s *gpukernels.Stream) (*Cancellation, error) {
	c := &Cancellation{stream: s}
	for _, k := range g.Kernels {
		if k.Stops {
			var err error
			c.Signal, err = d.NewSignal()
			return c, err
		}
	}
	return c, nil
}

// Watch has kernels whose loops may be long end soon after ctx has: they read a word of the host's memory, which is set then. Until unwatch was called
// they may run. What waits for kernels and columns takes the context that it returns.
func (c *Cancellation) Watch(ctx context.Context) context.Context {
	waiting, giveUp := context.WithCancel(ctx)
	c.GiveUp = giveUp
	if c.Signal == nil {
		c.Unwatch = func() {}
		return waiting
	}
	told := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		c.Signal.Set()
		close(told)
	})
	c.Unwatch = sync.OnceFunc(func() {
		if !forget() {
			<-told
		}
		_ = c.stream.Sync(context.Background()) // its kernels end by what they are told
	})
	return waiting
}

// Close frees the signal, which no kernel reads any more.
func (c *Cancellation) Close() {
	if c.Signal != nil {
		c.Signal.Close()
	}
}
