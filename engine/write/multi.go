package write

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
)

// target collects what is written to one table of an UPDATE or DELETE of several.
type target struct {
	*bind.Target
	query *logical.Query
	ids   []int64
	seen  rowSet
	cols  []*column.Vector
	rules *Rules
}

func newTarget(t *bind.Target, q *logical.Query) *target {
	return &target{Target: t, query: q, seen: newRowSet(t.Table.Span())}
}

// collect takes the rows that a query finds into the targets; release gives back their memory.
func collect(st Statement, q *logical.Query, targets []*target) (release func(), err error) {
	return st.EachBatch(q, "the rows to write", func(b *column.Batch) (int64, error) {
		for _, t := range targets {
			if err := t.add(b); err != nil {
				return 0, err
			}
		}
		return b.Bytes(), nil
	})
}

// Multi runs UPDATE and DELETE of several tables and returns the rows affected.
func Multi(st Statement, operation string, m *bind.Multi) (affected int64, err error) {
	var targets []*target
	for i := range m.Targets {
		t := newTarget(&m.Targets[i], m.Query)
		for _, o := range t.Ordinals {
			t.cols = append(t.cols, column.New(t.Table.Schema.Columns[o].Type, 0))
		}
		if t.rules, err = NewRules(st, t.Table, t.Computed, t.Checks, m.Query.Cols); err != nil {
			return 0, err
		}
		targets = append(targets, t)
	}
	release, err := collect(st, m.Query, targets)
	if err != nil {
		return 0, err
	}
	defer release()
	keeps := NewIntegrity(st)
	for _, t := range targets {
		now, rows := keeps.current(t.Table), int64(0) // a table may stand in the FROM twice
		if len(t.Ordinals) > 0 {
			rows, err = keeps.Update(now, t.ids, t.Ordinals, t.cols, operation, nil)
		} else {
			ids := t.ids
			if m.Ignores {
				ids, err = keeps.Deletable(now, ids)
			}
			if err == nil {
				rows, err = keeps.Delete(now, ids)
			}
		}
		if err != nil {
			return 0, err
		}
		affected += rows
	}
	return affected, keeps.Finish(operation)
}

// add takes the target's rows of a batch, each the first time that it comes.
func (t *target) add(b *column.Batch) error {
	own := &column.Batch{N: b.N, Cols: b.Cols, Sel: make([]int32, 0, b.Rows())}
	id := b.Cols[t.RowID]
	before := len(t.ids)
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		if id.IsNull(at) {
			continue
		}
		row := id.I64[at]
		if id.Const {
			row = id.I64[0]
		}
		if !t.seen.add(row) {
			continue
		}
		t.ids = append(t.ids, row)
		own.Sel = append(own.Sel, int32(at))
	}
	if len(own.Sel) == 0 {
		return nil
	}
	own, err := t.rules.Complete(own)
	if err != nil {
		return err
	}
	for i, position := range t.Values {
		column.AppendSelected(t.cols[i], before, own.Cols[position], own.Sel, b.N)
	}
	return nil
}

// rowSet is a set of row numbers: a bitmap for every 1 << rowSetShift rows of which one belongs to it.
type rowSet []column.Bitmap

const rowSetShift = 16

// newRowSet returns an empty set of numbers below span.
func newRowSet(span int64) rowSet { return make(rowSet, span>>rowSetShift+1) }

// add reports whether the row did not belong to the set yet.
func (s rowSet) add(row int64) bool {
	part, at := &s[row>>rowSetShift], int(row&(1<<rowSetShift-1))
	if *part == nil {
		*part = column.NewBitmap(1<<rowSetShift, false)
	}
	if part.Get(at) {
		return false
	}
	part.Set(at)
	return true
}
