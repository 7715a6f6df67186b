package spill

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// block is rows that have not been written yet.
type block struct {
	cols       []blockColumn
	coded      []bool  // by column: its strings are codes of the dictionary
	partitions []uint8 // by row: its partition
	rows       []int32 // of order
	n          int
	most       int // rows
	bytes      int // about what it takes, and the most that its strings take beside
	strings    int // bytes of them
}

// blockColumn is a column of a block: numbers, codes and floats as words, strings one after the other.
type blockColumn struct {
	phys    types.Phys
	words   []uint64
	high    []int64 // PhysInt128: the upper words
	strings []byte
	ends    []uint32
	nulls   []bool // empty: none so far
	any     bool   // some row is NULL
}

// make takes memory for columns of these types.
func (b *block) make(ts []types.Type) {
	width := 1 + 4
	for _, t := range ts {
		width += 9
		switch t.Phys() {
		case types.PhysInt128:
			width += 8
		case types.PhysString:
			width += 4
		}
	}
	b.most = min(max(b.bytes/width, column.VectorSize/2), mostBlockRows)
	b.cols, b.coded = make([]blockColumn, len(ts)), make([]bool, len(ts))
	for c, t := range ts {
		x := &b.cols[c]
		x.phys = t.Phys()
		x.words = make([]uint64, 0, b.most)
		switch x.phys {
		case types.PhysInt128:
			x.high = make([]int64, 0, b.most)
		case types.PhysString:
			x.ends = make([]uint32, 0, b.most)
		}
	}
	b.partitions, b.rows = make([]uint8, 0, b.most), make([]int32, b.most)
}

// held is what the block takes in memory.
func (b *block) held() int64 {
	n := cap(b.partitions) + 4*cap(b.rows)
	for i := range b.cols {
		x := &b.cols[i]
		n += 8*cap(x.words) + 8*cap(x.high) + 4*cap(x.ends) + cap(x.strings) + b.most
	}
	return int64(n)
}

// capacity returns how many of the rows at sel the block takes, and what their strings take. An empty block takes one, however long it is.
func (b *block) capacity(cols []*column.Vector, sel []int32) (rows, size int) {
	rows = min(len(sel), b.most-b.n, column.VectorSize)
	long := false
	for c := range cols {
		long = long || b.cols[c].phys == types.PhysString && !b.coded[c]
	}
	if !long {
		return rows, 0
	}
	for i, p := range sel[:rows] {
		all := size
		for c, v := range cols {
			if b.cols[c].phys == types.PhysString && !b.coded[c] && !v.IsNull(int(p)) {
				all += len(v.StringAt(int(p)))
			}
		}
		if b.strings+all > b.bytes && b.n+i > 0 || all > math.MaxUint32-b.strings {
			return i, size
		}
		size = all
	}
	return rows, size
}

// add appends rows for which the block has capacity.
func (b *block) add(cols []*column.Vector, sel []int32, hashes []uint64) {
	for _, h := range hashes {
		b.partitions = append(b.partitions, PartitionOf(h))
	}
	for c, v := range cols {
		x := &b.cols[c]
		x.addNulls(v, sel, b.n)
		switch {
		case b.coded[c]:
			for _, p := range sel {
				x.words = append(x.words, uint64(v.Codes[p]))
			}
		case x.phys == types.PhysString:
			before := len(x.strings)
			x.addStrings(v, sel)
			b.strings += len(x.strings) - before
		case x.phys == types.PhysFloat64:
			for _, p := range sel {
				x.words = append(x.words, math.Float64bits(v.F64[p]))
			}
		case x.phys == types.PhysInt128:
			for _, p := range sel {
				x.words, x.high = append(x.words, v.I128[p].Lo), append(x.high, v.I128[p].Hi)
			}
		default:
			for _, p := range sel {
				x.words = append(x.words, uint64(v.I64[p]))
			}
		}
	}
	b.n += len(sel)
}

func (x *blockColumn) addStrings(v *column.Vector, sel []int32) {
	for _, p := range sel {
		if !v.IsNull(int(p)) {
			x.strings = append(x.strings, v.StringAt(int(p))...)
		}
		x.ends = append(x.ends, uint32(len(x.strings)))
	}
}

// addNulls notes which rows are NULL. n rows are there.
func (x *blockColumn) addNulls(v *column.Vector, sel []int32, n int) {
	if v.Valid == nil {
		if x.any {
			x.nulls = append(x.nulls, make([]bool, len(sel))...)
		}
		return
	}
	if !x.any {
		x.any = true
		x.nulls = slices.Grow(x.nulls[:0], n)[:n]
		clear(x.nulls)
	}
	for _, p := range sel {
		x.nulls = append(x.nulls, !v.Valid.Get(int(p)))
	}
}

// clear empties the block. The memory of long strings goes.
func (b *block) clear() {
	for i := range b.cols {
		x := &b.cols[i]
		x.words, x.high, x.ends, x.strings, x.nulls, x.any = x.words[:0], x.high[:0], x.ends[:0], x.strings[:0], x.nulls[:0], false
		if cap(x.strings) > 2*b.bytes {
			x.strings = nil
		}
	}
	b.partitions, b.n, b.strings = b.partitions[:0], 0, 0
}
