package table

// Slice is a run of a table's row groups: those from From on and before To. The zero value means all of them. With From == To > 0 it is none of them.
type Slice struct{ From, To int }

// NoSlice is none of a version's row groups. Where there are none at all, that is the same as all of them.
func NoSlice(v *Version) Slice { return Slice{len(v.Groups()), len(v.Groups())} }

// All says that the slice is the whole table.
func (p Slice) All() bool { return p == Slice{} }

// Of returns the slice as it is among the row groups of a version: the zero value for all of them, else no more than there are.
func (p Slice) Of(v *Version) Slice {
	n := len(v.Groups())
	p = Slice{min(p.From, n), min(p.To, n)}
	if p.From == 0 && p.To == n {
		return Slice{}
	}
	return p
}

// Groups are the slice's row groups.
func (p Slice) Groups(v *Version) []*RowGroup {
	p = p.Of(v)
	if p.All() {
		return v.Groups()
	}
	return v.Groups()[p.From:p.To]
}

// Rows are the slice's row numbers, deleted rows included: those from first on and before end.
func (p Slice) Rows(v *Version) (first, end int64) {
	p = p.Of(v)
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

// Covers says whether all of another slice's row groups are in this one, too.
func (p Slice) Covers(other Slice) bool {
	return p.All() || !other.All() && p.From <= other.From && other.To <= p.To
}
