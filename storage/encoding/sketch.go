package encoding

import (
	"bytes"
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// sketchBits gives 2^11 registers: a standard error of 1.04/sqrt(2048) = 2.3 %.
const sketchBits = 11

// Sketch estimates a number of distinct values: HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007) with linear
// counting for small numbers. Sketches of parts of a column are merged into one of the whole.
type Sketch struct{ registers [1 << sketchBits]uint8 }

// AddHash adds a value by its hash, of which all bits must be well mixed.
func (s *Sketch) AddHash(h uint64) {
	i := h >> (64 - sketchBits)
	rank := uint8(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1))) + 1
	if s.registers[i] < rank {
		s.registers[i] = rank
	}
}

// Merge adds the values of o.
func (s *Sketch) Merge(o *Sketch) {
	for i, r := range o.registers {
		s.registers[i] = max(s.registers[i], r)
	}
}

// Estimate returns the estimated number of distinct values.
func (s *Sketch) Estimate() float64 {
	const m = 1 << sketchBits
	sum, zeros := 0.0, 0
	for _, r := range s.registers {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zeros++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && zeros > 0 {
		return m * math.Log(float64(m)/float64(zeros))
	}
	return estimate
}

// Sketch returns the sketch of the chunk's values that are not NULL. It is made at the first call and kept.
func (c *Chunk) Sketch() *Sketch {
	if s := c.sketch.Load(); s != nil {
		return s
	}
	s := c.makeSketch()
	c.sketch.Store(s)
	return s
}

func (c *Chunk) makeSketch() *Sketch {
	s := &Sketch{}
	if c.NullCount == c.Rows {
		return s
	}
	isString := c.Type.Phys() == types.PhysString
	switch {
	case c.Kind == Constant:
		s.AddHash(hashValue(c.Min))
	case c.U8 != nil:
		s.addCodes(c, distinctCodes(c.U8, c.Valid, 1<<8, c.mostCodes()), isString)
	case c.U16 != nil:
		s.addCodes(c, distinctCodes(c.U16, c.Valid, 1<<16, c.mostCodes()), isString)
	case c.Kind == Dict32:
		s.addCodes(c, distinctCodes(c.U32, c.Valid, c.Dict.Len(), c.mostCodes()), isString)
	default:
		s.addValues(c)
	}
	return s
}

// mostCodes is how many different codes the chunk's rows can have at most; 0: that is not known.
func (c *Chunk) mostCodes() int {
	switch {
	case c.Dict != nil:
		return c.Dict.Len()
	case c.Min.Null || c.Max.Null || c.Type.Phys() != types.PhysInt64:
		return 0
	}
	span := uint64(c.Max.I) - uint64(c.Min.I)
	return int(min(span, 1<<32)) + 1
}

// distinctCodes marks the codes of valid rows, all of which are below limit, by ones. When it has found as many as there can be it looks at no more
// rows: often after a few thousand.
func distinctCodes[U uint8 | uint16 | uint32](codes []U, valid column.Bitmap, limit, most int) []byte {
	seen := make([]byte, limit)
	for at, step := 0, 4096; at < len(codes); step *= 2 {
		part := codes[at:min(at+step, len(codes))]
		if valid == nil {
			for _, code := range part {
				seen[code] = 1
			}
		} else {
			for i, code := range part {
				if valid.Get(at + i) {
					seen[code] = 1
				}
			}
		}
		if at += len(part); bytes.Count(seen, []byte{1}) == most {
			break
		}
	}
	return seen
}

func (s *Sketch) addCodes(c *Chunk, seen []byte, isString bool) {
	for code := bytes.IndexByte(seen, 1); code >= 0; {
		if isString {
			s.AddHash(hashString(c.Dict.Value(uint32(code))))
		} else {
			s.AddHash(mix(uint64(c.Base) + uint64(code)))
		}
		next := bytes.IndexByte(seen[code+1:], 1)
		if next < 0 {
			return
		}
		code += 1 + next
	}
}

func (s *Sketch) addValues(c *Chunk) {
	valid := func(i int) bool { return c.Valid == nil || c.Valid.Get(i) }
	switch {
	case c.Kind == FOR32 && c.Valid == nil:
		addIntegers(s, uint64(c.Base), c.U32, c.Sorted)
	case c.Kind == Raw64 && c.Valid == nil:
		addIntegers(s, 0, c.I64, c.Sorted)
	case c.Kind == FOR32:
		for i, u := range c.U32 {
			if valid(i) {
				s.AddHash(mix(uint64(c.Base) + uint64(u)))
			}
		}
	case c.Kind == Raw64:
		for i, x := range c.I64 {
			if valid(i) {
				s.AddHash(mix(uint64(x)))
			}
		}
	default:
		for i := range c.Rows {
			if valid(i) {
				s.AddHash(hashValue(c.At(i)))
			}
		}
	}
}

// addIntegers adds base + x for all values x, as AddHash does, in half the time or less: a register's rank follows from the least hash that comes to it, so that
// there is one comparison a value, without a branch. Of equal neighbours in sorted values one is added.
func addIntegers[T uint32 | int64](s *Sketch, base uint64, values []T, sorted bool) {
	var least [1 << sketchBits]uint64 // by register, the bits behind its number
	for i := range least {
		least[i] = math.MaxUint64
	}
	add := func(values []T) {
		for _, x := range values {
			h := mix(base + uint64(x))
			i := h >> (64 - sketchBits)
			least[i] = min(least[i], h<<sketchBits)
		}
	}
	if sorted {
		var different [1024]T
		for part := range slices.Chunk(values, len(different)) {
			n := 0
			for i, x := range part {
				different[n] = x
				if i+1 == len(part) || part[i+1] != x {
					n++
				}
			}
			add(different[:n])
		}
	} else {
		add(values)
	}
	for i, low := range least {
		if low != math.MaxUint64 {
			s.AddHash(uint64(i)<<(64-sketchBits) | low>>sketchBits)
		}
	}
}
