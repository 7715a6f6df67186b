package table

import (
	"math"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// ColumnStats describes a column of a version for the planner.
type ColumnStats struct {
	Rows      int64 // live rows
	NullCount int64 // among them; exact unless rows were deleted
	// Distinct is the estimated number of distinct values, NULL not counted: within some 2 % unless the table is so large that rows are drawn (see drawn).
	Distinct float64
	// Min and Max bound the values that are not NULL, and are reached unless rows were deleted. Both are NULL if there
	// are no values, or nothing is known.
	Min, Max types.Value
	// Histogram divides the values, the common ones left out, into buckets of equal numbers of rows. It may be nil.
	Histogram *Histogram
	// Common are the most common values, in descending order of frequency.
	Common []CommonValue
	// Sorted says that the values ascend through the whole table, without NULLs.
	Sorted bool
	// Dict is the dictionary that all row groups have; nil: there is no such one.
	Dict *column.Dictionary
}

// CommonValue is a value and its share of all live rows.
type CommonValue struct {
	Value    types.Value
	Fraction float64
}

// NullFraction returns the share of NULLs among the rows.
func (s *ColumnStats) NullFraction() float64 {
	if s.Rows == 0 {
		return 0
	}
	return float64(s.NullCount) / float64(s.Rows)
}

// statsCache keeps what was computed for a version, and what a version before it knew. Histograms and distinct counts
// of an older version serve as long as few rows have changed.
type statsCache struct{ *statsState }

type statsState struct {
	mu      sync.Mutex
	columns []*ColumnStats // by ordinal; nil: not computed
	zones   []*ColumnStats // what Zones gives, by ordinal; nil: not computed
	old     []*ColumnStats // of an older version
	oldRows int64          // its live rows
	changed int64          // rows inserted, deleted or updated since

	sampled        *RowSample // of this version, or of an older one
	sampledChanges int64      // rows inserted, deleted or updated since
}

func newStatsCache(columns int) statsCache {
	return statsCache{&statsState{columns: make([]*ColumnStats, columns), zones: make([]*ColumnStats, columns), old: make([]*ColumnStats, columns)}}
}

// staleness is the share of changed rows from which on statistics are computed anew.
const staleness = 10 // one in 10

// derive returns the cache of a version that differs in changed rows.
func (c statsCache) derive(rows int64, changed int) statsCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := newStatsCache(len(c.columns))
	next.oldRows, next.changed = c.oldRows, c.changed+int64(changed)
	next.sampled, next.sampledChanges = c.sampled, c.sampledChanges+int64(changed)
	copy(next.old, c.old)
	fresh := false
	for _, s := range c.columns {
		fresh = fresh || s != nil
	}
	if fresh {
		// What this version computed is newer than what it inherited.
		copy(next.old, c.columns)
		next.oldRows, next.changed = rows, int64(changed)
	}
	return next
}

// Stats returns the statistics of a column, which are computed at the first call. Bounds and numbers of NULLs come from the row groups' zone maps, the
// histogram from a sample. Distinct values are counted by sketches of the row groups, which later versions share, in large tables by rows drawn at
// random. Everything follows from the table alone, so plans repeat.
func (v *Version) Stats(ordinal int) *ColumnStats {
	if v.Unread(ordinal) {
		return v.supposed(ordinal)
	}
	c := v.stats.statsState
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.columns[ordinal]; s != nil {
		return s
	}
	s := new(ColumnStats)
	*s = *v.zonesOf(ordinal)
	if old := c.old[ordinal]; old != nil && staleness*c.changed <= c.oldRows {
		s.Histogram, s.Common = old.Histogram, old.Common
		s.Distinct = min(old.Distinct, float64(s.Rows-s.NullCount))
	} else {
		s.Distinct = v.distinct(ordinal, s)
		v.sample(ordinal, s)
	}
	c.columns[ordinal] = s
	return s
}

// Zones returns what the row groups' zone maps tell of a column: all but the number of distinct values, the histogram and the common values, for
// which values would have to be read.
func (v *Version) Zones(ordinal int) *ColumnStats {
	if v.Unread(ordinal) {
		return v.unproved(ordinal)
	}
	c := v.stats.statsState
	c.mu.Lock()
	defer c.mu.Unlock()
	return v.zonesOf(ordinal)
}

func (v *Version) zonesOf(ordinal int) *ColumnStats {
	zones := v.stats.zones
	if zones[ordinal] == nil {
		zones[ordinal] = v.bounds(ordinal)
	}
	return zones[ordinal]
}

// bounds fills in what the zone maps tell.
func (v *Version) bounds(ordinal int) *ColumnStats {
	typ := v.Schema.Columns[ordinal].Type
	s := &ColumnStats{Rows: v.rows, Min: types.NullOf(typ), Max: types.NullOf(typ), Sorted: true}
	unknown := false
	for i, g := range v.Groups() {
		c := g.Columns[ordinal]
		if i == 0 {
			s.Dict = c.Dict
		} else if s.Dict != c.Dict {
			s.Dict = nil
		}
		s.NullCount += int64(c.NullCount)
		if c.NullCount == c.Rows {
			s.Sorted = false
			continue
		}
		if c.Min.Null {
			unknown = true
			continue
		}
		s.Sorted = s.Sorted && c.Sorted && (s.Max.Null || types.Compare(s.Max, c.Min) <= 0)
		if s.Min.Null || types.Compare(c.Min, s.Min) < 0 {
			s.Min = c.Min
		}
		if s.Max.Null || types.Compare(c.Max, s.Max) > 0 {
			s.Max = c.Max
		}
	}
	if unknown {
		s.Min, s.Max, s.Sorted = types.NullOf(typ), types.NullOf(typ), false
	}
	s.NullCount = min(s.NullCount, s.Rows)
	return s
}

const (
	manyGroups = 64
	fewValues  = 64   // rows of a value, from which on a 16th of the row groups has all of them, if they are spread
	nearlyAll  = 0.95 // as near as sketches tell
)

// distinct estimates the number of distinct values: from sketches of the row groups, or from rows drawn at random.
func (v *Version) distinct(ordinal int, s *ColumnStats) float64 {
	values := float64(s.Rows - s.NullCount)
	if values == 0 {
		return 0
	}
	for i := range v.Schema.Keys {
		if k := &v.Schema.Keys[i]; k.Unique && len(k.Columns) == 1 && k.Columns[0] == ordinal {
			return values
		}
	}
	draws := v.draws(ordinal)
	if draws && s.most() > values/fewValues {
		return max(1, min(v.drawn(ordinal, s, values), values, s.most()))
	}
	// Of many row groups every 16th is looked at first, then every 8th, and so on, until there are about all values that there can be.
	first := 1
	if len(v.Groups()) >= manyGroups {
		first = 16
	}
	var whole encoding.Sketch
	done := false
	for stride := first; !done; stride /= 2 {
		var groups []*RowGroup
		for i := 0; i < len(v.Groups()); i += stride {
			if stride == first || i%(2*stride) != 0 {
				groups = append(groups, v.Groups()[i])
			}
		}
		forAll(len(groups), func(i int) { groups[i].Columns[ordinal].Sketch() })
		for _, g := range groups {
			whole.Merge(g.Columns[ordinal].Sketch())
		}
		done = stride == 1 || whole.Estimate() >= nearlyAll*s.most()
		if draws && !done {
			return max(1, min(v.drawn(ordinal, s, values), s.most()))
		}
	}
	return max(1, min(whole.Estimate(), values))
}

// most is the number of different integers that the bounds allow, or of strings that a dictionary does; of other columns it is not known.
func (s *ColumnStats) most() float64 {
	if s.Dict != nil {
		return float64(s.Dict.Len())
	}
	if s.Min.Null || s.Min.Type.Phys() != types.PhysInt64 {
		return math.Inf(1)
	}
	return float64(s.Max.I) - float64(s.Min.I) + 1
}
