package encoding

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
)

// Outcome is what is known of a test before looking at rows.
type Outcome uint8

// The outcomes.
const (
	Some Outcome = iota // some rows may pass
	None                // no row passes
	All                 // every row passes
)

// Test is a predicate compiled for one chunk: its bounds are translated to the encoded values. It is immutable.
type Test struct {
	chunk   *Chunk
	outcome Outcome
	// Some: run selects among n rows from from. It may pass NULLs if passesNulls is set; they are removed afterwards.
	run         func(from, n int, in, out []int32) int
	passesNulls bool
}

// Outcome says whether the zone map decides.
func (t *Test) Outcome() Outcome { return t.outcome }

// Select returns the positions p of in (nil: all of 0 .. n-1), ascending, for which row from+p passes. The result lies
// in out's memory, whose capacity is as many positions as are tested; out may be in's own memory. If every row passes
// and in is nil, the positions are written out all the same: ask Outcome first.
func (t *Test) Select(from, n int, in, out []int32) []int32 {
	switch t.outcome {
	case None:
		return out[:0]
	case All:
		if in != nil {
			out = out[:len(in)]
			copy(out, in)
			return out
		}
		out = out[:n]
		for i := range out {
			out[i] = int32(i)
		}
		return out
	}
	if in == nil {
		out = out[:n]
	} else {
		out = out[:len(in)]
	}
	if len(out) == 0 {
		return out
	}
	k := t.run(from, n, in, out)
	if t.passesNulls && k > 0 {
		k = selectBits(t.chunk.Valid, from, n, false, out[:k], out)
	}
	return out[:k]
}

// CompileTest compiles p for a chunk of the type that p's values have.
func CompileTest(c *Chunk, p *Predicate) *Test {
	t := &Test{chunk: c, passesNulls: c.Valid != nil}
	switch {
	case p.kind == isNull || p.kind == isNotNull:
		t.compileNull(p.kind == isNull)
		return t
	case p.kind == never || c.NullCount == c.Rows:
		t.outcome = None
		return t
	}
	switch c.Type.Phys() {
	case types.PhysFloat64:
		t.compileFloat(p)
	case types.PhysInt128:
		t.compileWide(p)
	case types.PhysString:
		t.compileString(p)
	case types.PhysUint64:
		t.compileInt(p, math.MinInt64)
	default:
		t.compileInt(p, 0)
	}
	if t.outcome == All && c.NullCount > 0 {
		t.compileNull(false)
	}
	return t
}

func (t *Test) compileNull(want bool) {
	c := t.chunk
	t.passesNulls = false
	switch {
	case c.NullCount == 0:
		t.decide(!want)
	case c.NullCount == c.Rows:
		t.decide(want)
	default:
		t.outcome = Some
		t.run = func(from, n int, in, out []int32) int { return selectBits(c.Valid, from, n, want, in, out) }
	}
}

func (t *Test) decide(all bool) {
	if t.outcome = None; all {
		t.outcome = All
	}
}

// compileInt handles integers; flip is xored to them to make their order that of signed ones.
func (t *Test) compileInt(p *Predicate, flip int64) {
	c := t.chunk
	if p.kind == inSet || p.kind == notInSet {
		t.compileIntSet(p.ints, p.kind == notInSet)
		return
	}
	negate := p.kind == outsideInterval
	lo, hi, empty := p.intInterval(flip)
	low, high := c.Min.I^flip, c.Max.I^flip
	switch {
	case empty || hi < low || high < lo:
		t.decide(negate)
		return
	case lo <= low && high <= hi:
		t.decide(!negate)
		return
	}
	lo, hi = max(lo, low)^flip, min(hi, high)^flip
	if c.Sorted && !negate {
		if c.Kind == Raw64 {
			t.compileSorted(func(i int) bool { return c.I64[i]^flip >= lo^flip }, func(i int) bool { return c.I64[i]^flip > hi^flip })
		} else {
			first, last := uint64(lo)-uint64(c.Base), uint64(hi)-uint64(c.Base)
			t.compileSorted(func(i int) bool { return c.offset(i) >= first }, func(i int) bool { return c.offset(i) > last })
		}
		return
	}
	if c.Kind == Raw64 {
		span := uint64(hi) - uint64(lo)
		t.run = func(from, n int, in, out []int32) int {
			return selectRange64(c.I64[from:from+n], uint64(lo), span, negate, in, out)
		}
		return
	}
	t.compileCodes(lo-c.Base, hi-c.Base, negate)
}

// offset returns the encoded value of row i, which is an offset of 8, 16 or 32 bits.
func (c *Chunk) offset(i int) uint64 {
	switch {
	case c.U8 != nil:
		return uint64(c.U8[i])
	case c.U16 != nil:
		return uint64(c.U16[i])
	default:
		return uint64(c.U32[i])
	}
}

// compileSorted makes the test of a contiguous run of rows: those from the first for which atLeast is true up to the
// first for which beyond is true.
func (t *Test) compileSorted(atLeast, beyond func(row int) bool) {
	first := search(t.chunk.Rows, atLeast)
	last := search(t.chunk.Rows, beyond)
	if first >= last {
		t.outcome = None
		return
	}
	t.run = func(from, n int, in, out []int32) int { return selectRows(n, first-from, last-from, in, out) }
}

func search(n int, f func(int) bool) int {
	lo, hi := 0, n
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); f(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// compileCodes makes the test lo <= encoded value <= hi.
func (t *Test) compileCodes(lo, hi int64, negate bool) {
	c := t.chunk
	switch {
	case c.U8 != nil: // a table in the first level of the cache takes less than two comparisons
		table := make([]uint8, math.MaxUint8+1)
		for x := range table {
			table[x] = uint8(one((lo <= int64(x) && int64(x) <= hi) != negate))
		}
		t.compileTable(table)
	case c.U16 != nil && negate:
		t.run = func(from, n int, in, out []int32) int { return selectOutside(c.U16[from:from+n], lo, hi, in, out) }
	case c.U16 != nil:
		t.run = func(from, n int, in, out []int32) int { return selectRange(c.U16[from:from+n], lo, hi, in, out) }
	case negate:
		t.run = func(from, n int, in, out []int32) int { return selectOutside(c.U32[from:from+n], lo, hi, in, out) }
	default:
		t.run = func(from, n int, in, out []int32) int { return selectRange(c.U32[from:from+n], lo, hi, in, out) }
	}
}

// compileTable makes the test of a table by encoded value; it must cover all of the chunk's.
func (t *Test) compileTable(table []uint8) {
	c := t.chunk
	switch {
	case c.U8 != nil:
		t.run = func(from, n int, in, out []int32) int { return selectTable(c.U8[from:from+n], table, in, out) }
	case c.U16 != nil:
		t.run = func(from, n int, in, out []int32) int { return selectTable(c.U16[from:from+n], table, in, out) }
	default:
		t.run = func(from, n int, in, out []int32) int { return selectTable(c.U32[from:from+n], table, in, out) }
	}
}

// TableEntries bounds the entries of the table by encoded value that compiling p for a chunk of integers makes; 0: it makes none.
func (p *Predicate) TableEntries(c *Chunk) int {
	if p.ints == nil || c.Kind != FOR8 && c.Kind != FOR16 {
		return 0
	}
	return int(uint64(c.Max.I)-uint64(c.Base)) + 1
}

func (t *Test) compileIntSet(s *IntSet, negate bool) {
	c := t.chunk
	if c.Type.Phys() == types.PhysInt64 {
		s = s.between(c.Min.I, c.Max.I)
	}
	switch {
	case s.count == 0:
		t.decide(negate)
		return
	case c.Kind == Constant:
		t.decide(s.Contains(c.Min.I) != negate)
		return
	case c.Type.Phys() == types.PhysInt64 && (s.max < c.Min.I || c.Max.I < s.min):
		t.decide(negate)
		return
	}
	flip := 0
	if negate {
		flip = 1
	}
	switch c.Kind {
	case FOR8, FOR16:
		table := make([]uint8, uint64(c.Max.I)-uint64(c.Base)+1)
		switch s.mark(table, c.Base, uint8(flip)) {
		case 0:
			t.outcome = None
		case len(table):
			t.outcome = All
		default:
			t.compileTable(table)
		}
	case FOR32:
		t.run = func(from, n int, in, out []int32) int {
			return selectSet(c.U32[from:from+n], c.Base, s, flip, in, out)
		}
	default:
		t.run = func(from, n int, in, out []int32) int {
			return selectSet(c.I64[from:from+n], 0, s, flip, in, out)
		}
	}
}

func (t *Test) compileFloat(p *Predicate) {
	c := t.chunk
	if p.kind == inSet || p.kind == notInSet {
		want := p.kind == inSet
		in := func(f float64) bool {
			for i := range p.values {
				if types.EqualFloats(p.values[i].F, f) {
					return true
				}
			}
			return false
		}
		if c.Kind == Constant {
			t.decide(in(c.Min.F) == want)
			return
		}
		t.run = func(from, n int, sel, out []int32) int {
			src := c.F64[from : from+n]
			return selectFunc(n, sel, out, func(i int32) bool { return in(src[i]) == want })
		}
		return
	}
	negate := p.kind == outsideInterval
	lo, hi, empty := p.floatInterval()
	switch hasZone := !c.Min.Null; {
	case empty || hasZone && (types.LessFloats(hi, c.Min.F) || types.LessFloats(c.Max.F, lo)):
		t.decide(negate)
		return
	case hasZone && !types.LessFloats(c.Min.F, lo) && !types.LessFloats(hi, c.Max.F):
		t.decide(!negate)
		return
	}
	t.run = func(from, n int, in, out []int32) int {
		return selectFloats(c.F64[from:from+n], lo, hi, negate, in, out)
	}
}

func (t *Test) compileWide(p *Predicate) {
	c := t.chunk
	if p.kind == inSet || p.kind == notInSet {
		want := p.kind == inSet
		set := make(map[types.Int128]struct{}, len(p.values))
		for _, v := range p.values {
			set[v.D] = struct{}{}
		}
		if c.Kind == Constant {
			_, ok := set[c.Min.D]
			t.decide(ok == want)
			return
		}
		t.run = func(from, n int, in, out []int32) int {
			src := c.I128[from : from+n]
			return selectFunc(n, in, out, func(i int32) bool { _, ok := set[src[i]]; return ok == want })
		}
		return
	}
	negate := p.kind == outsideInterval
	lo, hi, empty := p.wideInterval()
	switch {
	case empty || hi.Less(c.Min.D) || c.Max.D.Less(lo):
		t.decide(negate)
		return
	case !c.Min.D.Less(lo) && !hi.Less(c.Max.D):
		t.decide(!negate)
		return
	}
	t.run = func(from, n int, in, out []int32) int {
		return selectWide(c.I128[from:from+n], lo, hi, negate, in, out)
	}
}

func (t *Test) compileString(p *Predicate) {
	c := t.chunk
	if c.Kind == Constant {
		t.decide(p.holdsString(c.Min.S))
		return
	}
	if p.kind == inInterval || p.kind == outsideInterval {
		if !c.Min.Null && t.stringZone(p) {
			return
		}
		if c.Dict != nil && p.lo.present && p.lo == p.hi {
			// Equality: the code is looked up.
			code, ok := c.Dict.Lookup(p.lo.value.S)
			if !ok {
				t.decide(p.kind == outsideInterval)
				return
			}
			t.compileCode(code, p.kind == outsideInterval)
			return
		}
	}
	if c.Dict != nil {
		t.compileDictionary(p.table(c.Dict))
		return
	}
	if p.kind == inInterval || p.kind == outsideInterval {
		t.run = t.rawInterval(p)
		return
	}
	t.run = func(from, n int, in, out []int32) int {
		return selectFunc(n, in, out, func(i int32) bool { return p.holdsString(c.rawString(from + int(i))) })
	}
}

// rawInterval tests an interval of raw strings. The first eight bytes decide, unless they are a bound's.
func (t *Test) rawInterval(p *Predicate) func(from, n int, in, out []int32) int {
	c, inside := t.chunk, p.kind == inInterval
	lo, hi := uint64(0), uint64(math.MaxUint64)
	if p.lo.present {
		lo = prefix(unsafe.Slice(unsafe.StringData(p.lo.value.S), len(p.lo.value.S)))
	}
	if p.hi.present {
		hi = prefix(unsafe.Slice(unsafe.StringData(p.hi.value.S), len(p.hi.value.S)))
	}
	return func(from, n int, in, out []int32) int {
		offsets := c.Offsets[from : from+n+1]
		return selectFunc(n, in, out, func(i int32) bool {
			b := c.Bytes[offsets[i]:offsets[i+1]]
			switch x := prefix(b); {
			case x > lo && x < hi:
				return inside
			case x < lo || x > hi:
				return !inside
			}
			return p.holdsString(stringOf(b))
		})
	}
}

// prefix returns a number of the first eight bytes of b. Strings are ordered as their prefixes are, unless these are equal.
func prefix(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	x := uint64(0)
	for i, c := range b {
		x |= uint64(c) << (56 - 8*i)
	}
	return x
}

// stringZone decides an interval by the zone map where it can.
func (t *Test) stringZone(p *Predicate) bool {
	c := t.chunk
	negate := p.kind == outsideInterval
	below := func(s string) bool { // s is below the interval
		return p.lo.present && (s < p.lo.value.S || s == p.lo.value.S && p.lo.open)
	}
	above := func(s string) bool {
		return p.hi.present && (s > p.hi.value.S || s == p.hi.value.S && p.hi.open)
	}
	switch {
	case below(c.Max.S) || above(c.Min.S):
		t.decide(negate)
	case !below(c.Min.S) && !above(c.Max.S):
		t.decide(!negate)
	default:
		return false
	}
	return true
}

// compileCode makes the test of one code, or of all but one. A code wider than the chunk's codes does not occur in it.
func (t *Test) compileCode(code uint32, negate bool) {
	if t.chunk.U8 != nil && code > math.MaxUint8 || t.chunk.U16 != nil && code > math.MaxUint16 {
		t.decide(negate)
		return
	}
	t.compileCodes(int64(code), int64(code), negate)
}

// compileDictionary makes the test of a table by code, of the whole dictionary.
func (t *Test) compileDictionary(table []uint8) {
	passing := 0
	for _, x := range table {
		passing += int(x)
	}
	switch passing {
	case 0:
		t.outcome = None
	case len(table):
		t.outcome = All
	default:
		t.compileTable(table)
	}
}
