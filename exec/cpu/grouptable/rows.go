package grouptable

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// Rows are the keys of rows that have no groups yet, as words of a layout. Where most rows are groups of their own, to look them up among few others is
// wasted: they are cut by hash, and looked up among those that have the same partition.
type Rows struct {
	Layout *Layout
	Words  [][]uint64 // by word of the key, of all rows
	N      int
}

// NewRows returns memory for the keys of so many rows, none of which is there yet.
func NewRows(l *Layout, n int) *Rows {
	r := &Rows{Layout: l, Words: make([][]uint64, l.words)}
	for k := range r.Words {
		if l.Reuses {
			r.Words[k] = rowWords.Take(n)
		} else {
			r.Words[k] = make([]uint64, n)
		}
	}
	return r
}

// rowWords are words of rows that have groups.
var rowWords column.Buffers[uint64]

// Give gives back the memory of r, which nobody reads any more.
func (r *Rows) Give() {
	if r.Layout.Reuses {
		for _, words := range r.Words {
			rowWords.Give(words)
		}
	}
	r.Words = nil
}

func (r *Rows) Bytes() (n int64) {
	for _, words := range r.Words {
		n += 8 * int64(len(words))
	}
	return n
}

// AddRows adds the keys at sel to r, whose memory suffices. It is false, and adds none, if some key is NULL in a table of one word, or does not fit.
func (t *Table) AddRows(r *Rows, keys []*column.Vector, sel []int32) bool {
	if v := keys[0]; t.Layout.Form == wordKeys && len(keys) == 1 {
		if v.Const || v.Valid != nil || v.Dict != t.Layout.parts[0].dict {
			return false
		}
		readWords(r.Words[0][r.N:], v, sel)
	} else {
		if !t.pack(keys, sel) {
			return false
		}
		for k, words := range r.Words {
			copy(words[r.N:], t.packed[k][:len(sel)])
		}
	}
	r.N += len(sel)
	return true
}

// readWords stores the words of a key of one word without NULLs.
func readWords(out []uint64, v *column.Vector, sel []int32) {
	out = out[:len(sel)]
	switch {
	case v.Dict != nil:
		for j, p := range sel {
			out[j] = uint64(v.Codes[p])
		}
	case v.Type.Phys() == types.PhysFloat64:
		for j, p := range sel {
			out[j] = types.FloatKey(v.F64[p])
		}
	default:
		for j, p := range sel {
			out[j] = uint64(v.I64[p])
		}
	}
}

// FindRows stores the groups of the rows from .. from+len(out)-1 of r in out, making new groups.
func (t *Table) FindRows(r *Rows, from int, out []uint32) {
	to := from + len(out)
	switch t.Layout.Form {
	case wordKeys:
		t.lookupWords(r.Words[0][from:to], out)
	case pairKeys:
		t.lookupPairs(r.Words[0][from:to], r.Words[1][from:to], out)
	default:
		t.packed = t.packed[:0]
		for _, words := range r.Words {
			t.packed = append(t.packed, words[from:to])
		}
		t.lookupWide(len(out), out)
	}
}

// Partition returns the order of r's rows by partition, in memory that it may use, and where the partitions end. Rows of one keep their order.
func (r *Rows) Partition(memory []int32) (order []int32, ends [MergePartitions]int) {
	partitions := make([]uint8, r.N)
	r.choose(partitions)
	order = slices.Grow(memory[:0], r.N)[:r.N]
	return order, vec.ByPartition(order, nil, partitions)
}

// choose stores the partition of each row: the first bits of Table.hash.
func (r *Rows) choose(partitions []uint8) {
	const shift = 64 - MergeBits
	first := r.Words[0][:len(partitions)]
	switch r.Layout.Form {
	case wordKeys:
		for i, w := range first {
			partitions[i] = uint8(keyhash.Int(w) >> shift)
		}
	case pairKeys:
		second := r.Words[1][:len(partitions)]
		for i, w := range first {
			partitions[i] = uint8(hashWords(w, second[i]) >> shift)
		}
	default:
		for i, w := range first {
			h := keyhash.Int(w)
			for _, words := range r.Words[1:] {
				h = keyhash.Pair(h, words[i])
			}
			partitions[i] = uint8(h >> shift)
		}
	}
}

// Arranged returns r's rows in another order.
func (r *Rows) Arranged(order []int32) *Rows {
	out := NewRows(r.Layout, len(order))
	out.N = len(order)
	for k, words := range r.Words {
		to := out.Words[k][:len(order)]
		for i, row := range order {
			to[i] = words[row]
		}
	}
	return out
}
