package groupby

import (
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Shape is how groups are found.
type Shape uint8

const (
	ScalarGroups Shape = iota // one group
	DenseGroups               // the slot follows from the keys
	PackedGroups              // open addressing; keys are packed into less than 64 bits
	wordGroups                // open addressing over one key of 64 bits
	KeyedGroups               // open addressing; keys lie in arrays of their own
)

func (s Shape) String() string {
	return [...]string{"one group", "array", "packed keys", "one-word keys", "keys in columns"}[s]
}

// explained is what EXPLAIN calls it.
func (s Shape) explained() string {
	switch s {
	case ScalarGroups:
		return physical.ScalarAggregate.String()
	case DenseGroups:
		return physical.DenseAggregate.String()
	}
	return physical.HashAggregate.String()
}

// Form is how the groups of an aggregation lie on the device: arrays over their slots.
type Form struct {
	Aggregate *physical.Aggregate
	Shape     Shape
	shared    bool // each block has a table of its own in shared memory first
	byCopy    bool // which is laid out by copy
	keys      []groupKey
	form      *kernel.RowForm // the keys, settled
	Slots     int64           // of a dense form
	Accs      []*Accumulator
	items     []aggItem
	Arrays    []aggArray
	keyAt     int // KeyedGroups: first array of the keys
	// A dense slot is taken if the array seenAt says so or, where that is -1, the accumulator taken counts rows.
	seenAt, taken int
	feeds         []*Feed          // of the pipelines that end here
	Partition     *PartitionForm   // rows are partitioned first; nil: they are not
	PerfectHash   *PerfectHashForm // blocks have tables with a perfect hash; nil: they have none
}

// algorithm is one of those that bring rows to their groups. Functions that are nil do nothing, or what is usual (memory.go).
type algorithm struct {
	name string
	// prepare decides what has to be known before accumulators are laid out, and says whether the algorithm needs a count of rows. decide decides the rest. Both are called of all algorithms, in the order of the list.
	prepare func(feed *Feed) bool
	decide  func(feed *Feed)
	applies func(feed *Feed) bool   // the first of the list that applies is taken
	details func(feed *Feed) string // what EXPLAIN says besides the name
	row     func(a *groupText, keys, args []codegen.Value)
	declare func(a *groupText) []string // what stands in front of the loop over rows, in shared memory among it
	flush   func(a *groupText)          // writes what a block does behind it
	// declaresInRow says that row declares shared memory itself.
	declaresInRow bool

	// What the runner asks for: see the methods of Form with these names.
	first     func(f *Form, x *Expected) Capacity
	next      func(f *Form, c Capacity, full bool, counted Counter) (Capacity, bool)
	memory    func(f *Form, m *kernel.Memory, c Capacity) // adds to what groups need
	beside    func(f *Form, x *Source) *kernel.Memory
	moving    func(f *Form) *Moving
	copies    func(f *Form, t *kernel.SharedGroups, left int64) int
	blockRows func(copies int) int64
}

// What the runner and an algorithm tell each other (memory.go).

// Capacity is how many groups there is memory for.
type Capacity struct {
	Slots    int64 // where keys are looked up; one group has a slot, and an array as many as its form says
	Behind   int64 // groups that can be appended behind the slots
	Appended int64 // groups that were, once that is known
}

// Expected is what is known of groups before their rows come.
type Expected struct {
	Before *int64 // groups that there were when the same was done before; nil: that is not known
	Slots  int64  // that sufficed then; 0: that is not known
	Rows   int64  // the most that come; math.MaxInt64: that is not known
	Places int64  // that share the groups of rows which move
}

// Source is what is known of the rows when the kernels of a pipeline are about to be launched.
type Source struct {
	Rows   int64                                   // the most of this place
	Places int64                                   // to which the rows of all come, if they move
	Owned  func(partitions int64) (from, to int64) // those of so many partitions that this place has then
	Block  func(threads int) int                   // threads of a block of a kernel that wants so many
}

// Moving says how rows move between places in the midst of a pipeline. Each place shows the others some words. The kernels that follow get the first of the partitions that are this place's, their end,
// the number of other places, and then from each of these the words of one list, and of the next list.
type Moving struct {
	Partitions int64   // of which each place has a run
	Shows      [][]any // the keys of the words
	Others     any     // the key of the address of what the others have shown
}

// Counter is a counter as pipelines have left it.
type Counter func(kernel.CounterWord) int64

// Feed is how a pipeline brings its rows to the groups of an aggregation. Pipelines that end in one aggregation share its Form.
type Feed struct {
	*kernel.Outline
	f         *Form
	algorithm *algorithm
	state     any // what the algorithm has decided for itself
}

// groupText is the sink that fills groups.
type groupText struct {
	k *kernel.Kernel
	*Feed
	decl []string // in front of the loop over rows
	tail []string // and behind it

	inLocal bool   // what is being written concerns a block's own table of hashed keys
	own     string // C++: the first of a group's words in shared memory
	// global makes g that group's slot in device memory, in a block that closeGlobal ends. Set where sums count.
	global, closeGlobal func()
	windows             map[*Accumulator]string // C++: the thread's copies of the windows of sums of doubles
}

// note marks a dense slot as taken, where no count does.
func (a *groupText) note(slot string) {
	if a.f.seenAt >= 0 {
		a.k.Line("note(%s + %s);", a.k.Pointer("u8", GroupArray{a.f.Aggregate, a.f.seenAt}), slot)
	}
}

// arrayOf is the C++ of the address of an accumulator's array number i.
func (a *groupText) arrayOf(acc *Accumulator, i int) string {
	return a.k.Pointer(a.f.Arrays[acc.At+i].elem, GroupArray{a.f.Aggregate, acc.At + i})
}

// atGroup writes what is done to a row's group in device memory, whose slot it is told; slot is that of a dense form.
func (a *groupText) atGroup(slot string, write func(slot string)) {
	if !a.inLocal {
		write(slot)
		return
	}
	a.global()
	write("g")
	a.closeGlobal()
}

// groupKey is a key of known range: digit 0 is NULL, if it can be, and the values follow from min on.
type groupKey struct {
	min    int64
	digits uint64
	proven bool // no value lies outside
	stride uint64
	shift  uint
}

// PartitionForm says how rows are partitioned, and how the groups of a partition are found.
type PartitionForm struct {
	partition.Form
	blocks      int               // of a multiprocessor that a partition's table leaves memory for: 1 or 2
	table       int64             // bytes that a partition's table wants
	stride      int64             // slots that it has
	tables      int               // of a multiprocessor that add partitions up
	hot         int               // log2 of the frequent slots that a block adds up itself
	wide        bool              // keys of 64 bits: rows are of two words
	Hashed      bool              // slots are mixed keys; a partition's groups are found by hashing
	perfectHash *PerfectHashTable // of each partition's keys; nil: they are searched for
	arg         expr.Expr         // the value; nil: there is none
	acc         *Accumulator      // one that has it
	tuning      *kernel.PartitionedGroups
}

// PerfectHashTable is the table of a partition with a perfect hash: most slots are hashed, the others are searched.
type PerfectHashTable struct {
	tag, words       int64 // bytes of a tag, words of a group
	hashed, searched int64 // slots
	buckets          int64
}

// PerfectHashForm is a table with a perfect hash of its keys.
type PerfectHashForm struct {
	Slots, Buckets int64
	Tag            int64 // bytes of a tag
	slot           int64 // bytes of a slot: the tag and the accumulators
	sample         int64 // rows that are seen before keys get their slots
}

// partitionBitsLeast and partitionBitsMost bound the bits of a pass.
const partitionBitsLeast, partitionBitsMost = 7, 8

// aggItem says how an aggregate's value follows from accumulators.
type aggItem struct {
	acc     int
	count   int // counts the values that are not NULL; -1: there is one for sure
	squares int // of a variance: sums the squares
}

// accOp is what an accumulator does.
type accOp uint8

const (
	accCount accOp = iota
	accSum
	accFloatSum
	accMin // of integers and doubles
	accMax
	accBitAnd
	accBitOr
	accBitXor
	accAny
	accSingle
	accLeast // MIN and MAX of what does not fit an atomic
	accMost
	accFloatSquares // sums the squares of doubles
)

// Accumulator is an accumulator.
type Accumulator struct {
	op         accOp
	arg        expr.Expr    // nil: COUNT(*)
	like       codegen.Form // of the argument, in all pipelines
	narrow     bool         // a sum that is known to fit 64 bits
	limbs      int          // 32-bit words that it has in shared memory; 0: it is kept in device memory alone
	hasOffset  bool         // these hold offsets from like.Within.Lo
	nulls      expr.Expr    // what is NULL where arg is; nil: no more is known
	countsRows bool         // of a sum: the high half of its last word counts the rows
	in         *Accumulator // of a count: the sum that counts for it
	At         int          // its first array
	limb       int          // its first limb in the table in shared memory
}

// extreme is the part of device functions' names that says which extreme an accumulator is.
func (acc *Accumulator) extreme() string {
	if acc.op == accMin {
		return "min"
	}
	return "max"
}

// isWideExtreme says whether an accumulator is an extreme of values that do not fit a word.
func (acc *Accumulator) isWideExtreme() bool {
	return (acc.op == accMin || acc.op == accMax) && !acc.hasOffset
}

// Windowed says whether an accumulator adds doubles up, or their squares, in a window (sums.go).
func (acc *Accumulator) Windowed() bool { return acc.op == accFloatSum || acc.op == accFloatSquares }

// fitted is how many words of 64 bits hold what fitted that.
func (acc *Accumulator) fitted() int {
	if acc.op == accFloatSquares {
		return 4
	}
	return 2
}

// bits are what BIT_AND, BIT_OR and BIT_XOR are called in device functions' names, and as functors; "" for other accumulators.
func (acc *Accumulator) bits() (name, functor string) {
	switch acc.op {
	case accBitAnd:
		return "and", "And()"
	case accBitOr:
		return "or", "Or()"
	case accBitXor:
		return "xor", "Xor()"
	}
	return "", ""
}

// noWord is the C++ of what an accumulator's words in shared memory are without rows.
func (acc *Accumulator) noWord() string {
	if acc.op == accMin || acc.op == accBitAnd {
		return "~0u"
	}
	return "0"
}

// aggArray is an array over the slots.
type aggArray struct {
	elem  string
	width int64  // bytes of a group
	unit  int    // bytes of an item that is filled
	fill  uint64 // what it holds at first
}

// GroupArray is the address of an array.
type (
	GroupArray struct {
		P  *physical.Aggregate
		At int
	}
	GroupKeys   struct{ P *physical.Aggregate } // address of the packed keys, or of the slots' states
	GroupMask   struct{ P *physical.Aggregate } // slots - 1
	GroupsFull  struct{ P *physical.Aggregate } // address of the flag that the table is full
	GroupCopies struct{ P *physical.Aggregate } // log2 of the copies of the table in shared memory
	// DirectGroups counts what was added to an aggregation's groups directly, not by partitions: not 0, if something was.
	DirectGroups struct{ P *physical.Aggregate }
	windowOf     struct{ acc *Accumulator } // the counter that is the window of a sum of doubles, see sums.go
)

// Word is the key of a parameter that is about groups: an array's address, or a number.
type Word interface{ Of() *physical.Aggregate }

func (w GroupArray) Of() *physical.Aggregate     { return w.P }
func (w GroupKeys) Of() *physical.Aggregate      { return w.P }
func (w GroupMask) Of() *physical.Aggregate      { return w.P }
func (w GroupsFull) Of() *physical.Aggregate     { return w.P }
func (w GroupCopies) Of() *physical.Aggregate    { return w.P }
func (w PartitionSlots) Of() *physical.Aggregate { return w.P }

// LaunchMost is how many rows a launch may have, so that a cancelled query ends soon.
func (f *Form) LaunchMost(t *kernel.Tuning) int64 {
	few := f.Shape == ScalarGroups || f.shared || f.Partition == nil && f.Aggregate.EstGroups <= t.Shared.HotGroups
	alone := f.Shape != ScalarGroups && !f.shared && (f.Shape == KeyedGroups || !f.inWords()) // in device memory
	switch {
	case few && alone:
		return t.Launch.Hot
	case few && slices.ContainsFunc(f.Accs, func(acc *Accumulator) bool { return acc.Windowed() || acc.isWideExtreme() && f.Shape != ScalarGroups }):
		return t.Launch.Window
	}
	return kernel.MostLaunched
}

// find returns the number of an accumulator, or -1.
func (f *Form) find(op accOp, arg expr.Expr) int {
	for i, a := range f.Accs {
		if a.op == op && (a.arg == nil) == (arg == nil) && (arg == nil || expr.Equal(a.arg, arg)) {
			return i
		}
	}
	return -1
}

// acc returns an accumulator's number, adding it if there is none like it.
func (f *Form) acc(op accOp, arg expr.Expr) int {
	if i := f.find(op, arg); i >= 0 {
		return i
	}
	f.Accs = append(f.Accs, &Accumulator{op: op, arg: arg})
	return len(f.Accs) - 1
}

// array adds an array over the slots.
func (f *Form) array(elem string, width int64, unit int, fill uint64) int {
	f.Arrays = append(f.Arrays, aggArray{elem, width, unit, fill})
	return len(f.Arrays) - 1
}

// most is the most groups of so many rows: without keys one, even of no rows.
func (f *Form) most(rows float64) float64 {
	switch f.Shape {
	case ScalarGroups:
		return 1
	case DenseGroups:
		return min(rows, float64(f.Slots))
	}
	return rows
}

// inWords says whether all accumulators have words in shared memory, or are counted by one that has.
func (f *Form) inWords() bool {
	return !slices.ContainsFunc(f.Accs, func(acc *Accumulator) bool { return acc.limbs == 0 && acc.in == nil })
}

// limbs is the number of 32-bit words that accumulators have in shared memory.
func (f *Form) limbs() int {
	n := 0
	for _, a := range f.Accs {
		n += a.limbs
	}
	return n
}

// Words is the number of 32-bit words that a group has in shared memory.
func (f *Form) Words() int {
	n := f.limbs()
	if f.byCopy {
		n |= 1
	}
	return n
}

const (
	tableBlocks         = 4  // of a multiprocessor that add up small tables after two passes
	tableItems          = 4  // rows of a thread that they add together
	spareSlots          = 32 // of a table, for the threads of a warp: they take what is no row's
	strideSteps         = 8
	slotsPerGroup       = 2.4 // slots of a partition's table for each group that is expected: the fuller, the slower, by much
	rankBits            = 16  // of a tag, up to which groups are numbered by a bitmap
	slotsPerRankedGroup = 1.6 // slotsPerGroup then: more groups than that are added to the table in device memory
)

// tagBytes is the bytes of the slot or mixed key in a row, and of a tag.
func (x *PartitionForm) tagBytes() int64 { return x.RowBytes / 2 }

// slotsOfEach is the number of slots of a partition after some passes over so many slots.
func (x *PartitionForm) slotsOfEach(slots int64) int64 {
	return ((slots-1)>>(partition.NearBits+x.Bits*x.Passes) + 1) << partition.NearBits
}

// PartitionSlots is the number of slots that a partition's table has.
type PartitionSlots struct{ P *physical.Aggregate }

// tableCapacity is how many bytes a partition's table has if so many blocks share a multiprocessor.
func tableCapacity(shared, blocks int64) int64 {
	return min(shared, (shared+kernel.SharedRest+kernel.BlockShared)/blocks-kernel.BlockShared-kernel.SharedRest/4) &^ 15
}

// wantedStride is how many slots a partition's table should have, spare ones included: a few steps for each power of two, so that there are few different kernels. More
// shared memory than that is better left to the cache that loads go through.
func (x *PartitionForm) wantedStride(groups float64) int64 {
	wanted := x.slotsOfEach(int64(groups))
	if x.Hashed {
		wanted = x.partitionSlots(groups)
	}
	wanted += spareSlots
	step := max(kernel.PowerOfTwo(wanted)/strideSteps, 4)
	return kernel.RoundUp(wanted, step)
}

// slotBytes is what a slot of a table takes: the words and, where it is found by hashing, the tag.
func (x *PartitionForm) slotBytes(words int64) int64 {
	if x.Hashed {
		return 4*words + x.tagBytes()
	}
	return 4 * words
}

// partitionsForAll says whether the partitions of one pass are about as many as blocks run at once, or a multiple of it: a block sees to a partition as a whole.
func (x *PartitionForm) partitionsForAll(multiprocessors int) bool {
	partitions, blocks := 1<<x.Bits, x.blocks*multiprocessors
	rounds := (partitions + blocks - 1) / blocks
	return partitions*10 >= rounds*blocks*9
}

// partitionSlots is the number of slots of a partition's table of groups that are found by hashing.
func (x *PartitionForm) partitionSlots(groups float64) int64 {
	factor := slotsPerGroup
	if x.ranked() {
		factor = slotsPerRankedGroup
	}
	wanted := int64(groups * factor / float64(int64(1)<<(x.Bits*x.Passes)))
	return max(wanted, x.tuning.LeastSlots) &^ 3
}

// tagBits is the number of bits of a tag: what the passes have left of a slot.
func (x *PartitionForm) tagBits() int { return int(8*x.tagBytes()) - x.Bits*x.Passes }

// ranked says whether a partition's groups are numbered by a bitmap of their tags, not searched for.
func (x *PartitionForm) ranked() bool { return x.Hashed && x.tagBits() <= rankBits }

// rankBytes is what numbering them takes of shared memory: two words for each 32 tags.
func (x *PartitionForm) rankBytes() int64 {
	if !x.ranked() {
		return 0
	}
	return 8 << (x.tagBits() - 5)
}

// bytes is what a pass needs of shared memory where a block has so many threads.
func (x *PartitionForm) bytes(threads int) int64 { return x.SharedBytes(threads, x.hot) }
