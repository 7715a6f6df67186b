package groupby

import (
	"fmt"

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
func (w *Way) hotBits() int {
	x := w.f.Partition
	free := (w.Plan.Target.SharedBytes+kernel.SharedRest)/partition.Blocks - kernel.BlockShared - x.bytes(partition.Threads)
	bits := hotBitsMost
	if x.Bits == partitionBitsMost {
		bits--
	}
	for bits > hotBitsLeast && w.hotBytes(bits) > free {
		bits--
	}
	return bits
}

// hotBytes is what so many frequent slots take of shared memory: a tag and words each.
func (w *Way) hotBytes(bits int) int64 {
	return (w.f.Partition.tagBytes() + 4*int64(w.f.Words())) << bits
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
// With some, the slots are those of frequent groups, which tags holds, and a row may have none. Otherwise such rows have slots from spare on: that costs less than to test each
// row. Extremes are not read before they are written then, since almost every warp has a row that changes one.
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
