package table

import (
	"context"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// compactRows is the size from which on a group is rewritten when more than half of its rows are deleted, and sparseTable the share
// of a table's rows, one in so many, that must be deleted. The keys' indexes are made anew then.
const (
	compactRows = 4096
	sparseTable = 16
)

// Delete returns the version without the rows of the given numbers, in any order, and how many rows that removed:
// numbers that are not in use, and repetitions, count for nothing. The numbers of the other rows may change.
func (v *Version) Delete(ctx context.Context, rows []int64) (*Version, int64, error) {
	next, err := v.mark(ctx, rows)
	if err != nil {
		return nil, 0, err
	}
	removed := v.rows - next.rows
	if removed == 0 {
		return v, 0, nil
	}
	return next, removed, next.compact(ctx)
}

// mark returns the version in which rows of the given numbers are deleted, with everything in its place.
func (v *Version) mark(ctx context.Context, rows []int64) (*Version, error) {
	if !slices.IsSorted(rows) {
		rows = slices.Sorted(slices.Values(rows))
	}
	next := v.derive(len(rows))
	var own *RowGroup // the group of the rows before, if its bitmap is this version's
	for i := 0; i < len(rows); i++ {
		row := rows[i]
		if i&(checkRows-1) == 0 && ctx.Err() != nil {
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		}
		if own == nil || row >= own.First+int64(own.Rows) {
			group, _, ok := next.Locate(row)
			if !ok {
				continue
			}
			g := next.groups[group]
			end := i
			for end < len(rows) && end-i <= fewChanges && rows[end] < g.First+int64(g.Rows) {
				end++
			}
			if end-i <= fewChanges {
				next.markFew(group, rows[i:end])
				i = end - 1
				continue
			}
			own = next.ownDeletions(group)
		}
		if offset := int(row - own.First); !own.Deleted.Get(offset) {
			own.Deleted.Set(offset)
			next.rows--
		}
	}
	return next, nil
}

// ownDeletions gives a group of a new version a bitmap of deletions of its own: what older versions read stays as it is. The group has no log then.
func (v *Version) ownDeletions(group int) *RowGroup {
	g := v.settle(group)
	own := *g
	own.Deleted = column.NewBitmap(g.Rows, false)
	copy(own.Deleted, g.Deleted)
	v.groups[group] = &own
	return &own
}

// checkRows is the number of rows between two looks at a context.
const checkRows = 1 << 14

// compact drops groups without live rows at the end. If groups before them have few live rows left it rewrites those;
// then the numbers of rows change and the keys' indexes start anew.
func (v *Version) compact(ctx context.Context) error {
	v.merged = v.merged.next() // an index that was made anew may have asked for the groups as they were
	for n := len(v.groups); n > 0 && v.groups[n-1].Live() == 0; n-- {
		v.groups, v.tail = v.groups[:n-1], nil
	}
	if dead := v.Span() - v.rows; dead < v.Span()/sparseTable {
		return nil // it would cost more than it gives
	}
	sparse := func(g *RowGroup) bool {
		live := g.Live()
		return live == 0 || g.Rows >= compactRows && live < g.Rows/2
	}
	if !slices.ContainsFunc(v.groups, sparse) {
		return nil
	}
	old, open := v.groups, v.tail
	v.groups, v.tail = make([]*RowGroup, 0, len(old)), nil
	for i, g := range old {
		if ctx.Err() != nil {
			return sqlerr.Interrupted(context.Cause(ctx))
		}
		if sparse(g) {
			if g = g.whole(v.shared); g.Live() > 0 {
				v.addGroup(v.shared.encode(dataOf(g)), nil)
			}
			continue
		}
		moved := *g
		moved.pending = g.pending.again() // the group with its changes knows its first row, too
		v.addGroup(&moved, nil)
		if i == len(old)-1 {
			v.tail = open
		}
	}
	v.index, v.numbers = newIndexes(v.Schema), new(numbering)
	return nil
}
