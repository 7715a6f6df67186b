package cost

// Joins are the prices by which orders of joins are compared on a device. The unit is handing one row on to the next operator.
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

// The most rows of a hash table that is taken to fit the caches of one of the CPU's cores, and of one that is taken to fit the cache that cores share. In seconds,
// a table of more than CachedRows is priced as large.
const (
	CachedRows = 1 << 16
	SharedRows = 1 << 21
)

// A scan on a GPU asks filters of keys from FilteredRows rows on, and of those only filters that are expected to drop the share FilterDrops of its rows.
const (
	FilteredRows = 4e6
	FilterDrops  = 0.5
)

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
