package engine

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// updateIgnore runs UPDATE IGNORE of one table. Rows are taken in order, as ON DUPLICATE KEY UPDATE takes them: one whose keys are taken, or
// that a CHECK or foreign key does not allow, stays as it is, with a warning.
func (s *Session) updateIgnore(st *statement, up *bind.Update) (*Result, error) {
	b := st.binder()
	cols := b.TableColumns(up.Table.Schema)
	computed, checks, err := computedAll(b, up.Table.Schema, cols)
	if err != nil {
		return nil, err
	}
	rules, err := st.storing(up.Table, computed, checks, cols)
	if err != nil {
		return nil, err
	}
	keeps := st.integrity()
	u, err := newUpsert(st, &bind.Insert{Table: up.Table, OnDuplicate: bind.DuplicateUpdate, Ignore: true}, rules, keeps)
	if err != nil {
		return nil, err
	}
	if u.onUpdate, err = st.onUpdate(up.Table.Schema, up.Ordinals); err != nil {
		return nil, err
	}
	count := int64(0)
	release, err := s.eachBatch(st, up.Query, "update", func(b *column.Batch) (int64, error) {
		for i, id := range appendRowIDs(nil, b) {
			at := i
			if b.Sel != nil {
				at = int(b.Sel[i])
			}
			old, _ := up.Table.Row(id)
			changed := slices.Clone(old)
			for j, o := range up.Ordinals {
				v := b.Cols[up.Values[j]].Value(at)
				changed[o] = types.Value{Type: up.Table.Schema.Columns[o].Type, Null: v.Null, I: v.I, F: v.F, D: v.D, S: strings.Clone(v.S)}
			}
			done, err := u.become(place{row: id}, old, changed)
			if err != nil {
				return 0, err
			}
			if done {
				count++
			}
		}
		return b.Bytes(), nil
	})
	if err != nil {
		return nil, err
	}
	defer release()
	if err := u.finish(); err != nil {
		return nil, err
	}
	return &Result{RowsAffected: count}, keeps.finish("UPDATE")
}
