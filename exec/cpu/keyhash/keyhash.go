// Package keyhash hashes keys: single words, strings, and rows of key columns. Joins and groupings take vectors in and get a hash for each row. EstimateKeys tells from the
// first rows how many different keys all have.
package keyhash

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// Hashing. Integers go through a multiply-xorshift-multiply mix, after the finalisers of Steele, Lea and Flood 2014
// (SplitMix64), less one round: tables take the top bits, which the last multiplication mixes well. Strings are read
// eight bytes at a time into 64 x 64 -> 128 bit products folded by xor, after Wang Yi's wyhash. Nothing is
// seeded at run time, so that two runs of a query meet the same order.
const (
	mixA = 0x9E3779B97F4A7C15
	mixB = 0xBF58476D1CE4E5B9
	mixC = 0x94D049BB133111EB
)

func Int(x uint64) uint64 {
	x *= mixA
	x ^= x >> 32
	return x * mixB
}

// Pair folds x into the hash h of the values before it.
func Pair(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^mixC, x^mixA)
	return Int(hi ^ lo ^ h)
}

func String(s string) uint64 {
	h := uint64(len(s)) * mixC
	rest := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; len(rest) > 8; rest = rest[8:] {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(rest), mixA)
		h = hi ^ lo
	}
	// The last one to eight bytes: whole words where there are any, even if they overlap what has been read.
	t := uint64(0)
	switch n := len(rest); {
	case len(s) >= 8:
		t = vec.Word(s[len(s)-8:])
	case n >= 4:
		t = uint64(vec.Half(s)) | uint64(vec.Half(s[n-4:]))<<32
	case n > 0:
		t = uint64(rest[0]) | uint64(rest[n>>1])<<8 | uint64(rest[n-1])<<16
	}
	hi, lo := bits.Mul64(h^t^mixB, mixA)
	return Int(hi ^ lo)
}

// nullHash is what a NULL adds to a hash.
const nullHash = 0x2545F4914F6CDD1D

// Hasher hashes rows of several key columns. It caches the hashes of dictionaries' strings.
type Hasher struct {
	dicts map[*column.Dictionary][]uint64
}

// Hash stores the hash of cols at the i-th position of sel in out[i].
func (k *Hasher) Hash(out []uint64, cols []*column.Vector, sel []int32, n int) {
	for i := range out {
		out[i] = 0
	}
	for _, v := range cols {
		k.hashColumn(out, v, sel, n)
	}
}

func (k *Hasher) hashColumn(out []uint64, v *column.Vector, sel []int32, n int) {
	if v.Const {
		x := uint64(nullHash)
		if !v.IsNull(0) {
			x = hashValueAt(v, 0)
		}
		for i := range out {
			out[i] = Pair(out[i], x)
		}
		return
	}
	if sel == nil {
		sel = vec.Ascending(n)
	}
	if v.Valid != nil {
		for i, p := range sel {
			x := uint64(nullHash)
			if v.Valid.Get(int(p)) {
				x = hashValueAt(v, int(p))
			}
			out[i] = Pair(out[i], x)
		}
		return
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		for i, p := range sel {
			out[i] = Pair(out[i], types.FloatKey(v.F64[p]))
		}
	case types.PhysInt128:
		for i, p := range sel {
			out[i] = Pair(out[i], Pair(v.I128[p].Lo, uint64(v.I128[p].Hi)))
		}
	case types.PhysString:
		if v.Dict == nil {
			for i, p := range sel {
				out[i] = Pair(out[i], String(v.Str[p]))
			}
			return
		}
		hashes := k.Dictionary(v.Dict)
		for i, p := range sel {
			out[i] = Pair(out[i], hashes[v.Codes[p]])
		}
	default:
		for i, p := range sel {
			out[i] = Pair(out[i], uint64(v.I64[p]))
		}
	}
}

// Dictionary returns the hashes of a dictionary's strings by code.
func (k *Hasher) Dictionary(d *column.Dictionary) []uint64 {
	h := k.dicts[d]
	values := d.Values()
	if len(h) == len(values) {
		return h
	}
	for _, s := range values[len(h):] {
		h = append(h, String(s))
	}
	if k.dicts == nil {
		k.dicts = map[*column.Dictionary][]uint64{}
	}
	k.dicts[d] = h
	return h
}

// hashValueAt is what one value that is not NULL adds to a hash; the loops of hashColumn do the same.
func hashValueAt(v *column.Vector, p int) uint64 {
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return types.FloatKey(v.F64[p])
	case types.PhysInt128:
		return Pair(v.I128[p].Lo, uint64(v.I128[p].Hi))
	case types.PhysString:
		return String(v.StringAt(p))
	}
	return uint64(v.I64[p])
}
