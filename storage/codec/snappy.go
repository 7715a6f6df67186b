package codec

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// Snappy is a list of elements: bytes that stand in it (a literal), and copies of bytes that came out before
// (https://github.com/google/snappy/blob/main/format_description.txt). Most are a few bytes long, and nobody can tell the kind of the next one, so that a
// decoder that branches on it waits for its wrong guesses. This one does the same for all kinds: a table says how far away the 16 bytes are that it stores.

// margin is what the fast part of the decoder may read and write beyond an element's beginning: 64 bytes, a tag, and a word of 16 bytes.
const margin = 80

// element is what a tag says: in bits 0 to 31 which bits behind the tag are the distance of a copy, in 32 to 47 what is added to the distance, in 48 to 54 the bytes that
// come out, in 56 to 62 the bytes that the element takes. Bit 63 is 1 for a literal. Literals with their length behind the tag have the distance 1, which the fast part leaves to the other one.
type element uint64

// elements has the meaning of each tag, and widths again the bytes that elements take: the decoder waits for nothing else.
var (
	elements [256]element
	widths   [256]uint8
)

func init() {
	for i := range elements {
		tag := element(i)
		upper := tag >> 2
		var mask, distance, length, width, literal element
		switch tag & 3 {
		case 0:
			if upper < 60 {
				length, width, literal = upper+1, upper+2, 1
			} else {
				distance = 1
			}
		case 1:
			mask, distance, length, width = 0xff, tag>>5<<8, 4+upper&7, 2
		case 2:
			mask, length, width = 0xffff, upper+1, 3
		case 3:
			mask, length, width = 0xffffffff, upper+1, 5
		}
		elements[i], widths[i] = mask|distance<<32|length<<48|width<<56|literal<<63, uint8(width)
	}
}

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
	tag := *(*uint8)(unsafe.Add(from, s))
	for s < endS && d < endD {
		e := elements[tag]
		a, b := word(unsafe.Add(from, s+1)), word(unsafe.Add(from, s+9)) // of a literal
		s += int(widths[tag])
		tag = *(*uint8)(unsafe.Add(from, s))
		literal := uint64(int64(e) >> 63) // all bits are 1, or 0
		// A literal takes its distance from the beginning of dst. What was stored last would keep the processor waiting, which then throws it away.
		distance := int(a&uint64(uint32(e))) + int(e>>32&0xffff) + d&int(literal)
		length := int(e >> 48 & 0x7f)
		if uint(distance-16) > uint(d-16) {
			if uint(distance-1) > 14 || length == 0 {
				return d, s - int(e>>56&0x7f)
			}
			source, target := unsafe.Add(to, d-distance), unsafe.Add(to, d)
			d += length
			for ; distance < 8; distance *= 2 { // a pattern that repeats: twice as much of it lies there each time
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
		source, target := unsafe.Add(to, d-distance), unsafe.Add(to, d)
		x, y := word(source), word(unsafe.Add(source, 8))
		setWord(target, x^(x^a)&literal)
		setWord(unsafe.Add(target, 8), y^(y^b)&literal)
		d += length
		if length > 16 {
			if literal != 0 {
				source = unsafe.Add(from, s-length)
			}
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

// snappyRecords is snappyElements for data that are mostly records. One load has a record's tags, its literal and its distance, and one store writes it, so nothing waits
// for a literal to be stored before it is copied from. again is false if records have become rare.
func snappyRecords(dst, src []byte, d, s int) (_, _ int, again bool) {
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	endD, endS := len(dst)-margin, len(src)-margin
	for others := sampled; s < endS && d < endD; {
		x := word(unsafe.Add(from, s))
		literal := x >> 2 & 63 // less 1
		second := x >> 16 >> (8 * literal & 63)
		kind := second & 3
		e := uint64(elements[uint8(second)])
		distance := int(second>>8&uint64(uint32(e)) + e>>32&0xffff)
		length := int(1 + literal + e>>48&0x7f)
		if x&3 == 0 && kind-1 < 2 && length <= recordBytes && uint(distance-length) <= uint(d-length) {
			mask := uint64(1)<<(8*literal+8&63) - 1
			before := word(unsafe.Add(to, d-distance))
			setWord(unsafe.Add(to, d), before^(before^x>>8)&mask)
			d += length
			s += int(3 + literal + kind)
			others++
			continue
		}
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

func word(at unsafe.Pointer) uint64 { return binary.LittleEndian.Uint64((*[8]byte)(at)[:]) }

// copyWords copies 16 bytes.
func copyWords(to, from unsafe.Pointer) {
	x, y := word(from), word(unsafe.Add(from, 8))
	setWord(to, x)
	setWord(unsafe.Add(to, 8), y)
}

func setWord(at unsafe.Pointer, x uint64) { binary.LittleEndian.PutUint64((*[8]byte)(at)[:], x) }
