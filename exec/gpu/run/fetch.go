package run

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// fetch is a scan's columns on their way to the device.
type fetch struct {
	ready chan struct{} // closed when the rest is there
	table *residency.Table
	err   error
}

// fetchAhead begins to bring the columns of all scans to the device, for a query whose kernels are being compiled meanwhile. Where they would take more
// than half of the free memory each pipeline brings its own, when what others needed may have been freed.
func (q *Query) fetchAhead(ctx context.Context) {
	var scans []*physical.TableScan
	missing := int64(0)
	for _, p := range q.Plan.Pipelines {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok || q.Kernels[p] == nil {
			continue
		}
		if _, bytes := q.Residency.Bytes(scan.Table, ScanOrdinals(scan)); bytes > 0 {
			scans = append(scans, scan)
			missing += bytes
		}
	}
	if missing == 0 {
		return
	}
	if m, err := q.Device.Memory(); err != nil || missing > m.Free/2 {
		return
	}
	for _, scan := range scans {
		f := &fetch{ready: make(chan struct{})}
		q.fetches[scan] = f
		q.loading.Go(func() {
			defer close(f.ready)
			f.err = sqlerr.Guard(func() (err error) {
				f.table, err = q.Residency.Acquire(ctx, scan.Table, ScanOrdinals(scan))
				return err
			})
		})
	}
}

// columns brings a scan's columns to the device, or waits until they are there.
func (q *Query) columns(ctx context.Context, scan *physical.TableScan) (*residency.Table, error) {
	if f := q.fetches[scan]; f != nil {
		delete(q.fetches, scan)
		<-f.ready
		if f.err == nil {
			return f.table, nil
		}
	}
	return q.Residency.Acquire(ctx, scan.Table, ScanOrdinals(scan))
}

// dropFetches lets go of columns that no pipeline came to ask for. Nothing is being fetched any more.
func (q *Query) dropFetches() {
	for _, f := range q.fetches {
		if f.table != nil {
			f.table.Release()
		}
	}
	clear(q.fetches)
}

// ScanOrdinals are the table's columns that a scan reads.
func ScanOrdinals(scan *physical.TableScan) []int {
	var ordinals []int
	for _, o := range scan.Ordinals {
		if o != logical.RowIDOrdinal {
			ordinals = append(ordinals, o)
		}
	}
	return ordinals
}
