package encoding

import (
	"math"

	"github.com/radish-sql/radish/sql/types"
)

// Unknown returns the zone map, without values, of a column of which nothing is known. It counts a row too many, so that not all can be NULL.
func Unknown(t types.Type, rows int) *Chunk {
	z := &Chunk{Type: t, Kind: Raw64, Rows: rows + 1, NullCount: 1, Min: types.NullOf(t), Max: types.NullOf(t)}
	switch t.Phys() {
	case types.PhysFloat64:
		z.Kind = RawFloat
	case types.PhysString:
		z.Kind = RawString
	case types.PhysInt128:
		z.Kind = Raw128
		z.Min, z.Max = types.Value{Type: t, D: types.MinInt128}, types.Value{Type: t, D: types.MaxInt128}
	case types.PhysUint64:
		z.Min, z.Max = types.Value{Type: t}, types.Value{Type: t, I: -1}
	default:
		z.Min, z.Max = types.Value{Type: t, I: math.MinInt64}, types.Value{Type: t, I: math.MaxInt64}
	}
	return z
}
