package physical

import "slices"

// The limits of arrays that keys address directly, for joins and groups, on both devices. An array needs no hash, no comparison and no search; what it costs is
// memory for keys that do not occur, which has to be given its first state and pushes other data out of the caches. A range is the greatest key less the least.

// Joins. The planner proves a key's range and estimates the rows.
const (
	// arraySmall is a range that has an array however few rows there are: 4 MiB of slots.
	arraySmall = 1 << 20
	// arrayPerRow is how many times as many keys as rows a larger array may have. A hash table takes that many bytes a row, too.
	arrayPerRow = 8
	// arrayPerRowOnGPU is the same for unique keys on a GPU, which has so many threads that a table may exceed its caches: it follows from the bytes that a build
	// and its probes move.
	arrayPerRowOnGPU = 12
	// setPerRow is the same where no column of the build is read: a bit does instead of a slot.
	setPerRow = 64 * arrayPerRow
	// arrayMost is the largest range: 4 GiB of slots.
	arrayMost = 1 << 30
)

// HasArray says whether a join's integer keys of a range, which may repeat, are worth an array on any device.
func HasArray(span, rows float64) bool {
	return span < min(max(arraySmall, arrayPerRow*rows), arrayMost)
}

// HasArrayOnGPU says whether unique keys of a range have an array on a GPU.
func HasArrayOnGPU(span, rows float64) bool { return span < min(arrayPerRowOnGPU*rows, arrayMost) }

// hasArray says whether the keys of a build, which lie in a range, have an array on the device that the plan is made for.
func (b *Build) hasArray(span float64, d Device) bool {
	return span >= 0 && (HasArray(span, b.EstRows) || b.Unique && d == GPU && HasArrayOnGPU(span, b.EstRows) ||
		len(b.Payload) == 0 && span < min(setPerRow*b.EstRows, arrayMost))
}

// IsSearched says whether a GPU sorts the rows of a nested loop and searches them, as the hint INL_JOIN asks for.
func (b *Build) IsSearched() bool { return b.Searched && !b.KeepUnmatched }

// ComparesRange says whether the first keys of both sides are compared by RangeOp, and not for equality. A device may run another algorithm for that: see On.
func (b *Build) ComparesRange() bool { return b.Algorithm == RangeJoin }

// On is the algorithm that a device runs. Without inequalities to search by, kernels test every pair. Their arrays need one key of a bounded range, and have no slot for NULLs
// that equal each other.
func (b *Build) On(d Device) JoinAlgorithm {
	switch {
	case d != GPU:
	case b.IsSearched():
		return HashJoin // by equality
	case len(b.Keys) == 0, b.Algorithm == RangeJoin && b.Inequalities == nil:
		return NestedLoopJoin
	case b.Algorithm == DenseJoin && (len(b.Keys) != 1 || slices.Contains(b.NullSafe, true) || float64(b.DenseMax)-float64(b.DenseMin) >= arrayMost):
		return HashJoin
	}
	return b.Algorithm
}

// A build on the CPU sees its keys before it makes a table. Whatever was planned, it makes an array where that takes no more than a hash table.
const (
	seenSmall  = 1 << 12 // a range that has an array whatever the number of rows
	seenPerRow = 64      // keys for each row: a word of bits and its rank are as large as a slot of the hash table
)

// HasArrayOf says whether a build on the CPU that holds so many rows, whose keys span a range, makes an array.
func (b *Build) HasArrayOf(span, rows uint64) bool {
	return span <= max(seenSmall, seenPerRow*rows) || b.Algorithm == DenseJoin && span < arrayMost
}

// Groups. A DenseAggregate is planned up to groupsPlanned combinations of its keys: each of the CPU's workers has an array of all, and on a GPU it fits the cache.
const groupsPlanned = 1 << 16

// GroupLimits bound the arrays that executors make for groups whose keys have known bounds, where none was planned.
type GroupLimits struct {
	Small    float64 // combinations that have an array whatever the number of groups
	PerGroup float64 // combinations for each expected group
	Bytes    float64 // of all arrays together
	Most     float64 // combinations at all
}

// GroupsOn are the limits of a device. The CPU's workers have arrays of their own.
func GroupsOn(d Device) GroupLimits {
	if d == GPU {
		return GroupLimits{Small: 1 << 12, PerGroup: 8, Bytes: 16 << 30, Most: 1 << 31}
	}
	return GroupLimits{Small: 1 << 10, PerGroup: 6, Bytes: 256 << 20, Most: 1 << 24}
}

// Combinations is how many combinations of keys have an array where so many groups are expected, each of which takes so many bytes.
func (l GroupLimits) Combinations(groups, bytes float64) float64 {
	return max(l.Small, min(l.PerGroup*groups, l.Bytes/bytes, l.Most))
}
