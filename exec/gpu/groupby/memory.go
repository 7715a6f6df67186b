package groupby

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// What the runner has to know of groups, by whatever algorithm they are made. It takes memory, and resolves the words of kernels by their keys.

// Emptied is the same before any group has come.
func (c Capacity) Emptied() Capacity {
	c.Appended = 0
	return c
}

// algorithm is that of the first pipeline. One that has memory or a capacity of its own is that of all rows: it applies to no groups in which several pipelines end.
func (f *Form) algorithm() *algorithm { return f.feeds[0].algorithm }

// Overflows says whether there may be more groups than there is capacity for.
func (f *Form) Overflows() bool { return f.Shape >= PackedGroups }

// First is how many groups there is capacity for at first. asBefore says that the same number has sufficed before.
func (f *Form) First(x *Expected) (c Capacity, asBefore bool) {
	if !f.Overflows() {
		return Capacity{}, false
	}
	if a := f.algorithm(); a.first != nil {
		return a.first(f, x), false
	}
	switch {
	case x.Before != nil:
		c.Slots, asBefore = slotsFor(float64(*x.Before)), true
	case x.Slots > 0:
		return Capacity{Slots: x.Slots}, true
	default:
		c.Slots = slotsFor(f.Aggregate.EstGroups)
	}
	if x.Rows < math.MaxInt64 {
		c.Slots = min(c.Slots, kernel.PowerOfTwo(2*max(x.Rows, 512)))
	}
	return c, asBefore
}

// slotsFor is the number of slots of a table for about so many groups.
func slotsFor(groups float64) int64 {
	return kernel.PowerOfTwo(int64(min(max(2*groups, 2048), 1<<31)))
}

// Next looks at what pipelines have counted. It returns false and what c has come to, or true and a larger capacity, with which they have to run again.
func (f *Form) Next(c Capacity, counted Counter) (next Capacity, again bool) {
	if !f.Overflows() {
		return c, false
	}
	full := counted(kernel.CounterWord{Of: f.Aggregate}) != 0
	if a := f.algorithm(); a.next != nil {
		return a.next(f, c, full, counted)
	}
	if full {
		return Capacity{Slots: 4 * c.Slots}, true
	}
	return c, false
}

// Sufficed is the number of slots that the next run may begin with, once all rows have come; 0: it goes by something else.
func (f *Form) Sufficed(c Capacity, counted Counter) int64 {
	if !f.Overflows() || f.algorithm().first != nil || counted(kernel.CounterWord{Of: f.Aggregate}) != 0 {
		return 0
	}
	return c.Slots
}

// Size is the number of slots that a kernel goes over which reads the groups.
func (f *Form) Size(c Capacity) int64 {
	switch f.Shape {
	case ScalarGroups, DenseGroups:
		return f.Slots
	case KeyedGroups:
		return c.Slots
	}
	return c.Slots + spareGroups + c.Appended
}

// spareGroups are slots behind a table of one-word keys, for two that it cannot have.
const spareGroups = 2

// Memory is what the groups need for some capacity where a block has 1 << copies of them.
func (f *Form) Memory(c Capacity, copies int) *kernel.Memory {
	p, m := f.Aggregate, &kernel.Memory{Arrays: make([]kernel.Array, 0, len(f.Arrays)+1)}
	if copies > 0 || f.algorithm().copies != nil {
		m.Number(GroupCopies{p}, uint64(copies))
	}
	slots := f.Size(c)
	switch {
	case f.Shape == KeyedGroups:
		m.AddFilled(GroupKeys{p}, slots, 4, 0)
	case f.Overflows():
		m.AddSlots(GroupKeys{p}, slots, c.Behind, 8, 8, math.MaxUint64)
	}
	if f.Overflows() {
		m.Number(GroupMask{p}, uint64(c.Slots-1))
		m.Count(GroupsFull{p}, kernel.CounterWord{Of: p})
	}
	for i := range f.Arrays {
		a := &f.Arrays[i]
		if f.Shape == KeyedGroups && i >= f.keyAt {
			m.Add(GroupArray{p, i}, slots*a.width/int64(a.unit), a.unit) // keys, which are written before they can be seen
			continue
		}
		m.AddSlots(GroupArray{p, i}, slots, c.Behind, a.width, a.unit, a.fill)
	}
	if a := f.algorithm(); a.memory != nil {
		a.memory(f, m, c)
	}
	return m
}

// Beside is what the kernels of a pipeline need besides, until all have run; nil: nothing.
func (f *Form) Beside(x *Source) *kernel.Memory {
	if a := f.algorithm(); a.beside != nil {
		return a.beside(f, x)
	}
	return nil
}

// Moving says how rows move between places; nil: they do not.
func (f *Form) Moving() *Moving {
	if a := f.algorithm(); a.moving != nil {
		return a.moving(f)
	}
	return nil
}

// Copies is the binary logarithm of the number of tables that a block has, if so many bytes of its shared memory are left for them.
func (f *Form) Copies(t *kernel.SharedGroups, left int64) int {
	if a := f.algorithm(); a.copies != nil {
		return a.copies(f, t, left)
	}
	return 0
}

// BlockRows is the most rows of a launch that may come to a block which has 1 << copies of the groups.
func (f *Form) BlockRows(copies int) int64 {
	if a := f.algorithm(); a.blockRows != nil {
		return a.blockRows(copies)
	}
	return math.MaxInt64
}

// Occupied says which slots have a group: item i of an array says so of slot i.
type Occupied struct {
	Array any    // its key; nil: each slot has one
	Unit  int    // bytes of an item
	Free  uint64 // what an item is whose slot has none
}

// Occupied says which slots have a group.
func (f *Form) Occupied() Occupied {
	p := f.Aggregate
	switch {
	case f.Shape == ScalarGroups:
		return Occupied{}
	case f.Shape == KeyedGroups:
		return Occupied{GroupKeys{p}, 4, 0}
	case f.Overflows():
		return Occupied{GroupKeys{p}, 8, math.MaxUint64}
	case f.seenAt >= 0:
		return Occupied{GroupArray{p, f.seenAt}, 1, 0}
	}
	return Occupied{GroupArray{p, f.Accs[f.taken].At}, 8, 0}
}

// free is the C++ of Occupied.Free.
func (s Shape) free() string {
	switch s {
	case PackedGroups, wordGroups:
		return "empty_key"
	case KeyedGroups:
		return "slot_empty"
	}
	return "0"
}
