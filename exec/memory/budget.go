// Package memory counts the bytes that a database and its running queries hold and refuses what exceeds a limit.
//
// A database has one [Budget], with a child for what it stores and one for its statements, of which each query's is
// a child in turn. Operators that store rows take an [Account] of the query's budget, which asks in coarse grains, so
// that the counters are touched once per some hundred kilobytes and not once per row.
package memory

import (
	"sync/atomic"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Budget is a limit on bytes and the count of those in use. Its methods may be called by several goroutines; a nil
// *Budget has no limit and counts nothing.
type Budget struct {
	parent  *Budget
	limit   atomic.Int64
	setting string // of a device's memory: what raises the limit
	used    atomic.Int64
	peak    atomic.Int64
	recent  atomic.Int64 // the peak since Go's collector ran last, where that watches the budget
	watched atomic.Bool  // of a statement with a limit of its own: the collector knows it
	reclaim func(bytes int64) bool
}

// NewBudget returns a budget of limit bytes; 0 or less is no limit.
func NewBudget(limit int64) *Budget { return (*Budget)(nil).Child(limit) }

// Child returns a budget of limit bytes (0 or less: no limit of its own) whose use also counts in b.
func (b *Budget) Child(limit int64) *Budget {
	c := &Budget{parent: b}
	c.limit.Store(limit)
	return c
}

// SetLimit changes the limit; 0 or less is none. What is in use above it stays.
func (b *Budget) SetLimit(limit int64) { b.limit.Store(limit) }

// End says that a statement has ended, whose budget b is.
func (b *Budget) End() {
	if b != nil && b.watched.Load() {
		unwatch(b)
	}
}

// root is what b lies within.
func (b *Budget) root() *Budget {
	for b.parent != nil {
		b = b.parent
	}
	return b
}

// OnShortage sets the function that a reservation calls which would exceed b's limit, with the bytes that are missing:
// if it says that it has given some back, the reservation is tried again. It is called by several goroutines at once. Caches
// hang on here. It must be set before the budget is used.
func (b *Budget) OnShortage(reclaim func(bytes int64) bool) { b.reclaim = reclaim }

// Used returns the bytes in use.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Peak returns the most bytes that were in use at once.
func (b *Budget) Peak() int64 {
	if b == nil {
		return 0
	}
	return b.peak.Load()
}

// Limit returns the limit; 0 or less is none.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	return b.limit.Load()
}

// Limited says whether b or one that it lies within has a limit.
func (b *Budget) Limited() bool {
	for ; b != nil; b = b.parent {
		if b.limit.Load() > 0 {
			return true
		}
	}
	return false
}

// Least returns the least limit of b and of those that it lies within; 0: none has one.
func (b *Budget) Least() (limit int64) {
	for ; b != nil; b = b.parent {
		if l := b.limit.Load(); l > 0 && (limit == 0 || l < limit) {
			limit = l
		}
	}
	return limit
}

// ReadAhead returns how many bytes may hold what is read of files ahead of need: an eighth of the least limit, so that what the rows themselves need finds
// memory however many columns are read at once. 0: there is no limit.
func (b *Budget) ReadAhead() int64 { return b.Least() / 8 }

// Reserve takes n bytes for an operator, or takes nothing and returns an error: one of kind sqlerr.Resource that names
// the operator, or, of a device's memory, a *Shortage.
func (b *Budget) Reserve(operator string, n int64) error {
	if b == nil {
		return nil
	}
	used := b.used.Add(n)
	limit := b.limit.Load()
	for limit > 0 && used > limit {
		b.used.Add(-n)
		if b.reclaim == nil || !b.reclaim(used-limit) {
			return b.refuse(operator, n, used-n, limit)
		}
		used = b.used.Add(n)
	}
	if b.parent == nil && b.setting == "" {
		pace(n)
	}
	if err := b.parent.Reserve(operator, n); err != nil {
		b.used.Add(-n)
		return err
	}
	raise(&b.peak, used)
	raise(&b.recent, used)
	if b.parent != nil && limit > 0 && used > leastHeadroom && b.watched.CompareAndSwap(false, true) {
		watch(b)
	}
	return nil
}

// CanReserve says whether n more bytes could be reserved. Caches give way for them.
func (b *Budget) CanReserve(n int64) bool {
	for ; b != nil; b = b.parent {
		for {
			limit := b.limit.Load()
			missing := b.used.Load() + n - limit
			if limit <= 0 || missing <= 0 {
				break
			}
			if b.reclaim == nil || !b.reclaim(missing) {
				return false
			}
		}
	}
	return true
}

// refuse is the error of a reservation of n bytes, with used ones of limit in use.
func (b *Budget) refuse(operator string, n, used, limit int64) error {
	if b.setting != "" {
		return &Shortage{Of: b, What: operator, Setting: b.setting, Asked: n, Used: used, Limit: limit}
	}
	return sqlerr.MemoryExceeded(operator, n, used, limit)
}

// raise makes x at least n.
func raise(x *atomic.Int64, n int64) {
	for {
		old := x.Load()
		if n <= old || x.CompareAndSwap(old, n) {
			return
		}
	}
}

// Release gives n bytes back.
func (b *Budget) Release(n int64) {
	for ; b != nil; b = b.parent {
		b.used.Add(-n)
		if b.parent == nil && b.setting == "" {
			collector.freed.Add(n)
		}
	}
}

// grain is what an account asks of its budget at least, once it is past its first grain.
const grain = 256 << 10

// Account is one operator's share of a budget. It serves one goroutine; its zero value counts against no budget.
type Account struct {
	Budget   *Budget
	Operator string
	used     int64
	reserved int64
}

// Add counts n more bytes. On an error they are not reserved, and Close gives back only what is.
func (a *Account) Add(n int64) error {
	a.used += n
	if a.used <= a.reserved || a.Budget == nil {
		return nil
	}
	ask := a.used - a.reserved
	if a.used > grain {
		coarse := (ask + grain - 1) / grain * grain
		if a.Budget.Reserve(a.Operator, coarse) == nil {
			a.reserved += coarse
			return nil
		}
	}
	if err := a.Budget.Reserve(a.Operator, ask); err != nil {
		return err
	}
	a.reserved += ask
	return nil
}

// Set makes n the bytes counted, which may be fewer than before.
func (a *Account) Set(n int64) error {
	if n >= a.used {
		return a.Add(n - a.used)
	}
	a.used = n
	if spare := a.reserved - n; spare > 2*grain {
		a.Budget.Release(spare - grain)
		a.reserved = n + grain
	}
	return nil
}

// Leave makes n the bytes reserved, to the byte, and hands them over to the caller, who will release them; the account is
// empty then. On an error it stays as it is.
func (a *Account) Leave(n int64) error {
	if n > a.reserved {
		if err := a.Budget.Reserve(a.Operator, n-a.reserved); err != nil {
			return err
		}
	} else {
		a.Budget.Release(a.reserved - n)
	}
	a.used, a.reserved = 0, 0
	return nil
}

// Used returns the bytes counted.
func (a *Account) Used() int64 { return a.used }

// Close gives everything back.
func (a *Account) Close() {
	a.Budget.Release(a.reserved)
	a.used, a.reserved = 0, 0
}
