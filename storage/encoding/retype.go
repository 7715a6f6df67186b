package encoding

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Storable says whether every value of the chunk is, as it is held, a value of the column type to: assignment would change
// none of them and refuse none.
func (c *Chunk) Storable(to types.Type) bool {
	from := c.Type
	switch {
	case from == to || c.NullCount == c.Rows && from.Phys() == to.Phys():
		return true
	case from.Phys() != to.Phys():
		return false
	case from.IsString():
		return from.IsBinaryString() == to.IsBinaryString() && from.Kind != types.KindJSON && to.Kind != types.KindJSON && c.stringsFit(to)
	case from.IsInteger() && to.IsInteger() && from.Kind != types.KindYear && to.Kind != types.KindYear && to.Kind != types.KindBool,
		from.Kind == types.KindDecimal && to.Kind == types.KindDecimal && from.Scale == to.Scale:
		return keeps(c.Min, to) && keeps(c.Max, to)
	}
	return false
}

// keeps says whether assignment leaves a number as it is.
func keeps(v types.Value, to types.Type) bool {
	if v.Null {
		return false // no zone map
	}
	got, status := types.Store(v, to)
	return status == types.ConvertOK && got.I == v.I && got.D == v.D
}

// stringsFit says whether assignment leaves every string as it is.
func (c *Chunk) stringsFit(to types.Type) bool {
	fits := func(s string) bool {
		got, status := types.FitString(s, to)
		return status == types.ConvertOK && len(got) == len(s)
	}
	switch c.Kind {
	case Constant:
		return fits(c.Min.S)
	case RawString:
		for i := range c.Rows {
			if (c.Valid == nil || c.Valid.Get(i)) && !fits(c.rawString(i)) {
				return false
			}
		}
		return true
	}
	for _, s := range c.Dict.Values() { // those of other chunks, too
		if !fits(s) {
			return false
		}
	}
	return true
}

// Retyped returns the chunk as one of a column of type to, in which its values are [Chunk.Storable]. They share their
// memory. dict replaces the dictionary if there is one; it has the same strings under the same codes.
func (c *Chunk) Retyped(to types.Type, dict *column.Dictionary) *Chunk {
	out := &Chunk{
		Type: to, Kind: c.Kind, Rows: c.Rows, Base: c.Base, U8: c.U8, U16: c.U16, U32: c.U32, I64: c.I64, F64: c.F64, I128: c.I128,
		Offsets: c.Offsets, Bytes: c.Bytes, Valid: c.Valid, Min: c.Min, Max: c.Max, NullCount: c.NullCount, Sorted: c.Sorted, slab: c.slab,
	}
	if c.Dict != nil {
		out.Dict = dict
	}
	out.Min.Type, out.Max.Type = to, to
	out.sketch.Store(c.sketch.Load())
	return out
}
