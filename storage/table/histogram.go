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
		within = min(max((at-lo)/(hi-lo), 0), 1)
	}
	return h.Fraction * (float64(i-1) + within) / float64(buckets)
}

// number returns a value as a float for interpolation, if it is one.
func number(v types.Value) (float64, bool) {
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return v.F, true
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

// sample fills in the common values and the histogram from a sample of rows, spread evenly.
func (v *Version) sample(ordinal int, s *ColumnStats) {
	values := v.sampleValues(ordinal)
	if len(values) == 0 {
		return
	}
	slices.SortFunc(values, types.Compare)
	total := float64(len(values))
	notNull := 1 - s.NullFraction()
	// Runs of equal values.
	type run struct{ first, n int }
	var runs []run
	for i := 0; i < len(values); {
		n := 1
		for i+n < len(values) && types.Compare(values[i], values[i+n]) == 0 {
			n++
		}
		runs = append(runs, run{i, n})
		i += n
	}
	// A value seen once tells nothing of its frequency, unless the sample is the table.
	least := max(2, int(math.Ceil(commonTimes*total/math.Max(s.Distinct, 1))))
	if int64(len(values)) == s.Rows-s.NullCount && len(runs) <= maxCommon {
		least = 1
	}
	common := slices.Clone(runs)
	common = slices.DeleteFunc(common, func(r run) bool { return r.n < least })
	sort.SliceStable(common, func(i, j int) bool { return common[i].n > common[j].n })
	if len(common) > maxCommon {
		common = common[:maxCommon]
	}
	isCommon := make(map[int]bool, len(common))
	for _, r := range common {
		isCommon[r.first] = true
		s.Common = append(s.Common, CommonValue{values[r.first], float64(r.n) / total * notNull})
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
		h.Bounds = append(h.Bounds, rest[i*(len(rest)-1)/buckets])
	}
	s.Histogram = h
}

// sampleValues returns up to sampleRows values that are not NULL: all there are if that is few, else one of each of as
// many equal stretches of the table, at a place that follows from the table's size alone.
func (v *Version) sampleValues(ordinal int) []types.Value {
	span := v.Span()
	n := min(span, sampleRows)
	values := make([]types.Value, 0, n)
	random := rand.New(rand.NewPCG(uint64(span), uint64(ordinal)))
	group := 0
	for i := range n {
		lo, hi := i*span/n, (i+1)*span/n
		row := lo + random.Int64N(hi-lo)
		for row >= v.Groups[group].First+int64(v.Groups[group].Rows) {
			group++
		}
		g := v.Groups[group]
		offset := int(row - g.First)
		if g.Deleted != nil && g.Deleted.Get(offset) {
			continue
		}
		if x := g.Columns[ordinal].At(offset); !x.Null {
			values = append(values, x)
		}
	}
	return values
}
