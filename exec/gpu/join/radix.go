package join

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

// radix has both sides of a join in partitions of their keys. The pipelines of the build and of the probe end in packed rows, and a third kernel goes over pieces of work: rows of the
// probe's side of a partition, and as many rows of the build's side of it as a block's shared memory holds in a table (gpukernels/device/radix.cuh). The rest of the probe's pipeline and its
// sink stand in that kernel's loop over matches.
//
// A row has its key mixed by a bijection, so that different keys stay different, and the key itself follows from it.
var radix = &Algorithm{
	Name:    "radix partitions",
	applies: func(d *demand) bool { return d.radix != nil },
	byKey:   true,
	memory:  func(m *Memory, f *Form) { m.Rows = 0 }, // the runner has the rows in partitions
}

// Radix is a join whose sides are partitioned.
type Radix struct {
	build    *physical.Build
	probe    *physical.Probe
	pipeline *physical.Pipeline // of the probe,
	at       int                // the number of the probe's transform

	keys  []radixKey
	wide  bool // keys pack into 64 bits, not 32
	parts partition.Form
	sides [2]*partition.Layout // of the build's rows and the probe's

	// The table of a piece of the build.
	Capacity int64 // rows
	slotBits int
}

// radixKey is where a key lies among the bits of all keys.
type radixKey struct {
	form.Interval
	shift, bits int
}

// RadixSide is one side of a partitioned join: whose rows a partition.Word is about.
type RadixSide struct {
	Radix *Radix
	Probe bool
}

// Of returns the side of the build or of the probe.
func (x *Radix) Of(probe bool) RadixSide { return RadixSide{x, probe} }

// Build is the build whose rows are partitioned.
func (x *Radix) Build() *physical.Build { return x.build }

// Form is how the rows of a side are partitioned.
func (s RadixSide) Form() *partition.Form {
	f := s.Radix.parts
	f.RowBytes = 8 * int64(s.layout().Words)
	return &f
}

func (s RadixSide) layout() *partition.Layout {
	if s.Probe {
		return s.Radix.sides[1]
	}
	return s.Radix.sides[0]
}

// The words of the kernel that joins: the pieces of work, how many they are, and a counter of those that were taken.
type (
	RadixWork   struct{ of }
	RadixPieces struct{ of }
	RadixTaken  struct{ of }
)

// Work, Pieces and Taken are the keys of these words.
func (x *Radix) Work() any   { return RadixWork{of{x.build}} }
func (x *Radix) Pieces() any { return RadixPieces{of{x.build}} }
func (x *Radix) Taken() any  { return RadixTaken{of{x.build}} }

// Blocks and threads of the kernel that joins.
const (
	radixThreads = 512
	radixBlocks  = 2       // of a multiprocessor
	radixBlock   = 1 << 10 // bytes of shared memory that a multiprocessor needs for a block besides
	radixFull    = 0.89    // of a table's rows, that a partition is expected to have
	mostBits     = 8       // of one of two passes,
	onePassBits  = 9       // and of one alone
	leastBits    = 5
)

// settle decides how the build's rows are packed and partitioned, once the forms of its keys and of its payload are known; false: they cannot be.
func (x *Radix) settle(o *kernel.Outline) bool {
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
func (x *Radix) packKeys(forms []codegen.Form) bool {
	x.keys = nil
	shift := 0
	for _, f := range forms {
		if f.Class != form.Int || !f.Known {
			return false
		}
		k := radixKey{Interval: f.Within, shift: shift}
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

func (k *radixKey) span() uint64 { return uint64(k.Hi) - uint64(k.Lo) }

// size decides on the table, and on how many partitions there are.
func (x *Radix) size(target *kernel.Target) bool {
	budget := (target.SharedBytes+kernel.SharedRest+radixBlock)/radixBlocks - radixBlock - kernel.SharedRest
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
	wanted := bits.Len64(uint64(x.build.EstRows / (radixFull * float64(x.Capacity))))
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
func (x *Radix) rowBytes() int64 {
	n := 4 + 4*int64(len(x.sides[0].Halves))
	if x.wide {
		n += 8
	}
	return n
}

// numberBits is the bits of a row's number in a link; one number ends a chain.
func (x *Radix) numberBits() int { return bits.Len64(uint64(x.Capacity)) }

// tableBytes is what the table takes of shared memory.
func (x *Radix) tableBytes() int64 { return kernel.RoundUp(4<<x.slotBits+x.Capacity*x.rowBytes(), 16) }

// settleProbe decides how the probe's rows are packed: with the columns that live on; false: they cannot be.
func (x *Radix) settleProbe(o *kernel.Outline) bool {
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
func (x *Radix) kept() []expr.ColumnID {
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
func (x *Radix) String() string {
	return fmt.Sprintf("%s of %d bits, passes: %d, tables of %d rows", radix.Name, x.parts.Bits, x.parts.Passes, x.Capacity)
}
