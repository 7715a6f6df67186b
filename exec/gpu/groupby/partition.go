package groupby

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Radix partitioning, for groups of a domain too large for shared memory, where many rows come. The pipeline's kernel writes rows of 8 bytes, the group's slot
// and the value as an offset, to 128 or 256 partitions of the slots (partition.cuh). If a partition's groups do not fit shared memory then, a second kernel
// splits each partition into as many again. The last kernel gives each partition a block, which adds its rows up in shared memory (shared.go).
//
// Keys that are found by hashing are partitioned in the same way, with the mixed key in place of the slot: hashed.go. Keys that do not pack into 32 bits make
// rows of 16 bytes.
//
// A global atomic a row costs a sector of memory read and written wherever the groups do not fit the L2 cache; a row that is written and
// read once or twice costs 16 to 32 bytes, in whole lines.

// NearBits is the logarithm of how many neighbouring slots stay together: near_bits of partition.cuh.
const NearBits = 5

const (
	lineBytes        = 32
	PartitionThreads = 512
	partitionBlocks  = 2  // of a multiprocessor that partition: one reads while the other waits at barriers
	partitionItems   = 8  // rows of a thread; half as many of the wide ones
	tableBlocks      = 4  // of a multiprocessor that add up small tables after two passes
	tableItems       = 4  // rows of a thread that they add together
	spareSlots       = 32 // of a table, for the threads of a warp: they take what is no row's
	strideSteps      = 8
	blockShared      = 1 << 10 // bytes of shared memory that a multiprocessor needs for a block besides
)

const (
	partitionBitsLeast, partitionBitsMost = 7, 8 // of a pass
	ChunkTiles                            = 64   // of a partition, that a block splits at a time
	// A partition's capacity is an equal share and a sixteenth more, or so many standard deviations if groups are few and equally large, but at most two shares.
	PartitionSlack, SlackDeviations, SlackMost = 1. / 16, 4, 1
)

// PartitionForm says how rows are partitioned, and how the groups of a partition are found.
type PartitionForm struct {
	Passes      int
	Bits        int               // of a slot that a pass partitions by
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
	tuning      *kernel.Tuning
}

// RowBytes, items and LineRows are the bytes of a row, a thread's rows of a tile, and those of a line.
func (x *PartitionForm) RowBytes() int64 {
	if x.wide {
		return 16
	}
	return 8
}
func (x *PartitionForm) Items() int      { return partitionItems * 8 / int(x.RowBytes()) }
func (x *PartitionForm) LineRows() int64 { return lineBytes / x.RowBytes() }

// tagBytes is the bytes of the slot or mixed key in a row, and of a tag.
func (x *PartitionForm) tagBytes() int64 { return x.RowBytes() / 2 }

// localPlaces is the number of places of a partition after some passes over so many places.
func (x *PartitionForm) localPlaces(places int64) int64 {
	return ((places-1)>>(NearBits+x.Bits*x.Passes) + 1) << NearBits
}

// PartitionSlots is the number of places that a partition's table has.
type PartitionSlots struct{ P *physical.Aggregate }

// PartitionSlots is the number of places that a partition's table has, besides the spare ones.
func (f *Form) PartitionSlots() int64 {
	x := f.Partition
	if x.Hashed {
		return min(x.partitionSlots(f.Aggregate.EstGroups), (x.stride-spareSlots)&^3)
	}
	return x.localPlaces(f.Slots)
}

// tableCapacity is how many bytes a partition's table has if so many blocks share a multiprocessor.
func tableCapacity(shared, blocks int64) int64 {
	return min(shared, (shared+kernel.SharedRest+blockShared)/blocks-blockShared-kernel.SharedRest/4) &^ 15
}

// wantedStride is how many slots a partition's table should have, spare ones included: a few steps for each power of two, so that there are few different kernels. More
// shared memory than that is better left to the cache that loads go through.
func (x *PartitionForm) wantedStride(groups float64) int64 {
	wanted := x.localPlaces(int64(groups))
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

var partition = way{
	name:    "partitions",
	applies: func(w *Way) bool { return w.f.Partition != nil },
	row:     (*groupText).partitionRow,
	declare: (*groupText).declareParts,
	flush:   (*groupText).flushParts,
}

// choosePartition decides whether rows are partitioned.
func (w *Way) choosePartition() *PartitionForm {
	k, f := w, w.f
	x := &PartitionForm{tuning: &k.Plan.Target.Tuning, Hashed: f.Shape == PackedGroups || f.Shape == wordGroups}
	groups := f.groups()
	if x.Hashed {
		if groups < hashedLeast || groups*localSlotsPerGroup <= float64(w.localSlots()) || w.choosePerfectHash(w.tableWords(false, true)) != nil {
			return nil
		}
		x.wide = f.Shape == wordGroups || !f.keysFitWord()
	}
	if !x.Hashed && f.Shape != DenseGroups || groups >= math.MaxUint32 || !k.Tiled || k.Many || k.Plan.IsShared(f.Aggregate) || k.MaxRows >= 1<<31 {
		return nil
	}
	if rows := w.rowsIn(); rows < k.Plan.Target.Tuning.PartitionRows || rows < 2*groups {
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
	for x.Passes = x.tuning.PartitionPasses; x.Passes <= 2; x.Passes++ {
		for x.Bits = partitionBitsLeast; x.Bits <= partitionBitsMost; x.Bits++ {
			for x.blocks = 2; x.blocks >= 1; x.blocks-- {
				capacity := tableCapacity(shared, int64(x.blocks))
				if x.Hashed && x.Bits < partitionBitsMost && (x.Passes == 2 || !x.partitionsForAll(k.Plan.Target.Multiprocessors)) {
					continue
				}
				if x.Hashed && !x.ranked() && w.rowsIn() >= x.tuning.PartitionHashRows*groups {
					if t := choosePerfectHashTable(x.tagBytes(), words, groups/float64(int64(1)<<x.Bits), int64(x.blocks), min(capacity, x.tuning.PartitionHashBytes)); t != nil {
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
	return x.slotBytes(words) * (x.localPlaces(int64(groups)) + spareSlots)
}

// PartitionWord is a word of what partitioning uses.
type PartitionWord struct {
	P    *physical.Aggregate
	Pass int
	What partItem
}

type partItem uint8

const (
	PartitionRows partItem = iota
	PartitionCounts
	PartitionCapacity
)

// partitionOut is the C++ of where a pass writes, from a partition of the pass before on.
func (a *groupText) partitionOut(pass int, part string) string {
	k := a.k
	capacity := k.Word(PartitionWord{a.f.Aggregate, pass, PartitionCapacity})
	return fmt.Sprintf("PartOut{%s + %s * parts * %s, %s + %s * parts, %s}",
		k.Pointer("Row", PartitionWord{a.f.Aggregate, pass, PartitionRows}), part, capacity, k.Pointer("u32", PartitionWord{a.f.Aggregate, pass, PartitionCounts}), part, capacity)
}

// partValue is the C++ of the value that a row stands for.
func (a *groupText) partValue(row string) string {
	if a.f.Partition.arg == nil {
		return "(i64)0"
	}
	return fmt.Sprintf("(i64)(%s + row_offset(%s))", a.k.Literal(uint64(a.f.Partition.accs.like.Within.Lo)), row)
}

// addPartitionRow adds a row that is in a partition to group g, here or in shared memory.
func (a *groupText) addPartitionRow(row, place string) {
	k, f := a.k, a.f
	args := make([]codegen.Value, len(f.Accs))
	x := k.Name("x")
	for i, acc := range f.Accs {
		args[i] = acc.like.Value()
		args[i].Text = x
	}
	k.Line("const i64 %s = %s;", x, a.partValue(row))
	a.updateAll(args, place)
}

// partitionRow notes a row. A tile's rows are added to frequent places, or else written to their partitions.
func (a *groupText) partitionRow(keys, args []codegen.Value) {
	k, f := a.k, a.f
	k.Threads, k.Items, k.Blocks = PartitionThreads, f.Partition.Items(), partitionBlocks
	k.Defines = []string{fmt.Sprintf("RADISH_PART_BITS %d", f.Partition.Bits), fmt.Sprintf("RADISH_HOT_BITS %d", f.Partition.hot)}
	if f.Partition.wide {
		k.Defines = append(k.Defines, "RADISH_WIDE_ROWS")
	}
	place, offset := a.partPlace(keys, args), "0"
	for i, acc := range f.Accs {
		if acc == f.Partition.accs {
			offset = fmt.Sprintf("(u32)((u64)%s - %s)", args[i].Text, k.Literal(uint64(acc.like.Within.Lo)))
		}
	}
	k.Line("part_rows[i] = part_row(%s, %s);", place, offset)
	if f.Partition.wide {
		k.Close()
	}
	k.Fill(k.Tile, 2, []string{"Row part_rows[RADISH_ITEMS];", "RADISH_UNROLL", "for (i32 i = 0; i < RADISH_ITEMS; i++) part_rows[i] = pad_row;"})
	k.Tile = ""
	k.EndTile = append(k.Capture(a.hotRows), "parting.tile(part_rows, direct);")
}

// declareParting declares what a pass needs.
func (a *groupText) declareParting(pass int) []string {
	lines := []string{
		"using Parting = Partition<RADISH_ITEMS>;",
		"Parting::Memory& memory = *shared_at<Parting::Memory>(0);",
		fmt.Sprintf("Parting parting(memory, %d);", pass),
		"const auto direct = [&](Row row) { // it found no room",
	}
	for _, l := range a.directLines() {
		lines = append(lines, "  "+l)
	}
	return append(lines, "};")
}

// bytes is what a pass needs of shared memory where a block has so many threads: Partition's Memory.
func (x *PartitionForm) bytes(threads int) int64 {
	tile, parts, row, line := int64(threads*x.Items()), int64(1)<<x.Bits, x.RowBytes(), x.LineRows()
	return row*max(tile+2*parts*line, 1<<x.hot) + row*parts*line + (16+4+8+8)*parts + 16
}

// declareParts is declareParting for the pipeline's kernel, with frequent places.
func (a *groupText) declareParts() []string {
	lines := append(a.declareParting(0), a.declareHot()...)
	return append(lines, fmt.Sprintf("parting.begin(%s);", a.partitionOut(0, "0")))
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

// thenKernel returns a kernel that runs after the pipeline's, and what writes it.
func (a *groupText) thenKernel(suffix string) (*kernel.Kernel, *groupText) {
	k := a.k
	sub := k.Another(suffix)
	return sub, &groupText{k: sub, Way: a.Way}
}

// splitKernel splits each partition.
func (a *groupText) splitKernel() *kernel.Kernel {
	sub, b := a.thenKernel("_split")
	p := a.f.Aggregate
	sub.Shared = kernel.SharedMemory{Threads: a.f.Partition.bytes}
	for _, l := range b.declareParting(1) {
		sub.Line("%s", l)
	}
	capacity := sub.Word(PartitionWord{p, 0, PartitionCapacity})
	sub.Line("const i64 room = (i64)%s;", capacity)
	sub.Line("constexpr i64 chunk = (i64)RADISH_BLOCK * RADISH_ITEMS * %d;", ChunkTiles)
	sub.Line("const i64 chunks = (room + chunk - 1) / chunk;")
	sub.Open("for (i64 item = block_index(); item < parts * chunks; item += grid_size()) {")
	sub.Line("const i64 part = item / chunks, from = (item - part * chunks) * chunk;")
	sub.Line("const i64 end = min_of(min_of((i64)%s[part], room), from + chunk);", sub.Pointer("const u32", PartitionWord{p, 0, PartitionCounts}))
	sub.Line("if (from >= end) continue;")
	sub.Line("parting.begin(%s);", b.partitionOut(1, "part"))
	sub.Open("for (i64 at = from; at < end; at += RADISH_BLOCK * RADISH_ITEMS) {")
	sub.Line("Row rows[RADISH_ITEMS];")
	sub.Line("load_rows(%s + part * room, at, end, rows);", sub.Pointer("const Row", PartitionWord{p, 0, PartitionRows}))
	sub.Line("parting.tile(rows, direct);")
	sub.Close()
	sub.Line("parting.finish(direct);")
	sub.Close()
	return sub
}

// openPlace makes g the group of a place, for what is added to it directly, and notes that there is such. closePlace ends that.
func (a *groupText) openPlace(place string) {
	k := a.k
	k.Line("store_relaxed(%s, 1u);", k.Pointer("u32", kernel.CounterWord{Of: DirectGroups{a.f.Aggregate}}))
	if a.f.Partition.Hashed {
		null := "false"
		if a.nullPlaces() {
			null = place + " == null_place"
		}
		a.openGroup("g", "_aside", a.partKey(place), null)
		return
	}
	k.Line("const u64 g = %s;", place)
}

func (a *groupText) closePlace() {
	if a.f.Partition.Hashed {
		a.k.Close()
	}
}

// directLines are lines that add a row to its group in device memory.
func (a *groupText) directLines() []string {
	return a.k.Capture(func() {
		a.openPlace("row_place(row)")
		a.addPartitionRow("row", "g")
		a.closePlace()
	})
}
