package groupby

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Radix partitioning, for many rows of groups that do not fit shared memory: docs/internals/group-by.md#partitioning.
//
// The pipeline's kernel writes 8 bytes for each row, the group's slot and the value's offset, to a partition of the slots (partition.cuh). A second kernel splits
// partitions whose groups still do not fit. The last one gives each partition a block, which adds its rows up in shared memory (partitiontables.go).
//
// Hashed keys have the mixed key for a slot (hashed.go). Keys that do not pack into 32 bits make rows of 16 bytes.

var partitions = algorithm{
	name: "partitions",
	prepare: func(feed *Feed) bool {
		if feed.Pipelines.NoPartitions || feed.wantsRuns() || feed.f.Shape == DenseGroups && feed.fitsShared(true) {
			return false
		}
		feed.f.Partition = feed.choosePartition()
		return feed.f.Partition != nil // sums of offsets need the count
	},
	decide: func(feed *Feed) {
		if feed.f.Partition != nil {
			feed.sizePartition()
		}
	},
	applies: func(feed *Feed) bool { return feed.f.Partition != nil },
	details: func(feed *Feed) string {
		x := feed.f.Partition
		text := fmt.Sprintf(" of %d bits, passes: %d", x.Bits, x.Passes)
		if x.perfectHash != nil {
			text += ", perfect hash"
		}
		return text
	},
	row:     (*groupText).partitionRow,
	declare: (*groupText).declarePartitions,
	flush:   (*groupText).flushPartitions,

	first:  (*Form).firstTable,
	next:   (*Form).nextTable,
	memory: (*Form).directMemory,
	beside: (*Form).passes,
	moving: (*Form).movingRows,
}

// choosePartition decides whether rows are partitioned.
func (feed *Feed) choosePartition() *PartitionForm {
	f := feed.f
	x := &PartitionForm{Form: partition.Form{RowBytes: 8, Moves: feed.Pipelines.Target.Moves[f.Aggregate]}, tuning: &feed.Pipelines.Target.Tuning.Partition, Hashed: f.Shape == PackedGroups || f.Shape == wordGroups}
	groups := f.groups()
	if x.Hashed {
		if groups < x.tuning.HashedGroups || groups*feed.Pipelines.Target.Tuning.Shared.HashedSlots <= float64(feed.localSlots()) || feed.choosePerfectHash(feed.tableWords(false, true)) != nil {
			return nil
		}
		if x.wide = f.Shape == wordGroups || !f.keysFitWord(); x.wide {
			x.RowBytes = 16
		}
	}
	if !x.Hashed && f.Shape != DenseGroups || groups >= math.MaxUint32 || !feed.Tiled || feed.GivesMany || feed.Pipelines.IsShared(f.Aggregate) || feed.MaxRows >= 1<<31 {
		return nil
	}
	if !x.tuning.Pays(feed.rowsIn(), groups) {
		return nil
	}
	for _, acc := range f.Accs {
		_, hasOffset := feed.limbs(acc)
		switch {
		case acc.op == accCount && acc.arg == nil:
			continue
		case acc.op != accSum && acc.op != accMin && acc.op != accMax || acc.like.IsNullable:
			return nil
		case acc.op != accSum && !hasOffset:
			return nil
		}
		if !acc.like.Known || acc.like.Class != form.Int || uint64(acc.like.Within.Hi)-uint64(acc.like.Within.Lo) > math.MaxUint32 || x.arg != nil && !expr.Equal(x.arg, acc.arg) {
			return nil
		}
		x.arg, x.acc = acc.arg, acc
	}
	words := feed.tableWords(true, true)
	// The fewest passes, and the fewest partitions whose tables fit shared memory: the more partitions, the slower a pass.
	shared := feed.Pipelines.Target.SharedBytes
	x.Passes = x.tuning.Passes
	if x.Moves { // in the second one
		x.Passes = 2
	}
	for ; x.Passes <= 2; x.Passes++ {
		for x.Bits = partitionBitsLeast; x.Bits <= partitionBitsMost; x.Bits++ {
			for x.blocks = 2; x.blocks >= 1; x.blocks-- {
				capacity := tableCapacity(shared, int64(x.blocks))
				if x.Hashed && x.Bits < partitionBitsMost && (x.Passes == 2 || !x.partitionsForAll(feed.Pipelines.Target.Multiprocessors)) {
					continue
				}
				if x.Hashed && !x.ranked() && x.tuning.PaysPerfectHash(feed.rowsIn(), groups) {
					if t := x.perfectHashTable(words, groups/float64(int64(1)<<x.Bits), min(capacity, x.tuning.PerfectHashBytes)); t != nil {
						x.perfectHash, x.table = t, t.bytes()
						return x
					}
				}
				if x.table = x.tableBytes(groups, words); x.table <= capacity {
					return x
				}
			}
		}
	}
	return nil
}

// partitionRow notes a row. A tile's rows are added to frequent slots, or else written to their partitions.
func (a *groupText) partitionRow(keys, args []codegen.Value) {
	k, f := a.k, a.f
	k.Threads, k.Items, k.Blocks = partition.Threads, f.Partition.Items(), partition.Blocks
	k.Defines = []string{fmt.Sprintf("RADISH_PARTITION_BITS %d", f.Partition.Bits), fmt.Sprintf("RADISH_HOT_BITS %d", f.Partition.hot)}
	if f.Partition.wide {
		k.Defines = append(k.Defines, "RADISH_WIDE_ROWS")
	}
	slot, offset := a.partitionSlot(keys, args), "0"
	for i, acc := range f.Accs {
		if acc == f.Partition.acc {
			offset = fmt.Sprintf("(u32)((u64)%s - %s)", args[i].Text, k.Literal(uint64(acc.like.Within.Lo)))
		}
	}
	k.Line("partition_rows[i] = group_row(%s, %s);", slot, offset)
	if f.Partition.wide {
		k.Close()
	}
	partition.Tile(k, a.hotRows)
}

// declarePartitions declares what the pipeline's kernel needs, with frequent slots.
func (a *groupText) declarePartitions() []string {
	x := a.f.Partition
	lines := append(x.Declare(0, a.directLines()), a.declareHot()...)
	return append(lines, fmt.Sprintf("partitioner.begin(%s);", x.Out(a.k, a.f.Aggregate, 0, "0")))
}

// flushPartitions writes what the blocks still hold, and makes the kernels that come after.
func (a *groupText) flushPartitions() {
	k, f := a.k, a.f
	k.Line("partitioner.finish(direct);")
	a.flushHot()
	if f.Partition.Moves {
		k.Then = append(k.Then, a.adoptKernel())
	}
	if f.Partition.Passes == 2 {
		k.Then = append(k.Then, a.splitKernel())
	}
	k.Then = append(k.Then, a.tablesKernel())
	if f.Partition.Moves {
		drop := a.dropKernel()
		drop.Meets = true // the others have taken what is theirs
		k.Then = append(k.Then, drop)
	}
}

// splitKernel splits each partition.
func (a *groupText) splitKernel() *kernel.Kernel {
	sub, b := a.thenKernel("_split")
	x := a.f.Partition
	x.Split(sub, a.f.Aggregate, b.directLines(), kernel.SharedMemory{Threads: x.bytes})
	return sub
}

// Where rows of several devices come together, each owns a run of the partitions of the first pass, and its second pass goes over the rows that all have of these. What was added to groups
// directly before, as the rows of frequent slots are, lies where it was met. The owner adds it to its own groups (adopt). When all owners have done so, others' groups are dropped.

// directWords are the words that tell other devices of the groups that were added to directly: the address of DirectGroups, that of the keys, the number of slots, and the addresses of all arrays.
// They follow behind the sources of partition.Others, in the same order.
const directWords = 3

// directSlots is the number of slots that may have such groups.
type directSlots struct{ of *physical.Aggregate }

func (w directSlots) Of() *physical.Aggregate { return w.of }

// movingRows says what devices show each other before the second pass.
func (f *Form) movingRows() *Moving {
	if !f.Partition.Moves {
		return nil
	}
	p := f.Aggregate
	word := func(what partition.Item) any { return partition.Word{Of: p, What: what} }
	direct := []any{kernel.CounterWord{Of: DirectGroups{p}}, GroupKeys{p}, directSlots{p}}
	for i := range f.Arrays {
		direct = append(direct, GroupArray{p, i})
	}
	return &Moving{Partitions: f.Partition.Partitions(1), Shows: [][]any{{word(partition.Rows), word(partition.Counts), word(partition.Capacity)}, direct}, Others: word(partition.Others)}
}

// adoptKernel adds to the groups of this device what others have added to these directly.
func (a *groupText) adoptKernel() *kernel.Kernel {
	sub, b := a.thenKernel("_adopt")
	f := a.f
	b.ownedPartitions()
	sub.Open("for (i64 source = 0; source < (i64)others[2]; source++) {")
	sub.Line("const u64* const other = others + %d + %d * (i64)others[2] + %d * source;", partition.OthersHead, partition.OthersSource, directWords+len(f.Arrays))
	sub.Line("if (load_relaxed(as_pointer<const u32>(other[0])) == 0) continue;")
	from := func(i int) string {
		return fmt.Sprintf("as_pointer<const %s>(other[%d])", f.Arrays[i].elem, directWords+i)
	}
	b.directSlots("as_pointer<const u64>(other[1])", "(i64)other[2]", func(i int) string { return from(i) }, func() {
		sub.Open("if (owned) {")
		sub.Line("store_relaxed(%s, 1u);", sub.Pointer("u32", kernel.CounterWord{Of: DirectGroups{f.Aggregate}}))
		if f.Partition.Hashed {
			b.openGroup("g", "_aside", "key", "is_null")
		} else {
			sub.Line("const i64 g = row;")
		}
		for _, acc := range f.Accs {
			to := func(i int) string { return b.arrayOf(acc, i) + " + g" }
			value := func(i int) string { return from(acc.At+i) + "[row]" }
			switch {
			case acc.op == accCount, acc.op == accSum && acc.narrow:
				sub.Line("atomic_add(%s, %s);", to(0), value(0))
			case acc.op == accSum:
				sub.Line("add_wide(%s, %s, as_i128(%s, %s));", to(0), to(1), value(0), value(1))
			default:
				sub.Line("keep_%s(%s, %s);", acc.extreme(), to(0), value(0))
			}
		}
		if f.Partition.Hashed {
			sub.Close()
		}
		sub.Close()
	})
	sub.Close()
	return sub
}

// dropKernel drops the groups that other devices have.
func (a *groupText) dropKernel() *kernel.Kernel {
	sub, b := a.thenKernel("_drop")
	f := a.f
	b.ownedPartitions()
	keys, slots := "", sub.Literal(uint64(f.Slots))
	if f.Partition.Hashed {
		keys, slots = sub.Pointer("u64", GroupKeys{f.Aggregate}), fmt.Sprintf("(i64)%s + 3", sub.Word(GroupMask{f.Aggregate}))
	}
	array := func(i int) string { return sub.Pointer("u64", GroupArray{f.Aggregate, i}) }
	sub.Open("if (load_relaxed(%s) != 0) {", sub.Pointer("u32", kernel.CounterWord{Of: DirectGroups{f.Aggregate}}))
	b.directSlots(keys, slots, array, func() {
		if f.Partition.Hashed {
			sub.Line("if (!owned) %s[row] = empty_key;", keys)
		} else {
			sub.Line("if (!owned) %s[row] = 0;", array(f.Accs[f.taken].At))
		}
	})
	sub.Close()
	return sub
}

// ownedPartitions declares the partitions of the first pass that this device owns.
func (a *groupText) ownedPartitions() {
	k, x := a.k, a.f.Partition
	k.Defines = []string{fmt.Sprintf("RADISH_PARTITION_BITS %d", x.Bits)}
	if x.wide {
		k.Defines = append(k.Defines, "RADISH_WIDE_ROWS")
	}
	k.Line("const u64* const others = %s;", k.Pointer("const u64", partition.Word{Of: a.f.Aggregate, Pass: 0, What: partition.Others}))
	k.Line("const i64 first = (i64)others[0], end_of_all = (i64)others[1];")
}

// directSlots writes a loop over the groups of a table in device memory whose keys and arrays lie somewhere, which says whether this device owns a group: row is its slot.
func (a *groupText) directSlots(keys, slots string, array func(i int) string, body func()) {
	k, f := a.k, a.f
	k.Open("for (i64 row = global_thread(); row < %s; row += global_threads()) {", slots)
	switch x := f.Partition; {
	case !x.Hashed:
		k.Line("if (%s[row] == 0) continue;", array(f.Accs[f.taken].At))
		k.Line("const u32 radix_key = (u32)row;")
	case !x.wide:
		k.Line("const u64 key = %s[row];", keys)
		k.Line("constexpr bool is_null = false;")
		k.Line("if (key == empty_key) continue;")
		k.Line("const u32 radix_key = mix_word((u32)key);")
	default:
		k.Line("u64 key = %s[row];", keys)
		k.Line("if (key == empty_key) continue;")
		null := "false"
		if f.Shape == wordGroups { // two keys have slots behind the table
			k.Line("if (row == %s - 2) key = empty_key;", slots)
			if a.hasNullSlot() {
				null = fmt.Sprintf("row == %s - 1", slots)
			}
		}
		k.Line("const bool is_null = %s;", null)
		k.Line("const u64 radix_key = is_null ? null_radix_key : mix(key);")
	}
	k.Line("const i64 partition = (i64)((u32)(radix_key >> near_bits) & (partitions - 1));")
	k.Line("const bool owned = partition >= first && partition < end_of_all;")
	body()
	k.Close()
}

// Groups that are found by hashing have a small table in device memory, besides those that partitions append behind it. nextTable makes either larger.

func (f *Form) firstTable(x *Expected) Capacity {
	groups := int64(f.Aggregate.EstGroups)
	if f.Partition.Moves {
		groups /= x.Places
	}
	if x.Before != nil {
		groups = *x.Before
	}
	slots, behind := f.Partition.tuning.Table(groups)
	return Capacity{Slots: slots, Behind: behind}
}

func (f *Form) nextTable(c Capacity, full bool, counted Counter) (Capacity, bool) {
	c.Appended = counted(kernel.CounterWord{Of: AppendedGroups{f.Aggregate}})
	switch {
	case c.Appended > c.Behind:
		return Capacity{Slots: c.Slots, Behind: c.Appended + c.Appended/4}, true
	case full:
		return Capacity{Slots: 16 * c.Slots, Behind: c.Behind}, true
	}
	return c, false
}

// directMemory adds what kernels ask for of the table.
func (f *Form) directMemory(m *kernel.Memory, c Capacity) {
	p := f.Aggregate
	m.Count(DirectGroups{p}, kernel.CounterWord{Of: DirectGroups{p}})
	m.Number(PartitionSlots{p}, uint64(f.partitionSlots()))
	if !f.Partition.Hashed {
		m.Number(GroupKeys{p}, 0)
		m.Number(directSlots{p}, uint64(f.Slots))
		return
	}
	m.Count(AppendedGroups{p}, kernel.CounterWord{Of: AppendedGroups{p}})
	m.Number(AppendedFirst{p}, uint64(c.Slots+spareGroups))
	m.Number(AppendedCapacity{p}, uint64(c.Behind))
	m.Number(directSlots{p}, uint64(c.Slots+spareGroups))
}

// passes is the memory of the partitions of all passes. If there is none for the rows of one, its partitions have no capacity: all rows go to their groups directly.
func (f *Form) passes(x *Source) *kernel.Memory {
	m, p, form := &kernel.Memory{}, f.Aggregate, f.Partition
	places, before := int64(1), int64(0) // whose rows the second pass goes over, and the capacity of a partition of the first one
	if form.Moves {
		places = x.Places
	}
	for pass := range form.Passes {
		count := form.Partitions(pass + 1)
		share := float64(x.Rows) / float64(form.Partitions(1))
		slack := form.tuning.Slack.Of(max(p.EstGroups, 1)/float64(count), form.Hashed)
		lines := int64(partition.MostBlocks)
		if pass == 1 {
			share = float64(places*before) / float64(form.Partitions(1))
			lines = places * (before/int64(x.Block(partition.Threads)*form.Items()*partition.ChunkTiles) + 2)
		}
		capacity := min((int64(share*(1+slack))/form.LineRows()+lines+8)*form.LineRows(), form.tuning.Capacity)
		before = capacity
		word := func(what partition.Item) partition.Word { return partition.Word{Of: p, Pass: pass, What: what} }
		m.AddFilled(word(partition.Counts), count, 4, 0)
		first := int64(0)
		if form.Moves && pass == 1 { // only what this place owns of them
			from, to := x.Owned(form.Partitions(1))
			first, count = from*form.Partitions(1), (to-from)*form.Partitions(1)
		}
		m.Number(word(partition.Capacity), uint64(capacity))
		m.Arrays = append(m.Arrays, kernel.Array{Key: word(partition.Rows), From: first * capacity, Items: count * capacity, Unit: int(form.RowBytes), Spared: word(partition.Capacity)})
	}
	return m
}

// partitionSlots is the number of slots that a partition's table has, besides the spare ones.
func (f *Form) partitionSlots() int64 {
	x := f.Partition
	if x.Hashed {
		return min(x.partitionSlots(f.Aggregate.EstGroups), (x.stride-spareSlots)&^3)
	}
	return x.slotsOfEach(f.Slots)
}
