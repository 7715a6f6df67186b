package parquet

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/sql/types"
)

// maxStatistic bounds the strings that are written as a column's least and greatest.
const maxStatistic = 1024

// statistics finds the least and the greatest value of the row group. There are none of doubles with NaN among them, which readers order as they like,
// and of long strings.
func (c *columnWriter) statistics(d *dictionary) {
	c.stats.HasNullCount, c.stats.NullCount = true, int64(c.rows-c.values())
	if c.values() == 0 {
		return
	}
	list := c.ints
	if d.ok {
		list = d.ints
		c.stats.SetDistinctCount(int64(d.len()))
	}
	var least, greatest []byte
	switch {
	case c.physical == parquet.Types.ByteArray:
		lo, hi := c.stringExtremes(d)
		if len(lo) > maxStatistic || len(hi) > maxStatistic {
			return
		}
		least, greatest = []byte(lo), []byte(hi)
	case c.typ.IsFloat():
		lo, hi, ok := floatExtremes(list, c.width)
		if !ok {
			return
		}
		least, greatest = c.appendInts(nil, []int64{lo}), c.appendInts(nil, []int64{hi})
	case c.typ.Phys() == types.PhysInt128:
		lo, hi := c.wide[0], c.wide[0]
		for _, x := range c.wide {
			if x.Cmp(lo) < 0 {
				lo = x
			}
			if x.Cmp(hi) > 0 {
				hi = x
			}
		}
		least, greatest = appendBigEndian(nil, lo, c.width), appendBigEndian(nil, hi, c.width)
	default:
		flip := int64(0)
		if c.typ.Kind == types.KindUint64 {
			flip = math.MinInt64 // so that the order is that of signed numbers
		}
		lo, hi := list[0]^flip, list[0]^flip
		for _, x := range list {
			lo, hi = min(lo, x^flip), max(hi, x^flip)
		}
		least, greatest = c.appendInts(nil, []int64{lo ^ flip}), c.appendInts(nil, []int64{hi ^ flip})
	}
	c.stats.SetMin(least).SetMax(greatest)
}

// values returns how many values are not NULL.
func (c *columnWriter) values() int {
	return len(c.ints) + len(c.wide) + len(c.codes) + len(c.strings)
}

func (c *columnWriter) stringExtremes(d *dictionary) (least, greatest string) {
	if d.ok {
		return slices.Min(d.strings), slices.Max(d.strings)
	}
	least = c.text(0)
	greatest = least
	for i := range c.strings {
		s := c.text(i)
		least, greatest = min(least, s), max(greatest, s)
	}
	return least, greatest
}

// floatExtremes returns the bits of the least and the greatest double, or float of 4 bytes; ok is false if there is a NaN. A zero has the sign that
// leaves both zeros between the two, as the format asks.
func floatExtremes(list []int64, width int) (least, greatest int64, ok bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range list {
		f := math.Float64frombits(uint64(x))
		if width == 4 {
			f = float64(math.Float32frombits(uint32(x)))
		}
		if f != f {
			return 0, 0, false
		}
		lo, hi = min(lo, f), max(hi, f)
	}
	if lo == 0 {
		lo = math.Copysign(0, -1)
	}
	if hi == 0 {
		hi = 0
	}
	if width == 4 {
		return int64(math.Float32bits(float32(lo))), int64(math.Float32bits(float32(hi))), true
	}
	return int64(math.Float64bits(lo)), int64(math.Float64bits(hi)), true
}
