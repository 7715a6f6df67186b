package residency

import (
	tables "github.com/radish-sql/radish/storage/table"
)

// Part is a run of a table's row groups: those from From on and before To. The zero value means all of them. With From == To > 0 it is none of them.
type Part struct{ From, To int }

// All says that the part is the whole table.
func (p Part) All() bool { return p == Part{} }

// in returns the part as it is among the row groups of a version: the zero value for all of them, else no more than there are.
func (p Part) in(v *tables.Version) Part {
	n := len(v.Groups())
	p = Part{min(p.From, n), min(p.To, n)}
	if p.From == 0 && p.To == n {
		return Part{}
	}
	return p
}

// Groups are the part's row groups.
func (p Part) Groups(v *tables.Version) []*tables.RowGroup {
	p = p.in(v)
	if p.All() {
		return v.Groups()
	}
	return v.Groups()[p.From:p.To]
}

// Rows are the part's row numbers, deleted rows included: those from first on and before end.
func (p Part) Rows(v *tables.Version) (first, end int64) {
	p = p.in(v)
	if p.All() {
		return 0, v.Span()
	}
	at := func(group int) int64 {
		if group == len(v.Groups()) {
			return v.Span()
		}
		return v.Groups()[group].First
	}
	return at(p.From), at(p.To)
}

// covers says whether all of q's row groups are p's, too.
func (p Part) covers(q Part) bool {
	return p.All() || !q.All() && p.From <= q.From && q.To <= p.To
}
