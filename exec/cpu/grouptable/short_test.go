package grouptable

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Rows of short strings and other keys, NULLs among them, in two words or more, have the groups that a map finds, and the keys come back. So they
// do in a table that has absorbed another one's groups.
func TestShortStrings(t *testing.T) {
	const n = 500
	r := rand.New(rand.NewPCG(7, 0))
	draw := func(most int) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = byte(r.IntN(2)) * 0xFF // zero bytes and bytes that look like NULL's length
		}
		return string(b)
	}
	for _, c := range []struct {
		columns []types.Type
		most    int // bytes of the longest string that fits
		nulls   int // the same where keys may be NULL; 0: such keys have another form
		form    Form
	}{
		{[]types.Type{types.Varchar(20)}, 15, 15, pairKeys},
		{[]types.Type{types.Varchar(20), types.Int32}, 11, 10, pairKeys},
		{[]types.Type{types.Int32, types.Varchar(20)}, 11, 10, pairKeys},
		{[]types.Type{types.Varchar(20), types.Varchar(20)}, 7, 7, pairKeys},
		{[]types.Type{types.Double, types.Varchar(20)}, 7, 0, pairKeys},
		{[]types.Type{types.Double, types.Varchar(20)}, 15, 15, wideKeys},
		{[]types.Type{types.Double, types.Int32, types.Double, types.Int64}, 0, 0, wideKeys},
		{[]types.Type{types.Varchar(20), types.Int32, types.Varchar(20)}, 7, 7, wideKeys},
		{[]types.Type{types.Int32, types.Varchar(20), types.Varchar(20), types.Int32, types.Varchar(20)}, 15, 15, wideKeys},
	} {
		for _, nulls := range []bool{false, true} {
			most := c.most
			if nulls {
				most = c.nulls
			}
			if most == 0 && nulls {
				continue
			}
			keys := make([]*column.Vector, len(c.columns))
			nullable := make([]bool, len(keys))
			shown := make([]string, n)
			for k, typ := range c.columns {
				nullable[k] = nulls
				v := column.New(typ, n)
				for i := range n {
					switch {
					case nulls && r.IntN(8) == 0:
						v.SetNull(i, n)
					case typ == types.Int32 || typ == types.Int64:
						v.I64[i] = int64(r.IntN(3)) - 1
					case typ == types.Double:
						v.F64[i] = float64(r.IntN(3)) - 1
					default:
						v.Str[i] = draw(most)
					}
				}
				keys[k] = v
			}
			name := fmt.Sprint(c.columns, nulls)
			table := New(NewLayout(nil, c.columns, nullable, keys, 0, 1, 0))
			if table.Layout.Form != c.form {
				t.Fatalf("%s: the form is %v", name, table.Layout.Form)
			}
			groups := make([]uint32, n)
			if !table.Find(keys, nil, n, groups) {
				t.Fatalf("%s: the keys do not fit", name)
			}
			for i := range n {
				shown[i] = rowText(keys, i)
			}
			want := map[string]uint32{}
			for i, g := range groups {
				if w, ok := want[shown[i]]; ok && w != g || !ok && int(g) != len(want) {
					t.Fatalf("%s: row %d, %q, has group %d of %d", name, i, shown[i], g, len(want))
				}
				want[shown[i]] = g
			}
			order := table.Groups()
			r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
			arranged, other := table.Arranged(order), New(table.Layout)
			other.Find(keys, []int32{n / 2, n / 3}, n, make([]uint32, 2))
			absorbed := make([]uint32, len(order))
			other.Absorb(arranged, arranged.Groups(), absorbed)
			if other.Count != table.Count {
				t.Fatalf("%s: %d groups become %d", name, table.Count, other.Count)
			}
			became := make([]uint32, len(order))
			for i, g := range order {
				became[g] = absorbed[i]
			}
			for _, from := range []*Table{table, other} {
				if from == other {
					for i, g := range groups {
						groups[i] = became[g]
					}
				}
				back := make([]*column.Vector, len(keys))
				for k := range keys {
					back[k] = &column.Vector{}
					from.KeyColumn(k, groups, back[k])
				}
				for i := range n {
					if got := rowText(back, i); got != shown[i] {
						t.Fatalf("%s: row %d is %q, was %q", name, i, got, shown[i])
					}
				}
			}
			for _, v := range keys {
				if v.Str == nil {
					continue
				}
				v.Str[n-1] = string(make([]byte, most+1))
				if v.Valid != nil {
					v.Valid.Set(n - 1)
				}
				if table.Find(keys, nil, n, groups) {
					t.Fatalf("%s: a string of %d bytes fits", name, most+1)
				}
			}
		}
	}
}

func rowText(keys []*column.Vector, i int) string {
	s := ""
	for _, v := range keys {
		if v.IsNull(i) {
			s += "NULL|"
			continue
		}
		s += fmt.Sprintf("%q|", v.Value(i).Text())
	}
	return s
}
