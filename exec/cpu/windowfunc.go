package cpu

import (
	"math"
	"math/bits"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// windowFunc computes a function's results for a block; f has the frames of those that are framed.
type windowFunc func(b *windowBlock, f *framer) error

// begin returns the function for a run over whole partitions, block by block.
func (o *windowOut) begin() (windowFunc, error) {
	switch o.item.Fn.Kind {
	case expr.WinAggregate:
		return o.startAggregate()
	case expr.WinLag, expr.WinLead:
		return o.shift(), nil
	case expr.WinFirstValue, expr.WinLastValue, expr.WinNthValue:
		return o.nth(), nil
	case expr.WinPercentRank, expr.WinCumeDist:
		return o.share(), nil
	}
	return o.number()
}

// number computes the functions that give whole numbers.
func (o *windowOut) number() (windowFunc, error) {
	var f func(b *windowBlock, k int) int64
	switch o.item.Fn.Kind {
	case expr.WinRowNumber:
		f = func(b *windowBlock, k int) int64 { return int64(b.from+k) - int64(b.p0[k]) + 1 }
	case expr.WinRank:
		f = func(b *windowBlock, k int) int64 { return int64(b.g0[k]-b.p0[k]) + 1 }
	case expr.WinDenseRank:
		f = func(b *windowBlock, k int) int64 { return int64(b.rank[k]) + 1 }
	case expr.WinNtile:
		buckets := o.constant(0)
		f = func(b *windowBlock, k int) int64 {
			row, rows := int64(b.from+k)-int64(b.p0[k]), int64(b.p1[k]-b.p0[k])
			size, larger := rows/buckets, rows%buckets
			if in := larger * (size + 1); row >= in {
				return larger + (row-in)/size + 1
			}
			return row/(size+1) + 1
		}
	default:
		return nil, sqlerr.Bug("unknown window function %s", o.item.Fn.Name)
	}
	return func(b *windowBlock, _ *framer) error {
		out := o.values.I64[b.from : b.from+b.n]
		for k := range out {
			out[k] = f(b, k)
		}
		return nil
	}, nil
}

// constant returns an operand that the binder has checked to be a constant.
func (o *windowOut) constant(arg int) int64 { return o.item.Args[arg].(*expr.Const).Value.I }

// share computes PERCENT_RANK and CUME_DIST.
func (o *windowOut) share() windowFunc {
	cume := o.item.Fn.Kind == expr.WinCumeDist
	return func(b *windowBlock, _ *framer) error {
		out := o.values.F64[b.from : b.from+b.n]
		for k := range out {
			rows := float64(b.p1[k] - b.p0[k])
			switch {
			case cume:
				out[k] = float64(b.g1[k]-b.p0[k]) / rows
			case rows == 1:
				out[k] = 0
			default:
				out[k] = float64(b.g0[k]-b.p0[k]) / (rows - 1)
			}
		}
		return nil
	}
}

// shift computes LAG and LEAD.
func (o *windowOut) shift() windowFunc {
	by := int64(1)
	if len(o.item.Args) > 1 {
		by = min(o.constant(1), math.MaxInt32)
	}
	if o.item.Fn.Kind == expr.WinLag {
		by = -by
	}
	return func(b *windowBlock, _ *framer) error {
		out := o.rows[b.from : b.from+b.n]
		for k := range out {
			j := int64(b.from+k) + by
			if j < int64(b.p0[k]) || j >= int64(b.p1[k]) {
				out[k] = defaultRow
			} else {
				out[k] = int32(j)
			}
		}
		return nil
	}
}

// nth computes FIRST_VALUE, LAST_VALUE and NTH_VALUE.
func (o *windowOut) nth() windowFunc {
	at := int64(0)
	if o.item.Fn.Kind == expr.WinNthValue {
		at = min(o.constant(1)-1, math.MaxInt32)
	}
	last := o.item.Fn.Kind == expr.WinLastValue
	return func(b *windowBlock, f *framer) error {
		out := o.rows[b.from : b.from+b.n]
		for k := range out {
			lo, hi := f.lo[k], f.hi[k]
			j := int64(lo) + at
			if last {
				j = int64(hi) - 1
			}
			if j < int64(lo) || j >= int64(hi) {
				out[k] = noRow
			} else {
				out[k] = int32(j)
			}
		}
		return nil
	}
}

// startAggregate returns an aggregate over frames.
func (o *windowOut) startAggregate() (windowFunc, error) {
	kind := o.item.Fn.Agg.Kind
	switch kind {
	case expr.AggCountStar:
		return func(b *windowBlock, f *framer) error {
			out := o.values.I64[b.from : b.from+b.n]
			for k := range out {
				out[k] = int64(f.hi[k] - f.lo[k])
			}
			return nil
		}, nil
	case expr.AggCount:
		return o.count(), nil
	case expr.AggSum, expr.AggAvg:
		if o.arg.Type.Phys() == types.PhysFloat64 {
			return o.floatSum(), nil
		}
		return o.exactSum(), nil
	case expr.AggMin, expr.AggMax:
		return o.extreme(kind == expr.AggMax), nil
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		return o.moments(), nil
	case expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		return o.bits(), nil
	}
	return nil, sqlerr.Bug("%s is no window function", o.item.Fn.Name)
}

// each calls f for each row whose frame differs from that of the row before it, and lets the others have that one's result.
func (o *windowOut) each(f func(row, lo, hi int) error) windowFunc {
	last, lo, hi := -1, int32(-1), int32(-1)
	return func(b *windowBlock, fr *framer) error {
		for k := range b.n {
			row := b.from + k
			if fr.lo[k] == lo && fr.hi[k] == hi && last >= 0 {
				o.repeat(row, last)
				continue
			}
			lo, hi, last = fr.lo[k], fr.hi[k], row
			if err := f(row, int(lo), int(hi)); err != nil {
				return err
			}
		}
		return nil
	}
}

// repeat gives a row the result of another one.
func (o *windowOut) repeat(row, of int) {
	if o.rows != nil {
		o.rows[row] = o.rows[of]
		return
	}
	if o.null != nil {
		o.null[row] = o.null[of]
	}
	switch o.values.Type.Phys() {
	case types.PhysFloat64:
		o.values.F64[row] = o.values.F64[of]
	case types.PhysInt128:
		o.values.I128[row] = o.values.I128[of]
	default:
		o.values.I64[row] = o.values.I64[of]
	}
}

// moveFrame calls add and drop for the rows that come into a frame and leave it when it becomes lo .. hi-1, or reset, before
// any add, where it has nothing in common with the one before it.
func moveFrame(from, to *int, lo, hi int, reset func(), add, drop func(row int) error) error {
	if lo >= *to {
		reset()
		*from, *to = lo, lo
	}
	for ; *to < hi; *to++ {
		if err := add(*to); err != nil {
			return err
		}
	}
	for ; *from < lo; *from++ {
		if err := drop(*from); err != nil {
			return err
		}
	}
	return nil
}

func (o *windowOut) count() windowFunc {
	n, from, to := int64(0), 0, 0
	by := func(x int64) func(int) error {
		return func(row int) error {
			if !o.arg.IsNull(row) {
				n += x
			}
			return nil
		}
	}
	add, drop, reset := by(1), by(-1), func() { n = 0 }
	return o.each(func(row, lo, hi int) error {
		err := moveFrame(&from, &to, lo, hi, reset, add, drop)
		o.values.I64[row] = n
		return err
	})
}

// exactSum sums integers and decimals in 128 bits. What leaves a frame is subtracted again.
func (o *windowOut) exactSum() windowFunc {
	var sum types.Int128
	from, to := 0, 0
	terms := &countAcc{n: make([]int64, 1)}
	item := &logical.AggItem{Col: o.item.Col, Fn: o.item.Fn.Agg, Args: o.item.Args}
	out := &aggOutput{item: item}
	v := o.arg
	phys := v.Type.Phys()
	at := func(row int) types.Int128 {
		switch phys {
		case types.PhysInt128:
			return v.I128[row]
		case types.PhysUint64:
			return types.Int128FromUint64(uint64(v.I64[row]))
		}
		return types.Int128FromInt64(v.I64[row])
	}
	add := func(row int) error {
		if v.IsNull(row) {
			return nil
		}
		terms.n[0]++
		if phys == types.PhysInt64 { // 2^31 of them do not overflow
			x := v.I64[row]
			lo, carry := bits.Add64(sum.Lo, uint64(x), 0)
			sum = types.Int128{Hi: sum.Hi + x>>63 + int64(carry), Lo: lo}
			return nil
		}
		var ok bool
		if sum, ok = sum.Add(at(row)); !ok {
			return sqlerr.DataOutOfRange("DECIMAL", describeItem(item))
		}
		return nil
	}
	drop := func(row int) error {
		if !v.IsNull(row) {
			terms.n[0]--
			sum, _ = sum.Sub(at(row)) // a sum of fewer terms: if it overflows now, it has done so before
		}
		return nil
	}
	reset := func() { sum, terms.n[0] = types.Int128{}, 0 }
	return o.each(func(row, lo, hi int) error {
		if err := moveFrame(&from, &to, lo, hi, reset, add, drop); err != nil {
			return err
		}
		if o.null[row] = terms.n[0] == 0; o.null[row] {
			return nil
		}
		return out.setSum(o.values, row, sum, false, terms, 0)
	})
}

// floats is a sum of doubles as floatSumAcc keeps it, and how many they are.
type floats struct {
	s, c float64
	n    int64
}

func (o *windowOut) floatSum() windowFunc {
	s := &sliding[floats]{
		load: func(row int) floats {
			if o.arg.IsNull(row) {
				return floats{}
			}
			return floats{s: o.arg.F64[row], n: 1}
		},
		combine: func(a, b floats) floats {
			s, e := twoSum(a.s, b.s)
			return floats{s, a.c + b.c + e, a.n + b.n}
		},
	}
	avg := o.item.Fn.Agg.Kind == expr.AggAvg
	return o.each(func(row, lo, hi int) error {
		x := s.over(lo, hi)
		if o.null[row] = x.n == 0; o.null[row] {
			return nil
		}
		r := (&floatSumAcc{s: []float64{x.s}, c: []float64{x.c}}).at(0)
		if avg {
			r /= float64(x.n)
		}
		if math.IsInf(r, 0) {
			return sqlerr.DataOutOfRange("DOUBLE", o.item.Call())
		}
		o.values.F64[row] = r
		return nil
	})
}

// extreme finds the row with the least or the greatest value of each frame.
func (o *windowOut) extreme(greatest bool) windowFunc {
	s := &sliding[int32]{
		empty: noRow,
		load: func(row int) int32 {
			if o.arg.IsNull(row) {
				return noRow
			}
			return int32(row)
		},
		combine: func(a, b int32) int32 {
			if a == noRow || b == noRow {
				return max(a, b)
			}
			if c := compareValues(o.arg, int(a), o.arg, int(b)); c > 0 && !greatest || c < 0 && greatest {
				return b
			}
			return a
		},
	}
	return o.each(func(row, lo, hi int) error {
		o.rows[row] = s.over(lo, hi)
		return nil
	})
}

// momentOf is what momentsAcc keeps of some values.
type momentOf struct {
	n        int64
	mean, m2 float64
}

func (o *windowOut) moments() windowFunc {
	s := &sliding[momentOf]{
		load: func(row int) momentOf {
			if o.arg.IsNull(row) {
				return momentOf{}
			}
			return momentOf{n: 1, mean: floatAt(o.arg, row)}
		},
		combine: func(a, b momentOf) momentOf {
			switch {
			case a.n == 0:
				return b
			case b.n == 0:
				return a
			}
			na, nb := float64(a.n), float64(b.n)
			d := b.mean - a.mean
			n := na + nb
			return momentOf{a.n + b.n, a.mean + d*nb/n, a.m2 + b.m2 + d*d*na*nb/n}
		},
	}
	return o.each(func(row, lo, hi int) error {
		m := s.over(lo, hi)
		x, ok := moment(o.item.Fn.Agg.Kind, m.n, m.m2)
		o.values.F64[row], o.null[row] = x, !ok
		return nil
	})
}

func (o *windowOut) bits() windowFunc {
	acc := &bitsAcc{op: map[expr.AggKind]byte{expr.AggBitAnd: '&', expr.AggBitOr: '|', expr.AggBitXor: '^'}[o.item.Fn.Agg.Kind]}
	acc.grow(1)
	s := &sliding[uint64]{
		empty: acc.words[0],
		combine: func(a, b uint64) uint64 {
			acc.words[0] = a
			acc.add(0, b)
			return acc.words[0]
		},
	}
	s.load = func(row int) uint64 {
		if o.arg.IsNull(row) {
			return s.empty
		}
		return uint64(o.arg.I64[row])
	}
	return o.each(func(row, lo, hi int) error {
		o.values.I64[row] = int64(s.over(lo, hi))
		return nil
	})
}
