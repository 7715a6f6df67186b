package accumulate

import (
	"cmp"
	"math"
	"strings"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// intExtreme is MIN or MAX of 64-bit integers. Unsigned ones have their sign bit flipped, so that signed order is theirs.
type intExtreme struct {
	isMax bool
	flip  int64
	x     []int64
	seen  []bool
}

func (a *intExtreme) Grow(n int) {
	empty := int64(math.MaxInt64)
	if a.isMax {
		empty = math.MinInt64
	}
	a.x = grown(a.x, n, empty)
	a.seen = grown(a.seen, n, false)
}
func (a *intExtreme) Bytes() int64 { return 9 * int64(cap(a.x)) }

func (a *intExtreme) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	if groups == nil {
		best, any := a.x[0], len(sel) > 0 && v.Valid == nil
		if any && int(sel[len(sel)-1])-int(sel[0]) == len(sel)-1 {
			a.x[0], a.seen[0] = a.extremeOf(best, v.I64[sel[0]:int(sel[0])+len(sel)]), true
			return nil
		}
		for _, p := range sel {
			if v.Valid != nil && !v.Valid.Get(int(p)) {
				continue
			}
			any = true
			if y := v.I64[p] ^ a.flip; a.isMax {
				best = max(best, y)
			} else {
				best = min(best, y)
			}
		}
		a.x[0] = best
		a.seen[0] = a.seen[0] || any
		return nil
	}
	x, seen := a.x, a.seen
	if v.Valid == nil && a.isMax {
		for i, p := range sel {
			g := groups[i]
			seen[g] = true
			x[g] = max(x[g], v.I64[p]^a.flip)
		}
		return nil
	}
	if v.Valid == nil {
		for i, p := range sel {
			g := groups[i]
			seen[g] = true
			x[g] = min(x[g], v.I64[p]^a.flip)
		}
		return nil
	}
	for i, p := range sel {
		if v.Valid != nil && !v.Valid.Get(int(p)) {
			continue
		}
		g := groups[i]
		seen[g] = true
		if y := v.I64[p] ^ a.flip; a.isMax {
			x[g] = max(x[g], y)
		} else {
			x[g] = min(x[g], y)
		}
	}
	return nil
}

// extremeOf returns the extreme of values and the best of those before.
func (a *intExtreme) extremeOf(best int64, values []int64) int64 {
	flip := a.flip
	if a.isMax {
		for _, y := range values {
			best = max(best, y^flip)
		}
		return best
	}
	for _, y := range values {
		best = min(best, y^flip)
	}
	return best
}

func (a *intExtreme) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*intExtreme)
	for i, g := range dst {
		f := from[i]
		if !s.seen[f] {
			continue
		}
		a.seen[g] = true
		if a.isMax {
			a.x[g] = max(a.x[g], s.x[f])
		} else {
			a.x[g] = min(a.x[g], s.x[f])
		}
	}
	return nil
}

func (a *intExtreme) values(_ *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		if !a.seen[g] {
			v.SetNull(i, len(groups))
			continue
		}
		v.I64[i] = a.x[g] ^ a.flip
	}
	return nil
}

// keptValue keeps one value per group: MIN and MAX of doubles, wide decimals and strings, and the first value for
// ANY_VALUE and scalar subqueries. Values lie as in a flat vector.
type keptValue struct {
	kind valueKind
	typ  types.Type
	seen []bool
	null []bool // the value kept is NULL (first and single only)
	i    []int64
	f    []float64
	d    []types.Int128
	s    []string
	// Of strings that belonged to nobody (column.Vector.Loose), copies are kept: copied is their bytes.
	loose  bool
	copied atomic.Int64
}

type valueKind uint8

const (
	firstValue valueKind = iota
	singleValue
	minValue
	maxValue
)

func (a *keptValue) Grow(n int) {
	a.seen, a.null = grown(a.seen, n, false), grown(a.null, n, false)
	switch a.typ.Phys() {
	case types.PhysFloat64:
		a.f = grown(a.f, n, 0)
	case types.PhysInt128:
		a.d = grown(a.d, n, types.Int128{})
	case types.PhysString:
		a.s = grown(a.s, n, "")
	default:
		a.i = grown(a.i, n, 0)
	}
}

func (a *keptValue) Bytes() int64 {
	return int64(2*cap(a.seen)+8*cap(a.i)+8*cap(a.f)+16*cap(a.d)+16*cap(a.s)) + a.copied.Load()
}

func (a *keptValue) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	v := args[0]
	if a.typ.Phys() == types.PhysString && (a.kind == minValue || a.kind == maxValue) {
		a.updateStrings(groups, v, sel)
		return nil
	}
	g := uint32(0)
	for i, p := range sel {
		if groups != nil {
			g = groups[i]
		}
		if a.kind == firstValue && a.seen[g] {
			continue
		}
		if err := a.add(g, v, int(p)); err != nil {
			return err
		}
	}
	return nil
}

func (a *keptValue) add(g uint32, v *column.Vector, p int) error {
	null := v.IsNull(p)
	switch a.kind {
	case firstValue:
		if a.seen[g] {
			return nil
		}
	case singleValue:
		if a.seen[g] {
			return sqlerr.SubqueryNo1Row()
		}
	default:
		if null {
			return nil
		}
		if a.seen[g] {
			c := a.compare(g, v, p)
			if a.kind == minValue && c <= 0 || a.kind == maxValue && c >= 0 {
				return nil
			}
		}
	}
	if null {
		a.seen[g], a.null[g] = true, true
		return nil
	}
	a.put(g, v, p)
	return nil
}

// put makes the value of v at p, which is not NULL, the group's.
func (a *keptValue) put(g uint32, v *column.Vector, p int) {
	a.seen[g], a.null[g] = true, false
	switch a.typ.Phys() {
	case types.PhysFloat64:
		a.f[g] = v.F64[p]
	case types.PhysInt128:
		a.d[g] = v.I128[p]
	case types.PhysString:
		a.setString(g, v, p)
	default:
		a.i[g] = v.I64[p]
	}
}

// setString keeps the string of v at p for a group.
func (a *keptValue) setString(g uint32, v *column.Vector, p int) {
	s := v.StringAt(p)
	if v.Loose {
		s = strings.Clone(s)
		a.loose = true
	}
	if a.loose {
		a.copied.Add(int64(len(s)) - int64(len(a.s[g])))
	}
	a.s[g] = s
}

// compare orders the group's value and v's at p.
func (a *keptValue) compare(g uint32, v *column.Vector, p int) int {
	switch a.typ.Phys() {
	case types.PhysFloat64:
		return types.CompareFloats(a.f[g], v.F64[p])
	case types.PhysInt128:
		return a.d[g].Cmp(v.I128[p])
	case types.PhysString:
		return strings.Compare(a.s[g], v.StringAt(p))
	}
	return cmp.Compare(a.i[g], v.I64[p])
}

// vector gives the values as a vector over the groups.
func (a *keptValue) vector() *column.Vector {
	return &column.Vector{Type: a.typ, I64: a.i, F64: a.f, I128: a.d, Str: a.s}
}

// beginMerge prepares for groups of src to be merged, by several workers at once.
func (a *keptValue) beginMerge(src Accumulator) { a.loose = a.loose || src.(*keptValue).loose }

func (a *keptValue) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*keptValue)
	v := s.vector()
	for i, g := range dst {
		f := from[i]
		switch {
		case !s.seen[f]:
		case s.null[f]:
			if a.kind == singleValue && a.seen[g] {
				return sqlerr.SubqueryNo1Row()
			}
			if !a.seen[g] {
				a.seen[g], a.null[g] = true, true
			}
		default:
			if err := a.add(g, v, int(f)); err != nil {
				return err
			}
		}
	}
	return nil
}

// values stores the kept values.
func (a *keptValue) values(o *Output, groups []uint32, _ *Count, v *column.Vector) error {
	if v.Type.Phys() != a.typ.Phys() {
		return sqlerr.Bug("%s gives %s", o.Item.Col.Name, v.Type)
	}
	n := len(groups)
	for i, g := range groups {
		if !a.seen[g] || a.null[g] {
			v.SetNull(i, n)
			continue
		}
		switch a.typ.Phys() {
		case types.PhysFloat64:
			if v.F64[i] = a.f[g]; a.kind == minValue || a.kind == maxValue {
				v.F64[i] = types.CanonicalFloat(a.f[g])
			}
		case types.PhysInt128:
			v.I128[i] = a.d[g]
		case types.PhysString:
			v.Str[i] = a.s[g]
		default:
			v.I64[i] = a.i[g]
		}
	}
	return nil
}
