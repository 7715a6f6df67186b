package radix

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Join is a join whose sides are partitioned, or sorted.
type Join struct {
	build    *physical.Build
	probe    *physical.Probe
	pipeline *physical.Pipeline // of the probe,
	at       int                // the number of the probe's transform
	why      string             // it is partitioned, or sorted
	isSorted bool               // the sides are sorted and merged, and not partitioned
	no       string             // why they cannot be sorted, if Settle or SettleProbe finds that

	keyForms, payloadForms []codegen.Form // of the build's keys and payload

	keys       packedKeys
	partitions partition.Form
	sides      [2]*partition.Layout // of the build's rows and the probe's
	settled    bool                 // all of these are known

	// The table of a piece of the build.
	Capacity int64 // rows
	slotBits int
}

// Side is one side of a partitioned join: whose rows a partition.Word is about.
type Side struct {
	Join    *Join
	IsProbe bool
}

// BuildSide and ProbeSide are the two sides.
func (x *Join) BuildSide() Side { return Side{x, false} }
func (x *Join) ProbeSide() Side { return Side{x, true} }

// Build is the build whose rows are partitioned, Pipeline that of the probe.
func (x *Join) Build() *physical.Build       { return x.build }
func (x *Join) Pipeline() *physical.Pipeline { return x.pipeline }

// IsSettled says whether SettleProbe has decided everything.
func (x *Join) IsSettled() bool { return x.settled }

// Form is how the rows of a side are partitioned.
func (s Side) Form() *partition.Form {
	f := s.Join.partitions
	if f.RowBytes = 8 * int64(s.layout().Words); f.RowBytes > wideRow {
		f.Blocks, f.Prefetch = min(f.Blocks, 1), false // tiles of so many bytes would fill the cache
	}
	return &f
}

func (s Side) layout() *partition.Layout {
	if s.IsProbe {
		return s.Join.sides[1]
	}
	return s.Join.sides[0]
}

// of makes what it is embedded in a word of a build: package join's Word.
type of struct{ build *physical.Build }

// Of is the build.
func (w of) Of() *physical.Build { return w.build }

// The words of the kernel that joins.
type (
	workWord    struct{ of } // address of the list of pieces of work; 0: each partition is one,
	piecesWord  struct{ of } // how many they are,
	takenWord   struct{ of } // and the address of a counter of those that were taken
	seenWord    struct{ of } // address of a byte for each row of the probe's side: it has found a match in an earlier table of its partition
	matchedWord struct{ of } // address of a bit for each row of the build's side: it has found a match
	nullsWord   struct{ of } // address of a word: not 0 if the build has a row whose key is NULL
	someWord    struct{ of } // not 0 if the build has other rows
)

// Work, Pieces, Taken, Seen, Matched, Nulls and Some are the keys of these words.
func (x *Join) Work() any    { return workWord{of{x.build}} }
func (x *Join) Pieces() any  { return piecesWord{of{x.build}} }
func (x *Join) Taken() any   { return takenWord{of{x.build}} }
func (x *Join) Seen() any    { return seenWord{of{x.build}} }
func (x *Join) Matched() any { return matchedWord{of{x.build}} }
func (x *Join) Nulls() any   { return nullsWord{of{x.build}} }
func (x *Join) Some() any    { return someWord{of{x.build}} }

// Keeps says whether rows of the probe's side without a match live on.
func (x *Join) Keeps() bool {
	switch x.probe.Kind {
	case logical.InnerJoin, logical.SemiJoin:
		return false
	}
	return true
}

// Loops says whether a piece of work has all of the build's rows of its partition, in tables one after another: what becomes of a row depends on all of them. Otherwise each table is a
// piece of its own.
func (x *Join) Loops() bool { return x.probe.Kind != logical.InnerJoin || x.Notes() }

// Notes says whether the build's rows note that they have found a match.
func (x *Join) Notes() bool { return x.build.KeepUnmatched }

// MayBeUnknown says whether a mark may be NULL.
func (x *Join) MayBeUnknown() bool {
	return x.probe.Kind == logical.MarkJoin && (x.keys.nullable[0] || x.keys.nullable[1])
}

// Blocks and threads of the kernel that joins.
const (
	joinThreads  = 512
	joinBlocks   = 2    // of a multiprocessor, or one where a side has rows of more than wideRow bytes: a thread's rows fill its registers
	wideRow      = 32   // bytes
	expectedFull = 0.89 // of a table's rows, that a partition is expected to have
	mostBits     = 8    // of one of two passes
)

// The bits of a radix key by which a pass partitions rows, of one that is not alone mostBits at most.
const (
	LeastBits   = 5
	OnePassBits = 9
)

// Settle notes the forms of the build's keys and of its payload; false: such rows cannot be partitioned.
func (x *Join) Settle(o *kernel.Outline) bool {
	x.settled = false
	x.keyForms, x.payloadForms = nil, nil
	for _, e := range x.build.Keys {
		v, err := o.Forms.Of(e)
		if err != nil {
			return false
		}
		x.keyForms = append(x.keyForms, v)
	}
	for _, c := range x.build.Payload {
		v, err := o.Forms.Of(c)
		if err != nil {
			return false
		}
		x.payloadForms = append(x.payloadForms, v)
	}
	return true
}

// SettleProbe decides how the rows of both sides are packed and partitioned, of the probe's those columns that live on; false: they cannot be.
func (x *Join) SettleProbe(o *kernel.Outline) bool {
	forms := make([]codegen.Form, len(x.probe.Keys))
	for i, e := range x.probe.Keys {
		var err error
		if forms[i], err = o.Forms.Of(e); err != nil {
			return false
		}
	}
	if !x.packKeys(forms) {
		x.no = "its keys do not pack into 64 bits"
		return false
	}
	var ids []expr.ColumnID
	var values []codegen.Form
	for i, c := range x.build.Payload {
		if keyNumber(x.build.Keys, c.ID) < 0 || !x.recovers(false) {
			ids, values = append(ids, c.ID), append(values, x.payloadForms[i])
		}
	}
	ids, values = x.carryKeys(x.build.Keys, x.keyForms, false, ids, values)
	x.no = fmt.Sprintf("a row carries more than %d bytes", 8*partition.MostWords)
	if x.sides[0] = partition.NewLayout(x.keys.wide, ids, values); x.sides[0] == nil {
		return false
	}
	ids, values = nil, nil
	for _, id := range x.kept() {
		if v, ok := o.Forms.Column(id); ok && (keyNumber(x.probe.Keys, id) < 0 || !x.recovers(true)) {
			ids, values = append(ids, id), append(values, v)
		}
	}
	ids, values = x.carryKeys(x.probe.Keys, forms, true, ids, values)
	if x.sides[1] = partition.NewLayout(x.keys.wide, ids, values); x.sides[1] == nil {
		return false
	}
	if x.isSorted {
		x.partitions = partition.Form{Passes: 1, Bits: LeastBits}
		o.SourceShared = x.mergeBytes()
	} else {
		if !x.size(o.Pipelines.Target) {
			return false
		}
		o.SourceShared = x.tableBytes()
	}
	o.Apart, o.Tiled = true, false
	x.settled = true
	return true
}

// size decides on the table, and on how many partitions there are.
func (x *Join) size(target *kernel.Target) bool {
	budget := (target.SharedBytes+kernel.SharedRest+kernel.BlockShared)/int64(x.blocks()) - kernel.BlockShared - kernel.SharedRest
	x.Capacity = 0
	for slots := 6; slots <= 14; slots++ {
		left, of32 := budget-4<<slots, 32*x.rowBytes()
		if x.Notes() {
			left, of32 = left-8, of32+4
		}
		rows := min(32*left/of32, 9<<slots/8) &^ 31
		if rows > x.Capacity {
			x.Capacity, x.slotBits = rows, slots
		}
	}
	tuning := &target.Tuning.Radix
	if tuning.TableRows > 0 {
		x.Capacity = min(x.Capacity, tuning.TableRows)
	}
	if x.Capacity < 32 {
		return false
	}
	wanted := bits.Len64(uint64(x.build.EstRows / (expectedFull * float64(x.Capacity))))
	if tuning.Bits > 0 {
		wanted = tuning.Bits * tuning.Passes
	}
	x.partitions = partition.Form{Passes: 1, Bits: min(max(wanted, LeastBits), OnePassBits), HasRanges: true, Blocks: tuning.Blocks, Prefetch: tuning.Prefetch}
	if wanted > OnePassBits && tuning.PassesMost > 1 || tuning.Passes == 2 {
		x.partitions.Passes, x.partitions.Bits = 2, min(max((wanted+1)/2, LeastBits), mostBits)
	}
	for x.passBytes() > target.SharedBytes && x.partitions.Bits > LeastBits {
		if x.partitions.Passes == 1 && tuning.PassesMost > 1 {
			x.partitions.Passes, x.partitions.Bits = 2, max((wanted+1)/2, LeastBits)
			continue
		}
		x.partitions.Bits--
	}
	return tuning.Forced || target.MemoryBytes == 0 || x.partitionBytes() <= float64(target.MemoryBytes)*partitionShare
}

// partitionShare is the share of a device's memory that partitions may take. A hash table, which has the build's rows only, serves joins that would need more.
const partitionShare = 0.5

// partitionBytes is about what both sides take in partitions: a side during its second pass twice its rows, when those of the build lie there already.
func (x *Join) partitionBytes() float64 {
	build, probe := x.build.EstRows*float64(x.BuildSide().Form().RowBytes), x.pipeline.RowsBefore(x.at)*float64(x.ProbeSide().Form().RowBytes)
	passes := float64(x.partitions.Passes)
	return max(build*passes, build+probe*passes)
}

// passBytes is what a pass needs of shared memory, at most.
func (x *Join) passBytes() int64 {
	return max(x.BuildSide().Form().SharedBytes(partition.Threads, 0), x.ProbeSide().Form().SharedBytes(partition.Threads, 0))
}

// blocks is how many blocks of the kernel that joins a multiprocessor has.
func (x *Join) blocks() int {
	if 8*max(x.sides[0].Words, x.sides[1].Words) > wideRow {
		return 1
	}
	return joinBlocks
}

// rowBytes is what a row takes of a table: a link, its payload, and a radix key of 64 bits.
func (x *Join) rowBytes() int64 {
	n := 4 + 4*int64(len(x.sides[0].Halves))
	if x.keys.wide {
		n += 8
	}
	return n
}

// numberBits is the bits of a row's number in a link; one number ends a chain.
func (x *Join) numberBits() int { return bits.Len64(uint64(x.Capacity)) }

// matchedWords is the words of a table's bits: a table may begin at any bit of the first.
func (x *Join) matchedWords() int64 {
	if !x.Notes() {
		return 0
	}
	return (x.Capacity+31)/32 + 1
}

// tableBytes is what the table takes of shared memory.
func (x *Join) tableBytes() int64 {
	return kernel.RoundUp(4<<x.slotBits+x.Capacity*x.rowBytes()+4*x.matchedWords(), 16)
}

// RadixKeyBytes is the bytes of a radix key.
func (x *Join) RadixKeyBytes() int {
	if x.keys.wide {
		return 8
	}
	return 4
}

// SortBits is how many of the lowest bits of radix keys differ.
func (x *Join) SortBits() int {
	most := x.keys.most
	for _, n := range []numbers{x.keys.outsides, x.keys.nulls, x.keys.buildNulls} {
		if n.first > 0 {
			most = max(most, n.first+n.mask)
		}
	}
	return max(bits.Len64(most), 1)
}

// The rows of both sides in a tile, which is merge_tile of merge.cuh, and threads and blocks of the kernel that merges.
const (
	MergeTile    = 4096
	mergeThreads = 256
	mergeBlocks  = 5 // of a multiprocessor
)

// Where the values that lie beside the keys of a tile, and of the build's next row, lie in shared memory, and behind them the numbers of pairs and the first matches of a block's rows.
func (x *Join) valuesAt() int64 { return kernel.RoundUp((MergeTile+1)*int64(x.RadixKeyBytes()), 16) }
func (x *Join) pairsAt() int64  { return x.valuesAt() + kernel.RoundUp((MergeTile+1)*4, 16) }
func (x *Join) firstAt() int64  { return x.pairsAt() + 8*mergeThreads }

// mergeBytes is what the kernel that merges takes of shared memory.
func (x *Join) mergeBytes() int64 {
	if !kernel.Multiplies(x.probe) {
		return x.pairsAt()
	}
	return x.firstAt() + 4*mergeThreads
}

// kept are the columns that live on behind the probe, or that its residual condition reads, but for the build's.
func (x *Join) kept() []expr.ColumnID {
	seen := map[expr.ColumnID]bool{}
	for _, c := range x.build.Payload {
		seen[c.ID] = true
	}
	var ids []expr.ColumnID
	add := func(id expr.ColumnID) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for _, id := range x.probe.Keep {
		add(id)
	}
	for _, e := range x.probe.Residual {
		expr.Walk(e, func(e expr.Expr) bool {
			if c, ok := e.(*expr.Column); ok {
				add(c.ID)
			}
			return true
		})
	}
	return ids
}

// keyNumber is the number of the key that is a column; less than 0: none is.
func keyNumber(keys []expr.Expr, id expr.ColumnID) int {
	return slices.IndexFunc(keys, func(e expr.Expr) bool {
		c, ok := e.(*expr.Column)
		return ok && c.ID == id
	})
}

// String says how the join is partitioned.
func (x *Join) String() string {
	if x.isSorted {
		return fmt.Sprintf("%s by %d bits", MergeName, x.SortBits())
	}
	return fmt.Sprintf("%s of %d bits, passes: %d, tables of %d rows", Name, x.partitions.Bits, x.partitions.Passes, x.Capacity)
}

// Explain says how the join is partitioned or sorted, what its rows carry, and why it is.
func (x *Join) Explain() string {
	if x.isSorted {
		return fmt.Sprintf("both sides sorted by %d bits of the keys, %s, %s; %s", x.SortBits(), x.sideText("build", false), x.sideText("probe", true), x.why)
	}
	passes := "one pass"
	if x.partitions.Passes == 2 {
		passes = "two passes"
	}
	return fmt.Sprintf("in partitions by %s of %d bits, tables of %d rows, %s, %s; %s", passes, x.partitions.Bits, x.Capacity, x.sideText("build", false), x.sideText("probe", true), x.why)
}

// sideText says what the rows of a side carry.
func (x *Join) sideText(name string, isProbe bool) string {
	side := Side{x, isProbe}
	cols, keys := x.build.Payload, x.build.Keys
	if isProbe {
		cols, keys = x.pipeline.AliveBefore(x.at), x.probe.Keys
	}
	for _, e := range keys {
		if c, ok := e.(*expr.Column); ok {
			cols = append(slices.Clone(cols), c)
		}
	}
	var carried []string
	for _, f := range side.layout().Fields {
		if i := slices.IndexFunc(cols, func(c *expr.Column) bool { return c.ID == f.ID }); i >= 0 {
			carried = append(carried, cols[i].Name)
		} else {
			carried = append(carried, "a computed key")
		}
	}
	what := "the keys"
	if x.keys.hashed {
		what = "a hash of the keys"
	}
	return fmt.Sprintf("%s rows of %d bytes carry %s", name, side.Form().RowBytes, strings.Join(append([]string{what}, carried...), ", "))
}
