package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tabletest"
	"github.com/radish-sql/radish/storage/tpch"
)

// sqlPlan is the plan of a query.
func sqlPlan(c plantest.Tables, sql string) (*physical.Plan, error) {
	ctx := plantest.Context()
	q, err := c.Bind(sql, ctx)
	if err != nil {
		return nil, err
	}
	if q, _, err = rules.Optimize(q, rules.Options{Context: ctx}); err != nil {
		return nil, err
	}
	return physical.Lower(q, physical.Options{Estimator: stats.NewEstimator()})
}

// shown are the rows of a result, sorted unless the plan says how. Doubles are rounded.
func shown(plan *physical.Plan, batches []*column.Batch) (rows []string) {
	for _, b := range batches {
		for i := range b.N {
			var row strings.Builder
			for _, c := range b.Cols {
				if v := c.Value(i); v.Type.Phys() == types.PhysFloat64 && !v.Null {
					fmt.Fprintf(&row, "%.9g|", v.F)
				} else {
					row.WriteString(v.Text() + fmt.Sprint(v.Null) + "|")
				}
			}
			rows = append(rows, row.String())
		}
	}
	slices.Sort(rows)
	return rows
}

// samePlaces compares a query at one place with itself at several, in each way to join.
func samePlaces(t *testing.T, c plantest.Tables, sql string, u distribute.Tuning) (divided int) {
	t.Helper()
	plan, err := sqlPlan(c, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	of := backend{threads: 1, t: t}
	batches, wantErr := of.Run(context.Background(), plan)
	want := shown(plan, batches)
	for way := range distribute.ByHome + 1 {
		u.Joins = way
		x := &enginetest.Places{Of: of, N: 2 + int(way)%2, Tuning: u, Ran: func(d *distribute.Distributed, reason string) {
			if d != nil {
				divided++
			}
		}}
		batches, err := x.Run(context.Background(), plan)
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s, way %d: error %v, want %v", sql, way, err, wantErr)
		}
		if got := shown(plan, batches); !slices.Equal(got, want) {
			t.Errorf("%s, way %d: %d rows, want %d; got\n%s\nwant\n%s", sql, way, len(got), len(want), strings.Join(got[:min(5, len(got))], "\n"), strings.Join(want[:min(5, len(want))], "\n"))
		}
	}
	return divided
}

// TestPlacesTPCH runs TPC-H's queries divided over several places.
func TestPlacesTPCH(t *testing.T) {
	c, err := tabletest.TPCH(0.01, 3000)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range tpch.Queries(0.01) {
		if testing.Short() && q.Number%5 != 3 { // the places run one after the other, each on one thread
			continue
		}
		t.Run(fmt.Sprint(q.Number), func(t *testing.T) {
			u := distribute.EverythingTuning()
			u.SliceRows = 100 // nation and region are read whole
			if q.Number%2 == 0 {
				u.GatherGroups = 10
			}
			if samePlaces(t, c, q.SQL, u) == 0 {
				t.Error("it was not divided")
			}
		})
	}
}

// TestPlacesStatements runs many statements over tables of a few rows, each a row group.
func TestPlacesStatements(t *testing.T) {
	raw, err := os.ReadFile("../../planner/testdata/equivalence.sql")
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	c := plantest.Tables{}
	small := func(name string, rows int, key bool, cols ...string) {
		s := &table.Schema{Database: "db", Name: name}
		if key {
			s.Keys = []table.Key{{Name: "PRIMARY", Columns: []int{0}, Unique: true, Primary: true}}
		}
		b := &column.Batch{N: rows}
		for i, col := range cols {
			unique := i == 0 && (key || name == "k")
			s.Columns = append(s.Columns, table.ColumnDef{Name: col, Type: types.Int64, Nullable: !unique})
			v := column.New(types.Int64, rows)
			for at := range rows {
				switch {
				case unique:
					v.Set(at, rows, types.IntValue(int64(at+1)))
				case r.IntN(4) == 0:
					v.Set(at, rows, types.NullOf(types.Int64))
				default:
					v.Set(at, rows, types.IntValue(int64(r.IntN(4))))
				}
			}
			b.Cols = append(b.Cols, v)
		}
		builder := table.NewBuilder(table.New(s))
		if err := builder.Append(b); err != nil {
			t.Fatal(err)
		}
		v, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if c[name], err = tabletest.Regroup(v, 1); err != nil {
			t.Fatal(err)
		}
	}
	small("t", 5+r.IntN(3), true, "id", "a", "b")
	small("u", 4+r.IntN(4), true, "id", "a", "c")
	small("v", r.IntN(7), false, "x", "y")
	small("k", 5, false, "id", "a")
	small("e", 0, false, "x", "y")
	divided, queries := 0, 0
	for _, q := range strings.Split(string(raw), ";\n") {
		lines := slices.DeleteFunc(strings.Split(q, "\n"), func(l string) bool { return strings.HasPrefix(l, "--") })
		sql := strings.TrimSpace(strings.Join(lines, "\n"))
		if sql == "" {
			continue
		}
		u := distribute.EverythingTuning()
		u.GatherGroups = float64(r.IntN(3) * 10)
		if queries++; testing.Short() && queries%5 != 0 {
			continue
		}
		divided += samePlaces(t, c, sql, u)
	}
	t.Logf("%d queries, %d divided runs", queries, divided)
}
