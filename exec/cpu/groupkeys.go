package cpu

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// hash returns the hash of a group's key, by which workers' tables are partitioned.
func (t *groupTable) hash(g uint32) uint64 {
	switch t.layout.form {
	case wordKeys:
		return hashInt(t.words[g])
	case pairKeys:
		return hashWords(t.words[2*g], t.words[2*g+1])
	case byteKeys:
		return hashString(t.texts[g])
	}
	return uint64(g)
}

// absorb finds, or makes, in t the groups of another table of the same layout and stores their numbers in out.
func (t *groupTable) absorb(src *groupTable, groups []uint32, out []uint32) {
	switch t.layout.form {
	case denseKeys:
		for i, g := range groups {
			t.seen[g] = true
			out[i] = g
		}
	case wordKeys:
		t.reserveScratch(len(groups))
		nulls := 0
		for i, g := range groups {
			if src.null >= 0 && g == uint32(src.null) {
				nulls = i + 1
			}
			t.k1[i] = src.words[g]
		}
		if nulls == 0 {
			t.lookupWords(t.k1, out)
			return
		}
		nulls--
		t.lookupWords(t.k1[:nulls], out)
		out[nulls] = t.nullGroup()
		t.lookupWords(t.k1[nulls+1:], out[nulls+1:])
	case pairKeys:
		t.reserveScratch(len(groups))
		for i, g := range groups {
			t.k1[i], t.k2[i] = src.words[2*g], src.words[2*g+1]
		}
		t.lookupPairs(t.k1, t.k2, out)
	default:
		for i, g := range groups {
			out[i] = t.lookupText(src.texts[g], true)
		}
	}
}

// keyColumn stores the c-th key column of some groups in out, a flat vector of the column's type.
func (t *groupTable) keyColumn(c int, groups []uint32, out *column.Vector) {
	l := t.layout
	out.Type = l.types[c]
	n := len(groups)
	g := &l.parts[c]
	if l.form != byteKeys && g.dict != nil {
		out.ReserveCodes(g.dict, n)
	} else {
		out.Reserve(n)
	}
	switch l.form {
	case denseKeys:
		shift := 0
		if g.nullable {
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
	case wordKeys, pairKeys:
		for i, x := range groups {
			var w [2]uint64
			if l.form == wordKeys {
				w[0] = t.words[x]
			} else {
				w = [2]uint64{t.words[2*x], t.words[2*x+1]}
			}
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
	default:
		for i, x := range groups {
			t.readKey(c, t.texts[x], out, i, n)
		}
	}
}

// readKey reads the c-th column of a written key.
func (t *groupTable) readKey(c int, k string, out *column.Vector, i, n int) {
	for j := 0; ; j++ {
		null := k[0] == 1
		k = k[1:]
		size := 0
		if !null {
			switch t.layout.types[j].Phys() {
			case types.PhysInt128:
				size = 16
			case types.PhysString:
				size = int(binary.LittleEndian.Uint32([]byte(k[:4])))
				k = k[4:]
			default:
				size = 8
			}
		}
		if j < c {
			k = k[size:]
			continue
		}
		if null {
			out.SetNull(i, n)
			return
		}
		switch out.Type.Phys() {
		case types.PhysString:
			out.Str[i] = k[:size]
		case types.PhysInt128:
			out.I128[i] = types.Int128{Lo: word(k), Hi: int64(word(k[8:]))}
		case types.PhysFloat64:
			out.F64[i] = math.Float64frombits(word(k))
		default:
			out.I64[i] = int64(word(k))
		}
		return
	}
}

func word(s string) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), 8))
}

// groups lists the groups in order.
func (t *groupTable) groups() []uint32 { return t.groupsIn(0, t.count) }

// groupsIn lists the groups numbered from .. to-1 in order.
func (t *groupTable) groupsIn(from, to int) []uint32 {
	out := make([]uint32, 0, to-from)
	for g := from; g < to; g++ {
		if t.seen == nil || t.seen[g] {
			out = append(out, uint32(g))
		}
	}
	return out
}
