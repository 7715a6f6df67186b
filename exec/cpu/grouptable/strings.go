package grouptable

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// Group keys that are no words: a string, or a row of several columns written out as bytes. Their hashes are computed once, for a vector
// at a time, and kept. A slot has the upper half of a hash, so that two keys are compared only where they are most likely equal.

// hashSlot is the upper half of a key's hash, and the key's group + 1; 0: free.
type hashSlot uint64

func newHashSlot(hash uint64, group int) hashSlot { return hashSlot(hash>>32<<32 | uint64(group+1)) }

// slot returns the slot at which the search for a hash starts. Its bits are not those that a slot keeps of the hash, nor those of partitions.
func (t *Table) slot(hash uint64) uint64 { return hash >> 8 & t.mask }

// findString is find for one column of strings.
func (t *Table) findString(v *column.Vector, sel []int32, out []uint32) {
	n := len(sel)
	t.reserveScratch(n)
	t.keys = slices.Grow(t.keys[:0], n)[:n]
	keys, hashes := t.keys, t.k1[:n]
	if v.Const || v.Valid != nil {
		t.findStringOrNull(v, sel, out)
		return
	}
	if v.Dict != nil {
		values, known := v.Dict.Values(), t.hasher.Dictionary(v.Dict)
		for j, p := range sel {
			c := v.Codes[p]
			keys[j], hashes[j] = values[c], known[c]
		}
	} else {
		for j, p := range sel {
			s := v.Str[p]
			keys[j], hashes[j] = s, keyhash.String(s)
		}
	}
	t.lookupStrings(keys, hashes, false, out)
}

// findStringOrNull is findString where there may be NULLs, which are not looked up.
func (t *Table) findStringOrNull(v *column.Vector, sel []int32, out []uint32) {
	keys, hashes := t.keys[:0], t.k1[:0]
	at := make([]int32, 0, len(sel))
	for j, p := range sel {
		if v.IsNull(int(p)) {
			out[j] = t.NullGroup()
			continue
		}
		if v.Const {
			p = 0
		}
		s := v.StringAt(int(p))
		keys, hashes, at = append(keys, s), append(hashes, keyhash.String(s)), append(at, int32(j))
	}
	groups := make([]uint32, len(keys))
	t.lookupStrings(keys, hashes, false, groups)
	for i, j := range at {
		out[j] = groups[i]
	}
}

// lookupStrings finds the groups of keys. stable says that the keys' memory does not change any more. Slots are read before strings, so that
// the misses of many keys overlap.
func (t *Table) lookupStrings(keys []string, hashes []uint64, stable bool, out []uint32) {
	if need := slotsFor(t.Count + len(keys)); need > len(t.slots3) {
		t.growHashed(need)
	}
	slots, mask := t.slots3, t.mask
	for i, h := range hashes {
		at := t.slot(h)
		s := slots[at]
		for s != 0 && uint64(s)>>32 != h>>32 {
			at = (at + 1) & mask
			s = slots[at]
		}
		out[i] = uint32(s)
	}
	for i, k := range keys {
		if g := out[i]; g != 0 && t.strings[g-1] == k {
			out[i] = g - 1
			continue
		}
		out[i] = t.lookupString(k, hashes[i], stable)
	}
}

// lookupString finds the group of one key, for which there is a free slot.
func (t *Table) lookupString(k string, hash uint64, stable bool) uint32 {
	at := t.slot(hash)
	for {
		s := t.slots3[at]
		if s == 0 {
			if !stable {
				k = t.keep(k)
			}
			t.strings, t.hashes = append(t.strings, k), append(t.hashes, hash)
			t.slots3[at] = newHashSlot(hash, t.Count)
			t.Count++
			return uint32(t.Count - 1)
		}
		if uint64(s)>>32 == hash>>32 && t.strings[uint32(s)-1] == k {
			return uint32(s) - 1
		}
		at = (at + 1) & t.mask
	}
}

// growHashed makes slots of hashes, for keys that are found by these: strings, and more words than two.
func (t *Table) growHashed(size int) {
	size = t.grownSize(len(t.slots3), size)
	t.slots3 = replaced(t.Layout, &hashSlots, t.slots3, size)
	t.mask = uint64(size - 1)
	for g := range t.Count {
		if g&task.CheckRows == 0 && t.Layout.isStopped() {
			return
		}
		if int32(g) == t.null {
			continue
		}
		h := t.hash(uint32(g))
		at := t.slot(h)
		for t.slots3[at] != 0 {
			at = (at + 1) & t.mask
		}
		t.slots3[at] = newHashSlot(h, g)
	}
}

// keep copies a key into the arena, whose blocks never move.
func (t *Table) keep(k string) string {
	if len(t.arena)+len(k) > cap(t.arena) {
		t.arena = make([]byte, 0, max(min(max(2*cap(t.arena), 256), 1<<20), len(k)))
		t.Held += int64(cap(t.arena))
	}
	from := len(t.arena)
	t.arena = append(t.arena, k...)
	return vec.BytesToString(t.arena[from:])
}

// rowForm is how rowKeys are written: a bit for each column that is NULL, the columns' values, each at the same offset in all rows, and
// the strings, one after the other. The value of a string is where it ends in the row.
type rowForm struct {
	columns []rowColumn
	size    int // of all but the strings
}

type rowColumn struct {
	at     int // in the row
	before int // where the end of the string before it stands; 0: it is the first
}

func newRowForm(ts []types.Type) *rowForm {
	f := &rowForm{columns: make([]rowColumn, len(ts)), size: (len(ts) + 7) / 8}
	before := 0
	for i, t := range ts {
		c := &f.columns[i]
		c.at = f.size
		switch t.Phys() {
		case types.PhysString:
			c.before, before = before, c.at
			f.size += 4
		case types.PhysInt128:
			f.size += 16
		default:
			f.size += 8
		}
	}
	return f
}

// write writes the keys of sel out as rows, and stores them in t.keys and their hashes in t.k1.
func (t *Table) write(keys []*column.Vector, sel []int32) {
	f, n := t.Layout.rows, len(sel)
	t.reserveScratch(n)
	t.keys = slices.Grow(t.keys[:0], n)[:n]
	t.offsets = slices.Grow(t.offsets[:0], 2*n)[:2*n]
	starts, ends := t.offsets[:n], t.offsets[n:] // ends: of what is written of a row's strings
	for i := range ends {
		ends[i] = f.size
	}
	for _, v := range keys {
		if v.Type.Phys() != types.PhysString {
			continue
		}
		addLengths(ends, v, sel)
	}
	size := 0
	for i, n := range ends {
		starts[i], ends[i] = size, size+f.size
		size += n
	}
	if cap(t.buf) < size {
		t.buf = make([]byte, size)
	}
	buf := t.buf[:size]
	clear(buf)
	for c, v := range keys {
		t.writeColumn(buf, c, v, sel)
	}
	for i, from := range starts {
		t.keys[i] = vec.BytesToString(buf[from:ends[i]])
		t.k1[i] = keyhash.String(t.keys[i])
	}
}

// addLengths adds the lengths of the strings of sel that are not NULL.
func addLengths(lengths []int, v *column.Vector, sel []int32) {
	switch {
	case v.Const:
		if !v.IsNull(0) {
			length := len(v.StringAt(0))
			for i := range lengths {
				lengths[i] += length
			}
		}
	case v.Dict != nil:
		values := v.Dict.Values()
		for i, p := range sel {
			if v.Valid == nil || v.Valid.Get(int(p)) {
				lengths[i] += len(values[v.Codes[p]])
			}
		}
	default:
		for i, p := range sel {
			if v.Valid == nil || v.Valid.Get(int(p)) {
				lengths[i] += len(v.Str[p])
			}
		}
	}
}

// writeStrings is writeColumn of strings that are not constant.
func (t *Table) writeStrings(buf []byte, c int, v *column.Vector, sel []int32) {
	n := len(sel)
	starts, ends := t.offsets[:n], t.offsets[n:]
	at := t.Layout.rows.columns[c].at
	var values []string
	if v.Dict != nil {
		values = v.Dict.Values()
	}
	for i, p := range sel {
		from, end := starts[i], ends[i]
		switch {
		case v.Valid != nil && !v.Valid.Get(int(p)):
			buf[from+(c>>3)] |= 1 << (c & 7)
		case values != nil:
			end += copy(buf[end:], values[v.Codes[p]])
			ends[i] = end
		default:
			end += copy(buf[end:], v.Str[p])
			ends[i] = end
		}
		binary.LittleEndian.PutUint32(buf[from+at:], uint32(end-from))
	}
}

// writeColumn writes the c-th column of the rows whose offsets write has found.
func (t *Table) writeColumn(buf []byte, c int, v *column.Vector, sel []int32) {
	n := len(sel)
	starts, ends := t.offsets[:n], t.offsets[n:]
	at, phys := t.Layout.rows.columns[c].at, v.Type.Phys()
	if phys == types.PhysString && !v.Const {
		t.writeStrings(buf, c, v, sel)
		return
	}
	if v.Const || v.Valid != nil {
		for i, p := range sel {
			row := buf[starts[i]:]
			if v.IsNull(int(p)) {
				row[c>>3] |= 1 << (c & 7)
				if phys == types.PhysString {
					binary.LittleEndian.PutUint32(row[at:], uint32(ends[i]-starts[i]))
				}
				continue
			}
			if v.Const {
				p = 0
			}
			t.writeValue(buf, at, i, v, p)
		}
		return
	}
	switch phys {
	case types.PhysInt64, types.PhysUint64:
		for i, p := range sel {
			binary.LittleEndian.PutUint64(buf[starts[i]+at:], uint64(v.I64[p]))
		}
	default:
		for i, p := range sel {
			t.writeValue(buf, at, i, v, p)
		}
	}
}

// writeValue writes one value that is not NULL of the i-th row.
func (t *Table) writeValue(buf []byte, at, i int, v *column.Vector, p int32) {
	from := t.offsets[i]
	value := buf[from+at:]
	switch v.Type.Phys() {
	case types.PhysFloat64:
		binary.LittleEndian.PutUint64(value, types.FloatKey(v.F64[p]))
	case types.PhysInt128:
		binary.LittleEndian.PutUint64(value, v.I128[p].Lo)
		binary.LittleEndian.PutUint64(value[8:], uint64(v.I128[p].Hi))
	case types.PhysString:
		end := &t.offsets[len(t.offsets)/2+i]
		*end += copy(buf[*end:], v.StringAt(int(p)))
		binary.LittleEndian.PutUint32(value, uint32(*end-from))
	default:
		binary.LittleEndian.PutUint64(value, uint64(v.I64[p]))
	}
}

// readColumn stores the c-th column of the rows of some groups in out.
func (t *Table) readColumn(c int, groups []uint32, out *column.Vector) {
	f, n := t.Layout.rows, len(groups)
	at, before := f.columns[c].at, f.columns[c].before
	phys := out.Type.Phys()
	for i, x := range groups {
		k := t.strings[x]
		if k[c>>3]>>(c&7)&1 != 0 {
			out.SetNull(i, n)
			continue
		}
		switch phys {
		case types.PhysString:
			from := f.size
			if before > 0 {
				from = int(vec.Half(k[before:]))
			}
			out.Str[i] = k[from:vec.Half(k[at:])]
		case types.PhysInt128:
			out.I128[i] = types.Int128{Lo: vec.Word(k[at:]), Hi: int64(vec.Word(k[at+8:]))}
		case types.PhysFloat64:
			out.F64[i] = math.Float64frombits(vec.Word(k[at:]))
		default:
			out.I64[i] = int64(vec.Word(k[at:]))
		}
	}
}
