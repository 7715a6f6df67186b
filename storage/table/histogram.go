package table

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"

	"github.com/radish-sql/radish/sql/types"
)

const (
	sampleRows  = 1 << 15 // rows looked at for a histogram
	samplePart  = 1 << 11 // of them that one goroutine looks at
	maxBuckets  = 100
	maxCommon   = 64
	commonTimes = 1.25 // a common value is so much more frequent than the average value
)

// Histogram is equi-depth: as many values lie between any two neighbours of Bounds. Bounds has at least two values, the
// first being the least of the sample and the last its greatest.
type Histogram struct {
	Bounds []types.Value
	// Fraction is the share of all live rows that the histogram describes: those that are neither NULL nor one of the
	// common values.
	Fraction float64
}

// Below returns the share of all live rows that are described by the histogram and less than x; with inclusive, less or
// equal. Within a bucket of numbers it interpolates.
func (h *Histogram) Below(x types.Value, inclusive bool) float64 {
	buckets := len(h.Bounds) - 1
	// The first bound that is beyond x, or at it.
	i := sort.Search(len(h.Bounds), func(i int) bool {
		c := types.Compare(h.Bounds[i], x)
		return c > 0 || c == 0 && !inclusive
	})
	switch i {
	case 0:
		return 0
	case len(h.Bounds):
		return h.Fraction
	}
	within := 0.5
	lo, ok1 := number(h.Bounds[i-1])
	hi, ok2 := number(h.Bounds[i])
	if at, ok := number(x); ok && ok1 && ok2 && hi > lo {
		within = min(max((at/2-lo/2)/(hi/2-lo/2), 0), 1) // halves: hi - lo may exceed the largest double
	}
	return h.Fraction * (float64(i-1) + within) / float64(buckets)
}

// number returns a value as a float for interpolation, if it is one and finite.
func number(v types.Value) (float64, bool) {
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return v.F, types.IsFinite(v.F)
	case types.PhysInt128:
		return v.D.Float64(), true
	case types.PhysUint64:
		return float64(uint64(v.I)), true
	case types.PhysInt64:
		return float64(v.I), true
	}
	return 0, false
}

func maxParallel() int { return runtime.GOMAXPROCS(0) }

// sample fills in the common values and the histogram from a sample of rows.
func (v *Version) sample(ordinal int, s *ColumnStats) {
	t := v.Schema.Columns[ordinal].Type
	switch t.Phys() {
	case types.PhysFloat64:
		values := sampleValues(v, ordinal, func(x types.Value) uint64 { return types.FloatWord(x.F) })
		slices.Sort(values)
		summarize(s, values, func(x uint64) types.Value { return types.Value{Type: t, F: types.FloatOfWord(x)} })
	case types.PhysInt128:
		values := sampleValues(v, ordinal, func(x types.Value) types.Int128 { return x.D })
		slices.SortFunc(values, types.Int128.Cmp)
		summarize(s, values, func(x types.Int128) types.Value { return types.Value{Type: t, D: x} })
	case types.PhysString:
		values := sampleValues(v, ordinal, func(x types.Value) string { return x.S })
		slices.Sort(values)
		summarize(s, values, func(x string) types.Value { return types.Value{Type: t, S: x} })
	case types.PhysUint64:
		values := sampleValues(v, ordinal, func(x types.Value) uint64 { return uint64(x.I) })
		slices.Sort(values)
		summarize(s, values, func(x uint64) types.Value { return types.Value{Type: t, I: int64(x)} })
	default:
		values := sampleValues(v, ordinal, func(x types.Value) int64 { return x.I })
		slices.Sort(values)
		summarize(s, values, func(x int64) types.Value { return types.Value{Type: t, I: x} })
	}
}

// sampleValues returns up to sampleRows values that are not NULL: all there are if that is few, else one of each of as
// many equal stretches of the table, at a position that follows from the table's size alone.
func sampleValues[T any](v *Version, ordinal int, get func(types.Value) T) []T {
	span := v.Span()
	n := min(span, sampleRows)
	rows := make([]int64, n)
	random := rand.New(rand.NewPCG(uint64(span), uint64(ordinal)))
	for i := range n {
		lo, hi := i*span/n, (i+1)*span/n
		rows[i] = lo + random.Int64N(hi-lo)
	}
	// Most of the time goes into waiting for memory, so that several look at once.
	parts := make([][]T, (n+samplePart-1)/samplePart)
	forAll(len(parts), func(i int) { parts[i] = valuesAt(v, ordinal, rows[i*samplePart:min((i+1)*samplePart, len(rows))], get) })
	return slices.Concat(parts...)
}

// valuesAt returns the values of rows, in ascending order, that are neither NULL nor deleted.
func valuesAt[T any](v *Version, ordinal int, rows []int64, get func(types.Value) T) []T {
	values := make([]T, 0, len(rows))
	v.eachAt(ordinal, rows, func(g *RowGroup, offset int) { values = append(values, get(g.Columns[ordinal].At(offset))) })
	return values
}

// eachAt gives the positions of rows, in ascending order, whose values are neither NULL nor deleted.
func (v *Version) eachAt(ordinal int, rows []int64, f func(g *RowGroup, offset int)) {
	groups := v.Groups()
	group := sort.Search(len(groups), func(i int) bool { return groups[i].First > rows[0] }) - 1
	for _, row := range rows {
		for row >= groups[group].First+int64(groups[group].Rows) {
			group++
		}
		g := groups[group]
		offset := int(row - g.First)
		if g.Deleted != nil && g.Deleted.Get(offset) || g.Columns[ordinal].NullAt(offset) {
			continue
		}
		f(g, offset)
	}
}

// run is a stretch of equal values in a sorted sample.
type run struct{ first, n int }

// summarize makes the common values and the histogram of a sorted sample.
func summarize[T comparable](s *ColumnStats, values []T, value func(T) types.Value) {
	if len(values) == 0 {
		return
	}
	var runs []run
	for i := 0; i < len(values); {
		n := 1
		for i+n < len(values) && values[i] == values[i+n] {
			n++
		}
		runs = append(runs, run{i, n})
		i += n
	}
	total, notNull := float64(len(values)), 1-s.NullFraction()
	common := commonRuns(s, runs, len(values))
	isCommon := make(map[int]bool, len(common))
	for _, r := range common {
		isCommon[r.first] = true
		s.Common = append(s.Common, CommonValue{value(values[r.first]), float64(r.n) / total * notNull})
	}
	rest := values[:0]
	for _, r := range runs {
		if !isCommon[r.first] {
			rest = append(rest, values[r.first:r.first+r.n]...)
		}
	}
	if len(rest) < 2 {
		return
	}
	h := &Histogram{Fraction: float64(len(rest)) / total * notNull}
	buckets := min(maxBuckets, len(rest)-1)
	for i := range buckets + 1 {
		h.Bounds = append(h.Bounds, value(rest[i*(len(rest)-1)/buckets]))
	}
	s.Histogram = h
}

// commonRuns returns the runs of the common values of a sample, the longest first: all values if the sample is the
// table and has few, else those much more frequent than the average value. A value seen once tells nothing.
func commonRuns(s *ColumnStats, runs []run, sampled int) []run {
	least := max(2, int(math.Ceil(commonTimes*float64(sampled)/math.Max(s.Distinct, 1))))
	if len(runs) <= maxCommon && (int64(sampled) == s.Rows-s.NullCount || float64(len(runs)) >= 0.99*s.Distinct) {
		least = 1
	}
	common := slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return r.n < least })
	sort.SliceStable(common, func(i, j int) bool { return common[i].n > common[j].n })
	return common[:min(len(common), maxCommon)]
}
