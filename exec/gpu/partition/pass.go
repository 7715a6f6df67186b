package partition

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// Out is the C++ of where a pass writes, from a partition of the pass before on.
func (f *Form) Out(k *kernel.Kernel, of any, pass int, part string) string {
	if f.HasRanges {
		return fmt.Sprintf("PartitionRanges{%s, %s + %s * partitions, %s + %s * partitions}", k.Pointer("Row", Word{of, pass, Rows}), k.Pointer("u32", Word{of, pass, Counts}), part, k.Pointer("const u32", Word{of, pass, Begins}), part)
	}
	capacity := k.Word(Word{of, pass, Capacity})
	return fmt.Sprintf("EqualPartitions{%s + %s * partitions * %s, %s + %s * partitions, %s}",
		k.Pointer("Row", Word{of, pass, Rows}), part, capacity, k.Pointer("u32", Word{of, pass, Counts}), part, capacity)
}

// Declare declares what a pass needs. direct are lines that see to a row without a slot.
func (f *Form) Declare(pass int, direct []string) []string {
	using := "using Partitioning = Partitioner<RADISH_ITEMS>;"
	if f.HasRanges {
		using = "using Partitioning = Partitioner<RADISH_ITEMS, PartitionRanges>;"
	}
	lines := []string{
		using,
		"Partitioning::Memory& memory = *shared_at<Partitioning::Memory>(0);",
		fmt.Sprintf("Partitioning partitioner(memory, %d);", pass),
	}
	if len(direct) == 0 {
		return append(lines, "const auto direct = [](const Row&) {}; // the counters say how much capacity is missing")
	}
	lines = append(lines, "const auto direct = [&](Row row) { // its partition is full")
	for _, l := range direct {
		lines = append(lines, "  "+l)
	}
	return append(lines, "};")
}

// Tile writes the end of a scan's tile, whose rows are in partition_rows; between stands what is done to them before.
func Tile(k *kernel.Kernel, between func()) {
	k.Fill(k.Tile, 2, []string{"Row partition_rows[RADISH_ITEMS];", "RADISH_UNROLL", "for (i32 i = 0; i < RADISH_ITEMS; i++) partition_rows[i] = pad_row;"})
	k.Tile = ""
	if between != nil {
		k.EndTile = k.Capture(between)
	}
	k.EndTile = append(k.EndTile, "partitioner.tile(partition_rows, direct);")
}

// Split writes a kernel that splits each partition of the first pass. direct are lines as of Declare. If rows move, it goes over some partitions only, and over the rows that other devices
// have of them besides, where these lie. Of partitions with ranges it may do so: the address of Others is not 0 then.
func (f *Form) Split(sub *kernel.Kernel, of any, direct []string, shared kernel.SharedMemory) {
	sub.Shared = shared
	for _, l := range f.Declare(1, direct) {
		sub.Line("%s", l)
	}
	sub.Line("constexpr i64 chunk = (i64)RADISH_BLOCK * RADISH_ITEMS * %d;", ChunkTiles)
	sub.Line("i64 item = block_index(), before = 0; // chunks of all partitions: this block's next one, and those of the partitions before")
	counts, rows := sub.Pointer("const u32", Word{of, 0, Counts}), sub.Pointer("const Row", Word{of, 0, Rows})
	moves := f.HasRanges || f.Moves
	if moves {
		sub.Line("const u64* const others = %s;", sub.Pointer("const u64", Word{of, 0, Others}))
		sub.Line("const i64 first = others ? (i64)others[0] : 0, end_of_all = others ? (i64)others[1] : (i64)partitions, sources = others ? (i64)others[2] : 0;")
		sub.Open("for (i64 partition = first; partition < end_of_all; partition++) {")
		sub.Open("for (i64 source = 0; source <= sources; source++) {")
		sub.Line("const Row* source_rows = %s;", rows)
		if f.HasRanges {
			sub.Line("const u32 *counts = %s, *first_row = %s;", counts, sub.Pointer("const u32", Word{of, 0, Begins}))
		} else {
			sub.Line("const u32* counts = %s;", counts)
			sub.Line("i64 capacity = (i64)%s;", sub.Word(Word{of, 0, Capacity}))
		}
		sub.Open("if (source > 0) {")
		sub.Line("const u64* const other = others + %d + %d * (source - 1);", OthersHead, OthersSource)
		sub.Line("source_rows = as_pointer<const Row>(other[0]), counts = as_pointer<const u32>(other[1]);")
		if f.HasRanges {
			sub.Line("first_row = as_pointer<const u32>(other[2]);")
		} else {
			sub.Line("capacity = (i64)other[2];")
		}
		sub.Close()
		if f.HasRanges {
			sub.Line("const i64 begin = first_row[partition], capacity = (i64)first_row[partition + 1] - begin, given = counts[partition];")
		} else {
			sub.Line("const i64 begin = partition * capacity, given = counts[partition];")
		}
	} else {
		sub.Open("for (i64 partition = 0; partition < partitions; partition++) {")
		sub.Line("const Row* const source_rows = %s;", rows)
		sub.Line("const i64 capacity = (i64)%s, begin = partition * capacity, given = %s[partition];", sub.Word(Word{of, 0, Capacity}), counts)
	}
	sub.Line("const i64 partition_end = begin + min_of(given, capacity);")
	sub.Line("const i64 chunks = (partition_end - begin + chunk - 1) / chunk;")
	sub.Open("for (; item < before + chunks; item += grid_size()) {")
	sub.Line("const i64 from = begin + (item - before) * chunk, end = min_of(partition_end, from + chunk);")
	sub.Line("partitioner.begin(%s);", f.Out(sub, of, 1, "partition"))
	sub.Open("for (i64 at = from; at < end; at += RADISH_BLOCK * RADISH_ITEMS) {")
	sub.Line("Row rows[RADISH_ITEMS];")
	sub.Line("load_rows(source_rows, at, end, rows);")
	if f.Prefetch {
		next := "prefetch_rows<RADISH_ITEMS>(source_rows, at + RADISH_BLOCK * RADISH_ITEMS, end);"
		if moves {
			next = "if (source == 0) " + next // others' rows come over a link
		}
		sub.Line("%s", next)
	}
	sub.Line("partitioner.tile(rows, direct);")
	sub.Close()
	sub.Line("partitioner.finish(direct);")
	sub.Close()
	sub.Line("before += chunks;")
	if moves {
		sub.Close()
	}
	sub.Close()
}
