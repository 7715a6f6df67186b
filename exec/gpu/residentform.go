package gpu

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// columnForm says how a table column lies on the device: one array over all row groups, in the numbering of the table's rows.
// It follows from the chunks alone, so a kernel's text can be written before anything is uploaded.
//
//   - classInt: unsigned offsets of width 1, 2, 4 or 8 bytes; the value is base + offset, wrapping round in 64 bits. Width 8 has base 0.
//   - classCode: codes of width 1, 2 or 4 bytes in dict.
//   - classFloat, classWide: values of 8 and 16 bytes.
//   - classView: 64-bit offsets of the rows' ends and beginnings (one more than rows) into bytes; width is 8.
type columnForm struct {
	class class
	width int
	base  int64
	nulls bool // some value is NULL: there is a bitmap
	dict  *column.Dictionary
	zones zones
	all   interval // of a classInt column: what all values lie between, in the order of zones; 0 and 0 if there is none
	// sorted says that a classInt column's values ascend through all rows, deleted ones included, without NULLs.
	sorted bool
	text   *textBegins // of classView
}

// zones are the least and greatest value of each row group of a classInt column, in the order of Phys (unsigned ones with the top
// bit flipped), so that ranges are compared as signed integers. A group of NULLs alone has lo > hi. Empty for other classes.
type zones struct {
	lo, hi          []int64
	mostLo, leastHi int64   // of all groups
	widths          float64 // of all groups' ranges
}

// formOf returns the form of a column of a table.
func formOf(v *tables.Version, ordinal int) columnForm {
	typ := v.Schema.Columns[ordinal].Type
	f := columnForm{class: classOf(typ), width: int(classOf(typ).width())}
	for _, g := range v.Groups {
		f.nulls = f.nulls || g.Columns[ordinal].NullCount > 0
	}
	switch f.class {
	case classInt:
		f.integers(v, ordinal, flipOf(typ))
	case classView:
		f.width = 8
		f.codes(v, ordinal)
		f.text = new(textBegins)
	}
	return f
}

// flipOf is what a 64-bit value is xor-ed with so that its order is the signed one.
func flipOf(t types.Type) int64 {
	if t.Phys() == types.PhysUint64 {
		return math.MinInt64
	}
	return 0
}

// integers chooses the narrowest frame of reference over all row groups.
func (f *columnForm) integers(v *tables.Version, ordinal int, flip int64) {
	f.zones = zones{lo: make([]int64, len(v.Groups)), hi: make([]int64, len(v.Groups)), mostLo: math.MinInt64, leastHi: math.MaxInt64}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	f.sorted = true
	for i, g := range v.Groups {
		c := g.Columns[ordinal]
		if c.Min.Null {
			f.zones.lo[i], f.zones.hi[i] = 1, 0
			f.sorted = false
			continue
		}
		f.zones.lo[i], f.zones.hi[i] = c.Min.I^flip, c.Max.I^flip
		f.sorted = f.sorted && c.Sorted && hi <= f.zones.lo[i]
		lo, hi = min(lo, c.Min.I^flip), max(hi, c.Max.I^flip)
	}
	for i, from := range f.zones.lo {
		to := f.zones.hi[i]
		f.zones.mostLo, f.zones.leastHi = max(f.zones.mostLo, from), min(f.zones.leastHi, to)
		f.zones.widths += max(float64(to)-float64(from), 0)
	}
	if lo > hi {
		lo, hi = flip, flip // no value at all
	}
	f.all = interval{lo, hi}
	f.base = lo ^ flip
	switch span := uint64(hi) - uint64(lo); {
	case span <= math.MaxUint8:
		f.width = 1
	case span <= math.MaxUint16:
		f.width = 2
	case span < math.MaxUint32: // scanrange.go: 2^32 - 1 is no offset
		f.width = 4
	default:
		f.width, f.base = 8, 0
	}
}

// codes makes f one of dictionary codes if all row groups share a dictionary.
func (f *columnForm) codes(v *tables.Version, ordinal int) {
	width := 1
	var dict *column.Dictionary
	for _, g := range v.Groups {
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
		f.class, f.width, f.dict = classCode, width, dict
	}
}
