package window

import (
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// windowOut is where a function's results are collected, for the rows in order, and what it reads.
type windowOut struct {
	r    *windowRows
	item *logical.WindowItem

	values *column.Vector // numbers; or
	rows   []int32        // the row, in order, whose value each result is; noRow, or defaultRow
	from   *column.Vector // where those values lie, as stored
	other  *column.Vector // the default of LAG and LEAD, as stored; nil: NULL
	null   []bool         // results that are NULL; nil: none can be
	nulls  atomic.Bool    // some is

	begin func() windowFunc

	arg             *column.Vector // the operand, in order
	key, start, end *column.Vector // of a frame by values, in order
	compared        *ranked        // of a frame that compares values; nil: it does not
}

// Results that are no row's value.
const (
	noRow      = -1 // NULL
	defaultRow = -2
)

func (r *windowRows) newOut(it *logical.WindowItem) (*windowOut, error) {
	o := &windowOut{r: r, item: it}
	var err error
	get := func(e expr.Expr) (v *column.Vector) {
		if e != nil && err == nil {
			v, err = r.inOrder(e)
		}
		return v
	}
	if it.Fn.Framed {
		o.key, o.start, o.end = get(it.Frame.Key), get(it.Frame.Start.Value), get(it.Frame.End.Value)
		if it.Frame.Compared != nil && err == nil {
			o.compared, err = r.rankedBy(it.Frame.Compared, it.Frame.Op)
		}
	}
	picks := false // results are some row's value, or NULL
	sums := false  // results are computed of values, or NULL if there are none
	switch it.Fn.Kind {
	case expr.WinFirstValue, expr.WinLastValue, expr.WinNthValue, expr.WinLag, expr.WinLead:
		picks = true
		if len(it.Args) == 3 {
			o.other = r.column(it.Args[2])
		}
	case expr.WinAggregate:
		switch it.Fn.Agg.Kind {
		case expr.AggMin, expr.AggMax:
			picks = true
		case expr.AggCount, expr.AggCountStar, expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		default:
			sums = true
		}
		if len(it.Args) > 0 {
			o.arg = get(it.Args[0])
		}
	}
	byRow := picks && !isNumber(it.Args[0].Type())
	size := int64(4)
	if !byRow {
		size = (&column.Vector{Type: it.Col.Typ}).Width()
	}
	if (picks || sums) && !byRow {
		size++
	}
	if picks && !byRow {
		o.arg = get(it.Args[0])
	}
	if err != nil {
		return nil, err
	}
	if err := r.w.q.Memory.Reserve(r.w.sort.Name, size*int64(r.n)); err != nil {
		return nil, err
	}
	if byRow {
		o.rows = make([]int32, r.n)
		o.from = r.column(it.Args[0])
		return o, nil
	}
	if picks || sums {
		o.values, o.null = column.New(it.Col.Typ, r.n), make([]bool, r.n)
	} else {
		o.values = column.NewUnset(it.Col.Typ, r.n)
	}
	return o, nil
}

// isNumber says whether values of a type are integers or doubles of 64 bits, as vectors hold them.
func isNumber(t types.Type) bool {
	switch t.Phys() {
	case types.PhysInt64, types.PhysUint64, types.PhysFloat64:
		return true
	}
	return false
}

func (o *windowOut) setNull(row int) {
	o.null[row] = true
	if !o.nulls.Load() {
		o.nulls.Store(true)
	}
}

// segment returns the results of the n rows of part, or if it is nil of those from on, from being a multiple of 64.
func (o *windowOut) segment(from, n int, part []int32) *column.Vector {
	v := &column.Vector{}
	at := rowsort.Rows{Rows: part, From: from}
	if o.rows != nil {
		rows := o.rows[from:min(from+n, len(o.rows))]
		if part != nil {
			rows = make([]int32, n)
			vec.GatherAt(rows, o.rows, nil, part)
		}
		o.pick(v, rows, at)
		return v
	}
	if part != nil {
		(&vec.Packed{V: o.values}).Gather(v, n, nil, part)
	} else {
		vec.Slice(v, o.values, from, n)
	}
	if o.nulls.Load() {
		for i := range n {
			if o.null[at.At(i)] {
				v.SetNull(i, n)
			}
		}
	}
	return v
}

// pick stores the values of the given rows, which are the results of the rows at.
func (o *windowOut) pick(v *column.Vector, rows []int32, at rowsort.Rows) {
	n := len(rows)
	if o.other == nil && !o.from.Const {
		stored := make([]int32, n)
		var nulls []int32
		for i, j := range rows {
			if j < 0 {
				nulls = append(nulls, int32(i))
			} else {
				stored[i] = int32(o.r.position(int(j)))
			}
		}
		(&vec.Packed{V: o.from}).Gather(v, n, nil, stored)
		vec.SetNulls(v, n, nulls)
		return
	}
	v.Type = o.item.Col.Typ
	v.Reserve(n)
	for i, j := range rows {
		switch {
		case j >= 0:
			copyValue(v, i, n, o.from, o.r.position(int(j)))
		case j == defaultRow && o.other != nil:
			copyValue(v, i, n, o.other, o.r.position(at.At(i)))
		default:
			v.SetNull(i, n)
		}
	}
}

// copyValue stores the value of src at p in the flat vector dst, of n values, at i.
func copyValue(dst *column.Vector, i, n int, src *column.Vector, p int) {
	if src.Const {
		p = 0
	}
	if src.IsNull(p) {
		dst.SetNull(i, n)
		return
	}
	switch dst.Type.Phys() {
	case types.PhysFloat64:
		dst.F64[i] = src.F64[p]
	case types.PhysInt128:
		dst.I128[i] = src.I128[p]
	case types.PhysString:
		dst.Str[i] = src.StringAt(p)
	default:
		dst.I64[i] = src.I64[p]
	}
}
