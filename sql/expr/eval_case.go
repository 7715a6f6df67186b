package expr

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// caseNode is Case: each condition is evaluated where none before it was TRUE, each result where its condition is.
// IF, IFNULL, COALESCE and NULLIF evaluate their operands the same way and are built on the same merge.
type caseNode struct {
	ops   []node // condition and result of each arm, then the else, if any
	merge merger
	taken []int32
	rest  []int32
	sels  []selection

	readyElse bool // the else is a column or a constant of fixed width, which costs nothing to evaluate at any position

	counted int // bytes of taken and rest
}

func newCaseNode(e *Case, ops []node) *caseNode {
	n := &caseNode{ops: ops, merge: newMerger(e.Typ), sels: make([]selection, len(ops)+1)}
	if len(ops)%2 == 1 && !e.Typ.IsString() {
		switch unshare(ops[len(ops)-1]).(type) {
		case *columnNode, *constNode:
			n.readyElse = true
		}
	}
	return n
}

func (n *caseNode) operands() []node { return n.ops }

func (n *caseNode) result() *column.Vector { return &n.merge.out }

func (n *caseNode) eval(f *frame, s *selection) (*column.Vector, error) {
	if err := n.merge.start(f, s.n); err != nil {
		return nil, err
	}
	cur := s
	arms := len(n.ops) / 2
	var err error
	for i := range arms {
		n.taken, err = n.ops[2*i].choose(f, cur, true, n.taken[:0])
		if err != nil {
			return nil, err
		}
		if err := f.keeps(&n.counted, positionBytes(n.taken, n.rest)); err != nil {
			return nil, err
		}
		if len(n.taken) == 0 {
			continue
		}
		all := len(n.taken) == cur.rows()
		then := cur
		if !all {
			n.sels[2*i] = cur.narrow(f, n.taken)
			then = &n.sels[2*i]
		}
		v, err := n.ops[2*i+1].eval(f, then)
		if err != nil {
			return nil, err
		}
		if all && cur == s {
			return n.merge.whole(v), nil
		}
		if i == arms-1 && !all && n.readyElse {
			other, err := n.ops[len(n.ops)-1].eval(f, cur)
			if err != nil {
				return nil, err
			}
			if n.merge.spread(other, cur) {
				n.merge.put(v, n.taken)
				return &n.merge.out, nil
			}
		}
		n.merge.put(v, n.taken)
		if all {
			return &n.merge.out, nil
		}
		n.rest = subtract(n.rest, cur.positions(), n.taken)
		n.sels[2*i+1] = cur.narrow(f, n.rest)
		cur = &n.sels[2*i+1]
	}
	if len(n.ops)%2 == 0 {
		if cur == s {
			return n.merge.whole(column.ConstVector(types.NullOf(n.merge.typ))), nil
		}
		n.merge.putNull(cur.positions())
		return &n.merge.out, nil
	}
	v, err := n.ops[len(n.ops)-1].eval(f, cur)
	if err != nil {
		return nil, err
	}
	if cur == s {
		return n.merge.whole(v), nil
	}
	n.merge.put(v, cur.positions())
	return &n.merge.out, nil
}

func (n *caseNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	return chooseByValue(n, f, s, want, out)
}

// merger puts together a vector from the values of several, each for some positions.
type merger struct {
	typ   types.Type
	out   column.Vector
	view  column.Vector // another node's vector under this type
	valid column.Bitmap
	n     int
}

func newMerger(t types.Type) merger { return merger{typ: t, out: column.Vector{Type: t}} }

func (m *merger) start(f *frame, n int) error {
	m.n = n
	if err := f.reserve(&m.out, n); err != nil {
		return err
	}
	m.out.Loose = false // until a value that is put in is
	return nil
}

// whole returns v, which holds for all positions, under the result's type.
func (m *merger) whole(v *column.Vector) *column.Vector {
	switch {
	case v.Type == m.typ:
		return v
	case v.Type.Kind == types.KindNull:
		return column.ConstVector(types.NullOf(m.typ))
	case v.Type.Phys() != m.typ.Phys():
		m.put(v, Positions(nil, m.n))
		return &m.out
	}
	m.view = *v
	m.view.Type = m.typ
	return &m.view
}

func (m *merger) putNull(sel []int32) {
	ensureValid(&m.out, &m.valid, m.n)
	for _, i := range sel {
		m.out.Valid.Clear(int(i))
	}
	if m.out.Type.IsString() {
		for _, i := range sel {
			m.out.Str[i] = ""
		}
	}
}

// put copies the values of v at the positions of sel. Each position is written once, or once after spread.
func (m *merger) put(v *column.Vector, sel []int32) {
	if v.Const && v.IsNull(0) {
		m.putNull(sel)
		return
	}
	switch m.out.Type.Phys() {
	case types.PhysFloat64:
		scatter(m.out.F64, v.F64, v.Const, sel)
	case types.PhysString:
		m.out.Loose = m.out.Loose || v.Loose
		r := Strings(v)
		for _, i := range sel {
			m.out.Str[i] = r.At(int(i))
		}
	case types.PhysInt128:
		if v.Type.Phys() == types.PhysInt128 {
			scatter(m.out.I128, v.I128, v.Const, sel)
			break
		}
		r := Wides(v) // a decimal that was narrowed
		for _, i := range sel {
			m.out.I128[i] = r.At(int(i))
		}
	default:
		scatter(m.out.I64, v.I64, v.Const, sel)
	}
	if v.Valid != nil && !v.Const {
		ensureValid(&m.out, &m.valid, m.n)
		for _, i := range sel {
			if !v.Valid.Get(int(i)) {
				m.out.Valid.Clear(int(i))
			}
		}
	}
}

// spread copies the values of v at all positions of s, and put may overwrite them afterwards: so the positions of an else need not be
// told from those of the arm before it. It returns false, having copied nothing, where v has NULLs.
func (m *merger) spread(v *column.Vector, s *selection) bool {
	if v.Valid != nil || v.Type.Phys() != m.out.Type.Phys() || v.Const && v.IsNull(0) {
		return false
	}
	switch {
	case s.pos != nil || m.out.Type.IsString():
		m.put(v, s.positions())
	case m.out.Type.Phys() == types.PhysFloat64:
		fill(m.out.F64[:s.n], v.F64, v.Const)
	case m.out.Type.Phys() == types.PhysInt128:
		fill(m.out.I128[:s.n], v.I128, v.Const)
	default:
		fill(m.out.I64[:s.n], v.I64, v.Const)
	}
	return true
}

// fill is scatter to all positions.
func fill[T any](dst, src []T, isConstant bool) {
	if !isConstant {
		copy(dst, src[:len(dst)])
		return
	}
	x := src[0]
	for i := range dst {
		dst[i] = x
	}
}

func scatter[T any](dst, src []T, isConstant bool, sel []int32) {
	if isConstant {
		x := src[0]
		for _, i := range sel {
			dst[i] = x
		}
		return
	}
	for _, i := range sel {
		dst[i] = src[i]
	}
}

// coalesceNode is COALESCE and IFNULL: the first operand that is not NULL.
type coalesceNode struct {
	ops   []node
	merge merger
	rest  []int32
	taken []int32
	sels  []selection

	counted int // bytes of rest and taken
}

func (n *coalesceNode) operands() []node { return n.ops }

func (n *coalesceNode) result() *column.Vector { return &n.merge.out }

func (n *coalesceNode) eval(f *frame, s *selection) (*column.Vector, error) {
	if err := n.merge.start(f, s.n); err != nil {
		return nil, err
	}
	cur := s
	for k, o := range n.ops {
		v, err := o.eval(f, cur)
		if err != nil {
			return nil, err
		}
		last := k == len(n.ops)-1
		if cur == s && (last || v.Valid == nil) {
			return n.merge.whole(v), nil
		}
		if last || v.Valid == nil {
			n.merge.put(v, cur.positions())
			break
		}
		if v.Const { // NULL
			continue
		}
		n.taken = dropNulls(append(n.taken[:0], cur.positions()...), 0, v)
		n.merge.put(v, n.taken)
		n.rest = subtract(n.rest, cur.positions(), n.taken)
		if err := f.keeps(&n.counted, positionBytes(n.taken, n.rest)); err != nil {
			return nil, err
		}
		if len(n.rest) == 0 {
			break
		}
		n.sels[k] = cur.narrow(f, n.rest)
		cur = &n.sels[k]
	}
	return &n.merge.out, nil
}

func (n *coalesceNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	return chooseByValue(n, f, s, want, out)
}
