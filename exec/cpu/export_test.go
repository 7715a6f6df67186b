package cpu

import "github.com/radish-sql/radish/column"

// SmallMorsels makes a morsel of every vector and parallel work of every finish, so that small tables exercise what
// large ones do. It returns what undoes it.
func SmallMorsels() func() {
	rows, parallel, task, block, fan, ranked := morselRows, inParallel, windowTaskRows, windowBlockRows, windowFan, rankedRowsAtOnce
	morselRows, inParallel, windowTaskRows, windowBlockRows, windowFan, rankedRowsAtOnce = column.VectorSize, 1, 64, 16, 3, 100
	return func() {
		morselRows, inParallel, windowTaskRows, windowBlockRows, windowFan, rankedRowsAtOnce = rows, parallel, task, block, fan, ranked
	}
}

// FreezingEarly returns the configuration under which workers put their groups aside after a few thousand.
func (c Config) FreezingEarly() Config {
	own := defaultTuning
	own.frozenGroups = 1000
	c.tuning = &own
	return c
}

// FilterLimits are the limits of runtime filters that tests set.
type FilterLimits struct {
	Bits, PerRow   uint64
	Members, Bloom int
	Drops          float64
}

// WithFilterLimits returns the configuration with other limits of runtime filters.
func (c Config) WithFilterLimits(l FilterLimits) Config {
	own := defaultTuning
	f := &own.filters
	f.bits, f.perRow, f.members, f.bloom, f.drops = l.Bits, l.PerRow, l.Members, l.Bloom, l.Drops
	c.tuning = &own
	return c
}
