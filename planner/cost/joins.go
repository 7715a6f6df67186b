package cost

import (
	"math"

	"github.com/radish-sql/radish/planner/physical"
)

// Joins are the prices by which orders of joins are compared on a device. The unit is handing one row on to the next operator, by the table's defaults.
type Joins struct {
	Build, Probe Rows    // a row that is stored to be looked up, and one that is looked up
	Output       float64 // a row that a join gives
	Pair         float64 // a pair of a nested loop
	Filter       float64 // a row that is tested by a runtime filter
	Slot         float64 // of an array that unique keys address on a GPU
	// Chain is a row that one thread of a GPU meets in a chain of rows with one key while all others have nothing left to do; 0 on the CPU.
	Chain float64
}

// Rows are the prices of a row by the size of the hash table that it goes to: one that fits the caches of a core, the cache that cores share, or none. An array
// takes the part Array of that.
type Rows struct{ Cached, Shared, Large, Array float64 }

// SharedRows is how many rows a build side has at most that is taken to fit the cache that cores share.
const SharedRows = 1 << 21

// Of is the price of a row of a hash table of so many rows.
func (r Rows) Of(rows float64) float64 {
	switch {
	case rows > SharedRows:
		return r.Large
	case rows > CachedRows:
		return r.Shared
	}
	return r.Cached
}

// fitted are the prices that suit the default table: those with which TPC-H's joins, up to scale factor 100, take their best known orders. That of a slot follows
// from the bytes that a build and a probe on a GPU move. A chain is measured: on an H200 a join that walked one of 7 million rows took 7.9 s, one of 2 x 134
// million rows without chains 39 ms.
var fitted = Joins{
	Build: Rows{1.5, 3, 6, 0.2}, Probe: Rows{0.5, 1, 2, 0.2}, Output: 1, Pair: 0.15, Filter: 0.5, Slot: 0.01, Chain: 30_000,
}

var defaults = Default()

// Joins are the prices of joins on a device. On the CPU they are the fitted ones times the table's rate over the default rate. The rates alone give worse orders: they
// are measured in single joins, and in a plan of many some of that time is hidden behind the reading of memory for others.
//
// On a GPU they are the fitted ones. A calibration has time only for joins that do not fill a GPU, whose rates say little of large ones: orders by them made
// TPC-H's Q9 five times slower on an H100.
func (t *Table) Joins(d physical.Device) Joins {
	if d == physical.GPU {
		return fitted
	}
	of := func(c Class) float64 { return t.On(d)[c] / defaults.On(d)[c] }
	rows := func(r Rows, cached, large, array Class) Rows {
		return Rows{r.Cached * of(cached), r.Shared * math.Sqrt(of(cached)*of(large)), r.Large * of(large), r.Array * of(array) / of(cached)}
	}
	out := fitted
	out.Build, out.Probe = rows(fitted.Build, BuildCached, BuildLarge, BuildDense), rows(fitted.Probe, ProbeCached, ProbeLarge, ProbeDense)
	out.Output, out.Pair, out.Filter, out.Slot = fitted.Output*of(Store), fitted.Pair*of(Loop), fitted.Filter*of(ProbeDense), fitted.Slot*of(Scan)
	out.Chain = 0
	return out
}
