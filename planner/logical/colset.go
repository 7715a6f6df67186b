package logical

import (
	"encoding/binary"
	"math/bits"

	"github.com/radish-sql/radish/sql/expr"
)

// ColSet is a set of column IDs: a bitmap, since the IDs of a statement are small and dense. The zero value is empty.
type ColSet []uint64

// SetOf returns the set of ids.
func SetOf(ids ...expr.ColumnID) ColSet {
	var s ColSet
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// SetOfCols returns the set of the columns' IDs.
func SetOfCols(cols []*expr.Column) ColSet {
	var last expr.ColumnID
	for _, c := range cols {
		last = max(last, c.ID)
	}
	s := make(ColSet, last/64+1)
	for _, c := range cols {
		s[c.ID/64] |= 1 << (c.ID % 64)
	}
	return s
}

// Has says whether id is in s.
func (s ColSet) Has(id expr.ColumnID) bool {
	w := int(id / 64)
	return w < len(s) && s[w]>>(id%64)&1 != 0
}

// Add puts id into s.
func (s *ColSet) Add(id expr.ColumnID) {
	w := int(id / 64)
	if w >= len(*s) {
		grown := make(ColSet, w+1)
		copy(grown, *s)
		*s = grown
	}
	(*s)[w] |= 1 << (id % 64)
}

// AddExpr puts the columns that e uses into s, including the free columns of its subqueries.
func (s *ColSet) AddExpr(e expr.Expr) { expr.Columns(e, s.Add) }

// AddSet puts the elements of o into s.
func (s *ColSet) AddSet(o ColSet) {
	if len(o) > len(*s) {
		grown := make(ColSet, len(o))
		copy(grown, *s)
		*s = grown
	}
	for i, w := range o {
		(*s)[i] |= w
	}
}

// Remove takes id out of s.
func (s ColSet) Remove(id expr.ColumnID) {
	if w := int(id / 64); w < len(s) {
		s[w] &^= 1 << (id % 64)
	}
}

// Clone returns a copy of s.
func (s ColSet) Clone() ColSet { return append(ColSet(nil), s...) }

// Union returns s ∪ o as a new set.
func (s ColSet) Union(o ColSet) ColSet {
	out := s.Clone()
	out.AddSet(o)
	return out
}

// Minus returns s \ o as a new set.
func (s ColSet) Minus(o ColSet) ColSet {
	out := s.Clone()
	for i := range out {
		if i < len(o) {
			out[i] &^= o[i]
		}
	}
	return out
}

// Within says whether s ⊆ o.
func (s ColSet) Within(o ColSet) bool {
	for i, w := range s {
		if i < len(o) {
			w &^= o[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// Meets says whether s ∩ o is not empty.
func (s ColSet) Meets(o ColSet) bool {
	for i := range min(len(s), len(o)) {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// Empty says whether s has no element.
func (s ColSet) Empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// Len returns the number of elements.
func (s ColSet) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// IDs returns the elements in ascending order; nil for the empty set.
func (s ColSet) IDs() []expr.ColumnID {
	var out []expr.ColumnID
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, expr.ColumnID(i*64+bits.TrailingZeros64(w)))
		}
	}
	return out
}

// Key returns a string that is equal for equal sets: for maps.
func (s ColSet) Key() string {
	for len(s) > 0 && s[len(s)-1] == 0 {
		s = s[:len(s)-1]
	}
	b := make([]byte, 0, 8*len(s))
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return string(b)
}

// Uses returns the columns that e uses, including the free columns of its subqueries.
func Uses(e expr.Expr) ColSet {
	var s ColSet
	s.AddExpr(e)
	return s
}

// UsesOf returns the columns that any of es uses.
func UsesOf(es []expr.Expr) ColSet {
	var s ColSet
	for _, e := range es {
		s.AddExpr(e)
	}
	return s
}

// UsedWithin says whether every column that e uses is in s. It allocates nothing.
func UsedWithin(e expr.Expr, s ColSet) bool {
	ok := true
	expr.Columns(e, func(id expr.ColumnID) { ok = ok && s.Has(id) })
	return ok
}

// UsesAny says whether e uses some column of s. It allocates nothing.
func UsesAny(e expr.Expr, s ColSet) bool {
	any := false
	expr.Columns(e, func(id expr.ColumnID) { any = any || s.Has(id) })
	return any
}
