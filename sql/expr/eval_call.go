package expr

import (
	"errors"
	"slices"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// callNode is a Call of a function with a Kernel: it evaluates the operands, settles NULLs and gives the kernel what is
// left, once per row, once per dictionary value or, if all operands are constant, once.
type callNode struct {
	call  *Call
	total bool
	ops   []node
	args  []*column.Vector
	null  *column.Vector

	out   column.Vector
	valid column.Bitmap
	memo  *dictionaryMemo

	counted int // bytes of memo beside its strings
}

func newCallNode(e *Call, ops []node) node {
	return &callNode{
		call: e, total: e.Fn.Total != nil && e.Fn.Total(e), ops: ops, args: make([]*column.Vector, len(ops)),
		null: column.ConstVector(types.NullOf(e.Typ)),
		out:  column.Vector{Type: e.Typ},
	}
}

func (n *callNode) operands() []node { return n.ops }

// result returns the vector that the node makes its values in, of its type from the start; nil: it has none of its own.
func (n *callNode) result() *column.Vector { return &n.out }

func (n *callNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	v, table, err := n.run(f, s, true)
	if err != nil {
		return nil, err
	}
	if table != nil {
		from := len(out)
		out = selectTable(table, uint8(BoolToInt(want)), v.Codes, s.pos, s.n, out)
		return dropNulls(out, from, v), nil
	}
	return chooseValues(v, s, want, out), nil
}

func (n *callNode) eval(f *frame, s *selection) (*column.Vector, error) {
	v, _, err := n.run(f, s, false)
	return v, err
}

// run computes the call. If wantsTruth is set and the function was evaluated over the dictionary of an operand, it returns
// that operand and the outcome for each of its codes: 0, 1, or 2 for NULL.
func (n *callNode) run(f *frame, s *selection, wantsTruth bool) (v *column.Vector, table []uint8, err error) {
	fn := n.call.Fn
	allConst, null, coded := true, false, -1
	for i, o := range n.ops {
		a, err := o.eval(f, s)
		if err != nil {
			return nil, nil, err
		}
		n.args[i] = a
		if a.Const {
			null = null || a.IsNull(0)
			continue
		}
		if a.Dict != nil && allConst {
			coded = i
		} else {
			coded = -1
		}
		allConst = false
	}
	if null && fn.Nulls == NullIfAny {
		return n.null, nil, nil
	}
	rows, sel := s.n, s.pos
	if allConst && !fn.Volatile {
		rows, sel = 1, nil
	}
	if coded >= 0 && fn.ByDictionary && fn.Nulls == NullIfAny {
		m, err := n.dictionary(f, coded, s)
		if err != nil {
			return nil, nil, err
		}
		if m != nil {
			if wantsTruth {
				return n.args[coded], m.truth, nil
			}
			return &n.out, nil, n.mapCodes(f, m, n.args[coded], s)
		}
	}
	if err := f.reserve(&n.out, rows); err != nil {
		return nil, nil, err
	}
	if fn.Nulls == NullIfAny && !allConst {
		n.out.Valid = n.valid
		combineValidity(&n.out, rows, n.args...)
		if n.out.Valid != nil {
			n.valid = n.out.Valid
			if !n.total {
				f.live = dropNulls(append(f.live[:0], Positions(sel, rows)...), 0, &n.out)
				sel = f.live
			}
		}
	}
	if sel == nil || len(sel) > 0 {
		if err := fn.Eval(f.ctx, n.call, &n.out, n.args, sel, rows); err != nil {
			return nil, nil, arisen(err, n.call, append(writtenAs[fn.Name], append([]string{fn.Name, fn.Spelling.Infix}, fn.Aliases...)...))
		}
	}
	n.out.Const = allConst && !fn.Volatile
	return &n.out, nil, nil
}

// writtenAs are the ways to write functions that are not their names.
var writtenAs = map[string][]string{"json_extract": {"->", "->>"}, "json_memberof": {"MEMBER"}}

// arisen gives an error of the user's the expression that it arose in, and the names and operators by which a statement calls that.
func arisen(err error, in Expr, names []string) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Kind != sqlerr.User {
		return err
	}
	return e.In(sqlerr.Expression{Text: in.String(), Names: slices.DeleteFunc(names, func(s string) bool { return s == "" })})
}

// dictionaryMemo holds the results of a function for each value of a dictionary, beside operands that have the same values for all rows.
type dictionaryMemo struct {
	dict    *column.Dictionary
	coded   int           // the operand of the dictionary
	others  []types.Value // by operand; of those that are no constants of the expression: a join gives other rows other ones
	known   int           // codes 0..known-1 are done
	results column.Vector // by code
	truth   []uint8       // of a BOOL
	failed  bool          // some value of the dictionary, perhaps of no selected row, raises an error
}

// memoBytes is what a result of a dictionaryMemo takes at most beside its string: in the results, and in those of the values that are new.
const memoBytes = 2*16 + 1

// maxDictionary is how many distinct values a function is evaluated for at once; it bounds what is wasted on
// values that no row has.
const maxDictionary = 1 << 16

// dictionary returns the results over operand i's dictionary, or nil if they are not to be had, or cost more than those of the selected rows.
func (n *callNode) dictionary(f *frame, i int, s *selection) (*dictionaryMemo, error) {
	d := n.args[i].Dict
	values := d.Values()
	switch same := n.memo != nil && n.memo.dict == d && n.memo.coded == i; {
	case same && n.sameOthers(n.memo):
	case same && (len(values) > s.rows() || n.call.Typ.IsString()): // strings would pile up
		return nil, nil
	default:
		n.memo = n.newMemo(d, i)
	}
	m := n.memo
	if m.failed || len(values) > maxDictionary {
		return nil, nil
	}
	if m.known == len(values) {
		return m, nil
	}
	fresh := values[m.known:]
	if err := f.keeps(&n.counted, len(values)*memoBytes); err != nil {
		return nil, err
	}
	args := append([]*column.Vector(nil), n.args...)
	args[i] = &column.Vector{Type: n.args[i].Type, Str: fresh}
	part := column.New(n.call.Typ, len(fresh))
	if err := n.call.Fn.Eval(f.ctx, n.call, part, args, nil, len(fresh)); err != nil {
		m.failed = true
		return nil, nil // the row that has this value, if any, raises the error itself
	}
	m.extend(part, len(fresh))
	bytes := int64(0)
	for _, s := range part.Str {
		bytes += int64(len(s))
	}
	return m, f.ctx.Keep(bytes)
}

// newMemo returns a memo of no results over operand coded's dictionary, beside the other operands' values.
func (n *callNode) newMemo(d *column.Dictionary, coded int) *dictionaryMemo {
	m := &dictionaryMemo{dict: d, coded: coded}
	for k, op := range n.ops {
		if _, isConst := op.(*constNode); isConst || k == coded {
			continue
		}
		if m.others == nil {
			m.others = make([]types.Value, len(n.ops))
		}
		m.others[k] = n.args[k].Value(0)
		m.others[k].S = strings.Clone(m.others[k].S)
	}
	return m
}

// sameOthers says whether the operands beside the coded one have the values that m's results are for.
func (n *callNode) sameOthers(m *dictionaryMemo) bool {
	for k := range m.others {
		if _, isConst := n.ops[k].(*constNode); !isConst && k != m.coded && n.args[k].Value(0) != m.others[k] {
			return false
		}
	}
	return true
}

func (m *dictionaryMemo) extend(part *column.Vector, n int) {
	r := &m.results
	r.Type = part.Type
	total := m.known + n
	r.I64 = append(r.I64, part.I64...)
	r.F64 = append(r.F64, part.F64...)
	r.I128 = append(r.I128, part.I128...)
	r.Str = append(r.Str, part.Str...)
	if part.Valid != nil || r.Valid != nil {
		valid := column.NewBitmap(total, true)
		for i := range total {
			if i < m.known && r.IsNull(i) || i >= m.known && part.IsNull(i-m.known) {
				valid.Clear(i)
			}
		}
		r.Valid = valid
	}
	if part.Type.Kind == types.KindBool {
		for i := m.known; i < total; i++ {
			t := uint8(BoolToInt(r.I64[i] != 0))
			if r.IsNull(i) {
				t = 2
			}
			m.truth = append(m.truth, t)
		}
	}
	m.known = total
}

// mapCodes stores in out the result of each selected row's code.
func (n *callNode) mapCodes(f *frame, m *dictionaryMemo, v *column.Vector, s *selection) error {
	if err := f.reserve(&n.out, s.n); err != nil {
		return err
	}
	r := &m.results
	sel := s.positions()
	switch n.call.Typ.Phys() {
	case types.PhysFloat64:
		gatherCodes(n.out.F64, r.F64, v.Codes, sel)
	case types.PhysInt128:
		gatherCodes(n.out.I128, r.I128, v.Codes, sel)
	case types.PhysString:
		gatherCodes(n.out.Str, r.Str, v.Codes, sel)
	default:
		gatherCodes(n.out.I64, r.I64, v.Codes, sel)
	}
	if v.Valid == nil && r.Valid == nil {
		return nil
	}
	ensureValid(&n.out, &n.valid, s.n)
	if v.Valid != nil {
		copy(n.out.Valid, v.Valid[:len(n.out.Valid)])
	}
	if r.Valid != nil {
		for _, i := range sel {
			if !r.Valid.Get(int(v.Codes[i])) {
				n.out.Valid.Clear(int(i))
			}
		}
	}
	return nil
}

func gatherCodes[T any](dst, src []T, codes []uint32, sel []int32) {
	for _, i := range sel {
		dst[i] = src[codes[i]]
	}
}
