package cpu

import (
	"cmp"

	"github.com/radish-sql/radish/column"
)

// sortKey is a key by which rows are sorted.
type sortKey struct {
	v     *column.Vector
	desc  bool
	ranks []uint32 // of a dictionary's codes; nil: none
}

// newSortKey ranks the values of a dictionary that is not much larger than the rows to be sorted.
func newSortKey(q *Query, v *column.Vector, desc bool, n int) (sortKey, error) {
	k := sortKey{v: v, desc: desc}
	if v.Dict == nil || v.Dict.Len() > 4*n+1024 {
		return k, nil
	}
	values := v.Dict.Values()
	order := countFrom(nil, 0, len(values))
	if err := sortStable(q, order, func(a, b int32) int { return cmp.Compare(values[a], values[b]) }); err != nil {
		return k, err
	}
	k.ranks = make([]uint32, len(values))
	for r, c := range order {
		k.ranks[c] = uint32(r)
	}
	return k, nil
}

// compare orders two rows.
func (k *sortKey) compare(x, y int32) int {
	c := compareNullsFirst(k.v, int(x), int(y))
	if k.desc {
		return -c
	}
	return c
}
