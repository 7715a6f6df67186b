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

// Rows that workers drop early because of their rank are none that the filter would keep: with and without, the rows are the same, in
// partitions of many rows, which workers see a piece at a time, and with many rows of equal rank.
func TestDroppedRanks(t *testing.T) {
	const seed = 20261121
	t.Logf("seed %d", seed)
	v := enginetest.NewGen(rand.New(rand.NewPCG(seed, 0)), 40000).Table(40000, 40)
	keys := map[string]int{"key": 0, "date": 8, "wide": 2, "nullable": 1, "double": 8}
	for name, partition := range map[string]int{"nothing": -1, "key": 0, "nullable": 1} {
		for by, order := range keys {
			for _, desc := range []bool{false, true} {
				for k, fn := range []string{"row_number", "rank", "dense_rank"} {
					if testing.Short() && (partition+1+order+k)%3 > 0 {
						continue
					}
					rows := func(top int64) []string {
						g := enginetest.NewGen(rand.New(rand.NewPCG(1, 2)), 0)
						s, c := g.Scan(v)
						number := logical.WindowItem{Col: g.Alloc.New("", fn, types.Uint64, false), Fn: expr.LookupWindow(fn), Frame: logical.WholePartition}
						var first expr.Expr = c[order]
						if by == "double" {
							first = &expr.Cast{Arg: first, To: types.Double}
						}
						x := &physical.Window{Order: []logical.SortKey{{Expr: first, Desc: desc}, {Expr: c[8]}}, Cols: c[11:12], Items: []logical.WindowItem{number}, Top: top}
						if partition >= 0 {
							x.Partition = []expr.Expr{c[partition]}
						}
						if fn == "dense_rank" { // what a filter on another function's rank leaves
							rank := number
							rank.Col, rank.Fn = g.Alloc.New("", "rank", types.Uint64, false), expr.LookupWindow("rank")
							x.Items = append(x.Items, rank)
						}
						g.Pipe(s, x)
						out := []*expr.Column{c[11], number.Col}
						limit := &expr.Compare{Op: expr.LE, Left: x.Items[len(x.Items)-1].Col, Right: &expr.Const{Value: types.Value{Type: types.Uint64, I: 5}}}
						batches, err := backend{threads: 3, t: t, small: true}.Run(context.Background(), g.Result(g.Read(x, append(out, x.Items[len(x.Items)-1].Col)), out, &physical.Filter{Preds: []expr.Expr{limit}}))
						if err != nil {
							t.Fatal(err)
						}
						var rows []string
						for _, b := range batches {
							for i := range b.Rows() {
								at := i
								if b.Sel != nil {
									at = int(b.Sel[i])
								}
								rows = append(rows, fmt.Sprint(valueText(b.Cols[0], at), " ", valueText(b.Cols[1], at)))
							}
						}
						slices.Sort(rows)
						return rows
					}
					if got, want := rows(5), rows(0); !slices.Equal(got, want) || len(want) == 0 {
						t.Errorf("%s over %s by %s, descending %v: %d rows, want %d", fn, name, by, desc, len(got), len(want))
					}
				}
			}
		}
	}
}
