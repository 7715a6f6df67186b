package encoding

import (
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Encode returns d in the narrowest encoding that needs no table-wide state: strings stay raw unless d has codes. It
// takes d's slices over. See [Encoder] for columns of strings.
func Encode(d Data) *Chunk {
	c := &Chunk{Type: d.Type, Rows: d.Rows, Valid: d.Valid, NullCount: d.Valid.CountZeros(d.Rows)}
	c.Min, c.Max = types.NullOf(d.Type), types.NullOf(d.Type)
	if c.NullCount == 0 {
		c.Valid = nil
	}
	if c.NullCount == c.Rows {
		c.Kind, c.Valid, c.Dict = Constant, nil, d.Dict
		c.Sorted = c.Rows == 0
		return c
	}
	switch d.Type.Phys() {
	case types.PhysFloat64:
		c.encodeFloats(d.Floats[:d.Rows])
	case types.PhysInt128:
		c.encodeWide(d.Wide[:d.Rows])
	case types.PhysString:
		switch {
		case d.Dict != nil:
			c.encodeCodes(d.Dict, d.Codes[:d.Rows])
		case d.Codes != nil:
			d.decode()
			c.encodeStrings(d.Strings)
		case d.Offsets != nil:
			if d.NoBounds {
				c.Kind, c.Offsets, c.Bytes = RawString, d.Offsets[:d.Rows+1], d.Bytes
				break
			}
			c.encodeBytes(d.Offsets[:d.Rows+1], d.Bytes)
		default:
			c.encodeStrings(d.Strings[:d.Rows])
		}
	case types.PhysUint64:
		c.encodeInts(d.pieces(), 1<<63, d.KeepsInts)
	case types.PhysInt64:
		if d.Scattered {
			c.Kind, c.I64 = Raw64, d.Ints[:d.Rows]
			c.Min, c.Max = types.Value{Type: d.Type, I: math.MinInt64}, types.Value{Type: d.Type, I: math.MaxInt64}
			break
		}
		c.encodeInts(d.pieces(), 0, d.KeepsInts)
	}
	if d.Spare != nil && c.I64 == nil {
		d.Spare.Give(d.Ints)
	}
	return c
}

// firstValid is the position of the first value that is not NULL; there is one.
func (c *Chunk) firstValid() int {
	if c.Valid == nil {
		return 0
	}
	i := 0
	for !c.Valid.Get(i) {
		i++
	}
	return i
}

// encodeInts encodes integers whose order is that of their signed value after flip was xored to it: 1<<63 for unsigned
// ones. They come in pieces, in one if some are NULL. With keep it does not narrow them.
func (c *Chunk) encodeInts(pieces [][]int64, flip uint64, keep bool) {
	x := pieces[0]
	lo := x[c.firstValid()]
	if c.Valid != nil {
		for i := range x {
			if !c.Valid.Get(i) {
				x[i] = lo
			}
		}
	}
	minimum, maximum, sorted := intBounds(pieces, int64(flip))
	c.Sorted = sorted && c.Valid == nil
	c.Min = types.Value{Type: c.Type, I: minimum}
	c.Max = types.Value{Type: c.Type, I: maximum}
	c.Base = minimum
	c.Kind = intKind(minimum, maximum)
	if keep && c.Kind != Constant {
		c.Kind = Raw64
	}
	switch c.Kind {
	case FOR8:
		c.U8 = narrow[uint8](pieces, c.Rows, minimum)
	case FOR16:
		c.U16 = narrow[uint16](pieces, c.Rows, minimum)
	case FOR32:
		c.U32 = narrow[uint32](pieces, c.Rows, minimum)
	case Raw64:
		if c.Base = 0; len(pieces) > 1 {
			x = slices.Concat(pieces...)
		}
		c.I64 = x
		return
	}
	// NULLs hold the first value so far; the contract promises Base.
	if c.Valid != nil && lo != minimum {
		for i := range x {
			if !c.Valid.Get(i) {
				switch c.Kind {
				case FOR8:
					c.U8[i] = 0
				case FOR16:
					c.U16[i] = 0
				case FOR32:
					c.U32[i] = 0
				}
			}
		}
	}
}

// boundsOf returns the least and the greatest of integers with flip xored to them. Two pairs of bounds take less time than one, of which each value waits for the one before.
func boundsOf(x []int64, flip int64) (lo, hi int64) {
	a, b := x[0]^flip, x[0]^flip
	c, d := a, b
	for ; len(x) >= 4; x = x[4:] {
		v, w, y, z := x[0]^flip, x[1]^flip, x[2]^flip, x[3]^flip
		a, b = min(a, min(v, w)), max(b, max(v, w))
		c, d = min(c, min(y, z)), max(d, max(y, z))
	}
	for _, v := range x {
		a, b = min(a, v^flip), max(b, v^flip)
	}
	return min(a, c), max(b, d)
}

// ascending says whether integers with flip xored to them ascend.
func ascending(x []int64, flip int64) bool {
	previous := x[0] ^ flip
	for _, v := range x {
		if v ^= flip; v < previous {
			return false
		}
		previous = v
	}
	return true
}

// intKind is the narrowest encoding of integers, given their bounds in the type's order.
func intKind(minimum, maximum int64) Kind {
	switch span := uint64(maximum) - uint64(minimum); {
	case span == 0:
		return Constant
	case span <= math.MaxUint8:
		return FOR8
	case span <= math.MaxUint16:
		return FOR16
	case span <= math.MaxUint32:
		return FOR32
	}
	return Raw64
}

// intBounds returns the least and the greatest of integers in the order of flip, and whether they ascend.
func intBounds(pieces [][]int64, flip int64) (minimum, maximum int64, sorted bool) {
	minimum = pieces[0][0] ^ flip
	maximum, sorted = minimum, true
	previous := minimum
	for _, x := range pieces {
		first := x[0] ^ flip
		if sorted = sorted && first >= previous && ascending(x, flip); sorted {
			previous = x[len(x)-1] ^ flip
			maximum = previous
			continue
		}
		lo, hi := boundsOf(x, flip)
		minimum, maximum = min(minimum, lo), max(maximum, hi)
	}
	return minimum ^ flip, maximum ^ flip, sorted
}

// narrow returns the distances of so many values, in pieces, from base.
func narrow[U uint8 | uint16 | uint32](pieces [][]int64, rows int, base int64) []U {
	out := make([]U, rows)
	rest := out
	for _, x := range pieces {
		part := rest[:len(x)]
		for i, v := range x {
			part[i] = U(v - base)
		}
		rest = rest[len(x):]
	}
	return out
}

func (c *Chunk) encodeFloats(x []float64) {
	first := x[c.firstValid()]
	minimum, maximum, previous, sorted, same, isNumber := first, first, math.Inf(-1), true, true, true
	for i, v := range x {
		if c.Valid != nil && !c.Valid.Get(i) {
			x[i] = 0
			continue
		}
		minimum, maximum = min(minimum, v), max(maximum, v)
		sorted = sorted && v >= previous
		previous = v
		same = same && math.Float64bits(v) == math.Float64bits(first)
		isNumber = isNumber && v == v
	}
	c.Kind, c.F64 = RawFloat, x
	if !isNumber {
		minimum, maximum, sorted = c.floatZone(x)
	}
	c.Sorted = sorted && c.Valid == nil
	c.Min = types.Value{Type: c.Type, F: minimum}
	c.Max = types.Value{Type: c.Type, F: maximum}
	if same {
		c.Kind, c.F64 = Constant, nil
	}
}

// floatZone is what encodeFloats finds of values with NaN among them, which the processor's comparisons do not order.
func (c *Chunk) floatZone(x []float64) (minimum, maximum float64, sorted bool) {
	minimum = x[c.firstValid()]
	maximum, sorted = minimum, true
	previous := minimum
	for i, v := range x {
		if c.Valid != nil && !c.Valid.Get(i) {
			continue
		}
		if types.LessFloats(v, minimum) {
			minimum = v
		}
		if types.LessFloats(maximum, v) {
			maximum = v
		}
		sorted = sorted && !types.LessFloats(v, previous)
		previous = v
	}
	return minimum, maximum, sorted
}

func (c *Chunk) encodeWide(x []types.Int128) {
	first := x[c.firstValid()]
	minimum, maximum, previous, sorted := first, first, types.MinInt128, true
	for i, v := range x {
		if c.Valid != nil && !c.Valid.Get(i) {
			x[i] = types.Int128{}
			continue
		}
		if v.Less(minimum) {
			minimum = v
		}
		if maximum.Less(v) {
			maximum = v
		}
		sorted = sorted && !v.Less(previous)
		previous = v
	}
	c.Sorted = sorted && c.Valid == nil
	c.Min = types.Value{Type: c.Type, D: minimum}
	c.Max = types.Value{Type: c.Type, D: maximum}
	if c.Kind = Raw128; minimum == maximum {
		c.Kind = Constant
		return
	}
	c.I128 = x
}

// encodeCodes encodes a dictionary-coded column. Min and Max are over the strings that occur.
func (c *Chunk) encodeCodes(dict *column.Dictionary, codes []uint32) {
	c.Dict = dict
	values := dict.Values()
	first := codes[c.firstValid()]
	if c.Valid != nil {
		for i := range codes {
			if !c.Valid.Get(i) {
				codes[i] = first
			}
		}
	}
	c.Sorted = c.Valid == nil && ascendingCodes(codes, values)
	seen := codesIn(codes, len(values))
	minimum, maximum, distinct, top := values[first], values[first], 0, 0
	for code, s := range values {
		if seen.Get(code) {
			minimum, maximum = min(minimum, s), max(maximum, s)
			distinct++
			top = code
		}
	}
	c.Min = types.Value{Type: c.Type, S: minimum}
	c.Max = types.Value{Type: c.Type, S: maximum}
	switch {
	case distinct == 1:
		c.Kind, c.Base = Constant, int64(first)
	case top <= math.MaxUint8:
		c.Kind, c.U8 = Dict8, narrowCodes[uint8](codes)
	case top <= math.MaxUint16:
		c.Kind, c.U16 = Dict16, narrowCodes[uint16](codes)
	default:
		c.Kind, c.U32 = Dict32, codes
	}
}

// ascendingCodes says whether the strings that codes stand for ascend.
func ascendingCodes(codes []uint32, values []string) bool {
	previous := codes[0]
	for _, code := range codes {
		if code != previous {
			if values[previous] > values[code] {
				return false
			}
			previous = code
		}
	}
	return true
}

// codesIn returns which codes below n there are.
func codesIn(codes []uint32, n int) column.Bitmap {
	out := column.NewBitmap(n, false)
	if n <= 64 { // a word that stays in memory would have each code wait for the one before
		word := uint64(0)
		for _, code := range codes {
			word |= 1 << (code & 63)
		}
		out[0] = word
		return out
	}
	seen := make([]bool, n)
	for _, code := range codes {
		seen[code] = true
	}
	for code, is := range seen {
		if is {
			out.Set(code)
		}
	}
	return out
}

func narrowCodes[U uint8 | uint16](codes []uint32) []U {
	out := make([]U, len(codes))
	for i, code := range codes {
		out[i] = U(code)
	}
	return out
}

func (c *Chunk) encodeStrings(x []string) {
	size := 0
	for i, s := range x {
		if c.Valid == nil || c.Valid.Get(i) {
			size += len(s)
		}
	}
	offsets, bytes := make([]uint32, len(x)+1), make([]byte, 0, size)
	for i, s := range x {
		if c.Valid == nil || c.Valid.Get(i) {
			bytes = append(bytes, s...)
		}
		offsets[i+1] = uint32(len(bytes))
	}
	c.encodeBytes(offsets, bytes)
}

func (c *Chunk) encodeBytes(offsets []uint32, bytes []byte) {
	c.Kind, c.Offsets, c.Bytes = RawString, offsets, bytes
	first := c.rawString(c.firstValid())
	minimum, maximum, previous, sorted := first, first, "", true
	for i := range c.Rows {
		if c.Valid != nil && !c.Valid.Get(i) {
			continue
		}
		s := c.rawString(i)
		if s < minimum {
			minimum = s
		} else if s > maximum {
			maximum = s
		}
		sorted = sorted && previous <= s
		previous = s
	}
	c.Sorted = sorted && c.Valid == nil
	c.Min = types.Value{Type: c.Type, S: minimum}
	c.Max = types.Value{Type: c.Type, S: maximum}
	if minimum == maximum {
		c.setConstant(minimum, len(bytes))
	}
}

// setConstant makes s the value of all rows. It was a piece of an array of so many bytes, which does not stay for its sake.
func (c *Chunk) setConstant(s string, bytes int) {
	if len(s) < bytes {
		s = strings.Clone(s)
	}
	c.Kind, c.Offsets, c.Bytes = Constant, nil, nil
	c.Min = types.Value{Type: c.Type, S: s}
	c.Max = c.Min
}

// rawString returns string i of a RawString chunk without copying it: a chunk never changes, and the string keeps its
// bytes alive.
func (c *Chunk) rawString(i int) string {
	return stringOf(c.Bytes[c.Offsets[i]:c.Offsets[i+1]])
}

// stringOf returns bytes that will not change as a string without copying them.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
