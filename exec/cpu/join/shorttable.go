package join

import (
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// shortTable is a hash table of short strings: one key without a dictionary, whose strings are kept as two words each and as nothing else.
type shortTable struct {
	slotTable
	keys []shortKey // by row
}

// hash mixes both words.
func (k shortKey) hash() uint64 { return keyhash.Pair(keyhash.Int(k.lo), k.hi) }

// shortKeys returns the only key of the rows of stores as words, and drops its column. It returns nil where the table cannot be one of short strings.
func (b *Build) shortKeys(stores []*rowstore.Store) ([]shortKey, error) {
	n := 0
	for _, s := range stores {
		n += s.N
	}
	if len(b.stored.keyAt) != 1 || b.keyless || b.keepNulls || b.nullSafe(0) || b.p.Keys[0].Type().Phys() != types.PhysString {
		return nil, nil
	}
	at := b.stored.keyAt[0]
	if n == 0 || slices.Contains(b.stored.payAt, at) || !seemShort(stores, at) {
		return nil, nil
	}
	if err := b.q.Memory.Reserve("join build", int64(n)*shortKeyBytes); err != nil {
		return nil, err
	}
	keys := column.Unset[shortKey](n)
	var long atomic.Bool
	err := rowstore.EachRun(b.q, stores, at, func(row int, v *column.Vector, from, k int) {
		if long.Load() {
			return
		}
		if v.Dict != nil || !shortenAll(keys[row:row+k], v.Str[from:]) {
			long.Store(true)
		}
	})
	if err != nil {
		return nil, err
	}
	if long.Load() {
		b.q.Memory.Release(int64(n) * shortKeyBytes)
		return nil, nil
	}
	rowstore.Drop(stores, at)
	return keys, nil
}

// seemShort says whether the first strings of column c have no dictionary and are short.
func seemShort(stores []*rowstore.Store, c int) bool {
	for _, s := range stores {
		for _, seg := range s.Segs {
			return seg.Cols[c].Dict == nil && seemsShort(seg.Cols[c], seg.N)
		}
	}
	return false
}

// shortenAll stores the keys of as many strings. It is false if one is too long.
func shortenAll(out []shortKey, strings []string) bool {
	strings = strings[:len(out)]
	for i, s := range strings {
		if len(s) > mostShort {
			return false
		}
		out[i] = shortKeyOf(s)
	}
	return true
}

// makeShort is makeTable for short strings.
func (b *Build) makeShort(keys []shortKey) (arrange func() error, err error) {
	t := &shortTable{keys: keys}
	t.same = func(row, other int32) bool { return t.keys[row] == t.keys[other] }
	b.table = t
	b.scratch = int64(12 * len(keys))
	if err := b.q.Memory.Reserve("join build", b.scratch); err != nil {
		return nil, err
	}
	number := func(out []uint64, from int) {
		for i, k := range keys[from : from+len(out)] {
			out[i] = k.hash()
		}
	}
	return t.fillAll(b, len(keys), nil, number, func([]uint64) {})
}

func (t *shortTable) find(f *finder, keys []*column.Vector, sel []int32, n int) (pos, groups []int32) {
	v := f.flat.Flatten(0, keys[0], sel, n)
	if sel == nil {
		sel = vec.Ascending(n)
	}
	f.reserve(max(len(sel), 1))
	f.short = slices.Grow(f.short[:0], len(sel))[:len(sel)]
	m := f.shorten(v, sel)
	pos, groups = f.pos[:m], f.groups[:m]
	short, hashes := f.short[:m], f.keys[:m]
	slots, mask, shift, numbers := t.slots, t.region, t.shift, t.rows
	for i, h := range hashes {
		groups[i] = int32(slots[h>>shift])
	}
	k := 0
	for i, h := range hashes {
		at, tag, s := h>>shift, t.tagged(h), uint32(groups[i])
		for s != 0 && s^tag > numbers {
			at = at&^mask | (at+1)&mask
			s = slots[at]
		}
		pos[k], groups[k], short[k], hashes[k], f.slots[k] = pos[i], int32(s&numbers)-1, short[i], h, uint32(at)
		if s != 0 {
			k++
		}
	}
	m = 0
	for i, key := range short[:k] {
		row := groups[i]
		if t.keys[row] != key {
			if row = t.behind(hashes[i], f.slots[i], func(row int32) bool { return t.keys[row] == key }); row < 0 {
				continue
			}
		}
		pos[m], groups[m] = pos[i], row
		m++
	}
	return pos[:m], groups[:m]
}

// shorten stores the keys of the short strings at sel, their hashes and positions.
func (f *finder) shorten(v *column.Vector, sel []int32) (m int) {
	pos, keys, short := f.pos, f.keys, f.short
	if v.Dict != nil || v.Valid != nil {
		for _, p := range sel {
			if v.IsNull(int(p)) {
				continue
			}
			if s := v.StringAt(int(p)); len(s) <= mostShort {
				key := shortKeyOf(s)
				pos[m], keys[m], short[m] = p, key.hash(), key
				m++
			}
		}
		return m
	}
	for _, p := range sel {
		if s := v.Str[p]; len(s) <= mostShort {
			key := shortKeyOf(s)
			pos[m], keys[m], short[m] = p, key.hash(), key
			m++
		}
	}
	return m
}

// shortKey is a string of at most mostShort bytes: these, with zeros behind them, and the length in the last byte. A table of such keys is compared
// without reading strings, which would cost two cache misses for each row that is found: the string's header and its bytes.
type shortKey struct{ lo, hi uint64 }

const (
	shortKeyBytes = 16
	mostShort     = shortKeyBytes - 1
)

func shortKeyOf(s string) shortKey {
	lo, hi := vec.ShortWords(s)
	return shortKey{lo, hi | uint64(len(s))<<56}
}

// seemsShort says whether the first of the n strings of a vector without a dictionary are short.
func seemsShort(v *column.Vector, n int) bool {
	for _, s := range v.Str[:min(n, column.VectorSize)] {
		if len(s) > mostShort {
			return false
		}
	}
	return true
}

// shorten stores the keys of the strings of rows, each at its row. It is false if one is too long.
func shorten(out []shortKey, strings []string, rows []int32) bool {
	for _, r := range rows {
		s := strings[r]
		if len(s) > mostShort {
			return false
		}
		out[r] = shortKeyOf(s)
	}
	return true
}

// compareShort clears ok[i] where x at pos[i] differs from y at rows[i].
func compareShort(ok []bool, x []string, pos []int32, y []shortKey, rows []int32) {
	for i, p := range pos {
		s := x[p]
		ok[i] = ok[i] && len(s) <= mostShort && shortKeyOf(s) == y[rows[i]]
	}
}
