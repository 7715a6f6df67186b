package cpu_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Many groups hold little more at the peak than their keys, sums and rows: what lookups need goes before the workers' tables are merged, a
// merged partition's with the partition, and its groups when they are rows.
func TestGroupsHoldLittle(t *testing.T) {
	const seed, groups, copies = 7, 300_000, 4
	r := rand.New(rand.NewPCG(seed, 0))
	for _, of := range []struct {
		shuffled bool
		most     [3]int64 // bytes of a group, by columns
	}{
		{false, [3]int64{70, 110, 145}},
		{true, [3]int64{130, 200, 325}}, // each worker has all groups
	} {
		for _, columns := range []int{1, 2, 3} { // keys of one word, of two, and as bytes
			if testing.Short() && (columns != 2 || !of.shuffled) { // what memory is held has nothing for the race detector
				continue
			}
			t.Run(fmt.Sprintf("%d columns, shuffled %v", columns, of.shuffled), func(t *testing.T) {
				cols := make([][]int64, columns+1)
				sum := int64(0)
				for i := range groups * copies {
					k := int64(uint64(i/copies)*0x9E3779B97F4A7C15) >> 1
					for c := range columns {
						cols[c] = append(cols[c], k+int64(c))
					}
					cols[columns] = append(cols[columns], int64(i))
					sum += int64(i)
				}
				if of.shuffled {
					r.Shuffle(groups*copies, func(i, j int) {
						for _, x := range cols {
							x[i], x[j] = x[j], x[i]
						}
					})
				}
				g := enginetest.NewGen(nil, 0)
				scan, in := scanOf(g, ints(cols...))
				a := &physical.Aggregate{Algorithm: physical.HashAggregate, EstGroups: groups}
				for _, c := range in[:columns] {
					a.Groups = append(a.Groups, logical.Item{Col: g.Alloc.New("", c.Name, c.Typ, false), Expr: c})
				}
				total := logical.AggItem{Col: g.Alloc.New("", "sum", types.Int64, true), Fn: expr.LookupAggregate("sum"), Args: []expr.Expr{in[columns]}}
				a.Aggs = append(a.Aggs, total)
				g.Pipe(scan, a)
				all, out := totals(g, total.Col)
				g.Pipe(g.Read(a, []*expr.Column{total.Col}), all)
				budget := memory.NewBudget(1 << 30)
				c, err := start(context.Background(), g.Result(g.Read(all, out), out), schedule.Config{Threads: 2, Memory: budget, Expr: &expr.Context{}})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				b, err := c.Next(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if n, total := valueText(b.Cols[0], 0), valueText(b.Cols[1], 0); n != fmt.Sprint(groups) || total != fmt.Sprint(sum) {
					t.Errorf("%s groups with a sum of %s, want %d and %d", n, total, groups, sum)
				}
				if got := budget.Peak() / groups; got > of.most[columns-1] {
					t.Errorf("%d bytes were held for each group, want at most %d", got, of.most[columns-1])
				}
			})
		}
	}
}

// Long keys count while they are copied, not when those of a whole vector are.
func TestLongKeysCountEarly(t *testing.T) {
	const rows, length, limit = 600, 100_000, 8 << 20
	for _, columns := range []int{1, 2} { // keys of one string, and as bytes
		s := &table.Schema{Database: "test", Name: "t"}
		in := &column.Batch{N: rows}
		for c := range columns {
			s.Columns = append(s.Columns, table.ColumnDef{Name: fmt.Sprint("c", c), Type: types.Text})
			v := column.New(types.Text, rows)
			for i := range v.Str {
				v.Str[i] = fmt.Sprint(i, strings.Repeat("x", length))
			}
			in.Cols = append(in.Cols, v)
		}
		bl := table.NewBuilder(table.New(s))
		if err := bl.Append(in); err != nil {
			t.Fatal(err)
		}
		v, err := bl.Finish()
		if err != nil {
			t.Fatal(err)
		}
		g := enginetest.NewGen(nil, 0)
		scan, cols := scanOf(g, v)
		a := &physical.Aggregate{Algorithm: physical.HashAggregate, EstGroups: rows}
		for _, c := range cols {
			a.Groups = append(a.Groups, logical.Item{Col: g.Alloc.New("", c.Name, c.Typ, false), Expr: c})
		}
		g.Pipe(scan, a)
		out := []*expr.Column{a.Groups[0].Col}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := start(context.Background(), g.Result(g.Read(a, out), out), schedule.Config{Threads: 1, Memory: memory.NewBudget(limit), Expr: &expr.Context{}})
		if err == nil {
			_, err = c.Next(context.Background())
			c.Close()
		}
		runtime.ReadMemStats(&after)
		if !errors.Is(err, sqlerr.Resource) {
			t.Errorf("%d columns: error %v, want one of memory", columns, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 3*limit {
			t.Errorf("%d columns: %d bytes were taken under a limit of %d", columns, got, limit)
		}
	}
}
