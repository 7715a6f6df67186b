package run

import (
	"context"
	"errors"

	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// How a scan is read in windows (package outofcore).

// windowFetch is a window's columns on their way to the device.
type windowFetch struct {
	ready chan struct{} // closed when the rest is there
	table *residency.Table
	err   error
}

// eachWindow has f launch what reads a scan's windows, one after the other, while the columns of the next ones are uploaded. A scan that is read at once has one.
func (in *inputs) eachWindow(ctx context.Context, scan *physical.TableScan, f func(*scanWindow) error) error {
	x, st, of := in.scans[scan], in.spanned[scan], in.windows.Of[scan]
	x.bytes, x.windows = 0, 0
	x.spans = st.address
	if of == nil {
		w := &st.windows[0]
		x.read(w.rows)
		return f(w)
	}
	ctx, giveUp := context.WithCancel(ctx)
	fetches := make([]*windowFetch, 0, len(st.windows))
	done := 0 // windows whose columns have been released
	defer func() {
		giveUp()
		for _, fetch := range fetches[done:] {
			<-fetch.ready
			if fetch.table != nil {
				fetch.table.Release()
			}
		}
	}()
	for i := range st.windows {
		for len(fetches) <= min(i+of.Ahead, len(st.windows)-1) {
			fetches = append(fetches, in.fetchWindow(ctx, scan, &st.windows[len(fetches)]))
		}
		w, fetch := &st.windows[i], fetches[i]
		<-fetch.ready
		if errors.Is(fetch.err, gpukernels.ErrOutOfMemory) { // while others, which have been released since, had the memory
			fetch = in.fetchWindow(ctx, scan, w)
			fetches[i] = fetch
			<-fetch.ready
		}
		if fetch.err != nil {
			return fetch.err
		}
		x.put(scan, of.Ordinals, fetch.table)
		x.deleted, x.spans = fetch.table.Deleted, st.address+gpukernels.Ptr(8*w.words)
		x.uploaded += fetch.table.Uploaded
		x.read(w.rows)
		x.windows++
		err := f(w)
		if err == nil {
			err = in.memory.Stream.Sync(ctx)
		}
		if err != nil {
			_ = in.memory.Stream.Sync(context.Background()) // before others get the memory that it reads
			return err
		}
		if done = i + 1; of.Kept > w.at && x.kept[w.at] == nil {
			x.kept[w.at] = fetch.table
			x.held = append(x.held, fetch.table)
		} else {
			fetch.table.Release()
		}
	}
	return nil
}

// fetchWindow begins to bring the columns of a window to the device.
func (in *inputs) fetchWindow(ctx context.Context, scan *physical.TableScan, w *scanWindow) *windowFetch {
	of := in.windows.Of[scan]
	fetch := &windowFetch{ready: make(chan struct{})}
	go func() {
		defer close(fetch.ready)
		fetch.err = sqlerr.Guard(func() (err error) {
			fetch.table, err = in.residency.AcquireWindow(ctx, scan.Table, of.Ordinals, w.part, w.at < of.Kept)
			return err
		})
	}()
	return fetch
}
