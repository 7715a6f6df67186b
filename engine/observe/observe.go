// Package observe tells those who ask of the statements that run under a context: what they cost, and how far they are.
package observe

import (
	"context"
	"time"

	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// observerKey is the context's key of an Observer.
type observerKey struct{}

// Observer is told of the statements that run under a context.
type Observer struct {
	// Profile is called when the rows of a query have been read or closed, with what each operator cost; nil: nothing is measured.
	Profile func(*profile.Plan)
	// Progress is called every Interval while a query's plan runs, by a goroutine of its own that ends before the rows do; nil: never. One that panics is
	// called no more.
	Progress func(profile.Snapshot)
	Interval time.Duration // 0: 100 ms
}

// Observe returns a context whose statements o is told of, besides those observers that parent has.
func Observe(parent context.Context, o Observer) context.Context {
	list, _ := parent.Value(observerKey{}).([]Observer)
	return context.WithValue(parent, observerKey{}, append(list[:len(list):len(list)], o))
}

// List are those of one statement.
type List []Observer

func Of(ctx context.Context) List {
	list, _ := ctx.Value(observerKey{}).([]Observer)
	return list
}

// Profiled says whether one of them wants a profile.
func (list List) Profiled() bool {
	for _, o := range list {
		if o.Profile != nil {
			return true
		}
	}
	return false
}

// Profile tells what a statement has cost.
func (list List) Profile(p *profile.Plan) {
	for _, o := range list {
		if o.Profile != nil {
			o.Profile(p)
		}
	}
}

// progress tells how far a statement is.
func (list List) progress(now profile.Snapshot) {
	for _, o := range list {
		if o.Progress != nil {
			o.Progress(now)
		}
	}
}

// Watch starts to tell of a query's progress, which is nil if nobody wants to know. It ends with stop.
func (list List) Watch() (p *profile.Progress, stop func()) {
	interval, wanted := time.Duration(0), false
	for _, o := range list {
		if o.Progress == nil {
			continue
		}
		each := o.Interval
		if each <= 0 {
			each = 100 * time.Millisecond
		}
		if !wanted || each < interval {
			interval, wanted = each, true
		}
	}
	if !wanted {
		return nil, func() {}
	}
	p = &profile.Progress{}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				// One that panics, which is its program's bug, is told no more: the query goes on.
				if sqlerr.Guard(func() error { list.progress(p.Snapshot()); return nil }) != nil {
					return
				}
			}
		}
	}()
	return p, func() { close(end); <-ended }
}

// QueryProfile is what a query has cost; QueryProgress is how far it is.
type (
	QueryProfile  = profile.Plan
	QueryProgress = profile.Snapshot
)

// Uncounted stands for a number of rows that was not counted.
const Uncounted = profile.Uncounted
