package stringfn

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"
)

// Most strings are ASCII, in which a character is a byte. These functions look at eight bytes at a time.

const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
)

// bytesOf returns the bytes of s, which nobody may change.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// asciiPrefix returns a length up to which s is ASCII: all of it, or up to eight bytes before the first other one.
func asciiPrefix(s string) int {
	b, i := bytesOf(s), 0
	for ; i+8 <= len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:])&highBits != 0 {
			return i
		}
	}
	for ; i < len(b) && b[i] < utf8.RuneSelf; i++ {
	}
	return i
}

// between returns the high bits of the bytes of x, which are ASCII, that lie between from and to.
func between(x uint64, from, to byte) uint64 {
	return (x + eachByte*uint64(utf8.RuneSelf-from)) &^ (x + eachByte*uint64(utf8.RuneSelf-1-to)) & highBits
}

// hasLetters says whether s is ASCII, and whether it then has characters between from and to.
func hasLetters(s string, from, to byte) (letters, ascii bool) {
	b := bytesOf(s)
	if len(b) < 8 {
		for _, c := range b {
			if c >= utf8.RuneSelf {
				return false, false
			}
			letters = letters || c >= from && c <= to
		}
		return letters, true
	}
	found, high := uint64(0), uint64(0)
	for i := 0; ; i = min(i+8, len(b)-8) { // the last word may overlap the one before
		x := binary.LittleEndian.Uint64(b[i:])
		high |= x
		found |= between(x, from, to)
		if i == len(b)-8 {
			return found != 0, high&highBits == 0
		}
	}
}

// appendOtherCase appends s, which is ASCII, with the characters between from and to, which are letters, in the other case.
func appendOtherCase(dst []byte, s string, from, to byte) []byte {
	start := len(dst)
	dst = append(dst, s...)
	b, out := bytesOf(s), dst[start:]
	if len(b) < 8 {
		for i, c := range b {
			if c >= from && c <= to {
				out[i] = c ^ 0x20
			}
		}
		return dst
	}
	for i := 0; ; i = min(i+8, len(b)-8) {
		x := binary.LittleEndian.Uint64(b[i:])
		binary.LittleEndian.PutUint64(out[i:], x^between(x, from, to)>>2)
		if i == len(b)-8 {
			return dst
		}
	}
}
