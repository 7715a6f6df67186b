package grouptable

import (
	"encoding/binary"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// Short strings as words. A string of up to 15 bytes that has no dictionary is packed like a number: its bytes, from the lowest byte of
// the word up, and its length in the last byte. A lookup then reads one slot and no string elsewhere. Beside keys that do not fit two words
// it takes one or two whole words. The first vector of keys decides; a longer string that comes later makes the table change its form.

// nullLength stands for the length of a string that is NULL.
const nullLength = 0xFF

// mostWords is how many words a key takes at most.
const mostWords = 8

// wholeDictionary is the length of a dictionary that the next row groups will have, too: those of more values often end somewhere in the column.
const wholeDictionary = 1 << 12

// setShort gives the keys at stringKeys, which have no dictionaries, digits as short strings, and returns how many bits all keys take. ok is
// false where they do not fit two words beside the others, which take so many bits.
func (l *Layout) setShort(stringKeys []int, keys []*column.Vector, bits uint) (all uint, ok bool) {
	width := uint(0) // bytes, with that of the length
	switch {
	case len(stringKeys) == 0:
		return bits, true
	case len(stringKeys) == 1 && bits <= 64:
		width = 8 + (64-bits)/8
	case len(stringKeys) == 2 && bits == 0:
		width = 8
	default:
		return 0, false
	}
	if !l.areWhole() {
		return 0, false
	}
	for _, i := range stringKeys {
		if longest(keys[i]) >= int(width) {
			return 0, false
		}
		l.parts[i].short, l.parts[i].bits = width, 8*width
		bits += 8 * width
	}
	return bits, true
}

// areWhole says whether the dictionaries of keys are expected to be those of all rows. Otherwise the tables of all workers would change their form late.
func (l *Layout) areWhole() bool {
	for i := range l.parts {
		if d := l.parts[i].dict; d != nil && d.Len() > wholeDictionary {
			return false
		}
	}
	return true
}

// setWide makes the form that of several words, where all keys fit.
func (l *Layout) setWide(stringKeys []int, keys []*column.Vector) bool {
	if len(l.parts) == 1 || len(stringKeys) > 0 && !l.areWhole() {
		return false
	}
	for _, i := range stringKeys {
		switch n := longest(keys[i]); {
		case n < 8:
			l.parts[i].short = 8
		case n < 16:
			l.parts[i].short = 16
		default:
			return false
		}
		l.parts[i].bits = 8 * l.parts[i].short
	}
	l.Form = wideKeys
	return l.arrange()
}

// longest returns the length of the longest string of a vector without a dictionary.
func longest(v *column.Vector) int {
	if v.Const {
		if v.IsNull(0) {
			return 0
		}
		return len(v.StringAt(0))
	}
	n := 0
	for i, s := range v.Str {
		if v.Valid == nil || v.Valid.Get(i) {
			n = max(n, len(s))
		}
	}
	return n
}

// ShortBytes returns the bytes, for each group, of the strings that KeyColumn makes of words for the c-th key.
func (l *Layout) ShortBytes(c int) int64 {
	if l.Form.TakesAny() {
		return 0
	}
	return int64(l.parts[c].short)
}

// packShort adds the strings of a column of sel to t.k1 and t.k2. It is false if one is too long.
func (t *Table) packShort(g *digit, v *column.Vector, sel []int32) bool {
	if v.Const || v.Valid != nil || v.Dict != nil {
		for j, p := range sel {
			if v.IsNull(int(p)) {
				t.addShort(g, j, 0, 0, nullLength)
				continue
			}
			if v.Const {
				p = 0
			}
			s := v.StringAt(int(p))
			if len(s) >= int(g.short) {
				return false
			}
			lo, hi := vec.ShortWords(s)
			t.addShort(g, j, lo, hi, len(s))
		}
		return true
	}
	for j, p := range sel {
		s := v.Str[p]
		if len(s) >= int(g.short) {
			return false
		}
		lo, hi := vec.ShortWords(s)
		t.addShort(g, j, lo, hi, len(s))
	}
	return true
}

// addShort adds a string's words and length to the j-th key.
func (t *Table) addShort(g *digit, j int, lo, hi uint64, length int) {
	w := g.shift >> 6
	if g.short > 8 {
		t.packed[w][j] |= lo
		t.packed[w+1][j] |= hi | uint64(length)<<(8*(g.short-9))
		return
	}
	t.packed[w][j] |= lo | uint64(length)<<56
}

// readShort stores the strings of some groups in out.
func (t *Table) readShort(g *digit, groups []uint32, out *column.Vector) {
	n := len(groups)
	buf := make([]byte, 0, n*int(g.short))
	var key [16]byte
	words, w := uint32(t.Layout.words), uint32(g.shift>>6)
	for i, x := range groups {
		lo, hi := t.Words[words*x+w], uint64(0)
		if g.short > 8 {
			hi = t.Words[words*x+w+1]
		}
		binary.LittleEndian.PutUint64(key[:], lo)
		binary.LittleEndian.PutUint64(key[8:], hi)
		length := key[g.short-1]
		if length == nullLength {
			out.SetNull(i, n)
			continue
		}
		from := len(buf)
		buf = append(buf, key[:length]...)
		out.Str[i] = vec.BytesToString(buf[from:])
	}
}
