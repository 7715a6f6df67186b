package exchange

import (
	"runtime"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Work is handed to the places some twenty times in a query, and each time takes some microseconds. A goroutine that sleeps is woken up to 100 µs later on a virtual machine, whose idle
// processors sleep, too. So goroutines look for work, and for the end of it, again and again for a while, as a stream does that waits for its device (gpukernels/stream.go).
const (
	lookShort  = 20 * time.Microsecond // whoever looks
	lookLong   = 2 * time.Millisecond  // where there are lookShare processors for each place
	lookShare  = 4
	yieldEvery = 50 * time.Microsecond // to other goroutines
)

// workers are the goroutines of the places, but for the first one, whose work the caller does.
type workers struct {
	work     []chan func() // of each
	done     chan struct{} // once for each piece of work
	patience time.Duration
}

// newWorkers starts so many. Stop them.
func newWorkers(n int) *workers {
	w := &workers{work: make([]chan func(), n), done: make(chan struct{}, n), patience: patience(n + 1)}
	for i := range w.work {
		w.work[i] = make(chan func(), 1)
		go func() {
			_ = sqlerr.Guard(func() error { // work sees to its own panics
				for {
					f, ok := receive(w.work[i], w.patience)
					if !ok {
						return nil
					}
					f()
					w.done <- struct{}{}
				}
			})
		}()
	}
	return w
}

// patience is how long a goroutine of one of so many places looks before it sleeps.
func patience(places int) time.Duration {
	if lookShare*places <= runtime.GOMAXPROCS(0) {
		return lookLong
	}
	return lookShort
}

// each has all of them call f with their numbers, from 0, while the caller does its own work, and waits for all.
func (w *workers) each(f func(worker int), own func()) {
	for i := range w.work {
		w.work[i] <- func() { f(i) }
	}
	own()
	for range w.work {
		receive(w.done, w.patience)
	}
}

// stop ends the workers, which do nothing now.
func (w *workers) stop() {
	for _, c := range w.work {
		close(c)
	}
}

// receive is <-c by somebody who looks for so long before it sleeps.
func receive[T any](c <-chan T, patience time.Duration) (v T, ok bool) {
	v, ok, there := look(c, patience)
	if !there {
		v, ok = <-c
	}
	return v, ok
}

// look is receive without the sleep: there says whether something came.
func look[T any](c <-chan T, patience time.Duration) (v T, ok, there bool) {
	begin := time.Now()
	for yield := yieldEvery; ; {
		select {
		case v, ok = <-c:
			return v, ok, true
		default:
		}
		waited := time.Since(begin)
		if waited >= patience {
			return v, false, false
		}
		if waited >= yield {
			yield = waited + yieldEvery
			runtime.Gosched()
		}
	}
}
