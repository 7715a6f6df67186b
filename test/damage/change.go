package damage

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
)

// Change returns a damaged copy of a file. other is a file of the same format, of which pieces may be put into it.
func Change(r *rand.Rand, name string, content, other []byte) []byte {
	out := slices.Clone(content)
	for range 1 + r.IntN(3)*r.IntN(2) {
		if len(out) == 0 {
			break
		}
		begin, end := region(r, name, out)
		at := begin + r.IntN(end-begin)
		n := min(1+r.IntN(1<<r.IntN(9)), len(out)-at)
		switch r.IntN(9) {
		case 0, 1: // a bit
			out[at] ^= 1 << r.IntN(8)
		case 2: // a byte
			out[at] = byte(r.Uint32())
		case 3: // a number as hostile as can be, where numbers stand
			putNumber(r, out, at)
		case 4: // cut off
			out = out[:at]
		case 5: // zeros
			clear(out[at : at+n])
		case 6: // a piece twice
			out = slices.Insert(out, at, slices.Clone(out[at:at+n])...)
		case 7: // a piece less
			out = slices.Delete(out, at, at+n)
		case 8: // a piece of another file
			from := r.IntN(max(1, len(other)))
			copy(out[at:], other[from:min(len(other), from+n)])
		}
	}
	return out
}

// region returns the part of a file that is hit: half of the time one that describes the others.
func region(r *rand.Rand, name string, b []byte) (begin, end int) {
	tail := 0 // behind the footer
	switch {
	case strings.HasSuffix(name, ".parquet"):
		tail = 8
	case strings.HasSuffix(name, ".arrow"):
		tail = 10
	}
	switch r.IntN(6) {
	case 0:
		return 0, min(len(b), 1024)
	case 1, 2:
		if tail == 0 || len(b) < tail {
			return max(0, len(b)-1024), len(b)
		}
		footer := binary.LittleEndian.Uint32(b[len(b)-tail:])
		return max(0, len(b)-tail-int(min(footer, 1<<20))), len(b)
	}
	return 0, len(b)
}

var numbers = []uint64{0, 1, 127, 255, 1 << 15, 1<<16 - 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<62 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}

func putNumber(r *rand.Rand, b []byte, at int) {
	x := numbers[r.IntN(len(numbers))]
	size := 4 << r.IntN(2)
	if r.IntN(2) == 0 {
		at = at / size * size
	}
	if at+size > len(b) {
		return
	}
	if r.IntN(3) == 0 { // of variable length
		binary.PutUvarint(slices.Grow(b[at:at:at+size], 0)[:size], x&(1<<(7*size-1)-1))
		return
	}
	var bytes [8]byte
	binary.LittleEndian.PutUint64(bytes[:], x)
	copy(b[at:at+size], bytes[:])
}
