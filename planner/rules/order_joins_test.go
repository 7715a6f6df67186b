package rules

import (
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// outline returns a table of which only estimates are known: rows, and how many values its columns have, which are integers from 1 on.
func outline(name string, rows int64, columns []string, distinct ...float64) *table.Version {
	s := &table.Schema{Database: "db", Name: name}
	var estimates []*table.ColumnStats
	for i, c := range columns {
		s.Columns = append(s.Columns, table.ColumnDef{Name: c, Type: types.Int64})
		estimates = append(estimates, &table.ColumnStats{Rows: rows, Distinct: distinct[i], Min: types.IntValue(1), Max: types.IntValue(int64(distinct[i]))})
	}
	return table.NewOutline(s, rows, estimates)
}

// TestAntiJoinAboveJoins: an anti join of a large table with itself comes behind the joins that leave a few of its rows, which then filter what it stores. Where the joins keep all rows, or
// nothing is to filter what it stores, it comes first.
func TestAntiJoinAboveJoins(t *testing.T) {
	const rows = 60_000_000
	tables := plantest.Tables{
		"items":     outline("items", rows, []string{"o", "s", "d"}, rows/4, 100_000, 2500),
		"suppliers": outline("suppliers", 100_000, []string{"s", "n"}, 100_000, 25),
	}
	query := func(condition string) string {
		return "SELECT COUNT(*) FROM suppliers JOIN items a ON suppliers.s = a.s WHERE " + condition + "NOT EXISTS (SELECT * FROM items b WHERE b.o = a.o AND b.s <> a.s AND b.d > 1200) AND a.d > 1200"
	}
	for _, c := range []struct {
		name, sql string
		disabled  string
		above     bool
	}{
		{"one nation of 25", query("n = 3 AND "), "", true},
		{"all", query(""), "", false},
		{"no filter", query("n = 3 AND "), "filter_builds", false},
	} {
		q, err := tables.Bind(c.sql, plantest.Context())
		if err != nil {
			t.Fatal(err)
		}
		q, _, err = Optimize(q, Options{Checks: true, Context: plantest.Context(), Disabled: map[string]bool{c.disabled: true}})
		if err != nil {
			t.Fatal(err)
		}
		above, found := false, false
		logical.Walk(q.Root, func(n logical.Node) bool {
			if j, ok := n.(*logical.Join); ok && j.Kind == logical.AntiJoin {
				_, scan := j.Left.(*logical.Scan)
				found, above = true, !scan
			}
			return true
		})
		if !found || above != c.above {
			t.Errorf("%s: above the join: %v\n%s", c.name, above, logical.Format(q.Root))
		}
	}
}
