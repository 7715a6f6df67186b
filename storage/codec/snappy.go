package codec

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// Snappy is a list of elements: bytes that stand in it (a literal), and copies of bytes that came out before
// (https://github.com/google/snappy/blob/main/format_description.txt). Most are a few bytes long. Which of the two kinds of copies comes next, nobody can tell, so a decoder that
// branches on it waits for its wrong guesses. This one branches on literals only, and takes the rest from a table.

// margin is what the fast part of the decoder may read and write beyond an element's beginning: 64 bytes, a tag, and a word of 8 bytes.
const margin = 80

// element is what a tag says. Bits 0 to 15 say which bits behind the tag are the distance of a copy, 16 to 31 what is added to the distance, 32 to 38 how many bytes
// come out. A literal has a distance that every copy may have. Elements that are rare have the distance 0, which none may have: the fast part leaves them to the other one.
type element uint64

var elements [256]element

func init() {
	for i := range elements {
		tag := element(i)
		upper := tag >> 2
		var mask, distance, length element
		switch {
		case tag&3 == 0 && upper < 60:
			distance, length = wordBytes, upper+1
		case tag&3 == 1:
			mask, distance, length = 0xff, tag>>5<<8, 4+upper&7
		case tag&3 == 2:
			mask, length = 0xffff, upper+1
		}
		elements[i] = mask | distance<<16 | length<<32
	}
}

// wordBytes is the least distance of copies that the fast part makes word by word: each word lies there whole before it is read.
const wordBytes = 8

var errSnappy = errors.New("an element lies outside")

// unpackSnappy fills dst with what src gives, which has no header.
func unpackSnappy(dst, src []byte) error {
	d, s, records := 0, 0, hasRecords(src)
	for s < len(src) {
		if d >= 16 && d < len(dst)-margin && s < len(src)-margin {
			if records {
				d, s, records = snappyRecords(dst, src, d, s)
			} else {
				d, s = snappyElements(dst, src, d, s, len(src)-margin)
			}
			if s == len(src) {
				break
			}
		}
		tag, rest := src[s], src[s+1:]
		length, distance, width := int(tag>>2)+1, 0, 0
		switch tag & 3 {
		case 0:
			if width = max(0, length-60); width > len(rest) {
				return errSnappy
			}
			if width > 0 {
				var long [8]byte
				copy(long[:width], rest)
				length = int(binary.LittleEndian.Uint64(long[:])) + 1
			}
			rest = rest[width:]
			if length > len(rest) || length > len(dst)-d {
				return errSnappy
			}
			copy(dst[d:], rest[:length])
			d, s = d+length, s+1+width+length
			continue
		case 1:
			if width = 1; len(rest) >= width {
				length, distance = 4+int(tag>>2&7), int(tag>>5)<<8|int(rest[0])
			}
		case 2:
			if width = 2; len(rest) >= width {
				distance = int(binary.LittleEndian.Uint16(rest))
			}
		case 3:
			if width = 4; len(rest) >= width {
				distance = int(binary.LittleEndian.Uint32(rest))
			}
		}
		if distance == 0 || distance > d || length > len(dst)-d {
			return errSnappy
		}
		s += 1 + width
		for from, end := d-distance, d+length; d < end; { // what is copied may reach into the copy: it is then a pattern that repeats
			d += copy(dst[d:end], dst[from:d])
		}
	}
	if d != len(dst) {
		return errSnappy
	}
	return nil
}

// snappyElements goes on at d and s, which lie before the margins, and returns where it stops: at endS, at a margin of dst, or before an element that is rare or wrong.
func snappyElements(dst, src []byte, d, s, endS int) (int, int) {
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	endD := len(dst) - margin
	tag := uint(*(*uint8)(unsafe.Add(from, s)))
	for s < endS && d < endD {
		e := elements[uint8(tag)]
		source := unsafe.Add(from, s+1) // of a literal
		behind := element(binary.LittleEndian.Uint16((*[2]byte)(source)[:]))
		kind := tag & 3
		width := int(kind) + 1
		if kind == 0 {
			width = int(tag>>2) + 2
		}
		s += width
		tag = uint(*(*uint8)(unsafe.Add(from, s)))
		distance, length := int(behind&(e&0xffff)+e>>16&0xffff), int(e>>32)
		target := unsafe.Add(to, d)
		if uint(distance-wordBytes) > uint(d-wordBytes) {
			if uint(distance-1) >= wordBytes-1 {
				return d, s - width
			}
			source = unsafe.Add(to, d-distance)
			d += length
			for ; distance < wordBytes; distance *= 2 { // a pattern that repeats: twice as much of it lies there each time
				setWord(target, word(source))
				target = unsafe.Add(target, distance)
				length -= distance
			}
			for ; length > 0; length -= 8 {
				setWord(target, word(source))
				source, target = unsafe.Add(source, 8), unsafe.Add(target, 8)
			}
			continue
		}
		if kind != 0 {
			source = unsafe.Add(to, d-distance)
		}
		d += length
		copyWords(target, source)
		if length > 16 {
			copyWords(unsafe.Add(target, 16), unsafe.Add(source, 16))
			copyWords(unsafe.Add(target, 32), unsafe.Add(source, 32))
			copyWords(unsafe.Add(target, 48), unsafe.Add(source, 48))
		}
	}
	return d, s
}

// A record is a literal and a copy behind it that together give at most recordBytes: a small integer of 8 bytes, say, whose upper bytes are those of an integer before it.
const recordBytes = 8

// sampled is how many elements hasRecords looks at.
const sampled = 256

// hasRecords says whether most elements at the beginning of src belong to records.
func hasRecords(src []byte) bool {
	inRecords, elements, literal := 0, 0, 0 // literal: the bytes of the one just before; 0: there is none
	for s := 0; s < len(src) && elements < sampled; elements++ {
		tag := src[s]
		length := int(tag>>2) + 1
		switch tag & 3 {
		case 0:
			if literal = length; length > 60 {
				return false
			}
			s += 1 + length
			continue
		case 1:
			length = 4 + int(tag>>2&7)
			s += 2
		case 2:
			s += 3
		case 3:
			s += 5
			literal = 0
		}
		if literal > 0 && literal+length <= recordBytes {
			inRecords += 2
		}
		literal = 0
	}
	return elements == sampled && inRecords > sampled*3/4
}

// snappyRecords is snappyElements for data that are mostly records. again is false if records have become rare.
func snappyRecords(dst, src []byte, d, s int) (_, _ int, again bool) {
	endD, endS := len(dst)-margin, len(src)-margin
	for others := sampled; s < endS && d < endD; {
		before := d
		d, s = onlyRecords(dst, src, d, s)
		others += (d - before) / recordBytes
		at := s
		if d, s = snappyElements(dst, src, d, s, s+1); s == at {
			return d, s, true
		}
		if others -= 4; others < 0 {
			return d, s, false
		}
	}
	return d, s, true
}

// onlyRecords goes on to the first element that belongs to no record, or to a margin. One load has a record's tags, its literal and its distance, and one store writes it, so
// nothing waits for a literal to be stored before it is copied from. The loop calls nothing: its values stay in registers.
func onlyRecords(dst, src []byte, d, s int) (int, int) {
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	endD, endS := len(dst)-margin, len(src)-margin
	for s < endS && d < endD {
		x := word(unsafe.Add(from, s))
		shift := 2 * x & 0x1f8 // by the bits of the literal, if it is one, less 8
		second := x >> 16 >> (shift & 63)
		literal, kind := int(shift>>3)+1, int(second&3)
		s += literal + kind + 2
		e := elements[uint8(second)]
		distance := int(element(second>>8)&(e&0xffff) + e>>16&0xffff)
		length := literal + int(e>>32)
		if x&3 != 0 || uint(kind-1) >= 2 || length > recordBytes || uint(distance-length) > uint(d-length) {
			return d, s - literal - kind - 2
		}
		before := word(unsafe.Add(to, d-distance))
		setWord(unsafe.Add(to, d), before^(before^x>>8)&(1<<(shift+8&63)-1))
		d += length
	}
	return d, s
}

func word(at unsafe.Pointer) uint64 { return binary.LittleEndian.Uint64((*[8]byte)(at)[:]) }

// copyWords copies two words, of which the second one may be the first one's copy.
func copyWords(to, from unsafe.Pointer) {
	setWord(to, word(from))
	setWord(unsafe.Add(to, 8), word(unsafe.Add(from, 8)))
}

func setWord(at unsafe.Pointer, x uint64) { binary.LittleEndian.PutUint64((*[8]byte)(at)[:], x) }
