package write

import (
	"context"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// UpdateIgnore runs UPDATE IGNORE and returns the number of changed rows. The query computes the values; here each row's are converted, with warnings of
// its own, and written as ON DUPLICATE KEY UPDATE does. A row stays as it is if its keys are taken or a CHECK, a view or a foreign key forbids the
// new values. Several tables are updated one after the other.
func UpdateIgnore(st Statement, m *bind.Multi) (affected int64, err error) {
	var targets []*target
	for i := range m.Targets {
		t := newTarget(&m.Targets[i], m.Query)
		for o := range t.Stored {
			t.cols = append(t.cols, column.New(m.Query.Cols[t.Values[o]].Typ, 0))
		}
		targets = append(targets, t)
	}
	release, err := collect(st, m.Query, targets)
	if err != nil {
		return 0, err
	}
	defer release()
	// A table that stands in the FROM twice is written once, with what both change.
	order := map[catalog.TableID]int{}
	for i, t := range slices.Backward(targets) {
		order[catalog.IDOf(t.Table.Schema)] = i
	}
	slices.SortStableFunc(targets, func(a, b *target) int {
		return order[catalog.IDOf(a.Table.Schema)] - order[catalog.IDOf(b.Table.Schema)]
	})
	keeps := NewIntegrity(st)
	for from := 0; from < len(targets); {
		end := from + 1
		for end < len(targets) && catalog.IDOf(targets[end].Table.Schema) == catalog.IDOf(targets[from].Table.Schema) {
			end++
		}
		u, err := newUpsert(st, &bind.Insert{Table: targets[from].Table, OnDuplicate: bind.DuplicateUpdate, Ignores: true}, nil, keeps)
		if err != nil {
			return 0, err
		}
		u.account.Operator = "the rows to write"
		defer u.account.Close()
		for _, t := range targets[from:end] {
			rows, err := u.updateIgnoring(t)
			if err != nil {
				return 0, err
			}
			affected += rows
		}
		if err := u.finish(); err != nil {
			return 0, err
		}
		from = end
	}
	return affected, keeps.Finish("UPDATE")
}

// updateIgnoring changes the rows of a target and returns how many of them it could.
func (u *upserting) updateIgnoring(t *target) (changedRows int64, err error) {
	st, schema := u.st, t.Table.Schema
	b := st.Binder()
	cols := b.TableColumns(schema)
	computed, checks, err := b.RowRules(t.Target, cols)
	if err != nil {
		return 0, err
	}
	if u.rules, err = NewRules(st, t.Table, computed, checks, cols); err != nil {
		return 0, err
	}
	if u.onUpdate, err = onUpdate(st, schema, t.Ordinals); err != nil {
		return 0, err
	}
	slots := map[expr.ColumnID]int{}
	for i, position := range t.Values {
		slots[t.query.Cols[position].ID] = i
	}
	stored := make([]*expr.ProgramSet, len(t.Stored)) // one by one: each column's warnings follow those of the one before
	for i, e := range t.Stored {
		if stored[i], err = expr.CompileAll([]expr.Expr{e}, slots); err != nil {
			return 0, err
		}
	}
	kept, err := u.keeps.restricted(t.Table, t.ids, t.Ordinals)
	if err != nil {
		return 0, err
	}
	u.expect(len(t.ids))
	given := &column.Batch{N: 1, Cols: make([]*column.Vector, len(t.cols))}
	for i, id := range t.ids {
		if i&255 == 0 && st.Ctx().Err() != nil {
			return 0, sqlerr.Interrupted(context.Cause(st.Ctx()))
		}
		given.FirstRow = int64(i) + 1
		for c, v := range t.cols {
			given.Cols[c] = column.ConstVector(v.Value(i))
		}
		p := u.current(id)
		old := u.values(p)
		changed := slices.Clone(old)
		values := make([]types.Value, len(t.Ordinals))
		for c, o := range t.Ordinals {
			def := &schema.Columns[o]
			results, err := stored[c].Eval(u.context, given)
			if err != nil {
				return 0, err
			}
			values[c] = results[0].Value(0)
			if err := u.own(values[c:c+1], stringBytes(values[:c])); err != nil {
				return 0, err
			}
			values[c].Type = def.Type
			if changed[o], err = u.notNull(def, values[c]); err != nil {
				return 0, err
			}
		}
		if r := kept[id]; r != nil && !r.allows(old, changed) {
			u.context.Warnings.AddError(r.err)
			continue
		}
		done, err := u.become(p, old, changed)
		if err != nil {
			return 0, err
		}
		if done {
			changedRows++
		}
	}
	return changedRows, nil
}

// expect reserves capacity for so many rows that change, if none has yet.
func (u *upserting) expect(rows int) {
	if len(u.rows) > 0 || len(u.gone) > 0 {
		return
	}
	u.rows = make([]newRow, 0, rows)
	u.moved, u.gone = make(map[int64]int, rows), make(map[int64]bool, rows)
	for i := range u.taken {
		u.taken[i] = make(map[string]int, rows)
	}
}

// current returns where the row is that had a number in the table when the statement began.
func (u *upserting) current(id int64) rowRef {
	if i, moved := u.moved[id]; moved {
		return rowRef{row: int64(i), new: true}
	}
	return rowRef{row: id}
}

// Deletable returns those of some rows that can be deleted, with a warning for each other one: DELETE IGNORE.
func (g *Integrity) Deletable(v *table.Version, rows []int64) ([]int64, error) {
	kept, err := g.restricted(v, rows, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(row int64) bool {
		r := kept[row]
		if r != nil {
			g.st.Expressions().Warnings.AddError(r.err)
		}
		return r != nil
	}), nil
}

// restriction is a reference that keeps a row from being deleted, or its key from being changed.
type restriction struct {
	key []int // the ordinals of the columns that are referred to
	err *sqlerr.Error
}

// allows says whether a change of the row leaves the key as it is.
func (r *restriction) allows(old, changed []types.Value) bool {
	for _, o := range r.key {
		if !equalRows(old[o:o+1], changed[o:o+1]) {
			return false
		}
	}
	return true
}

// restricted finds those of some rows of v that others refer to by a foreign key that neither cascades nor sets NULL. ordinals are the columns
// that are to change; nil: the rows are to be deleted.
func (g *Integrity) restricted(v *table.Version, rows []int64, ordinals []int) (map[int64]*restriction, error) {
	if g.IsOff || len(rows) == 0 {
		return nil, nil
	}
	out := map[int64]*restriction{}
	var err error
	g.snap.Referring(v.Schema.Database, v.Schema.Name, func(child *table.Version, f *table.ForeignKey) {
		action := f.OnUpdate
		if ordinals == nil {
			action = f.OnDelete
		}
		key := ordinalsOf(v.Schema, f.Referenced)
		if err != nil || action != table.NoAction && action != table.Restrict || ordinals != nil && !intersects(key, ordinals) {
			return
		}
		child = g.version(catalog.IDOf(child.Schema))
		if child.Rows() == 0 {
			return
		}
		var keys keyRows
		if keys, err = numberedKeys(v.Gather(rows, key), rows); err != nil || keys.version == nil {
			return
		}
		var found []int64
		var parents []*column.Vector
		if found, parents, err = g.referringTo(child, f.Columns, keys); err != nil {
			return
		}
		for i, row := range found {
			parent := parents[0].Value(i).I
			if row == parent && catalog.IDOf(child.Schema) == catalog.IDOf(v.Schema) || out[parent] != nil {
				continue
			}
			out[parent] = &restriction{key, sqlerr.RowIsReferenced(definition.DescribeForeignKey(child.Schema, f))}
		}
	})
	return out, err
}

// numberedKeys makes a table of those keys that have no NULL, with the numbers of their rows behind them.
func numberedKeys(cols []*column.Vector, rows []int64) (keyRows, error) {
	numbers := column.New(types.Int64, len(rows))
	for i, row := range rows {
		numbers.Set(i, len(rows), types.IntValue(row))
	}
	return keysOf(cols, []*column.Vector{numbers}, len(rows), func(int) bool { return true })
}
