package accumulate

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// heldOnce passes the first of rows that are equal in group and inputs. An aggregate of DISTINCT values that holds rows does not need the others. It stops
// looking where few rows seem to be equal, so a row may come twice.
type heldOnce struct {
	q     *task.Query
	types []types.Type // group number, then the inputs
	table *grouptable.Table
	taken int // rows that were looked up
	ended bool

	id     column.Vector
	keys   []*column.Vector
	rows   []uint32 // of the table
	isNew  []bool   // of the table's new rows: not passed yet
	groups []uint32
	sel    []int32
}

// Rows are looked up as long as those that came suggest at most mostOnce different ones, which lookups find in the cache. Fewer
// than leastSeen suggest nothing.
const (
	mostOnce  = 1 << 18
	leastSeen = 8 * column.VectorSize
)

// newHeldOnce returns nil for inputs of which equal ones may have different texts: 0 and -0.
func newHeldOnce(q *task.Query, inputs []types.Type) *heldOnce {
	if slices.ContainsFunc(inputs, types.Type.IsFloat) {
		return nil
	}
	return &heldOnce{q: q, types: append([]types.Type{types.Uint32}, inputs...), id: column.Vector{Type: types.Uint32}}
}

func (o *heldOnce) bytes() int64 {
	if o == nil || o.table == nil {
		return 0
	}
	return o.table.Bytes()
}

// first returns the rows of sel that have not come before, with their groups, valid until the next call.
func (o *heldOnce) first(groups []uint32, args []*column.Vector, sel []int32) ([]uint32, []int32, error) {
	if o == nil || o.ended {
		return groups, sel, nil
	}
	n := int(slices.Max(sel)) + 1
	o.id.Reserve(n)
	for i, p := range sel {
		o.id.I64[p] = 0
		if groups != nil {
			o.id.I64[p] = int64(groups[i])
		}
	}
	o.keys = append(append(o.keys[:0], &o.id), args...)
	if o.table == nil {
		nullable := make([]bool, len(o.types))
		for c := range args {
			nullable[1+c] = true
		}
		layout := grouptable.NewLayout(nil, o.types, nullable, o.keys, 0, 1, 0)
		layout.Stopped, layout.Reuses = &o.q.Stopped, !o.q.Memory.Limited()
		o.table = grouptable.New(layout)
	}
	o.rows = slices.Grow(o.rows[:0], len(sel))[:len(sel)]
	before := o.table.Count
	if !o.table.Find(o.keys, sel, n, o.rows) {
		o.table, before = grouptable.New(o.table.Layout.AsAny()), 0 // rows of the old one may come once more
		if !o.table.Find(o.keys, sel, n, o.rows) {
			return nil, nil, sqlerr.Bug("rows of DISTINCT values do not fit their table")
		}
	}
	o.isNew = slices.Grow(o.isNew[:0], o.table.Count-before)[:o.table.Count-before]
	for i := range o.isNew {
		o.isNew[i] = true
	}
	o.groups, o.sel = o.groups[:0], o.sel[:0]
	for i, row := range o.rows {
		if int(row) >= before && o.isNew[int(row)-before] {
			o.isNew[int(row)-before] = false
			o.sel = append(o.sel, sel[i])
			if groups != nil {
				o.groups = append(o.groups, groups[i])
			}
		}
	}
	if o.taken += len(sel); o.taken >= leastSeen && keyhash.EstimateKeys(o.taken, o.table.Count) > mostOnce {
		o.end()
	}
	if groups == nil {
		return nil, o.sel, nil
	}
	return o.groups, o.sel, nil
}

// end lets go of the table: all rows pass from now on.
func (o *heldOnce) end() {
	if o != nil {
		o.table, o.ended = nil, true
	}
}
