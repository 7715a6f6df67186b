package task

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/schedule"
)

// Tuning holds the sizes at which operators change how they work. Tests set smaller ones, so that small tables exercise what large ones do.
type Tuning struct {
	Filters FilterLimits
	// FrozenGroups is the number of groups at which a worker puts its table aside and begins another.
	FrozenGroups int
	MorselRows   int // see schedule.MorselRows
	// ParallelRows is the number of rows of work from which starting goroutines pays.
	ParallelRows int
	// WindowTaskRows is the number of rows for which a worker computes window functions at a time; a multiple of WindowBlockRows.
	WindowTaskRows  int
	WindowBlockRows int // rows of a block
	WindowFan       int // children of a node in a tree of partial results
	CodedRows       int // up to so many rows a join's build gives strings a dictionary
	// RankedRows is how many rows a worker collects before it looks for rows whose rank is too high: what it takes to sort them stays in the cache.
	RankedRows int
	// SpilledBytes is how many bytes of groups, or of a join's build, are kept at most where rows may be written to a temporary file; 0: as many as fit the memory.
	SpilledBytes int64
	// PartRows is how many rows of a build in a temporary file make a table at most; 0: as many as fit the memory.
	PartRows int
}

// FilterLimits bound runtime filters. A filter has to stay in the cache, where it is read at random. A bitmap, which tests fastest, takes up
// to Bits (1 MiB) even for a few members. Where it would be larger, a Bloom filter takes 8 to 16 bits a member. Rows that are stored in the
// order of the key, or nearly so, read bitmaps from one end to the other: those may have PerRow bits for each of many members.
type FilterLimits struct {
	Bits     uint64
	PerRow   uint64
	Sorted   uint64  // bits of bitmaps that are read in order
	Members  int     // up to so many a filter costs next to nothing and is made in any case
	Exact    int     // members of a set that has them and no others, which is sorted and hashed
	Bloom    int     // members of a Bloom filter
	Compared int     // so few members are compared one by one
	Drops    float64 // a filter of many members is made if it is expected to drop this share of the rows that it tests
}

// Default is the tuning of queries.
var Default = Tuning{
	Filters:      FilterLimits{Bits: 1 << 23, PerRow: 256, Sorted: 1 << 32, Members: 1 << 16, Exact: 1 << 12, Bloom: 1 << 23, Compared: 8, Drops: 1.0 / 16},
	FrozenGroups: 1 << 15, MorselRows: schedule.MorselRows, ParallelRows: 1 << 14,
	WindowTaskRows: 1 << 16, WindowBlockRows: column.VectorSize, WindowFan: 64, CodedRows: 1 << 10, RankedRows: 1 << 16,
}
