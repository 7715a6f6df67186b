package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

func testRand(t testing.TB) *rand.Rand {
	seed := uint64(20260101)
	for _, c := range t.Name() {
		seed = seed*1099511628211 + uint64(c)
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// testSchema has a column of each physical type, NULLs in all but the first.
func testSchema(keys ...Key) *Schema {
	return &Schema{Database: "test", Name: "t", Keys: keys, Columns: []ColumnDef{
		{Name: "id", Type: types.Int64},
		{Name: "f", Type: types.Double, Nullable: true},
		{Name: "d", Type: types.Decimal(30, 2), Nullable: true},
		{Name: "few", Type: types.Varchar(10), Nullable: true},
		{Name: "many", Type: types.Text, Nullable: true},
		{Name: "n", Type: types.Date, Nullable: true},
	}}
}

type row []types.Value

// testRow makes the row of an id; its other values follow from it and r.
func testRow(r *rand.Rand, s *Schema, id int64) row {
	out := make(row, len(s.Columns))
	for i := range s.Columns {
		v := types.Value{Type: s.Columns[i].Type}
		switch i {
		case 0:
			v.I = id
		case 1:
			v.F = r.NormFloat64()
		case 2:
			v.D = types.Int128{Hi: r.Int64N(3) - 1, Lo: r.Uint64()}
		case 3:
			v.S = []string{"", "x", "yy"}[r.IntN(3)]
		case 4:
			v.S = fmt.Sprint("s", r.Uint32())
		case 5:
			v.I = 8000 + r.Int64N(2000)
		}
		if i > 0 && r.IntN(8) == 0 {
			v = types.NullOf(v.Type)
		}
		out[i] = v
	}
	return out
}

// batch puts rows into a batch, at every other position if sparse.
func batch(s *Schema, rows []row, sparse bool) *column.Batch {
	n, step := len(rows), 1
	b := &column.Batch{}
	if sparse {
		n, step = 2*n, 2
		b.Sel = []int32{}
		for i := range rows {
			b.Sel = append(b.Sel, int32(2*i))
		}
	}
	b.N = n
	for c := range s.Columns {
		v := column.New(s.Columns[c].Type, n)
		for i, x := range rows {
			v.Set(i*step, n, x[c])
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

func sameValue(a, b types.Value) bool {
	return a.Null == b.Null && (a.Null || types.Compare(a, b) == 0)
}

// check compares a version's live rows with those wanted, and its own bookkeeping.
func check(t *testing.T, v *Version, want []row) {
	t.Helper()
	if v.Rows() != int64(len(want)) {
		t.Fatalf("%d rows, want %d", v.Rows(), len(want))
	}
	at, first := 0, int64(0)
	for i, g := range v.Groups() {
		if g.First != first || g.Rows == 0 || g.Rows > RowGroupSize {
			t.Fatalf("group %d: first %d, rows %d; want first %d", i, g.First, g.Rows, first)
		}
		first += int64(g.Rows)
		cols := make([]*column.Vector, len(g.Columns))
		for c := range cols {
			cols[c] = &column.Vector{}
			g.Columns[c].Decode(cols[c], 0, g.Rows)
		}
		for j := range g.Rows {
			if g.Deleted != nil && g.Deleted.Get(j) {
				continue
			}
			for c := range cols {
				if got := cols[c].Value(j); !sameValue(got, want[at][c]) {
					t.Fatalf("group %d, row %d, column %d: %v, want %v", i, j, c, got, want[at][c])
				}
				if z := g.Columns[c]; !want[at][c].Null && !z.Min.Null && (types.Compare(want[at][c], z.Min) < 0 || types.Compare(want[at][c], z.Max) > 0) {
					t.Fatalf("group %d, column %d: %v outside %v..%v", i, c, want[at][c], z.Min, z.Max)
				}
			}
			at++
		}
	}
	if v.Span() != first {
		t.Fatalf("span %d, want %d", v.Span(), first)
	}
	if v.Bytes() <= 0 {
		t.Fatal("no bytes")
	}
}

// rowNumbers returns the numbers of the live rows in order.
func rowNumbers(v *Version) []int64 {
	var out []int64
	for _, g := range v.Groups() {
		for i := range g.Rows {
			if g.Deleted == nil || !g.Deleted.Get(i) {
				out = append(out, g.First+int64(i))
			}
		}
	}
	return out
}

var primary = Key{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true}

// Random appends, deletions, updates and bulk loads from random older versions, each compared with a list of rows. Every
// version must keep its rows whatever is made of others.
func TestVersionsAgainstList(t *testing.T) {
	r := testRand(t)
	s := testSchema(primary, Key{Name: "u", Columns: []int{4, 5}, Unique: true})
	type state struct {
		v    *Version
		rows []row
	}
	for round := range 8 {
		states := []state{{New(s), nil}}
		size := []int{1, 1, 10, 2500}[round%4]
		for step := range 30 {
			base := states[len(states)-1]
			if r.IntN(5) == 0 {
				base = states[r.IntN(len(states))]
			}
			next := state{base.v, slices.Clone(base.rows)}
			taken := map[int64]bool{}
			for _, x := range base.rows {
				taken[x[0].I] = true
			}
			fresh := func(n int) []row {
				var out []row
				for len(out) < n {
					if id := r.Int64N(1 << 40); !taken[id] {
						taken[id] = true
						out = append(out, testRow(r, s, id))
					}
				}
				return out
			}
			var err error
			switch op := r.IntN(10); {
			case op < 5:
				more := fresh(1 + r.IntN(size))
				next.v, err = base.v.Append(batch(s, more, op == 0))
				next.rows = append(next.rows, more...)
			case op < 6:
				more := fresh(1 + r.IntN(4*size))
				b := NewBuilder(base.v)
				for at := 0; at < len(more) && err == nil; at += 1000 {
					err = b.Append(batch(s, more[at:min(at+1000, len(more))], step%2 == 0))
				}
				if err == nil {
					next.v, err = b.Finish()
				}
				next.rows = append(next.rows, more...)
			case op < 8:
				numbers := rowNumbers(base.v)
				share := []int{2, 20, 1000}[r.IntN(3)]
				var doomed []int64
				next.rows = nil
				for i, x := range base.rows {
					if r.IntN(share) == 0 {
						doomed = append(doomed, numbers[i])
					} else {
						next.rows = append(next.rows, x)
					}
				}
				r.Shuffle(len(doomed), func(i, j int) { doomed[i], doomed[j] = doomed[j], doomed[i] })
				var n int64
				next.v, n, err = base.v.Delete(context.Background(), append(doomed, doomed...))
				if n != int64(len(doomed)) {
					t.Fatalf("deleted %d rows of %d", n, len(doomed))
				}
			default:
				numbers := rowNumbers(base.v)
				var picked []int64
				var news []row
				differing := int64(0)
				for i, x := range base.rows {
					if r.IntN(10) == 0 {
						y := slices.Clone(x)
						fill := fresh(1)[0]
						y[0], y[3], y[5] = fill[0], fill[3], fill[5]
						next.rows[i] = y
						if !sameValue(x[0], y[0]) || !sameValue(x[3], y[3]) || !sameValue(x[5], y[5]) {
							differing++
						}
						picked, news = append(picked, numbers[i]), append(news, y)
					}
				}
				b := batch(s, news, false)
				var n int64
				next.v, n, err = base.v.Update(context.Background(), picked, []int{5, 0, 3}, []*column.Vector{b.Cols[5], b.Cols[0], b.Cols[3]})
				if n != differing {
					t.Fatalf("%d rows changed of %d", n, differing)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, next.v, next.rows)
			check(t, base.v, base.rows)
			if n := len(next.rows); n > 0 {
				x := next.rows[r.IntN(n)]
				if number, ok := next.v.Lookup(0, x[0]); !ok {
					t.Fatalf("key %v not found", x[0])
				} else if got, _ := next.v.Row(number); !sameValue(got[4], x[4]) {
					t.Fatalf("key %v found at row %d, which is %v", x[0], number, got)
				}
				if _, ok := next.v.Lookup(0, types.IntValue(-1)); ok {
					t.Fatal("key -1 found")
				}
				if _, err := next.v.Append(batch(s, []row{testRow(r, s, x[0].I)}, false)); !errors.Is(err, sqlerr.CodeDupEntry) {
					t.Fatalf("a second row with key %v: %v", x[0], err)
				}
			}
			states = append(states, next)
		}
		for _, st := range states {
			check(t, st.v, st.rows)
		}
	}
}

// A load larger than a row group, through each way in.
func TestFullGroups(t *testing.T) {
	r := testRand(t)
	s := testSchema(primary)
	var rows []row
	for id := range int64(RowGroupSize + 3000) {
		rows = append(rows, testRow(r, s, id*7%1000003))
	}
	b := NewBuilder(New(s))
	for at := 0; at < len(rows); at += 10007 {
		if err := b.Append(batch(s, rows[at:min(at+10007, len(rows))], false)); err != nil {
			t.Fatal(err)
		}
	}
	built, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	check(t, built, rows)
	appended, err := New(s).Append(batch(s, rows, false))
	if err != nil {
		t.Fatal(err)
	}
	check(t, appended, rows)
	grown := New(s)
	for at := 0; at < len(rows); at += 40000 {
		if grown, err = grown.Append(batch(s, rows[at:min(at+40000, len(rows))], true)); err != nil {
			t.Fatal(err)
		}
	}
	check(t, grown, rows)
	for name, v := range map[string]*Version{"built": built, "appended": appended, "grown": grown} {
		if c := v.Groups()[0].Columns[3]; len(v.Groups()) != 2 || c.Kind != encoding.Dict8 || v.Groups()[0].Rows != RowGroupSize {
			t.Errorf("%s: %d groups, the first has %d rows and strings of kind %d", name, len(v.Groups()), v.Groups()[0].Rows, c.Kind)
		}
	}
	cols := make([]encoding.Data, len(s.Columns))
	for i, c := range batch(s, rows, false).Cols {
		cols[i].Type = c.Type
		cols[i].Append(c, len(rows), nil)
	}
	b = NewBuilder(New(s))
	if err := b.AppendColumns(len(rows), cols); err != nil {
		t.Fatal(err)
	}
	columns, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	check(t, columns, rows)
}

func TestKeys(t *testing.T) {
	s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64, Nullable: true}, {Name: "b", Type: types.Text, Nullable: true}},
		Keys: []Key{{Name: "ab", Columns: []int{0, 1}, Unique: true}, {Name: "plain", Columns: []int{0}}}}
	str := func(x string) types.Value { return types.Value{Type: types.Text, S: x} }
	one := func(a, b types.Value) *column.Batch { return batch(s, []row{{a, b}}, false) }
	null := types.NullOf(types.Int64)
	v, err := New(s).Append(one(types.IntValue(1), str("x")), one(null, str("x")), one(null, str("x")), one(types.IntValue(1), str("y")))
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Append(one(types.IntValue(2), str("x")), one(types.IntValue(1), str("y")))
	if err == nil || !strings.Contains(err.Error(), "Duplicate entry '1-y' for key 't.ab'") {
		t.Fatal(err)
	}
	// The failed statement has left nothing: 2-x can come now.
	if v, err = v.Append(one(types.IntValue(2), str("x"))); err != nil {
		t.Fatal(err)
	}
	_, err = v.Append(one(types.IntValue(3), str("z")), one(types.IntValue(3), str("z")))
	if !errors.Is(err, sqlerr.CodeDupEntry) {
		t.Fatalf("two equal keys in one statement: %v", err)
	}
	// Exchanging keys within one statement is fine, since only the end counts; doubling one is not.
	swapped, _, err := v.Update(context.Background(), []int64{0, 3}, []int{1}, []*column.Vector{vectorFor(types.Text, str("y"), str("x"))})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = swapped.Update(context.Background(), []int64{0}, []int{1}, []*column.Vector{vectorFor(types.Text, str("x"))})
	if !errors.Is(err, sqlerr.CodeDupEntry) {
		t.Fatalf("update to a taken key: %v", err)
	}
	// A deleted row's key is free again, in that version only.
	deleted, _, _ := v.Delete(context.Background(), []int64{0})
	if _, err := deleted.Append(one(types.IntValue(1), str("x"))); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Append(one(types.IntValue(1), str("x"))); !errors.Is(err, sqlerr.CodeDupEntry) {
		t.Fatal(err)
	}
}

func vectorFor(t types.Type, values ...types.Value) *column.Vector {
	v := column.New(t, len(values))
	for i, x := range values {
		v.Set(i, len(values), x)
	}
	return v
}

// An index that an abandoned change built or extended must serve the version it was made from.
func TestKeysAfterAbandonedUpdate(t *testing.T) {
	s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64}}, Keys: []Key{{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true}}}
	b := NewBuilder(New(s))
	if err := b.AppendColumns(3, []encoding.Data{{Ints: []int64{1, 2, 3}}}); err != nil {
		t.Fatal(err)
	}
	v, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.Update(context.Background(), []int64{1}, []int{0}, []*column.Vector{vectorFor(types.Int64, types.IntValue(20))}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Append(batch(s, []row{{types.IntValue(2)}}, false)); !errors.Is(err, sqlerr.CodeDupEntry) {
		t.Fatalf("key 2 can be had twice: %v", err)
	}
	more := func(base *Version, keys ...int64) *Version {
		b := NewBuilder(base)
		if err := b.AppendColumns(len(keys), []encoding.Data{{Ints: keys}}); err != nil {
			t.Fatal(err)
		}
		next, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	fresh := more(New(s), 1, 2, 3)
	loaded := more(fresh, 4, 5, 6) // ascends, so no index
	if _, err := fresh.Append(batch(s, []row{{types.IntValue(9)}}, false)); err != nil {
		t.Fatal(err)
	}
	if _, err := loaded.Append(batch(s, []row{{types.IntValue(5)}}, false)); !errors.Is(err, sqlerr.CodeDupEntry) {
		t.Fatalf("key 5 can be had twice: %v", err)
	}
}

func TestBulkKeys(t *testing.T) {
	s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64}}, Keys: []Key{{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true}}}
	load := func(base *Version, keys ...int64) (*Version, error) {
		b := NewBuilder(base)
		if err := b.AppendColumns(len(keys), []encoding.Data{{Ints: keys}}); err != nil {
			return nil, err
		}
		return b.Finish()
	}
	v, err := load(New(s), 1, 5, 7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = load(v, 8, 9); err != nil {
		t.Fatal(err)
	}
	for _, keys := range [][]int64{{8, 5}, {8, 8}, {2, 4, 2}, {7}} {
		if _, err := load(v, keys...); !errors.Is(err, sqlerr.CodeDupEntry) {
			t.Errorf("loaded %v after 1, 5, 7: %v", keys, err)
		}
	}
	if _, err := load(v, 6, 4, 2); err != nil {
		t.Error(err)
	}
}

func TestNotNull(t *testing.T) {
	s := testSchema()
	x := testRow(testRand(t), s, 1)
	x[0] = types.NullOf(types.Int64)
	_, err := New(s).Append(batch(s, []row{x}, false))
	if !errors.Is(err, sqlerr.CodeBadNull) || !strings.Contains(err.Error(), "'id'") {
		t.Fatal(err)
	}
	// A NULL that is not selected does no harm.
	b := batch(s, []row{x, testRow(testRand(t), s, 2)}, false)
	b.Sel = []int32{1}
	if _, err := New(s).Append(b); err != nil {
		t.Fatal(err)
	}
}

// A deleted row takes part in no check, whether it stands before or after the row that has its key.
func TestWithKeysPassesOverDeletedRows(t *testing.T) {
	s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64}}}
	v, err := New(s).Append(batch(s, []row{{types.IntValue(5)}, {types.IntValue(3)}, {types.IntValue(5)}}, false))
	if err != nil {
		t.Fatal(err)
	}
	keyed := *s
	keyed.Keys = []Key{{Name: "u", Columns: []int{0}, Unique: true}}
	for _, doomed := range []int64{0, 2} {
		left, _, _ := v.Delete(context.Background(), []int64{doomed})
		if _, err := left.WithKeys(context.Background(), &keyed); err != nil {
			t.Errorf("without row %d: %v", doomed, err)
		}
	}
}
