package accumulate

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// updateStrings is Update of MIN and MAX of strings.
func (a *keptValue) updateStrings(groups []uint32, v *column.Vector, sel []int32) {
	if groups == nil {
		a.updateOnlyString(v, sel)
		return
	}
	least := a.kind == minValue
	for i, p := range sel {
		if v.Valid != nil && !v.Valid.Get(int(p)) {
			continue
		}
		g, s := groups[i], v.StringAt(int(p))
		if a.seen[g] && (s >= a.s[g]) == least {
			continue
		}
		if a.seen[g] && s == a.s[g] {
			continue
		}
		a.seen[g] = true
		a.setString(g, v, int(p))
	}
}

// updateOnlyString is updateStrings of the only group. Most strings are told from the best so far by their first eight bytes.
func (a *keptValue) updateOnlyString(v *column.Vector, sel []int32) {
	least, turn := a.kind == minValue, uint64(0)
	if !least {
		turn = ^turn // so that the smaller prefix is better here, too
	}
	best, found := ^uint64(0), int32(-1) // worse than all; found: where the best of these rows stands
	current := ""
	if a.seen[0] {
		current = a.s[0]
		best = prefix(current) ^ turn
	}
	any := a.seen[0]
	for _, p := range sel {
		if v.Valid != nil && !v.Valid.Get(int(p)) {
			continue
		}
		s := v.StringAt(int(p))
		x := prefix(s) ^ turn
		if x > best {
			continue
		}
		if any && x == best && (s == current || (s > current) == least) {
			continue
		}
		current, best, found, any = s, x, p, true
	}
	if found >= 0 {
		a.seen[0] = true
		a.setString(0, v, int(found))
	}
}

// prefix returns the first eight bytes of a string as a number that orders as they do; a shorter string is filled up with zeros.
func prefix(s string) uint64 {
	if len(s) >= 8 {
		return bits.ReverseBytes64(vec.Word(s))
	}
	x := uint64(0)
	for i := range len(s) {
		x |= uint64(s[i]) << (56 - 8*i)
	}
	return x
}
