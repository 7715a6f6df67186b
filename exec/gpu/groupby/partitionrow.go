package groupby

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
)

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
	return fmt.Sprintf("(i64)(%s + row_offset(%s))", a.k.Literal(uint64(a.f.Partition.accs.like.Within.Lo)), row)
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
	k.Line("if (%s == 0) continue;", a.flushCount(counts, f.Taken))
	k.Line("const u64 g = global_radix_key((u64)partition, local, %d);", f.Partition.Passes)
	a.flushWords(counts, how)
	k.Close()
}
