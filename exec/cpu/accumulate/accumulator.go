package accumulate

import (
	"iter"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// Accumulator computes one primitive aggregate of many groups. Group numbers index its arrays.
type Accumulator interface {
	// Grow makes room for n groups; new ones are empty.
	Grow(n int)
	// Update adds, for each i, the argument at position sel[i] to group groups[i]. A nil groups stands for group 0
	// everywhere. Arguments are flat; sel is never nil.
	Update(groups []uint32, args []*column.Vector, sel []int32) error
	// Merge adds the groups from of src, an accumulator of the same kind, to the groups dst. beginMerge has been called
	// where there is one. Calls for different groups of dst may run at once.
	Merge(dst []uint32, src Accumulator, from []uint32) error
	// Bytes returns the memory in use.
	Bytes() int64
}

// BeginMerge tells dst that groups of src will be merged into it.
func BeginMerge(dst, src []Accumulator) {
	for i := range dst {
		if d, ok := dst[i].(interface{ beginMerge(Accumulator) }); ok {
			d.beginMerge(src[i])
		}
	}
}

// grown makes x n long, new elements being fill. What lies beyond a slice's length has never been written, so is zero.
func grown[T comparable](x []T, n int, fill T) []T {
	old := len(x)
	if n <= old {
		return x
	}
	if cap(x) < n {
		y := make([]T, n, max(n, 2*cap(x)))
		copy(y, x)
		x = y
	} else {
		x = x[:n]
	}
	var zero T
	if fill != zero {
		for i := old; i < n; i++ {
			x[i] = fill
		}
	}
	return x
}

// valuesOf walks over the values of v at sel that are not NULL: the group and the position of each.
func valuesOf(v *column.Vector, groups []uint32, sel []int32) iter.Seq2[uint32, int32] {
	return func(yield func(uint32, int32) bool) {
		g := uint32(0)
		for i, p := range sel {
			if v.Valid != nil && !v.Valid.Get(int(p)) {
				continue
			}
			if groups != nil {
				g = groups[i]
			}
			if !yield(g, p) {
				return
			}
		}
	}
}

// Count counts rows, or the values of its argument that are not NULL.
type Count struct{ N []int64 }

func (a *Count) Grow(n int)   { a.N = grown(a.N, n, 0) }
func (a *Count) Bytes() int64 { return 8 * int64(cap(a.N)) }

func (a *Count) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	var valid column.Bitmap
	if len(args) > 0 {
		valid = args[0].Valid
	}
	n := a.N
	switch {
	case groups == nil && valid == nil:
		n[0] += int64(len(sel))
	case groups == nil:
		for _, p := range sel {
			n[0] += int64(valid[p>>6] >> (uint(p) & 63) & 1)
		}
	case valid == nil && len(n) <= fewGroups:
		countFew(n, groups)
	case valid == nil:
		for _, g := range groups {
			n[g]++
		}
	default:
		for i, p := range sel {
			n[groups[i]] += int64(valid[p>>6] >> (uint(p) & 63) & 1)
		}
	}
	return nil
}

func (a *Count) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*Count)
	for i, g := range dst {
		a.N[g] += s.N[from[i]]
	}
	return nil
}

// exactSum sums integers and decimals exactly. While a bound on the sums (rows so far times the largest magnitude so
// far) fits an int64 they are kept in one word per group; after that in two. Sums of decimals may leave these and come back, since
// negative values are among them: wraps says how far a sum is out.
type exactSum struct {
	unsigned bool
	lo       []int64
	hi       []int64 // nil: narrow
	wraps    []int32 // of groups, how many times 2^128 belong to the sum; nil: 0
	bound    uint64  // of any narrow sum's magnitude
	narrowed []int64
}

const narrowLimit = 1 << 62

func (a *exactSum) Grow(n int) {
	a.lo = grown(a.lo, n, 0)
	if a.hi != nil {
		a.hi = grown(a.hi, n, 0)
	}
	if a.wraps != nil {
		a.wraps = grown(a.wraps, n, 0)
	}
}

func (a *exactSum) Bytes() int64 { return 8*int64(cap(a.lo)+cap(a.hi)) + 4*int64(cap(a.wraps)) }

func (a *exactSum) widen() {
	if a.hi != nil {
		return
	}
	a.hi = make([]int64, len(a.lo), cap(a.lo))
	for i, x := range a.lo {
		a.hi[i] = x >> 63
	}
}

// fits says whether rows more values of a magnitude below 2^width keep the sums narrow, and counts them.
func (a *exactSum) fits(magnitude uint64, rows int) bool {
	if a.hi != nil {
		return false
	}
	hi, more := bits.Mul64(magnitude, uint64(rows))
	if hi != 0 || more > narrowLimit || a.bound+more > narrowLimit {
		a.widen()
		return false
	}
	a.bound += more
	return true
}

func (a *exactSum) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	if v.Type.Phys() == types.PhysInt128 {
		return a.updateWide(groups, v, sel)
	}
	return a.updateInts(groups, v.I64, v.Valid, sel)
}

func (a *exactSum) updateInts(groups []uint32, x []int64, valid column.Bitmap, sel []int32) error {
	if valid != nil {
		if groups, sel = withoutNulls(groups, valid, sel); len(sel) == 0 {
			return nil
		}
	}
	if groups != nil && len(a.lo) <= fewGroups && a.hi == nil && !a.unsigned {
		if sums, magnitude := sumFew(groups, x, sel); a.fits(magnitude, len(sel)) {
			for g := range a.lo {
				a.lo[g] += sums[g]
			}
			return nil
		}
	}
	all := uint64(0)
	dense := len(sel) > 0 && int(sel[len(sel)-1])-int(sel[0]) == len(sel)-1
	if dense {
		for _, y := range x[sel[0] : int(sel[0])+len(sel)] {
			all |= uint64(y ^ y>>63)
		}
	} else {
		for _, p := range sel {
			y := x[p]
			all |= uint64(y ^ y>>63)
		}
	}
	if a.unsigned {
		a.widen()
	}
	if a.fits(magnitudeOf(all), len(sel)) {
		addFitting(a.lo, groups, x, sel, dense)
		return nil
	}
	g := uint32(0)
	for i, p := range sel {
		if groups != nil {
			g = groups[i]
		}
		high := x[p] >> 63
		if a.unsigned {
			high = 0
		}
		if a.wraps != nil {
			a.add128(g, types.Int128{Hi: high, Lo: uint64(x[p])})
			continue
		}
		a.addWide(g, uint64(x[p]), high)
	}
	return nil
}

// withoutNulls leaves out the rows that are NULL, of the selection and of the groups, if there are any.
func withoutNulls(groups []uint32, valid column.Bitmap, sel []int32) ([]uint32, []int32) {
	kept := make([]int32, 0, len(sel))
	var g []uint32
	for i, p := range sel {
		if valid.Get(int(p)) {
			kept = append(kept, p)
			if groups != nil {
				g = append(g, groups[i])
			}
		}
	}
	return g, kept
}

// addFitting adds values to sums of 64 bits, which hold them. dense says that the selection has no gaps; without groups there is one sum.
func addFitting(lo []int64, groups []uint32, x []int64, sel []int32, dense bool) {
	switch {
	case groups == nil && dense:
		sum := int64(0)
		for _, y := range x[sel[0] : int(sel[0])+len(sel)] {
			sum += y
		}
		lo[0] += sum
	case groups == nil:
		sum := int64(0)
		for _, p := range sel {
			sum += x[p]
		}
		lo[0] += sum
	case dense:
		x = x[sel[0] : int(sel[0])+len(sel)]
		groups = groups[:len(x)]
		for i, y := range x {
			lo[groups[i]] += y
		}
	default:
		groups = groups[:len(sel)]
		for i, p := range sel {
			lo[groups[i]] += x[p]
		}
	}
}

// magnitudeOf returns a bound of the magnitudes of integers y, all being the union of the bits of y ^ y>>63.
func magnitudeOf(all uint64) uint64 {
	if width := bits.Len64(all); width < 64 {
		return 1 << width
	}
	return math.MaxUint64
}

func (a *exactSum) addWide(g uint32, lo uint64, hi int64) {
	sum, carry := bits.Add64(uint64(a.lo[g]), lo, 0)
	a.lo[g] = int64(sum)
	a.hi[g] += hi + int64(carry)
}

func (a *exactSum) updateWide(groups []uint32, v *column.Vector, sel []int32) error {
	x := v.I128
	if v.Valid == nil && a.hi == nil {
		wide := int64(0)
		for _, p := range sel {
			y := &x[p]
			wide |= y.Hi ^ int64(y.Lo)>>63
		}
		if wide == 0 {
			if cap(a.narrowed) < len(sel) {
				a.narrowed = make([]int64, max(len(sel), len(x)))
			}
			narrow := a.narrowed[:len(sel)]
			for i, p := range sel {
				narrow[i] = int64(x[p].Lo)
			}
			return a.updateInts(groups, narrow, nil, vec.Ascending(len(sel)))
		}
	}
	a.widen()
	a.mayWrap()
	g := uint32(0)
	for i, p := range sel { // not valuesOf, which costs a sixth
		if v.Valid != nil && !v.Valid.Get(int(p)) {
			continue
		}
		if groups != nil {
			g = groups[i]
		}
		a.add128(g, x[p])
	}
	return nil
}

// mayWrap prepares for sums that leave 128 bits.
func (a *exactSum) mayWrap() {
	if a.wraps == nil {
		a.wraps = make([]int32, len(a.lo), cap(a.lo))
	}
}

func (a *exactSum) add128(g uint32, y types.Int128) {
	sum, ok := a.at(g).Add(y)
	if !ok {
		if y.Hi < 0 {
			a.wraps[g]--
		} else {
			a.wraps[g]++
		}
	}
	a.lo[g], a.hi[g] = int64(sum.Lo), sum.Hi
}

// fits128 says whether at gives the group's sum.
func (a *exactSum) fits128(g uint32) bool { return a.wraps == nil || a.wraps[g] == 0 }

func (a *exactSum) at(g uint32) types.Int128 {
	if a.hi == nil {
		return types.Int128FromInt64(a.lo[g])
	}
	return types.Int128{Hi: a.hi[g], Lo: uint64(a.lo[g])}
}

// beginMerge prepares for groups of src to be merged, each of them once.
func (a *exactSum) beginMerge(src Accumulator) {
	s := src.(*exactSum)
	if s.wraps != nil {
		a.mayWrap()
	}
	if a.hi != nil {
		return
	}
	if s.hi != nil || a.bound+s.bound > narrowLimit {
		a.widen()
		return
	}
	a.bound += s.bound
}

func (a *exactSum) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*exactSum)
	if a.hi == nil {
		for i, g := range dst {
			a.lo[g] += s.lo[from[i]]
		}
		return nil
	}
	for i, g := range dst {
		a.add128(g, s.at(from[i]))
		if s.wraps != nil {
			a.wraps[g] += s.wraps[from[i]]
		}
	}
	return nil
}

// doubleSum sums doubles in pairs of doubles (Knuth's two-sum; Dekker 1971): the sum is right to the last bit or nearly so
// whatever the order of its terms. Of sums that are not finite, c tells what made them so: see sumOfSpecial.
type doubleSum struct{ s, c []float64 }

func (a *doubleSum) Grow(n int)   { a.s, a.c = grown(a.s, n, 0), grown(a.c, n, 0) }
func (a *doubleSum) Bytes() int64 { return 16 * int64(cap(a.s)) }

func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

func (a *doubleSum) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	if v.Valid == nil && groups == nil {
		s, c := a.s[0], a.c[0]
		for _, p := range sel {
			r, e := twoSum(s, v.F64[p])
			if !types.IsFinite(r) {
				s, c = sumOfSpecial(s, c, v.F64[p], 0)
				continue
			}
			s = r
			c += e
		}
		a.s[0], a.c[0] = s, c
		return nil
	}
	for g, p := range valuesOf(v, groups, sel) {
		r, e := twoSum(a.s[g], v.F64[p])
		if !types.IsFinite(r) {
			a.s[g], a.c[g] = sumOfSpecial(a.s[g], a.c[g], v.F64[p], 0)
			continue
		}
		a.s[g] = r
		a.c[g] += e
	}
	return nil
}

// AddPair adds two sums.
func AddPair(s, c, t, d float64) (sum, correction float64) {
	r, e := twoSum(s, t)
	if !types.IsFinite(r) {
		return sumOfSpecial(s, c, t, d)
	}
	return r, c + d + e
}

// sumOfSpecial adds two sums, given that the result is not finite. Its correction is 0 if an infinity or NaN is among the terms, which
// makes the sum that of these, and NaN if finite terms overflowed.
func sumOfSpecial(s, c, t, d float64) (sum, correction float64) {
	first, second := !types.IsFinite(s) && c == 0, !types.IsFinite(t) && d == 0
	switch {
	case first && second:
		return s + t, 0
	case first:
		return s, 0
	case second:
		return t, 0
	}
	return s + t, math.NaN()
}

// Total is the sum that a pair stands for. ok is false if it overflowed.
func Total(s, c float64) (sum float64, ok bool) {
	if !types.IsFinite(s) {
		return s, c == 0
	}
	sum = s + c
	return sum, types.IsFinite(sum)
}

func (a *doubleSum) Merge(dst []uint32, src Accumulator, from []uint32) error {
	x := src.(*doubleSum)
	for i, g := range dst {
		a.s[g], a.c[g] = AddPair(a.s[g], a.c[g], x.s[from[i]], x.c[from[i]])
	}
	return nil
}

// variances is the variances and standard deviations.
type variances struct{ of []Moments }

// Moments keeps count, mean and sum of squared deviations of some values (Welford 1962; merged after Chan, Golub, LeVeque
// 1979), as MySQL does. The mean is that of the distances from the first value, so that numbers which are large beside
// their distances keep their digits. An infinity or NaN among the values makes first NaN, and with it what is computed.
type Moments struct {
	n               int64
	first, mean, m2 float64
}

func (m *Moments) Add(x float64) {
	if m.n++; m.n == 1 {
		m.first = x
	}
	if !types.IsFinite(x) {
		m.first, m.m2 = math.NaN(), math.NaN()
	}
	if m.n == 1 {
		return
	}
	x -= m.first
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (x - m.mean)
}

// And returns what is kept of both's values.
func (m Moments) And(b Moments) Moments {
	switch {
	case m.n == 0:
		return b
	case b.n == 0:
		return m
	}
	na, nb := float64(m.n), float64(b.n)
	d := (b.first - m.first) + (b.mean - m.mean)
	n := na + nb
	if b.first != b.first {
		m.first = b.first
	}
	return Moments{m.n + b.n, m.first, m.mean + d*nb/n, m.m2 + b.m2 + d*d*na*nb/n}
}

// Overflowed says whether finite values made x, which was computed of m, infinite or NaN.
func (m Moments) Overflowed(x float64) bool { return !types.IsFinite(x) && m.first == m.first }

func (a *variances) Grow(n int)   { a.of = grown(a.of, n, Moments{}) }
func (a *variances) Bytes() int64 { return 32 * int64(cap(a.of)) }

func (a *variances) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	for g, p := range valuesOf(v, groups, sel) {
		a.of[g].Add(FloatAt(v, int(p)))
	}
	return nil
}

func FloatAt(v *column.Vector, p int) float64 {
	scale := 0
	if v.Type.Kind == types.KindDecimal {
		scale = int(v.Type.Scale)
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return v.F64[p]
	case types.PhysInt128:
		return types.DecimalToFloat(v.I128[p], scale)
	case types.PhysUint64:
		return float64(uint64(v.I64[p]))
	case types.PhysString:
		return 0 // the binder casts text to DOUBLE
	}
	return types.ShortDecimalToFloat(v.I64[p], scale)
}

func (a *variances) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*variances)
	for i, g := range dst {
		a.of[g] = a.of[g].And(s.of[from[i]])
	}
	return nil
}

// bitwise is BIT_AND, BIT_OR and BIT_XOR.
type bitwise struct {
	op    byte // '&', '|' or '^'
	words []uint64
}

func (a *bitwise) Grow(n int) {
	empty := uint64(0)
	if a.op == '&' {
		empty = math.MaxUint64
	}
	a.words = grown(a.words, n, empty)
}
func (a *bitwise) Bytes() int64 { return 8 * int64(cap(a.words)) }

func (a *bitwise) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	for g, p := range valuesOf(v, groups, sel) {
		a.add(g, uint64(v.I64[p]))
	}
	return nil
}

func (a *bitwise) add(g uint32, x uint64) {
	switch a.op {
	case '&':
		a.words[g] &= x
	case '|':
		a.words[g] |= x
	default:
		a.words[g] ^= x
	}
}

func (a *bitwise) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*bitwise)
	for i, g := range dst {
		a.add(g, s.words[from[i]])
	}
	return nil
}
