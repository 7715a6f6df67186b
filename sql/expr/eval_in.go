package expr

import (
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// inNode is In. Membership is tested by comparing with each element of a short list, by a bitmap where integers lie
// close together, and by a hash set otherwise; strings of a dictionary are looked up once each.
type inNode struct {
	ops     [1]node
	hasNull bool
	phys    types.Phys
	few     []int64 // of a short list of integers
	dense   []uint64
	base    int64
	ints    intSet
	floats  map[uint64]struct{} // of types.FloatKey
	wides   map[types.Int128]struct{}
	strings map[string]struct{}
	dict    truthTable

	out     column.Vector
	valid   column.Bitmap
	list    int // bytes of the set
	counted int // bytes of the set and of dict
}

// setBytes is about what a hash set takes for each of its elements.
const setBytes = 48

// keeps counts what the node keeps beside its vector.
func (n *inNode) keeps(f *frame) error { return f.keeps(&n.counted, n.list+cap(n.dict.table)) }

// fewElements is how long a list may be to be searched from end to end.
const fewElements = 4

// maxDense is how wide a range of integers a bitmap may span: 8 KiB of bits.
const maxDense = 1 << 16

func newInNode(e *In, arg node) *inNode {
	n := &inNode{ops: [1]node{arg}, hasNull: e.HasNull, phys: e.Arg.Type().Phys()}
	switch n.phys {
	case types.PhysFloat64:
		n.floats = make(map[uint64]struct{}, len(e.List))
		for _, v := range e.List {
			n.floats[types.FloatKey(v.F)] = struct{}{}
		}
	case types.PhysInt128:
		n.wides = make(map[types.Int128]struct{}, len(e.List))
		for _, v := range e.List {
			if v.Type.Phys() != types.PhysInt128 {
				v.D = types.Int128FromInt64(v.I)
			}
			n.wides[v.D] = struct{}{}
		}
	case types.PhysString:
		n.strings = make(map[string]struct{}, len(e.List))
		for _, v := range e.List {
			n.strings[v.S] = struct{}{}
		}
	default:
		n.addInts(e.List)
	}
	n.list = setBytes*(len(n.floats)+len(n.wides)+len(n.strings)) + 8*(len(n.few)+len(n.dense)) + 9*len(n.ints.slots)
	return n
}

func (n *inNode) addInts(list []types.Value) {
	vals := make([]int64, len(list))
	for i, v := range list {
		vals[i] = v.I
	}
	slices.Sort(vals)
	vals = slices.Compact(vals)
	switch {
	case len(vals) <= fewElements:
		n.few = vals
	case uint64(vals[len(vals)-1])-uint64(vals[0]) < maxDense:
		n.base = vals[0]
		n.dense = make([]uint64, (vals[len(vals)-1]-n.base)/64+1)
		for _, v := range vals {
			n.dense[(v-n.base)/64] |= 1 << (uint64(v-n.base) % 64)
		}
	default:
		n.ints = newIntSet(vals)
	}
}

func (n *inNode) operands() []node { return n.ops[:] }

func (n *inNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	v, err := n.ops[0].eval(f, s)
	if err != nil {
		return nil, err
	}
	if v.Const && v.IsNull(0) || !want && n.hasNull {
		return out, nil // not in a list with a NULL: nobody knows
	}
	from := len(out)
	out = n.members(v, s, want, out)
	return dropNulls(out, from, v), n.keeps(f)
}

// members appends the positions whose value is (want) or is not in the list, NULLs left aside.
func (n *inNode) members(v *column.Vector, s *selection, want bool, out []int32) []int32 {
	if v.Const {
		one := *v
		one.Const = false
		if len(n.members(&one, &selection{n: 1}, want, nil)) > 0 {
			out = append(out, s.positions()...)
		}
		return out
	}
	sel := s.positions()
	switch n.phys {
	case types.PhysFloat64:
		return chooseIf(sel, out, func(i int32) bool { _, ok := n.floats[types.FloatKey(v.F64[i])]; return ok == want })
	case types.PhysInt128:
		return chooseIf(sel, out, func(i int32) bool { _, ok := n.wides[v.I128[i]]; return ok == want })
	case types.PhysString:
		if v.Dict != nil {
			table := n.dict.of(v.Dict, func(s string) bool { _, ok := n.strings[s]; return ok })
			return selectTable(table, uint8(BoolToInt(want)), v.Codes, s.pos, s.n, out)
		}
		return chooseIf(sel, out, func(i int32) bool { _, ok := n.strings[v.Str[i]]; return ok == want })
	}
	return n.memberInts(v.I64, sel, want, out)
}

func chooseIf(sel, out []int32, f func(int32) bool) []int32 {
	for _, i := range sel {
		if f(i) {
			out = append(out, i)
		}
	}
	return out
}

func (n *inNode) memberInts(v []int64, sel []int32, want bool, out []int32) []int32 {
	out = slices.Grow(out, len(sel))
	dst := out[len(out) : len(out)+len(sel)]
	no := BoolToInt(!want)
	k := 0
	switch {
	case n.dense != nil:
		last := uint64(len(n.dense)) * 64
		for _, i := range sel {
			dst[k] = i
			hit := 0
			if d := uint64(v[i] - n.base); d < last {
				hit = int(n.dense[d/64] >> (d % 64) & 1)
			}
			k += hit ^ no
		}
	case n.ints.slots != nil:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(n.ints.has(v[i])) ^ no
		}
	default:
		// Unused elements repeat the first, so that the loop has no length to look at.
		var e [fewElements]int64
		if len(n.few) == 0 {
			if want {
				return out
			}
			return append(out, sel...)
		}
		for j := range e {
			e[j] = n.few[min(j, len(n.few)-1)]
		}
		for _, i := range sel {
			x := v[i]
			dst[k] = i
			k += (BoolToInt(x == e[0]) | BoolToInt(x == e[1]) | BoolToInt(x == e[2]) | BoolToInt(x == e[3])) ^ no
		}
	}
	return out[:len(out)+k]
}

func (n *inNode) eval(f *frame, s *selection) (*column.Vector, error) {
	v, err := n.ops[0].eval(f, s)
	if err != nil {
		return nil, err
	}
	if v.Const && v.IsNull(0) {
		return nullBool, nil
	}
	f.live = n.members(v, s, true, f.live[:0])
	n.out.Type = types.Bool
	if err := f.reserve(&n.out, s.n); err != nil {
		return nil, err
	}
	markChosen(n.out.I64, s, f.live)
	n.out.Valid = n.valid
	combineValidity(&n.out, s.n, v)
	if n.hasNull {
		ensureValid(&n.out, &n.valid, s.n)
		for _, i := range s.positions() {
			if n.out.I64[i] == 0 {
				n.out.Valid.Clear(int(i))
			}
		}
	}
	if n.out.Valid != nil {
		n.valid = n.out.Valid
	}
	return &n.out, n.keeps(f)
}

// intSet is a set of integers: open addressing, linear probing, at most half full.
type intSet struct {
	slots []int64
	used  []bool
	shift uint
}

func newIntSet(vals []int64) intSet {
	n := uint(bits.Len(uint(2*len(vals) - 1)))
	s := intSet{slots: make([]int64, 1<<n), used: make([]bool, 1<<n), shift: 64 - n}
	for _, v := range vals {
		i := s.home(v)
		for s.used[i] {
			i = (i + 1) & (len(s.slots) - 1)
		}
		s.slots[i], s.used[i] = v, true
	}
	return s
}

// home is multiplicative hashing with the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
func (s *intSet) home(v int64) int { return int(uint64(v) * 0x9e3779b97f4a7c15 >> s.shift) }

func (s *intSet) has(v int64) bool {
	for i := s.home(v); s.used[i]; i = (i + 1) & (len(s.slots) - 1) {
		if s.slots[i] == v {
			return true
		}
	}
	return false
}
