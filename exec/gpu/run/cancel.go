package run

import (
	"context"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/gpukernels"
)

// cancellation ends what a query does when its context ends: waiting for kernels, and kernels whose loops may be long.
type cancellation struct {
	stream  *gpukernels.Stream
	signal  *gpukernels.Signal // nil: no kernel has loops that may be long
	giveUp  func()             // waiting for kernels and columns; nil: nothing was begun
	unwatch func()             // see watch
}

// newCancellation prepares a query's, with a signal if one of its kernels asks for it.
func newCancellation(g *program.Program, d *gpukernels.Device, s *gpukernels.Stream) (*cancellation, error) {
	c := &cancellation{stream: s}
	for _, k := range g.Kernels {
		if k.Stops {
			var err error
			c.signal, err = d.NewSignal()
			return c, err
		}
	}
	return c, nil
}

// watch has kernels whose loops may be long end soon after ctx has: they read a word of the host's memory, which is set then. Until unwatch was called
// they may run. What waits for kernels and columns takes the context that it returns.
func (c *cancellation) watch(ctx context.Context) context.Context {
	waiting, giveUp := context.WithCancel(ctx)
	c.giveUp = giveUp
	if c.signal == nil {
		c.unwatch = func() {}
		return waiting
	}
	told := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		c.signal.Set()
		close(told)
	})
	c.unwatch = sync.OnceFunc(func() {
		if !forget() {
			<-told
		}
		_ = c.stream.Sync(context.Background()) // its kernels end by what they are told
	})
	return waiting
}

// close frees the signal, which no kernel reads any more.
func (c *cancellation) close() {
	if c.signal != nil {
		c.signal.Close()
	}
}
