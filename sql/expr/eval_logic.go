package expr

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// logicNode is And or Or. Operands are evaluated left to right, each only where those before it have not decided.
type logicNode struct {
	args  []node
	isAnd bool

	out       column.Vector
	valid     column.Bitmap
	bufs      [3][]int32
	sels      []selection // each narrower than the one before
	undecided []int32
	counted   int // bytes of bufs and undecided
}

// keeps counts what the node keeps beside its vector.
func (n *logicNode) keeps(f *frame) error {
	return f.keeps(&n.counted, positionBytes(n.bufs[0], n.bufs[1], n.bufs[2], n.undecided))
}

func (n *logicNode) operands() []node { return n.args }

// narrow returns the selection left after operand i.
func (n *logicNode) narrow(f *frame, s *selection, i int, pos []int32) *selection {
	if n.sels == nil {
		n.sels = make([]selection, len(n.args))
	}
	n.sels[i] = s.narrow(f, pos)
	return &n.sels[i]
}

func (n *logicNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	if n.isAnd == want {
		return n.chooseAll(f, s, want, out)
	}
	return n.chooseAny(f, s, want, out)
}

// chooseAll keeps the positions at which every operand is want: TRUE for And, FALSE for Or.
func (n *logicNode) chooseAll(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	cur := s
	last := len(n.args) - 1
	for i, a := range n.args[:last] {
		chosen, err := a.choose(f, cur, want, n.bufs[i&1][:0])
		if err != nil {
			return nil, err
		}
		n.bufs[i&1] = chosen
		if err := n.keeps(f); err != nil {
			return nil, err
		}
		if len(chosen) == 0 {
			return out, nil
		}
		if len(chosen) < cur.rows() {
			cur = n.narrow(f, cur, i, chosen)
		}
	}
	return n.args[last].choose(f, cur, want, out)
}

// chooseAny keeps the positions at which some operand is want: TRUE for Or, FALSE for And.
func (n *logicNode) chooseAny(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	acc, chosen, spare := n.bufs[0][:0], n.bufs[1], n.bufs[2]
	cur := s
	var err error
	for i, a := range n.args {
		chosen, err = a.choose(f, cur, want, chosen[:0])
		if err != nil {
			return nil, err
		}
		if len(chosen) == 0 {
			continue
		}
		spare = union(spare, acc, chosen)
		acc, spare = spare, acc
		if i == len(n.args)-1 || len(chosen) == cur.rows() {
			break
		}
		n.undecided = subtract(n.undecided, cur.positions(), chosen)
		cur = n.narrow(f, cur, i, n.undecided)
	}
	n.bufs = [3][]int32{acc, chosen, spare}
	return append(out, acc...), n.keeps(f)
}

func (n *logicNode) eval(f *frame, s *selection) (*column.Vector, error) {
	n.out.Type = types.Bool
	if err := f.reserve(&n.out, s.n); err != nil {
		return nil, err
	}
	// Until an operand decides otherwise a conjunction is TRUE, a disjunction FALSE.
	start, decides := int64(0), int64(1)
	if n.isAnd {
		start, decides = 1, 0
	}
	dst := n.out.I64
	for _, i := range s.positions() {
		dst[i] = start
	}
	cur := s
	for k, a := range n.args {
		v, err := a.eval(f, cur)
		if err != nil {
			return nil, err
		}
		rest := n.undecided[:0] // narrowed in place from the second operand on: what is kept moves to the front
		for _, i := range cur.positions() {
			j := int(i)
			if v.Const {
				j = 0
			}
			switch {
			case v.Valid != nil && !v.Valid.Get(j):
				ensureValid(&n.out, &n.valid, s.n)
				n.out.Valid.Clear(int(i))
				rest = append(rest, i)
			case BoolToInt(v.I64[j] != 0) == int(decides):
				dst[i] = decides
				if n.out.Valid != nil {
					n.out.Valid.Set(int(i))
				}
			default:
				rest = append(rest, i)
			}
		}
		n.undecided = rest
		if len(rest) == 0 {
			break
		}
		cur = n.narrow(f, cur, k, rest)
	}
	return &n.out, n.keeps(f)
}

// ensureValid gives out, of n values, a validity bitmap in the memory of scratch, all set, if it has none.
func ensureValid(out *column.Vector, scratch *column.Bitmap, n int) {
	if out.Valid != nil {
		return
	}
	w := column.BitmapWords(n)
	if cap(*scratch) < w {
		*scratch = make(column.Bitmap, w)
	}
	b := (*scratch)[:w]
	for i := range b {
		b[i] = ^uint64(0)
	}
	out.Valid = b
}

// notNode is Not.
type notNode struct {
	ops [1]node
	out column.Vector
}

func (n *notNode) operands() []node { return n.ops[:] }

func (n *notNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	return n.ops[0].choose(f, s, !want, out)
}

func (n *notNode) eval(f *frame, s *selection) (*column.Vector, error) {
	v, err := n.ops[0].eval(f, s)
	if err != nil {
		return nil, err
	}
	n.out.Type = types.Bool
	if v.Const {
		n.out.Reserve(1)
		n.out.I64[0] = int64(BoolToInt(v.I64[0] == 0))
		n.out.Valid, n.out.Const = v.Valid, true
		return &n.out, nil
	}
	if err := f.reserve(&n.out, s.n); err != nil {
		return nil, err
	}
	n.out.Valid = v.Valid
	for _, i := range s.positions() {
		n.out.I64[i] = int64(BoolToInt(v.I64[i] == 0))
	}
	return &n.out, nil
}

// isNullNode is IsNull.
type isNullNode struct {
	ops [1]node
	out column.Vector
}

func (n *isNullNode) operands() []node { return n.ops[:] }

func (n *isNullNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	v, err := n.ops[0].eval(f, s)
	if err != nil {
		return nil, err
	}
	if v.Valid == nil || v.Const {
		if v.IsNull(0) == want {
			out = append(out, s.positions()...)
		}
		return out, nil
	}
	if !want {
		from := len(out)
		return dropNulls(append(out, s.positions()...), from, v), nil
	}
	for _, i := range s.positions() {
		if !v.Valid.Get(int(i)) {
			out = append(out, i)
		}
	}
	return out, nil
}

func (n *isNullNode) eval(f *frame, s *selection) (*column.Vector, error) {
	v, err := n.ops[0].eval(f, s)
	if err != nil {
		return nil, err
	}
	n.out.Type = types.Bool
	if err := f.reserve(&n.out, s.n); err != nil {
		return nil, err
	}
	for _, i := range s.positions() {
		n.out.I64[i] = int64(BoolToInt(v.IsNull(int(i))))
	}
	return &n.out, nil
}
