package groupby

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
)

// A few slots may have a good part of all rows. A block that partitions looks for them in its first tiles (partition.cuh), and adds their rows up itself, in
// words in shared memory. Other rows are partitioned.

// Limits of the table of frequent slots.
const (
	hotBitsLeast, hotBitsMost = 9, 10 // more would be taken from the cache that loads go through
)

// hotBits is log2 of the number of frequent slots that a block keeps.
func (feed *Feed) hotBits() int {
	x := feed.f.Partition
	free := (feed.Pipelines.Target.SharedBytes+kernel.SharedRest)/partition.Blocks - kernel.BlockShared - x.bytes(partition.Threads)
	bits := hotBitsMost
	if x.Bits == partitionBitsMost {
		bits--
	}
	for bits > hotBitsLeast && feed.hotBytes(bits) > free {
		bits--
	}
	return bits
}

// hotBytes is what so many frequent slots take of shared memory: a tag and words each.
func (feed *Feed) hotBytes(bits int) int64 {
	return (feed.f.Partition.tagBytes() + 4*int64(feed.f.Words())) << bits
}

// declareHot declares the table.
func (a *groupText) declareHot() []string {
	k, x := a.k, a.f.Partition
	k.Shared = kernel.SharedMemory{Bytes: a.hotBytes(x.hot), Threads: x.bytes}
	return []string{
		"// frequent slots have words of their own in shared memory; first these count",
		"RadixKey* tags = shared_at<RadixKey>(sizeof(Partitioning::Memory));",
		"u32* table = reinterpret_cast<u32*>(tags + hot_slots);",
		"constexpr u32 copies = 0, copy = 0, slot_count = hot_slots;",
		"constexpr i32 stride = hot_slots;",
		"HotSearch search(tags, table, reinterpret_cast<RadixKey*>(memory.sorted)); // nothing waits there between tiles",
		"bool hot = false;",
	}
}

// hotRows writes what takes the rows of frequent slots out of a tile's.
func (a *groupText) hotRows() {
	k, items := a.k, a.f.Partition.Items()
	k.Open("if (hot) {")
	k.Line("u32 slots[RADISH_ITEMS];")
	a.each(items, func() {
		k.Line("slots[i] = !is_pad(partition_rows[i]) ? hot_slot(tags, radix_key_of(partition_rows[i])) : no_slot;")
	})
	a.addTogether(items, "partition_rows[i]", true)
	a.each(items, func() { k.Line("if (slots[i] != no_slot) partition_rows[i] = pad_row;") })
	k.Close()
	k.Open("if (!hot && search.goes_on()) {")
	k.Line("hot = search.tile(partition_rows, t.left());")
	k.Open("if (hot) {")
	for _, l := range a.emptyWords() {
		k.Line("%s", l)
	}
	k.Line("block_barrier();")
	k.Close()
	k.Close()
}

// flushHot adds the table's words to the groups.
func (a *groupText) flushHot() {
	k := a.k
	k.Open("RADISH_NO_UNROLL for (u32 slot = thread_index(); hot && slot < hot_slots; slot += RADISH_BLOCK) {")
	k.Line("if (tags[slot] == not_hot) continue;")
	a.openSlot("tags[slot]")
	k.Line("const u32* first = table + slot;")
	a.flushWords(map[int]string{}, addsShared)
	a.closeSlot()
	k.Close()
}

// each writes a loop over items of a thread.
func (a *groupText) each(items int, body func()) {
	a.k.Line("RADISH_UNROLL")
	a.k.Open("for (i32 i = 0; i < %d; i++) {", items)
	body()
	a.k.Close()
}

// addTogether adds rows of partitions to words in shared memory: row, which is C++ that depends on i, to the words of slots[i]. All rows take each step together, so that they
// wait for memory at the same time.
//
// With some, the slots are those of frequent groups, which tags holds, and a row may have none. Otherwise such rows have slots from spare on, which saves a
// test. Extremes are not read before they are written then, since almost every warp changes one.
func (a *groupText) addTogether(items int, row string, some bool) {
	k, f := a.k, a.f
	here := func(then, otherwise string) string {
		if some {
			return fmt.Sprintf("slots[i] != no_slot ? %s : %s", then, otherwise)
		}
		return then
	}
	for _, acc := range f.Accs {
		if acc.in != nil {
			continue // the sum counts
		}
		words := fmt.Sprintf("table + %d * stride + slots[i]", acc.limb)
		switch acc.op {
		case accCount:
			a.each(items, func() {
				if some {
					k.Line("if (slots[i] == no_slot) continue;")
				}
				k.Line("atomic_add(%s, 1u);", words)
			})
		case accSum:
			k.Line("u32 sums[%d];", items)
			a.each(items, func() { k.Line("sums[i] = %s;", here(fmt.Sprintf("atomic_add(%s, row_offset(%s))", words, row), "0")) })
			a.each(items, func() {
				k.Line("sums[i] = %s;", here(fmt.Sprintf("atomic_add(%s + stride, one_counted(sums[i], row_offset(%s)))", words, row), "0"))
			})
			k.Line("bool any_full = false;")
			a.each(items, func() { k.Line("any_full |= last_counted(sums[i]);") })
			k.Open("if (any_full) { // 2^15 rows: seldom, so that one copy of the code is enough, and what it indexes is copied")
			slot := "tags[from[i]]"
			if !some {
				slot = "radix_key_of(moved[i])"
				k.Line("Row moved[%d];", items)
			}
			k.Line("u32 from[%d], full = 0;", items)
			a.each(items, func() {
				if !some {
					k.Line("moved[i] = %s;", row)
				}
				k.Line("from[i] = slots[i];")
				k.Line("full |= (u32)last_counted(sums[i]) << i;")
			})
			k.Line("RADISH_NO_UNROLL")
			k.Open("for (i32 i = 0; i < %d; i++) {", items)
			if some {
				k.Line("if (!(full >> i & 1)) continue;")
			} else {
				k.Line("if (!(full >> i & 1) || from[i] >= spare || is_pad(moved[i])) continue;")
			}
			a.global, a.closeGlobal = func() { a.openSlot(slot) }, a.closeSlot
			a.move(acc, fmt.Sprintf("table + %d * stride + from[i]", acc.limb))
			k.Close()
			k.Close()
		default:
			name := acc.extreme()
			if !some {
				a.each(items, func() { k.Line("atomic_%s(%s, row_offset(%s));", name, words, row) })
				continue
			}
			compare := [...]string{"<", ">"}[acc.op-accMin]
			none := [...]string{"0", "~0u"}[acc.op-accMin] // nothing is better
			best := k.Name("best")
			k.Line("u32 %s[%d];", best, items)
			a.each(items, func() { k.Line("%s[i] = slots[i] != no_slot ? load_relaxed(%s) : %s;", best, words, none) })
			a.each(items, func() {
				k.Line("if (row_offset(%s) %s %s[i]) atomic_%s(%s, row_offset(%s));", row, compare, best, name, words, row)
			})
		}
	}
}

// Rows that lie in partitions.

// directLines are lines that add a row to its group in device memory.
func (a *groupText) directLines() []string {
	return a.k.Capture(func() {
		a.openSlot("radix_key_of(row)")
		a.addPartitionRow("row", "g")
		a.closeSlot()
	})
}

// addPartitionRow adds a row that is in a partition to group g, here or in shared memory.
func (a *groupText) addPartitionRow(row, slot string) {
	k, f := a.k, a.f
	args := make([]codegen.Value, len(f.Accs))
	x := k.Name("x")
	for i, acc := range f.Accs {
		args[i] = acc.like.Value()
		args[i].Text = x
	}
	k.Line("const i64 %s = %s;", x, a.partitionValue(row))
	a.updateAll(args, slot)
}

// partitionValue is the C++ of the value that a row stands for.
func (a *groupText) partitionValue(row string) string {
	if a.f.Partition.arg == nil {
		return "(i64)0"
	}
	return fmt.Sprintf("(i64)(%s + row_offset(%s))", a.k.Literal(uint64(a.f.Partition.acc.like.Within.Lo)), row)
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
	k.Line("load_rows(%s + partition * capacity, at, %s, rows);", k.Pointer("const Row", partition.Word{Of: a.f.Aggregate, Pass: last, What: partition.Rows}), end)
}

// someTogether writes a loop over a thread's rows, so many, that adds some of them together: row is row number i of them, slot its slot in the table.
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
	a.emptyPartition("slot_count")
	k.Line("block_barrier();")
	a.partitionTiles(f.Partition.Items(), func() {
		a.someTogether(f.Partition.Items(), fmt.Sprintf("local_radix_key(radix_key_of(row), %d)", f.Partition.Passes), nil)
	})
	k.Line("block_barrier();")
	how := addsShared
	if pieces == 1 {
		how = "how"
		k.Line("const Adds how = load_relaxed(%s) ? Adds::alone : Adds::first;", k.Pointer("u32", kernel.CounterWord{Of: DirectGroups{f.Aggregate}}))
	}
	k.Open("for (u32 local = thread_index(); local < slot_count; local += RADISH_BLOCK) {")
	k.Line("const u32* first = table + local;")
	counts := map[int]string{}
	k.Line("if (%s == 0) continue;", a.flushCount(counts, f.taken))
	k.Line("const u64 g = global_radix_key((u64)partition, local, %d);", f.Partition.Passes)
	a.flushWords(counts, how)
	k.Close()
}
