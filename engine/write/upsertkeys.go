package write

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// duplicate is the error for a row whose key is taken by the row at p.
func (u *upserting) duplicate(p rowRef, values []types.Value) *sqlerr.Error {
	key := &u.ins.Table.Schema.Keys[u.keys[p.key]]
	parts := make([]string, len(key.Columns))
	for i, c := range key.Columns {
		parts[i] = values[c].Text()
	}
	return sqlerr.DupEntry(strings.Join(parts, "-"), u.ins.Table.Schema.Name+"."+key.Name)
}

func equalRows(a, b []types.Value) bool {
	for i := range a {
		if a[i].Null != b[i].Null || !a[i].Null && types.Compare(a[i], b[i]) != 0 {
			return false
		}
	}
	return true
}

// find returns a row in the way of one with the given values, by the first key that has one.
func (u *upserting) find(values []types.Value) (rowRef, bool) {
	for i := range u.keys {
		if p, ok := u.findKey(i, values); ok {
			return p, true
		}
	}
	return rowRef{}, false
}

// taker is find for a row that has been removed to be changed: keys that stay as they were are free.
func (u *upserting) taker(old, changed []types.Value) (rowRef, bool) {
	for i, ordinal := range u.keys {
		same := true
		for _, o := range u.ins.Table.Schema.Keys[ordinal].Columns {
			same = same && equalRows(old[o:o+1], changed[o:o+1])
		}
		if same {
			continue
		}
		if p, ok := u.findKey(i, changed); ok {
			return p, true
		}
	}
	return rowRef{}, false
}

// findKey returns the row that has the value of one key, u.keys[i].
func (u *upserting) findKey(i int, values []types.Value) (rowRef, bool) {
	ordinal := u.keys[i]
	text, ok := u.keyText(ordinal, values)
	if !ok {
		return rowRef{}, false
	}
	if row, ok := u.taken[i][text]; ok {
		return rowRef{key: i, row: int64(row), new: true}, true
	}
	columns := u.ins.Table.Schema.Keys[ordinal].Columns
	parts := make([]types.Value, len(columns))
	for j, c := range columns {
		parts[j] = values[c]
	}
	row, ok := u.ins.Table.Lookup(ordinal, parts...)
	return rowRef{key: i, row: row}, ok && !u.gone[row]
}

// missing returns the first foreign key by which a row refers to one that is not there, or nil.
func (u *upserting) missing(values []types.Value) (*table.ForeignKey, error) {
	schema := u.ins.Table.Schema
	for i := range schema.Foreign {
		f := &schema.Foreign[i]
		parts, null := make([]types.Value, len(f.Columns)), false
		for j, o := range f.Columns {
			parts[j] = values[o]
			null = null || values[o].Null
		}
		if u.keeps.IsOff || null {
			continue
		}
		parent := u.keeps.parentOf(f)
		if parent == nil {
			return f, nil
		}
		key := parent.Schema.UniqueKey(f.Referenced)
		found := false
		if catalog.IDOf(parent.Schema) == catalog.IDOf(schema) { // rows of this statement count, and the row itself
			row, same := slices.Clone(values), true
			for j, o := range schema.Keys[key].Columns {
				same = same && equalRows(values[o:o+1], parts[j:j+1])
				row[o] = parts[j]
			}
			if found = same; !same {
				_, found = u.findKey(slices.Index(u.keys, key), row)
			}
		} else {
			if err := parent.EnsureIndexes(u.st.Ctx()); err != nil {
				return nil, err
			}
			_, found = parent.Lookup(key, parts...)
		}
		if !found {
			return f, nil
		}
	}
	return nil, nil
}

// keyText returns a key's value as a string that other values do not have; ok is false if a part is NULL.
func (u *upserting) keyText(ordinal int, values []types.Value) (text string, ok bool) {
	var b []byte
	for _, c := range u.ins.Table.Schema.Keys[ordinal].Columns {
		v := values[c]
		if v.Null {
			return "", false
		}
		switch v.Type.Phys() {
		case types.PhysFloat64:
			b = binary.BigEndian.AppendUint64(b, types.FloatKey(v.F))
		case types.PhysString:
			s := v.S
			if t := u.ins.Table.Schema.Columns[c].Type; t.Folds() {
				s = t.Collation.Key(s)
			}
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		case types.PhysInt128:
			s := v.Text()
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		default:
			b = binary.BigEndian.AppendUint64(b, uint64(v.I))
		}
	}
	return string(b), true
}
