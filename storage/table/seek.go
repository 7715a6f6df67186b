package table

import (
	"context"

	"github.com/radish-sql/radish/sql/types"
)

// Seek returns the number of the live row whose unique key, of an ordinal in Schema.Keys, has the given values; ok is false if there is none.
// The values have the columns' physical types. Where keyed says so a value is the key of a text under its column's collation. The first call
// may build the index, which ends with ctx.
func (v *Version) Seek(ctx context.Context, key int, values []types.Value, keyed []bool) (row int64, ok bool, err error) {
	if v.rows == 0 {
		return 0, false, nil
	}
	columns := v.Schema.Keys[key].Columns
	hash := uint64(keyHashStart)
	for i, c := range columns {
		if values[i].Null {
			return 0, false, nil
		}
		hash = max(1, mix(hash^hashValue(v.Schema.Columns[c].Type, &values[i], keyed[i])))
	}
	v.index.mu.RLock()
	x := v.index.keys[key]
	if x == nil {
		v.index.mu.RUnlock()
		if err := v.ensureIndex(ctx, key); err != nil {
			return 0, false, err
		}
		v.index.mu.RLock()
		x = v.index.keys[key]
	}
	defer v.index.mu.RUnlock()
	x.find(hash, func(candidate int64) bool {
		row, ok = candidate, v.hasKey(candidate, columns, values, keyed)
		return !ok
	})
	return row, ok, nil
}

// hasKey says whether a row is live and has the given values in some columns.
func (v *Version) hasKey(row int64, columns []int, values []types.Value, keyed []bool) bool {
	if row >= v.Span() {
		return false
	}
	group, offset, live := v.Locate(row)
	if !live {
		return false
	}
	g := v.groups[group]
	change := g.change(offset)
	for i, c := range columns {
		a, t := g.valueAt(change, c, offset), v.Schema.Columns[c].Type
		switch {
		case a.Null:
			return false
		case keyed[i]:
			if t.Collation.Key(a.S) != values[i].S {
				return false
			}
		default:
			if b := values[i]; t.Phys() == types.PhysInt64 {
				if a.I != b.I {
					return false
				}
			} else if b.Type = t; !equalValues(t, a, b) {
				return false
			}
		}
	}
	return true
}

// hashValue is the hash of one value, as hashKey computes it.
func hashValue(t types.Type, v *types.Value, keyed bool) uint64 {
	switch t.Phys() {
	case types.PhysFloat64:
		return mix(types.FloatKey(v.F))
	case types.PhysInt128:
		return hashWide(v.D)
	case types.PhysString:
		var key []byte
		return hashString(t, t.Folds() && !keyed, v.S, &key)
	}
	return mix(uint64(v.I))
}
