package window

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// windowFunc computes a function's results for a block; f has the frames of those that are framed. It serves one worker for one task,
// whose blocks come one after another.
type windowFunc func(b *windowBlock, f *framer) error

// prepare makes what a function needs of all rows, and returns what makes it for a task.
func (o *windowOut) prepare() (func() windowFunc, error) {
	f := windowFunc(nil)
	switch o.item.Fn.Kind {
	case expr.WinAggregate:
		return o.aggregate()
	case expr.WinLag, expr.WinLead:
		f = o.shift()
	case expr.WinFirstValue, expr.WinLastValue, expr.WinNthValue:
		f = o.nth()
	case expr.WinPercentRank, expr.WinCumeDist:
		f = o.share()
	default:
		if f = o.number(); f == nil {
			return nil, sqlerr.Bug("unknown window function %s", o.item.Fn.Name)
		}
	}
	return func() windowFunc { return f }, nil
}

// number computes the functions that give whole numbers.
func (o *windowOut) number() windowFunc {
	numbers := func(f func(b *windowBlock, out []int64)) windowFunc {
		return func(b *windowBlock, _ *framer) error {
			f(b, o.values.I64[b.from:b.from+b.n])
			return nil
		}
	}
	switch o.item.Fn.Kind {
	case expr.WinRowNumber:
		return numbers(func(b *windowBlock, out []int64) {
			for k, p := range b.p0[:len(out)] {
				out[k] = int64(b.from+k+1) - int64(p)
			}
		})
	case expr.WinRank:
		return numbers(func(b *windowBlock, out []int64) {
			p0 := b.p0[:len(out)]
			for k, g := range b.g0[:len(out)] {
				out[k] = int64(g-p0[k]) + 1
			}
		})
	case expr.WinDenseRank:
		return numbers(func(b *windowBlock, out []int64) {
			for k, rank := range b.rank[:len(out)] {
				out[k] = int64(rank) + 1
			}
		})
	case expr.WinNtile:
		return numbers(o.ntile)
	}
	return nil
}

func (o *windowOut) ntile(b *windowBlock, out []int64) {
	buckets := o.constant(0)
	partition := int32(-1)
	var size, larger, in int64 // a bucket's rows, the buckets that have one more, and the rows in these
	for k := range out {
		if b.p0[k] != partition {
			partition = b.p0[k]
			rows := int64(b.p1[k] - partition)
			size, larger = rows/buckets, rows%buckets
			in = larger * (size + 1)
		}
		if row := int64(b.from+k) - int64(partition); row >= in {
			out[k] = larger + (row-in)/size + 1
		} else {
			out[k] = row/(size+1) + 1
		}
	}
}

// constant returns an operand that the binder has checked to be a constant.
func (o *windowOut) constant(arg int) int64 { return o.item.Args[arg].(*expr.Const).Value.I }

// share computes PERCENT_RANK and CUME_DIST.
func (o *windowOut) share() windowFunc {
	isCumeDist := o.item.Fn.Kind == expr.WinCumeDist
	return func(b *windowBlock, _ *framer) error {
		out := o.values.F64[b.from : b.from+b.n]
		for k := range out {
			rows := float64(b.p1[k] - b.p0[k])
			switch {
			case isCumeDist:
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
	if o.rows != nil {
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
	return func(b *windowBlock, _ *framer) error {
		for k := 0; k < b.n; {
			// The rows of one partition take a run of values.
			from, to := b.from+k, min(b.from+b.n, int(b.p1[k]))
			first := int64(b.p0[k])
			inside := min(max(int64(from), first-by), int64(to)) // the first row that has one
			outside := max(min(int64(to), int64(b.p1[k])-by), inside)
			for row := from; row < int(inside); row++ {
				o.setDefault(row)
			}
			o.copyRun(int(inside), int(inside+by), int(outside-inside))
			for row := int(outside); row < to; row++ {
				o.setDefault(row)
			}
			k = to - b.from
		}
		return nil
	}
}

// setDefault gives a row LAG's or LEAD's default.
func (o *windowOut) setDefault(row int) {
	if o.other == nil {
		o.setNull(row)
		return
	}
	o.take(row, o.other, o.r.position(row))
}

// take gives a row the number of v at position at.
func (o *windowOut) take(row int, v *column.Vector, at int) {
	switch {
	case v.IsNull(at):
		o.setNull(row)
		return
	case v.Const:
		at = 0
	}
	if o.values.F64 != nil {
		o.values.F64[row] = v.F64[at]
	} else {
		o.values.I64[row] = v.I64[at]
	}
}

// copyRun gives the n rows from row on the operand's numbers from at on.
func (o *windowOut) copyRun(row, at, n int) {
	if n == 0 {
		return
	}
	if o.values.F64 != nil {
		copy(o.values.F64[row:row+n], o.arg.F64[at:at+n])
	} else {
		copy(o.values.I64[row:row+n], o.arg.I64[at:at+n])
	}
	if o.arg.Valid != nil {
		for i := range n {
			if !o.arg.Valid.Get(at + i) {
				o.setNull(row + i)
			}
		}
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
		for k, lo := range f.lo[:b.n] {
			hi := f.hi[k]
			j := int64(lo) + at
			if last {
				j = int64(hi) - 1
			}
			inside := j >= int64(lo) && j < int64(hi)
			switch {
			case o.rows == nil && inside:
				o.take(b.from+k, o.arg, int(j))
			case o.rows == nil:
				o.setNull(b.from + k)
			case inside:
				o.rows[b.from+k] = int32(j)
			default:
				o.rows[b.from+k] = noRow
			}
		}
		return nil
	}
}
