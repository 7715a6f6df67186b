package groupby

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// The last kernel of partitioned rows: a block adds a partition's rows, or a piece of them, up in a table in shared memory. Its slots are an array of the partition's places
// (densePart), or found by hashing (hashed.go, partitionhash.go).

// tablesKernel adds the rows of each partition up. After one pass there are few partitions: several blocks take pieces of each, if they can add to groups together.
func (a *groupText) tablesKernel() *kernel.Kernel {
	sub, b := a.thenKernel("_tables")
	f := a.f
	last := f.Partition.Passes - 1
	sub.Threads = PartitionThreads * 2 / f.Partition.blocks
	sub.Blocks = f.Partition.tables
	pieces := 1
	if last == 0 && !f.Partition.Hashed {
		pieces = 8
	}
	sub.Line("constexpr i64 all = %d, pieces = %d;", 1<<(f.Partition.Bits*f.Partition.Passes), pieces)
	sub.Line("constexpr u32 copies = 0, copy = 0;")
	if t := f.Partition.perfectHash; t != nil {
		sub.Line("constexpr u32 places = %d, spare = places; // slots from there on take what is no row's", t.slots())
		sub.Line("constexpr i32 stride = places + %d;", spareSlots)
		t.declare(sub)
		sub.Functions = append(sub.Functions, b.directFunction())
	} else {
		sub.Line("constexpr i32 stride = %d;", f.Partition.stride)
		sub.Line("constexpr u32 spare = stride - %d; // slots from there on take what is no row's", spareSlots)
		sub.Line("const u32 places = (u32)%s;", sub.Word(PartitionSlots{f.Aggregate}))
		if f.Partition.Hashed {
			b.declareTags()
		} else {
			sub.Line("u32* table = shared_at<u32>(0);")
		}
	}
	sub.Line("const i64 room = (i64)%s;", sub.Word(PartitionWord{f.Aggregate, last, PartitionCapacity}))
	sub.Open("for (i64 item = block_index(); item < all * pieces; item += grid_size()) {")
	sub.Line("const i64 part = item / pieces, piece = item - part * pieces;")
	sub.Line("const i64 lines = min_of((i64)%s[part], room) / line_rows;", sub.Pointer("const u32", PartitionWord{f.Aggregate, last, PartitionCounts}))
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
func (w *Way) sizePartition() {
	x, shared := w.f.Partition, w.Plan.Target.SharedBytes
	x.hot = w.hotBits()
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
		x.stride = min(x.wantedStride(w.f.groups()), (tableCapacity(shared, int64(x.tables))-x.rankBytes())/x.slotBytes(int64(w.f.Words()))&^3)
	}
}

// partitionTiles writes a loop over a partition's rows, of which a thread takes so many at once.
func (a *groupText) partitionTiles(items int, body func()) {
	k := a.k
	k.Open("for (i64 at = from; at < end; at += RADISH_BLOCK * %d) {", items)
	a.partitionRows(items, "end")
	body()
	k.Close()
}

// partitionRows writes the loading of so many of a partition's rows, from at up to an end.
func (a *groupText) partitionRows(items int, end string) {
	k, last := a.k, a.f.Partition.Passes-1
	k.Line("Row rows[%d];", items)
	k.Line("load_rows(%s + part * room, at, %s, rows);", k.Pointer("const Row", PartitionWord{a.f.Aggregate, last, PartitionRows}), end)
}

// emptyPartition makes so many slots empty.
func (a *groupText) emptyPartition(slots string) {
	k := a.k
	k.Open("for (u32 i = thread_index(); i < %s; i += RADISH_BLOCK) {", slots)
	for _, acc := range a.f.Accs {
		for limb := range acc.limbs {
			k.Line("table[%d * stride + i] = %s;", acc.limb+limb, acc.noWord())
		}
	}
	k.Close()
}

// someTogether writes a loop over a thread's rows, so many, that adds some of them together: row is row number i of them, slot its place in the table.
func (a *groupText) someTogether(items int, slot string, check func()) {
	k := a.k
	together := min(items, tableItems)
	k.Line("RADISH_UNROLL")
	k.Open("for (i32 next = 0; next < %d; next += %d) {", items, together)
	k.Line("u32 slots[%d];", together)
	a.each(together, func() {
		k.Line("const Row row = rows[next + i];")
		k.Line("slots[i] = !is_pad(row) ? %s : spare + lane();", slot)
		if check != nil {
			check()
		}
	})
	a.addTogether(together, "rows[next + i]", false)
	k.Close()
}

// densePartition writes what makes the groups of a partition of a dense domain, or of a piece of it.
func (a *groupText) densePartition(pieces int) {
	k, f := a.k, a.f
	a.emptyPartition("places")
	k.Line("block_barrier();")
	a.partitionTiles(f.Partition.Items(), func() {
		a.someTogether(f.Partition.Items(), fmt.Sprintf("local_place(row_place(row), %d)", f.Partition.Passes), nil)
	})
	k.Line("block_barrier();")
	how := "Adds::shared"
	if pieces == 1 {
		how = "how"
		k.Line("const Adds how = load_relaxed(%s) ? Adds::alone : Adds::first;", k.Pointer("u32", kernel.CounterWord{Of: DirectGroups{f.Aggregate}}))
	}
	k.Open("for (u32 local = thread_index(); local < places; local += RADISH_BLOCK) {")
	k.Line("const u32* first = table + local;")
	counts := map[int]string{}
	k.Line("if (%s == 0) continue;", a.flushCount(counts, f.Taken))
	k.Line("const u64 g = global_place((u64)part, local, %d);", f.Partition.Passes)
	a.flushWords(counts, how)
	k.Close()
}
