package cpu_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// keyDraws draw the i-th key of a type. The draws of a column are d, which repeat.
var keyDraws = []struct {
	typ  types.Type
	draw func(r *rand.Rand, d uint64) types.Value
}{
	{types.Int64, func(_ *rand.Rand, d uint64) types.Value { return types.IntValue(int64(d * 0x9E3779B97F4A7C15)) }},
	{types.Int32, func(_ *rand.Rand, d uint64) types.Value { return types.IntValue(int64(d)) }},
	{types.Double, func(_ *rand.Rand, d uint64) types.Value { return types.FloatValue(float64(d)/4 - 1) }},
	{types.Decimal(30, 4), func(_ *rand.Rand, d uint64) types.Value { return types.Value{D: types.MulInt64s(int64(d), -1<<40)} }},
	{types.Varchar(40), func(_ *rand.Rand, d uint64) types.Value { return types.StringValue(fmt.Sprintf("key %d", d)) }},
	{types.Varchar(40), func(_ *rand.Rand, d uint64) types.Value {
		return types.StringValue(strings.Repeat("\x00", int(d%7)) + fmt.Sprint(d/7))
	}},
	{types.Varchar(40), func(_ *rand.Rand, d uint64) types.Value { // of one to ten bytes
		return types.StringValue(fmt.Sprint(d * d))
	}},
	{types.Varchar(40), func(_ *rand.Rand, d uint64) types.Value { // short at first, and long once in a while
		if d > 3000 && d%1000 == 7 {
			return types.StringValue(fmt.Sprintf("%x and sixteen bytes", d))
		}
		return types.StringValue(fmt.Sprintf("%x", d))
	}},
	{types.Varchar(200), func(_ *rand.Rand, d uint64) types.Value {
		return types.StringValue(strings.Repeat("long ", 20) + fmt.Sprintf("%x", d))
	}},
	{types.Varchar(2000), func(_ *rand.Rand, d uint64) types.Value { // too long to look up those of a vector at once
		return types.StringValue(strings.Repeat("longer ", 150) + fmt.Sprintf("%x", d))
	}},
}

// drawnKeys makes a table of key columns and the numbers 0, 1, ... of its rows, and returns each row's key as text.
func drawnKeys(r *rand.Rand, n, columns int) (v *table.Version, shown []string) {
	s := &table.Schema{Database: "test", Name: "t"}
	b := &column.Batch{N: n}
	shown = make([]string, n)
	for c := range columns {
		kind := keyDraws[r.IntN(len(keyDraws))]
		nulls := r.IntN(3) == 0
		domain := uint64(1 + r.IntN(2*n))
		zipf := rand.NewZipf(r, 1.2, 4, domain)
		skewed := r.IntN(2) == 0
		s.Columns = append(s.Columns, table.ColumnDef{Name: fmt.Sprint("c", c), Type: kind.typ, Nullable: nulls})
		x := column.New(kind.typ, n)
		for i := range n {
			d := r.Uint64N(domain)
			switch {
			case i < n/3: // many values at first, so that strings get no dictionary
				d = uint64(i)
			case skewed:
				d = zipf.Uint64()
			}
			if nulls && r.IntN(10) == 0 {
				x.SetNull(i, n)
				shown[i] += "|NULL"
				continue
			}
			k := kind.draw(r, d)
			k.Type = kind.typ
			x.Set(i, n, k)
			shown[i] += "|" + k.Text()
		}
		b.Cols = append(b.Cols, x)
	}
	s.Columns = append(s.Columns, table.ColumnDef{Name: "i", Type: types.Int64})
	x := column.New(types.Int64, n)
	for i := range n {
		x.I64[i] = int64(i)
	}
	b.Cols = append(b.Cols, x)
	build := table.NewBuilder(table.New(s))
	for from := 0; from < n; from += column.VectorSize {
		b.Sel = b.Sel[:0]
		for i := from; i < min(from+column.VectorSize, n); i++ {
			b.Sel = append(b.Sel, int32(i))
		}
		if err := build.Append(b); err != nil {
			panic(err)
		}
	}
	v, err := build.Finish()
	if err != nil {
		panic(err)
	}
	return v, shown
}

// Groups of keys of any types, some frequent and some not, are those that a map finds, whether their rows stay in memory or not.
func TestGroupsOfAnyKeys(t *testing.T) {
	const seed = 31
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 50
	if testing.Short() {
		rounds = 15
	}
	for round := range rounds {
		n, columns := 9000+r.IntN(12_000), 1+r.IntN(5)*r.IntN(2)
		v, shown := drawnKeys(r, n, columns)
		type group struct{ rows, sum, least int64 }
		want := map[string]group{}
		for i, k := range shown {
			g, ok := want[k]
			if !ok {
				g.least = int64(i)
			}
			want[k] = group{g.rows + 1, g.sum + int64(i), g.least}
		}
		g := enginetest.NewGen(nil, 0)
		scan, cols := scanOf(g, v)
		a := &physical.Aggregate{Algorithm: physical.HashAggregate, EstGroups: float64(r.IntN(2 * n))}
		var out []*expr.Column
		for i, c := range cols[:columns] {
			c.Null = v.Schema.Columns[i].Nullable
			it := logical.Item{Col: g.Alloc.New("", c.Name, c.Typ, c.Null), Expr: c}
			a.Groups, out = append(a.Groups, it), append(out, it.Col)
		}
		for _, fn := range []string{"count(*)", "sum", "min"} {
			it := logical.AggItem{Col: g.Alloc.New("", fn, types.Int64, true), Fn: expr.LookupAggregate(fn)}
			if fn != "count(*)" {
				it.Args = []expr.Expr{cols[columns]}
			}
			a.Aggs, out = append(a.Aggs, it), append(out, it.Col)
		}
		g.Pipe(scan, a)
		b := backend{threads: 1 + r.IntN(3), t: t, early: r.IntN(4) > 0, spills: round%3 == 0}
		name := fmt.Sprintf("seed %d, round %d: %d rows, %d columns, %d threads, spills %v", seed, round, n, columns, b.threads, b.spills)
		batches, err := b.Run(context.Background(), g.Result(g.Read(a, out), out))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, x := range batches {
			sel := x.Sel
			if sel == nil {
				for i := range x.N {
					sel = append(sel, int32(i))
				}
			}
			for _, i := range sel {
				k := ""
				for _, c := range x.Cols[:columns] {
					k += "|" + valueText(c, int(i))
				}
				got := group{x.Cols[columns].I64[i], x.Cols[columns+1].I64[i], x.Cols[columns+2].I64[i]}
				if w, ok := want[k]; !ok || w != got {
					t.Fatalf("%s: group %q is %+v, want %+v", name, k, got, w)
				}
				delete(want, k)
			}
		}
		if len(want) > 0 {
			t.Fatalf("%s: %d groups are missing, e.g. %v", name, len(want), slices.Sorted(maps.Keys(want))[0])
		}
	}
}
