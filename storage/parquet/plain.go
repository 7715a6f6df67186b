package parquet

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
)

// The functions of this file decode values of the encoding PLAIN into dst and return what follows them.

func plainInt32(dst []int64, src []byte) ([]byte, error) {
	if len(src)/4 < len(dst) {
		return nil, errCutOff
	}
	for i := range dst {
		dst[i] = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
	}
	return src[4*len(dst):], nil
}

func plainInt64(dst []int64, src []byte) ([]byte, error) {
	if len(src)/8 < len(dst) {
		return nil, errCutOff
	}
	for i := range dst {
		dst[i] = int64(binary.LittleEndian.Uint64(src[8*i:]))
	}
	return src[8*len(dst):], nil
}

func plainFloat(dst []float64, src []byte) ([]byte, error) {
	if len(src)/4 < len(dst) {
		return nil, errCutOff
	}
	for i := range dst {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
	}
	return src[4*len(dst):], nil
}

func plainDouble(dst []float64, src []byte) ([]byte, error) {
	if len(src)/8 < len(dst) {
		return nil, errCutOff
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
	}
	return src[8*len(dst):], nil
}

// plainFixed decodes big-endian integers of width bytes: decimals. Those of more than 8 bytes whose value needs more than
// 64 bits are told by ok.
func plainFixed(dst []int64, src []byte, width int) (rest []byte, ok bool, err error) {
	if width == 0 || len(src)/width < len(dst) {
		return nil, false, errCutOff
	}
	if width > 8 {
		for i := range dst {
			if dst[i], ok = bigEndian(src[width*i : width*i+width]).Int64(); !ok {
				return nil, false, nil
			}
		}
		return src[width*len(dst):], true, nil
	}
	shift := 64 - 8*uint(width)
	for i := range dst {
		x := uint64(0)
		for _, b := range src[width*i : width*i+width] {
			x = x<<8 | uint64(b)
		}
		dst[i] = int64(x<<shift) >> shift
	}
	return src[width*len(dst):], true, nil
}

// plainWide decodes big-endian integers of width bytes, at most 16.
func plainWide(dst []types.Int128, src []byte, width int) ([]byte, error) {
	if width == 0 || len(src)/width < len(dst) {
		return nil, errCutOff
	}
	for i := range dst {
		dst[i] = bigEndian(src[width*i : width*i+width])
	}
	return src[width*len(dst):], nil
}

// bigEndian reads a signed integer of 1 to 16 bytes.
func bigEndian(b []byte) types.Int128 {
	v := types.Int128FromInt64(int64(int8(b[0])))
	for _, x := range b[1:] {
		v.Hi = v.Hi<<8 | int64(v.Lo>>56)
		v.Lo = v.Lo<<8 | uint64(x)
	}
	return v
}

// plainStrings decodes strings of bytes, which stay where they are.
func plainStrings(dst []string, src []byte) ([]byte, error) {
	for i := range dst {
		if len(src) < 4 {
			return nil, errCutOff
		}
		n := uint(binary.LittleEndian.Uint32(src))
		if n > uint(len(src)-4) {
			return nil, errCutOff
		}
		dst[i] = unsafe.String(unsafe.SliceData(src[4:]), int(n))
		src = src[4+n:]
	}
	return src, nil
}
