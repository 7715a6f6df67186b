package table

import (
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// outline is what a version of a file's table knows besides the columns that were read so far.
type outline struct {
	unread    []bool // by column
	estimates []*ColumnStats
}

// NewOutline returns a version of a table in a file, whose columns are read when somebody wants them: until [Version.Fill] none of them may be scanned. It has
// about so many rows. estimates are what is supposed of its columns, nil where nothing is; nothing is proved by them.
func NewOutline(schema *Schema, rows int64, estimates []*ColumnStats) *Version {
	v := New(schema)
	v.rows = rows
	v.outline = &outline{unread: make([]bool, len(schema.Columns)), estimates: make([]*ColumnStats, len(schema.Columns))}
	copy(v.outline.estimates, estimates)
	for i := range v.outline.unread {
		v.outline.unread[i] = true
	}
	return v
}

// Unread says whether a column still has to be read.
func (v *Version) Unread(ordinal int) bool { return v.outline != nil && v.outline.unread[ordinal] }

// IsOutline says whether nothing was read yet, not even how many rows there are.
func (v *Version) IsOutline() bool { return v.outline != nil && len(v.groups) == 0 }

// Part is some columns of a table, which were read into a version of their own.
type Part struct {
	Ordinals []int // the table's column of each column of From
	From     *Version
}

// Fill gives an outline the columns that were read, instead of those it had, before anybody scans them. ok is false, and nothing has happened, if the
// parts divide their rows into different row groups. Unread columns are NULL.
func (v *Version) Fill(parts ...Part) (ok bool) {
	var shape *Version
	for _, p := range parts {
		if len(p.Ordinals) == 0 && shape != nil {
			continue
		}
		if shape != nil && !sameGroups(shape, p.From) {
			return false
		}
		shape = p.From
	}
	filled := newVersion(v.Schema, v.shared)
	filled.outline = &outline{unread: make([]bool, len(v.Schema.Columns)), estimates: v.outline.estimates}
	for i := range filled.outline.unread {
		filled.outline.unread[i] = true
	}
	for i, g := range shape.Groups() {
		own := &RowGroup{Rows: g.Rows, Columns: make([]*encoding.Chunk, len(v.Schema.Columns))}
		for _, p := range parts {
			for k, o := range p.Ordinals {
				own.Columns[o] = p.From.Groups()[i].Columns[k]
				filled.outline.unread[o] = false
			}
		}
		for o := range own.Columns {
			if own.Columns[o] == nil {
				own.Columns[o] = missing(v.Schema.Columns[o].Type, g.Rows)
			}
		}
		filled.addGroup(own, nil)
	}
	for _, p := range parts {
		for _, o := range p.Ordinals {
			filled.outline.unread[o] = false
		}
	}
	filled.rows = shape.rows
	*v = *filled
	return true
}

func sameGroups(a, b *Version) bool {
	if len(a.groups) != len(b.groups) {
		return false
	}
	for i := range a.groups {
		if a.groups[i].Rows != b.groups[i].Rows {
			return false
		}
	}
	return true
}

// missing stands for a column that nobody has read.
func missing(t types.Type, rows int) *encoding.Chunk {
	return &encoding.Chunk{Type: t, Kind: encoding.Constant, Rows: rows, NullCount: rows, Min: types.NullOf(t), Max: types.NullOf(t)}
}

// supposed returns what is assumed of a column that was not read.
func (v *Version) supposed(ordinal int) *ColumnStats {
	if s := v.outline.estimates[ordinal]; s != nil {
		return s
	}
	s := v.unproved(ordinal)
	s.Distinct = max(1, float64(v.rows)/supposedRepeats)
	return s
}

// supposedRepeats is how often a value is assumed to occur in a column that was not read.
const supposedRepeats = 4

// unproved returns statistics that say nothing of a column.
func (v *Version) unproved(ordinal int) *ColumnStats {
	typ := v.Schema.Columns[ordinal].Type
	return &ColumnStats{Rows: v.rows, Min: types.NullOf(typ), Max: types.NullOf(typ)}
}
