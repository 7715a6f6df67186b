package engine

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
)

// writeTarget collects what is written to one table of an UPDATE or DELETE of several.
type writeTarget struct {
	*bind.Target
	query *logical.Query
	ids   []int64
	seen  map[int64]bool
	cols  []*column.Vector
	rules *storing
}

func newWriteTarget(t *bind.Target, q *logical.Query) *writeTarget {
	return &writeTarget{Target: t, query: q, seen: map[int64]bool{}}
}

// collect takes the rows that a query finds into the targets; release gives back their memory.
func (s *Session) collect(st *statement, q *logical.Query, targets []*writeTarget) (release func(), err error) {
	return s.eachBatch(st, q, "the rows to write", func(b *column.Batch) (int64, error) {
		for _, t := range targets {
			if err := t.add(b); err != nil {
				return 0, err
			}
		}
		return b.Bytes(), nil
	})
}

// writeMulti runs UPDATE and DELETE of several tables.
func (s *Session) writeMulti(st *statement, operation string, m *bind.Multi) (*Result, error) {
	var targets []*writeTarget
	for i := range m.Targets {
		t := newWriteTarget(&m.Targets[i], m.Query)
		for _, o := range t.Ordinals {
			t.cols = append(t.cols, column.New(t.Table.Schema.Columns[o].Type, 0))
		}
		var err error
		if t.rules, err = st.storing(t.Table, t.Computed, t.Checks, m.Query.Cols); err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	release, err := s.collect(st, m.Query, targets)
	if err != nil {
		return nil, err
	}
	defer release()
	res := &Result{}
	keeps := st.integrity()
	for _, t := range targets {
		now, rows := keeps.current(t.Table), int64(0) // a table may stand in the FROM twice
		if len(t.Ordinals) > 0 {
			rows, err = keeps.update(now, t.ids, t.Ordinals, t.cols, operation, nil)
		} else {
			ids := t.ids
			if m.Ignore {
				ids, err = keeps.deletable(now, ids)
			}
			if err == nil {
				rows, err = keeps.delete(now, ids)
			}
		}
		if err != nil {
			return nil, err
		}
		res.RowsAffected += rows
	}
	return res, keeps.finish(operation)
}

// add takes the target's rows of a batch, each the first time that it comes.
func (t *writeTarget) add(b *column.Batch) error {
	own := &column.Batch{N: b.N, Cols: b.Cols, Sel: make([]int32, 0, b.Rows())}
	id := b.Cols[t.RowID]
	before := len(t.ids)
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		row := id.Value(at)
		if row.Null || t.seen[row.I] {
			continue
		}
		t.seen[row.I] = true
		t.ids = append(t.ids, row.I)
		own.Sel = append(own.Sel, int32(at))
	}
	if len(own.Sel) == 0 {
		return nil
	}
	own, err := t.rules.complete(own)
	if err != nil {
		return err
	}
	for i, position := range t.Values {
		column.AppendSelected(t.cols[i], before, own.Cols[position], own.Sel, b.N)
	}
	return nil
}
