package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// A top-N whose scan drops rows gives those that sorting all gives.
func TestTopOfScan(t *testing.T) {
	const seed = 77
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 30
	if testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		n := 20_000 + r.IntN(30_000)
		v, _ := drawnKeys(r, n, 1)
		nullable := v.Schema.Columns[0].Nullable
		g := enginetest.NewGen(nil, 0)
		scan, cols := scanOf(g, v)
		cols[0].Null = nullable
		if r.IntN(2) == 0 {
			scan.Filters = append(scan.Filters, &expr.Compare{Op: expr.GE, Left: cols[1], Right: &expr.Const{Value: types.IntValue(int64(n / 5))}})
		}
		s := &physical.Sort{Cols: cols, Count: int64(1 + r.IntN(30)), Offset: int64(r.IntN(5)),
			Keys: []logical.SortKey{{Expr: cols[0], Desc: r.IntN(2) == 0}, {Expr: cols[1], Desc: r.IntN(2) == 0}}}
		name := fmt.Sprintf("seed %d, round %d: %d rows of %s, nullable %v, %+v", seed, round, n, cols[0].Typ, nullable, s)
		b := backend{threads: 1 + r.IntN(3), t: t}
		read := func(s physical.Sink) (keys []types.Value, ids []int64) {
			g.Pipe(scan, s)
			batches, err := b.Run(context.Background(), g.Result(g.Read(s, cols), cols))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, x := range batches {
				for i := range x.N {
					keys, ids = append(keys, x.Cols[0].Value(i)), append(ids, x.Cols[1].I64[i])
				}
			}
			return keys, ids
		}
		_, got := read(s)
		g = enginetest.NewGen(nil, 0)
		keys, ids := read(&physical.Materialize{Cols: cols})
		order := make([]int, len(ids))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(x, y int) int {
			c := types.Compare(keys[x], keys[y])
			switch {
			case keys[x].Null && keys[y].Null:
				c = 0
			case keys[x].Null:
				c = -1
			case keys[y].Null:
				c = 1
			}
			if s.Keys[0].Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
			if c = int(ids[x] - ids[y]); s.Keys[1].Desc {
				return -c
			}
			return c
		})
		var want []int64
		for _, i := range order[min(len(order), int(s.Offset)):min(len(order), int(s.Offset+s.Count))] {
			want = append(want, ids[i])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: rows %v, want %v", name, got, want)
		}
	}
}
