package table

import (
	"context"
	"slices"
	"sort"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Update returns the version in which column ordinals[j] of row rows[i] has value i of cols[j], already converted to
// the column's type. Rows keep their numbers and positions. A row number that stands twice takes the later values; one that is
// not in use is passed over. It checks NOT NULL, and the keys as they are after all changes; on an error v is unchanged.
// changed counts the rows that have got other values than they had.
func (v *Version) Update(ctx context.Context, rows []int64, ordinals []int, cols []*column.Vector) (next *Version, changed int64, err error) {
	if len(rows) == 0 {
		return v, 0, nil
	}
	for j, c := range cols {
		if err := checkVector(&v.Schema.Columns[ordinals[j]], c, len(rows), nil); err != nil {
			return nil, 0, err
		}
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	if !slices.IsSorted(rows) {
		sort.SliceStable(order, func(i, j int) bool { return rows[order[i]] < rows[order[j]] })
	}
	next = v.derive(len(rows))
	var undoAll []func()
	defer func() {
		if err != nil {
			for _, undo := range undoAll {
				undo()
			}
		}
	}()
	for i := 0; i < len(order); {
		group, _, ok := v.Locate(rows[order[i]])
		if !ok {
			i++
			continue
		}
		g := v.groups[group]
		end := i
		for end < len(order) && rows[order[end]] < g.First+int64(g.Rows) {
			end++
		}
		n := int64(0)
		if end-i <= fewChanges {
			var undo func()
			n, undo = next.updateFew(group, rows, order[i:end], ordinals, cols)
			undoAll = append(undoAll, undo)
		} else if n, err = next.updateGroup(ctx, group, rows, order[i:end], ordinals, cols); err != nil {
			return nil, 0, err
		}
		changed += n
		i = end
	}
	if err := next.checkUpdatedKeys(ctx, v, rows, ordinals); err != nil {
		return nil, 0, err
	}
	if err := next.renewIndexes(ctx); err != nil {
		return nil, 0, err
	}
	next.skipUpdated(ordinals, cols)
	return next, changed, nil
}

// skipUpdated counts on behind the values that an update gave the AUTO_INCREMENT column, as InnoDB does since MySQL 8.
func (v *Version) skipUpdated(ordinals []int, cols []*column.Vector) {
	at := slices.Index(ordinals, v.Schema.AutoIncrement())
	if at < 0 {
		return
	}
	if c := cols[at]; c.Type.IsInteger() {
		v.SkipAuto(slices.Max(c.I64))
	}
}

// updateGroup changes the rows of one group: those at the indices order of rows. It counts those that have got other values.
func (v *Version) updateGroup(ctx context.Context, group int, rows []int64, order []int, ordinals []int, cols []*column.Vector) (int64, error) {
	own := *v.settle(group)
	own.Columns = slices.Clone(own.Columns)
	v.groups[group] = &own
	open := v.tail != nil && group == len(v.groups)-1
	changed := make(map[int]encoding.Data, len(ordinals))
	differs := make([]bool, len(order))
	for j, ordinal := range ordinals {
		if ctx.Err() != nil {
			return 0, sqlerr.Interrupted(context.Cause(ctx))
		}
		c := own.Columns[ordinal]
		flat := newVector(c.Type)
		c.Decode(flat, 0, c.Rows)
		flatten(flat, c.Rows)
		for o, i := range order {
			at := int(rows[i] - own.First)
			old, value := flat.Value(at), cols[j].Value(i)
			flat.Set(at, c.Rows, value)
			old.F, value.F = types.CanonicalFloat(old.F), types.CanonicalFloat(value.F)
			differs[o] = differs[o] || !sameBits(old, value)
		}
		d := encoding.Data{Type: c.Type}
		d.Append(flat, c.Rows, nil)
		if open {
			changed[ordinal] = d
		} else {
			own.Columns[ordinal] = v.shared.recode(ordinal, d)
		}
	}
	if open {
		v.tail, v.groups[group] = replaced(&own, changed)
	}
	count := int64(0)
	for _, is := range differs {
		if is {
			count++
		}
	}
	return count, nil
}

// flatten makes a vector of n values one that can be written: strings without a dictionary, and a validity of its own.
func flatten(v *column.Vector, n int) {
	if v.Dict != nil {
		values := v.Dict.Values()
		v.Str = make([]string, n)
		for i, code := range v.Codes[:n] {
			v.Str[i] = values[code]
		}
		v.Dict, v.Codes = nil, nil
	}
	v.Valid = slices.Clone(v.Valid)
}

// checkUpdatedKeys checks the keys of which columns were changed since base. An index that is not built yet is built over base
// first: base may live on, and its keys must be found too.
func (v *Version) checkUpdatedKeys(ctx context.Context, base *Version, rows []int64, ordinals []int) error {
	var live []int64
	for ordinal := range v.Schema.Keys {
		key := &v.Schema.Keys[ordinal]
		if !key.Unique || !slices.ContainsFunc(key.Columns, func(c int) bool { return slices.Contains(ordinals, c) }) {
			continue
		}
		if err := base.ensureIndex(ctx, ordinal); err != nil {
			return err
		}
		if live == nil {
			live = v.liveRows(rows)
		}
		cols := make([]*column.Vector, len(key.Columns))
		for i, c := range key.Columns {
			cols[i] = column.New(v.Schema.Columns[c].Type, len(live))
			for j, row := range live {
				g, at, _ := v.Locate(row)
				cols[i].Set(j, len(live), v.groups[g].at(c, at))
			}
		}
		if err := v.checkKey(ordinal, cols, live, v.Span()); err != nil {
			return err
		}
	}
	return nil
}

// liveRows returns the row numbers that are in use, each once.
func (v *Version) liveRows(rows []int64) []int64 {
	out := make([]int64, 0, len(rows))
	for _, row := range rows {
		if _, _, ok := v.Locate(row); ok {
			out = append(out, row)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
