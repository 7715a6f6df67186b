package files

import (
	"cmp"
	"math"
	"slices"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Estimates returns what footers suggest about the columns, by ordinal; nil: nothing.
func (s *Set) Estimates() []*table.ColumnStats {
	if len(s.zones) == 0 {
		return nil
	}
	out := make([]*table.ColumnStats, len(s.Columns))
	for c := range out {
		out[c] = s.estimate(c)
	}
	return out
}

// estimate returns what footers suggest about a column; nil: nothing.
func (s *Set) estimate(column int) *table.ColumnStats {
	e := &table.ColumnStats{Rows: s.Rows, Min: types.NullOf(s.Columns[column].Type), Max: types.NullOf(s.Columns[column].Type)}
	bounded := true // of all row groups with values
	for _, z := range s.zones {
		x := z.columns[column]
		if e.NullCount += int64(min(x.NullCount, z.rows)); x.NullCount == x.Rows {
			continue
		}
		if bounded = bounded && z.told[column]; !bounded {
			continue
		}
		if e.Min.Null || types.Compare(x.Min, e.Min) < 0 {
			e.Min = x.Min
		}
		if e.Max.Null || types.Compare(x.Max, e.Max) > 0 {
			e.Max = x.Max
		}
	}
	if !bounded {
		e.Min, e.Max = types.NullOf(e.Min.Type), types.NullOf(e.Max.Type)
	}
	e.Distinct = s.distinct(column)
	if e.Distinct == 0 && e.Min.Null {
		return nil
	}
	values := float64(s.Rows - e.NullCount)
	if e.Distinct == 0 {
		e.Distinct = max(values/supposedRepeats, min(values, fewRows))
	}
	if !e.Min.Null && e.Min.Type.Phys() == types.PhysInt64 {
		span := float64(e.Max.I) - float64(e.Min.I) + 1
		if span == values { // as of a key that was counted up
			e.Distinct = span
		}
		e.Distinct = min(e.Distinct, span)
	}
	e.Distinct = max(1, e.Distinct)
	return e
}

// supposedRepeats is how often a value is assumed to occur in a column whose values nobody has counted; in one of at most fewRows values, none is assumed to repeat.
const (
	supposedRepeats = 4
	fewRows         = 100
)

// distinct returns about how many values a column has, by those of its row groups; 0: too little is known of those.
//
// Where the bounds of row groups do not overlap, the counts add up. Otherwise the column's values are assumed to be drawn from one domain, whose size the row group with the
// most values suggests.
func (s *Set) distinct(column int) float64 {
	var most, sum, rows, known float64
	var bounds []*encoding.Chunk
	groups := 0 // that have values
	for _, z := range s.zones {
		x := z.columns[column]
		values := float64(x.Rows - x.NullCount)
		if values <= 0 {
			continue
		}
		groups++
		rows += values
		n := float64(z.distinct[column])
		if z.told[column] {
			bounds = append(bounds, x)
			if types.Compare(x.Min, x.Max) == 0 {
				n = 1
			}
		}
		if n > 0 {
			known += values
			sum += n
			most = max(most, domain(n, values))
		}
	}
	if 2*known < rows {
		return 0
	}
	apart, constants, again := overlaps(bounds)
	if apart && len(bounds) == groups {
		return (sum - again) * rows / max(1, known)
	}
	return min(sum, max(most, constants))
}

// overlaps says whether no two bounds have more than an end in common, how many different values the bounds of single values have, and how many of those have a value that one before ends
// with. It sorts the list.
func overlaps(bounds []*encoding.Chunk) (apart bool, constants, again float64) {
	slices.SortFunc(bounds, func(a, b *encoding.Chunk) int {
		return cmp.Or(types.Compare(a.Min, b.Min), types.Compare(a.Max, b.Max))
	})
	apart = true
	for i, x := range bounds {
		single := types.Compare(x.Min, x.Max) == 0
		if i > 0 {
			before := bounds[i-1]
			apart = apart && types.Compare(before.Max, x.Min) <= 0
			if single && types.Compare(before.Max, x.Max) == 0 {
				again++
				single = types.Compare(before.Min, x.Min) != 0
			}
		}
		if single {
			constants++
		}
	}
	return apart, constants, again
}

// domain returns how many values there are if n drawings of them, each as likely as the others, gave distinct ones: the D of distinct = D*(1-exp(-n/D)).
func domain(distinct, n float64) float64 {
	low, high := distinct, distinct*1e3
	if distinct >= n || high*-math.Expm1(-n/high) < distinct {
		return high
	}
	for range 40 {
		if middle := (low + high) / 2; middle*-math.Expm1(-n/middle) < distinct {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
