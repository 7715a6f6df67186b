package gpukernels

import (
	"slices"
	"time"
)

// A Turn is a query's position among those that wait for the compiler. Queries take turns, a kernel each, so that one with fifty kernels does not keep one with a single kernel
// waiting; within a turn kernels are compiled in the order in which they were begun: begin the longest first.
type Turn struct {
	background bool
	waiting    []*compilation // guarded by the mutex of the Compilers
}

// NewTurn is for a query that waits for its kernels.
func NewTurn() *Turn { return &Turn{} }

// NewBackgroundTurn is for kernels that nobody waits for yet. They are compiled when no other kernel waits.
func NewBackgroundTurn() *Turn { return &Turn{background: true} }

// compilation is a source on its way through the compiler.
type compilation struct {
	capability int
	source     string
	options    []string

	turn     *Turn // that it waits in; nil: it has been taken. Guarded by the mutex of the Compilers
	isWanted bool  // it was taken for somebody who waits

	clock *BusyClock    // that counts it
	done  chan struct{} // closed when the others are there
	image []byte
	err   error
	took  time.Duration // without waiting for its turn
	begin time.Time     // when its turn came
	where string        // who compiled it
}

// run does the compilation.
func (x *compilation) run(where string, compile func() ([]byte, error)) {
	x.begin, x.where = time.Now(), where
	x.took = x.clock.Time(func() {
		x.err = guard(func() (err error) {
			x.image, err = compile()
			return err
		})
	})
	close(x.done)
}

// compileQueue holds the compilations that wait.
type compileQueue struct {
	turns []*Turn // those in which some wait, the next to be served first
	later []*Turn // the same, in the background
	size  int
	quiet quiet
}

// list is where a turn stands while some wait in it.
func (q *compileQueue) list(t *Turn) *[]*Turn {
	if t.background {
		return &q.later
	}
	return &q.turns
}

// add appends a compilation to a turn.
func (q *compileQueue) add(t *Turn, c *compilation) {
	if len(t.waiting) == 0 {
		list := q.list(t)
		*list = append(*list, t)
	}
	t.waiting = append(t.waiting, c)
	c.turn = t
	q.size++
}

// next takes the compilation whose turn it is; there must be one.
func (q *compileQueue) next() *compilation {
	list := &q.turns
	if len(*list) == 0 {
		list = &q.later
	}
	t := (*list)[0]
	c := t.waiting[0]
	c.isWanted = !t.background
	q.quiet.begin(c)
	q.remove(c)
	if len(t.waiting) > 0 { // it goes behind the others
		*list = append((*list)[1:], t)
	}
	return c
}

// remove takes a compilation that waits out.
func (q *compileQueue) remove(c *compilation) {
	t := c.turn
	c.turn = nil
	q.size--
	t.waiting = slices.DeleteFunc(t.waiting, func(other *compilation) bool { return other == c })
	if len(t.waiting) == 0 {
		list := q.list(t)
		*list = slices.DeleteFunc(*list, func(other *Turn) bool { return other == t })
	}
}

// hasten moves a compilation that waits in the background to the turn of a query that needs it.
func (q *compileQueue) hasten(c *compilation, t *Turn) {
	if c.turn == nil || !c.turn.background || t.background {
		return
	}
	q.remove(c)
	q.add(t, c)
}

// quiet says whether nobody has waited for a kernel lately. The mutex of the Compilers guards it.
type quiet struct {
	wanted    int       // compilations at work for which somebody waits
	last      time.Time // when the last of these ended
	held      time.Time // since when others wait for quiet; zero: none do
	isAwaited bool      // a clock runs that ends with it
}

func (q *quiet) begin(x *compilation) {
	if x.isWanted {
		q.wanted++
	}
}

func (q *quiet) end(x *compilation) {
	if x.isWanted {
		q.wanted--
		q.last = time.Now()
	}
}

// left is how long kernels that nobody waits for have to wait; 0: they need not, or have waited for long.
func (q *quiet) left(limits compilerLimits) time.Duration {
	left := limits.quiet - time.Since(q.last)
	if q.wanted > 0 {
		left = limits.quiet
	}
	switch {
	case left <= 0:
		q.held = time.Time{}
		return 0
	case q.held.IsZero():
		q.held = time.Now()
	case time.Since(q.held) >= limits.held:
		return 0
	}
	return left
}
