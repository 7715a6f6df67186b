package encoding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Large groups are dictionary-coded where a map finds few distinct strings, in whatever order they stand, and come back as they were.
func TestDistinctStrings(t *testing.T) {
	const rows = 100_000
	r := rand.New(rand.NewPCG(3, 0))
	for name, c := range map[string]struct {
		draw  func(row int) int
		coded bool
	}{
		"few":                {func(int) int { return r.IntN(100) }, true},
		"a tenth as many":    {func(int) int { return r.IntN(rows / 10) }, true},
		"runs of five":       {func(row int) int { return row / 5 }, true},
		"a cycle":            {func(row int) int { return row % 20_000 }, true},
		"four times as many": {func(int) int { return r.IntN(4 * rows) }, false},
		"all different":      {func(row int) int { return row }, false},
	} {
		for _, nulls := range []bool{false, true} {
			d := Data{Rows: rows, Strings: make([]string, rows)}
			if nulls {
				d.Valid = column.NewBitmap(rows, true)
			}
			distinct := map[string]bool{}
			for i := range d.Strings {
				if nulls && r.IntN(10) == 0 {
					d.Valid.Clear(i)
					continue
				}
				d.Strings[i] = fmt.Sprintf("string %d", c.draw(i))
				distinct[d.Strings[i]] = true
			}
			want := slices.Clone(d.Strings)
			e := NewEncoder(types.Varchar(40), nil)
			p := e.Prepare(d)
			if c.coded != (p.local != nil) {
				t.Fatalf("%s, NULLs %v: coded is %v of %d distinct strings", name, nulls, p.local != nil, len(distinct))
			}
			if c.coded && len(p.local) != len(distinct) {
				t.Fatalf("%s, NULLs %v: %d distinct strings, want %d", name, nulls, len(p.local), len(distinct))
			}
			e.Assign(p)
			var v column.Vector
			p.Chunk().Decode(&v, 0, rows)
			for i := range want {
				if null := nulls && !d.Valid.Get(i); null != v.IsNull(i) || !null && v.StringAt(i) != want[i] {
					t.Fatalf("%s, NULLs %v: row %d is %q, was %q", name, nulls, i, v.StringAt(i), want[i])
				}
			}
		}
	}
}
