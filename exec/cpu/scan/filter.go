package scan

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// split divides the scan's filters into tests on encoded columns and expressions for decoded ones.
func (t *Table) split(q *task.Query) error {
	type bounds struct{ lo, hi *expr.Compare } // column >= lo, column <= hi
	ranges := map[int]*bounds{}
	var order []int
	for _, e := range t.scan.Filters {
		if c, ordinal := t.bound(e); c != nil {
			r := ranges[ordinal]
			if r == nil {
				r = &bounds{}
				ranges[ordinal] = r
				order = append(order, ordinal)
			}
			if (c.Op == expr.GT || c.Op == expr.GE) && r.lo == nil {
				r.lo = c
				continue
			}
			if (c.Op == expr.LT || c.Op == expr.LE) && r.hi == nil {
				r.hi = c
				continue
			}
		}
		if ordinal, p := t.predicate(e); p != nil {
			t.tests = append(t.tests, columnTest{ordinal: ordinal, pred: p})
			continue
		}
		if ordinal, p := t.dictionaryPredicate(q, e); p != nil {
			t.tests = append(t.tests, columnTest{ordinal: ordinal, pred: p})
			continue
		}
		t.rest = append(t.rest, e)
	}
	for _, ordinal := range order {
		r := ranges[ordinal]
		if r.lo != nil && r.hi != nil {
			lo, hi := r.lo.Right.(*expr.Const).Value, r.hi.Right.(*expr.Const).Value
			t.tests = append(t.tests, columnTest{ordinal: ordinal, pred: encoding.Between(lo, hi, r.lo.Op == expr.GT, r.hi.Op == expr.LT)})
			continue
		}
		for _, c := range []*expr.Compare{r.lo, r.hi} {
			if c != nil {
				_, p := t.predicate(c)
				t.tests = append(t.tests, columnTest{ordinal: ordinal, pred: p})
			}
		}
	}
	return nil
}

// bound returns e as `column < constant` (or another order comparison), if it is one.
func (t *Table) bound(e expr.Expr) (*expr.Compare, int) {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op < expr.LT || c.Op > expr.GE {
		return nil, -1
	}
	if _, ok := c.Left.(*expr.Const); ok {
		c = &expr.Compare{Op: c.Op.Swap(), Left: c.Right, Right: c.Left}
	}
	col, ok := c.Left.(*expr.Column)
	k, ok2 := c.Right.(*expr.Const)
	if !ok || !ok2 {
		return nil, -1
	}
	ordinal := t.Ordinal(col.ID)
	if ordinal < 0 || !t.comparable(ordinal, k.Value) {
		return nil, -1
	}
	return c, ordinal
}

// comparable says whether a constant can be compared with the encoded values of a column.
func (t *Table) comparable(ordinal int, v types.Value) bool {
	ct := t.scan.Table.Schema.Columns[ordinal].Type
	return ct.Phys() == v.Type.Phys() && (ct.Kind != types.KindDecimal || v.Type.Kind != types.KindDecimal || ct.Scale == v.Type.Scale)
}

// predicate translates a condition on one column, or returns nil.
func (t *Table) predicate(e expr.Expr) (int, *encoding.Predicate) {
	switch x := e.(type) {
	case *expr.Column:
		if o := t.Ordinal(x.ID); o >= 0 && x.Typ.Kind == types.KindBool {
			return o, encoding.Comparison(encoding.NE, types.BoolValue(false))
		}
	case *expr.Compare:
		l, r, op := x.Left, x.Right, x.Op
		if _, ok := l.(*expr.Const); ok {
			l, r, op = r, l, op.Swap()
		}
		c, ok := l.(*expr.Column)
		k, ok2 := r.(*expr.Const)
		if !ok || !ok2 {
			return -1, nil
		}
		o := t.Ordinal(c.ID)
		if o < 0 || !t.comparable(o, k.Value) {
			return -1, nil
		}
		if op == expr.NSEQ {
			if k.Value.Null {
				return o, encoding.IsNull()
			}
			op = expr.EQ
		}
		return o, encoding.Comparison(encodedOp[op], k.Value)
	case *expr.In:
		return t.inList(x, false)
	case *expr.IsNull:
		if c, ok := x.Arg.(*expr.Column); ok {
			if o := t.Ordinal(c.ID); o >= 0 {
				return o, encoding.IsNull()
			}
		}
	case *expr.Not:
		switch y := x.Arg.(type) {
		case *expr.IsNull:
			if c, ok := y.Arg.(*expr.Column); ok {
				if o := t.Ordinal(c.ID); o >= 0 {
					return o, encoding.IsNotNull()
				}
			}
		case *expr.In:
			return t.inList(y, true)
		case *expr.Compare:
			if op, ok := y.Op.Negate(); ok {
				return t.predicate(&expr.Compare{Op: op, Left: y.Left, Right: y.Right})
			}
		}
	}
	return -1, nil
}

var encodedOp = map[expr.Op]encoding.Op{
	expr.EQ: encoding.EQ, expr.NE: encoding.NE, expr.LT: encoding.LT, expr.LE: encoding.LE, expr.GT: encoding.GT, expr.GE: encoding.GE,
}

func (t *Table) inList(x *expr.In, negate bool) (int, *encoding.Predicate) {
	c, ok := x.Arg.(*expr.Column)
	if !ok || len(x.List) == 0 {
		return -1, nil
	}
	o := t.Ordinal(c.ID)
	if o < 0 {
		return -1, nil
	}
	for _, v := range x.List {
		if !t.comparable(o, v) {
			return -1, nil
		}
	}
	if !negate {
		return o, encoding.In(x.List)
	}
	values := x.List
	if x.HasNull {
		values = append(values[:len(values):len(values)], types.NullOf(values[0].Type))
	}
	return o, encoding.NotIn(values)
}

// dictionaryPredicate evaluates a condition on one dictionary-coded column (LIKE, SUBSTRING(...) IN, ...) once per
// string of the dictionary. It gives up, so that the condition is evaluated row by row, where that would not give the
// same. That is so of conditions that can be true of a NULL, that warn or fail for some string, or that are volatile; and where the
// dictionary is not small next to the table.
func (t *Table) dictionaryPredicate(q *task.Query, e expr.Expr) (int, *encoding.Predicate) {
	var id expr.ColumnID
	single := true
	expr.Walk(e, func(e expr.Expr) bool {
		switch x := e.(type) {
		case *expr.Column:
			single = single && (id == 0 || id == x.ID)
			id = x.ID
		case *expr.Subquery:
			single = false
		case *expr.Call:
			single = single && !x.Fn.Volatile
		}
		return single
	})
	if !single || id == 0 {
		return -1, nil
	}
	o := t.Ordinal(id)
	if o < 0 || !t.scan.Table.Schema.Columns[o].Type.IsString() {
		return -1, nil
	}
	var dict *column.Dictionary
	rows := 0
	for _, g := range t.scan.Table.Groups() {
		c := g.Columns[o]
		if c.Dict == nil || dict != nil && c.Dict != dict {
			return -1, nil
		}
		dict = c.Dict
		rows += g.Rows
	}
	if dict == nil || rows < 1024 || dict.Len() > rows/4 {
		return -1, nil
	}
	prog, err := expr.Compile(e, map[expr.ColumnID]int{id: 0})
	if err != nil {
		return -1, nil
	}
	ctx := q.Expr
	ctx.Warnings = &sqlerr.Warnings{}
	typ := t.scan.Table.Schema.Columns[o].Type
	null := column.New(typ, 1)
	null.SetNull(0, 1)
	if sel, err := prog.Select(&ctx, &column.Batch{N: 1, Cols: []*column.Vector{null}}, nil); err != nil || len(sel) > 0 {
		return -1, nil
	}
	passing := map[string]bool{}
	values := dict.Values()
	var sel []int32
	for from := 0; from < len(values); from += column.VectorSize {
		n := min(column.VectorSize, len(values)-from)
		v := &column.Vector{Type: typ, Str: values[from : from+n]}
		sel, err = prog.Select(&ctx, &column.Batch{N: n, Cols: []*column.Vector{v}}, sel[:0])
		if err != nil {
			return -1, nil
		}
		for _, p := range sel {
			passing[v.Str[p]] = true
		}
	}
	if len(ctx.Warnings.List()) > 0 {
		return -1, nil
	}
	return o, encoding.Matching(func(s string) bool { return passing[s] })
}

// columnType returns the type under which the scan gives a column.
func (t *Table) columnType(id expr.ColumnID) types.Type {
	for _, c := range t.scan.Cols {
		if c.ID == id {
			return c.Typ
		}
	}
	return types.Int64
}
