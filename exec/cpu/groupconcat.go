package cpu

import (
	"slices"
	"unicode/utf8"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// concatSpec is what the accumulators of one GROUP_CONCAT share.
type concatSpec struct {
	q     *query
	item  *logical.AggItem
	args  int          // the first so many inputs are concatenated, the others order
	types []types.Type // of the inputs
	limit int          // bytes of a result
}

// concatAcc keeps the rows of GROUP_CONCAT until their groups are complete.
type concatAcc struct {
	spec *concatSpec
	rows rowStore // group number, then the inputs
	id   column.Vector
	sel  []int32
}

func newConcatAcc(s *concatSpec) *concatAcc {
	a := &concatAcc{spec: s, id: column.Vector{Type: types.Uint32}}
	a.rows.types = append([]types.Type{types.Uint32}, s.types...)
	a.rows.begin(0)
	return a
}

func (a *concatAcc) grow(int)     {}
func (a *concatAcc) bytes() int64 { return int64(a.rows.n) * int64(8+16*len(a.spec.types)) }

func (a *concatAcc) update(groups []uint32, args []*column.Vector, sel []int32) error {
	a.sel = a.sel[:0]
	n := 0
	for _, p := range sel {
		n = max(n, int(p)+1)
	}
	a.id.Reserve(n)
	for i, p := range sel {
		null := false
		for _, v := range args[:a.spec.args] {
			null = null || v.IsNull(int(p))
		}
		if null {
			continue
		}
		a.sel = append(a.sel, p)
		a.id.I64[p] = 0
		if groups != nil {
			a.id.I64[p] = int64(groups[i])
		}
	}
	if len(a.sel) == 0 {
		return nil
	}
	cols := append([]*column.Vector{&a.id}, args...)
	return a.rows.append(cols, a.sel, n)
}

// merge takes over src's rows, renumbering their groups; only the groups from are taken.
func (a *concatAcc) merge(dst []uint32, src accumulator, from []uint32) error {
	s := src.(*concatAcc)
	to := map[int64]int64{}
	for i, f := range from {
		to[int64(f)] = int64(dst[i])
	}
	for _, seg := range s.rows.segs {
		if err := a.spec.q.check(); err != nil {
			return err
		}
		cols := slices.Clone(seg.cols)
		id := column.New(types.Uint32, seg.n)
		var sel []int32
		for i := range seg.n {
			if g, ok := to[seg.cols[0].I64[i]]; ok {
				id.I64[i] = g
				sel = append(sel, int32(i))
			}
		}
		cols[0] = id
		if len(sel) > 0 {
			if err := a.rows.append(cols, sel, seg.n); err != nil {
				return err
			}
		}
	}
	return nil
}

// values concatenates each group's rows in order.
func (a *concatAcc) values(v *column.Vector, groups []uint32) error {
	cols, n, err := concat(a.spec.q, []*rowStore{&a.rows}, a.rows.types)
	if err != nil {
		return err
	}
	order := countFrom(nil, 0, n)
	err = sortStable(a.spec.q, order, func(x, y int32) int {
		if c := compareOrdered(cols[0].I64[x], cols[0].I64[y]); c != 0 {
			return c
		}
		for i, k := range a.spec.item.OrderBy {
			c := compareNullsFirst(cols[1+a.spec.args+i], int(x), int(y))
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	if err != nil {
		return err
	}
	at := make(map[uint32]int, len(groups))
	for i, g := range groups {
		at[g] = i
		v.SetNull(i, len(groups))
	}
	var buf, piece []byte
	for i := 0; i < n; {
		g := cols[0].I64[order[i]]
		buf = buf[:0]
		seen := map[string]bool{}
		first := true
		for ; i < n && cols[0].I64[order[i]] == g; i++ {
			if i&(checkRows>>4) == 0 {
				if err := a.spec.q.check(); err != nil {
					return err
				}
			}
			if len(buf) > a.spec.limit {
				continue
			}
			piece = piece[:0]
			for c := range a.spec.args {
				piece = append(piece, textAt(cols[1+c], int(order[i]))...)
			}
			if a.spec.item.Distinct {
				if seen[string(piece)] {
					continue
				}
				seen[string(piece)] = true
			}
			if !first {
				buf = append(buf, a.spec.item.Sep...)
			}
			first = false
			buf = append(buf, piece...)
		}
		k, ok := at[uint32(g)]
		if !ok {
			continue
		}
		if len(buf) > a.spec.limit {
			buf = cutText(buf, a.spec.limit)
			a.spec.q.expr.Warnings.Add(sqlerr.LevelWarning, 1260, "Row %d was cut by GROUP_CONCAT()", k+1)
		}
		v.Set(k, len(groups), types.Value{Type: v.Type, S: string(buf)})
	}
	return nil
}

// cutText cuts at a character's boundary.
func cutText(b []byte, limit int) []byte {
	for limit > 0 && !utf8.RuneStart(b[limit]) {
		limit--
	}
	return b[:limit]
}

func textAt(v *column.Vector, p int) string {
	if v.Type.IsString() {
		return v.StringAt(p)
	}
	return v.Value(p).Text()
}

// compareNullsFirst orders two values of a vector, NULLs first.
func compareNullsFirst(v *column.Vector, x, y int) int {
	xn, yn := v.IsNull(x), v.IsNull(y)
	switch {
	case xn && yn:
		return 0
	case xn:
		return -1
	case yn:
		return 1
	}
	return compareValues(v, x, v, y)
}
