package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// kept is a version and the rows that it should always have, in their order.
type kept struct {
	v    *Version
	rows []row
}

// TestSingleRowChanges compares a table of a closed and an open row group, whose rows statements of one row change, with a list. Versions
// in between stay as they were, also where several are made of one.
func TestSingleRowChanges(t *testing.T) {
	r, ctx := testRand(t), context.Background()
	s := testSchema(Key{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true})
	rows := make([]row, RowGroupSize+3000)
	for i := range rows {
		rows[i] = testRow(r, s, int64(i))
	}
	b := NewBuilder(New(s))
	if err := b.Append(batch(s, rows[:RowGroupSize], false)); err != nil {
		t.Fatal(err)
	}
	v, err := b.Finish()
	if err == nil {
		v, err = v.Append(batch(s, rows[RowGroupSize:], false))
	}
	if err != nil {
		t.Fatal(err)
	}
	next := int64(len(rows))
	var states []kept
	hot := []int{5, RowGroupSize + 7} // rows that change again and again
	for step := range 12_000 {
		at := r.IntN(len(rows))
		if step%3 == 0 {
			at = hot[r.IntN(len(hot))]
		}
		number, found := v.Lookup(0, rows[at][0])
		if !found {
			t.Fatalf("step %d: row %d is missing", step, rows[at][0].I)
		}
		switch k := r.IntN(20); {
		case k == 0: // a key that is taken
			taken := rows[(at+1)%len(rows)][0]
			if _, _, err := v.Update(ctx, []int64{number}, []int{0}, vectors(s, []int{0}, row{taken})); !errors.Is(err, sqlerr.CodeDupEntry) {
				t.Fatalf("step %d: the key %d is taken, and the error is %v", step, taken.I, err)
			}
		case k < 3:
			x := testRow(r, s, next)
			next++
			rows = append(rows, x)
			if v, err = v.Append(batch(s, []row{x}, false)); err != nil {
				t.Fatal(err)
			}
		case k < 5 && !slices.Contains(hot, at) && at > slices.Max(hot):
			rows = slices.Delete(rows, at, at+1)
			if v, _, err = v.Delete(ctx, []int64{number}); err != nil {
				t.Fatal(err)
			}
		default:
			x := slices.Clone(rows[at])
			ordinals := []int{1 + r.IntN(len(s.Columns)-1)}
			if k == 5 {
				ordinals = append(ordinals, 0)
			}
			fresh := testRow(r, s, next)
			next++
			var values row
			for _, o := range ordinals {
				x[o] = fresh[o]
				values = append(values, x[o])
			}
			rows[at] = x
			if v, _, err = v.Update(ctx, []int64{number}, ordinals, vectors(s, ordinals, values)); err != nil {
				t.Fatal(err)
			}
		}
		if step%3000 == 500 {
			states = append(states, kept{v, slices.Clone(rows)})
		}
		if step%1000 == 999 && len(states) > 0 { // a version of an older one, which nobody keeps
			old := states[r.IntN(len(states))]
			if _, _, err := old.v.Update(ctx, []int64{3}, []int{1}, vectors(s, []int{1}, row{types.FloatValue(1)})); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, k := range append(states, kept{v, rows}) {
		check(t, k.v, k.rows)
		for range 1000 {
			want := k.rows[r.IntN(len(k.rows))]
			number, ok := k.v.Lookup(0, want[0])
			have, _ := k.v.Row(number)
			if !ok || !slices.EqualFunc(have, want, sameValue) {
				t.Fatalf("row %d is %v, want %v", want[0].I, have, want)
			}
		}
	}
}

// vectors returns columns of one row.
func vectors(s *Schema, ordinals []int, values row) []*column.Vector {
	var out []*column.Vector
	for i, o := range ordinals {
		c := column.New(s.Columns[o].Type, 1)
		c.Set(0, 1, values[i])
		out = append(out, c)
	}
	return out
}

// TestChangesAreSharedSafely lets readers write changes into columns, and look rows up, while a writer goes on.
func TestChangesAreSharedSafely(t *testing.T) {
	ctx := context.Background()
	s := testSchema(Key{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true})
	r := testRand(t)
	rows := make([]row, 5000)
	for i := range rows {
		rows[i] = testRow(r, s, int64(i))
	}
	v, err := New(s).Append(batch(s, rows, false))
	if err != nil {
		t.Fatal(err)
	}
	type state struct {
		v    *Version
		step int
	}
	states := make(chan state, 64)
	failed := make(chan error, 4)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for x := range states {
				number, _ := x.v.Lookup(0, types.IntValue(7))
				have, _ := x.v.Row(number)
				sum := 0.0
				for _, g := range x.v.Groups() {
					for i := range g.Rows {
						if c := g.Columns[0].At(i); c.I == 7 {
							sum = g.Columns[1].At(i).F
						}
					}
				}
				if have[1].F != float64(x.step) || sum != float64(x.step) {
					select {
					case failed <- fmt.Errorf("step %d: %v and %v", x.step, have[1].F, sum):
					default:
					}
				}
			}
		})
	}
	for step := range 6000 {
		if v, _, err = v.Update(ctx, []int64{7}, []int{1}, vectors(s, []int{1}, row{types.FloatValue(float64(step))})); err != nil {
			t.Fatal(err)
		}
		if step%20 == 0 {
			states <- state{v, step}
		}
	}
	close(states)
	readers.Wait()
	select {
	case err := <-failed:
		t.Error(err)
	default:
	}
}

// TestWornIndexes deletes and inserts one key again and again: its index does not grow with that, and old versions find what they have.
func TestWornIndexes(t *testing.T) {
	r, ctx := testRand(t), context.Background()
	s := testSchema(Key{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true})
	var rows []row
	for i := range 1000 {
		rows = append(rows, testRow(r, s, int64(i)))
	}
	v, err := New(s).Append(batch(s, rows, false))
	if err != nil {
		t.Fatal(err)
	}
	first := v
	for range 1200 {
		number, ok := v.Lookup(0, types.IntValue(7))
		if !ok {
			t.Fatal("the row is missing")
		}
		if v, _, err = v.Mark(ctx, []int64{number}); err != nil {
			t.Fatal(err)
		}
		if v, err = v.Append(batch(s, []row{testRow(r, s, 7)}, false)); err != nil {
			t.Fatal(err)
		}
	}
	if n := v.index.keys[0].count; n > 1500 {
		t.Errorf("the index of 1,000 rows has %d entries", n)
	}
	if number, ok := first.Lookup(0, types.IntValue(7)); !ok || number != 7 {
		t.Errorf("the first version finds row %d, %v", number, ok)
	}
}
