package encoding

import (
	"math"
	"slices"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Op is what a [Predicate] asks of a value.
type Op uint8

// The comparisons.
const (
	EQ Op = iota
	NE
	LT
	LE
	GT
	GE
)

type predicateKind uint8

const (
	inInterval predicateKind = iota
	outsideInterval
	inSet
	notInSet
	matches
	isNull
	isNotNull
	never // a comparison with NULL
)

// Predicate is a condition on the values of one column that scans test on encoded data. No predicate but IsNull is
// true of a NULL. The values in it have the column's physical type and scale.
//
// A Predicate is immutable to its users and may be compiled by several goroutines at once.
type Predicate struct {
	kind   predicateKind
	lo, hi bound
	ints   *IntSet
	values []types.Value
	match  func(string) bool

	mu     sync.Mutex
	tables map[*column.Dictionary][]uint8 // guarded by mu: by code, 1 if the predicate is true of the string
}

// Cost is about how many comparisons with a constant a test of one value takes.
func (p *Predicate) Cost() float64 {
	if p.ints != nil {
		return p.ints.cost()
	}
	return 1
}

// bound is an end of an interval. An absent bound does not bound.
type bound struct {
	value   types.Value
	present bool
	open    bool // the bound itself is outside
}

// Comparison is `column op v`.
func Comparison(op Op, v types.Value) *Predicate {
	if v.Null {
		return &Predicate{kind: never}
	}
	closed, open := bound{value: v, present: true}, bound{value: v, present: true, open: true}
	switch op {
	case EQ:
		return &Predicate{kind: inInterval, lo: closed, hi: closed}
	case NE:
		return &Predicate{kind: outsideInterval, lo: closed, hi: closed}
	case LT:
		return &Predicate{kind: inInterval, hi: open}
	case LE:
		return &Predicate{kind: inInterval, hi: closed}
	case GT:
		return &Predicate{kind: inInterval, lo: open}
	default:
		return &Predicate{kind: inInterval, lo: closed}
	}
}

// Between is `column op1 lo AND column op2 hi`, where openLo and openHi make the comparisons strict. `BETWEEN` is
// closed at both ends.
func Between(lo, hi types.Value, openLo, openHi bool) *Predicate {
	if lo.Null || hi.Null {
		return &Predicate{kind: never}
	}
	return &Predicate{kind: inInterval, lo: bound{lo, true, openLo}, hi: bound{hi, true, openHi}}
}

// In is `column IN (values)`; NULLs among them are passed over.
func In(values []types.Value) *Predicate { return newSet(inSet, values) }

// NotIn is `column NOT IN (values)`, which is never true if one of them is NULL.
func NotIn(values []types.Value) *Predicate {
	for _, v := range values {
		if v.Null {
			return &Predicate{kind: never}
		}
	}
	return newSet(notInSet, values)
}

// InInts is `column IN (set)` for a column of integers, such as the keys of a join's build side.
func InInts(set *IntSet) *Predicate { return &Predicate{kind: inSet, ints: set} }

// Matching is true of the strings of which match is true. match must be a pure function that several goroutines may
// call; it is called once per distinct value of a dictionary-coded column.
func Matching(match func(string) bool) *Predicate { return &Predicate{kind: matches, match: match} }

// IsNull is `column IS NULL`.
func IsNull() *Predicate { return &Predicate{kind: isNull} }

// IsNotNull is `column IS NOT NULL`.
func IsNotNull() *Predicate { return &Predicate{kind: isNotNull} }

func newSet(kind predicateKind, values []types.Value) *Predicate {
	p := &Predicate{kind: kind, values: values}
	if null := func(v types.Value) bool { return v.Null }; slices.ContainsFunc(values, null) {
		p.values = slices.DeleteFunc(slices.Clone(values), null)
	}
	if len(p.values) == 0 {
		if p.kind = never; kind == notInSet {
			p.kind = isNotNull
		}
		return p
	}
	switch p.values[0].Type.Phys() {
	case types.PhysInt64, types.PhysUint64:
		ints := make([]int64, len(p.values))
		for i, v := range p.values {
			ints[i] = v.I
		}
		p.ints = NewIntSet(ints)
	case types.PhysString:
		set := make(map[string]struct{}, len(p.values))
		for _, v := range p.values {
			set[v.S] = struct{}{}
		}
		p.match = func(s string) bool { _, ok := set[s]; return ok }
	}
	return p
}

// HoldsNull says whether the predicate is true of NULL.
func (p *Predicate) HoldsNull() bool { return p.kind == isNull }

// HoldsString says whether the predicate is true of s, which is not NULL.
func (p *Predicate) HoldsString(s string) bool {
	switch p.kind {
	case isNull, never:
		return false
	case isNotNull:
		return true
	}
	return p.holdsString(s)
}

// Members returns the only values of which the predicate can be true; nil: they are not few, or not known.
func (p *Predicate) Members() []types.Value {
	switch {
	case p.kind == inInterval && p.lo.present && p.lo == p.hi && !p.lo.open:
		return []types.Value{p.lo.value}
	case p.kind == inSet:
		return p.values
	}
	return nil
}

// holdsString says whether the predicate is true of s, which is not NULL.
func (p *Predicate) holdsString(s string) bool {
	switch p.kind {
	case inInterval, outsideInterval:
		in := !p.lo.present || s > p.lo.value.S || s == p.lo.value.S && !p.lo.open
		in = in && (!p.hi.present || s < p.hi.value.S || s == p.hi.value.S && !p.hi.open)
		return in == (p.kind == inInterval)
	case inSet, matches:
		return p.match(s)
	default:
		return !p.match(s)
	}
}

// table returns, by code, whether the predicate is true of the dictionary's strings. It is made once per dictionary.
func (p *Predicate) table(d *column.Dictionary) []uint8 {
	p.mu.Lock()
	defer p.mu.Unlock()
	values := d.Values()
	t := p.tables[d]
	if len(t) >= len(values) {
		return t
	}
	grown := make([]uint8, len(values))
	for code := copy(grown, t); code < len(values); code++ {
		if p.holdsString(values[code]) {
			grown[code] = 1
		}
	}
	if p.tables == nil {
		p.tables = map[*column.Dictionary][]uint8{}
	}
	p.tables[d] = grown
	return grown
}

// intInterval returns the closed interval of the predicate in the order of integers to which flip was xored; empty
// says that it holds nothing.
func (p *Predicate) intInterval(flip int64) (lo, hi int64, empty bool) {
	lo, hi = math.MinInt64, math.MaxInt64
	if p.lo.present {
		if lo = p.lo.value.I ^ flip; p.lo.open {
			if lo == math.MaxInt64 {
				return 0, 0, true
			}
			lo++
		}
	}
	if p.hi.present {
		if hi = p.hi.value.I ^ flip; p.hi.open {
			if hi == math.MinInt64 {
				return 0, 0, true
			}
			hi--
		}
	}
	return lo, hi, lo > hi
}

// floatInterval returns the closed interval of the predicate in the order of types.CompareFloats, whose ends are -Infinity and NaN.
func (p *Predicate) floatInterval() (lo, hi float64, empty bool) {
	lo, hi = math.Inf(-1), math.NaN()
	if p.lo.present {
		if lo = p.lo.value.F; p.lo.open {
			switch {
			case lo != lo:
				return 0, 0, true
			case math.IsInf(lo, 1):
				lo = math.NaN()
			default:
				lo = math.Nextafter(lo, math.Inf(1))
			}
		}
	}
	if p.hi.present {
		if hi = p.hi.value.F; p.hi.open {
			switch {
			case math.IsInf(hi, -1):
				return 0, 0, true
			case hi != hi:
				hi = math.Inf(1)
			default:
				hi = math.Nextafter(hi, math.Inf(-1))
			}
		}
	}
	return lo, hi, types.LessFloats(hi, lo)
}

// wideInterval returns the closed interval of the predicate.
func (p *Predicate) wideInterval() (lo, hi types.Int128, empty bool) {
	lo, hi = types.MinInt128, types.MaxInt128
	if p.lo.present {
		if lo = p.lo.value.D; p.lo.open {
			if lo == types.MaxInt128 {
				return lo, hi, true
			}
			lo = lo.AddInt64(1)
		}
	}
	if p.hi.present {
		if hi = p.hi.value.D; p.hi.open {
			if hi == types.MinInt128 {
				return lo, hi, true
			}
			hi = hi.AddInt64(-1)
		}
	}
	return lo, hi, hi.Less(lo)
}
