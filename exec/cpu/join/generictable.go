package join

import (
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// genericTable is a hash table over keys of any types, which are compared column by column in the build's vectors.
type genericTable struct {
	slotTable
	keys  []*column.Vector
	safe  []bool       // by key: NULL equals NULL
	short [][]shortKey // by key and row; nil: the key's strings are long, or it has none without a dictionary
}

func (b *Build) makeGeneric(keyed []int32, n int) (arrange func() error, err error) {
	t := &genericTable{keys: b.keys, safe: make([]bool, len(b.keys)), short: make([][]shortKey, len(b.keys))}
	for i := range t.safe {
		t.safe[i] = b.nullSafe(i)
	}
	t.same = func(row, other int32) bool { return t.equal(t.keys, int(row), int(other)) }
	b.table = t
	for i, v := range b.keys {
		if t.safe[i] || v.Str == nil || v.Dict != nil || !seemsShort(v, b.N) {
			continue
		}
		if err := b.q.Memory.Reserve("join build", int64(b.N)*shortKeyBytes); err != nil {
			return nil, err
		}
		t.short[i] = make([]shortKey, b.N)
	}
	long := make([]atomic.Bool, len(b.keys)) // a string that is not short has come
	b.scratch = int64(24 * n)
	b.direct = true // the table reads key columns by row
	if err := b.q.Memory.Reserve("join build", b.scratch); err != nil {
		return nil, err
	}
	hashes := column.Unset[uint64](n)
	const chunk = 16 * column.VectorSize
	err = b.q.Parallel((n+chunk-1)/chunk, n, func(i int) error {
		var h keyhash.Hasher
		from := i * chunk
		end := min(from+chunk, n)
		rows := keyed
		if rows == nil {
			rows = vec.CountFrom(nil, from, end-from)
		} else {
			rows = rows[from:end]
		}
		h.Hash(hashes[from:end], t.keys, rows, b.N)
		for i, words := range t.short {
			if words != nil && !long[i].Load() && !shorten(words, t.keys[i].Str, rows) {
				long[i].Store(true)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range t.short {
		if long[i].Load() {
			b.q.Memory.Release(int64(b.N) * shortKeyBytes)
			t.short[i] = nil
		}
	}
	return t.fillAll(b, n, keyed, func(out []uint64, from int) { copy(out, hashes[from:]) }, func([]uint64) {})
}

// equal compares the key at position p of vectors with that of a row in the table.
func (t *genericTable) equal(keys []*column.Vector, p, row int) bool {
	for i, v := range keys {
		w := t.keys[i]
		vn, wn := v.IsNull(p), w.IsNull(row)
		if vn || wn {
			if vn && wn && t.safe[i] {
				continue
			}
			return false
		}
		if !vec.EqualValues(v, p, w, row) {
			return false
		}
	}
	return true
}

func (t *genericTable) find(f *finder, keys []*column.Vector, sel []int32, n int) (pos, groups []int32) {
	if sel == nil {
		sel = vec.Ascending(n)
	}
	for i, v := range keys {
		if v.Valid != nil && !t.safe[i] {
			sel = dropNulls(&f.pos, v, sel, n)
			f.pos = f.pos[:cap(f.pos)]
		}
	}
	if len(sel) == 0 {
		return nil, nil
	}
	if cap(f.groups) < len(sel) {
		f.groups, f.keys = make([]int32, max(n, len(sel))), make([]uint64, max(n, len(sel)))
	}
	if cap(f.slots) < len(sel) {
		f.slots, f.ok = make([]uint32, max(n, len(sel))), make([]bool, max(n, len(sel)))
	}
	if cap(f.pos) < len(sel) {
		f.pos = make([]int32, max(n, len(sel)))
	}
	hashes := f.keys[:len(sel)]
	f.hasher.Hash(hashes, keys, sel, n)
	pos = f.pos[:len(sel)]
	groups = f.groups[:len(sel)]
	slots, mask, shift, numbers := t.slots, t.region, t.shift, t.rows
	far := len(slots) > nearSlots
	if far {
		for i, h := range hashes {
			groups[i] = int32(slots[h>>shift])
		}
	}
	k := 0
	for i, h := range hashes {
		at, tag := h>>shift, t.tagged(h)
		var s uint32
		if far {
			s = uint32(groups[i])
		} else {
			s = slots[at]
		}
		for s != 0 {
			if s^tag <= numbers {
				pos[k], groups[k] = sel[i], int32(s&numbers)-1
				f.slots[k] = uint32(at)
				hashes[k] = h
				k++
				break
			}
			at = at&^mask | (at+1)&mask
			s = slots[at]
		}
	}
	pos, groups = pos[:k], groups[:k]
	ok := f.ok[:k]
	for i := range ok {
		ok[i] = true
	}
	for i, v := range keys {
		f.compare(ok, v, pos, t, i, groups)
	}
	m := 0
	for i := range pos {
		g := groups[i]
		if !ok[i] { // two keys of one hash: go on along the chain, key by key
			if g = t.behind(hashes[i], f.slots[i], func(row int32) bool { return t.equal(keys, int(pos[i]), int(row)) }); g < 0 {
				continue
			}
		}
		pos[m], groups[m] = pos[i], g
		m++
	}
	return pos[:m], groups[:m]
}

// compare clears ok[i] where v at pos[i] differs from the table's key of that number at rows[i].
func (f *finder) compare(ok []bool, v *column.Vector, pos []int32, t *genericTable, key int, rows []int32) {
	w, safe := t.keys[key], t.safe[key]
	if v.Const || w.Const || safe && (v.Valid != nil || w.Valid != nil) {
		for i, p := range pos {
			vn, wn := v.IsNull(int(p)), w.IsNull(int(rows[i]))
			if vn || wn {
				ok[i] = ok[i] && vn && wn
			} else {
				ok[i] = ok[i] && vec.EqualValues(v, int(p), w, int(rows[i]))
			}
		}
		return
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		for i, p := range pos {
			ok[i] = ok[i] && types.FloatKey(v.F64[p]) == types.FloatKey(w.F64[rows[i]])
		}
	case types.PhysInt128:
		compareAt(ok, v.I128, pos, w.I128, rows)
	case types.PhysString:
		if v.Dict != nil && v.Dict == w.Dict {
			compareAt(ok, v.Codes, pos, w.Codes, rows)
			return
		}
		x := v.Str
		if v.Dict != nil {
			f.strings = f.strings[:0]
			values := v.Dict.Values()
			for _, p := range pos {
				f.strings = append(f.strings, values[v.Codes[p]])
			}
			x, pos = f.strings, vec.Ascending(len(pos))
		}
		switch {
		case t.short[key] != nil:
			compareShort(ok, x, pos, t.short[key], rows)
			return
		case w.Dict == nil:
			compareStrings(ok, x, pos, w.Str, rows)
			return
		}
		values := w.Dict.Values()
		for i, p := range pos {
			ok[i] = ok[i] && x[p] == values[w.Codes[rows[i]]]
		}
	default:
		compareAt(ok, v.I64, pos, w.I64, rows)
	}
}

func compareAt[T comparable](ok []bool, x []T, pos []int32, y []T, rows []int32) {
	for i, p := range pos {
		ok[i] = ok[i] && x[p] == y[rows[i]]
	}
}

// compareStrings is compareAt of strings. A block's strings are found before their bytes are read, so that the misses of many rows overlap.
func compareStrings(ok []bool, x []string, pos []int32, y []string, rows []int32) {
	var block [128]string
	for len(ok) > 0 {
		n := min(len(ok), len(block))
		stored := block[:n]
		for i, r := range rows[:n] {
			stored[i] = y[r]
		}
		for i, p := range pos[:n] {
			a, b := x[p], stored[i]
			switch {
			case !ok[i]:
			case len(a) != len(b):
				ok[i] = false
			case len(a) >= 8 && len(a) <= 16:
				ok[i] = vec.Word(a) == vec.Word(b) && vec.Word(a[len(a)-8:]) == vec.Word(b[len(b)-8:])
			default:
				ok[i] = a == b
			}
		}
		ok, pos, rows = ok[n:], pos[n:], rows[n:]
	}
}
