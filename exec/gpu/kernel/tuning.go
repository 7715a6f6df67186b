package kernel

import (
	"math"

	"github.com/radish-sql/radish/planner/cost"
)

// Tuning has the numbers of an architecture that choose between ways which give the same result. Each runner has its own, which tests change.
//
// Other numbers are not here: docs/internals/architecture.md says which, and why.
type Tuning struct {
	Scan        Scans
	Partition   PartitionedGroups
	PerfectHash PerfectHash
	Shared      SharedGroups
	Radix       PartitionedJoins
	Arrays      ArraysByKey
	Joins       JoinCosts
	Merge       SortedJoins
	Runs        Runs
	Filter      KeyFilters
	Launch      LaunchRows
	Sort        Sort

	Results Results
}

// Scans are how tables are scanned.
type Scans struct {
	FewRows   float64 // up to which each row has a thread, which loads its columns where they are used
	FirstRows float64 // up to which a query is not kept waiting for kernels that load several rows at once: those that go row by row take less than compiling these
	// FirstAppends is up to how many rows to a sink no query waits for kernels that number a block's rows together: an atomic for each warp takes less.
	FirstAppends float64
}

// PartitionedGroups are groups that are made in partitions of the rows.
type PartitionedGroups struct {
	Rows             float64 // from which on groups are made so
	HashedGroups     float64 // that are found by hashing from which on partitions are considered: fewer have tables in shared memory in front
	FirstRows        float64 // up to which a first run makes groups without partitions: compiling their kernels would take longer than they save
	Passes           int     // the fewest
	Capacity         int64   // the most rows of a partition
	PerfectHashRows  float64 // rows for each group from which on a partition has a perfect hash of its keys
	PerfectHashBytes int64   // the most bytes of its table
	PerfectHashCache int64   // bytes of a multiprocessor's shared memory that such tables take if they fit, which leaves the rest to its cache
	LeastSlots       int64   // the fewest slots of a partition's table

	// The table in device memory beside the partitions: its fewest and its most slots, and the groups that fit behind it beyond half as many again as are expected.
	Slots, SlotsMost, MoreGroups int64

	Slack Slack // of a partition
}

// Slack is what partitions of equal capacity have beyond an equal share of the rows.
type Slack struct {
	Share      float64 // of it
	Deviations float64 // if keys are few, so many standard deviations of the number of those in a partition,
	Most       float64 // but no larger a share
}

// Of is the share of partitions in each of which so many keys are expected, that are hashed or spread evenly.
func (s Slack) Of(keys float64, isHashed bool) float64 {
	if !isHashed {
		return s.Share
	}
	return min(max(s.Share, s.Deviations/math.Sqrt(keys)), s.Most)
}

// Pays says whether so many rows of so many groups are worth partitioning.
func (t *PartitionedGroups) Pays(rows, groups float64) bool {
	return rows >= t.Rows && rows >= 2*groups
}

// PaysPerfectHash says whether partitions of so many rows of so many groups are worth a perfect hash of their keys.
func (t *PartitionedGroups) PaysPerfectHash(rows, groups float64) bool {
	return rows >= t.PerfectHashRows*groups
}

// Table returns the slots of a first table in device memory for so many groups, and how many groups fit behind it.
func (t *PartitionedGroups) Table(groups int64) (slots, behind int64) {
	return min(max(PowerOfTwo(2*max(groups, 1)), t.Slots), t.SlotsMost), max(groups+groups/2+t.MoreGroups, 1)
}

// PerfectHash is a perfect hash of the keys that blocks share, which is made of the first rows.
type PerfectHash struct {
	Rows      float64 // from which on there is one
	SeenLeast int64   // rows that are looked at for its keys, at least
	SeenRows  int64   // and for each group that is expected
	Small     int64   // bytes of a small table, which leaves a multiprocessor more threads
}

// Sample is the number of rows that are looked at before the others, for so many groups.
func (t *PerfectHash) Sample(groups int64) int64 { return max(t.SeenLeast, t.SeenRows*groups) }

// SharedGroups are groups that a block adds up in shared memory.
type SharedGroups struct {
	CrowdedRows float64 // rows of a launch from which on 32 bits do not count those of a block
	TilesLeast  float64 // groups from which on a tile's rows look for their slots together
	HotGroups   float64 // so few that their atomics in device memory wait for each other

	Copied   int64   // bytes of a table up to which a block has copies of it
	Small    int64   // bytes of a table that any number of rows is worth
	SlotRows float64 // rows for each slot that a larger one is worth

	// Hash tables: bytes of one that groups leave nearly empty, which makes keys quick to find, and the rows for each slot that it is worth.
	Hashed         int64
	HashedSlotRows float64
	// The fewest slots for each group with which such a table is made: where partitions could take its place, and where they could not.
	HashedSlots, HashedFull float64
}

// PartitionedJoins are joins both sides of which are partitioned.
type PartitionedJoins struct {
	Rows       float64 // of a build from which on costs decide
	Passes     int     // the fewest
	PassesMost int     // the most
	Bits       int     // of a pass; 0: as many as the rows need
	TableRows  int64   // the most of a table; 0: as many as fit
	PieceRows  int64   // of the probe's side in a piece of work; 0: by their number
	Capacity   int64   // the most rows of a partition in a first attempt; 0: any number
	Blocks     int     // of a multiprocessor that partition
	Prefetch   bool    // the next tile comes to the L2 cache while a block partitions one
	Forced     bool    // whatever costs say
	Share      float64 // of a scan's rows that come to the join from which on they are partitioned
	BitmapKeys float64 // for so many a cache has a bit each, which is better where nothing but a key's presence counts

	// Pieces of the probe's side, where PieceRows does not say: at least so many rows, at most so many times those of a partition, and so many pieces for each multiprocessor.
	PieceLeast, PieceShare, Pieces int64

	// A partition's capacity in a first attempt, beyond an equal share of the rows: a share of that, and standard deviations if all keys are different.
	Slack, SlackDeviations float64
}

// ArraysByKey are builds that store a row at the slot of its key: bytes of slots that they may take in any case, and for each row that is expected.
type ArraysByKey struct{ Always, PerRow float64 }

// JoinCosts are what the steps of a join take, in picoseconds. They fit what joins of 2^15 to 2^26 with 2^19 to 2^26 rows took on an H200: docs/results/2026-11-27.md.
type JoinCosts struct {
	Partitioning float64 // what both sides in partitions take besides their bytes: launches, and waits for counters
	Byte         float64 // that partitions read or write
	Launch       float64 // what a table takes besides its rows
	Filter       float64 // a row that a filter of keys is asked for

	// A row that is stored in a table, and one that looks for its matches in a hash table or in an array by key. Far is what each takes more where it comes to device memory and not to
	// the L2 cache.
	Store, StoreFar    float64
	HashRow, HashFar   float64
	ArrayRow, ArrayFar float64

	Near  float64 // bytes of a table: half of its loads find a multiprocessor's own cache
	Cache float64 // bytes of tables that the L2 cache has
}

// JoinTable is a join by a table in device memory.
type JoinTable struct {
	IsArray  bool    // by key; otherwise a hash table
	Bytes    float64 // of the table with its rows
	Rows     float64 // of the build
	Probes   float64 // rows of the probe,
	Filtered float64 // and those that a filter of keys leaves
}

// Times are the costs of a device on which partitions and tables take multiples of them.
func (c JoinCosts) Times(partitions, tables float64) JoinCosts {
	for _, x := range []*float64{&c.Partitioning, &c.Byte} {
		*x *= partitions
	}
	for _, x := range []*float64{&c.Launch, &c.Filter, &c.Store, &c.StoreFar, &c.HashRow, &c.HashFar, &c.ArrayRow, &c.ArrayFar} {
		*x *= tables
	}
	return c
}

// InPartitions is what a join takes whose partitions move so many bytes.
func (c *JoinCosts) InPartitions(bytes float64) float64 { return c.Partitioning + c.Byte*bytes }

// ByTable is what a join by a table takes.
func (c *JoinCosts) ByTable(t JoinTable) float64 {
	row, far := c.HashRow, c.HashFar
	if t.IsArray {
		row, far = c.ArrayRow, c.ArrayFar
	}
	share := max(0, 1-c.Cache/max(t.Bytes, 1)) // of accesses that come to device memory
	cost := c.Launch + t.Rows*(c.Store+c.StoreFar*share) + t.Filtered*(row*t.Bytes/(t.Bytes+c.Near)+far*share)
	if t.Filtered < t.Probes {
		cost += t.Probes * c.Filter
	}
	return cost
}

// SortedJoins are joins both sides of which are sorted and merged.
type SortedJoins struct {
	Hinted   bool  // those that a hint asks for
	Forced   bool  // all for which there are kernels
	Capacity int64 // the most rows of a side in a first attempt; 0: any number
	Pairs    int64 // of a block's rows from which on blocks share them, in pieces of about so many
	List     int64 // the most pieces that are listed; a block goes over what the list has no capacity for
}

// Runs are rows of a build that lie together because their keys are equal.
type Runs struct {
	// Matches of a row of the probe, and of a row of the build, from which on ordering the rows of the build costs less than following chains.
	Matches, Reuse float64

	Apart  float64 // matches of a row of the probe from which on that is so where the join could be in partitions, too
	Common float64 // rows of one key from which on it is so however few matches there are
	Long   int64   // rows of a run from which on threads share it
	PutOff int64   // the most runs that are put off to be shared

	// A scan whose probe puts runs off goes over all rows of its table, whatever zone maps say. So a table of more than WholeRows rows has none of which the scan wants less than WholeShare.
	WholeRows, WholeShare float64

	LoopRows float64 // of a source up to which threads share a nested loop's build: more keep a device busy without
}

// KeyFilters are filters of keys that a build leaves for scans.
type KeyFilters struct {
	Rows      float64 // of a scan from which on it reads them
	Drops     float64 // the share of a scan's rows that one has to drop, as is estimated
	Slots     float64 // for each row of the build
	MostSlots int64   // at all
	Domain    float64 // values of a domain for each row of the build up to which one has a bit for each value
	LocalBits int64   // of a filter that is copied to shared memory
}

// LaunchRows are the most rows of a launch that are added to few words of device memory, so that a cancelled query ends soon.
type LaunchRows struct {
	Hot    int64 // where all are added one by one
	Window int64 // where that is so only if doubles do not fit a window, or if each row has a better extreme than those before
}

// Sort is the order of rows.
type Sort struct {
	WaitRows  int64 // from which on each pass is waited for before the next one is launched, so that a cancelled query ends soon
	RadixRows int64 // from which on keys are packed, which takes two waits for the device, instead of merged

	AnyRows float64 // up to which a query is not kept waiting for the kernels of its columns where there are some that order by any

	// More rows than SelectRows are not sorted whole if less than one in SelectOf is wanted.
	SelectRows, SelectOf float64

	// Packed keys are of so many bits more than the number of rows has at first, which tell nearly all rows apart if keys are spread evenly.
	EvenBits int
	// Comparing rows whose packed keys are equal takes longer than sorting by more bits if so many of a row's neighbours are, as is expected, and too long if there are no more bits and so many are.
	EqualSome, EqualMost float64
}

// Results are rows that go to the host.
type Results struct {
	FetchedTogether int64 // bytes of strings that several columns fetch together
	EncodedRows     int64 // rows of a result that is stored from which on the device encodes it
	PreparedBytes   int64 // of such a result as is expected, from which on the host looks for memory while the device computes it
}

// TuningOf returns the numbers of an architecture by its compute capability, 90 for 9.0; 0 is an emulated device.
func TuningOf(computeCapability int) Tuning {
	switch {
	case computeCapability >= 100:
		return blackwell()
	case computeCapability >= 90:
		return hopper()
	case computeCapability == 0:
		t := hopper()
		t.Partition.FirstRows, t.Scan = 0, Scans{}
		return t
	}
	return ampere()
}

// hopper is sm_90, measured on an H200.
func hopper() Tuning {
	return Tuning{
		Scan: Scans{FewRows: 1 << 18, FirstRows: 1 << 31, FirstAppends: 1 << 26},
		Partition: PartitionedGroups{
			Rows: 4e6, HashedGroups: 1 << 12, FirstRows: 1 << 28, Passes: 1, Capacity: math.MaxInt64, PerfectHashRows: 64, PerfectHashBytes: math.MaxInt64, PerfectHashCache: 164 << 10, LeastSlots: 256,
			Slots: 1 << 17, SlotsMost: 1 << 22, MoreGroups: 1 << 16, Slack: Slack{Share: 1. / 16, Deviations: 4, Most: 1},
		},
		PerfectHash: PerfectHash{Rows: 8e6, SeenLeast: 1 << 16, SeenRows: 32, Small: 24 << 10},
		Shared:      SharedGroups{CrowdedRows: 1 << 32, TilesLeast: 2048, HotGroups: 1 << 12, Copied: 24 << 10, Small: 64 << 10, SlotRows: 512, Hashed: 24 << 10, HashedSlotRows: 8, HashedSlots: 1.8, HashedFull: 0.8},
		Radix:       PartitionedJoins{Rows: 1 << 15, Passes: 1, PassesMost: 2, Blocks: 2, Prefetch: true, Share: 0.25, BitmapKeys: 1 << 28, PieceLeast: 1 << 14, PieceShare: 4, Pieces: 16, Slack: 1. / 16, SlackDeviations: 6}, // nobody has measured smaller builds
		Arrays:      ArraysByKey{Always: 64 << 20, PerRow: 256},
		Joins: JoinCosts{
			Partitioning: 3.2e8, Byte: 0.48, Launch: 1e8, Filter: 8, Store: 20, StoreFar: 40,
			HashRow: 95, HashFar: 130, ArrayRow: 20, ArrayFar: 70, Near: 96 << 10, Cache: 40 << 20,
		},
		Merge:   SortedJoins{Hinted: true, Pairs: 1 << 16, List: 1 << 18},
		Runs:    Runs{Matches: 8, Reuse: 4, Apart: 64, Common: 4096, Long: 256, PutOff: 1 << 22, WholeRows: 1 << 22, WholeShare: 0.125, LoopRows: 1 << 18},
		Filter:  KeyFilters{Rows: cost.FilteredRows, Drops: cost.FilterDrops, Slots: 16, MostSlots: 1 << 28, Domain: 64, LocalBits: 1 << 19}, // 32 MiB, and 64 KiB
		Launch:  LaunchRows{Hot: 1 << 24, Window: 1 << 25},
		Sort:    Sort{WaitRows: 1 << 24, RadixRows: 1 << 19, AnyRows: 1 << 22, SelectRows: 1 << 16, SelectOf: 8, EvenBits: 10, EqualSome: 1. / 8, EqualMost: 2},
		Results: Results{FetchedTogether: 64 << 20, EncodedRows: 1 << 17, PreparedBytes: 256 << 20},
	}
}

// ampere is sm_80 and older ones, blackwell sm_100 and later ones. Nobody has measured either, so each has Hopper's numbers.
func ampere() Tuning    { return hopper() }
func blackwell() Tuning { return hopper() }
