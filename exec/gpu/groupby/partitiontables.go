package groupby

import (
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
)

// The last kernel of partitioned rows: a block adds a partition's rows, or a piece of them, up in a table in shared memory. Its slots are an array of the partition's slots
// (densePartition), or found by hashing: by a search (hashed.go) or by a perfect hash (below).

// tablesKernel adds the rows of each partition up. After one pass there are few partitions: several blocks take pieces of each, if they can add to groups together.
func (a *groupText) tablesKernel() *kernel.Kernel {
	sub, b := a.thenKernel("_tables")
	f := a.f
	last := f.Partition.Passes - 1
	sub.Threads = partition.Threads * 2 / f.Partition.blocks
	sub.Blocks = f.Partition.tables
	pieces := 1
	if last == 0 && !f.Partition.Hashed {
		pieces = 8
	}
	sub.Line("constexpr i64 all = %d, pieces = %d;", 1<<(f.Partition.Bits*f.Partition.Passes), pieces)
	sub.Line("constexpr u32 copies = 0, copy = 0;")
	if t := f.Partition.perfectHash; t != nil {
		sub.Line("constexpr u32 slot_count = %d, spare = slot_count; // slots from there on take what is no row's", t.slots())
		sub.Line("constexpr i32 stride = slot_count + %d;", spareSlots)
		t.declare(sub)
		sub.Functions = append(sub.Functions, b.directFunction())
	} else {
		sub.Line("constexpr i32 stride = %d;", f.Partition.stride)
		sub.Line("constexpr u32 spare = stride - %d; // slots from there on take what is no row's", spareSlots)
		sub.Line("const u32 slot_count = (u32)%s;", sub.Word(PartitionSlots{f.Aggregate}))
		if f.Partition.Hashed {
			b.declareTags()
		} else {
			sub.Line("u32* table = shared_at<u32>(0);")
		}
	}
	sub.Line("const i64 capacity = (i64)%s;", sub.Word(partition.Word{Of: f.Aggregate, Pass: last, What: partition.Capacity}))
	from, end := "0", "all * pieces"
	if f.Partition.Moves { // which is in the second pass, whose partitions follow each other as those of the first do
		sub.Line("const u64* const others = %s;", sub.Pointer("const u64", partition.Word{Of: f.Aggregate, Pass: 0, What: partition.Others}))
		from, end = "(i64)others[0] * partitions", "(i64)others[1] * partitions"
	}
	sub.Open("for (i64 item = %s + block_index(); item < %s; item += grid_size()) {", from, end)
	sub.Line("const i64 partition = item / pieces, piece = item - partition * pieces;")
	sub.Line("const i64 lines = min_of((i64)%s[partition], capacity) / line_rows;", sub.Pointer("const u32", partition.Word{Of: f.Aggregate, Pass: last, What: partition.Counts}))
	sub.Line("const i64 from = lines * piece / pieces * line_rows, end = lines * (piece + 1) / pieces * line_rows;")
	sub.Line("if (from == end) continue;")
	switch {
	case f.Partition.perfectHash != nil:
		b.perfectHashText()
	case f.Partition.ranked():
		b.rankedPartition()
	case f.Partition.Hashed:
		b.taggedPartition()
	default:
		b.densePartition(pieces)
	}
	sub.Line("block_barrier();")
	sub.Close()
	sub.Shared = kernel.SharedMemory{Bytes: f.Partition.partitionTable(int64(f.Words()))}
	return sub
}

// sizePartition decides how many blocks share a multiprocessor that add partitions up, and how many slots their tables have.
func (feed *Feed) sizePartition() {
	x, shared := feed.f.Partition, feed.Pipelines.Target.SharedBytes
	x.hot = feed.hotBits()
	x.tables = x.blocks
	switch {
	case x.blocks == 1:
	case x.ranked():
		x.tables = rankBlocks
	case x.Passes == 2:
		x.tables = tableBlocks
	}
	for x.tables > x.blocks && x.table > tableCapacity(shared, int64(x.tables)) {
		x.tables--
	}
	if x.perfectHash == nil {
		x.stride = min(x.wantedStride(feed.f.groups()), (tableCapacity(shared, int64(x.tables))-x.rankBytes())/x.slotBytes(int64(feed.f.Words()))&^3)
	}
}

// Where a partition has many rows for each of its groups, its block first looks at some of the rows. It makes a perfect hash of the keys that it finds there
// (gpukernels/device/perfecthash.cuh), as perfecthash.go does for few groups. Each of the rows then looks at one slot. An eighth of the slots is searched, for keys
// that were not found or have no slot.

const (
	searchedShare     = 8   // one of so many slots is searched
	partitionHashFull = 0.8 // of a partition's hashed slots, at most, where the number of groups is as expected
	seenPerSlot       = 8   // rows for each hashed slot that are looked at before
)

// newPerfectHashTable makes as many slots as fit so many bytes.
func newPerfectHashTable(tag, words, bytes int64) *PerfectHashTable {
	t := &PerfectHashTable{tag: tag, words: words}
	slot := tag + max(4*words, tag+4) // 2 bytes of each slot are for the list of tags, 2 for the buckets
	t.buckets = kernel.PowerOfTwo(int64(float64(bytes/slot) / slotsPerBucket))
	slots := (bytes-t.buckets)/slot - spareSlots
	if 5*t.buckets > 2*slots {
		t.buckets /= 2
	}
	t.searched = slots / searchedShare &^ 3
	t.hashed = (slots - t.searched) &^ 3
	return t
}

// perfectHashTable returns a table for so many groups where some blocks share a multiprocessor, each of which has at most so much capacity. Where that is enough, it is one that leaves
// a quarter of the memory to the cache that loads go through. nil: the groups do not fit.
func (x *PartitionForm) perfectHashTable(words int64, groups float64, capacity int64) *PerfectHashTable {
	for _, bytes := range []int64{min(x.tuning.PerfectHashCache/int64(x.blocks)-2*kernel.BlockShared, capacity), capacity} {
		if t := newPerfectHashTable(x.tagBytes(), words, bytes); t.fits(groups) {
			return t
		}
	}
	return nil
}

func (t *PerfectHashTable) slots() int64 { return t.hashed + t.searched }

// scratch is where the buckets' numbers begin behind the tags: behind the words, or what placing needs instead of them.
func (t *PerfectHashTable) scratch() int64 {
	return max(4*t.words*(t.slots()+spareSlots), (t.tag+2)*t.slots()+5*t.buckets)
}

// fits says whether so many groups are expected to have slots.
func (t *PerfectHashTable) fits(groups float64) bool {
	return groups <= partitionHashFull*float64(t.hashed)
}

// declare declares the table.
func (t *PerfectHashTable) declare(k *kernel.Kernel) {
	k.Line("using PerfectHash = PerfectHashTable<RadixKey, %d, %d, %d>;", t.hashed, t.searched, bits.TrailingZeros64(uint64(t.buckets)))
	k.Line("RadixKey* tags = shared_at<RadixKey>(0);")
	k.Line("u32* table = reinterpret_cast<u32*>(tags + stride);")
	k.Line("const PerfectHash perfect{tags, shared_at<u8>(%d), shared_at<RadixKey>(%d)};", t.tag*(t.slots()+spareSlots)+t.scratch(), t.tag*(t.slots()+spareSlots))
}

// perfectHashText writes what makes the groups of a partition with a perfect hash.
func (a *groupText) perfectHashText() {
	k, items := a.k, a.f.Partition.Items()
	k.Line("perfect.clear();")
	k.Line("block_barrier();")
	k.Line("constexpr i64 tile = RADISH_BLOCK * %d, wanted = PerfectHash::slots * %d / tile + 1; // tiles whose keys the perfect hash has", items, seenPerSlot)
	k.Line("const i64 step = max_of((end - from) / (tile * wanted), (i64)1) * tile;")
	k.Open("for (i64 at = from; at < end; at += step) {")
	a.partitionRows(items, "min_of(end, at + tile)")
	a.each(items, func() {
		k.Line("perfect.see(radix_key_of(rows[i]));")
		k.Line("warp_barrier(full_mask());")
	})
	k.Close()
	k.Line("perfect.build();")
	a.emptyPartition("slot_count")
	k.Line("block_barrier();")
	a.partitionTiles(items, func() {
		k.Line("RADISH_UNROLL")
		k.Open("for (i32 next = 0; next < %d; next += %d) {", items, tableItems)
		k.Line("u32 slots[%d];", tableItems)
		k.Line("bool missed = false;")
		a.each(tableItems, func() {
			k.Line("const RadixKey tag = radix_key_of(rows[next + i]);")
			k.Line("slots[i] = perfect.slot(tag);")
			k.Line("missed |= slots[i] == no_slot;")
		})
		k.Open("if (warp_any(full_mask(), missed)) {")
		a.each(tableItems, func() {
			k.Line("const RadixKey tag = radix_key_of(rows[next + i]);")
			k.Line("const bool lost = slots[i] == no_slot && tag != PerfectHash::none;")
			k.Line("if (lost) slots[i] = perfect.search(tag);")
			k.Line("warp_barrier(full_mask()); // the threads of a warp look for their slots together")
			k.Line("if (lost && slots[i] == no_slot) %s_direct(p, rows[next + i]);", k.Title)
			k.Line("if (slots[i] == no_slot) slots[i] = spare + lane();")
			k.Line("warp_barrier(full_mask());")
		})
		k.Close()
		a.addTogether(tableItems, "rows[next + i]", false)
		k.Close()
	})
	k.Line("block_barrier();")
	a.appendGroups("slot_count")
}

// bytes is what the table takes of shared memory.
func (t *PerfectHashTable) bytes() int64 {
	return t.tag*(t.slots()+spareSlots) + t.scratch() + t.buckets
}

// tableBytes is what a partition's table wants of shared memory.
func (x *PartitionForm) tableBytes(groups float64, words int64) int64 {
	if x.Hashed {
		return x.slotBytes(words)*(x.partitionSlots(groups)+spareSlots) + x.rankBytes()
	}
	return x.slotBytes(words) * (x.slotsOfEach(int64(groups)) + spareSlots)
}

// partitionTable is what a partition's table takes of shared memory.
func (x *PartitionForm) partitionTable(words int64) int64 {
	if x.perfectHash != nil {
		return x.perfectHash.bytes()
	}
	return x.stride*x.slotBytes(words) + x.rankBytes()
}
