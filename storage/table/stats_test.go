package table

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Statistics of columns of known distributions against the counts.
func TestStats(t *testing.T) {
	r := testRand(t)
	const n, piece = 40000, 10000
	for _, tc := range []struct {
		name  string
		value func(i int) int64 // negative: NULL
	}{
		{"unique", func(i int) int64 { return int64(i) }},
		{"shuffled", func(i int) int64 { return int64(i) * 7919 % 1000003 }},
		{"ten values", func(int) int64 { return r.Int64N(10) }},
		{"5000 values", func(int) int64 { return r.Int64N(5000) * 37 }},
		{"skewed", func(int) int64 { return int64(math.Exp(r.Float64() * 10)) }},
		{"half one value", func(i int) int64 {
			if i%2 == 0 {
				return 77
			}
			return r.Int64N(100000)
		}},
		{"a third NULL", func(i int) int64 {
			if i%3 == 0 {
				return -1
			}
			return r.Int64N(1000)
		}},
		{"all NULL", func(int) int64 { return -1 }},
		{"one value", func(int) int64 { return 5 }},
	} {
		for _, typ := range []types.Type{types.Int64, types.Double, types.Text, types.Decimal(30, 0), types.Uint64} {
			s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: typ, Nullable: true}}}
			b := NewBuilder(New(s))
			var all []types.Value
			for at := 0; at < n; at += piece {
				v := column.New(typ, piece)
				for i := range piece {
					x := types.NullOf(typ)
					if y := tc.value(at + i); y >= 0 {
						x = types.Value{Type: typ, I: y, F: float64(y), D: types.Int128FromInt64(y)}
						if typ.IsString() {
							x.S = fmt.Sprintf("%09d", y)
						}
						all = append(all, x)
					}
					v.Set(i, piece, x)
				}
				if err := b.Append(&column.Batch{N: piece, Cols: []*column.Vector{v}}); err != nil {
					t.Fatal(err)
				}
			}
			v, err := b.Finish()
			if err != nil {
				t.Fatal(err)
			}
			checkStats(t, tc.name+" "+typ.String(), v.Stats(0), all, n)
		}
	}
}

func checkStats(t *testing.T, name string, s *ColumnStats, values []types.Value, rows int) {
	t.Helper()
	count := map[string]int{}
	for _, v := range values {
		count[v.Text()]++
	}
	if s.Rows != int64(rows) || s.NullCount != int64(rows-len(values)) {
		t.Errorf("%s: %d rows, %d NULLs", name, s.Rows, s.NullCount)
	}
	if d := float64(len(count)); math.Abs(s.Distinct-d) > 0.1*d {
		t.Errorf("%s: %.0f distinct values, want %.0f", name, s.Distinct, d)
	}
	sum := s.NullFraction()
	for _, c := range s.Common {
		sum += c.Fraction
		if want := float64(count[c.Value.Text()]) / float64(rows); math.Abs(c.Fraction-want) > 0.02 {
			t.Errorf("%s: %s has a share of %.3f, want %.3f", name, c.Value.Text(), c.Fraction, want)
		}
	}
	if s.Histogram != nil {
		sum += s.Histogram.Fraction
	}
	if math.Abs(sum-1) > 0.001 {
		t.Errorf("%s: NULLs, common values and histogram make %.4f of the rows", name, sum)
	}
	if len(count) == 10 && len(s.Common) != 10 {
		t.Errorf("%s: %d common values of 10", name, len(s.Common))
	}
	// Estimates of x < v, from both parts, for v among the values.
	for i := 0; i < len(values); i += len(values)/10 + 1 {
		x := values[i]
		below, want := 0.0, 0
		for _, c := range s.Common {
			if types.Compare(c.Value, x) < 0 {
				below += c.Fraction
			}
		}
		if s.Histogram != nil {
			below += s.Histogram.Below(x, false)
		}
		for _, v := range values {
			if types.Compare(v, x) < 0 {
				want++
			}
		}
		if math.Abs(below-float64(want)/float64(rows)) > 0.02 {
			t.Errorf("%s: %.3f of the rows below %s, want %.3f", name, below, x.Text(), float64(want)/float64(rows))
		}
	}
	lo, hi := s.Min, s.Max
	for _, v := range values {
		if lo.Null || types.Compare(v, lo) < 0 || types.Compare(v, hi) > 0 {
			t.Fatalf("%s: %s outside %s..%s", name, v.Text(), lo.Text(), hi.Text())
		}
	}
	if s.Sorted != (name[:6] == "unique" || name[:9] == "one value") {
		t.Errorf("%s: sorted %v", name, s.Sorted)
	}
}

// Statistics follow small changes in what is cheap and large ones in all.
func TestStatsAfterChanges(t *testing.T) {
	s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64}}}
	b := NewBuilder(New(s))
	ints := make([]int64, 1000)
	for i := range ints {
		ints[i] = int64(i % 100)
	}
	if err := b.AppendColumns(1000, []encoding.Data{{Ints: ints}}); err != nil {
		t.Fatal(err)
	}
	v, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	zones := v.Zones(0) // reads no values, before and after somebody wants more
	if zones.Rows != 1000 || zones.NullCount != 0 || zones.Min.I != 0 || zones.Max.I != 99 || zones.Sorted || zones.Distinct != 0 || zones.Histogram != nil {
		t.Fatalf("%+v", zones)
	}
	if st := v.Stats(0); math.Abs(st.Distinct-100) > 5 || v.Stats(0) != st {
		t.Fatalf("%+v", st)
	}
	if v.Zones(0) != zones || zones.Distinct != 0 {
		t.Fatalf("%+v", zones)
	}
	if v, err = v.Append(batch(s, []row{{types.IntValue(5000)}}, false)); err != nil {
		t.Fatal(err)
	}
	if st := v.Stats(0); st.Rows != 1001 || st.Max.I != 5000 || st.Histogram == nil && len(st.Common) == 0 {
		t.Fatalf("%+v", st)
	}
	many := make([]row, 500)
	for i := range many {
		many[i] = row{types.IntValue(int64(10000 + i))}
	}
	if v, err = v.Append(batch(s, many, false)); err != nil {
		t.Fatal(err)
	}
	if st := v.Stats(0); st.Rows != 1501 || math.Abs(st.Distinct-601) > 30 || st.Max.I != 10499 {
		t.Fatalf("%+v", st)
	}
	v, _, _ = v.Delete(context.Background(), rowNumbers(v))
	if st := v.Stats(0); st.Rows != 0 || !st.Min.Null || st.Distinct != 0 || st.NullFraction() != 0 {
		t.Fatalf("%+v", st)
	}
}

// Columns of many row groups, of which not all may be looked at: all values that there can be, a part of them, values that only some groups have, keys.
func TestDistinctOfManyGroups(t *testing.T) {
	r := testRand(t)
	const n, piece = 300 * 1000, 1000 // 300 groups
	for name, value := range map[string]func(i int) int64{
		"all":      func(int) int64 { return r.Int64N(500) },
		"half":     func(int) int64 { return r.Int64N(5000) &^ 1 },
		"few rows": func(i int) int64 { return r.Int64N(10_000) },
		"clusters": func(i int) int64 { return int64(i / 2000) },
		"one part": func(i int) int64 { return int64(max(0, i-n+9000)) },
		"keys":     func(i int) int64 { return int64(i) * 3 },
	} {
		v := New(&Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64}}})
		v.rows = n
		seen := map[int64]bool{}
		for at := 0; at < n; at += piece {
			d := encoding.Data{Type: types.Int64, Rows: piece, Ints: make([]int64, piece)}
			for i := range d.Ints {
				d.Ints[i] = value(at + i)
				seen[d.Ints[i]] = true
			}
			v.groups = append(v.groups, &RowGroup{First: int64(at), Rows: piece, Columns: []*encoding.Chunk{encoding.Encode(d)}})
		}
		if got, want := v.Stats(0).Distinct, float64(len(seen)); math.Abs(got-want) > 0.1*want {
			t.Errorf("%s: %.0f distinct values, want %.0f", name, got, want)
		}
	}
}
