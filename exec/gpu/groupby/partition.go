package groupby

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Radix partitioning, for groups of a domain too large for shared memory, where many rows come. The pipeline's kernel writes rows of 8 bytes, the group's slot
// and the value as an offset, to 128 or 256 partitions of the slots (partition.cuh). If a partition's groups do not fit shared memory then, a second kernel
// splits each partition into as many again. The last kernel gives each partition a block, which adds its rows up in shared memory (shared.go).
//
// Keys that are found by hashing are partitioned in the same way, with the mixed key instead of the slot: hashed.go. Keys that do not pack into 32 bits make
// rows of 16 bytes.
//
// A global atomic a row costs a sector of memory read and written wherever the groups do not fit the L2 cache; a row that is written and
// read once or twice costs 16 to 32 bytes, in whole lines.

var partitions = way{
	name:    "partitions",
	applies: func(w *Way) bool { return w.f.Partition != nil },
	row:     (*groupText).partitionRow,
	declare: (*groupText).declareParts,
	flush:   (*groupText).flushParts,
}

// choosePartition decides whether rows are partitioned.
func (w *Way) choosePartition() *PartitionForm {
	k, f := w, w.f
	x := &PartitionForm{Form: partition.Form{RowBytes: 8}, tuning: &k.Plan.Target.Tuning.Partition, Hashed: f.Shape == PackedGroups || f.Shape == wordGroups}
	groups := f.groups()
	if x.Hashed {
		if groups < hashedLeast || groups*localSlotsPerGroup <= float64(w.localSlots()) || w.choosePerfectHash(w.tableWords(false, true)) != nil {
			return nil
		}
		if x.wide = f.Shape == wordGroups || !f.keysFitWord(); x.wide {
			x.RowBytes = 16
		}
	}
	if !x.Hashed && f.Shape != DenseGroups || groups >= math.MaxUint32 || !k.Tiled || k.Many || k.Plan.IsShared(f.Aggregate) || k.MaxRows >= 1<<31 {
		return nil
	}
	if !x.tuning.Pays(w.rowsIn(), groups) {
		return nil
	}
	for _, acc := range f.Accs {
		_, offset := w.limbs(acc)
		switch {
		case acc.op == accCount && acc.arg == nil:
			continue
		case acc.op != accSum && acc.op != accMin && acc.op != accMax || acc.like.Nullable:
			return nil
		case acc.op != accSum && !offset:
			return nil
		}
		if !acc.like.Known || acc.like.Class != form.Int || uint64(acc.like.Within.Hi)-uint64(acc.like.Within.Lo) > math.MaxUint32 || x.arg != nil && !expr.Equal(x.arg, acc.arg) {
			return nil
		}
		x.arg, x.accs = acc.arg, acc
	}
	words := w.tableWords(true, true)
	// The fewest passes, and the fewest partitions whose tables fit shared memory: the more partitions, the slower a pass.
	shared := k.Plan.Target.SharedBytes
	for x.Passes = x.tuning.Passes; x.Passes <= 2; x.Passes++ {
		for x.Bits = partitionBitsLeast; x.Bits <= partitionBitsMost; x.Bits++ {
			for x.blocks = 2; x.blocks >= 1; x.blocks-- {
				capacity := tableCapacity(shared, int64(x.blocks))
				if x.Hashed && x.Bits < partitionBitsMost && (x.Passes == 2 || !x.partitionsForAll(k.Plan.Target.Multiprocessors)) {
					continue
				}
				if x.Hashed && !x.ranked() && x.tuning.PaysPerfectHash(w.rowsIn(), groups) {
					if t := choosePerfectHashTable(x.tagBytes(), words, groups/float64(int64(1)<<x.Bits), int64(x.blocks), min(capacity, x.tuning.PerfectHashBytes)); t != nil {
						x.perfectHash, x.table = t, t.bytes()
						return x
					}
				}
				if x.table = x.tableBytes(groups, words); x.table <= capacity {
					return x
				}
			}
		}
	}
	return nil
}

// partitionRow notes a row. A tile's rows are added to frequent slots, or else written to their partitions.
func (a *groupText) partitionRow(keys, args []codegen.Value) {
	k, f := a.k, a.f
	k.Threads, k.Items, k.Blocks = partition.Threads, f.Partition.Items(), partition.Blocks
	k.Defines = []string{fmt.Sprintf("RADISH_PART_BITS %d", f.Partition.Bits), fmt.Sprintf("RADISH_HOT_BITS %d", f.Partition.hot)}
	if f.Partition.wide {
		k.Defines = append(k.Defines, "RADISH_WIDE_ROWS")
	}
	slot, offset := a.partitionSlot(keys, args), "0"
	for i, acc := range f.Accs {
		if acc == f.Partition.accs {
			offset = fmt.Sprintf("(u32)((u64)%s - %s)", args[i].Text, k.Literal(uint64(acc.like.Within.Lo)))
		}
	}
	k.Line("part_rows[i] = part_row(%s, %s);", slot, offset)
	if f.Partition.wide {
		k.Close()
	}
	partition.Tile(k, a.hotRows)
}

// declareParts declares what the pipeline's kernel needs, with frequent slots.
func (a *groupText) declareParts() []string {
	x := a.f.Partition
	lines := append(x.Declare(0, a.directLines()), a.declareHot()...)
	return append(lines, fmt.Sprintf("parting.begin(%s);", x.Out(a.k, a.f.Aggregate, 0, "0")))
}

// flushParts writes what the blocks still hold, and makes the kernels that come after.
func (a *groupText) flushParts() {
	k, f := a.k, a.f
	k.Line("parting.finish(direct);")
	a.flushHot()
	if f.Partition.Passes == 2 {
		k.Then = append(k.Then, a.splitKernel())
	}
	k.Then = append(k.Then, a.tablesKernel())
}

// splitKernel splits each partition.
func (a *groupText) splitKernel() *kernel.Kernel {
	sub, b := a.thenKernel("_split")
	x := a.f.Partition
	x.Split(sub, a.f.Aggregate, b.directLines(), kernel.SharedMemory{Threads: x.bytes})
	return sub
}

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
