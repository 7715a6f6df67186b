package accumulate

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// regressions computes what follows from pairs of numbers, y and x.
type regressions struct{ of []coMoments }

// coMoments keeps count, means, and sums of squared deviations and of their products (Chan, Golub, LeVeque 1979). The means are those of the
// distances from the first pair, so that numbers which are large beside their distances keep their digits.
type coMoments struct {
	n              float64
	firstX, firstY float64
	x, y           float64 // means of the distances
	xx, yy, xy     float64
}

func (m *coMoments) add(y, x float64) {
	if m.n == 0 {
		m.firstX, m.firstY = x, y
	}
	m.n++
	x, y = x-m.firstX, y-m.firstY // NaN where one of them is infinite or NaN, and so is what is computed
	dx, dy := x-m.x, y-m.y
	m.x += dx / m.n
	m.y += dy / m.n
	m.xx += dx * (x - m.x)
	m.yy += dy * (y - m.y)
	m.xy += dx * (y - m.y)
}

// and returns what is kept of both's pairs.
func (m coMoments) and(b coMoments) coMoments {
	switch {
	case m.n == 0:
		return b
	case b.n == 0:
		return m
	}
	n := m.n + b.n
	dx, dy := (b.firstX-m.firstX)+(b.x-m.x), (b.firstY-m.firstY)+(b.y-m.y)
	w := m.n * b.n / n
	return coMoments{n: n, firstX: m.firstX, firstY: m.firstY, x: m.x + dx*b.n/n, y: m.y + dy*b.n/n,
		xx: m.xx + b.xx + dx*dx*w, yy: m.yy + b.yy + dy*dy*w, xy: m.xy + b.xy + dx*dy*w}
}

// result returns the value of some kind; ok is false where it is NULL.
func (m *coMoments) result(kind expr.AggKind) (value float64, ok bool) {
	if m.n == 0 {
		return 0, false
	}
	switch kind {
	case expr.AggCovarPop:
		return m.xy / m.n, true
	case expr.AggCovarSamp:
		return m.xy / (m.n - 1), m.n > 1
	case expr.AggCorr:
		return m.xy / (math.Sqrt(m.xx) * math.Sqrt(m.yy)), m.xx != 0 && m.yy != 0
	case expr.AggRegrAvgX:
		return m.firstX + m.x, true
	case expr.AggRegrAvgY:
		return m.firstY + m.y, true
	case expr.AggRegrSXX:
		return m.xx, true
	case expr.AggRegrSYY:
		return m.yy, true
	case expr.AggRegrSXY:
		return m.xy, true
	case expr.AggRegrSlope:
		return m.xy / m.xx, m.xx != 0
	case expr.AggRegrIntercept:
		return m.firstY + m.y - (m.xy/m.xx)*(m.firstX+m.x), m.xx != 0
	case expr.AggRegrR2:
		if m.yy == 0 {
			return 1, m.xx != 0
		}
		return m.xy * m.xy / (m.xx * m.yy), m.xx != 0
	}
	return 0, false
}

func (a *regressions) Grow(n int)   { a.of = grown(a.of, n, coMoments{}) }
func (a *regressions) Bytes() int64 { return 64 * int64(cap(a.of)) }

func (a *regressions) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	y, x := args[0], args[1]
	g := uint32(0)
	for i, p := range sel {
		if groups != nil {
			g = groups[i]
		}
		if !y.IsNull(int(p)) && !x.IsNull(int(p)) {
			a.of[g].add(FloatAt(y, int(p)), FloatAt(x, int(p)))
		}
	}
	return nil
}

func (a *regressions) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*regressions)
	for i, g := range dst {
		a.of[g] = a.of[g].and(s.of[from[i]])
	}
	return nil
}

func (a *regressions) values(o *Output, groups []uint32, _ *Count, v *column.Vector) error {
	kind := o.Item.Fn.Kind
	for i, g := range groups {
		m := &a.of[g]
		if kind == expr.AggRegrCount {
			v.I64[i] = int64(m.n)
			continue
		}
		x, ok := m.result(kind)
		switch {
		case !ok:
			v.SetNull(i, len(groups))
		case !types.IsFinite(x) && types.IsFinite(m.firstX+m.firstY) && types.IsFinite(m.x+m.y):
			return o.outOfRange("DOUBLE")
		default:
			v.F64[i] = types.CanonicalFloat(x)
		}
	}
	return nil
}
