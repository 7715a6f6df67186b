package accumulate

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// distinctValues gives an inner accumulator each combination of arguments once per group. It keeps a table of group number
// and arguments; the inner accumulator is fed when all of them are known.
type distinctValues struct {
	q      *task.Query
	make   func() Accumulator // makes inner ones
	inner  Accumulator
	types  []types.Type // group number, then the arguments
	table  *grouptable.Table
	groups int
	id     column.Vector
	sel    []int32
	out    []uint32
	keys   []*column.Vector
	done   bool
}

func newDistinct(q *task.Query, args []types.Type, make func() Accumulator) *distinctValues {
	return &distinctValues{q: q, make: make, inner: make(), types: append([]types.Type{types.Uint32}, args...), id: column.Vector{Type: types.Uint32}}
}

func (a *distinctValues) Grow(n int) { a.groups = max(a.groups, n) }

func (a *distinctValues) Bytes() int64 {
	if a.table == nil {
		return 0
	}
	return a.table.Bytes()
}

func (a *distinctValues) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	var n int
	a.sel, n = valuesAt(a.sel, &a.id, groups, args, sel)
	if len(a.sel) == 0 {
		return nil
	}
	return a.add(append(append(a.keys[:0], &a.id), args...), a.sel, n)
}

// valuesAt returns the positions of sel, in dst's memory, at which all of args have values; ids gets their groups there. n is
// how many positions that spans.
func valuesAt(dst []int32, ids *column.Vector, groups []uint32, args []*column.Vector, sel []int32) (at []int32, n int) {
	at = dst[:0]
	for _, p := range sel {
		n = max(n, int(p)+1)
	}
	ids.Reserve(n)
	for i, p := range sel {
		if slices.ContainsFunc(args, func(v *column.Vector) bool { return v.IsNull(int(p)) }) {
			continue
		}
		at = append(at, p)
		ids.I64[p] = 0
		if groups != nil {
			ids.I64[p] = int64(groups[i])
		}
	}
	return at, n
}

// add puts rows of group number and arguments into the table.
func (a *distinctValues) add(keys []*column.Vector, sel []int32, n int) error {
	a.keys = keys
	if a.table == nil {
		layout := grouptable.NewLayout(nil, a.types, make([]bool, len(a.types)), keys, 0, 1, 0)
		layout.Stopped, layout.Reuses = &a.q.Stopped, !a.q.Memory.Limited()
		a.table = grouptable.New(layout)
	}
	if cap(a.out) < len(sel) {
		a.out = make([]uint32, len(sel))
	}
	// The arguments are not NULL at sel, whatever the other positions hold.
	if a.table.Find(keys, sel, n, a.out[:len(sel)]) {
		return nil
	}
	old := a.table
	a.table = grouptable.New(old.Layout.AsAny())
	if err := a.entries(old, func(keys []*column.Vector, n int) error { return a.add(keys, vec.Ascending(n), n) }); err != nil {
		return err
	}
	if !a.table.Find(keys, sel, n, a.out[:len(sel)]) {
		return sqlerr.Bug("distinct values do not fit their table")
	}
	return nil
}

// entries calls f with the table's rows, group number first, a vector at a time.
func (a *distinctValues) entries(t *grouptable.Table, f func(keys []*column.Vector, n int) error) error {
	return a.entriesOf(t, t.Groups(), f)
}

// entriesOf does so with the rows of some of the table's numbers.
func (a *distinctValues) entriesOf(t *grouptable.Table, all []uint32, f func(keys []*column.Vector, n int) error) error {
	for at := 0; at < len(all); at += column.VectorSize {
		if err := a.q.Check(); err != nil {
			return err
		}
		part := all[at:min(at+column.VectorSize, len(all))]
		keys := make([]*column.Vector, len(a.types))
		for c := range keys {
			keys[c] = &column.Vector{}
			t.KeyColumn(c, part, keys[c])
		}
		if err := f(keys, len(part)); err != nil {
			return err
		}
	}
	return nil
}

func (a *distinctValues) Merge([]uint32, Accumulator, []uint32) error {
	return sqlerr.Bug("distinct values are merged as a whole")
}

func (a *distinctValues) Adopt(src Accumulator, to []uint32) error {
	s := src.(*distinctValues)
	if s.table == nil {
		return nil
	}
	return a.take(s, s.table.Groups(), to)
}

// Complete feeds the inner accumulator.
func (a *distinctValues) Complete() error {
	if a.done {
		return nil
	}
	a.done = true
	a.inner.Grow(a.groups)
	if a.table == nil {
		return nil
	}
	return a.entries(a.table, func(keys []*column.Vector, n int) error {
		groups := make([]uint32, n)
		for i := range groups {
			groups[i] = uint32(keys[0].I64[i])
		}
		return a.inner.Update(groups, keys[1:], vec.Ascending(n))
	})
}

// values are those of the inner accumulator.
func (a *distinctValues) values(o *Output, groups []uint32, count *Count, v *column.Vector) error {
	return a.inner.values(o, groups, count, v)
}
