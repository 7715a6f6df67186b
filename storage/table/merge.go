package table

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Merge returns theirs with the changes that a transaction made from base to mine. theirs descends from base too: it has what was committed since the
// transaction began.
//
// It fails with MySQL's error 1213 if mine changed or deleted a row that is gone or has other values in theirs, if a unique key would not hold, or if
// the table's definition has changed. Rows are compared by their values: one that was changed and changed back is as it was.
func Merge(ctx context.Context, base, mine, theirs *Version) (*Version, error) {
	switch {
	case theirs == base:
		return mine, nil
	case mine == base:
		return theirs, nil
	case theirs.shared != base.shared || theirs.Schema != base.Schema:
		return nil, sqlerr.WriteConflict("the definition of table '%s' was changed meanwhile", base.Schema.Name)
	case mine.numbers != base.numbers:
		return nil, sqlerr.WriteConflict("table '%s' was changed meanwhile", base.Schema.Name)
	}
	d, err := differences(ctx, base, mine)
	if err != nil {
		return nil, err
	}
	touched := slices.Concat(d.deleted, d.updated)
	if len(touched) > 0 && theirs.numbers != base.numbers {
		return nil, sqlerr.WriteConflict("table '%s' was changed meanwhile", base.Schema.Name)
	}
	for _, row := range touched {
		if !sameRow(base, theirs, row) {
			return nil, sqlerr.WriteConflict("a row of table '%s' was changed meanwhile", base.Schema.Name)
		}
	}
	next, err := theirs.mark(ctx, d.deleted)
	if err == nil {
		next, err = d.update(ctx, next, mine)
	}
	if err == nil {
		next, err = d.append(ctx, next, mine)
	}
	if errors.Is(err, sqlerr.CodeDupEntry) {
		return nil, sqlerr.WriteConflict("%s meanwhile", sqlerr.From(err).Message)
	}
	if err != nil {
		return nil, err
	}
	return next, next.compact(ctx)
}

// difference is what leads from one version to another.
type difference struct {
	deleted []int64
	updated []int64
	columns []int // in which some row of updated differs
	kept    []int // by group of the later version: so many of its first rows have a number in the earlier one
}

// differences finds out what leads from base to mine, whose rows have the same numbers.
func differences(ctx context.Context, base, mine *Version) (*difference, error) {
	d := &difference{kept: make([]int, len(mine.groups))}
	changed := make([]bool, len(base.Schema.Columns))
	for i, before := range base.groups {
		if ctx.Err() != nil {
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		}
		if i < len(mine.groups) && continues(before, mine.groups[i]) {
			d.kept[i] = before.Rows
			d.ofLog(before, mine.groups[i], changed)
			continue
		}
		before = before.whole(base.shared)
		var after *RowGroup
		shared := 0
		// Groups at the end may have been dropped, and others have taken their numbers.
		if i < len(mine.groups) && mine.groups[i].First == before.First && !revives(before, mine.groups[i].whole(mine.shared)) {
			after = mine.groups[i].whole(mine.shared)
			shared = min(before.Rows, after.Rows)
			d.kept[i] = shared
		}
		if after == before {
			continue
		}
		differs := make([]bool, shared)
		if after != nil {
			for c := range before.Columns {
				if compareColumn(before.Columns[c], after.Columns[c], differs) {
					changed[c] = true
				}
			}
		}
		for row := range before.Rows {
			if before.Deleted != nil && before.Deleted.Get(row) {
				continue
			}
			number := before.First + int64(row)
			switch {
			case row >= shared || after.Deleted != nil && after.Deleted.Get(row):
				d.deleted = append(d.deleted, number)
			case differs[row]:
				d.updated = append(d.updated, number)
			}
		}
	}
	for c, is := range changed {
		if is {
			d.columns = append(d.columns, c)
		}
	}
	return d, nil
}

// continues says whether after is a later state of a group that differs in what its log has more, and in rows at its end.
func continues(before, after *RowGroup) bool {
	switch {
	case before == after:
		return true
	case before.First != after.First || before.Rows > after.Rows || len(before.Deleted) > 0 && &before.Deleted[0] != &after.Deleted[0] || len(before.Deleted) != len(after.Deleted):
		return false
	case before.pending != nil && (after.pending == nil || before.pending.log.origin != after.pending.log.origin || before.pending.n > after.pending.n):
		return false
	}
	for i, c := range before.Columns {
		if c != after.Columns[i] && !samePrefix(c, after.Columns[i]) {
			return false
		}
	}
	return true
}

// ofLog adds what the log of after, which continues before, has more.
func (d *difference) ofLog(before, after *RowGroup, changed []bool) {
	if before == after || after.pending == nil {
		return
	}
	seen := 0
	if before.pending != nil {
		seen = before.pending.n
	}
	offsets := map[int]bool{}
	for _, c := range after.pending.log.first(after.pending.n)[seen:] {
		if c.offset < before.Rows && before.live(c.offset) {
			offsets[c.offset] = true
		}
	}
	for _, offset := range slices.Sorted(maps.Keys(offsets)) {
		number := before.First + int64(offset)
		if !after.live(offset) {
			d.deleted = append(d.deleted, number)
			continue
		}
		differs := false
		for c := range before.Columns {
			if !sameBits(before.at(c, offset), after.at(c, offset)) {
				changed[c], differs = true, true
			}
		}
		if differs {
			d.updated = append(d.updated, number)
		}
	}
}

// revives says whether a number of before whose row was deleted has a row in after: then before was dropped, and after's rows are all new.
func revives(before, after *RowGroup) bool {
	if before.Deleted == nil || before == after {
		return false
	}
	for row := range min(before.Rows, after.Rows) {
		if before.Deleted.Get(row) && (after.Deleted == nil || !after.Deleted.Get(row)) {
			return true
		}
	}
	return false
}

// compareColumn marks the rows in which two chunks of a column differ, and says whether there are any.
func compareColumn(a, b *encoding.Chunk, differs []bool) bool {
	if a == b || samePrefix(a, b) {
		return false
	}
	found := false
	x, y := newVector(a.Type), newVector(b.Type)
	for at := 0; at < len(differs); at += column.VectorSize {
		n := min(column.VectorSize, len(differs)-at)
		a.Decode(x, at, n)
		b.Decode(y, at, n)
		for i := range n {
			if !sameAt(x, y, i) {
				differs[at+i], found = true, true
			}
		}
	}
	return found
}

// samePrefix says whether two chunks of an open row group are parts of one array: what they have in common is equal then.
func samePrefix(a, b *encoding.Chunk) bool {
	if a.Kind != b.Kind || a.Rows == 0 || b.Rows == 0 {
		return false
	}
	switch a.Kind {
	case encoding.Raw64:
		return &a.I64[0] == &b.I64[0]
	case encoding.RawFloat:
		return &a.F64[0] == &b.F64[0]
	case encoding.Raw128:
		return &a.I128[0] == &b.I128[0]
	case encoding.RawString:
		return len(a.Offsets) > 0 && len(b.Offsets) > 0 && &a.Offsets[0] == &b.Offsets[0]
	}
	return false
}

// sameAt compares a row of two vectors of one type, by the bits of what is stored.
func sameAt(x, y *column.Vector, i int) bool {
	if x.IsNull(i) || y.IsNull(i) {
		return x.IsNull(i) && y.IsNull(i)
	}
	switch x.Type.Phys() {
	case types.PhysString:
		return x.StringAt(i) == y.StringAt(i)
	default:
		return sameBits(x.Value(i), y.Value(i))
	}
}

func sameBits(a, b types.Value) bool {
	return a.Null == b.Null && (a.Null || a.I == b.I && math.Float64bits(a.F) == math.Float64bits(b.F) && a.D == b.D && a.S == b.S)
}

// sameRow says whether the row of a number, which base has, is in theirs with the same values.
func sameRow(base, theirs *Version, row int64) bool {
	bg, bi, _ := base.Locate(row)
	tg, ti, ok := theirs.Locate(row)
	if !ok {
		return false
	}
	before, now := base.groups[bg], theirs.groups[tg]
	if before == now {
		return true
	}
	if bi == ti && before.pending == nil && now.pending == nil && slices.Equal(before.Columns, now.Columns) {
		return true
	}
	for c := range before.Columns {
		if !sameBits(before.at(c, bi), now.at(c, ti)) {
			return false
		}
	}
	return true
}

// update gives the changed rows of v the values that they have in mine.
func (d *difference) update(ctx context.Context, v, mine *Version) (*Version, error) {
	if len(d.updated) == 0 {
		return v, nil
	}
	n := len(d.updated)
	cols := make([]*column.Vector, len(d.columns))
	for i, c := range d.columns {
		cols[i] = column.New(v.Schema.Columns[c].Type, n)
		for j, row := range d.updated {
			g, at, _ := mine.Locate(row)
			cols[i].Set(j, n, mine.groups[g].at(c, at))
		}
	}
	next, _, err := v.Update(ctx, d.updated, d.columns, cols)
	return next, err
}

// append adds the rows of mine that were new.
func (d *difference) append(ctx context.Context, v, mine *Version) (*Version, error) {
	rows := 0
	for i, g := range mine.groups {
		rows += g.Rows - d.kept[i]
	}
	if rows == 0 {
		return v, nil
	}
	var add func(*column.Batch) error
	var few []*column.Batch
	var builder *Builder
	if rows > reopenRows {
		builder = NewBuilder(v).Meter(ctx)
		add = builder.Append
	} else if err := v.EnsureIndexes(ctx); err != nil {
		return nil, err
	} else {
		add = func(b *column.Batch) error { few = append(few, b); return nil }
	}
	for i, g := range mine.groups {
		if d.kept[i] == g.Rows {
			continue
		}
		g = g.whole(mine.shared)
		for at := d.kept[i]; at < g.Rows; at += column.VectorSize {
			if b := g.batch(at, min(column.VectorSize, g.Rows-at)); b != nil {
				if err := add(b); err != nil {
					return nil, err
				}
			}
		}
	}
	if builder != nil {
		return builder.Finish()
	}
	return v.Append(few...)
}

// batch returns the live ones of n rows from at on; nil if there are none.
func (g *RowGroup) batch(at, n int) *column.Batch {
	b := &column.Batch{N: n}
	if g.Deleted != nil {
		b.Sel = make([]int32, 0, n)
		for i := range n {
			if !g.Deleted.Get(at + i) {
				b.Sel = append(b.Sel, int32(i))
			}
		}
		if len(b.Sel) == 0 {
			return nil
		}
	}
	for _, c := range g.Columns {
		v := newVector(c.Type)
		c.Decode(v, at, n)
		b.Cols = append(b.Cols, v)
	}
	return b
}
