package groupby

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// A perfect hash in shared memory, for few groups with hashed keys of one word: each key has one slot (gpukernels/device/displace.cuh).
// The table has the mixed keys as tags, of 32 bits if the packed keys fit these, else of 64.
//
// The kernel runs twice. First it runs over some tiles from all over the table, and one block makes a perfect hash of their groups' keys.
// Then it runs over the other tiles. Rows of keys without a slot go to device memory.

// slotsPerBucket is how many slots of a perfect hash there are for each bucket, or fewer.
const slotsPerBucket = 3.5

// bytes is what the table takes of shared memory.
func (x *PerfectHashForm) bytes() int64 { return x.Slots*x.slot + x.Buckets }

// PerfectHashWord is the address of one of the arrays of a perfect hash.
type PerfectHashWord struct {
	P  *physical.Aggregate
	At PerfectHashArray
}

func (w PerfectHashWord) Of() *physical.Aggregate { return w.P }

// PerfectHashArray is one of the arrays.
type PerfectHashArray uint8

const (
	PerfectHashTags    PerfectHashArray = iota // of each slot
	PerfectHashNumbers                         // of each bucket
	PerfectHashList                            // while slots are given: tags, and the number of the one before in the same bucket
	PerfectHashBefore
)

// fill makes the table so large.
func (x *PerfectHashForm) fill(bytes int64) {
	x.Buckets = kernel.PowerOfTwo(int64(float64(bytes/x.slot) / slotsPerBucket))
	x.Slots = (bytes - x.Buckets) / x.slot &^ 3
}

// elem is the C++ of a tag's type.
func (x *PerfectHashForm) elem() string {
	if x.Tag == 8 {
		return "u64"
	}
	return "u32"
}

// perfectHashFull is the most keys for each slot.
const perfectHashFull = 0.9

var perfectHash = algorithm{
	name: "perfect hash in front",
	decide: func(feed *Feed) {
		if f := feed.f; f.Partition == nil && f.inWords() && !feed.wantsRuns() {
			f.PerfectHash = feed.choosePerfectHash(int64(f.limbs()))
		}
	},
	applies: func(feed *Feed) bool { return feed.f.PerfectHash != nil },
	row:     (*groupText).perfectHashRow,
	declare: (*groupText).declarePerfectHash,
	flush:   (*groupText).flushLocal,
	memory: func(f *Form, m *kernel.Memory, _ Capacity) {
		x := f.PerfectHash
		word := func(at PerfectHashArray) PerfectHashWord { return PerfectHashWord{f.Aggregate, at} }
		m.AddFilled(word(PerfectHashTags), x.Slots, int(x.Tag), math.MaxUint64) // no key has a slot at first
		m.AddFilled(word(PerfectHashNumbers), x.Buckets, 1, 0)
		m.Add(word(PerfectHashList), x.Slots, int(x.Tag))
		m.Add(word(PerfectHashBefore), x.Slots, 2)
	},
}

// choosePerfectHash decides whether keys have a perfect hash, where groups have so many words of accumulators; nil: they are not.
func (feed *Feed) choosePerfectHash(words int64) *PerfectHashForm {
	f := feed.f
	if f.Shape != PackedGroups && f.Shape != wordGroups || !feed.scansTable() || feed.Pipelines.IsShared(f.Aggregate) || feed.rowsIn() < feed.Pipelines.Target.Tuning.PerfectHash.Rows {
		return nil
	}
	tuning := &feed.Pipelines.Target.Tuning.PerfectHash
	x := &PerfectHashForm{Tag: 4, sample: tuning.Sample(int64(f.Aggregate.EstGroups))}
	if f.Shape != PackedGroups || !f.keysFitWord() {
		x.Tag = 8
	}
	x.slot = x.Tag + 4*words
	// A small table leaves a multiprocessor more threads; any other is as large as can be, since the estimate may be too low.
	if x.fill(tuning.Small); f.Aggregate.EstGroups > float64(x.Slots)/8 {
		x.fill(feed.Pipelines.Target.SharedBytes)
	}
	if f.Aggregate.EstGroups > perfectHashFull*float64(x.Slots) {
		return nil
	}
	return x
}

// perfectHashRow adds a row to the block's table or, if its key has no slot there, to the one in device memory.
func (a *groupText) perfectHashRow(keys, args []codegen.Value) {
	k, x := a.k, a.f.PerfectHash
	k.Threads = k.SharedThreads(x.bytes())
	key, tag, slot := k.Name("key"), k.Name("tag"), k.Name("slot")
	text, null := a.oneWord(keys)
	k.Line("const u64 %s = %s;", key, text)
	if null != "false" {
		k.Open("if (%s) {", null)
		a.openGroup("g", "_aside", key, "true")
		a.updateAll(args, "g")
		k.Close()
		k.Else()
	}
	there := fmt.Sprintf("local_keys[%s] == %s", slot, tag)
	if x.Tag == 8 {
		k.Line("const u64 %s = spread_word(%s);", tag, key)
		there += fmt.Sprintf(" && %s != empty_key", tag)
	} else {
		k.Line("const u32 %s = mix_word((u32)%s);", tag, key)
	}
	k.Line("const u32 %s = displaced_slot(displaced_word(%s), numbers[displaced_word(%s) >> %d], slot_count);", slot, tag, tag, x.shift())
	k.Open("if (%s) {", there)
	a.global, a.closeGlobal = func() { a.openGroup("g", "_aside", key, "false") }, k.Close
	a.inLocal = true
	a.updateAll(args, slot)
	a.inLocal = false
	k.Else()
	k.Line("%s", a.aside(key, args))
	k.Close()
	if null != "false" {
		k.Close()
	}
	k.Learn, k.LearnRows = a.displaceKernel(), x.sample
}

// shift takes a word to its bucket.
func (x *PerfectHashForm) shift() int { return 32 - bits.TrailingZeros64(uint64(x.Buckets)) }

// of is the C++ of one of the arrays of a perfect hash.
func (w PerfectHashWord) of(k *kernel.Kernel, x *PerfectHashForm) string {
	elem := x.elem()
	switch w.At {
	case PerfectHashNumbers:
		elem = "u8"
	case PerfectHashBefore:
		elem = "u16"
	}
	return k.Pointer(elem, w)
}

// declarePerfectHash copies the perfect hash and makes its groups empty.
func (a *groupText) declarePerfectHash() []string {
	k, x := a.k, a.f.PerfectHash
	k.Shared = kernel.SharedMemory{Bytes: x.bytes()}
	lines := []string{
		"// Each block has a table of its own in shared memory: the keys of the perfect hash, then the words of one limb after those of another, then the buckets' numbers.",
		"constexpr u32 copies = 0, copy = 0;",
		fmt.Sprintf("constexpr u32 slot_count = %d, buckets = %d;", x.Slots, x.Buckets),
		"constexpr i32 stride = (i32)slot_count;",
		fmt.Sprintf("%s* local_keys = shared_at<%s>(0);", x.elem(), x.elem()),
		"u32* table = reinterpret_cast<u32*>(local_keys + slot_count);",
		fmt.Sprintf("u8* numbers = shared_at<u8>(%d);", x.Slots*x.slot),
		fmt.Sprintf("RADISH_NO_UNROLL for (u32 i = thread_index(); i < slot_count; i += RADISH_BLOCK) local_keys[i] = %s[i];", PerfectHashWord{a.f.Aggregate, PerfectHashTags}.of(k, x)),
		fmt.Sprintf("RADISH_NO_UNROLL for (u32 i = thread_index(); i < buckets; i += RADISH_BLOCK) numbers[i] = %s[i];", PerfectHashWord{a.f.Aggregate, PerfectHashNumbers}.of(k, x)),
	}
	return append(append(lines, a.emptyWords()...), "block_barrier();")
}

// displaceKernel gives the keys of the groups that were seen their slots.
func (a *groupText) displaceKernel() *kernel.Kernel {
	sub, _ := a.thenKernel("_hash")
	sub.Threads = 1024 // one block does it
	p, x := a.f.Aggregate, a.f.PerfectHash
	sub.Shared = kernel.SharedMemory{Bytes: x.Tag*x.Slots + (4+1)*x.Buckets}
	array := func(array PerfectHashArray) string { return PerfectHashWord{p, array}.of(sub, x) }
	sub.Line("constexpr u32 slots = %d, buckets = %d;", x.Slots, x.Buckets)
	sub.Line("%s* tags = shared_at<%s>(0);", x.elem(), x.elem())
	sub.Line("u32* last = reinterpret_cast<u32*>(tags + slots);")
	sub.Line("u8* sizes = reinterpret_cast<u8*>(last + buckets);")
	sub.Line("const Displacing<%s> displacing{slots, buckets, %d, tags, last, sizes, %s, %s};", x.elem(), x.shift(), array(PerfectHashList), array(PerfectHashBefore))
	sub.Line("build_perfect_hash(%s, %s + 1, %v, displacing, %s, %s);", sub.Pointer("const u64", GroupKeys{p}), sub.Word(GroupMask{p}), a.f.Shape == wordGroups,
		array(PerfectHashTags), array(PerfectHashNumbers))
	return sub
}
