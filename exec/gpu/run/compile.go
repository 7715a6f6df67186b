package run

import (
	"context"
	"slices"
	"strings"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// load is a source that is not loaded yet, and what takes its module.
type load struct {
	source string
	take   func(*gpukernels.Module, gpukernels.Origin, error)
}

// begin begins to load sources, in the query's turn: first those that take longest, so that none of these is begun when the others have ended.
func (q *Query) begin(ctx context.Context, missing []load) {
	slices.SortStableFunc(missing, func(a, b load) int { return CompareWork(a.source, b.source) })
	turn := gpukernels.NewTurn()
	if q.background {
		turn = gpukernels.NewBackgroundTurn()
	}
	for _, x := range missing {
		l := q.Device.BeginIn(ctx, turn, x.source)
		q.loading.Go(func() {
			var module *gpukernels.Module
			var origin gpukernels.Origin
			err := sqlerr.Guard(func() (err error) {
				module, origin, err = l.Wait(ctx)
				return err
			})
			x.take(module, origin, err)
		})
	}
}

// CompareWork orders sources by what compiling them takes, the longest first.
func CompareWork(a, b string) int { return compileWork(b) - compileWork(a) }

// compileWork is what compiling a source takes: it is about 30 µs for each byte of text, and as much as for so many bytes for some functions
// of the device headers.
func compileWork(source string) int {
	work := len(source)
	for _, x := range []struct {
		name  string
		bytes int
	}{{"HotSearch", 6000}, {"div_decimal", 2000}, {"\"string.cuh\"", 2000}, {"sort_merge", 1000}} {
		if strings.Contains(source, x.name) {
			work += x.bytes
		}
	}
	return work
}
