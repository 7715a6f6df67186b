package gpu

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
func (q *query) begin(ctx context.Context, missing []load) {
	slices.SortStableFunc(missing, func(a, b load) int { return CompareWork(a.source, b.source) })
	turn := gpukernels.NewTurn()
	if q.background {
		turn = gpukernels.NewBackgroundTurn()
	}
	for _, x := range missing {
		l := q.device.BeginIn(ctx, turn, x.source)
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

// FirstRun is what first runs of queries have paid besides running, since the device was opened.
type FirstRun struct {
	Compiled gpukernels.Busy // kernels
	Uploads  gpukernels.Busy // table columns and dictionaries
	Uploaded int64           // their bytes
}

// Sub is what has been added since an earlier sum.
func (f FirstRun) Sub(earlier FirstRun) FirstRun {
	return FirstRun{f.Compiled.Sub(earlier.Compiled), f.Uploads.Sub(earlier.Uploads), f.Uploaded - earlier.Uploaded}
}

// FirstRun adds up all compilations and uploads that have ended.
func (d *Device) FirstRun() FirstRun {
	busy, bytes := d.res.Uploaded()
	return FirstRun{d.device.Compiling(), busy, bytes}
}

// Compilers says who compiles the device's kernels.
func (d *Device) Compilers() gpukernels.CompilerStatus { return d.device.Compilers().Status() }

// ForgetKernels is for benchmarks: kernels that no query uses are compiled again when they are next asked for.
func (d *Device) ForgetKernels() { d.device.ForgetKernels() }
