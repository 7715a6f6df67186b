package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/pierrec/lz4/v4"
)

// unpackFrames decompresses LZ4 frames (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md) that give size bytes together.
// The library's reader of frames takes the checksum of a block for one of its decompressed bytes, and so refuses the frames of other
// writers that have some.
func unpackFrames(dst, src []byte, size int) ([]byte, error) {
	out := sized(dst, size)[:0]
	for len(src) > 0 {
		var err error
		if out, src, err = unpackFrame(out, src); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var (
	errFrameEnds = errors.New("a frame ends in its middle")
	errFrameSum  = errors.New("a checksum does not match")
)

// unpackFrame adds what the first frame of src holds to out, within its capacity, and returns what follows the frame.
func unpackFrame(out, src []byte) (_, rest []byte, err error) {
	const magic = 0x184D2204
	if len(src) < 7 || binary.LittleEndian.Uint32(src) != magic {
		return nil, nil, errors.New("it does not begin as an LZ4 frame does")
	}
	flags, sizes, head := src[4], src[5], 6
	if flags&0b1000 != 0 {
		head += 8 // the size of the content, which the caller knows
	}
	independent, hasBlockSums, hasSum := flags&0b100000 != 0, flags&0b10000 != 0, flags&0b100 != 0
	code := sizes >> 4 & 7
	switch {
	case flags>>6 != 1 || flags&2 != 0 || code < 4:
		return nil, nil, errors.New("the frame's header is of no known version")
	case flags&1 != 0:
		return nil, nil, errors.New("the frame needs a dictionary")
	case len(src) <= head:
		return nil, nil, errFrameEnds
	case byte(xxh32(src[4:head])>>8) != src[head]:
		return nil, nil, errFrameSum
	}
	most, begin := 1<<(8+2*int(code)), len(out) // of a block; of the content
	for src = src[head+1:]; ; {
		if len(src) < 4 {
			return nil, nil, errFrameEnds
		}
		n := binary.LittleEndian.Uint32(src)
		if src = src[4:]; n == 0 {
			break
		}
		stored := n>>31 != 0
		n &^= 1 << 31
		end := uint64(n)
		if hasBlockSums {
			end += 4
		}
		if uint64(len(src)) < end {
			return nil, nil, errFrameEnds
		}
		block := src[:n]
		if hasBlockSums && xxh32(block) != binary.LittleEndian.Uint32(src[n:]) {
			return nil, nil, errFrameSum
		}
		src = src[end:]
		left := min(most, cap(out)-len(out))
		if stored {
			if len(block) > left {
				return nil, nil, fmt.Errorf("it gives more than %d bytes", cap(out))
			}
			out = append(out, block...)
			continue
		}
		var before []byte // what the block may refer to
		if !independent {
			before = out[max(begin, len(out)-64<<10):]
		}
		written, err := lz4Block(out[len(out):len(out)+left], block, before)
		if err != nil {
			return nil, nil, err
		}
		out = out[:len(out)+written]
	}
	if hasSum {
		if len(src) < 4 {
			return nil, nil, errFrameEnds
		}
		if xxh32(out[begin:]) != binary.LittleEndian.Uint32(src) {
			return nil, nil, errFrameSum
		}
		src = src[4:]
	}
	return out, src, nil
}

// lz4Block decompresses a block, which may refer to what came before it, and returns the bytes that it gives.
func lz4Block(dst, block, before []byte) (int, error) {
	if len(dst) > 0 {
		return lz4.UncompressBlockWithDict(block, dst, before)
	}
	var spare [1]byte // the library's assembly reads through a nil pointer where there is no destination
	n, err := lz4.UncompressBlockWithDict(block, spare[:], before)
	if err == nil && n > 0 {
		err = errors.New("it gives more than 0 bytes")
	}
	return 0, err
}

// xxh32 is the 32-bit xxHash of b, with the seed 0 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
func xxh32(b []byte) uint32 {
	const p1, p2, p3, p4, p5 uint32 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	h, n := p5, uint32(len(b))
	if len(b) >= 16 {
		zero := uint32(0)
		lanes := [4]uint32{zero + p1 + p2, p2, 0, zero - p1}
		for ; len(b) >= 16; b = b[16:] {
			for i := range lanes {
				lanes[i] = bits.RotateLeft32(lanes[i]+binary.LittleEndian.Uint32(b[4*i:])*p2, 13) * p1
			}
		}
		h = bits.RotateLeft32(lanes[0], 1) + bits.RotateLeft32(lanes[1], 7) + bits.RotateLeft32(lanes[2], 12) + bits.RotateLeft32(lanes[3], 18)
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*p3, 17) * p4
	}
	for _, x := range b {
		h = bits.RotateLeft32(h+uint32(x)*p5, 11) * p1
	}
	h ^= h >> 15
	h *= p2
	h ^= h >> 13
	h *= p3
	return h ^ h>>16
}
