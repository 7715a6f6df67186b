package table

import (
	"context"
	"slices"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// ForeignKey says that what a row has in some columns stands in columns of a row of another table, its parent, unless one of
// them is NULL. The referenced columns are a unique key of the parent.
type ForeignKey struct {
	Name       string
	Columns    []int    // ordinals
	Database   string   // of the parent
	Table      string   // the parent
	Referenced []string // names of the parent's columns
	OnDelete   ReferentialAction
	OnUpdate   ReferentialAction
}

// ReferentialAction is what happens to rows that refer to a row which is deleted, or whose key changes.
type ReferentialAction uint8

// What there is. The first two are the same: the statement fails.
const (
	NoAction ReferentialAction = iota
	Restrict
	Cascade
	SetNull
)

var actionNames = [...]string{NoAction: "NO ACTION", Restrict: "RESTRICT", Cascade: "CASCADE", SetNull: "SET NULL"}

func (a ReferentialAction) String() string { return actionNames[a] }

// RefersTo says whether the key's parent has the given names.
func (f *ForeignKey) RefersTo(database, table string) bool {
	return strings.EqualFold(f.Table, table) && strings.EqualFold(f.Database, database)
}

// UniqueKey returns the ordinal in Keys of a unique key of just these columns, in this order, or -1.
func (s *Schema) UniqueKey(columns []string) int {
	return slices.IndexFunc(s.Keys, func(k Key) bool {
		if !k.Unique || len(k.Columns) != len(columns) {
			return false
		}
		for i, o := range k.Columns {
			if !strings.EqualFold(s.Columns[o].Name, columns[i]) {
				return false
			}
		}
		return true
	})
}

// Find stores in rows, for each of the n values of a unique key that stand in cols, the number of the live row which has it. That
// is -1 if there is none, or if a part of the value is NULL. The key is that of an ordinal in Schema.Keys. The first call may build its index.
func (v *Version) Find(ctx context.Context, key int, cols []*column.Vector, n int, rows []int64) error {
	if err := v.ensureIndex(ctx, key); err != nil {
		return err
	}
	columns := v.Schema.Keys[key].Columns
	hashes := make([]uint64, n)
	hashKey(cols, n, hashes)
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	x := v.index.keys[key]
	for i, h := range hashes {
		rows[i] = -1
		if h == 0 {
			continue
		}
		x.find(h, func(candidate int64) bool {
			g, at, live := v.Locate(candidate)
			for j := 0; live && j < len(columns); j++ {
				a := v.groups[g].at(columns[j], at)
				live = !a.Null && equalValues(v.Schema.Columns[columns[j]].Type, a, cols[j].Value(i))
			}
			if live {
				rows[i] = candidate
			}
			return !live
		})
	}
	return nil
}

// Gather returns the values of some columns in the rows of the given numbers, which are in use.
func (v *Version) Gather(rows []int64, ordinals []int) []*column.Vector {
	cols := make([]*column.Vector, len(ordinals))
	for i, o := range ordinals {
		cols[i] = column.New(v.Schema.Columns[o].Type, len(rows))
	}
	for j, row := range rows {
		group, at, _ := v.Locate(row)
		g := v.groups[group]
		change := g.change(at)
		for i, o := range ordinals {
			cols[i].Set(j, len(rows), g.valueAt(change, o, at))
		}
	}
	return cols
}

// Changed returns those of the given rows that have other values in some columns than they have in an earlier version,
// which both have.
func (v *Version) Changed(before *Version, rows []int64, ordinals []int) []int64 {
	return slices.DeleteFunc(slices.Clone(rows), func(row int64) bool {
		g, at, _ := v.Locate(row)
		bg, bat, _ := before.Locate(row)
		for _, o := range ordinals {
			if !sameBits(v.groups[g].at(o, at), before.groups[bg].at(o, bat)) {
				return false
			}
		}
		return true
	})
}

// Mark returns the version without the rows of the given numbers, as Delete does, but lets every other row keep its number.
func (v *Version) Mark(ctx context.Context, rows []int64) (*Version, int64, error) {
	next, err := v.mark(ctx, rows)
	if err != nil {
		return nil, 0, err
	}
	if next.rows == v.rows {
		return v, 0, nil
	}
	return next, v.rows - next.rows, nil
}

// Compact returns the version with the memory of deleted rows given back as Delete does it. The numbers of rows may change.
func (v *Version) Compact(ctx context.Context) (*Version, error) {
	next := v.derive(0)
	return next, next.compact(ctx)
}

// Difference is what leads from one version to another: the rows of the first that are deleted and those that have other values, and
// those of the second that are new.
type Difference struct{ Deleted, Updated, Added []int64 }

// Diff finds out what leads from before to after, a later version. ok is false if rows have got other numbers in between.
func Diff(ctx context.Context, before, after *Version) (d Difference, ok bool, err error) {
	if before.numbers != after.numbers {
		return d, false, nil
	}
	found, err := differences(ctx, before, after)
	if err != nil {
		return d, false, err
	}
	d.Deleted, d.Updated = found.deleted, found.updated
	for i, g := range after.groups {
		for at := found.kept[i]; at < g.Rows; at++ {
			if g.live(at) {
				d.Added = append(d.Added, g.First+int64(at))
			}
		}
	}
	return d, true, nil
}

// RowsFrom returns the numbers of the live rows from one on.
func (v *Version) RowsFrom(ctx context.Context, first int64) ([]int64, error) {
	var rows []int64
	for _, g := range v.groups {
		if ctx.Err() != nil {
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		}
		for at := int(max(0, first-g.First)); at < g.Rows; at++ {
			if g.live(at) {
				rows = append(rows, g.First+int64(at))
			}
		}
	}
	return rows, nil
}
