package load

import (
	"context"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// AnySorts keeps the kernels loaded that order rows by any columns, so that no query waits for those of its own columns.
type AnySorts struct {
	device  *gpukernels.Device
	end     context.CancelFunc
	loading sync.WaitGroup

	mutex   sync.Mutex
	modules []*gpukernels.Module
}

// LoadAnySorts begins to load them while nobody waits for other kernels. Close it.
func LoadAnySorts(d *gpukernels.Device) *AnySorts {
	ctx, end := context.WithCancel(context.Background())
	a := &AnySorts{device: d, end: end}
	turn := gpukernels.NewBackgroundTurn()
	for step := range sort.Steps {
		if !sort.ServesAny(nil, step) {
			continue
		}
		a.loading.Go(func() {
			_ = sqlerr.Guard(func() error { // without them queries wait for kernels of their own
				m, _, err := d.BeginIn(ctx, turn, sort.AnyText(step)).Wait(ctx)
				if err == nil {
					a.mutex.Lock()
					defer a.mutex.Unlock()
					a.modules = append(a.modules, m)
				}
				return err
			})
		})
	}
	return a
}

// Wait waits until they are there.
func (a *AnySorts) Wait() { a.loading.Wait() }

// Close lets go of them.
func (a *AnySorts) Close() {
	a.end()
	a.loading.Wait()
	for _, m := range a.modules {
		m.Release()
	}
	a.modules = nil
}
