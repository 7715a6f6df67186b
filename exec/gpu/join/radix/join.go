package radix

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Join is a join whose sides are partitioned.
type Join struct {
	build    *physical.Build
	probe    *physical.Probe
	pipeline *physical.Pipeline // of the probe,
	at       int                // the number of the probe's transform

	keys  []packedKey
	wide  bool // keys pack into 64 bits, not 32
	parts partition.Form
	sides [2]*partition.Layout // of the build's rows and the probe's

	// The table of a piece of the build.
	Capacity int64 // rows
	slotBits int
}

// packedKey is where a key lies among the bits of all keys.
type packedKey struct {
	form.Interval
	shift, bits int
}

// Side is one side of a partitioned join: whose rows a partition.Word is about.
type Side struct {
	Join  *Join
	Probe bool
}

// Of returns the side of the build or of the probe.
func (x *Join) Of(probe bool) Side { return Side{x, probe} }

// Build is the build whose rows are partitioned, Pipeline that of the probe.
func (x *Join) Build() *physical.Build       { return x.build }
func (x *Join) Pipeline() *physical.Pipeline { return x.pipeline }

// Form is how the rows of a side are partitioned.
func (s Side) Form() *partition.Form {
	f := s.Join.parts
	f.RowBytes = 8 * int64(s.layout().Words)
	return &f
}

func (s Side) layout() *partition.Layout {
	if s.Probe {
		return s.Join.sides[1]
	}
	return s.Join.sides[0]
}

// The words of the kernel that joins: the pieces of work, how many they are, and a counter of those that were taken.
type (
	workWord   struct{ of }
	piecesWord struct{ of }
	takenWord  struct{ of }
)

// of makes what it is embedded in a word of a build: package join's Word.
type of struct{ build *physical.Build }

// Of is the build.
func (w of) Of() *physical.Build { return w.build }

// Work, Pieces and Taken are the keys of these words.
func (x *Join) Work() any   { return workWord{of{x.build}} }
func (x *Join) Pieces() any { return piecesWord{of{x.build}} }
func (x *Join) Taken() any  { return takenWord{of{x.build}} }

// Blocks and threads of the kernel that joins.
const (
	joinThreads  = 512
	joinBlocks   = 2       // of a multiprocessor
	blockShared  = 1 << 10 // bytes of shared memory that a multiprocessor needs for a block besides
	expectedFull = 0.89    // of a table's rows, that a partition is expected to have
	mostBits     = 8       // of one of two passes,
	onePassBits  = 9       // and of one alone
	leastBits    = 5
)

// Settle decides how the build's rows are packed and partitioned, once the forms of its keys and of its payload are known; false: they cannot be.
func (x *Join) Settle(o *kernel.Outline) bool {
	forms := make([]codegen.Form, len(x.build.Keys))
	for i, e := range x.build.Keys {
		var err error
		if forms[i], err = o.Forms.Of(e); err != nil {
			return false
		}
	}
	if !x.packKeys(forms) {
		return false
	}
	var ids []expr.ColumnID
	var payload []codegen.Form
	for _, c := range x.build.Payload {
		v, err := o.Forms.Of(c)
		if err != nil {
			return false
		}
		if keyNumber(x.build.Keys, c.ID) < 0 {
			ids, payload = append(ids, c.ID), append(payload, v)
		}
	}
	if x.sides[0] = partition.NewLayout(x.wide, ids, payload); x.sides[0] == nil {
		return false
	}
	return x.size(o.Plan.Target)
}

// packKeys gives each key its bits; false: they are too many, or not known.
func (x *Join) packKeys(forms []codegen.Form) bool {
	x.keys = nil
	shift := 0
	for _, f := range forms {
		if f.Class != form.Int || !f.Known {
			return false
		}
		k := packedKey{Interval: f.Within, shift: shift}
		if k.Hi < k.Lo {
			k.Hi = k.Lo // no row has a value
		}
		k.bits = bits.Len64(k.span())
		shift += k.bits
		x.keys = append(x.keys, k)
	}
	most := uint64(0)
	if shift > 64 {
		return false
	}
	for _, k := range x.keys {
		if k.shift < 64 {
			most |= k.span() << k.shift
		}
	}
	x.wide = most >= math.MaxUint32
	return most < math.MaxUint64 // which stands for no row
}

func (k *packedKey) span() uint64 { return uint64(k.Hi) - uint64(k.Lo) }

// size decides on the table, and on how many partitions there are.
func (x *Join) size(target *kernel.Target) bool {
	budget := (target.SharedBytes+kernel.SharedRest+blockShared)/joinBlocks - blockShared - kernel.SharedRest
	for slots := 6; slots <= 14; slots++ {
		rows := min((budget-4<<slots)/x.rowBytes(), 9<<slots/8) &^ 31
		if rows > x.Capacity {
			x.Capacity, x.slotBits = rows, slots
		}
	}
	if most := target.Tuning.Radix.TableRows; most > 0 {
		x.Capacity = min(x.Capacity, most)
	}
	if x.Capacity < 32 {
		return false
	}
	wanted := bits.Len64(uint64(x.build.EstRows / (expectedFull * float64(x.Capacity))))
	x.parts = partition.Form{Passes: 1, Bits: max(wanted, leastBits), Ranges: true, Blocks: target.Tuning.Radix.Blocks}
	if wanted > onePassBits || target.Tuning.Radix.Passes == 2 {
		x.parts.Passes, x.parts.Bits = 2, min(max((wanted+1)/2, leastBits), mostBits)
	}
	if b := target.Tuning.Radix.Bits; b > 0 {
		x.parts.Passes, x.parts.Bits = target.Tuning.Radix.Passes, b
	}
	return true
}

// rowBytes is what a row takes of a table: a link, its payload, and a place of 64 bits.
func (x *Join) rowBytes() int64 {
	n := 4 + 4*int64(len(x.sides[0].Halves))
	if x.wide {
		n += 8
	}
	return n
}

// numberBits is the bits of a row's number in a link; one number ends a chain.
func (x *Join) numberBits() int { return bits.Len64(uint64(x.Capacity)) }

// tableBytes is what the table takes of shared memory.
func (x *Join) tableBytes() int64 { return kernel.RoundUp(4<<x.slotBits+x.Capacity*x.rowBytes(), 16) }

// SettleProbe decides how the probe's rows are packed: with the columns that live on; false: they cannot be.
func (x *Join) SettleProbe(o *kernel.Outline) bool {
	var ids []expr.ColumnID
	var forms []codegen.Form
	for _, id := range x.kept() {
		if v, ok := o.Forms.Column(id); ok && keyNumber(x.probe.Keys, id) < 0 {
			ids, forms = append(ids, id), append(forms, v)
		}
	}
	x.sides[1] = partition.NewLayout(x.wide, ids, forms)
	if x.sides[1] == nil {
		return false
	}
	o.SourceShared = x.tableBytes()
	o.Apart, o.Tiled = true, false
	return true
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
	for i, e := range keys {
		if c, ok := e.(*expr.Column); ok && c.ID == id {
			return i
		}
	}
	return -1
}

// String says how the join is partitioned.
func (x *Join) String() string {
	return fmt.Sprintf("%s of %d bits, passes: %d, tables of %d rows", Name, x.parts.Bits, x.parts.Passes, x.Capacity)
}
