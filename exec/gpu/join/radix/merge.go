package radix

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/logical"
)

// Sink writes the end of a kernel that partitions a side's rows, or appends them to be sorted.
func (s Side) Sink(k *kernel.Kernel) kernel.Sink {
	if s.Join.isSorted {
		return &mergeSink{k: k, side: s}
	}
	values := func(scope *codegen.Scope) (string, []codegen.Value) { return s.values(k, scope) }
	k.Prefetch = s.Form().Prefetch
	return &partition.Sink{Kernel: k, Form: s.Form(), Layout: s.layout(), Of: s, Values: values}
}

// mergeSink appends a side's rows, which are sorted once all are there.
type mergeSink struct {
	k    *kernel.Kernel
	side Side
}

var _ kernel.Sink = (*mergeSink)(nil)

// Row keeps a row, until its tile is complete.
func (x *mergeSink) Row(s *codegen.Scope) {
	k := x.k
	k.Threads, k.Items, k.Blocks = partition.Threads, x.side.Form().Items(), partition.Blocks
	k.Defines = x.side.mergeDefines()
	radixKey, values := x.side.values(k, s)
	k.Line("side_rows[i] = %s;", x.side.layout().Pack(k, radixKey, values))
	k.Fill(k.Tile, 2, []string{"Row side_rows[RADISH_ITEMS];", "RADISH_UNROLL", "for (i32 i = 0; i < RADISH_ITEMS; i++) side_rows[i] = pad_row;"})
	k.Tile = ""
	k.EndTile = append(k.EndTile, "side_out.tile(side_rows);")
}

// Together has nothing to do: tiles are written as wholes.
func (x *mergeSink) Together() []string { return nil }

// After has nothing to write.
func (x *mergeSink) After() {}

// Declare declares where the rows go.
func (x *mergeSink) Declare() []string {
	k, rows := x.k, "nullptr"
	if x.side.KeepsRows() {
		rows = k.Pointer("Row", x.side.Sorted(SortedRows))
	}
	return []string{fmt.Sprintf("const MergeRows<%d> side_out{%s, %s, %s, %s, %s};", x.side.value(), k.Pointer("RadixKey", x.side.Sorted(SortedRadixKeys)), k.Pointer("u32", x.side.Sorted(SortedValues)),
		rows, k.Pointer("u64", x.side.Sorted(SortedCounter)), k.Word(x.side.Sorted(SortedCapacity)))}
}

// mergeDefines are the macros of a kernel whose rows are those of a side.
func (s Side) mergeDefines() []string {
	all := []string{fmt.Sprintf("RADISH_ROW_WORDS %d", s.layout().Words)}
	if s.layout().Wide {
		all = append(all, "RADISH_WIDE_KEYS")
	}
	return all
}

// sortedSide writes a side whose rows are in order.
func (s Side) sortedSide(k *kernel.Kernel) string {
	return fmt.Sprintf("MergeSide<RadixKey>{%s, (u32)%s}", k.Pointer("const RadixKey", s.Sorted(SortedRadixKeys)), k.Word(s.Sorted(SortedCount)))
}

// Split returns the kernel that runs before the one that merges: it finds where the tiles begin.
func (x *Join) Split(k *kernel.Kernel) *kernel.Kernel {
	sub := k.Another("_tiles")
	sub.Threads, sub.Blocks = mergeThreads, 0
	sub.Line("merge_splits(%s, %s, %s);", x.BuildSide().sortedSide(sub), x.ProbeSide().sortedSide(sub), sub.Pointer("u32", x.Splits()))
	sub.CUDA = sub.File(x.ProbeSide().mergeDefines())
	return sub
}

// Merge writes the loops over tiles, over the probe's rows of each, a row a thread, and over the pairs that these give, and opens the block of a pair. Where a row has several matches, the
// pairs of a block's rows are numbered, and each thread takes every so many of them. In all of these loops the threads of a block go
// together, up to the sink. out is where the variables stand that the sink takes out of the block.
func (x *Join) Merge(k *kernel.Kernel, s *codegen.Scope) (inner *codegen.Scope, out codegen.Gap) {
	k.Threads, k.Blocks, k.Items = mergeThreads, mergeBlocks, 4
	k.Defines = x.ProbeSide().mergeDefines()
	k.Line("// %s", x)
	k.Line("const MergeSide<RadixKey> build_side = %s;", x.BuildSide().sortedSide(k))
	k.Line("const MergeSide<RadixKey> probe_side = %s;", x.ProbeSide().sortedSide(k))
	if x.Multiplies() {
		k.Line("const MergePairs merge_pairs{shared_at<u64>(%d), shared_at<u32>(%d)};", x.pairsAt(), x.firstAt())
		k.Listed = true
		list := func(what SortedItem) any { return x.BuildSide().Sorted(what) }
		k.Line("const MergeList merge_list{%s, %s, %s, %s != 0};", k.Pointer("u64", list(SortedList)), k.Word(list(SortedListCapacity)), k.Word(list(SortedListPairs)), k.Word(list(SortedListed)))
	}
	x.openTurns(k)
	k.Line("if (merge_rows.from == merge_rows.end) continue;")
	k.Line("const MergeKeys<RadixKey> build_keys = merge_load(shared_at<RadixKey>(0), build_side, probe_side, merge_rows);")
	k.Line("const RadixKey* const probe_keys = build_keys.keys + build_keys.length;")
	x.loadValues(k)
	k.Line("block_barrier();")
	k.Open("for (i64 base = merge_rows.from; base < merge_rows.end; base += RADISH_BLOCK) {")
	k.Line("const i64 own_row = base + thread_index();")
	k.Line("const bool is_row = own_row < merge_rows.end;")
	k.Line("const RadixKey own_radix_key = is_row ? probe_keys[own_row - merge_rows.from] : 0;")
	if x.Multiplies() {
		x.openPairs(k)
	} else {
		x.onePair(k)
	}
	x.bindSorted(k, s)
	out = k.Gap()
	k.Block("if (here && !stop) {")
	s = s.Nested()
	for _, e := range x.probe.Residual {
		k.Block("if (%s) {", k.EmitCond(e, s))
		s = s.Nested()
	}
	return s, out
}

// loadValues writes what copies the values that lie beside a tile's keys, in the same order.
func (x *Join) loadValues(k *kernel.Kernel) {
	k.Line("u32* const merge_values = shared_at<u32>(%d);", x.valuesAt())
	if s := x.BuildSide(); x.readsBuild() && len(s.layout().Halves) > 0 {
		k.Line("merge_copy(merge_values, %s + merge_rows.build_from, build_keys.length);", k.Pointer("const u32", s.Sorted(SortedValues)))
	}
	if s := x.ProbeSide(); len(s.layout().Halves) > 0 {
		k.Line("merge_copy(merge_values + build_keys.length, %s + merge_rows.from, merge_rows.end - merge_rows.from);", k.Pointer("const u32", s.Sorted(SortedValues)))
	}
}

// readsBuild says whether the columns of the build's row live on.
func (x *Join) readsBuild() bool {
	return x.probe.Kind != logical.SemiJoin && x.probe.Kind != logical.AntiJoin
}

// openTurns opens the loop over a block's turns: tiles or, where rows can have several matches, pieces of the pairs of some of a tile's rows.
func (x *Join) openTurns(k *kernel.Kernel) {
	taken, tiles := k.Pointer("u32", x.Taken()), k.Word(x.Pieces())
	lists := x.Multiplies()
	if lists {
		tiles = fmt.Sprintf("merge_list.length((u32)%s)", tiles)
	}
	k.Open("for (u32 merge_number; (merge_number = take_work(%s)) < (u32)%s;) {", taken, tiles)
	x.askAllStop(k)
	tile := fmt.Sprintf("merge_rows_of(%s, %%s, build_side.count, probe_side.count)", k.Pointer("const u32", x.Splits()))
	if !lists {
		k.Line("const MergeTile merge_rows = %s;", fmt.Sprintf(tile, "merge_number"))
		return
	}
	k.Line("const MergeTurn merge_turn = merge_list.turn(merge_number);")
	k.Line("const MergeTile merge_rows = merge_list.rows(merge_turn, %s);", fmt.Sprintf(tile, "merge_turn.tile"))
}

// askAllStop writes that all threads of a block leave a loop if the query has been cancelled.
func (x *Join) askAllStop(k *kernel.Kernel) {
	k.Line("stop = block_any(stop || stopped(%s, %s));", k.ErrorAddress(), k.Pointer("const u32", kernel.CancelWord{}))
	k.Line("if (stop) break;")
}

// onePair writes what a row gives: once at most.
func (x *Join) onePair(k *kernel.Kernel) {
	find := "one"
	if x.probe.Kind == logical.SingleJoin && !x.build.Unique {
		find = "run"
	}
	k.Line("const MergeRun merge_run = is_row ? build_keys.%s(own_radix_key) : MergeRun{0, 0};", find)
	k.Line("const i64 row = own_row;")
	k.Line("const RadixKey radix_key = own_radix_key;")
	k.Line("const u32 match = merge_run.first;")
	k.Line("const bool found = merge_run.count > 0;")
	switch x.probe.Kind {
	case logical.InnerJoin, logical.SemiJoin:
		k.Line("const bool here = found;")
	case logical.AntiJoin:
		k.Line("const bool here = is_row && !found;")
	default:
		k.Line("const bool here = is_row;")
	}
	if find == "run" {
		k.RaiseIf("merge_run.count > 1", codegen.CodeOnCPU, x.probe.Keys[0])
	}
}

// askPairs is the turns of a block over pairs after which it asks again whether the query was cancelled: a power of two.
const askPairs = 256

// openPairs writes the loop over the pairs of a block's rows. Mostly each row has one match at most, and is its own thread's.
func (x *Join) openPairs(k *kernel.Kernel) {
	k.Line("const MergeRun merge_run = is_row ? build_keys.run(own_radix_key) : MergeRun{0, 0};")
	if x.Keeps() {
		k.Line("const u32 merge_gives = is_row ? max_of(merge_run.count, 1u) : 0;")
	} else {
		k.Line("const u32 merge_gives = merge_run.count;")
	}
	k.Line("const bool merge_shares = block_any(merge_gives > 1);")
	k.Line("u64 all_pairs = 1;")
	k.Line("MergeShare merge_share{0, 1};")
	k.Open("if (merge_shares) {")
	k.Line("merge_pairs.before[thread_index()] = block_prefix((u64)merge_gives, &all_pairs);")
	k.Line("merge_pairs.first[thread_index()] = merge_run.count > 0 ? merge_run.first : no_row;")
	k.Line("block_barrier();")
	k.Line("merge_share = merge_list.share(merge_turn, (u32)base, all_pairs);")
	k.Close()
	k.Open("for (u64 from_pair = merge_share.from, pairs_turn = 1; from_pair < merge_share.end; from_pair += RADISH_BLOCK, pairs_turn++) {")
	k.Open("if (pairs_turn %% %d == 0) {", askPairs)
	x.askAllStop(k)
	k.Close()
	k.Line("bool here = merge_gives > 0, found = merge_run.count > 0;")
	k.Line("i64 row = own_row;")
	k.Line("RadixKey radix_key = own_radix_key;")
	k.Line("u32 match = merge_run.first;")
	k.Open("if (merge_shares) {")
	k.Line("const u64 merge_pair = from_pair + thread_index();")
	k.Line("here = merge_pair < merge_share.end;")
	k.Line("const u32 merge_owner = merge_pairs.owner(merge_pair);")
	k.Line("found = here && merge_pairs.first[merge_owner] != no_row;")
	k.Line("match = merge_pairs.first[merge_owner] + (u32)(merge_pair - merge_pairs.before[merge_owner]);")
	k.Line("row = base + merge_owner;")
	k.Line("radix_key = here ? probe_keys[row - merge_rows.from] : 0;")
	k.Close()
}

// bindSorted makes the columns of a pair known.
func (x *Join) bindSorted(k *kernel.Kernel, s *codegen.Scope) {
	x.bindProbeKeys(k, s)
	x.bind(k, s, x.sides[1], x.ProbeSide().half(k, "probe", "merge_values[build_keys.length + (u32)(row - merge_rows.from)]", "here"), "")
	if !x.readsBuild() {
		return
	}
	missing := ""
	if x.Keeps() {
		missing = "!found"
	}
	x.bindBuildKeys(k, s, missing)
	value := fmt.Sprintf("(match - build_keys.first < build_keys.length ? merge_values[match - build_keys.first] : %s[match])", k.Pointer("const u32", x.BuildSide().Sorted(SortedValues)))
	x.bindPayload(k, s, x.BuildSide().half(k, "build", value, "(here && found)"), missing)
}

// half reads what a row of a side carries, and returns the C++ of a half of it. Names begin with name; value is the C++ of its value, and there says whether there is one.
func (s Side) half(k *kernel.Kernel, name, value, there string) func(h int) string {
	if len(s.layout().Halves) == 0 {
		return nil
	}
	k.Line("const u32 %s_value = %s ? %s : 0;", name, there, value)
	if !s.KeepsRows() {
		return func(int) string { return name + "_value" }
	}
	row := fmt.Sprintf("WordRow<%d>", s.layout().Words)
	k.Line("const %s %s_row = %s ? %s[%s_value] : %s{};", row, name, there, k.Pointer("const "+row, s.Sorted(SortedRows)), name, row)
	return partition.HalfOf(name + "_row")
}
