package grouptable

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// hash returns the hash of a group's key, by which workers' tables are partitioned.
func (t *Table) hash(g uint32) uint64 {
	switch t.Layout.Form {
	case wordKeys:
		return keyhash.Int(t.Words[g])
	case pairKeys:
		return hashWords(t.Words[2*g], t.Words[2*g+1])
	case wideKeys:
		return hashWide(t.wordsOf(g))
	case oneString, rowKeys:
		return t.hashes[g]
	}
	return uint64(g)
}

// Absorb finds, or makes, in t the groups of another table of the same layout and stores their numbers in out.
func (t *Table) Absorb(src *Table, groups []uint32, out []uint32) {
	switch t.Layout.Form {
	case DenseKeys:
		for i, g := range groups {
			t.Seen[g] = true
			out[i] = g
		}
	case wordKeys:
		t.reserveScratch(len(groups))
		for i, g := range groups {
			t.k1[i] = src.Words[g]
		}
		t.besideNull(src, groups, out, func(from, to int) { t.lookupWords(t.k1[from:to], out[from:to]) })
	case pairKeys:
		t.reserveScratch(len(groups))
		for i, g := range groups {
			t.k1[i], t.k2[i] = src.Words[2*g], src.Words[2*g+1]
		}
		t.lookupPairs(t.k1, t.k2, out)
	case wideKeys:
		t.reserveScratch(len(groups))
		for k, words := range t.packed {
			for i, g := range groups {
				words[i] = src.Words[int(g)*len(t.packed)+k]
			}
		}
		t.lookupWide(len(groups), out)
	default:
		t.reserveScratch(len(groups))
		t.keys = t.keys[:0]
		for i, g := range groups {
			t.keys, t.k1[i] = append(t.keys, src.strings[g]), src.hashes[g]
		}
		t.besideNull(src, groups, out, func(from, to int) { t.lookupStrings(t.keys[from:to], t.k1[from:to], true, out[from:to]) })
	}
}

// besideNull calls lookup with the ranges of another table's groups that are not NULL.
func (t *Table) besideNull(src *Table, groups, out []uint32, lookup func(from, to int)) {
	null := -1
	if src.null >= 0 {
		null = slices.Index(groups, uint32(src.null))
	}
	if null < 0 {
		lookup(0, len(groups))
		return
	}
	lookup(0, null)
	out[null] = t.NullGroup()
	lookup(null+1, len(groups))
}

// KeyColumn stores the c-th key column of some groups in out, a flat vector of the column's type.
func (t *Table) KeyColumn(c int, groups []uint32, out *column.Vector) {
	l := t.Layout
	out.Type = l.Types[c]
	n := len(groups)
	g := &l.parts[c]
	if !l.Form.TakesAny() && g.dict != nil {
		out.ReserveCodes(g.dict, n)
	} else {
		out.Reserve(n)
	}
	switch l.Form {
	case DenseKeys:
		shift := 0
		if g.isNullable {
			shift = 1
		}
		for i, x := range groups {
			d := int(x) / g.stride % (int(g.span) + 1)
			if d < shift {
				out.SetNull(i, n)
				continue
			}
			if g.dict != nil {
				out.Codes[i] = uint32(d - shift)
			} else {
				out.I64[i] = g.min + int64(d-shift)
			}
		}
	case wordKeys, pairKeys, wideKeys:
		if g.short > 0 {
			t.readShort(g, groups, out)
			return
		}
		for i, x := range groups {
			w := t.wordsOf(x)
			if len(l.parts) == 1 && t.null >= 0 && x == uint32(t.null) || g.nullBit >= 0 && w[g.nullBit>>6]>>(uint(g.nullBit)&63)&1 != 0 {
				if out.Dict != nil {
					out.Codes[i] = 0
				}
				out.SetNull(i, n)
				continue
			}
			d := w[g.shift>>6] >> (g.shift & 63)
			if g.bits < 64 && len(l.parts) > 1 {
				d &= 1<<g.bits - 1
			}
			switch {
			case g.dict != nil:
				out.Codes[i] = uint32(d)
			case out.Type.Phys() == types.PhysFloat64:
				out.F64[i] = math.Float64frombits(d)
			default:
				if len(l.parts) > 1 {
					d += uint64(g.min)
				}
				out.I64[i] = int64(d)
			}
		}
	case oneString:
		for i, x := range groups {
			if out.Str[i] = t.strings[x]; int32(x) == t.null {
				out.SetNull(i, n)
			}
		}
	default:
		t.readColumn(c, groups, out)
	}
}

// arrangedStrings is how many bytes of strings are copied so that they lie in the order of their groups: what a cache holds.
const arrangedStrings = 4 << 20

// Arranged returns a table that has t's groups in another order. Nothing can be looked up in it.
func (t *Table) Arranged(order []uint32) *Table {
	out := &Table{Layout: t.Layout, Count: t.Count, null: -1}
	if t.null >= 0 {
		out.null = int32(slices.Index(order, uint32(t.null)))
	}
	switch t.Layout.Form {
	case wordKeys:
		out.Words = make([]uint64, len(order))
		for i, g := range order {
			out.Words[i] = t.Words[g]
		}
	case pairKeys:
		out.Words = make([]uint64, 2*len(order))
		for i, g := range order {
			out.Words[2*i], out.Words[2*i+1] = t.Words[2*g], t.Words[2*g+1]
		}
	case wideKeys:
		out.Words = make([]uint64, 0, len(order)*t.Layout.words)
		for _, g := range order {
			out.Words = append(out.Words, t.wordsOf(g)...)
		}
	case oneString, rowKeys:
		out.strings, out.hashes = make([]string, len(order)), make([]uint64, len(order))
		for i, g := range order {
			out.strings[i], out.hashes[i] = t.strings[g], t.hashes[g]
		}
		if t.Held > arrangedStrings {
			out.Held, t.arena = t.Held, nil
			break
		}
		size := 0
		for _, s := range out.strings {
			size += len(s)
		}
		out.Held = int64(size)
		arena := make([]byte, 0, size)
		for i, s := range out.strings {
			from := len(arena)
			arena = append(arena, s...)
			out.strings[i] = vec.BytesToString(arena[from:])
		}
	}
	return out
}

// Groups lists the groups in order.
func (t *Table) Groups() []uint32 { return t.GroupsIn(0, t.Count) }

// GroupsIn lists the groups numbered from .. to-1 in order.
func (t *Table) GroupsIn(from, to int) []uint32 {
	out := make([]uint32, 0, to-from)
	for g := from; g < to; g++ {
		if t.Seen == nil || t.Seen[g] {
			out = append(out, uint32(g))
		}
	}
	return out
}
