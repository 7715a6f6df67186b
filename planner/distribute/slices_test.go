package distribute

import (
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tabletest"
)

// ascending makes a table of one column that ascends, each value as often as repeat says, in row groups of 10 rows.
func ascending(t *testing.T, rows, repeat int) *table.Version {
	t.Helper()
	s := &table.Schema{Database: "db", Name: "t", Columns: []table.ColumnDef{{Name: "k", Type: types.Int64}}}
	v := column.New(types.Int64, rows)
	for i := range rows {
		v.Set(i, rows, types.IntValue(int64(i/repeat)))
	}
	b := table.NewBuilder(table.New(s))
	if err := b.Append(&column.Batch{N: rows, Cols: []*column.Vector{v}}); err != nil {
		t.Fatal(err)
	}
	out, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = tabletest.Regroup(out, 10); err != nil {
		t.Fatal(err)
	}
	return out
}

// Slices have every row group once, in order, about as many rows each; and no value is in two of them where that was asked for.
func TestSlices(t *testing.T) {
	for _, repeat := range []int{1, 4, 7, 25, 700} {
		v := ascending(t, 1003, repeat)
		for places := 2; places < 9; places++ {
			x := &slicing{table: v}
			apart := x.separate(0, places)
			if apart != (repeat < 700) {
				t.Errorf("%d rows of a value, %d places: apart %v", repeat, places, apart)
			}
			at := 0
			for i, p := range x.parts(places) {
				if p.From != at || p.To < p.From {
					t.Errorf("%d places: part %d is %v, want it from %d", places, i, p, at)
				}
				at = p.To
				if rows := 10 * (p.To - p.From); rows > 2*1003/places {
					t.Errorf("%d places: part %d has %d rows", places, i, rows)
				}
				if groups := v.Groups(); apart && p.From > 0 && p.From < len(groups) && groups[p.From-1].Columns[0].Max.I == groups[p.From].Columns[0].Min.I {
					t.Errorf("%d places: the value %d is in two slices", places, groups[p.From].Columns[0].Min.I)
				}
			}
			if at != len(v.Groups()) {
				t.Errorf("%d places: the slices end at %d of %d", places, at, len(v.Groups()))
			}
		}
	}
	if parts := (&slicing{table: ascending(t, 0, 1)}).parts(3); parts[2] != (table.Slice{}) {
		t.Errorf("slices of an empty table: %v", parts)
	}
}

// Slices that follow others have all row groups with their keys, and few more.
func TestFollowingSlices(t *testing.T) {
	leading, following := ascending(t, 1000, 4), ascending(t, 400, 1) // of which the first 250 values are in both
	for places := 2; places < 9; places++ {
		leader := &slicing{table: leading}
		x := &slicing{table: following}
		x.follow(leader, 0, 0)
		all := 0
		parts := x.parts(places)
		for i, p := range leader.parts(places) {
			least, most := leading.Groups()[p.From].Columns[0].Min.I, leading.Groups()[p.To-1].Columns[0].Max.I
			for at, g := range following.Groups() {
				c := g.Columns[0]
				if in := at >= parts[i].From && at < parts[i].To; in != (c.Max.I >= least && c.Min.I <= most) {
					t.Errorf("%d places: part %d has keys %d to %d, and row group %d (%d to %d) is in it: %v", places, i, least, most, at, c.Min.I, c.Max.I, in)
				}
			}
			all += parts[i].To - parts[i].From
		}
		if all > 25+places {
			t.Errorf("%d places scan %d row groups, of 25 with keys", places, all)
		}
	}
}
