package groupby

import (
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

const (
	tableBlocks         = 4  // of a multiprocessor that add up small tables after two passes
	tableItems          = 4  // rows of a thread that they add together
	spareSlots          = 32 // of a table, for the threads of a warp: they take what is no row's
	strideSteps         = 8
	slotsPerGroup       = 2.4     // slots of a partition's table for each group that is expected: the fuller, the slower, by much
	rankBits            = 16      // of a tag, up to which groups are numbered by a bitmap
	slotsPerRankedGroup = 1.6     // slotsPerGroup then: more groups than that are added to the table in device memory
	blockShared         = 1 << 10 // bytes of shared memory that a multiprocessor needs for a block besides
)

const (
	partitionBitsLeast, partitionBitsMost = 7, 8 // of a pass
	// A partition's capacity is an equal share and a sixteenth more, or so many standard deviations if groups are few and equally large, but at most two shares.
	PartitionSlack, SlackDeviations, SlackMost = 1. / 16, 4, 1
)

// PartitionForm says how rows are partitioned, and how the groups of a partition are found.
type PartitionForm struct {
	partition.Form
	blocks      int               // of a multiprocessor that a partition's table leaves memory for: 1 or 2
	table       int64             // bytes that a partition's table wants
	stride      int64             // slots that it has
	tables      int               // of a multiprocessor that add partitions up
	hot         int               // log2 of the frequent slots that a block adds up itself
	wide        bool              // keys of 64 bits: rows are of two words
	Hashed      bool              // slots are mixed keys; a partition's groups are found by hashing
	perfectHash *PerfectHashTable // of each partition's keys; nil: they are searched for
	arg         expr.Expr         // the value; nil: there is none
	accs        *Accumulator      // one that has it
	tuning      *kernel.PartitionedGroups
}

// tagBytes is the bytes of the slot or mixed key in a row, and of a tag.
func (x *PartitionForm) tagBytes() int64 { return x.RowBytes / 2 }

// slotsOfEach is the number of slots of a partition after some passes over so many slots.
func (x *PartitionForm) slotsOfEach(slots int64) int64 {
	return ((slots-1)>>(partition.NearBits+x.Bits*x.Passes) + 1) << partition.NearBits
}

// PartitionSlots is the number of slots that a partition's table has.
type PartitionSlots struct{ P *physical.Aggregate }

// PartitionSlots is the number of slots that a partition's table has, besides the spare ones.
func (f *Form) PartitionSlots() int64 {
	x := f.Partition
	if x.Hashed {
		return min(x.partitionSlots(f.Aggregate.EstGroups), (x.stride-spareSlots)&^3)
	}
	return x.slotsOfEach(f.Slots)
}

// tableCapacity is how many bytes a partition's table has if so many blocks share a multiprocessor.
func tableCapacity(shared, blocks int64) int64 {
	return min(shared, (shared+kernel.SharedRest+blockShared)/blocks-blockShared-kernel.SharedRest/4) &^ 15
}

// wantedStride is how many slots a partition's table should have, spare ones included: a few steps for each power of two, so that there are few different kernels. More
// shared memory than that is better left to the cache that loads go through.
func (x *PartitionForm) wantedStride(groups float64) int64 {
	wanted := x.slotsOfEach(int64(groups))
	if x.Hashed {
		wanted = x.partitionSlots(groups)
	}
	wanted += spareSlots
	step := max(kernel.PowerOfTwo(wanted)/strideSteps, 4)
	return kernel.RoundUp(wanted, step)
}

// partitionTable is what a partition's table takes of shared memory.
func (x *PartitionForm) partitionTable(words int64) int64 {
	if x.perfectHash != nil {
		return x.perfectHash.bytes()
	}
	return x.stride*x.slotBytes(words) + x.rankBytes()
}

// slotBytes is what a slot of a table takes: the words and, where it is found by hashing, the tag.
func (x *PartitionForm) slotBytes(words int64) int64 {
	if x.Hashed {
		return 4*words + x.tagBytes()
	}
	return 4 * words
}

// partitionsForAll says whether the partitions of one pass are about as many as blocks run at once, or a multiple of it: a block sees to a partition as a whole.
func (x *PartitionForm) partitionsForAll(multiprocessors int) bool {
	parts, blocks := 1<<x.Bits, x.blocks*multiprocessors
	rounds := (parts + blocks - 1) / blocks
	return parts*10 >= rounds*blocks*9
}

// tableBytes is what a partition's table wants of shared memory.
func (x *PartitionForm) tableBytes(groups float64, words int64) int64 {
	if x.Hashed {
		return x.slotBytes(words)*(x.partitionSlots(groups)+spareSlots) + x.rankBytes()
	}
	return x.slotBytes(words) * (x.slotsOfEach(int64(groups)) + spareSlots)
}

// bytes is what a pass needs of shared memory where a block has so many threads.
func (x *PartitionForm) bytes(threads int) int64 { return x.SharedBytes(threads, x.hot) }

// partitionSlots is the number of slots of a partition's table of groups that are found by hashing.
func (x *PartitionForm) partitionSlots(groups float64) int64 {
	factor := slotsPerGroup
	if x.ranked() {
		factor = slotsPerRankedGroup
	}
	wanted := int64(groups * factor / float64(int64(1)<<(x.Bits*x.Passes)))
	return max(wanted, x.tuning.LeastSlots) &^ 3
}

// tagBits is the number of bits of a tag: what the passes have left of a slot.
func (x *PartitionForm) tagBits() int { return int(8*x.tagBytes()) - x.Bits*x.Passes }

// ranked says whether a partition's groups are numbered by a bitmap of their tags, not searched for.
func (x *PartitionForm) ranked() bool { return x.Hashed && x.tagBits() <= rankBits }

// rankBytes is what numbering them takes of shared memory: two words for each 32 tags.
func (x *PartitionForm) rankBytes() int64 {
	if !x.ranked() {
		return 0
	}
	return 8 << (x.tagBits() - 5)
}
