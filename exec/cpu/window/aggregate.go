package window

import (
	"math"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/accumulate"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// aggregate prepares an aggregate over frames.
func (o *windowOut) aggregate() (func() windowFunc, error) {
	kind := o.item.Fn.Agg.Kind
	switch kind {
	case expr.AggCountStar, expr.AggCount:
		if o.compared == nil && (o.arg == nil || o.arg.Valid == nil) {
			return func() windowFunc { return o.countRows }, nil
		}
		return o.removable(func(row int, _, n int64) error {
			o.values.I64[row] = n
			return nil
		})
	case expr.AggSum, expr.AggAvg:
		if o.arg.Type.Phys() == types.PhysFloat64 {
			return o.floatSum()
		}
		return o.exactSum()
	case expr.AggMin, expr.AggMax:
		return o.extreme(kind == expr.AggMax)
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		return o.moments()
	case expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		return o.bits()
	}
	return nil, sqlerr.Bug("%s is no window function", o.item.Fn.Name)
}

func (o *windowOut) countRows(b *windowBlock, f *framer) error {
	out, lo := o.values.I64[b.from:b.from+b.n], f.lo[:b.n]
	for k, hi := range f.hi[:b.n] {
		out[k] = int64(hi - lo[k])
	}
	return nil
}

// folded prepares an aggregate that folds values of type T, of size bytes each; give stores the result of a row, of whose frame it is told
// the bounds unless the frame compares values.
func folded[T any](o *windowOut, f *folding[T], size int64, give func(row, lo, hi int, x T) error) (func() windowFunc, error) {
	if o.compared != nil {
		return comparing(o.compared, f, size, func(row int, x T) error { return give(row, -1, -1, x) })
	}
	if err := growFor(o, f, size); err != nil {
		return nil, err
	}
	return func() windowFunc {
		s := sliding[T]{folding: f}
		return func(b *windowBlock, fr *framer) error {
			return s.block(fr.lo[:b.n], fr.hi[:b.n], func(k int, x T) error {
				return give(b.from+k, int(fr.lo[k]), int(fr.hi[k]), x)
			})
		}
	}, nil
}

// growFor makes a tree unless no frame is much longer than a block.
func growFor[T any](o *windowOut, f *folding[T], size int64) error {
	r, frame := o.r, &o.item.Frame
	block := r.w.q.Tuning.WindowBlockRows
	short := frame.Unit == logical.FrameRows && frame.Start.Kind != logical.UnboundedPreceding && frame.End.Kind != logical.UnboundedFollowing &&
		frame.Start.Offset < int64(block)/4 && frame.End.Offset < int64(block)/4
	if short || r.largest <= block {
		return nil
	}
	return f.grow(r.w.q, r.w.sort.Name, r.n, size)
}

// intSum is a sum of integers that cannot leave 64 bits, and how many there are.
type intSum struct{ sum, n int64 }

// removable prepares sums of integers that cannot leave 64 bits, or counts: what leaves a frame is subtracted.
func (o *windowOut) removable(give func(row int, sum, n int64) error) (func() windowFunc, error) {
	var v []int64 // none where only counts are of interest
	var valid column.Bitmap
	if o.arg != nil {
		v, valid = o.arg.I64, o.arg.Valid
	}
	sums := len(v) > 0
	f := &folding[intSum]{
		load: func(dst []intSum, from int) {
			for i := range dst {
				switch row := from + i; {
				case valid != nil && !valid.Get(row):
					dst[i] = intSum{}
				case sums:
					dst[i] = intSum{v[row], 1}
				default:
					dst[i] = intSum{0, 1}
				}
			}
		},
		combine: func(a, b intSum) intSum { return intSum{a.sum + b.sum, a.n + b.n} },
	}
	if o.compared != nil {
		return comparing(o.compared, f, 16, func(row int, x intSum) error { return give(row, x.sum, x.n) })
	}
	if err := growFor(o, f, 16); err != nil {
		return nil, err
	}
	return func() windowFunc {
		var sum, n int64
		from, to := 0, 0
		buf := make([]intSum, o.r.w.q.Tuning.WindowFan)
		add := func(lo, hi int, sign int64) {
			if valid == nil {
				for _, x := range v[lo:hi] {
					sum += sign * x
				}
				n += sign * int64(hi-lo)
				return
			}
			for row := lo; row < hi; row++ {
				if valid.Get(row) {
					n += sign
					if sums {
						sum += sign * v[row]
					}
				}
			}
		}
		return func(b *windowBlock, fr *framer) error {
			for k, first := range fr.lo[:b.n] {
				lo, hi := int(first), int(fr.hi[k])
				switch {
				case lo >= to || lo-from+hi-to > hi-lo:
					x := f.fold(lo, hi, buf)
					sum, n = x.sum, x.n
				case valid == nil && hi == to+1 && lo == from:
					sum += v[to]
					n++
				default:
					add(to, hi, 1)
					add(from, lo, -1)
				}
				from, to = lo, hi
				if err := give(b.from+k, sum, n); err != nil {
					return err
				}
			}
			return nil
		}
	}, nil
}

// exactSum sums integers and decimals in 128 bits, or if that is enough in 64.
func (o *windowOut) exactSum() (func() windowFunc, error) {
	v := o.arg
	phys := v.Type.Phys()
	item := &logical.AggItem{Col: &expr.Column{Name: o.call(), Typ: o.item.Col.Typ}, Fn: o.item.Fn.Agg, Args: o.item.Args}
	out := &accumulate.Output{Item: item}
	set := func(row int, sum types.Int128, n int64) error {
		if n == 0 {
			o.setNull(row)
			return nil
		}
		return out.SetSum(o.values, row, sum, false, &accumulate.Count{N: []int64{n}}, 0)
	}
	if phys == types.PhysInt64 {
		most, err := o.greatest()
		if err != nil {
			return nil, err
		}
		if hi, lo := bits.Mul64(most, uint64(o.r.n)); hi == 0 && lo < 1<<63 {
			return o.removable(o.narrowSum(set))
		}
	}
	type wideSum struct {
		sum   types.Int128
		n     int64
		wraps int64 // how many times 2^128 belong to the sum
	}
	f := &folding[wideSum]{
		load: func(dst []wideSum, from int) {
			for i := range dst {
				row := from + i
				switch {
				case v.IsNull(row):
					dst[i] = wideSum{}
				case phys == types.PhysInt128:
					dst[i] = wideSum{sum: v.I128[row], n: 1}
				case phys == types.PhysUint64:
					dst[i] = wideSum{sum: types.Int128FromUint64(uint64(v.I64[row])), n: 1}
				default:
					dst[i] = wideSum{sum: types.Int128FromInt64(v.I64[row]), n: 1}
				}
			}
		},
		combine: func(a, b wideSum) wideSum {
			sum, ok := a.sum.Add(b.sum)
			wraps := a.wraps + b.wraps
			if !ok {
				wraps += 1 | b.sum.Hi>>63
			}
			return wideSum{sum, a.n + b.n, wraps}
		},
	}
	return folded(o, f, 40, func(row, _, _ int, x wideSum) error {
		if x.wraps != 0 {
			return sqlerr.DataOutOfRange("DECIMAL", o.call())
		}
		return set(row, x.sum, x.n)
	})
}

// call is the function without its window, for messages.
func (o *windowOut) call() string {
	args := make([]string, len(o.item.Args))
	for i, e := range o.item.Args {
		args[i] = e.String()
	}
	return o.item.Fn.Name + "(" + strings.Join(args, ", ") + ")"
}

// greatest returns the greatest magnitude of the operand's integers.
func (o *windowOut) greatest() (uint64, error) {
	var most atomic.Uint64
	err := o.r.w.q.ParallelBlocks(o.r.n, func(from, to int) {
		lo, hi, ok := vec.RangeOf(o.arg, from, to)
		if !ok {
			return
		}
		m := max(magnitude(lo), magnitude(hi))
		for old := most.Load(); m > old && !most.CompareAndSwap(old, m); old = most.Load() {
		}
	})
	return most.Load(), err
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// narrowSum stores sums and averages of 64 bits where the result's type needs no look at their digits; others go to set.
func (o *windowOut) narrowSum(set func(row int, sum types.Int128, n int64) error) func(row int, sum, n int64) error {
	general := func(row int, sum, n int64) error { return set(row, types.Int128FromInt64(sum), n) }
	t, arg := o.values.Type, o.arg.Type
	scale := 0
	if arg.Kind == types.KindDecimal {
		scale = int(arg.Scale)
	}
	by := int(t.Scale) - scale
	if t.Kind != types.KindDecimal || by < 0 || by > types.MaxShortDecimal {
		return general
	}
	if o.item.Fn.Agg.Kind == expr.AggSum {
		if by > 0 || t.Phys() != types.PhysInt128 {
			return general
		}
		return func(row int, sum, n int64) error { // 128 bits mean 19 digits at least
			if n == 0 {
				o.setNull(row)
			} else {
				o.values.I128[row] = types.Int128FromInt64(sum)
			}
			return nil
		}
	}
	power, limit := types.Pow10Int128(by).Lo, uint64(math.MaxInt64)
	if t.Precision <= types.MaxShortDecimal {
		limit = types.Pow10Int128(int(t.Precision)).Lo
	}
	cut := by > 0 && t.Scale%9 == 0 // as types.DecimalAvg
	return func(row int, sum, n int64) error {
		hi, x := bits.Mul64(magnitude(sum), power)
		if n == 0 || hi != 0 || x >= 1<<63 {
			return general(row, sum, n)
		}
		quo, rem := x/uint64(n), x%uint64(n)
		if !cut && rem >= uint64(n)-rem {
			quo++
		}
		if quo >= limit {
			return general(row, sum, n)
		}
		avg := int64(quo)
		if sum < 0 {
			avg = -avg
		}
		if t.Phys() == types.PhysInt128 {
			o.values.I128[row] = types.Int128FromInt64(avg)
		} else {
			o.values.I64[row] = avg
		}
		return nil
	}
}

// floats is a sum of doubles with its compensation, and how many they are.
type floats struct {
	s, c float64
	n    int64
}

func (o *windowOut) floatSum() (func() windowFunc, error) {
	v := o.arg
	f := &folding[floats]{
		load: func(dst []floats, from int) {
			if v.Valid == nil {
				for i, x := range v.F64[from : from+len(dst)] {
					dst[i] = floats{s: x, n: 1}
				}
				return
			}
			for i := range dst {
				dst[i] = floats{}
				if v.Valid.Get(from + i) {
					dst[i] = floats{s: v.F64[from+i], n: 1}
				}
			}
		},
		combine: func(a, b floats) floats {
			s, c := accumulate.AddPair(a.s, a.c, b.s, b.c)
			return floats{s, c, a.n + b.n}
		},
	}
	isAvg := o.item.Fn.Agg.Kind == expr.AggAvg
	return folded(o, f, 24, func(row, _, _ int, x floats) error {
		if x.n == 0 {
			o.setNull(row)
			return nil
		}
		r, ok := accumulate.Total(x.s, x.c)
		if isAvg {
			r /= float64(x.n)
		}
		if !ok {
			return sqlerr.DataOutOfRange("DOUBLE", o.call())
		}
		o.values.F64[row] = r
		return nil
	})
}

// extreme finds the least or the greatest value of each frame.
func (o *windowOut) extreme(greatest bool) (func() windowFunc, error) {
	if o.rows != nil {
		return o.extremeRow(greatest)
	}
	// Numbers are compared as words of the same order, or for the greatest of the opposite one.
	v := o.arg
	flip := uint64(0)
	if greatest {
		flip = math.MaxUint64
	}
	sign := uint64(1 << 63)
	if v.Type.Phys() == types.PhysUint64 {
		sign = 0
	}
	words := func(dst []uint64, from int) {
		if v.F64 != nil {
			for i, x := range v.F64[from : from+len(dst)] {
				dst[i] = types.FloatWord(x) ^ flip
			}
			return
		}
		for i, x := range v.I64[from : from+len(dst)] {
			dst[i] = uint64(x) ^ sign ^ flip
		}
	}
	set := func(row int, x uint64) {
		if v.F64 != nil {
			o.values.F64[row] = types.FloatOfWord(x ^ flip)
		} else {
			o.values.I64[row] = int64(x ^ sign ^ flip)
		}
	}
	if v.Valid == nil && o.compared == nil {
		f := &folding[uint64]{empty: math.MaxUint64, load: words, combine: func(a, b uint64) uint64 { return min(a, b) }}
		return folded(o, f, 8, func(row, lo, hi int, x uint64) error {
			if lo == hi {
				o.setNull(row)
			} else {
				set(row, x)
			}
			return nil
		})
	}
	type some struct {
		word uint64
		any  bool
	}
	f := &folding[some]{
		empty: some{word: math.MaxUint64},
		load: func(dst []some, from int) {
			var word [1]uint64
			for i := range dst {
				dst[i] = some{word: math.MaxUint64}
				if !v.IsNull(from + i) {
					words(word[:], from+i)
					dst[i] = some{word[0], true}
				}
			}
		},
		combine: func(a, b some) some { return some{min(a.word, b.word), a.any || b.any} },
	}
	return folded(o, f, 16, func(row, _, _ int, x some) error {
		if x.any {
			set(row, x.word)
		} else {
			o.setNull(row)
		}
		return nil
	})
}

// extremeRow finds the row with the least or the greatest value of each frame.
func (o *windowOut) extremeRow(greatest bool) (func() windowFunc, error) {
	f := &folding[int32]{
		empty: noRow,
		load: func(dst []int32, from int) {
			for i := range dst {
				if dst[i] = int32(from + i); o.arg.IsNull(from + i) {
					dst[i] = noRow
				}
			}
		},
		combine: func(a, b int32) int32 {
			if a == noRow || b == noRow {
				return max(a, b)
			}
			if c := vec.CompareValues(o.arg, int(a), o.arg, int(b)); c > 0 && !greatest || c < 0 && greatest {
				return b
			}
			return a
		},
	}
	return folded(o, f, 4, func(row, _, _ int, x int32) error {
		o.rows[row] = x
		return nil
	})
}

func (o *windowOut) moments() (func() windowFunc, error) {
	f := &folding[accumulate.Moments]{
		load: func(dst []accumulate.Moments, from int) {
			for i := range dst {
				dst[i] = accumulate.Moments{}
				if !o.arg.IsNull(from + i) {
					dst[i].Add(accumulate.FloatAt(o.arg, from+i))
				}
			}
		},
		combine: accumulate.Moments.And,
	}
	return folded(o, f, 32, func(row, _, _ int, m accumulate.Moments) error {
		x, ok := accumulate.Variance(o.item.Fn.Agg.Kind, m)
		if o.values.F64[row] = x; !ok {
			o.setNull(row)
		} else if m.Overflowed(x) {
			return sqlerr.DataOutOfRange("DOUBLE", o.call())
		}
		return nil
	})
}

func (o *windowOut) bits() (func() windowFunc, error) {
	f := &folding[uint64]{}
	switch o.item.Fn.Agg.Kind {
	case expr.AggBitAnd:
		f.empty, f.combine = math.MaxUint64, func(a, b uint64) uint64 { return a & b }
	case expr.AggBitOr:
		f.combine = func(a, b uint64) uint64 { return a | b }
	default:
		f.combine = func(a, b uint64) uint64 { return a ^ b }
	}
	f.load = func(dst []uint64, from int) {
		for i := range dst {
			if dst[i] = uint64(o.arg.I64[from+i]); o.arg.IsNull(from + i) {
				dst[i] = f.empty
			}
		}
	}
	return folded(o, f, 8, func(row, _, _ int, x uint64) error {
		o.values.I64[row] = int64(x)
		return nil
	})
}
