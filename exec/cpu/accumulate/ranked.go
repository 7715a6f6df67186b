package accumulate

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// picked is MODE and QUANTILE_DISC: one row of each group, of which the last input is the value. The first input orders the rows.
type picked struct {
	heldRows
	part float64 // of QUANTILE_DISC; NaN: MODE
	cols []*column.Vector
	row  []int32 // by group; -1: there is none
}

func newPicked(q *task.Query, name string, inputs []types.Type, part float64) *picked {
	a := &picked{part: part}
	a.hold(q, name, 1, inputs, a)
	a.reads = true
	a.by = []heldKey{{input: 0}}
	return a
}

func (a *picked) start(cols []*column.Vector, groups int) {
	a.cols = cols
	a.row = slices.Repeat([]int32{-1}, groups)
}

func (a *picked) finish(g int, cols []*column.Vector, rows []int32) error {
	if a.part == a.part {
		a.row[g] = rows[firstAtPart(a.part, len(rows))]
		return nil
	}
	longest := 0
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && vec.CompareNullsFirst(cols[1], int(rows[from]), int(rows[to])) == 0 {
			to++
		}
		if to-from > longest {
			a.row[g], longest = rows[from], to-from
		}
		from = to
	}
	return nil
}

// firstAtPart is the position of the first of n ordered values at or below which the part q of them lies: the first whose CUME_DIST, (position+1)/n, is at least q.
// q*n would not do: 0.338 of 3,000 is 1014, but as doubles it is a little more.
func firstAtPart(q float64, n int) int {
	k := max(1, int(q*float64(n)))
	for k > 1 && float64(k-1)/float64(n) >= q {
		k--
	}
	for k < n && float64(k)/float64(n) < q {
		k++
	}
	return k - 1
}

func (a *picked) values(_ *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		if r := a.row[g]; r < 0 {
			v.SetNull(i, len(groups))
		} else {
			v.Set(i, len(groups), a.cols[len(a.cols)-1].Value(int(r)))
		}
	}
	return nil
}

// interpolated is QUANTILE_CONT of doubles, and of moments in microseconds: several parts of the same values.
type interpolated struct {
	heldRows
	parts    *[]float64
	isDouble bool
	f        [][]float64 // by part, then by group
	i        [][]int64
	some     []bool
}

func newInterpolated(q *task.Query, input types.Type, parts *[]float64) *interpolated {
	a := &interpolated{parts: parts, isDouble: input.Phys() == types.PhysFloat64}
	a.hold(q, "QUANTILE_CONT", 1, []types.Type{input}, a)
	return a
}

func (a *interpolated) start(_ []*column.Vector, groups int) {
	a.some = make([]bool, groups)
	for range *a.parts {
		if a.isDouble {
			a.f = append(a.f, make([]float64, groups))
		} else {
			a.i = append(a.i, make([]int64, groups))
		}
	}
}

func (a *interpolated) finish(g int, cols []*column.Vector, rows []int32) error {
	bytes := int64(8 * len(rows))
	if err := a.q.Memory.Reserve(a.operator, bytes); err != nil {
		return err
	}
	defer a.q.Memory.Release(bytes)
	keys := make([]int64, len(rows))
	for i, r := range rows {
		if a.isDouble {
			keys[i] = orderOfFloat(cols[1].F64[r])
		} else {
			keys[i] = cols[1].I64[r]
		}
	}
	a.some[g] = true
	for k, part := range *a.parts {
		at := part * float64(len(rows)-1)
		low := int(at)
		if err := selectKey(a.q, keys, low); err != nil {
			return err
		}
		x, y := keys[low], keys[low]
		rest := at - float64(low)
		if rest > 0 {
			y = slices.Min(keys[low+1:])
		}
		if !a.isDouble {
			a.i[k][g] = x + int64(math.Round(float64(y-x)*rest))
			continue
		}
		lower, upper := floatOfOrder(x), floatOfOrder(y)
		if a.f[k][g] = lower; x != y {
			a.f[k][g] = lower*(1-rest) + upper*rest
		}
	}
	return nil
}

// orderOfFloat returns a number whose order is that of x: -0 is 0, NaN is above all others.
func orderOfFloat(x float64) int64 {
	if x != x {
		return math.MaxInt64
	}
	bits := int64(math.Float64bits(x + 0)) // of -0 those of 0
	return bits ^ (bits>>63)&math.MaxInt64
}

func floatOfOrder(k int64) float64 {
	return math.Float64frombits(uint64(k ^ (k>>63)&math.MaxInt64))
}

// selectKey reorders keys so that the one which has position k in their order stands there, no larger one before it and no smaller one behind: quickselect
// (Hoare 1961) with the median of three as pivot. Few keys are sorted, and so is what many bad pivots leave.
func selectKey(q *task.Query, keys []int64, k int) error {
	const few, rounds = 32, 100
	for round := 0; len(keys) > few && round < rounds; round++ {
		if err := q.Check(); err != nil {
			return err
		}
		first, middle, last := keys[0], keys[len(keys)/2], keys[len(keys)-1]
		pivot := max(min(first, middle), min(max(first, middle), last))
		i, j := 0, len(keys)-1
		for i <= j {
			for keys[i] < pivot {
				i++
			}
			for keys[j] > pivot {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			keys = keys[:j+1]
		case k >= i:
			keys, k = keys[i:], k-i
		default:
			return nil // between them stands the pivot
		}
	}
	slices.Sort(keys)
	return nil
}

func (a *interpolated) values(o *Output, groups []uint32, _ *Count, v *column.Vector) error {
	k := slices.Index(*a.parts, o.Item.Args[len(o.Item.Args)-1].(*expr.Const).Value.F)
	for i, g := range groups {
		switch {
		case !a.some[g]:
			v.SetNull(i, len(groups))
		case a.isDouble:
			v.F64[i] = types.CanonicalFloat(a.f[k][g])
		default:
			v.I64[i] = a.i[k][g]
		}
	}
	return nil
}
