package expr

import (
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// compareNode is a Compare.
type compareNode struct {
	op     Op
	ops    [2]node
	phys   types.Phys
	scales [2]int     // of decimals, where they differ
	dict   truthTable // for a dictionary-coded operand against a constant
	with   string     // the constant that dict was filled with: a CASE may give another with each batch

	out          column.Vector
	valid        column.Bitmap
	buf          []int32
	flatL, flatR column.Vector // decoded dictionaries, widened decimals
	counted      int           // bytes of buf, dict, flatL and flatR
}

// keeps counts what the node keeps beside its vector.
func (n *compareNode) keeps(f *frame) error {
	return f.keeps(&n.counted, n.flatL.Capacity()+n.flatR.Capacity()+positionBytes(n.buf)+cap(n.dict.table))
}

func newCompareNode(e *Compare, l, r node) (node, error) {
	lp, rp := e.Left.Type().Phys(), e.Right.Type().Phys()
	n := &compareNode{op: e.Op, ops: [2]node{l, r}, phys: lp, out: column.Vector{Type: types.Bool}}
	if lp != rp {
		// One side of a decimal comparison may have been narrowed, or is a bare NULL; nothing else may differ.
		switch {
		case e.Left.Type().Kind == types.KindNull:
			n.phys = rp
		case e.Right.Type().Kind == types.KindNull:
		case lp == types.PhysInt64 && rp == types.PhysInt128, lp == types.PhysInt128 && rp == types.PhysInt64:
			n.phys = types.PhysInt128
		default:
			return nil, sqlerr.Bug("comparison of %s with %s: %s", e.Left.Type(), e.Right.Type(), e)
		}
	}
	if l, r := ScaleOf(e.Left.Type()), ScaleOf(e.Right.Type()); l != r && !e.Left.Type().IsFloat() {
		n.phys, n.scales = types.PhysInt128, [2]int{l, r}
	}
	return n, nil
}

func (n *compareNode) operands() []node { return n.ops[:] }

func (n *compareNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	l, err := n.ops[0].eval(f, s)
	if err != nil {
		return nil, err
	}
	r, err := n.ops[1].eval(f, s)
	if err != nil {
		return nil, err
	}
	op := n.op
	if op == NSEQ {
		return n.chooseNullSafe(l, r, s, want, out), n.keeps(f)
	}
	if l.Const && l.IsNull(0) || r.Const && r.IsNull(0) {
		return out, nil
	}
	if !want {
		op, _ = op.Negate()
	}
	from := len(out)
	out = n.compare(op, l, r, s, out)
	out = dropNulls(out, from, l)
	return dropNulls(out, from, r), n.keeps(f)
}

// compare appends the positions at which `l op r`, NULLs left aside: neither is a constant NULL.
func (n *compareNode) compare(op Op, l, r *column.Vector, s *selection, out []int32) []int32 {
	if n.scales[0] != n.scales[1] {
		a, b := Wides(l), Wides(r)
		return chooseIf(s.positions(), out, func(i int32) bool {
			return compareResult(op, types.CompareDecimal(a.At(int(i)), n.scales[0], b.At(int(i)), n.scales[1]))
		})
	}
	if l.Const && !r.Const {
		l, r, op = r, l, op.Swap()
	}
	if l.Const { // and so is r
		one := selection{n: 1}
		if len(n.pairs(op, l, r, &one, nil)) > 0 {
			out = append(out, s.positions()...)
		}
		return out
	}
	switch {
	case n.phys == types.PhysInt128:
		return select128(op, n.wide(l, &n.flatL, s), n.wide(r, &n.flatR, s), s.pos, s.n, out)
	case !r.Const:
		return n.pairs(op, l, r, s, out)
	}
	switch n.phys {
	case types.PhysFloat64:
		return selectConstFloats(op, l.F64, r.F64[0], s.pos, s.n, out)
	case types.PhysUint64:
		return selectConst(op, asUint64(l.I64), uint64(r.I64[0]), s.pos, s.n, out)
	case types.PhysString:
		if l.Dict == nil {
			return selectConst(op, l.Str, r.StringAt(0), s.pos, s.n, out)
		}
		return n.compareDictionary(op, l, r.StringAt(0), s, out)
	}
	return selectConst(op, l.I64, r.I64[0], s.pos, s.n, out)
}

// pairs compares two vectors position by position.
func (n *compareNode) pairs(op Op, l, r *column.Vector, s *selection, out []int32) []int32 {
	switch n.phys {
	case types.PhysInt128:
		return select128(op, n.wide(l, &n.flatL, s), n.wide(r, &n.flatR, s), s.pos, s.n, out)
	case types.PhysFloat64:
		return selectPairsFloats(op, l.F64, r.F64, s.pos, s.n, out)
	case types.PhysUint64:
		return selectPairs(op, asUint64(l.I64), asUint64(r.I64), s.pos, s.n, out)
	case types.PhysString:
		if l.Dict != nil && l.Dict == r.Dict && (op == EQ || op == NE) {
			return selectPairs(op, l.Codes, r.Codes, s.pos, s.n, out)
		}
		return selectPairs(op, flatStrings(l, &n.flatL, s), flatStrings(r, &n.flatR, s), s.pos, s.n, out)
	}
	return selectPairs(op, l.I64, r.I64, s.pos, s.n, out)
}

// compareDictionary compares codes: for equality with the constant's own code, else by a table of the dictionary's
// values that is filled once.
func (n *compareNode) compareDictionary(op Op, l *column.Vector, c string, s *selection, out []int32) []int32 {
	if op == EQ || op == NE {
		code, ok := l.Dict.Lookup(c)
		switch {
		case ok:
			return selectConst(op, l.Codes, code, s.pos, s.n, out)
		case op == NE:
			return append(out, s.positions()...)
		}
		return out
	}
	if n.with != c {
		n.dict, n.with = truthTable{}, c
	}
	table := n.dict.of(l.Dict, func(v string) bool { return compareResult(op, strings.Compare(v, c)) })
	return selectTable(table, 1, l.Codes, s.pos, s.n, out)
}

// compareResult says whether `a op b` holds, given c = -1, 0 or 1 for a below, equal to or above b.
func compareResult(op Op, c int) bool {
	switch op {
	case NE:
		return c != 0
	case LT:
		return c < 0
	case LE:
		return c <= 0
	case GT:
		return c > 0
	case GE:
		return c >= 0
	}
	return c == 0
}

// chooseNullSafe is choose for <=>.
func (n *compareNode) chooseNullSafe(l, r *column.Vector, s *selection, want bool, out []int32) []int32 {
	op := EQ
	if !want {
		op = NE
	}
	if l.Valid == nil && r.Valid == nil {
		return n.compare(op, l, r, s, out)
	}
	equal := n.buf[:0]
	if !(l.Const && l.IsNull(0)) && !(r.Const && r.IsNull(0)) {
		equal = n.compare(EQ, l, r, s, equal)
		equal = dropNulls(equal, 0, l)
		equal = dropNulls(equal, 0, r)
	}
	n.buf = equal
	for _, i := range s.positions() {
		same := len(equal) > 0 && equal[0] == i
		if same {
			equal = equal[1:]
		}
		if (same || l.IsNull(int(i)) && r.IsNull(int(i))) == want {
			out = append(out, i)
		}
	}
	return out
}

func (n *compareNode) eval(f *frame, s *selection) (*column.Vector, error) {
	l, err := n.ops[0].eval(f, s)
	if err != nil {
		return nil, err
	}
	r, err := n.ops[1].eval(f, s)
	if err != nil {
		return nil, err
	}
	if err := f.reserve(&n.out, s.n); err != nil {
		return nil, err
	}
	if n.op == NSEQ {
		chosen := n.chooseNullSafe(l, r, s, true, nil)
		markChosen(n.out.I64, s, chosen)
		return &n.out, n.keeps(f)
	}
	if l.Const && l.IsNull(0) || r.Const && r.IsNull(0) {
		return nullBool, nil
	}
	f.live = n.compare(n.op, l, r, s, f.live[:0])
	markChosen(n.out.I64, s, f.live)
	n.out.Valid = n.valid
	combineValidity(&n.out, s.n, l, r)
	if n.out.Valid != nil {
		n.valid = n.out.Valid
	}
	return &n.out, n.keeps(f)
}

var nullBool = column.ConstVector(types.NullOf(types.Bool))

// markChosen stores 1 at the chosen positions of s and 0 at the others.
func markChosen(dst []int64, s *selection, chosen []int32) {
	if s.pos == nil {
		clear(dst[:s.n])
	} else {
		for _, i := range s.pos {
			dst[i] = 0
		}
	}
	for _, i := range chosen {
		dst[i] = 1
	}
}

// combineValidity makes out, of n values, NULL where any operand is. out.Valid's memory is used if it has any. No
// operand is a constant NULL.
func combineValidity(out *column.Vector, n int, args ...*column.Vector) {
	mem := out.Valid
	out.Valid = nil
	for _, a := range args {
		if a.Valid == nil || a.Const {
			continue
		}
		if out.Valid == nil {
			out.Valid = column.And(mem, a.Valid, nil, n)
		} else {
			out.Valid = column.And(out.Valid, out.Valid, a.Valid, n)
		}
	}
}

// wide gives an operand as Int128, copying narrow values to scratch.
func (n *compareNode) wide(v, scratch *column.Vector, s *selection) Reader[types.Int128] {
	if v.Type.Phys() == types.PhysInt128 {
		return Int128s(v)
	}
	scratch.Type = types.Decimal(types.MaxDecimalPrecision, ScaleOf(v.Type))
	if v.Const {
		scratch.Reserve(1)
		scratch.I128[0] = types.Int128FromInt64(v.I64[0])
		return read(scratch.I128, true)
	}
	scratch.Reserve(s.n)
	for _, i := range s.positions() {
		scratch.I128[i] = types.Int128FromInt64(v.I64[i])
	}
	return read(scratch.I128, false)
}

// flatStrings gives the strings of v by position, decoding a dictionary into scratch.
func flatStrings(v, scratch *column.Vector, s *selection) []string {
	if v.Dict == nil {
		return v.Str
	}
	scratch.Type = types.Text
	scratch.Reserve(s.n)
	values := v.Dict.Values()
	for _, i := range s.positions() {
		scratch.Str[i] = values[v.Codes[i]]
	}
	return scratch.Str
}

// truthTable remembers the outcome of a condition for each value of a dictionary. A dictionary only grows, so the
// table is extended where new codes have come.
type truthTable struct {
	dict  *column.Dictionary
	table []uint8 // 1: true
}

func (t *truthTable) of(d *column.Dictionary, f func(string) bool) []uint8 {
	if t.dict != d {
		t.dict, t.table = d, t.table[:0]
	}
	if values := d.Values(); len(t.table) < len(values) {
		for _, v := range values[len(t.table):] {
			t.table = append(t.table, uint8(BoolToInt(f(v))))
		}
	}
	return t.table
}
