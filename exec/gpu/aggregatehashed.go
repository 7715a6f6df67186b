package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Many groups whose keys are found by hashing, and pack into 32 bits, are made by parts as those of large domains are (aggregatepartition.go).
// The place is the key, mixed by a bijection, so that it spreads over all 32 bits and the key follows from it. A block is alone with a part: it finds the
// part's groups by hashing in shared memory and appends them to the groups behind the table in device memory. That table is small: it has what was
// added directly, that is keys that are frequent in a block's first tiles, and rows that found no room in their part or its table. A group that is there
// already is added to.

const (
	hashedLeast = 1 << 12 // groups: fewer have tables in shared memory in front
	hashedRoom  = 2.4     // slots of a part's table for each group that is expected: the fuller, the slower, by much
)

// Variables for tests: the slots of the table in device memory, and how many groups can be appended beyond half as many again as expected.
var (
	hashedSlots = int64(1 << 17)
	hashedMore  = int64(1 << 16)
)

// keysFitWord says whether the packed keys are words of 32 bits, of which ~0 is none.
func (f *aggForm) keysFitWord() bool {
	most := uint64(0)
	for _, k := range f.keys {
		if k.shift >= 32 || k.digits-1 > math.MaxUint32>>k.shift {
			return false
		}
		most |= (k.digits - 1) << k.shift
	}
	return most < math.MaxUint32
}

// partSlots is the number of slots of a part's table of groups that are found by hashing.
func (x *partForm) partSlots(groups float64, words int64, shared int64) int64 {
	wanted := int64(groups * hashedRoom / float64(int64(1)<<(x.bits*x.passes)))
	return min(max(wanted, 256), shared/(4*(1+words))) &^ 3
}

// directGroups counts what was added to an aggregation's groups directly: not 0, if something was. appendedGroups counts the groups behind the table.
type (
	directGroups   struct{ p *physical.Aggregate }
	appendedGroups struct{ p *physical.Aggregate }
)

// aggFirstWord is the place of the first group behind the table, aggRoomWord how many there can be.
type (
	aggFirstWord struct{ p *physical.Aggregate }
	aggRoomWord  struct{ p *physical.Aggregate }
)

func (w aggFirstWord) resolve(q *query) uint64 { return uint64(q.groups[w.p].slots + 2) }
func (w aggRoomWord) resolve(q *query) uint64  { return uint64(q.groups[w.p].room) }

// partPlace writes a row's place.
func (a *aggregateText) partPlace(keys []value) string {
	if !a.f.part.hashed {
		return a.place(keys)
	}
	name := a.k.name("g")
	a.k.line("const u32 %s = mix_word((u32)(%s));", name, a.number(keys))
	return name
}

// tagRow adds row i to its group in shared memory. The threads of a warp look for their slots together.
func (a *aggregateText) tagRow() {
	k, passes := a.k, a.f.part.passes
	k.line("const bool real = rows[i] != pad_row;")
	k.line("u32 slot = no_slot;")
	k.line("if (real) slot = tag_slot(tags, places, local_place(row_place(rows[i]), %d), %d);", passes, 32-a.f.part.bits*passes)
	k.line("warp_barrier(full_mask());")
	k.open("if (slot != no_slot) {")
	a.global, a.closeGlobal = func() { a.openPlace("row_place(rows[i])") }, a.closePlace
	a.inLocal = true
	a.addPartRow("rows[i]", "slot")
	a.inLocal = false
	k.line("} else if (real) {")
	k.line("  %s_direct(p, rows[i]); // it found no slot", k.title)
	k.close()
	k.line("warp_barrier(full_mask());")
	k.functions = append(k.functions, a.directFunction())
}

// directFunction is a function that adds a row to its group in device memory: a call, so that the loop over all rows stays small.
func (a *aggregateText) directFunction() string {
	lines := a.k.capture(func() {
		a.openPlace("row_place(row)")
		a.addPartRow("row", "g")
		a.closePlace()
	})
	return a.k.callee("direct", []string{"const P& p", "u64 row"}, lines)
}

// appendGroups appends a part's groups, or adds them to those that are there already.
func (a *aggregateText) appendGroups() {
	k, p := a.k, a.f.p
	k.line("const bool others = load_relaxed(%s) != 0;", k.pointer("u32", counterWord{of: directGroups{p}}))
	k.open("for (u32 base = 0; base < places; base += RADISH_BLOCK) {")
	k.line("const u32 local = base + thread_index();")
	k.line("const u32 tag = local < places ? tags[local] : no_tag;")
	k.line("const u64 key = unmix_word((u32)global_place((u64)part, tag, %d));", a.f.part.passes)
	k.line("u64 g = tag != no_tag && others ? find_packed(%s, %s, key) : no_group;", k.pointer("const u64", aggKeysWord{p}), k.word(aggMaskWord{p}))
	k.line("const Adds how = g == no_group ? Adds::first : Adds::alone;")
	k.line("const bool fresh = tag != no_tag && how == Adds::first;")
	k.line("const u64 at = block_append(%s, fresh);", k.pointer("u64", counterWord{of: appendedGroups{p}}))
	k.open("if (fresh && at < %s) {", k.word(aggRoomWord{p}))
	k.line("g = %s + at;", k.word(aggFirstWord{p}))
	k.line("%s[g] = key;", k.pointer("u64", aggKeysWord{p}))
	k.close()
	k.line("if (g == no_group) continue;")
	k.line("const u32* first = table + local;")
	a.flushWords(map[int]string{}, "how")
	k.close()
}

// openHashed makes room for groups that are found by hashing and made by parts. tried is what was too small, nil at first.
func (q *query) openHashed(g, tried *groupRun) error {
	est := int64(g.form.p.EstGroups)
	g.slots, g.room = hashedSlots, est+est/2+hashedMore
	if tried != nil {
		g.slots, g.room = tried.slots, tried.room
		if tried.appended > tried.room {
			g.room = tried.appended + tried.appended/4
		} else {
			g.slots *= 16
		}
	}
	if err := errors.Join(q.resetCounter(counterWord{of: directGroups{g.form.p}}), q.resetCounter(counterWord{of: appendedGroups{g.form.p}})); err != nil {
		return err
	}
	if g.slots+g.room >= math.MaxUint32 {
		return &gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: fmt.Sprintf("more than %d groups", uint32(math.MaxUint32))}
	}
	return nil
}

// fillHashed empties the table in device memory. What is appended behind it is written as a whole.
func (q *query) fillHashed(g *groupRun) error {
	err := q.stream.Fill(g.keys, math.MaxUint64, 8, g.slots+2)
	for i := 0; i < len(g.arrays) && err == nil; i++ {
		a := &g.form.arrays[i]
		err = q.stream.Fill(g.arrays[i], a.fill, a.unit, (g.slots+2)*a.width/int64(a.unit))
	}
	return err
}
