package groupby

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// Groups of a small domain lie in shared memory first: each block adds its rows to a table of its own, of 32-bit words, and adds that to
// all groups when it has no more rows. Atomics on 32 bits are instructions there, those on 64 bits are loops, ten times slower.
// sharedwords.go has the words.

var shared = way{
	name:    "a table in each block",
	applies: func(w *Way) bool { return w.f.Shared },
	row:     (*groupText).sharedRow,
	declare: (*groupText).declareShared,
	flush:   (*groupText).flush,
}

// fitsShared says whether a dense form fits shared memory, its rows being counted or as they are, and is worth it.
func (w *Way) fitsShared(counted bool) bool {
	bytes := w.f.Slots * w.tableWords(counted, false) * 4
	return bytes <= w.SharedBytes() && (bytes <= sharedSmall || w.rowsIn() >= sharedRowsPerSlot*float64(w.f.Slots))
}

// flush adds the block's groups to all.
func (a *groupText) flush() {
	k, f := a.k, a.f
	k.Line("// the block's groups are added to all")
	k.Line("block_barrier();")
	k.Open("RADISH_NO_UNROLL for (u32 g = thread_index(); g < slot_count; g += RADISH_BLOCK) {")
	k.Line("const u32* first = table + (g << copies);")
	counts := map[int]string{}
	k.Line("if (%s == 0) continue;", a.flushCount(counts, f.Taken))
	a.flushWords(counts, "Adds::shared")
	k.Close()
}

// declareShared makes the block's groups empty.
func (a *groupText) declareShared() []string {
	k, f := a.k, a.f
	slots := k.Literal(uint64(f.Slots))
	k.Shared = kernel.SharedMemory{Bytes: f.Slots * int64(f.Words()) * 4, Copied: true}
	lines := []string{
		"// Each block has groups of its own in shared memory, some copies of them, so that threads seldom meet: words of one limb lie by",
		"// group, then by copy.",
		fmt.Sprintf("const u32 copies = (u32)%s;", k.Word(GroupCopies{f.Aggregate})),
		"const u32 copy = thread_index() & ((1u << copies) - 1);",
		fmt.Sprintf("const u32 slot_count = (u32)%s;", slots),
		"const i32 stride = (i32)(slot_count << copies);",
		fmt.Sprintf("u32* table = shared_at<u32>(%d);", k.SourceShared),
	}
	return append(append(lines, a.emptyWords()...), "block_barrier();")
}

// sharedRow adds a row to its group in the block's table.
func (a *groupText) sharedRow(keys, args []codegen.Value) {
	a.k.Threads = a.k.SharedThreads(a.f.Slots * int64(a.f.Words()) * 4)
	a.slotRow(keys, args)
}
