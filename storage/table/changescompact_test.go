package table

import (
	"context"
	"slices"
	"testing"

	"github.com/radish-sql/radish/sql/types"
)

// TestCompactingKeepsChanges deletes most rows of a group while the groups behind it have changes in their logs. Those get other row
// numbers, in the new version and not in the old one, whichever of the two is read first.
func TestCompactingKeepsChanges(t *testing.T) {
	for name, readsFirst := range map[string]bool{"old version read first": true, "new version read first": false} {
		t.Run(name, func(t *testing.T) {
			r, ctx := testRand(t), context.Background()
			s := testSchema(Key{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true})
			rows := make([]row, 2*RowGroupSize+100)
			for i := range rows {
				rows[i] = testRow(r, s, int64(i))
			}
			b := NewBuilder(New(s))
			if err := b.Append(batch(s, rows[:2*RowGroupSize], false)); err != nil {
				t.Fatal(err)
			}
			v, err := b.Finish()
			if err == nil {
				v, err = v.Append(batch(s, rows[2*RowGroupSize:], false))
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []int{RowGroupSize + 5, 2*RowGroupSize + 7} {
				rows[at] = slices.Clone(rows[at])
				rows[at][1] = types.FloatValue(0.25)
				if v, _, err = v.Update(ctx, []int64{int64(at)}, []int{1}, vectors(s, []int{1}, row{rows[at][1]})); err != nil {
					t.Fatal(err)
				}
			}
			if readsFirst {
				v.Groups()
			}
			var gone []int64
			for i := range int64(RowGroupSize * 3 / 4) {
				gone = append(gone, i)
			}
			next, _, err := v.Delete(ctx, gone)
			if err != nil {
				t.Fatal(err)
			}
			numbered(t, next)
			numbered(t, v)
			check(t, next, rows[len(gone):])
			check(t, v, rows)
		})
	}
}

// numbered checks that groups follow each other, and that a key is found where the groups have it.
func numbered(t *testing.T, v *Version) {
	t.Helper()
	first := int64(0)
	for i, g := range v.Groups() {
		if g.First != first {
			t.Errorf("group %d begins with row %d, want %d", i, g.First, first)
		}
		first += int64(g.Rows)
	}
}
