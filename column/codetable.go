package column

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// codeTable finds the code of a string, by open addressing with linear probing. A slot has 32 bits of the string's hash above its code plus 1; 0 is free. Readers need
// no lock while one writer adds: slots are only ever filled, and a table that is too full is replaced by one of twice the size.
type codeTable struct {
	slots []atomic.Uint64 // a power of two
	used  int             // the writer's
}

var codeSeed = maphash.MakeSeed()

func codeHash(s string) uint32 { return uint32(maphash.String(codeSeed, s) >> 32) }

// newCodeTable returns a table that is at most half full with so many codes.
func newCodeTable(codes int) *codeTable {
	return &codeTable{slots: make([]atomic.Uint64, 1<<bits.Len(uint(max(2*codes-1, 7))))}
}

// find returns the code of s, whose hash is given. values are the strings by code; those of later codes are not found.
func (t *codeTable) find(values []string, s string, hash uint32) (code uint32, ok bool) {
	mask := len(t.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		slot := t.slots[i].Load()
		if slot == 0 {
			return 0, false
		}
		if code = uint32(slot) - 1; uint32(slot>>32) == hash && int(code) < len(values) && values[code] == s {
			return code, true
		}
	}
}

// with returns a table that has a code more, which the table does not have: itself, or a larger one.
func (t *codeTable) with(code, hash uint32) *codeTable {
	if 2*(t.used+1) > len(t.slots) {
		larger := newCodeTable(len(t.slots))
		for i := range t.slots {
			if slot := t.slots[i].Load(); slot != 0 {
				larger.put(slot)
			}
		}
		t = larger
	}
	t.put(uint64(hash)<<32 | uint64(code+1))
	return t
}

func (t *codeTable) put(slot uint64) {
	mask := len(t.slots) - 1
	i := int(slot>>32) & mask
	for t.slots[i].Load() != 0 {
		i = (i + 1) & mask
	}
	t.slots[i].Store(slot)
	t.used++
}
