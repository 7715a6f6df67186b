package gpu

import (
	"fmt"
)

// Groups that are found by hashing have, where there are few of them, a table in each block's shared memory in front of the table in device
// memory: keys of 64 bits and the accumulators' words (aggregateshared.go). A row whose key finds no slot there, because the table is
// full, goes to the other table at once, so the estimate of the number of groups decides nothing but the speed.

const (
	localKeyBytes = 8
	localLeast    = 256 // slots at least
	localSmall    = 24 << 10
	rowsPerSlot   = 8 // rows for each slot that make a small table worth it
)

// chooseLocal decides whether the kernel's blocks have tables of their own, and of how many slots.
func (a *aggregateText) chooseLocal() {
	f, k := a.f, a.k
	if f.shape != packedGroups && f.shape != wordGroups {
		return
	}
	for _, acc := range f.accs {
		if acc.limbs == 0 {
			return
		}
	}
	slotBytes := int64(localKeyBytes + 4*f.words())
	room := k.prog.tables.sharedBytes() / slotBytes &^ 1
	est := max(f.p.EstGroups, 1)
	// Small tables are nearly empty, which makes keys quick to find.
	slots := min(int64(max(min(8*est, float64(localSmall/slotBytes)), 2*est, localLeast)), room) &^ 1
	perSlot := float64(rowsPerSlot)
	if slots*slotBytes > sharedSmall {
		perSlot = rowsPerPlace
	}
	if est > 1.25*float64(room) || a.rowsIn() < perSlot*float64(slots) {
		return
	}
	a.slots = slots
	k.threads = a.sharedThreads(slots * slotBytes)
}

// localRow adds a row to the block's table or, if it finds no slot there, to the one of all.
func (a *aggregateText) localRow(keys, args []value) {
	k, f := a.k, a.f
	key, slot, group := k.name("key"), k.name("slot"), k.name("g")
	null := "false"
	if f.shape == wordGroups {
		k.line("const u64 %s = %s;", key, wordKey(keys[0]))
		null = orFalse(keys[0].null)
	} else {
		number := a.number(keys)
		k.line("const u64 %s = %s;", key, number)
	}
	k.line("const u32 %s = local_slot(local_keys, places, %s, %s);", slot, key, null)
	k.open("if (%s != no_slot) {", slot)
	a.inLocal = true
	a.updateAll(args, slot)
	a.inLocal = false
	k.otherwise()
	if f.shape == wordGroups {
		k.line("const u64 %s = %s;", group, a.findWord(key, null))
	} else {
		k.line("const u64 %s = %s;", group, a.find(key))
	}
	k.open("if (%s != no_group) {", group)
	a.updateAll(args, group)
	k.close()
	k.close()
}

// wordKey is the C++ of a key of one word.
func wordKey(v value) string {
	if v.class == classFloat {
		return fmt.Sprintf("%s == 0 ? 0 : as_bits(%s)", v.text, v.text)
	}
	return "(u64)" + v.text
}

// findWord is the C++ of the group of a key of one word.
func (a *aggregateText) findWord(key, null string) string {
	k, p := a.k, a.f.p
	return fmt.Sprintf("word_group(%s, %s, %s, %s, %s)", k.pointer("u64", aggKeysWord{p}), k.word(aggMaskWord{p}), key, null, k.pointer("u32", aggFullWord{p}))
}

// flushLocal adds the block's groups to all.
func (a *aggregateText) flushLocal() {
	k := a.k
	k.line("// the block's groups are added to all")
	k.line("block_barrier();")
	k.open("for (u32 slot = thread_index(); slot < places; slot += RADISH_BLOCK) {")
	k.line("const u64 key = local_keys[slot];")
	k.line("if (key == empty_key) continue;")
	k.line("const u64 g = %s;", a.find("key"))
	k.line("if (g == no_group) continue;")
	k.line("const u32* first = table + slot;")
	a.flushWords(map[int]string{})
	k.close()
}

// declareLocal makes the block's table empty.
func (a *aggregateText) declareLocal() []string {
	k := a.k
	bytes := a.slots * int64(localKeyBytes+4*a.f.words())
	k.shared = func(*query) int64 { return bytes }
	lines := []string{
		"// Each block has a table of its own in shared memory: keys, then the words of one limb after those of another.",
		"constexpr u32 copies = 0, copy = 0;",
		fmt.Sprintf("const u32 places = (u32)%s;", k.literal(uint64(a.slots))),
		"const i32 stride = (i32)places;",
		"u64* local_keys = shared_at<u64>(0);",
		"u32* table = reinterpret_cast<u32*>(local_keys + places);",
		"for (u32 i = thread_index(); i < places; i += RADISH_BLOCK) local_keys[i] = empty_key;",
	}
	return append(append(lines, a.emptyWords()...), "block_barrier();")
}
