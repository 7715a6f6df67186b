package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// delta decodes integers of the encoding DELTA_BINARY_PACKED: blocks of differences, each block with the least of them, cut
// into miniblocks whose values have a width of their own. It decodes while it is read, so that a few bytes that claim many values
// take no memory.
type delta struct {
	src    []byte // what follows the current miniblock
	wide   bool   // 64 bits, else 32: sums wrap around
	mini   int    // values of a miniblock
	left   int    // values that follow
	last   int64  // the value before
	first  bool   // last is the first value, and was not given out yet
	least  int64
	widths []byte // of the miniblocks of the block that follow the current one
	minis  int    // miniblocks of a block
	packed []byte // the current miniblock, and some of what follows it
	width  uint
	have   int // values that it still has
	bit    int // where in packed the next value begins
}

// maxDeltaBlock bounds the values of a block. Writers use 128 to some thousands.
const maxDeltaBlock = 1 << 16

// newDelta begins to decode values, of which there may be no more than so many.
func newDelta(src []byte, most int, wide bool) (delta, error) {
	d := delta{src: src, wide: wide}
	block, minis, total, first := d.uvarint(), d.uvarint(), d.uvarint(), d.uvarint()
	switch {
	case d.src == nil:
		return d, errCutOff
	case block == 0 || block > maxDeltaBlock || minis == 0 || minis > block || block%minis != 0 || block/minis%8 != 0:
		return d, fmt.Errorf("a page has blocks of %d values in %d parts", block, minis)
	case total > uint64(most):
		return d, fmt.Errorf("a page of %d rows claims %d values", most, total)
	}
	d.mini, d.minis, d.left = int(block/minis), int(minis), int(total)
	d.last, d.first = int64(first>>1)^-int64(first&1), total > 0
	return d, nil
}

// uvarint reads an integer of variable length; src becomes nil where it ends.
func (d *delta) uvarint() uint64 {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.src = nil
		return 0
	}
	d.src = d.src[n:]
	return v
}

// decode fills dst.
func (d *delta) decode(dst []int64) error {
	if len(dst) > d.left {
		return errCutOff
	}
	d.left -= len(dst)
	if d.first && len(dst) > 0 {
		d.first = false
		dst[0] = d.wrap(d.last)
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.have == 0 {
			if err := d.nextMini(); err != nil {
				return err
			}
		}
		n := min(len(dst), d.have)
		d.unpack(dst[:n])
		d.have -= n
		dst = dst[n:]
	}
	return nil
}

func (d *delta) wrap(x int64) int64 {
	if d.wide {
		return x
	}
	return int64(int32(x))
}

// nextMini goes on to the next miniblock.
func (d *delta) nextMini() error {
	if len(d.widths) == 0 {
		least := d.uvarint()
		if d.src == nil || len(d.src) < d.minis {
			return errCutOff
		}
		d.least = int64(least>>1) ^ -int64(least&1)
		d.widths, d.src = d.src[:d.minis], d.src[d.minis:]
	}
	d.width, d.widths = uint(d.widths[0]), d.widths[1:]
	size := d.mini / 8 * int(d.width)
	if d.width > 64 || size > len(d.src) {
		return errCutOff
	}
	d.packed, d.src = d.src[:min(size+8, len(d.src))], d.src[size:]
	d.have, d.bit = d.mini, 0
	return nil
}

// unpack gives the next values of the miniblock.
func (d *delta) unpack(dst []int64) {
	last, least, unused := d.last, d.least, 0
	if !d.wide {
		unused = 32 // bits, by which sums are cut off
	}
	mask := ^uint64(0) >> (64 - d.width)
	switch end := d.bit + len(dst)*int(d.width); {
	case d.width == 0:
		for i := range dst {
			last += least
			dst[i] = last << unused >> unused
		}
	case d.width <= 57 && end>>3+8 <= len(d.packed):
		src, bit, width := d.packed, uint(d.bit), d.width
		for i := range dst {
			last += least + int64(binary.LittleEndian.Uint64(src[bit>>3:])>>(bit&7)&mask)
			bit += width
			dst[i] = last << unused >> unused
		}
	default:
		for i := range dst {
			last += least + int64(loadBits(d.packed, d.bit+i*int(d.width), d.width)&mask)
			dst[i] = last << unused >> unused
		}
	}
	d.bit += len(dst) * int(d.width)
	d.last = last
}

// loadBits returns at least width bits that begin at a bit of src.
func loadBits(src []byte, bit int, width uint) uint64 {
	at, shift := bit>>3, uint(bit)&7
	if at+8 <= len(src) {
		x := binary.LittleEndian.Uint64(src[at:]) >> shift
		if shift+width > 64 {
			x |= uint64(src[at+8]) << (64 - shift)
		}
		return x
	}
	x := uint64(0)
	for i, b := range src[at:] {
		x |= uint64(b) << (8 * uint(i))
	}
	return x >> shift
}

// rest returns what follows the values, which are all passed over. d stays as it is.
func (d *delta) rest() ([]byte, error) {
	end := *d
	var scratch [512]int64
	for end.left > 0 {
		if err := end.decode(scratch[:min(end.left, len(scratch))]); err != nil {
			return nil, err
		}
	}
	return end.src, nil
}

// stringDecoder decodes strings of the encodings DELTA_LENGTH_BYTE_ARRAY (lengths, then the bytes of all) and DELTA_BYTE_ARRAY (how much
// each shares with the one before it, then the rest of each in the other encoding).
type stringDecoder struct {
	prefixes delta
	shared   bool // there are prefixes
	lengths  delta
	bytes    []byte
	last     string
	hold     func(bytes int64) error // asks for memory for strings that are put together
	owed     int64                   // bytes of them that it was not asked for yet
}

// owes is how many bytes of strings it is asked for at once.
const owes = 64 << 10

// newStrings begins to decode a page of at most so many values.
func newStrings(src []byte, most int, shared bool, hold func(bytes int64) error) (t stringDecoder, err error) {
	t = stringDecoder{shared: shared, hold: hold}
	if shared {
		if t.prefixes, err = newDelta(src, most, false); err != nil {
			return t, err
		}
		if src, err = t.prefixes.rest(); err != nil {
			return t, err
		}
	}
	if t.lengths, err = newDelta(src, most, false); err != nil {
		return t, err
	}
	t.bytes, err = t.lengths.rest()
	return t, err
}

var errStringLength = errors.New("a page has a string of a length that it cannot have")

// decode fills dst.
func (t *stringDecoder) decode(dst []string) error {
	var lengths, prefixes [256]int64
	for len(dst) > 0 {
		part := dst[:min(len(dst), len(lengths))]
		if err := t.lengths.decode(lengths[:len(part)]); err != nil {
			return err
		}
		if t.shared {
			if err := t.prefixes.decode(prefixes[:len(part)]); err != nil {
				return err
			}
		}
		for i := range part {
			n := lengths[i]
			if n < 0 || n > int64(len(t.bytes)) {
				return errStringLength
			}
			own := t.bytes[:n]
			t.bytes = t.bytes[n:]
			if !t.shared || prefixes[i] == 0 {
				part[i] = unsafe.String(unsafe.SliceData(own), len(own))
				t.last = part[i]
				continue
			}
			prefix := prefixes[i]
			switch {
			case prefix < 0 || prefix > int64(len(t.last)):
				return errStringLength
			case n == 0:
				t.last = t.last[:prefix]
			default:
				if t.owed += prefix + n; t.owed >= owes {
					if err := t.hold(t.owed); err != nil {
						return err
					}
					t.owed = 0
				}
				t.last = t.last[:prefix] + string(own)
			}
			part[i] = t.last
		}
		dst = dst[len(part):]
	}
	return nil
}

// unsplit puts together the values of a page in the encoding BYTE_STREAM_SPLIT, which holds the first bytes of all values of width
// bytes, then their second bytes and so on. dst is as long as src.
func unsplit(dst, src []byte, width int) ([]byte, error) {
	if width <= 0 || len(src)%width != 0 {
		return nil, fmt.Errorf("a page of %d bytes holds no values of %d bytes each", len(src), width)
	}
	n := len(src) / width
	for b := range width {
		for i, x := range src[b*n : b*n+n] {
			dst[i*width+b] = x
		}
	}
	return dst, nil
}
