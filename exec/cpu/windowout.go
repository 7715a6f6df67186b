package cpu

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// windowOut is where a function's results are collected, for the rows in order, and what it reads.
type windowOut struct {
	r    *windowRows
	item *logical.WindowItem

	values *column.Vector // numbers; or
	rows   []int32        // the row, in order, whose value each result is; noRow, or defaultRow
	from   *column.Vector // where those values lie, as stored
	other  *column.Vector // the default of LAG and LEAD, as stored; nil: NULL
	null   []bool         // results that are NULL; nil: none is

	arg             *column.Vector // an aggregate's operand, in order
	key, start, end *column.Vector // of a frame by values, in order
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
	}
	picks := false
	switch it.Fn.Kind {
	case expr.WinFirstValue, expr.WinLastValue, expr.WinNthValue:
		picks = true
	case expr.WinLag, expr.WinLead:
		picks = true
		if len(it.Args) == 3 {
			o.other = r.column(it.Args[2])
		}
	case expr.WinAggregate:
		if len(it.Args) > 0 {
			o.arg = get(it.Args[0])
		}
		switch it.Fn.Agg.Kind {
		case expr.AggMin, expr.AggMax:
			picks = true
		case expr.AggCount, expr.AggCountStar, expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		default:
			o.null = make([]bool, r.n)
		}
	}
	if err != nil {
		return nil, err
	}
	size := int64(4)
	if picks {
		o.rows = make([]int32, r.n)
		o.from = r.column(it.Args[0])
	} else {
		o.values = column.New(it.Col.Typ, r.n)
		size = width(o.values) + 1
	}
	return o, r.w.q.mem.Reserve(r.w.sort.name, size*int64(r.n))
}

// segment returns the results of the n rows of part, or if it is nil of those from on, from being a multiple of 64. stored says where
// these rows lie.
func (o *windowOut) segment(from, n int, part, stored []int32) *column.Vector {
	v := &column.Vector{}
	if o.rows != nil {
		rows := o.rows[from:min(from+n, len(o.rows))]
		if part != nil {
			rows = make([]int32, n)
			gatherAt(rows, o.rows, nil, part)
		}
		o.pick(v, rows, stored)
		return v
	}
	if part != nil {
		(&packedColumn{v: o.values}).gather(v, n, nil, part)
	} else {
		slice(v, o.values, from, n)
	}
	if o.null != nil {
		for i := range n {
			row := from + i
			if part != nil {
				row = int(part[i])
			}
			if o.null[row] {
				v.SetNull(i, n)
			}
		}
	}
	return v
}

// pick stores the values of the given rows, which are the results of rows that lie at at.
func (o *windowOut) pick(v *column.Vector, rows, at []int32) {
	n := len(rows)
	if o.other == nil && !o.from.Const {
		stored := make([]int32, n)
		var nulls []int32
		for i, j := range rows {
			if j < 0 {
				nulls = append(nulls, int32(i))
			} else {
				stored[i] = o.r.order[j]
			}
		}
		(&packedColumn{v: o.from}).gather(v, n, nil, stored)
		setNulls(v, n, nulls)
		return
	}
	v.Type = o.item.Col.Typ
	v.Reserve(n)
	for i, j := range rows {
		switch {
		case j >= 0:
			copyValue(v, i, n, o.from, int(o.r.order[j]))
		case j == defaultRow && o.other != nil:
			copyValue(v, i, n, o.other, int(at[i]))
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
