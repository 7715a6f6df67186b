package groupby

import (
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
)

// The last kernel of partitioned rows: a block adds a partition's rows, or a piece of them, up in a table in shared memory. Its slots are an array of the partition's slots
// (densePart), or found by hashing (hashed.go, partitionhash.go).

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
	sub.Line("const i64 room = (i64)%s;", sub.Word(partition.Word{Of: f.Aggregate, Pass: last, What: partition.Capacity}))
	sub.Open("for (i64 item = block_index(); item < all * pieces; item += grid_size()) {")
	sub.Line("const i64 part = item / pieces, piece = item - part * pieces;")
	sub.Line("const i64 lines = min_of((i64)%s[part], room) / line_rows;", sub.Pointer("const u32", partition.Word{Of: f.Aggregate, Pass: last, What: partition.Counts}))
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
