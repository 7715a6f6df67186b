package form

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// Column says how a table column lies on the device: one array over all row groups, in the numbering of the table's rows.
// It follows from the chunks alone, so a kernel's text can be written before anything is uploaded. The items are, by class:
//
//   - Int: unsigned offsets of 1, 2, 4 or 8 bytes. The value is Base + offset, wrapping round in 64 bits. Width 8 has Base 0.
//   - Code: codes of 1, 2 or 4 bytes in Dict.
//   - Float, Wide: values of 8 and 16 bytes.
//   - View: 64-bit offsets into the strings' bytes, one more than there are rows: string i lies between offsets i and i+1.
type Column struct {
	Class    Class
	Width    int // bytes of an item
	Base     int64
	HasNulls bool // some value is NULL: there is a bitmap
	Dict     *column.Dictionary
	Zones    Zones
	All      Interval // bounds all values of an Int column, in the order of Zones; 0 and 0 if there is none
	Sorted   bool     // an Int column's values ascend through all rows, deleted ones included, and none is NULL
}

// Zones are the least and greatest value of each row group of an Int column, in the order of Phys (unsigned ones with the top
// bit flipped), so that ranges are compared as signed integers. A group of NULLs alone has lo > hi. Empty for other classes.
type Zones struct {
	Lo, Hi          []int64
	MostLo, LeastHi int64   // of all groups
	Widths          float64 // of all groups' ranges
}

// ColumnOf returns the form of a column of a table.
func ColumnOf(v *tables.Version, ordinal int) Column {
	typ := v.Schema.Columns[ordinal].Type
	f := Column{Class: ClassOf(typ), Width: int(ClassOf(typ).Width())}
	for _, g := range v.Groups() {
		f.HasNulls = f.HasNulls || g.Columns[ordinal].NullCount > 0
	}
	switch f.Class {
	case Int:
		f.integers(v, ordinal, FlipOf(typ))
	case View:
		f.Width = 8
		f.codes(v, ordinal)
	}
	return f
}

// FlipOf is what 64-bit values of a type are xor-ed with, so that comparing them as signed integers gives their order.
func FlipOf(t types.Type) int64 {
	if t.Phys() == types.PhysUint64 {
		return math.MinInt64
	}
	return 0
}

// integers chooses the narrowest frame of reference over all row groups.
func (f *Column) integers(v *tables.Version, ordinal int, flip int64) {
	f.Zones = Zones{Lo: make([]int64, len(v.Groups())), Hi: make([]int64, len(v.Groups())), MostLo: math.MinInt64, LeastHi: math.MaxInt64}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	f.Sorted = true
	for i, g := range v.Groups() {
		c := g.Columns[ordinal]
		if c.Min.Null {
			f.Zones.Lo[i], f.Zones.Hi[i] = 1, 0
			f.Sorted = false
			continue
		}
		f.Zones.Lo[i], f.Zones.Hi[i] = c.Min.I^flip, c.Max.I^flip
		f.Sorted = f.Sorted && c.Sorted && hi <= f.Zones.Lo[i]
		lo, hi = min(lo, c.Min.I^flip), max(hi, c.Max.I^flip)
	}
	for i, from := range f.Zones.Lo {
		to := f.Zones.Hi[i]
		f.Zones.MostLo, f.Zones.LeastHi = max(f.Zones.MostLo, from), min(f.Zones.LeastHi, to)
		f.Zones.Widths += max(float64(to)-float64(from), 0)
	}
	if lo > hi {
		lo, hi = flip, flip // no value at all
	}
	f.All = Interval{lo, hi}
	f.Width, f.Base = FrameOf(f.All, flip)
}

// FrameOf returns the bytes of an offset, and the base, of integers whose bounds are in the order of Zones.
func FrameOf(all Interval, flip int64) (width int, base int64) {
	switch span := uint64(all.Hi) - uint64(all.Lo); {
	case span <= math.MaxUint8:
		width = 1
	case span <= math.MaxUint16:
		width = 2
	case span < math.MaxUint32: // comparisons by offset need an offset that no value has: 2^32 - 1
		width = 4
	default:
		return 8, 0
	}
	return width, all.Lo ^ flip
}

// codes turns f into dictionary codes if all row groups share a dictionary.
func (f *Column) codes(v *tables.Version, ordinal int) {
	width := 1
	var dict *column.Dictionary
	for _, g := range v.Groups() {
		c := g.Columns[ordinal]
		if c.NullCount == c.Rows {
			continue
		}
		if c.Dict == nil || dict != nil && c.Dict != dict {
			return
		}
		dict = c.Dict
		switch {
		case c.U32 != nil || c.Kind == encoding.Constant && c.Base > math.MaxUint16:
			width = 4
		case c.U16 != nil || c.Kind == encoding.Constant && c.Base > math.MaxUint8:
			width = max(width, 2)
		}
	}
	if dict != nil {
		f.Class, f.Width, f.Dict = Code, width, dict
	}
}

// Element is the C++ type of a column's items; "" for strings.
func (f *Column) Element() string {
	switch f.Class {
	case Float, Wide:
		return f.Class.CName()
	case View:
		return ""
	}
	return map[int]string{1: "u8", 2: "u16", 4: "u32", 8: "u64"}[f.Width]
}

// SomeDeleted says whether a table has deleted rows.
func SomeDeleted(v *tables.Version) bool { return v.Rows() < v.Span() }
