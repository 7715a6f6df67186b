package form

import (
	"slices"

	tables "github.com/radish-sql/radish/storage/table"
)

// Span is a run of row numbers that a kernel scans.
type Span struct{ First, End int64 }

// Bound says that no row passes whose value in a column lies outside of Lo..Hi, which are in the order of the column's zones.
type Bound struct {
	Zones  Zones
	Lo, Hi int64
}

// leavesAll says whether there are values within the bound in every row group, as far as is known. It does not look at the groups one by one: columns in
// no particular order mostly leave all of them.
func (b Bound) leavesAll() bool { return b.Zones.MostLo <= b.Hi && b.Zones.LeastHi >= b.Lo }

// Spans returns the runs of row numbers of the row groups that the bounds do not rule out.
func Spans(v *tables.Version, bounds []Bound) []Span {
	bounds = slices.DeleteFunc(bounds, Bound.leavesAll)
	if len(bounds) == 0 {
		if len(v.Groups()) == 0 {
			return nil
		}
		return []Span{{0, v.Span()}}
	}
	var out []Span
next:
	for i, g := range v.Groups() {
		for _, b := range bounds {
			if b.Zones.Lo[i] > b.Hi || b.Zones.Hi[i] < b.Lo {
				continue next
			}
		}
		end := g.First + int64(g.Rows)
		if k := len(out); k > 0 && out[k-1].End == g.First {
			out[k-1].End = end
		} else {
			out = append(out, Span{g.First, end})
		}
	}
	return out
}
