package groupby

import (
	"fmt"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// Groups of a small domain lie in shared memory first: each block adds its rows to a table of its own, of 32-bit words, and adds that to
// all groups when it has no more rows. Atomics on 32 bits are instructions there, those on 64 bits are loops, ten times slower.
// sharedwords.go has the words.

var shared = algorithm{
	name:    "a table in each block",
	applies: func(feed *Feed) bool { return feed.f.shared },
	row:     (*groupText).sharedRow,
	declare: (*groupText).declareShared,
	flush:   (*groupText).flush,
	copies:  (*Form).tables,
}

// fitsShared says whether a dense form fits shared memory, its rows being counted or as they are, and is worth it.
func (feed *Feed) fitsShared(counted bool) bool {
	bytes, tuning := feed.f.Slots*feed.tableWords(counted, false)*4, &feed.Pipelines.Target.Tuning.Shared
	return bytes <= feed.SharedBytes() && (bytes <= tuning.Small || feed.rowsIn() >= tuning.SlotRows*float64(feed.f.Slots))
}

// tables is the binary logarithm of the number of tables that a block has, if so many bytes of its shared memory are left for them.
func (f *Form) tables(t *kernel.SharedGroups, left int64) (log int) {
	for log < 5 && (f.Slots*int64(f.Words())*4)<<(log+1) <= min(t.Copied, left) {
		log++
	}
	return log
}

// flush adds the block's groups to all.
func (a *groupText) flush() {
	k, f := a.k, a.f
	k.Line("// the block's groups are added to all")
	k.Line("block_barrier();")
	k.Open("RADISH_NO_UNROLL for (u32 g = thread_index(); g < slot_count; g += RADISH_BLOCK) {")
	k.Line("const u32* first = table + (g << copies);")
	counts := map[int]string{}
	k.Line("if (%s == 0) continue;", a.flushCount(counts, f.taken))
	a.flushWords(counts, addsShared)
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

// Groups so few that a block has many copies of all are laid out by copy: the words of a group's copy lie side by side, so that a row
// computes one address. Their number is odd, so that the copies of a warp's threads begin in different banks.
//
// A sum of values that span less than 2^48 is a word for each 16 bits of their offsets from the least value. A copy gets at most copyRows rows of a
// launch, so no word overflows and nothing is carried.

const (
	copyRows  = 1 << 16 // rows of a launch that a copy may get
	copiesLow = 8       // that a table has at least to be laid out so
)

var copies = algorithm{
	name:    "copies of a table in each block",
	applies: func(feed *Feed) bool { return feed.f.byCopy },
	row:     (*groupText).sharedRow,
	declare: (*groupText).declareCopies,
	flush:   (*groupText).flushCopies,
	copies:  (*Form).tables,
	// No copy of a block's groups gets more than copyRows rows: blocks take tiles in turn, and the copies of one the rows of a tile.
	blockRows: func(copies int) int64 { return copyRows << copies },
}

// pieces is how many words of 16 bits a sum's offsets have; 0: too many, or its values are not counted or not known well enough.
func (feed *Feed) pieces(acc *Accumulator) int {
	if !acc.like.Known || acc.like.Class != form.Int || feed.countOf(acc) < 0 {
		return 0
	}
	n := (bits.Len64(uint64(acc.like.Within.Hi)-uint64(acc.like.Within.Lo)) + 15) / 16
	if n > copyPieces {
		return 0
	}
	return max(n, 1)
}

// chooseCopies lays the groups out by copy, if they are few, all accumulators allow it, and a row of the source is at most one here.
func (feed *Feed) chooseCopies() {
	f := feed.f
	if !f.shared || feed.GivesMany || feed.Apart || feed.Pipelines.IsShared(f.Aggregate) { // a join in partitions is one launch
		return
	}
	limbs := make([]int, len(f.Accs))
	words := 0
	for i, acc := range f.Accs {
		limbs[i] = acc.limbs
		switch acc.op {
		case accSum:
			if limbs[i] = feed.pieces(acc); limbs[i] == 0 {
				return
			}
		case accFloatSum, accFloatSquares, accBitAnd, accBitOr, accBitXor:
			return
		case accMin, accMax:
			if acc.isWideExtreme() {
				return
			}
		}
		words += limbs[i]
	}
	if f.Slots*int64(words|1)*4*copiesLow > feed.Pipelines.Target.Tuning.Shared.Copied {
		return
	}
	f.byCopy = true
	for i, acc := range f.Accs {
		acc.limbs = limbs[i]
		acc.hasOffset = acc.hasOffset || acc.op == accSum
	}
}

// declareCopies makes the block's groups empty.
func (a *groupText) declareCopies() []string {
	k, f := a.k, a.f
	k.Shared = kernel.SharedMemory{Bytes: f.Slots * int64(f.Words()) * 4, Copied: true}
	lines := []string{
		"// Each block has groups of its own in shared memory, some copies of them, so that threads seldom meet.",
		fmt.Sprintf("constexpr i32 words = %d; // of a group", f.Words()),
		fmt.Sprintf("const u32 copies = (u32)%s, slot_count = (u32)%s;", k.Word(GroupCopies{f.Aggregate}), k.Literal(uint64(f.Slots))),
		fmt.Sprintf("u32* table = shared_at<u32>(%d);", k.SourceShared),
		"RADISH_NO_UNROLL for (i32 i = thread_index(); i < (i32)(slot_count << copies); i += RADISH_BLOCK) {",
		"  RADISH_NO_UNROLL for (i32 w = 0; w < words; w++) table[i * words + w] = 0;",
	}
	for _, acc := range f.Accs {
		if acc.op == accMin && acc.limbs > 0 {
			lines = append(lines, fmt.Sprintf("  table[i * words + %d] = ~0u;", acc.limb)) // by the thread that has just set it to 0
		}
	}
	return append(lines,
		"}",
		"const SharedWord mine = shared_word(table + (thread_index() & ((1u << copies) - 1)) * words);",
		"const u32 group = kept(words << copies); // words of all its copies",
		"block_barrier();")
}

// flushCopies adds the block's groups to all.
func (a *groupText) flushCopies() {
	k, f := a.k, a.f
	k.Line("// the block's groups are added to all")
	k.Line("block_barrier();")
	k.Open("RADISH_NO_UNROLL for (u32 g = thread_index(); g < slot_count; g += RADISH_BLOCK) {")
	k.Line("const u32* first = table + g * group;")
	counts := map[int]string{}
	count := func(i int) string {
		if counts[i] == "" {
			counts[i] = k.Name("n")
			k.Line("u64 %s = 0;", counts[i])
			k.Line("RADISH_NO_UNROLL for (u32 c = 0; c < 1u << copies; c++) %s += first[c * words + %d];", counts[i], f.Accs[i].limb)
		}
		return counts[i]
	}
	k.Line("if (%s == 0) continue;", count(f.taken))
	for i, acc := range f.Accs {
		if acc.limbs == 0 {
			continue
		}
		at := func(i int) string { return a.arrayOf(acc, i) + " + g" }
		switch acc.op {
		case accCount:
			k.Line("add_group(%s, %s, Adds::shared);", at(0), count(i))
		case accMin, accMax:
			name := acc.extreme()
			best := k.Name("best")
			k.Line("u32 %s = first[%d];", best, acc.limb)
			k.Line("RADISH_NO_UNROLL for (u32 c = 1; c < 1u << copies; c++) %s = %s_of(%s, first[c * words + %d]);", best, name, best, acc.limb)
			k.Line("%s_group(%s, (i64)(%s + %s), Adds::shared);", name, at(0), best, k.Literal(uint64(acc.like.Within.Lo)))
		default:
			n := count(a.countOf(acc))
			sum := k.Name("sum")
			k.Line("i128 %s = (i128)(i64)%s * (i64)%s;", sum, k.Literal(uint64(acc.like.Within.Lo)), n)
			k.Line("RADISH_NO_UNROLL for (u32 c = 0; c < 1u << copies; c++) %s += read_pieces<%d>(first + c * words + %d);", sum, acc.limbs, acc.limb)
			if acc.narrow {
				k.Line("add_group(%s, (u64)%s, Adds::shared);", at(0), sum)
			} else {
				k.Line("add_group(%s, %s, %s, Adds::shared);", at(0), at(1), sum)
			}
		}
	}
	k.Close()
}
