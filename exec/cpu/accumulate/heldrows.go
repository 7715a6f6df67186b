package accumulate

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// heldRows keeps the rows of an aggregate that needs all of a group together, until the groups are complete.
type heldRows struct {
	q        *task.Query
	operator string
	args     int // the first so many inputs have to have values
	rows     rowstore.Store
	more     []*rowstore.Store // of other workers, whose rows follow
	groups   int
	id       column.Vector
	sel      []int32
	by       []heldKey // the order of a group's rows; none: that in which they came
	done     bool
	reads    bool // the result reads rows when groups become rows, not only before
	result   groupFinisher
}

// heldKey is an input that orders the rows of a group.
type heldKey struct {
	input int
	desc  bool
}

// groupFinisher makes the values of groups.
type groupFinisher interface {
	// start is called once, before finish, with the columns of all rows: group number, then the inputs.
	start(cols []*column.Vector, groups int)
	// finish gets the rows of a group, in order. Calls for different groups run at once. rows may be reordered.
	finish(g int, cols []*column.Vector, rows []int32) error
}

// hold makes h, the inner part of result, ready.
func (h *heldRows) hold(q *task.Query, operator string, args int, inputs []types.Type, result groupFinisher) {
	h.q, h.operator, h.args, h.result = q, operator, args, result
	h.id = column.Vector{Type: types.Uint32}
	h.rows.Types = append([]types.Type{types.Uint32}, inputs...)
	h.rows.Mem.Operator = operator
	h.rows.Begin(0)
}

// held returns the rows of an accumulator that keeps them.
func (h *heldRows) held() *heldRows { return h }

func (h *heldRows) Grow(n int) { h.groups = max(h.groups, n) }

func (h *heldRows) Bytes() int64 {
	return int64(h.rows.N)*int64(8+16*(len(h.rows.Types)-1)) + h.rows.Strings.Bytes
}

func (h *heldRows) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	var n int
	h.sel, n = valuesAt(h.sel, &h.id, groups, args[:h.args], sel)
	if len(h.sel) == 0 {
		return nil
	}
	cols := append([]*column.Vector{&h.id}, args...)
	return h.rows.Append(cols, h.sel, n)
}

func (h *heldRows) Merge([]uint32, Accumulator, []uint32) error {
	return sqlerr.Bug("%s is merged as a whole", h.operator)
}

func (h *heldRows) Adopt(src Accumulator, to []uint32) error {
	s := src.(interface{ held() *heldRows }).held()
	for _, r := range append([]*rowstore.Store{&s.rows}, s.more...) {
		for _, seg := range r.Segs {
			if err := h.q.Check(); err != nil {
				return err
			}
			renumber(seg.Cols[0].I64[:seg.N], to)
		}
		for i := range r.Marks {
			r.Marks[i].Seq += len(h.more) + 1 // its rows follow those that are there
		}
		h.more = append(h.more, r)
	}
	return nil
}

func (h *heldRows) AdoptAll(srcs []Accumulator, to [][]uint32) error {
	for i, s := range srcs {
		if err := h.Adopt(s, to[i]); err != nil {
			return err
		}
	}
	return nil
}

// Complete finishes the groups: their rows are put beside each other, and workers take runs of groups.
func (h *heldRows) Complete() error {
	if h.done {
		return nil
	}
	h.done = true
	q := h.q
	cols, n, err := rowstore.Concat(q, append([]*rowstore.Store{&h.rows}, h.more...), h.rows.Types)
	h.result.start(cols, h.groups)
	if err != nil || n == 0 {
		return err
	}
	if err := q.Memory.Reserve(h.operator, int64(4*n+4*h.groups)); err != nil {
		return err
	}
	defer q.Memory.Release(int64(4*n + 4*h.groups))
	ids := cols[0].I64
	starts, order := make([]int32, h.groups+1), make([]int32, n)
	err = q.Blocks(n, func(from, to int) {
		for _, g := range ids[from:to] {
			starts[g]++
		}
	})
	if err != nil {
		return err
	}
	sum := int32(0)
	for g, k := range starts {
		starts[g] = sum
		sum += k
	}
	if len(h.by) > 0 {
		starts, err = starts[1:], h.sort(order, cols) // where the next group starts
	} else {
		err = q.Blocks(n, func(from, to int) {
			for i := from; i < to; i++ {
				g := ids[i]
				order[starts[g]] = int32(i)
				starts[g]++ // where the next group starts, in the end
			}
		})
	}
	if err != nil {
		return err
	}
	runs := h.runs(starts, n)
	err = q.Parallel(len(runs), n, func(k int) error {
		from := 0
		if k > 0 {
			from = runs[k-1]
		}
		for g := from; g < runs[k]; g++ {
			first := int32(0)
			if g > 0 {
				first = starts[g-1]
			}
			if err := q.Check(); err != nil {
				return err
			}
			if rows := order[first:starts[g]]; len(rows) > 0 {
				if err := h.result.finish(g, cols, rows); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if !h.reads {
		h.rows.Segs, h.rows.N, h.rows.Strings, h.more = nil, 0, rowstore.Arena{}, nil
	}
	return err
}

// sort stores the rows of all groups in order, group by group.
func (h *heldRows) sort(order []int32, cols []*column.Vector) error {
	const words = 16 // bytes for each row while they are sorted
	q, n := h.q, len(order)
	if err := q.Memory.Reserve(h.operator, int64(words*n)); err != nil {
		return err
	}
	defer q.Memory.Release(int64(words * n))
	s := &rowsort.Sorter{Q: q, Name: h.operator, Keys: []rowsort.Key{{V: cols[0]}}, Parallel: q.IsParallel(n)}
	for _, k := range h.by {
		key, err := rowsort.NewKey(q, cols[1+k.input], k.desc, n)
		if err != nil {
			return err
		}
		s.Keys = append(s.Keys, key)
	}
	sorted, err := s.Sort(n)
	if err != nil {
		return err
	}
	return q.Blocks(n, func(from, to int) {
		for i := from; i < to; i++ {
			order[i] = sorted.Row(i)
		}
	})
}

// runs cuts the groups into runs of about as many rows and returns where each ends. ends are those of the groups' rows.
func (h *heldRows) runs(ends []int32, n int) (runs []int) {
	size := int32(max(1, n/grouptable.MergePartitions))
	last := int32(0)
	for g := range h.groups {
		if ends[g]-last >= size || g == h.groups-1 {
			runs = append(runs, g+1)
			last = ends[g]
		}
	}
	return runs
}
