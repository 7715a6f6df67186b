package residency

import (
	"errors"
	"time"
	"weak"

	"github.com/radish-sql/radish/exec/gpu/form"
	tables "github.com/radish-sql/radish/storage/table"
)

// Device memory that is idle is worth nothing. So the columns of large tables are uploaded when the tables are loaded, one column at a time, so that
// queries' uploads go before. Nothing is given up for them. They are the first to be given up when a query needs memory, those on their way included.

// investShare is the share of memory used for prefetched columns.
const investShare = 0.75

// investTries is how often a table's columns are tried after queries needed the memory, investPause how long that waits.
const (
	investTries = 5
	investPause = time.Second
)

// Invest uploads the columns of a table while nobody waits for them: all but strings without a dictionary, which are large and of which queries read few.
func (r *Residency) Invest(v *tables.Version) {
	held := weak.Make(v)
	r.investor.queue.Add(func() { r.invest(held) })
}

// Investing is how many tables wait to be uploaded, or are being uploaded, in the background.
func (r *Residency) Investing() int { return r.investor.queue.Count() }

// invest uploads the columns of a table, if it is still there. What could not be uploaded is when a query asks for it, which hears of the error.
func (r *Residency) invest(held weak.Pointer[tables.Version]) {
	for range investTries {
		if _, left := r.Short(); left > 0 {
			r.investor.wait(left)
		}
		if v := held.Value(); v == nil || !r.offerAll(v) {
			return
		}
		r.investor.wait(investPause)
	}
}

// offerAll uploads the columns of a table that fit. It says whether it is worth trying again: queries needed the memory.
func (r *Residency) offerAll(v *tables.Version) (again bool) {
	for o := range v.Schema.Columns {
		if r.investor.isClosed() || r.device.Lost() != nil {
			return false
		}
		f := r.sized(v, o)
		if f.Class == form.View || r.investable() < f.bytes(v, o, tables.Slice{}) {
			continue
		}
		if errors.Is(r.offer(v, o), errYielded) {
			return true
		}
	}
	return false
}

// investable is how many more bytes columns may take that no query has asked for.
func (r *Residency) investable() int64 {
	m, err := r.device.Memory()
	if err != nil {
		return 0
	}
	free := m.Free + m.Held - m.Used
	all := m.Used + free
	if limit := r.Limit(); limit > 0 {
		all = min(all, limit)
	}
	more := min(int64(investShare*float64(all))-m.Used, free)
	if limit := r.ledger.columns.Limit(); limit > 0 {
		more = min(more, int64(investShare*float64(limit))-r.ledger.columns.Used())
	}
	return more
}

// offer uploads a column, unless it is there, and waits for it. No query has used it: it is the first to be given up.
func (r *Residency) offer(v *tables.Version, ordinal int) error {
	e, made := r.holdFor(v, ordinal, tables.Slice{}, use{offered: true})
	<-e.ready
	r.mu.Lock()
	if r.offered == e {
		r.offered = nil
	}
	if e.uses--; e.uses == 0 {
		e.used = 0
	}
	r.mu.Unlock()
	r.letGo([]*entry{e})
	if made {
		close(e.gone)
	}
	return e.err
}
