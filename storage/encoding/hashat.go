package encoding

import (
	"math/bits"

	"github.com/radish-sql/radish/sql/types"
)

// HashAt returns a hash of the value of a row, which is not NULL; equal values of a column have equal hashes in all chunks, of other processes too. byCode says that all
// of these have the same dictionary, so that the code does.
func (c *Chunk) HashAt(row int, byCode bool) uint64 {
	switch {
	case c.Kind == FOR32:
		return mix(uint64(c.Base) + uint64(c.U32[row]))
	case c.Kind == Raw64:
		return mix(uint64(c.I64[row]))
	case byCode && c.Kind == Dict32:
		return mix(uint64(c.U32[row]))
	case byCode && c.Kind == Dict16:
		return mix(uint64(c.U16[row]))
	case byCode && c.Kind == Dict8:
		return mix(uint64(c.U8[row]))
	case byCode && c.Kind == Constant:
		return mix(uint64(c.Base))
	}
	return hashValue(c.At(row))
}

func hashValue(v types.Value) uint64 {
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return mix(types.FloatKey(v.F))
	case types.PhysInt128:
		return mix(v.D.Lo ^ mix(uint64(v.D.Hi)))
	case types.PhysString:
		return hashString(v.S)
	default:
		return mix(uint64(v.I))
	}
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014), of a value moved away from its fixed point 0.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// hashString is the same in every process, unlike hash/maphash: statistics follow from these hashes, and plans from statistics. Each word of eight bytes is multiplied
// and folded, as in wyhash (Wang Yi 2019); the last word may overlap the one before it.
func hashString(s string) uint64 {
	const factor = 0xA0761D6478BD642F
	if len(s) < 8 {
		word := uint64(len(s)) << 56
		for i := range len(s) {
			word |= uint64(s[i]) << (8 * i)
		}
		return mix(word)
	}
	h := uint64(len(s))
	last := s[len(s)-8:]
	for ; len(s) > 8; s = s[8:] {
		high, low := bits.Mul64(h^word64(s), factor)
		h = high ^ low
	}
	return mix(h ^ word64(last))
}

// word64 reads the first eight bytes of a string.
func word64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
