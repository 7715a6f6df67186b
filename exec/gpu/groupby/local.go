package groupby

import (
	"fmt"
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/sql/expr"
)

// A hash table in each block's shared memory, in front of the one in device memory, for few hashed keys. It has keys of 64 bits and the accumulators' words
// (sharedwords.go). A row that finds it full goes to the table in device memory at once, so a wrong estimate of the number of groups costs time only. Where
// rows are many, a perfect hash takes its part (perfecthash.go).

// localLeast is the fewest slots of such a table.
const localLeast = 256

var local = algorithm{
	name:    "hash table in front",
	applies: (*Feed).chooseLocal,
	details: func(feed *Feed) string {
		if feed.state.(localTable).byTiles {
			return ", tile by tile"
		}
		return ""
	},
	row:     (*groupText).localRow,
	declare: (*groupText).declareLocal,
	flush:   (*groupText).flushLocal,
}

// fillsByTiles says whether a tile's rows are added to the block's table together, behind the loop over them: where it is not nearly empty.
func (feed *Feed) fillsByTiles() bool {
	return feed.Tiled && !feed.GivesMany && feed.f.Aggregate.EstGroups >= feed.Pipelines.Target.Tuning.Shared.TilesLeast
}

// localSlots is how many slots a block's own table can have; 0: the accumulators have no words.
func (feed *Feed) localSlots() int64 {
	words := feed.tableWords(false, true)
	for _, acc := range feed.f.Accs {
		if n, _ := feed.limbs(acc); n == 0 {
			return 0
		}
	}
	return feed.SharedBytes() / localSlotBytes(words) &^ 3
}

// localSlotBytes is what a slot takes: the key and the words.
func localSlotBytes(words int64) int64 { return 8 + 4*words }

// chooseLocal decides whether the kernel's blocks have tables of their own, and of how many slots.
func (feed *Feed) chooseLocal() bool {
	f := feed.f
	if f.Shape != PackedGroups && f.Shape != wordGroups || !f.inWords() {
		return false
	}
	slotBytes := localSlotBytes(int64(f.Words()))
	capacity := feed.SharedBytes() / slotBytes &^ 3
	est, tuning := max(f.Aggregate.EstGroups, 1), &feed.Pipelines.Target.Tuning.Shared
	// Small tables are nearly empty, which makes keys quick to find.
	slots := min(int64(max(min(8*est, float64(tuning.Hashed/slotBytes)), 2*est, localLeast)), capacity) &^ 3
	perSlot := tuning.HashedSlotRows
	if slots*slotBytes > tuning.Small {
		perSlot = tuning.SlotRows
	}
	if est*tuning.HashedFull > float64(capacity) || feed.rowsIn() < perSlot*float64(slots) {
		return false
	}
	feed.state = localTable{slots, slotBytes, feed.fillsByTiles()}
	return true
}

// localTable is a block's own table of hashed keys.
type localTable struct {
	slots, slot int64 // their number, and the bytes that one takes
	byTiles     bool  // a tile's rows are added together
}

// bytes is what the table takes of shared memory.
func (t localTable) bytes() int64 { return t.slots * t.slot }

// localRow adds a row to the block's table or, if it finds no slot there, to the one of all.
func (a *groupText) localRow(keys, args []codegen.Value) {
	k, table := a.k, a.state.(localTable)
	k.Threads = k.SharedThreads(table.bytes())
	key, null := a.oneWord(keys)
	if table.byTiles {
		a.localTile(key, null, args)
		return
	}
	name, slot, group := k.Name("key"), k.Name("slot"), k.Name("g")
	k.Line("const u64 %s = %s;", name, key)
	k.Line("const u32 %s = find_slot(local_keys, slot_count, %s, %s);", slot, name, null)
	a.global, a.closeGlobal = func() { a.openGroup("g", "_aside", name, null) }, k.Close
	k.Open("if (%s != no_slot) {", slot)
	a.inLocal = true
	a.updateAll(args, slot)
	a.inLocal = false
	k.Else()
	a.openGroup(group, "_aside", name, null)
	a.updateAll(args, group)
	k.Close()
	k.Close()
}

// localTile keeps a row's key and arguments. Behind the loop over the tile's rows the threads of a warp look for the slots of each together.
func (a *groupText) localTile(key, null string, args []codegen.Value) {
	k, f := a.k, a.f
	declare := []string{"u64 row_key[RADISH_ITEMS];", "RADISH_UNROLL", "for (i32 i = 0; i < RADISH_ITEMS; i++) row_key[i] = empty_key;"}
	kept := make([]codegen.Value, len(args))
	var keep []string // lines that keep the arguments
	for i, acc := range f.Accs {
		if acc.arg == nil {
			continue
		}
		same := slices.IndexFunc(f.Accs[:i], func(o *Accumulator) bool { return o.arg != nil && expr.Equal(o.arg, acc.arg) })
		if same >= 0 {
			kept[i] = kept[same]
			continue
		}
		v := args[i]
		name := fmt.Sprintf("row_arg%d", i)
		hold := func(cType, name, text string) string {
			declare = append(declare, fmt.Sprintf("%s %s[RADISH_ITEMS];", cType, name))
			keep = append(keep, fmt.Sprintf("%s[i] = %s;", name, text))
			return name + "[i]"
		}
		v.Text = hold(v.Class.CName(), name, v.Text)
		if v.Null != "" && v.Null != "false" {
			v.Null = hold("bool", name+"_null", v.Null)
		}
		kept[i] = v
	}
	if f.Shape == wordGroups { // a key that the table cannot have, or NULL, has a slot of its own
		name := k.Name("key")
		k.Line("const u64 %s = %s;", name, key)
		k.Open("if (%s || %s == empty_key) {", null, name)
		a.openGroup("g", "_aside", name, null)
		a.updateAll(args, "g")
		k.Close()
		k.Else()
		key = name
	}
	k.Line("row_key[i] = %s;", key)
	for _, l := range keep {
		k.Line("%s", l)
	}
	if f.Shape == wordGroups {
		k.Close()
	}
	k.EndTile = k.Capture(func() {
		k.Line("RADISH_UNROLL")
		k.Open("for (i32 i = 0; i < RADISH_ITEMS; i++) {")
		k.Line("const bool here = row_key[i] != empty_key;")
		k.Line("u32 slot = no_slot;")
		k.Line("if (here) slot = find_slot(local_keys, slot_count, row_key[i], false);")
		k.Line("warp_barrier(full_mask());")
		k.Open("if (slot != no_slot) {")
		a.global, a.closeGlobal = func() { a.openGroup("g", "_aside", "row_key[i]", "false") }, k.Close
		a.inLocal = true
		a.updateAll(kept, "slot")
		a.inLocal = false
		k.Line("} else if (here) {")
		k.Line("  %s", a.aside("row_key[i]", kept))
		k.Close()
		k.Line("warp_barrier(full_mask());")
		k.Close()
	})
	k.Fill(k.Tile, 2, declare)
	k.Tile = ""
}

// aside is the C++ that adds a row to its group in device memory: a call, so that the loop over all rows stays small.
func (a *groupText) aside(key string, args []codegen.Value) string {
	k, f := a.k, a.f
	parameters, given := []string{"const P& p", "u64 key"}, []string{"p", key}
	pass := func(cType, text string) string {
		i := slices.Index(given, text)
		if i < 0 {
			i = len(given)
			parameters, given = append(parameters, fmt.Sprintf("%s arg%d", cType, i)), append(given, text)
		}
		return fmt.Sprintf("arg%d", i)
	}
	passed := slices.Clone(args)
	for i, acc := range f.Accs {
		if acc.arg == nil {
			continue
		}
		passed[i].Text = pass(args[i].Class.CName(), args[i].Text)
		if null := args[i].Null; null != "" && null != "false" {
			passed[i].Null = pass("bool", null)
		}
	}
	lines := k.Capture(func() {
		a.openGroup("g", "_aside", "key", "false")
		a.updateAll(passed, "g")
		k.Close()
	})
	k.Functions = append(k.Functions, k.Callee("aside", parameters, lines))
	return fmt.Sprintf("%s_aside(%s);", k.Title, strings.Join(given, ", "))
}

// flushLocal adds the block's groups to all.
func (a *groupText) flushLocal() {
	k := a.k
	k.Line("// the block's groups are added to all")
	k.Line("block_barrier();")
	k.Open("RADISH_NO_UNROLL for (u32 slot = thread_index(); slot < slot_count; slot += RADISH_BLOCK) {")
	empty, key := "empty_key", "local_keys[slot]"
	switch {
	case a.f.PerfectHash == nil:
	case a.f.PerfectHash.Tag == 8:
		key = "unspread_word(local_keys[slot])"
	default:
		empty, key = "no_tag", "unmix_word(local_keys[slot])"
	}
	k.Line("if (local_keys[slot] == %s) continue;", empty)
	if a.f.PerfectHash != nil && a.f.Shape == wordGroups {
		k.Line("const u64 g = %s;", a.findWord("word_group_aside", key, "false"))
	} else {
		k.Line("const u64 g = %s;", a.findPacked("packed_group_aside", key))
	}
	k.Line("if (g == no_group) continue;")
	k.Line("const u32* first = table + slot;")
	a.flushWords(map[int]string{}, addsShared)
	k.Close()
}

// declareLocal makes the block's table empty.
func (a *groupText) declareLocal() []string {
	k := a.k
	table := a.state.(localTable)
	k.Shared = kernel.SharedMemory{Bytes: table.bytes()}
	lines := []string{
		"// Each block has a table of its own in shared memory: keys, then the words of one limb after those of another.",
		"constexpr u32 copies = 0, copy = 0;",
		fmt.Sprintf("const u32 slot_count = (u32)%s;", k.Literal(uint64(table.slots))),
		"const i32 stride = (i32)slot_count;",
		fmt.Sprintf("u64* local_keys = shared_at<u64>(%d);", k.SourceShared),
		"u32* table = reinterpret_cast<u32*>(local_keys + slot_count);",
		"RADISH_NO_UNROLL for (u32 i = thread_index(); i < slot_count; i += RADISH_BLOCK) local_keys[i] = empty_key;",
	}
	return append(append(lines, a.emptyWords()...), "block_barrier();")
}
