package groupby

import (
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// Where a part has many rows for each of its groups, the block that has the part looks at some of its rows first, and places the keys that it finds there as those
// of few groups are placed (gpukernels/device/placedpart.cuh): each of the rows then looks at one slot. An eighth of the slots is searched, for keys that were
// not found or have no place.

const (
	searchedShare = 8         // one of so many slots is searched
	placedFull    = 0.8       // of a part's placed slots, at most, where the number of groups is as expected
	placedBytes   = 164 << 10 // of a multiprocessor's shared memory that tables take, if they fit
	partSeen      = 8         // rows for each placed slot that are looked at before
)

// PerfectHashTable is the table of a part whose keys are placed.
type PerfectHashTable struct {
	tag, words       int64 // bytes of a tag, words of a group
	placed, searched int64 // slots
	buckets          int64
}

// newPerfectHashTable makes as many slots as fit so many bytes.
func newPerfectHashTable(tag, words, bytes int64) *PerfectHashTable {
	t := &PerfectHashTable{tag: tag, words: words}
	slot := tag + max(4*words, tag+4) // 2 bytes of each slot are for the list of tags, 2 for the buckets
	t.buckets = kernel.PowerOfTwo(int64(float64(bytes/slot) / slotsPerBucket))
	slots := (bytes-t.buckets)/slot - spareSlots
	if 5*t.buckets > 2*slots {
		t.buckets /= 2
	}
	t.searched = slots / searchedShare &^ 3
	t.placed = (slots - t.searched) &^ 3
	return t
}

// choosePlacedTable returns a table for so many groups where some blocks share a multiprocessor, each of which has so much room at most: where that is enough, one that leaves
// a quarter of the memory to the cache that loads go through. nil: the groups do not fit.
func choosePlacedTable(tag, words int64, groups float64, blocks, room int64) *PerfectHashTable {
	for _, bytes := range []int64{min(placedBytes/blocks-2*blockShared, room), room} {
		if t := newPerfectHashTable(tag, words, bytes); t.fits(groups) {
			return t
		}
	}
	return nil
}

func (t *PerfectHashTable) slots() int64 { return t.placed + t.searched }

// scratch is where the buckets' numbers begin behind the tags: behind the words, or what placing needs instead of them.
func (t *PerfectHashTable) scratch() int64 {
	return max(4*t.words*(t.slots()+spareSlots), (t.tag+2)*t.slots()+5*t.buckets)
}

// bytes is what the table takes of shared memory.
func (t *PerfectHashTable) bytes() int64 {
	return t.tag*(t.slots()+spareSlots) + t.scratch() + t.buckets
}

// fits says whether so many groups are expected to have places.
func (t *PerfectHashTable) fits(groups float64) bool { return groups <= placedFull*float64(t.placed) }

// declare declares the table.
func (t *PerfectHashTable) declare(k *kernel.Kernel) {
	k.Line("using Placed = PlacedPart<Place, %d, %d, %d>;", t.placed, t.searched, bits.TrailingZeros64(uint64(t.buckets)))
	k.Line("Place* tags = shared_at<Place>(0);")
	k.Line("u32* table = reinterpret_cast<u32*>(tags + stride);")
	k.Line("const Placed placed{tags, shared_at<u8>(%d), shared_at<Place>(%d)};", t.tag*(t.slots()+spareSlots)+t.scratch(), t.tag*(t.slots()+spareSlots))
}

// placedPartText writes what makes the groups of a part whose keys are placed.
func (a *groupText) placedPartText() {
	k, items := a.k, a.f.Partition.Items()
	k.Line("placed.clear();")
	k.Line("block_barrier();")
	k.Line("constexpr i64 tile = RADISH_BLOCK * %d, wanted = Placed::slots * %d / tile + 1; // tiles whose keys are placed", items, partSeen)
	k.Line("const i64 step = max_of((end - from) / (tile * wanted), (i64)1) * tile;")
	k.Open("for (i64 at = from; at < end; at += step) {")
	a.partRows(items, "min_of(end, at + tile)")
	a.each(items, func() {
		k.Line("placed.see(row_place(rows[i]));")
		k.Line("warp_barrier(full_mask());")
	})
	k.Close()
	k.Line("placed.place();")
	a.emptyPart("places")
	k.Line("block_barrier();")
	a.partTiles(items, func() {
		k.Line("RADISH_UNROLL")
		k.Open("for (i32 next = 0; next < %d; next += %d) {", items, tableItems)
		k.Line("u32 slots[%d];", tableItems)
		k.Line("bool missed = false;")
		a.each(tableItems, func() {
			k.Line("const Place tag = row_place(rows[next + i]);")
			k.Line("slots[i] = placed.slot(tag);")
			k.Line("missed |= slots[i] == no_slot;")
		})
		k.Open("if (warp_any(full_mask(), missed)) {")
		a.each(tableItems, func() {
			k.Line("const Place tag = row_place(rows[next + i]);")
			k.Line("const bool lost = slots[i] == no_slot && tag != Placed::none;")
			k.Line("if (lost) slots[i] = placed.search(tag);")
			k.Line("warp_barrier(full_mask()); // the threads of a warp look for their slots together")
			k.Line("if (lost && slots[i] == no_slot) %s_direct(p, rows[next + i]);", k.Title)
			k.Line("if (slots[i] == no_slot) slots[i] = spare + lane();")
			k.Line("warp_barrier(full_mask());")
		})
		k.Close()
		a.addTogether(tableItems, "rows[next + i]", false)
		k.Close()
	})
	k.Line("block_barrier();")
	a.appendGroups("places")
}
