package table

import (
	"context"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// checkKeys checks the unique keys of rows from first on, which are those of data, and adds them to the indexes.
func (v *Version) checkKeys(first int64, data []encoding.Data) error {
	for ordinal := range v.Schema.Keys {
		key := &v.Schema.Keys[ordinal]
		if !key.Unique {
			continue
		}
		cols := make([]*column.Vector, len(key.Columns))
		for i, c := range key.Columns {
			cols[i] = vectorOf(&data[c])
			cols[i].Type = v.Schema.Columns[c].Type
		}
		n := data[0].Rows
		numbers := make([]int64, n)
		for i := range numbers {
			numbers[i] = first + int64(i)
		}
		if err := v.checkKey(ordinal, cols, numbers, first); err != nil {
			return err
		}
	}
	return nil
}

// checkKey checks one unique key of the rows of the given numbers, whose key columns are cols, and adds them to the index.
// Rows up to built are in the index, or are put there if it was not built yet.
func (v *Version) checkKey(ordinal int, cols []*column.Vector, numbers []int64, built int64) error {
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	x := v.index.keys[ordinal]
	if x == nil {
		var err error
		if x, err = v.buildIndex(context.Background(), ordinal, built, true); err != nil {
			return err
		}
		v.index.keys[ordinal] = x
	}
	hashes := make([]uint64, len(numbers))
	hashKey(cols, len(numbers), hashes)
	for i, h := range hashes {
		if h == 0 {
			continue
		}
		row, walked := numbers[i], 0
		isDuplicate := false
		x.find(h, func(other int64) bool {
			walked++
			isDuplicate = other != row && v.sameKey(ordinal, row, other)
			return !isDuplicate
		})
		if isDuplicate {
			return v.duplicate(ordinal, row)
		}
		x.add(h, row)
		v.worn = v.worn || walked > mostWorn && walked*walked > wornShare*int(v.rows)
	}
	return nil
}

// A key that is deleted and inserted again and again has an entry in the index for each time. From so many on, and with more than a root of the table's rows
// of them, a version gets indexes of its own with live rows only: looking through the entries and making indexes then take about as long.
const (
	mostWorn  = 64
	wornShare = 4
)

// renewIndexes gives a new version indexes of its own if one of them is worn.
func (v *Version) renewIndexes(ctx context.Context) error {
	if !v.worn {
		return nil
	}
	v.worn = false
	fresh := newIndexes(v.Schema)
	for ordinal := range v.Schema.Keys {
		v.index.mu.RLock()
		built := v.index.keys[ordinal] != nil
		v.index.mu.RUnlock()
		if built {
			var err error
			if fresh.keys[ordinal], err = v.buildIndex(ctx, ordinal, v.Span(), false); err != nil {
				return err
			}
		}
	}
	v.index = fresh
	return nil
}

// EnsureIndexes builds the indexes of the unique keys, unless that was done already or ctx ends. Append, Update and Lookup
// would do it when they need one, and cannot be stopped meanwhile.
func (v *Version) EnsureIndexes(ctx context.Context) error {
	for ordinal := range v.Schema.Keys {
		if v.Schema.Keys[ordinal].Unique {
			if err := v.ensureIndex(ctx, ordinal); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureIndex builds the index of a key if that was not done yet.
func (v *Version) ensureIndex(ctx context.Context, ordinal int) error {
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	if v.index.keys[ordinal] != nil {
		return nil
	}
	x, err := v.buildIndex(ctx, ordinal, v.Span(), true)
	if err == nil {
		v.index.keys[ordinal] = x
	}
	return err
}

// buildIndex makes the index over the rows below limit. Deleted ones have to be in it if older versions share it, which may have them.
func (v *Version) buildIndex(ctx context.Context, ordinal int, limit int64, deleted bool) (*keyIndex, error) {
	x := newKeyIndex(min(limit, v.rows))
	err := v.scanKey(ctx, ordinal, limit, func(first int64, g *RowGroup, offset int, hashes []uint64, _ []*column.Vector) bool {
		for i, h := range hashes {
			if h != 0 && (deleted || g.Deleted == nil || !g.Deleted.Get(offset+i)) {
				x.add(h, first+int64(i))
			}
		}
		return true
	})
	return x, err
}

// scanKey calls f with the hashes of a key's columns in every row below limit, a vector of rows at a time, until f
// returns false or ctx ends. first is the number of a vector's first row, which lies at offset in its group.
func (v *Version) scanKey(ctx context.Context, ordinal int, limit int64, f func(first int64, g *RowGroup, offset int, hashes []uint64, cols []*column.Vector) bool) error {
	columns := v.Schema.Keys[ordinal].Columns
	cols := make([]*column.Vector, len(columns))
	for i, c := range columns {
		cols[i] = newVector(v.Schema.Columns[c].Type)
	}
	hashes := make([]uint64, column.VectorSize)
	for _, g := range v.Groups() {
		rows := int(min(int64(g.Rows), limit-g.First))
		for at := 0; at < rows; at += column.VectorSize {
			if err := ctx.Err(); err != nil {
				return sqlerr.Interrupted(context.Cause(ctx))
			}
			n := min(column.VectorSize, rows-at)
			for i, c := range columns {
				g.Columns[c].Decode(cols[i], at, n)
				cols[i].Type = v.Schema.Columns[c].Type // the chunk may be another table's
			}
			hashKey(cols, n, hashes)
			if !f(g.First+int64(at), g, at, hashes[:n], cols) {
				return nil
			}
		}
	}
	return nil
}

// sameKey says whether other is a live row with the same key as row, neither having a NULL in it.
func (v *Version) sameKey(ordinal int, row, other int64) bool {
	og, oi, ok := v.Locate(other)
	if !ok {
		return false
	}
	g, i, _ := v.Locate(row)
	for _, c := range v.Schema.Keys[ordinal].Columns {
		a, b := v.groups[g].at(c, i), v.groups[og].at(c, oi)
		if a.Null || b.Null || !equalValues(v.Schema.Columns[c].Type, a, b) {
			return false
		}
	}
	return true
}

// duplicate is the error for a row whose key is taken.
func (v *Version) duplicate(ordinal int, row int64) error {
	key := &v.Schema.Keys[ordinal]
	g, i, _ := v.Locate(row)
	parts := make([]string, len(key.Columns))
	for j, c := range key.Columns {
		parts[j] = v.groups[g].at(c, i).Text()
	}
	return sqlerr.DupEntry(strings.Join(parts, "-"), v.Schema.Name+"."+key.Name)
}

// Lookup returns the number of the live row whose unique key, of that ordinal in Schema.Keys, has the given values; ok
// is false if there is none. The values have the columns' physical types. The first call may build the key's index.
func (v *Version) Lookup(key int, values ...types.Value) (row int64, ok bool) {
	columns := v.Schema.Keys[key].Columns
	cols := make([]*column.Vector, len(columns))
	for i, c := range columns {
		if values[i].Null {
			return 0, false
		}
		values[i].Type = v.Schema.Columns[c].Type
		cols[i] = column.ConstVector(values[i])
	}
	hashes := make([]uint64, 1)
	hashKey(cols, 1, hashes)
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	x := v.index.keys[key]
	if x == nil {
		var err error
		if x, err = v.buildIndex(context.Background(), key, v.Span(), true); err != nil {
			return 0, false // cannot be: nothing ends this context
		}
		v.index.keys[key] = x
	}
	x.find(hashes[0], func(candidate int64) bool {
		g, i, live := v.Locate(candidate)
		ok = live
		for j, c := range columns {
			if !ok {
				break
			}
			a := v.groups[g].at(c, i)
			ok = !a.Null && equalValues(v.Schema.Columns[c].Type, a, values[j])
		}
		row = candidate
		return !ok
	})
	return row, ok
}

// checkKeysBulk checks the unique keys after rows from first on were loaded. Keys of integers that ascend through the
// whole table need no index.
func (v *Version) checkKeysBulk(ctx context.Context, first int64) error {
	proven := false
	for ordinal := range v.Schema.Keys {
		if !v.Schema.Keys[ordinal].Unique || v.Span() == 0 {
			continue
		}
		v.index.mu.Lock()
		built := v.index.keys[ordinal] != nil
		v.index.mu.Unlock()
		if !built {
			ascends, err := v.keyAscends(ctx, ordinal)
			if err != nil {
				return err
			}
			if ascends {
				proven = true
				continue
			}
		}
		if err := v.checkKeyFrom(ctx, ordinal, first); err != nil {
			return err
		}
	}
	if proven {
		// The index lacks the new rows: one that another version builds must not be taken for this one's.
		v.index = newIndexes(v.Schema)
	}
	return nil
}

func (v *Version) checkKeyFrom(ctx context.Context, ordinal int, first int64) error {
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	x := v.index.keys[ordinal]
	if x == nil {
		x = newKeyIndex(v.Span())
		fresh, err := v.buildIndex(ctx, ordinal, first, true)
		if err != nil {
			return err
		}
		if fresh.count > 0 {
			x = fresh
		}
		v.index.keys[ordinal] = x
	}
	var err error
	ended := v.scanKey(ctx, ordinal, v.Span(), func(at int64, g *RowGroup, offset int, hashes []uint64, _ []*column.Vector) bool {
		for i, h := range hashes {
			row := at + int64(i)
			if h == 0 || row < first || g.Deleted != nil && g.Deleted.Get(offset+i) {
				continue
			}
			x.find(h, func(other int64) bool {
				if other != row && v.sameKey(ordinal, row, other) {
					err = v.duplicate(ordinal, row)
				}
				return err == nil
			})
			if err != nil {
				return false
			}
			x.add(h, row)
		}
		return true
	})
	if err == nil {
		err = ended
	}
	return err
}

// keyAscends says whether a key of integers ascends strictly from row to row, deleted ones included, without NULLs: then it
// is unique.
func (v *Version) keyAscends(ctx context.Context, ordinal int) (bool, error) {
	columns := v.Schema.Keys[ordinal].Columns
	for _, c := range columns {
		if v.Schema.Columns[c].Type.Phys() != types.PhysInt64 {
			return false, nil
		}
		for _, g := range v.Groups() {
			if g.Columns[c].NullCount > 0 {
				return false, nil
			}
		}
	}
	previous, started, ascends := make([]int64, len(columns)), false, true
	err := v.scanKey(ctx, ordinal, v.Span(), func(_ int64, _ *RowGroup, _ int, hashes []uint64, cols []*column.Vector) bool {
		for i := range hashes {
			order := 0
			for j := 0; j < len(cols) && order == 0; j++ {
				order = compareInts(previous[j], cols[j].I64[i])
			}
			if started && order >= 0 {
				ascends = false
				return false
			}
			started = true
			for j, c := range cols {
				previous[j] = c.I64[i]
			}
		}
		return true
	})
	return ascends, err
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// vectorOf returns a vector over the memory of d.
func vectorOf(d *encoding.Data) *column.Vector {
	v := &column.Vector{Type: d.Type, I64: d.Ints, F64: d.Floats, I128: d.Wide, Str: d.Strings, Dict: d.Dict, Valid: d.Valid}
	switch {
	case d.Dict != nil:
		v.Codes = d.Codes
	case d.Codes != nil || d.Offsets != nil:
		v.Str = make([]string, d.Rows)
		for i := range v.Str {
			if d.Valid == nil || d.Valid.Get(i) {
				v.Str[i] = d.StringAt(i)
			}
		}
	}
	return v
}
