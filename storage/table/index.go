package table

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// indexes holds the hash indexes of a table's unique keys, shared by all versions whose row numbers mean the same rows.
//
// An index maps a key's hash to numbers of rows that have, or had, such a key in some version. It only grows. So whoever looks up
// compares the rows found with the key in his version, as hashes collide anyway. Inserting a row costs the same however many
// rows there are, and versions need no indexes of their own.
type indexes struct {
	mu   sync.RWMutex
	keys []*keyIndex // by ordinal in Schema.Keys; nil: not built, or not unique; guarded by mu
}

func newIndexes(schema *Schema) *indexes { return &indexes{keys: make([]*keyIndex, len(schema.Keys))} }

// keyIndex is an open hash table with linear probing, at most 3/4 full.
type keyIndex struct {
	hashes []uint64
	rows   []int64 // row number + 1; 0: free
	count  int
}

func newKeyIndex(rows int64) *keyIndex {
	size := 1 << bits.Len64(uint64(max(rows, 8)*3/2))
	return &keyIndex{hashes: make([]uint64, size), rows: make([]int64, size)}
}

func (x *keyIndex) bytes() int64 { return int64(len(x.rows)) * 16 }

// add stores a row number under a hash, unless it stands there already.
func (x *keyIndex) add(hash uint64, row int64) {
	if 4*(x.count+1) > 3*len(x.rows) {
		old := *x
		*x = keyIndex{hashes: make([]uint64, 2*len(old.rows)), rows: make([]int64, 2*len(old.rows))}
		for i, r := range old.rows {
			if r != 0 {
				x.add(old.hashes[i], r-1)
			}
		}
	}
	mask := uint64(len(x.rows) - 1)
	i := hash & mask
	for ; x.rows[i] != 0; i = (i + 1) & mask {
		if x.rows[i] == row+1 && x.hashes[i] == hash {
			return
		}
	}
	x.hashes[i], x.rows[i] = hash, row+1
	x.count++
}

// find calls f with each row number stored under a hash until f returns false.
func (x *keyIndex) find(hash uint64, f func(row int64) bool) {
	mask := uint64(len(x.rows) - 1)
	for i := hash & mask; x.rows[i] != 0; i = (i + 1) & mask {
		if x.hashes[i] == hash && !f(x.rows[i]-1) {
			return
		}
	}
}

// keyHashStart is the hash of a key of no columns.
const keyHashStart = 0x9E3779B97F4A7C15

// hashSeed makes the hashes of strings unforeseeable to whoever chooses the keys.
var hashSeed = maphash.MakeSeed()

// hashKey stores in hashes the hash of each of the n rows of a key's columns; strings that are equal under their collation have one hash. Rows
// with a NULL get 0, which no other has: NULLs are never equal.
func hashKey(cols []*column.Vector, n int, hashes []uint64) {
	for i := range hashes[:n] {
		hashes[i] = keyHashStart
	}
	var key []byte
	for _, c := range cols {
		folds := c.Type.Folds()
		for i := range n {
			if hashes[i] == 0 {
				continue
			}
			if c.IsNull(i) {
				hashes[i] = 0
				continue
			}
			at := i
			if c.Const {
				at = 0
			}
			var h uint64
			switch c.Type.Phys() {
			case types.PhysFloat64:
				h = mix(types.FloatKey(c.F64[at]))
			case types.PhysInt128:
				h = hashWide(c.I128[at])
			case types.PhysString:
				h = hashString(c.Type, folds, c.StringAt(at), &key)
			default:
				h = mix(uint64(c.I64[at]))
			}
			hashes[i] = max(1, mix(hashes[i]^h))
		}
	}
}

func hashWide(x types.Int128) uint64 { return mix(x.Lo ^ mix(uint64(x.Hi))) }

// hashString is the hash of a string or, if the column's type folds it, of its key under the collation, which is written into scratch.
func hashString(t types.Type, folds bool, s string, scratch *[]byte) uint64 {
	if !folds {
		return maphash.String(hashSeed, s)
	}
	*scratch = t.Collation.AppendKey((*scratch)[:0], s)
	return maphash.Bytes(hashSeed, *scratch)
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// equalValues says whether two values of a key's column of type t, which are not NULL, are equal.
func equalValues(t types.Type, a, b types.Value) bool {
	if t.Folds() && a.S != b.S {
		return t.Collation.Key(a.S) == t.Collation.Key(b.S)
	}
	return types.Compare(a, b) == 0
}
