package accumulate

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// variances computes variances and standard deviations.
type variances struct{ of []Moments }

// Moments keeps count, mean and sum of squared deviations of some values (Welford 1962; merged after Chan, Golub, LeVeque
// 1979), as MySQL does. The mean is that of the distances from the first value, so that numbers which are large beside
// their distances keep their digits. An infinity or NaN among the values makes first NaN, and with it what is computed.
type Moments struct {
	n               int64
	first, mean, m2 float64
}

// Add takes a value in. Nobody can foresee whether it is the first of its group, and the group often comes from far memory, for which a
// branch would wait. So the first value is chosen by a mask, and its distance from itself is added like the others.
func (m *Moments) Add(x float64) {
	n, first, isFirst := m.n+1, math.Float64bits(m.first), uint64((m.n-1)>>63)
	from := math.Float64frombits(first ^ (first^math.Float64bits(x))&isFirst)
	if !types.IsFinite(x) {
		from, m.m2 = math.NaN(), math.NaN()
	}
	x -= from
	d := x - m.mean
	mean := m.mean + d/float64(n)
	m.n, m.first, m.mean = n, from, mean
	m.m2 += d * (x - mean)
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
	if v.Type.Phys() == types.PhysFloat64 && v.Valid == nil && groups != nil {
		of, x, groups := a.of, v.F64, groups[:len(sel)]
		for i, p := range sel {
			of[groups[i]].Add(x[p])
		}
		return nil
	}
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

func (a *variances) values(o *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		x, ok := Variance(o.Item.Fn.Kind, a.of[g])
		if !ok {
			v.SetNull(i, len(groups))
			continue
		}
		if a.of[g].Overflowed(x) {
			return o.outOfRange("DOUBLE")
		}
		v.F64[i] = x
	}
	return nil
}

// Variance is the variance or standard deviation of some kind. ok is false of too few values.
func Variance(kind expr.AggKind, m Moments) (float64, bool) {
	div := float64(m.n)
	if kind == expr.AggVarSamp || kind == expr.AggStddevSamp {
		div--
	}
	if div <= 0 {
		return 0, false
	}
	x := m.m2 / div
	if kind == expr.AggStddevPop || kind == expr.AggStddevSamp {
		x = math.Sqrt(x)
	}
	return x, true
}
