package encoding_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// condition is a predicate and the same in plain words.
type condition struct {
	name  string
	p     *encoding.Predicate
	holds func(types.Value) bool
}

func notNull(f func(types.Value) bool) func(types.Value) bool {
	return func(v types.Value) bool { return !v.Null && f(v) }
}

// conditions makes predicates with bounds among the values, near them and far off.
func conditions(r *rand.Rand, s shape, values []types.Value) []condition {
	bound := func() types.Value {
		for range 20 {
			if v := values[r.IntN(len(values))]; !v.Null {
				if r.IntN(3) == 0 {
					v.I += r.Int64N(3) - 1
					v.F += float64(r.IntN(3) - 1)
					v.D = v.D.AddInt64(r.Int64N(3) - 1)
					v.S += strings.Repeat("0", r.IntN(2))
				}
				return v
			}
		}
		return s.value(r, r.IntN(1000))
	}
	var out []condition
	for op, name := range []string{"=", "<>", "<", "<=", ">", ">="} {
		b := bound()
		out = append(out, condition{fmt.Sprint(name, b), encoding.Comparison(encoding.Op(op), b), notNull(func(v types.Value) bool {
			c := types.Compare(v, b)
			return [...]bool{c == 0, c != 0, c < 0, c <= 0, c > 0, c >= 0}[op]
		})})
	}
	for _, open := range []bool{false, true} {
		lo, hi := bound(), bound()
		out = append(out, condition{fmt.Sprintf("between %v and %v, open %v", lo, hi, open), encoding.Between(lo, hi, open, !open), notNull(func(v types.Value) bool {
			a, b := types.Compare(v, lo), types.Compare(v, hi)
			return (a > 0 || a == 0 && !open) && (b < 0 || b == 0 && open)
		})})
	}
	for _, n := range []int{0, 1, 3, 40} {
		list := make([]types.Value, n)
		for i := range list {
			list[i] = bound()
		}
		in := notNull(func(v types.Value) bool {
			return slices.ContainsFunc(list, func(x types.Value) bool { return types.Compare(v, x) == 0 })
		})
		out = append(out,
			condition{fmt.Sprintf("in %v", list), encoding.In(append(list[:n:n], types.NullOf(s.typ))), in},
			condition{fmt.Sprintf("not in %v", list), encoding.NotIn(list), notNull(func(v types.Value) bool { return !in(v) })})
	}
	out = append(out,
		condition{"not in with NULL", encoding.NotIn([]types.Value{bound(), types.NullOf(s.typ)}), func(types.Value) bool { return false }},
		condition{"= NULL", encoding.Comparison(encoding.EQ, types.NullOf(s.typ)), func(types.Value) bool { return false }},
		condition{"is null", encoding.IsNull(), func(v types.Value) bool { return v.Null }},
		condition{"is not null", encoding.IsNotNull(), func(v types.Value) bool { return !v.Null }})
	if s.typ.IsString() {
		match := func(x string) bool { return strings.Contains(x, "1") || x == "a" }
		out = append(out, condition{"matches", encoding.Matching(match), notNull(func(v types.Value) bool { return match(v.S) })})
	}
	return out
}

// Every predicate on every kind of chunk, over windows and selections, against the definition.
func TestPredicates(t *testing.T) {
	r := testRand(t)
	kinds := map[encoding.Kind]int{}
	for _, s := range shapes {
		for _, n := range []int{1, 64, 700} {
			for _, nulls := range []int{0, 30, 100} {
				values := s.column(r, n, nulls)
				all := forms(s.typ, values)
				if s.typ.Phys() == types.PhysInt64 {
					d := all["plain"]
					d.Ints, d.Valid, d.KeepsInts, d.Scattered = slices.Clone(d.Ints), slices.Clone(d.Valid), true, true
					all["scattered"] = d
				}
				for form, d := range all {
					c := encoding.Encode(d)
					kinds[c.Kind]++
					for _, cond := range conditions(r, s, values) {
						test := encoding.CompileTest(c, cond.p)
						checkTest(t, r, test, values, cond, fmt.Sprintf("%s/%d/%d%%/%s: %s", s.name, n, nulls, form, cond.name))
					}
				}
			}
		}
	}
	for kind := encoding.Constant; kind <= encoding.RawString; kind++ {
		if kinds[kind] == 0 && kind != encoding.Dict32 {
			t.Errorf("no chunk of kind %d was tested", kind)
		}
	}
}

func checkTest(t *testing.T, r *rand.Rand, test *encoding.Test, values []types.Value, cond condition, name string) {
	t.Helper()
	passing := 0
	for _, v := range values {
		if cond.holds(v) {
			passing++
		}
	}
	if o := test.Outcome(); o == encoding.None && passing > 0 || o == encoding.All && passing < len(values) {
		t.Fatalf("%s: outcome %d, but %d of %d rows pass", name, o, passing, len(values))
	}
	for round := range 4 {
		from := r.IntN(len(values))
		n := r.IntN(len(values)-from) + 1
		if round == 0 {
			from, n = 0, len(values)
		}
		var in []int32
		if round > 1 {
			in = []int32{}
			for i := range int32(n) {
				if r.IntN(2) == 0 {
					in = append(in, i)
				}
			}
		}
		var want []int32
		for i := range int32(n) {
			if (in == nil || slices.Contains(in, i)) && cond.holds(values[from+int(i)]) {
				want = append(want, i)
			}
		}
		out := make([]int32, n)
		if round == 3 {
			out = in // in place
		}
		got := test.Select(from, n, in, out)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: rows %d+%d of %v: selected %v, want %v", name, from, n, in, got, want)
		}
	}
}

func TestIntSet(t *testing.T) {
	r := testRand(t)
	for _, width := range []int64{1, 100, 1 << 20, 1 << 62} {
		for _, n := range []int{0, 1, 10, 3000} {
			members := map[int64]bool{}
			list := []int64{}
			for range n {
				m := r.Int64N(width) - width/2
				list, members[m] = append(list, m), true
			}
			s := encoding.NewIntSet(list)
			if s.Len() != len(members) {
				t.Fatalf("%d of %d members", s.Len(), len(members))
			}
			for range 3000 {
				x := r.Int64N(width) - width/2 + r.Int64N(3) - 1
				if s.Contains(x) != members[x] {
					t.Fatalf("width %d, %d members: Contains(%d) = %v", width, n, x, s.Contains(x))
				}
			}
			for _, m := range list {
				if !s.Contains(m) {
					t.Fatalf("width %d, %d members: lost %d", width, n, m)
				}
			}
		}
	}
	s := encoding.NewIntBitmap(-3, []uint64{0b1001})
	for x, want := range map[int64]bool{-4: false, -3: true, -2: false, 0: true, 1: false, 60: false, 61: false, 1 << 40: false, -1 << 63: false} {
		if s.Contains(x) != want {
			t.Errorf("bitmap set: Contains(%d) = %v", x, !want)
		}
	}
}

// Bitmaps of few and of many members pass the same rows as a map does, of codes of 8 to 32 bits and of plain integers.
func TestIntBitmaps(t *testing.T) {
	r := testRand(t)
	for _, width := range []int64{200, 60_000, 1 << 20, 1 << 40} {
		for _, spread := range []int{1, 2, 40, 100} { // values to a member
			base, words := r.Int64N(1<<20)-1<<19, make([]uint64, 64+r.IntN(64))
			members := map[int64]bool{}
			for bit := range 64 * len(words) {
				if r.IntN(spread) == 0 {
					words[bit/64] |= 1 << (bit % 64)
					members[base+int64(bit)] = true
				}
			}
			ints := make([]int64, 4000+r.IntN(8))
			for i := range ints {
				if ints[i] = base + r.Int64N(min(width, 70*int64(len(words)))); i%50 == 0 {
					ints[i] = base - 100 + r.Int64N(width)
				}
			}
			c := encoding.NewEncoder(types.Int64, nil).Encode(encoding.Data{Rows: len(ints), Ints: ints})
			test := encoding.CompileTest(c, encoding.InInts(encoding.NewIntBitmap(base, words)))
			for from := 0; from < len(ints) && test.Outcome() == encoding.Some; from += 1001 {
				n := min(1001, len(ints)-from)
				var want []int32
				for i, x := range ints[from : from+n] {
					if members[x] {
						want = append(want, int32(i))
					}
				}
				if got := test.Select(from, n, nil, make([]int32, n)); !slices.Equal(got, want) {
					t.Fatalf("width %d, one of %d values, rows from %d: selected %v, want %v", width, spread, from, got, want)
				}
			}
		}
	}
}

// A Bloom filter passes all members, few others, and none outside its range.
func TestIntBloom(t *testing.T) {
	r := testRand(t)
	for _, width := range []int64{1 << 20, 1 << 40, 1 << 62} {
		for _, n := range []int{1, 100, 4096, 4097, 70_000} {
			ints := make([]int64, n)
			for i := range ints {
				ints[i] = r.Int64N(width) - width/2
			}
			b := encoding.NewBloom(n)
			b.Add(ints)
			set := encoding.InInts(encoding.NewIntBloom(slices.Min(ints), slices.Max(ints), b))
			c := encoding.NewEncoder(types.Int64, nil).Encode(encoding.Data{Rows: n, Ints: ints})
			if test := encoding.CompileTest(c, set); test.Outcome() != encoding.All && len(test.Select(0, n, nil, make([]int32, n))) != n {
				t.Fatalf("width %d, %d members: some are lost", width, n)
			}
			members := map[int64]bool{}
			for _, m := range ints {
				members[m] = true
			}
			others := make([]int64, 0, 5000)
			for len(others) < 5000 {
				if x := 2*r.Int64N(width) - width; !members[x] {
					others = append(others, x)
				}
			}
			c = encoding.NewEncoder(types.Int64, nil).Encode(encoding.Data{Rows: len(others), Ints: others})
			test := encoding.CompileTest(c, set)
			if test.Outcome() == encoding.None {
				continue
			}
			passed := test.Select(0, c.Rows, nil, make([]int32, c.Rows))
			if test.Outcome() == encoding.All || len(passed) > c.Rows/10 {
				t.Errorf("width %d, %d members: %d of %d others pass", width, n, len(passed), c.Rows)
			}
			for _, p := range passed {
				if x := others[p]; x < slices.Min(ints) || x > slices.Max(ints) {
					t.Fatalf("%d is outside the range and passes", x)
				}
			}
		}
	}
}

// A predicate that is kept, as by a prepared statement, sees strings that the dictionary has got since.
func TestPredicateOverGrowingDictionary(t *testing.T) {
	e := encoding.NewEncoder(types.Text, nil)
	p := encoding.Matching(func(s string) bool { return strings.HasPrefix(s, "x") })
	for round, strs := range [][]string{{"x", "a"}, {"b", "xx", "a"}, {"c", "xxx", "x", "a"}} {
		d := encoding.Data{Rows: len(strs), Strings: strs}
		c := e.Encode(d)
		if c.Dict == nil {
			t.Fatal("no dictionary")
		}
		var want []int32
		for i, s := range strs {
			if strings.HasPrefix(s, "x") {
				want = append(want, int32(i))
			}
		}
		if got := encoding.CompileTest(c, p).Select(0, c.Rows, nil, make([]int32, c.Rows)); !slices.Equal(got, want) {
			t.Fatalf("round %d: %v, want %v", round, got, want)
		}
	}
}

// Of a set that is larger than a chunk's range only the members in the range are tested.
func TestSetBeyondChunk(t *testing.T) {
	r := testRand(t)
	for _, size := range []int64{1, 200, 3000} {
		members := map[int64]bool{}
		var list []int64
		for range size {
			m := r.Int64N(1<<40) - 1<<39
			members[m] = true
			list = append(list, m)
		}
		for range 50 {
			lo := r.Int64N(1<<40) - 1<<39
			ints := make([]int64, 500)
			for i := range ints {
				ints[i] = lo + r.Int64N(1<<31)
				if i%5 == 0 {
					if m := list[r.IntN(len(list))]; m >= lo && m < lo+1<<31 {
						ints[i] = m
					}
				}
			}
			c := encoding.NewEncoder(types.Int64, nil).Encode(encoding.Data{Rows: len(ints), Ints: ints})
			var want []int32
			for i, x := range ints {
				if members[x] {
					want = append(want, int32(i))
				}
			}
			test := encoding.CompileTest(c, encoding.InInts(encoding.NewIntSet(list)))
			var got []int32
			switch test.Outcome() {
			case encoding.All:
				t.Fatal("all pass")
			case encoding.Some:
				got = test.Select(0, len(ints), nil, make([]int32, len(ints)))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d members: selected %v, want %v", size, got, want)
			}
		}
	}
}
