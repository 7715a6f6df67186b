package rowsort

import (
	"cmp"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// Key is a key by which rows are sorted.
type Key struct {
	V     *column.Vector
	desc  bool
	ranks []uint32 // of a dictionary's codes; nil: none
}

// NewKey ranks the values of a dictionary that is not much larger than the rows to be sorted.
func NewKey(q *task.Query, v *column.Vector, desc bool, n int) (Key, error) {
	k := Key{V: v, desc: desc}
	if v.Dict == nil || v.Dict.Len() > 4*n+1024 {
		return k, nil
	}
	values := v.Dict.Values()
	order := vec.CountFrom(nil, 0, len(values))
	if err := task.SortStable(q, order, func(a, b int32) int { return cmp.Compare(values[a], values[b]) }); err != nil {
		return k, err
	}
	k.ranks = make([]uint32, len(values))
	for r, c := range order {
		k.ranks[c] = uint32(r)
	}
	return k, nil
}

// Compare orders two rows.
func (k *Key) Compare(x, y int32) int {
	c := vec.CompareNullsFirst(k.V, int(x), int(y))
	if k.desc {
		return -c
	}
	return c
}
