package gpu

import (
	"sync"
	"weak"

	"github.com/radish-sql/radish/sql/sqlerr"
	tables "github.com/radish-sql/radish/storage/table"
)

// Device memory that is idle is worth nothing. So the columns of large tables are uploaded when the tables are loaded, one column at a time, so that
// queries' uploads go before; and they are the first to be given up when a query needs memory.

// investShare is the part of the device's free memory that columns may take which no query has asked for.
const investShare = 0.6

// mostInvesting is how many tables may wait to be uploaded.
const mostInvesting = 1024

// investor uploads columns that nobody waits for.
type investor struct {
	mu      sync.Mutex
	waiting []weak.Pointer[tables.Version]
	running bool
	closed  bool
	idle    sync.WaitGroup // it runs
}

// Invest uploads the columns of a table while nobody waits for them: all but texts without a dictionary, which are large and of which queries read few.
func (d *Device) Invest(v *tables.Version) {
	x := &d.investor
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed || len(x.waiting) >= mostInvesting {
		return
	}
	x.waiting = append(x.waiting, weak.Make(v))
	if !x.running {
		x.running = true
		x.idle.Go(d.invest)
	}
}

// Investing is how many tables wait to be uploaded, or are being uploaded, in the background.
func (d *Device) Investing() int {
	x := &d.investor
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(x.waiting)
	if x.running {
		n++
	}
	return n
}

// invest works through what waits.
func (d *Device) invest() {
	x := &d.investor
	for {
		x.mu.Lock()
		if len(x.waiting) == 0 || x.closed {
			x.running = false
			x.mu.Unlock()
			return
		}
		next := x.waiting[0]
		x.waiting = x.waiting[1:]
		x.mu.Unlock()
		_ = sqlerr.Guard(func() error { // what could not be uploaded is when a query asks for it, which hears of the error
			if v := next.Value(); v != nil {
				d.upload(v)
			}
			return nil
		})
	}
}

func (x *investor) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.idle.Wait()
}

func (x *investor) isClosed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closed
}

// upload uploads the columns of a table that have room.
func (d *Device) upload(v *tables.Version) {
	for o := range v.Schema.Columns {
		if d.investor.isClosed() || d.Lost() != nil {
			return
		}
		f := d.res.form(v, o)
		if f.class == classView {
			continue
		}
		if bytes := f.bytes(v, o); d.res.bytes()+bytes <= d.investable() {
			d.res.invest(v, o)
		}
	}
}

// investable is how many bytes columns may take in all.
func (d *Device) investable() int64 {
	m, err := d.Memory()
	if err != nil {
		return 0
	}
	return int64(investShare * float64(m.Free+m.Resident))
}

// invest uploads a column, unless it is there, and waits for it. No query has used it: it is the first to be given up.
func (r *residency) invest(v *tables.Version, ordinal int) {
	e, _ := r.hold(v, ordinal)
	<-e.ready
	r.mu.Lock()
	if e.uses--; e.uses == 0 {
		e.used = 0
	}
	r.mu.Unlock()
	r.letGo([]*resident{e})
}
