package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
)

// The functions of this file decode values of the encoding PLAIN into dst and return what follows them.

func (l *leaf) plainInts(dst []int64, src []byte) (rest []byte, err error) {
	switch {
	case l.physical == parquet.Types.Int32:
		return plainInt32(dst, src)
	case l.physical == parquet.Types.Int64:
		return plainInt64(dst, src)
	case l.physical == parquet.Types.Int96:
		return plainInt96(dst, src)
	case l.width > 0 && l.width <= 8:
		return plainFixed(dst, src, l.width)
	}
	return l.eachString(len(dst), src, func(i int, s string) (err error) {
		dst[i], err = l.shortDecimal(s)
		return err
	})
}

func (l *leaf) plainFloats(dst []float64, src []byte) (rest []byte, err error) {
	switch l.physical {
	case parquet.Types.Float:
		return plainFloat(dst, src)
	case parquet.Types.Double:
		return plainDouble(dst, src)
	}
	return plainHalf(dst, src)
}

func (l *leaf) plainWide(dst []types.Int128, src []byte) (rest []byte, err error) {
	if l.physical == parquet.Types.Int32 || l.physical == parquet.Types.Int64 {
		size := l.size()
		if len(src)/size < len(dst) {
			return nil, errCutOff
		}
		for i := range dst {
			var x [1]int64
			if src, err = l.plainInts(x[:], src); err != nil {
				return nil, err
			}
			dst[i] = types.Int128FromInt64(x[0])
		}
		return src, nil
	}
	if l.width == 0 {
		return l.eachString(len(dst), src, func(i int, s string) (err error) {
			dst[i], err = l.decimal(s)
			return err
		})
	}
	if len(src)/l.width < len(dst) {
		return nil, errCutOff
	}
	ok := true
	for i := range dst {
		if dst[i], ok = bigEndian(src[l.width*i : l.width*i+l.width]); !ok {
			return nil, arrowconv.TooManyDigits(l.typ)
		}
	}
	return src[l.width*len(dst):], nil
}

// plainStrings decodes strings, which stay where they are.
func (l *leaf) plainStrings(dst []string, src []byte) (rest []byte, err error) {
	if l.width == 0 {
		return cutStrings(dst, src)
	}
	if len(src)/l.width < len(dst) {
		return nil, errCutOff
	}
	for i := range dst {
		dst[i] = unsafe.String(unsafe.SliceData(src[l.width*i:]), l.width)
	}
	return src[l.width*len(dst):], nil
}

// eachString calls f with the next n strings.
func (l *leaf) eachString(n int, src []byte, f func(i int, s string) error) (rest []byte, err error) {
	var one [1]string
	for i := range n {
		if src, err = l.plainStrings(one[:], src); err != nil {
			return nil, err
		}
		if err := f(i, one[0]); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// decimal reads a decimal of any number of bytes, shortDecimal one whose type takes 64 bits.
func (l *leaf) decimal(s string) (types.Int128, error) {
	v, ok := bigEndian(s)
	if !ok {
		return v, arrowconv.TooManyDigits(l.typ)
	}
	return v, nil
}

func (l *leaf) shortDecimal(s string) (int64, error) {
	v, err := l.decimal(s)
	if err != nil {
		return 0, err
	}
	x, ok := v.Int64()
	if !ok {
		return 0, arrowconv.TooManyDigits(l.typ)
	}
	return x, nil
}

func plainInt32(dst []int64, src []byte) ([]byte, error) {
	if len(src)/4 < len(dst) {
		return nil, errCutOff
	}
	rest := src[4*len(dst):]
	for len(dst) >= 4 { // without a check for each value
		from, to := (*[16]byte)(src), (*[4]int64)(dst)
		x, y := binary.LittleEndian.Uint64(from[:8]), binary.LittleEndian.Uint64(from[8:])
		to[0], to[1], to[2], to[3] = int64(int32(x)), int64(x)>>32, int64(int32(y)), int64(y)>>32
		dst, src = dst[4:], src[16:]
	}
	for i := range dst {
		dst[i] = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
	}
	return rest, nil
}

func plainInt64(dst []int64, src []byte) ([]byte, error) {
	rest, err := plainWords(dst, src)
	if err == nil && !isLittleEndian {
		for i, x := range dst {
			dst[i] = int64(bits.ReverseBytes64(uint64(x)))
		}
	}
	return rest, err
}

// isLittleEndian says whether the machine stores integers as Parquet does.
var isLittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// plainWords copies values of 8 bytes as they stand in src.
func plainWords[T int64 | float64](dst []T, src []byte) (rest []byte, err error) {
	n := 8 * len(dst)
	if len(src) < n {
		return nil, errCutOff
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), n), src)
	return src[n:], nil
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
	rest, err := plainWords(dst, src)
	if err == nil && !isLittleEndian {
		for i, x := range dst {
			dst[i] = math.Float64frombits(bits.ReverseBytes64(math.Float64bits(x)))
		}
	}
	return rest, err
}

// plainHalf decodes floats of 16 bits.
func plainHalf(dst []float64, src []byte) ([]byte, error) {
	if len(src)/2 < len(dst) {
		return nil, errCutOff
	}
	for i := range dst {
		dst[i] = float64(float16.FromBits(binary.LittleEndian.Uint16(src[2*i:])).Float32())
	}
	return src[2*len(dst):], nil
}

// plainInt96 decodes moments as they were written before there was a type for them: the nanoseconds of a day in 64 bits, and its
// Julian number in 32. They become microseconds since 1970. Those that no calendar has become the greatest.
func plainInt96(dst []int64, src []byte) ([]byte, error) {
	const epoch, day, reach = 2440588, 86_400_000_000, 100_000_000
	if len(src)/12 < len(dst) {
		return nil, errCutOff
	}
	for i := range dst {
		nanos, days := int64(binary.LittleEndian.Uint64(src[12*i:])), int64(binary.LittleEndian.Uint32(src[12*i+8:]))
		micros := nanos / 1000
		if nanos%1000 < 0 {
			micros--
		}
		if dst[i] = (days-epoch)*day + micros; days > reach || micros > 2*day || micros < -2*day {
			dst[i] = math.MaxInt64
		}
	}
	return src[12*len(dst):], nil
}

// plainFixed decodes big-endian integers of width bytes, at most 8: decimals.
func plainFixed(dst []int64, src []byte, width int) ([]byte, error) {
	if len(src)/width < len(dst) {
		return nil, errCutOff
	}
	shift := 64 - 8*uint(width)
	i := 0
	for ; i < len(dst) && width*i+8 <= len(src); i++ {
		dst[i] = int64(binary.BigEndian.Uint64(src[width*i:])) >> (shift & 63)
	}
	for ; i < len(dst); i++ {
		x := uint64(0)
		for _, b := range src[width*i : width*i+width] {
			x = x<<8 | uint64(b)
		}
		dst[i] = int64(x<<shift) >> shift
	}
	return src[width*len(dst):], nil
}

// bigEndian reads a signed integer of any number of bytes; ok says whether 128 bits hold it.
func bigEndian[T string | []byte](b T) (v types.Int128, ok bool) {
	if len(b) == 0 {
		return v, false
	}
	sign := int8(b[0]) >> 7
	for len(b) > 16 {
		if int8(b[0]) != sign || int8(b[1])>>7 != sign {
			return v, false
		}
		b = b[1:]
	}
	v = types.Int128FromInt64(int64(int8(b[0])))
	for i := 1; i < len(b); i++ {
		v.Hi = v.Hi<<8 | int64(v.Lo>>56)
		v.Lo = v.Lo<<8 | uint64(b[i])
	}
	return v, true
}

// cutStrings decodes strings of bytes behind their lengths. They stay where they are.
func cutStrings(dst []string, src []byte) ([]byte, error) {
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

// passStrings passes over n strings of bytes behind their lengths.
func passStrings(n int, src []byte) ([]byte, error) {
	for range n {
		if len(src) < 4 {
			return nil, errCutOff
		}
		size := uint(binary.LittleEndian.Uint32(src))
		if size > uint(len(src)-4) {
			return nil, errCutOff
		}
		src = src[4+size:]
	}
	return src, nil
}
