package accumulate

import (
	"math"
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// exactSum sums integers and decimals exactly. While a bound on the sums (rows so far times the largest magnitude so
// far) fits an int64 they are kept in one word per group; after that in two. Sums of decimals may leave these and come back, since
// negative values are among them: wraps says how far a sum is out.
type exactSum struct {
	unsigned bool
	lo       []int64
	hi       []int64 // nil: narrow
	wraps    []int32 // of groups, how many times 2^128 belong to the sum; nil: 0
	bound    uint64  // of any narrow sum's magnitude
	// Of one call.
	narrowed   []int64
	kept       []int32
	keptGroups []uint32
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
		if groups, sel = a.withoutNulls(groups, valid, sel); len(sel) == 0 {
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
		all = usedBits(x[sel[0]:][:len(sel)])
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

// withoutNulls leaves out the rows that are NULL, of the selection and of the groups, if there are any. What it returns is good until the next call.
// Whether a value is NULL is often as good as random, so the loops write every row and move the end by the outcome instead of branching.
func (a *exactSum) withoutNulls(groups []uint32, valid column.Bitmap, sel []int32) ([]uint32, []int32) {
	if cap(a.kept) < len(sel) {
		a.kept, a.keptGroups = make([]int32, len(sel)), make([]uint32, len(sel))
	}
	kept, n := a.kept[:len(sel)], 0
	if groups == nil {
		for _, p := range sel {
			kept[n] = p
			n += int(valid[p>>6] >> (uint(p) & 63) & 1)
		}
		return nil, kept[:n]
	}
	of := a.keptGroups[:len(sel)]
	groups = groups[:len(sel)]
	words := runWords(valid, sel)
	for w, set := range words {
		rows, part := sel[w<<6:][:64], groups[w<<6:][:64]
		for ; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			kept[n], of[n] = rows[i], part[i]
			n++
		}
	}
	sel, groups = sel[len(words)<<6:], groups[len(words)<<6:]
	for i, p := range sel {
		kept[n], of[n] = p, groups[i]
		n += int(valid[p>>6] >> (uint(p) & 63) & 1)
	}
	return of[:n], kept[:n]
}

// addFitting adds values to sums of 64 bits, which hold them. dense says that the selection has no gaps; without groups there is one sum.
func addFitting(lo []int64, groups []uint32, x []int64, sel []int32, dense bool) {
	switch {
	case groups == nil && dense:
		lo[0] += sumOf(x[sel[0]:][:len(sel)])
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

// usedBits returns the union of the bits of y ^ y>>63 of integers y, for magnitudeOf. Four values a step take 0.6 of the time of one (Go 1.26).
func usedBits(x []int64) uint64 {
	var a, b, c, d int64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		y := x[i : i+4 : i+4]
		a |= y[0] ^ y[0]>>63
		b |= y[1] ^ y[1]>>63
		c |= y[2] ^ y[2]>>63
		d |= y[3] ^ y[3]>>63
	}
	for _, y := range x[i:] {
		a |= y ^ y>>63
	}
	return uint64(a | b | c | d)
}

// sumOf adds integers up, in steps of four as usedBits does.
func sumOf(x []int64) int64 {
	var a, b, c, d int64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		y := x[i : i+4 : i+4]
		a += y[0]
		b += y[1]
		c += y[2]
		d += y[3]
	}
	for _, y := range x[i:] {
		a += y
	}
	return a + b + c + d
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
	if v.Valid != nil {
		if groups, sel = a.withoutNulls(groups, v.Valid, sel); len(sel) == 0 {
			return nil
		}
	}
	if a.hi == nil {
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
	for i, p := range sel {
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

// values stores sums, or averages. Groups of which count counts nothing have none.
func (a *exactSum) values(o *Output, groups []uint32, count *Count, v *column.Vector) error {
	for i, g := range groups {
		if count != nil && count.N[g] == 0 {
			v.SetNull(i, len(groups))
			continue
		}
		if !a.fits128(g) {
			return o.outOfRange("DECIMAL")
		}
		if err := o.SetSum(v, i, a.at(g), a.unsigned, count, g); err != nil {
			return err
		}
	}
	return nil
}

// SetSum stores a sum, or for AVG the quotient by the count, as the result's type.
func (o *Output) SetSum(v *column.Vector, i int, sum types.Int128, unsigned bool, count *Count, g uint32) error {
	arg := o.Item.Args[0].Type()
	scale := 0
	if arg.Kind == types.KindDecimal {
		scale = int(arg.Scale)
	}
	isAvg := o.Item.Fn.Kind == expr.AggAvg
	if v.Type.Phys() == types.PhysFloat64 {
		x := types.DecimalToFloat(sum, scale)
		if isAvg {
			x /= float64(count.N[g])
		}
		v.F64[i] = x
		return nil
	}
	to := 0
	if v.Type.Kind == types.KindDecimal {
		to = int(v.Type.Scale)
	}
	ok := true
	if isAvg {
		sum, ok = types.DecimalAvg(sum, scale, count.N[g], to)
	} else if scale != to {
		sum, ok = types.Rescale(sum, scale, to)
	}
	if ok && v.Type.Kind == types.KindDecimal {
		ok = types.FitsDecimal(sum, int(v.Type.Precision))
	}
	if ok {
		switch v.Type.Phys() {
		case types.PhysInt128:
			v.I128[i] = sum
		case types.PhysUint64:
			var u uint64
			u, ok = sum.Uint64()
			v.I64[i] = int64(u)
		default:
			v.I64[i], ok = sum.Int64()
		}
	}
	if !ok {
		return o.outOfRange(v.Type.Kind.Name())
	}
	return nil
}
