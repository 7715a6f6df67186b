package vec

import (
	"encoding/binary"
	"unsafe"
)

func BytesToString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func Word(s string) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), 8))
}

func Half(s string) uint32 {
	return binary.LittleEndian.Uint32(unsafe.Slice(unsafe.StringData(s), 4))
}

// ShortWords returns the bytes of a string of at most 15 bytes as two words, with zeros behind them.
func ShortWords(s string) (lo, hi uint64) {
	switch n := uint(len(s)); {
	case n > 8:
		return Word(s), Word(s[n-8:]) >> (8 * (16 - n))
	case n == 8:
		return Word(s), 0
	case n >= 4:
		return uint64(Half(s)) | uint64(Half(s[n-4:]))<<(8*(n-4)), 0
	case n > 0:
		return uint64(s[0]) | uint64(s[n>>1])<<(8*(n>>1)) | uint64(s[n-1])<<(8*(n-1)), 0
	}
	return 0, 0
}
