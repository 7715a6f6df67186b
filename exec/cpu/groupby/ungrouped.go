package groupby

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// Where a worker's table has been put aside and most of its rows were groups of their own, the next rows are put aside as they are. They lie in blocks, each in
// the order of the partitions of their keys' hashes, with the arguments of the accumulators. The merge then finds their groups in tables of one partition,
// which stay in a core's cache. After some blocks a table is tried again.

// ungrouped is what a worker puts aside without groups.
type ungrouped struct {
	block *rowBlock // that rows go to
	left  int       // blocks until a table is tried again
	order []int32   // of a block's rows
}

const (
	// ungroupedBlocks are put aside for each table that had fewer than distinctRows times as many rows as groups.
	ungroupedBlocks = 15
	distinctRows    = 2
)

// rowBlock is rows without groups.
type rowBlock struct {
	keys *grouptable.Rows
	args []*column.Vector // the inputs behind the keys
}

func (b *rowBlock) bytes() int64 {
	n := b.keys.Bytes()
	for _, v := range b.args {
		n += vectorBytes(v, b.keys.N)
	}
	return n
}

// Values of rows that have groups.
var (
	rowInts   column.Buffers[int64]
	rowFloats column.Buffers[float64]
)

// vector returns a vector with memory for n values, where there may be some of earlier blocks.
func (b *rowBlock) vector(t types.Type, n int) *column.Vector {
	v := &column.Vector{Type: t}
	switch {
	case !b.keys.Layout.Reuses || t.Phys() == types.PhysInt128:
	case t.Phys() == types.PhysFloat64:
		v.F64 = rowFloats.Take(n)
	default:
		v.I64 = rowInts.Take(n)
	}
	return v
}

// give gives back the memory of a block whose rows have groups.
func (b *rowBlock) give() {
	if b.keys.Layout.Reuses {
		for _, v := range b.args {
			rowInts.Give(v.I64)
			rowFloats.Give(v.F64)
		}
	}
	b.keys.Give()
	b.args = nil
}

// takesUngrouped says whether rows may be put aside: they have to be numbers, and groups may not depend on the order of rows of several workers.
func (a *Sink) takesUngrouped(l *grouptable.Layout) bool {
	if !l.IsWords() || a.needs.Serial || a.needs.Grows || a.First || a.runs {
		return false
	}
	for _, e := range a.needs.Inputs[len(a.p.Groups):] {
		if e.Type().Phys() == types.PhysString {
			return false
		}
	}
	return true
}

// blockRows returns how many rows a block takes.
func (a *Sink) blockRows() int { return max(a.q.Tuning.FrozenGroups, column.VectorSize) }

// putAside takes the rows of sel as they are, if it can.
func (x *aggLocal) putAside(keys, in []*column.Vector, sel []int32) (ok bool, err error) {
	a, size, args := x.a, x.a.blockRows(), in[len(keys):]
	if b := x.ungrouped.block; b != nil && b.keys.N+len(sel) > size {
		if err := x.endBlock(); err != nil {
			return false, err
		}
		if x.ungrouped.left == 0 {
			return false, nil
		}
	}
	b := x.ungrouped.block
	if b == nil {
		b = &rowBlock{keys: grouptable.NewRows(x.table.Layout, size)}
		for _, e := range a.needs.Inputs[len(keys):] {
			v := b.vector(e.Type(), size)
			v.Reserve(size)
			b.args = append(b.args, v)
		}
		x.ungrouped.block = b
		if err := x.charge(); err != nil {
			return false, err
		}
	}
	at := b.keys.N
	if !x.table.AddRows(b.keys, keys, sel) {
		x.ungrouped.left = 0
		return false, nil
	}
	for i, v := range args {
		vec.CopyInto(b.args[i], at, size, v, sel, 0, len(sel))
	}
	x.before += len(sel)
	return true, nil
}

// endBlock puts the block aside, its rows in the order of their partitions.
func (x *aggLocal) endBlock() error {
	b := x.ungrouped.block
	if b == nil || b.keys.N == 0 {
		return nil
	}
	order, ends := b.keys.Partition(x.ungrouped.order)
	x.ungrouped.order = order
	part := &aggLocal{a: x.a, mem: x.a.account(), hasRows: true, ends: &ends}
	part.ungrouped.block = &rowBlock{keys: b.keys.Arranged(order)}
	for _, v := range b.args {
		arranged := b.vector(v.Type, b.keys.N)
		vec.GatherVector(arranged, v, order)
		part.ungrouped.block.args = append(part.ungrouped.block.args, arranged)
		if v.Valid != nil {
			v.Valid = nil // the next block's rows have none yet
		}
	}
	b.keys.N = 0
	x.ungrouped.left--
	return x.keepFrozen(part)
}

// endBlocks puts the last block aside.
func (x *aggLocal) endBlocks() error {
	err := x.endBlock()
	if b := x.ungrouped.block; b != nil {
		b.give()
	}
	x.ungrouped = ungrouped{}
	return err
}

// group finds the groups of the rows from .. to-1 of a block and gives the accumulators their arguments.
func (x *aggLocal) group(b *rowBlock, from, to int) error {
	in := make([]*column.Vector, len(x.a.p.Groups), len(x.a.needs.Inputs))
	in = append(in, b.args...)
	if x.groups == nil {
		x.groups = make([]uint32, column.VectorSize)
	}
	for from < to {
		if err := x.a.q.Check(); err != nil {
			return err
		}
		n := min(to-from, column.VectorSize)
		groups := x.groups[:n]
		x.table.FindRows(b.keys, from, groups)
		if err := x.grow(); err != nil {
			return err
		}
		x.positions = vec.CountFrom(x.positions[:0], from, n)
		if err := x.update(in, groups, x.positions, b.keys.N); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// regroup makes groups of a part that is rows, to which no others come. What they were read by goes: it would keep the rows.
func (x *aggLocal) regroup() error {
	b := x.ungrouped.block
	x.ungrouped.block, x.ends = nil, nil
	x.table, x.accs = grouptable.New(b.keys.Layout), x.a.needs.Make()
	err := x.group(b, 0, b.keys.N)
	x.groups, x.args, x.positions, x.flat = nil, nil, nil, vec.Flattener{}
	return err
}
