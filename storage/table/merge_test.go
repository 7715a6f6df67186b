package table

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// branch is a state of a table with the rows that it should have, by key, and the keys that steps have touched.
type branch struct {
	v       *Version
	rows    map[int64]row
	touched map[int64]bool
}

func (b *branch) fork() *branch {
	return &branch{b.v, maps.Clone(b.rows), map[int64]bool{}}
}

// some returns up to n ids, chosen by r.
func (b *branch) some(r *rand.Rand, n int) []int64 {
	ids := slices.Sorted(maps.Keys(b.rows))
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(n, len(ids))]
}

// step makes a random change: mostly of few rows, of the ids in pool.
func (b *branch) step(t *testing.T, r *rand.Rand, s *Schema, pool int64, share int) {
	t.Helper()
	ctx := context.Background()
	numberOf := func(id int64) int64 {
		n, ok := b.v.Lookup(0, types.IntValue(id))
		if !ok {
			t.Fatalf("row %d is missing", id)
		}
		return n
	}
	var err error
	switch r.IntN(4) {
	case 0, 1: // insert
		var more []row
		for range 1 + r.IntN(share) {
			if id := r.Int64N(pool); b.rows[id] == nil {
				x := testRow(r, s, id)
				b.rows[id], b.touched[id] = x, true
				more = append(more, x)
			}
		}
		b.v, err = b.v.Append(batch(s, more, r.IntN(2) == 0))
	case 2: // update
		var numbers []int64
		var news []row
		for _, id := range b.some(r, share) {
			x := b.rows[id]
			y := slices.Clone(x)
			y[4] = types.Value{Type: types.Text, S: testRow(r, s, id)[4].S + "!" + x[4].S}
			y[5] = testRow(r, s, id)[5]
			b.rows[id], b.touched[id] = y, true
			numbers, news = append(numbers, numberOf(id)), append(news, y)
		}
		data := batch(s, news, false)
		b.v, _, err = b.v.Update(ctx, numbers, []int{5, 4}, []*column.Vector{data.Cols[5], data.Cols[4]})
	default: // delete
		var numbers []int64
		for _, id := range b.some(r, share) {
			numbers = append(numbers, numberOf(id))
			delete(b.rows, id)
			b.touched[id] = true
		}
		b.v, _, err = b.v.Delete(ctx, numbers)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Two branches of a table are merged: what each changed must be there, and where both changed one row the merge must fail. It
// may fail besides only where rows were numbered anew.
func TestMerge(t *testing.T) {
	r := testRand(t)
	s := testSchema(primary)
	conflicts, merges, renumbered := 0, 0, 0
	for round := range 240 {
		size := []int64{20, 300, 20, 5000}[round%4]
		base := &branch{New(s), map[int64]row{}, map[int64]bool{}}
		for id := range size {
			base.rows[id] = testRow(r, s, id)
		}
		ordered := slices.Sorted(maps.Keys(base.rows))
		var all []row
		for _, id := range ordered {
			all = append(all, base.rows[id])
		}
		var err error
		if r.IntN(2) == 0 { // an open last group, or a closed one
			base.v, err = base.v.Append(batch(s, all, false))
		} else {
			b := NewBuilder(base.v)
			if err = b.Append(batch(s, all, false)); err == nil {
				base.v, err = b.Finish()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		mine, theirs := base.fork(), base.fork()
		share := 1 + r.IntN(int(size)/10)
		if r.IntN(8) == 0 {
			share = int(size) * 3 / 4
		}
		for range 1 + r.IntN(3) {
			mine.step(t, r, s, 4*size, share)
		}
		for range 1 + r.IntN(3) {
			theirs.step(t, r, s, 4*size, share)
		}
		want := maps.Clone(theirs.rows)
		conflict := false
		for id := range mine.touched {
			conflict = conflict || theirs.touched[id]
			if x := mine.rows[id]; x != nil {
				want[id] = x
			} else {
				delete(want, id)
			}
		}
		merged, err := Merge(context.Background(), base.v, mine.v, theirs.v)
		moved := mine.v.numbers != base.v.numbers || theirs.v.numbers != base.v.numbers
		switch {
		case errors.Is(err, sqlerr.CodeLockDeadlock) && conflict:
			conflicts++
			continue
		case errors.Is(err, sqlerr.CodeLockDeadlock) && moved:
			renumbered++
			continue
		case err != nil:
			t.Fatalf("round %d: %v", round, err)
		case conflict:
			// A row that one side inserted and deleted again, or gave back the values it had, is no conflict.
			continue
		}
		merges++
		got := map[int64]row{}
		for _, n := range rowNumbers(merged) {
			x, _ := merged.Row(n)
			got[x[0].I] = x
		}
		if len(got) != len(want) || merged.Rows() != int64(len(want)) {
			t.Fatalf("round %d: %d rows, want %d", round, len(got), len(want))
		}
		for id, x := range want {
			for c := range x {
				if got[id] == nil || !sameValue(got[id][c], x[c]) {
					t.Fatalf("round %d, row %d: %v, want %v", round, id, got[id], x)
				}
			}
		}
		check(t, mine.v, inOrder(mine.v, mine.rows))
		check(t, theirs.v, inOrder(theirs.v, theirs.rows))
		if len(want) > 0 { // keys hold in what comes of it
			some := slices.Min(slices.Collect(maps.Keys(want)))
			if _, err := merged.Append(batch(s, []row{want[some]}, false)); !errors.Is(err, sqlerr.CodeDupEntry) {
				t.Fatalf("round %d: a second row %d: %v", round, some, err)
			}
		}
	}
	t.Logf("%d merges, %d conflicts, %d failed for new row numbers", merges, conflicts, renumbered)
	if merges < 50 || conflicts < 50 || renumbered > merges/4 {
		t.Error("the rounds show too little")
	}
}

// inOrder returns rows in the order of a version's.
func inOrder(v *Version, rows map[int64]row) []row {
	var out []row
	for _, n := range rowNumbers(v) {
		x, _ := v.Row(n)
		out = append(out, rows[x[0].I])
	}
	return out
}

// Where deletions have given rows new numbers, rows can still be added, but not changed.
func TestMergeAfterCompaction(t *testing.T) {
	r := testRand(t)
	s := testSchema(primary)
	ctx := context.Background()
	var all []row
	for id := range int64(2 * compactRows) {
		all = append(all, testRow(r, s, id))
	}
	base, err := New(s).Append(batch(s, all, false))
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, err := base.Delete(ctx, rowNumbers(base)[:compactRows+100])
	if err != nil || theirs.numbers == base.numbers {
		t.Fatal("no new numbers", err)
	}
	fresh := testRow(r, s, 1<<30)
	mine, err := base.Append(batch(s, []row{fresh}, false))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := Merge(ctx, base, mine, theirs)
	if err != nil {
		t.Fatal(err)
	}
	check(t, merged, append(slices.Clone(all[compactRows+100:]), fresh))
	mine, _, err = base.Delete(ctx, []int64{2*compactRows - 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(ctx, base, mine, theirs); !errors.Is(err, sqlerr.CodeLockDeadlock) {
		t.Fatal(err)
	}
}

// TestMergeOfReusedNumbers empties a table, which drops its group, and fills it again: rows that have got the numbers of those that were deleted
// before are new, to a merge and to a difference.
func TestMergeOfReusedNumbers(t *testing.T) {
	r := testRand(t)
	s := testSchema(primary)
	ctx := t.Context()
	rows := func(ids ...int64) (list []row) {
		for _, id := range ids {
			list = append(list, testRow(r, s, id))
		}
		return list
	}
	old := rows(1, 2)
	v, err := New(s).Append(batch(s, old, false))
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := v.Delete(ctx, []int64{0})
	if err != nil {
		t.Fatal(err)
	}
	emptied, _, err := base.Delete(ctx, []int64{1})
	if err != nil {
		t.Fatal(err)
	}
	fresh := rows(7)
	mine, err := emptied.Append(batch(s, fresh, false))
	if err != nil {
		t.Fatal(err)
	}
	if numbers := rowNumbers(mine); len(numbers) != 1 || numbers[0] != 0 {
		t.Fatalf("the new row has the number %v, want the one of the row deleted first", numbers)
	}
	d, ok, err := Diff(ctx, base, mine)
	if err != nil || !ok || !slices.Equal(d.Deleted, []int64{1}) || !slices.Equal(d.Added, []int64{0}) || len(d.Updated) > 0 {
		t.Errorf("the difference is %+v, %v, %v", d, ok, err)
	}
	others := rows(9)
	theirs, err := base.Append(batch(s, others, false))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := Merge(ctx, base, mine, theirs)
	if err != nil {
		t.Fatal(err)
	}
	check(t, merged, []row{others[0], fresh[0]})
}
