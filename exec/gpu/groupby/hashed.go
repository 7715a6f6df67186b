package groupby

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// Many groups with hashed keys of one word are partitioned as those of large domains are (partition.go), with the mixed key in the slot's place. The mixing
// is a bijection, so the key follows from it.
//
// Each partition has one block, which finds its groups in shared memory: by a perfect hash (partitiontables.go), by a bitmap of tags, or by searching. It appends them
// behind the table in device memory. That has the rows of frequent keys, and those that found a partition or its table full.

const (
	rankBlocks = 3 // of a multiprocessor
	rankItems  = 2 // rows that a thread adds together then
)

// keysFitWord says whether the packed keys are words of 32 bits, of which ~0 is none.
func (f *Form) keysFitWord() bool {
	most := uint64(0)
	for _, k := range f.keys {
		if k.shift >= 32 || k.digits-1 > math.MaxUint32>>k.shift {
			return false
		}
		most |= (k.digits - 1) << k.shift
	}
	return most < math.MaxUint32
}

// AppendedGroups counts the groups behind the table.
type AppendedGroups struct{ P *physical.Aggregate }

// AppendedFirst is the slot of the first group behind the table, AppendedCapacity how many there can be.
type (
	AppendedFirst    struct{ P *physical.Aggregate }
	AppendedCapacity struct{ P *physical.Aggregate }
)

func (w AppendedFirst) Of() *physical.Aggregate    { return w.P }
func (w AppendedCapacity) Of() *physical.Aggregate { return w.P }

// groups is about how many groups there are, or slots in a dense domain.
func (f *Form) groups() float64 {
	if f.Shape == DenseGroups {
		return float64(f.Slots)
	}
	return f.Aggregate.EstGroups
}

// partitionSlot writes a row's slot. Of wide rows it opens the block of those that have one: two keys of all have none and go to their groups directly.
func (a *groupText) partitionSlot(keys, args []codegen.Value) string {
	k, f := a.k, a.f
	if !f.Partition.Hashed {
		return a.slotOf(keys)
	}
	name := k.Name("g")
	if !f.Partition.wide {
		k.Line("const u32 %s = mix_word((u32)(%s));", name, a.number(keys))
		return name
	}
	key := k.Name("key")
	text, null := a.oneWord(keys)
	k.Line("const u64 %s = %s;", key, text)
	if null == "false" {
		k.Line("const u64 %s = mix(%s);", name, key)
	} else {
		k.Line("const u64 %s = %s ? null_radix_key : mix(%s);", name, null, key)
	}
	k.Open("if (%s >= null_radix_key && !(%s)) {", name, null)
	k.Line("store_relaxed(%s, 1u);", k.Pointer("u32", kernel.CounterWord{Of: DirectGroups{f.Aggregate}}))
	k.Line("%s", a.aside(key, args))
	k.Else()
	return name
}

// declareTags declares the tags, and what ranks them.
func (a *groupText) declareTags() {
	k, x := a.k, a.f.Partition
	k.Line("RadixKey* tags = shared_at<RadixKey>(0); // they stand first, since they are read by four")
	k.Line("u32* table = reinterpret_cast<u32*>(tags + stride);")
	if x.ranked() {
		k.Line("u32* marks = table + %d * stride;", a.f.Words())
		k.Line("using Ranks = TagRanks<%d>;", x.tagBits())
		k.Line("Ranks ranks{marks, marks + Ranks::words};")
	}
	k.Functions = append(k.Functions, a.directFunction())
}

// taggedPartition writes what makes the groups of a partition by searching for tags.
func (a *groupText) taggedPartition() {
	k, x := a.k, a.f.Partition
	a.emptyPartition("slot_count")
	k.Line("RADISH_NO_UNROLL for (u32 i = thread_index(); i < slot_count; i += RADISH_BLOCK) tags[i] = ~(RadixKey)0;")
	k.Line("block_barrier();")
	a.partitionTiles(x.Items(), func() {
		search := fmt.Sprintf("tag_slot(tags, slot_count, local_radix_key(radix_key_of(row), %d), %d)", x.Passes, x.tagBits())
		if x.wide {
			search = "find_slot(tags, slot_count, radix_key_of(row), false)"
		}
		a.someTogether(x.Items(), search, func() {
			k.Line("warp_barrier(full_mask()); // the threads of a warp look for their slots together")
			k.Open("if (slots[i] == no_slot) {")
			k.Line("%s_direct(p, row);", k.Title)
			k.Line("slots[i] = spare + lane();")
			k.Close()
			k.Line("warp_barrier(full_mask());")
		})
	})
	k.Line("block_barrier();")
	a.appendGroups("slot_count")
}

// rankedPartition writes what makes the groups of a partition whose tags are few: it goes over the rows twice, and the second time it knows their groups' numbers. The
// rows will mostly be in the L2 cache then.
func (a *groupText) rankedPartition() {
	k, passes := a.k, a.f.Partition.Passes
	k.Line("ranks.clear();")
	k.Line("block_barrier();")
	a.partitionTiles(a.f.Partition.Items(), func() { k.Line("ranks.mark(rows, %d);", passes) })
	k.Line("block_barrier();")
	k.Line("const u32 groups = min_of(ranks.number(tags, slot_count), slot_count);")
	a.emptyPartition("groups")
	k.Line("block_barrier();")
	a.partitionTiles(rankItems, func() {
		a.someTogether(rankItems, fmt.Sprintf("ranks.slot(local_radix_key(radix_key_of(row), %d))", passes), func() {
			k.Open("if (!is_pad(row) && slots[i] >= slot_count) { // there are more groups than slots")
			k.Line("%s_direct(p, row);", k.Title)
			k.Line("slots[i] = spare + lane();")
			k.Close()
		})
	})
	k.Line("block_barrier();")
	a.appendGroups("groups")
}

// directFunction is a function that adds a row to its group in device memory: a call, so that the loop over all rows stays small.
func (a *groupText) directFunction() string {
	return a.k.Callee("direct", []string{"const P& p", "Row row"}, a.directLines())
}

// appendGroups appends a partition's groups, or adds them to those that are there already. slots is the C++ of how many slots of the table may have one.
func (a *groupText) appendGroups(slots string) {
	k, p := a.k, a.f.Aggregate
	k.Line("const bool others = load_relaxed(%s) != 0;", k.Pointer("u32", kernel.CounterWord{Of: DirectGroups{p}}))
	k.Open("for (u32 base = 0; base < %s; base += RADISH_BLOCK) {", slots)
	k.Line("const u32 local = base + thread_index();")
	k.Line("const RadixKey tag = local < %s ? tags[local] : ~(RadixKey)0;", slots)
	k.Line("const bool taken = tag != ~(RadixKey)0;")
	if x := a.f.Partition; x.perfectHash != nil || x.wide {
		k.Line("const u64 key = %s;", a.partitionKey("tag"))
	} else {
		k.Line("const u64 key = unmix_word((u32)global_radix_key((u64)partition, tag, %d));", x.Passes)
	}
	k.Line("u64 g = taken && others ? find_packed(%s, %s, key) : no_group;", k.Pointer("const u64", GroupKeys{p}), k.Word(GroupMask{p}))
	if a.f.Shape == wordGroups { // they have slots behind the table, which hold what was added directly, or nothing
		special := "key == empty_key"
		if a.hasNullSlot() {
			special += " || tag == null_radix_key"
		}
		k.Open("if (taken && (%s)) {", special)
		if a.hasNullSlot() {
			k.Line("g = %s + 1 + (tag == null_radix_key);", k.Word(GroupMask{p}))
		} else {
			k.Line("g = %s + 1;", k.Word(GroupMask{p}))
		}
		k.Line("%s[g] = 0;", k.Pointer("u64", GroupKeys{p}))
		k.Close()
	}
	k.Line("const Adds how = g == no_group ? Adds::first : Adds::alone;")
	k.Line("const bool fresh = taken && how == Adds::first;")
	k.Line("const u64 at = block_append(%s, fresh);", k.Pointer("u64", kernel.CounterWord{Of: AppendedGroups{p}}))
	k.Open("if (fresh && at < %s) {", k.Word(AppendedCapacity{p}))
	k.Line("g = %s + at;", k.Word(AppendedFirst{p}))
	k.Line("%s[g] = key;", k.Pointer("u64", GroupKeys{p}))
	k.Close()
	k.Line("if (g == no_group) continue;")
	k.Line("const u32* first = table + local;")
	a.flushWords(map[int]string{}, "how")
	k.Close()
}
