package distribute

import (
	"fmt"
	"slices"
	"sort"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// slicing says which row groups of a table each place scans.
type slicing struct {
	table *table.Version
	// apart are columns of which no value may be in two slices.
	apart []int
	// leader's slices say what these need to have: all rows whose values of column mine are among those of its column theirs. Slices may overlap then.
	leader       *slicing
	mine, theirs int
}

// follow has the slices have at least the rows with the keys of another table's.
func (x *slicing) follow(leader *slicing, theirs, mine int) {
	x.leader, x.theirs, x.mine = leader, theirs, mine
}

// scan begins a stream over a table.
func (x *planner) scan(s *stream, src *physical.TableScan) {
	rows := src.Table.Rows()
	s.rows = float64(rows)
	if src.EstRows > 0 {
		s.rows = min(s.rows, src.EstRows)
	}
	name := src.Table.Schema.Name
	switch {
	case streams(src.Table):
		s.lay, s.reason = one, fmt.Sprintf("the rows of %s are read from a file", name)
	case rows < x.t.SliceRows:
		s.lay, s.reason = common, fmt.Sprintf("%s has %s only", name, plural(rows, "row"))
	default:
		s.lay, s.reason = spread, fmt.Sprintf("%s has %s", name, plural(rows, "row"))
		s.slices = &slicing{table: src.Table}
		x.sliced[src] = s.slices
		for i, c := range src.Cols {
			at := src.Ordinals[i]
			if at != logical.RowIDOrdinal && c.Typ.Phys() == types.PhysInt64 && src.Table.Zones(at).Sorted {
				s.homes = append(s.homes, home{cols: [][]expr.ColumnID{{c.ID}}, by: owners{slices: s.slices, ordinal: at}})
			}
		}
	}
}

// streams says whether rows of a table are read from a file.
func streams(v *table.Version) bool {
	return v.IsOutline() || slices.ContainsFunc(v.Groups(), func(g *table.RowGroup) bool { return g.Stream != nil })
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unevenness is how much larger than its even share a slice may be, beside one row group.
const unevenness = 1.25

// separate has no two slices share a value of a column by which the table is sorted. It returns false if some slice would then be much larger than others.
func (x *slicing) separate(ordinal, places int) bool {
	if slices.Contains(x.apart, ordinal) {
		return true
	}
	before := x.apart
	x.apart = append(slices.Clip(before), ordinal)
	largest, most := 0, 0
	for _, p := range x.parts(places) {
		rows := 0
		for _, g := range x.table.Groups()[p.From:p.To] {
			rows += g.Rows
			most = max(most, g.Rows)
		}
		largest = max(largest, rows)
	}
	if float64(largest) > unevenness*float64(x.table.Span())/float64(places)+float64(most) {
		x.apart = before
		return false
	}
	return true
}

// parts divides the table into runs of row groups of about as many rows, one for each place.
func (x *slicing) parts(places int) []table.Slice {
	if x.leader != nil {
		return x.following(places)
	}
	groups := x.table.Groups()
	begin := make([]int64, len(groups)+1) // rows before each group
	for i, g := range groups {
		begin[i+1] = begin[i] + int64(g.Rows)
	}
	out := make([]table.Slice, places)
	from := 0
	for i := range out {
		want := begin[len(groups)] * int64(i+1) / int64(places)
		to := len(groups)
		if i < places-1 {
			to = x.cutNear(begin, want, from)
		}
		out[i] = table.Slice{From: from, To: to}
		from = to
	}
	return out
}

// following are the runs of row groups in which the leader's keys are.
func (x *slicing) following(places int) []table.Slice {
	groups, leading := x.table.Groups(), x.leader.table.Groups()
	out := make([]table.Slice, places)
	for i, p := range x.leader.parts(places) {
		if p.From == p.To {
			continue
		}
		least, most := leading[p.From].Columns[x.theirs].Min.I, leading[p.To-1].Columns[x.theirs].Max.I
		from := sort.Search(len(groups), func(g int) bool { return groups[g].Columns[x.mine].Max.I >= least })
		to := sort.Search(len(groups), func(g int) bool { return groups[g].Columns[x.mine].Min.I > most })
		out[i] = table.Slice{From: from, To: max(from, to)}
	}
	return out
}

// cutNear is the boundary between row groups, not before from, that is nearest to so many rows and where slices may be cut.
func (x *slicing) cutNear(begin []int64, want int64, from int) int {
	best := len(begin) - 1
	for at := from; at < len(begin); at++ {
		if abs(begin[at]-want) < abs(begin[best]-want) && x.mayCut(at) {
			best = at
		}
	}
	return best
}

// mayCut says whether the table may be cut in front of a row group.
func (x *slicing) mayCut(at int) bool {
	groups := x.table.Groups()
	if at == 0 || at == len(groups) {
		return true
	}
	for _, c := range x.apart {
		if groups[at-1].Columns[c].Max.I >= groups[at].Columns[c].Min.I {
			return false
		}
	}
	return true
}

func abs(n int64) int64 { return max(n, -n) }
