package distribute_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

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

// makeTable makes a table of row groups of 1,000 rows.
func makeTable(t *testing.T, name string, rows int, key bool, defs []table.ColumnDef, value func(row, col int) types.Value) *table.Version {
	t.Helper()
	v, err := tabletest.Regroup(tabletest.Make(t, name, rows, key, defs, value), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// newCatalog makes orders and their lines, both in the order of the orders' numbers, and a fact table and its two dimensions, one small and one large.
func newCatalog(t *testing.T) plantest.Tables {
	num := func(n int) types.Value { return types.IntValue(int64(n)) }
	money := func(n int) types.Value { return types.Value{Type: types.Decimal(15, 2), I: int64(n)} }
	return plantest.Tables{
		"fact": makeTable(t, "fact", 20_000, false, []table.ColumnDef{
			{Name: "dim_id", Type: types.Int64}, {Name: "big_id", Type: types.Int64, Nullable: true}, {Name: "amount", Type: types.Decimal(15, 2), Nullable: true},
			{Name: "flag", Type: types.Char(1)}, {Name: "weight", Type: types.Double},
		}, func(r, c int) types.Value {
			switch c {
			case 0:
				return num(r%100 + 1)
			case 1:
				return types.Value{Type: types.Int64, I: int64(r * 7919 % 12_000 * 3), Null: r%11 == 0}
			case 2:
				return types.Value{Type: types.Decimal(15, 2), I: int64(r), Null: r%7 == 0}
			case 3:
				return types.Value{Type: types.Char(1), S: string(rune('A' + r%3))}
			}
			return types.Value{Type: types.Double, F: float64(r) / 8}
		}),
		"dim": makeTable(t, "dim", 100, true, []table.ColumnDef{{Name: "id", Type: types.Int64}, {Name: "name", Type: types.Varchar(10)}},
			func(r, c int) types.Value {
				if c == 0 {
					return num(r + 1)
				}
				return types.StringValue("name " + string(rune('a'+r%26)))
			}),
		"big": makeTable(t, "big", 12_000, true, []table.ColumnDef{{Name: "id", Type: types.Int64}, {Name: "size", Type: types.Int64}},
			func(r, c int) types.Value {
				if c == 0 {
					return num(r * 7919 % 12_000 * 3)
				}
				return num(r % 1009)
			}),
		"orders": makeTable(t, "orders", 10_000, true, []table.ColumnDef{{Name: "id", Type: types.Int64}, {Name: "day", Type: types.Int64}},
			func(r, c int) types.Value {
				if c == 0 {
					return num(r * 2)
				}
				return num(r * 31 % 365)
			}),
		"line": makeTable(t, "line", 39_000, false, []table.ColumnDef{{Name: "order_id", Type: types.Int64}, {Name: "price", Type: types.Decimal(15, 2)}},
			func(r, c int) types.Value {
				if c == 0 {
					return num(r / 4 * 2)
				}
				return money(r * 7 % 10_007)
			}),
	}
}

func lower(t *testing.T, c plantest.Tables, sql string) *physical.Plan {
	t.Helper()
	ctx := plantest.Context()
	q, err := c.Bind(sql, ctx)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if q, _, err = rules.Optimize(q, rules.Options{Context: ctx, Checks: true}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	plan, err := physical.Lower(q, physical.Options{Estimator: stats.NewEstimator(), Device: physical.GPU})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return plan
}

func text(t *testing.T, plan *physical.Plan, where physical.Placement) string {
	t.Helper()
	out, err := physical.Text(plan, where, nil, nil)
	if err != nil {
		t.Error(err)
	}
	return out
}

// tuning slices tables of 5,000 rows and more. Words before a bar in the heading of a golden change it.
func tuning(t *testing.T, heading string) distribute.Tuning {
	u := distribute.EverythingTuning()
	u.SliceRows, u.BroadcastRows, u.GatherGroups, u.TopRows = 5000, 500, 1000, 1000
	words, _, ok := strings.Cut(strings.TrimPrefix(heading, "# "), " | ")
	if !ok {
		return u
	}
	switch words {
	case "copies":
		u.Joins = distribute.ByCopies
	case "keys":
		u.Joins = distribute.ByKeys
	case "home":
		u.Joins = distribute.ByHome
	case "moving":
		u.Joins, u.Moves = distribute.ByKeys, func(physical.Sink) bool { return true }
	case "many rows":
		u.MinRows = 1 << 20
	default:
		t.Fatalf("%s: no tuning %s", heading, words)
	}
	return u
}

// TestPlans compares what becomes of each statement in testdata/plans.txt at two places with what stands below it. RADISH_UPDATE=1 writes the file anew.
func TestPlans(t *testing.T) {
	const file = "testdata/plans.txt"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := newCatalog(t)
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		head, _, _ := strings.Cut(block, "\n----\n")
		lines := strings.Split(head, "\n")
		fmt.Fprintf(&out, "%s\n----\n%s\n", head, atTwo(t, c, lines[len(lines)-1], tuning(t, lines[0])))
	}
	golden(t, file, out.String())
}

// TestTPCH compares the plans of TPC-H's queries with testdata/tpch.txt. What counts as many rows is scaled down with the tables, by 10,000 from scale factor 100, and what counts as many groups by 100.
func TestTPCH(t *testing.T) {
	c, err := tabletest.TPCH(0.01, 3000)
	if err != nil {
		t.Fatal(err)
	}
	u := distribute.DefaultTuning()
	u.MinRows, u.SliceRows, u.BroadcastRows, u.GatherGroups = u.MinRows/10_000, u.SliceRows/10_000, u.BroadcastRows/10_000, u.GatherGroups/100
	var out strings.Builder
	for _, q := range tpch.Queries(0.01) {
		fmt.Fprintf(&out, "# Q%d\n----\n%s\n", q.Number, atTwo(t, c, q.SQL, u))
	}
	golden(t, "testdata/tpch.txt", out.String())
}

// atTwo is what EXPLAIN says of a query at two places.
func atTwo(t *testing.T, c plantest.Tables, sql string, u distribute.Tuning) string {
	t.Helper()
	plan := lower(t, c, sql)
	before := text(t, plan, physical.OnCPU("-"))
	d, reason := distribute.Plan(plan, 2, u)
	if after := text(t, plan, physical.OnCPU("-")); before != after {
		t.Errorf("%s: the plan itself has changed:\n%s", sql, after)
	}
	if d == nil {
		return "at one place: " + reason + "\n"
	}
	if err := physical.Check(d.Plan); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
	where := physical.OnCPU("-")
	d.Explain(&where)
	out := estimates.ReplaceAllString(text(t, d.Plan, where), "")
	return strings.ReplaceAll(out, " on cpu: -; ", ": ")
}

// estimates of strings depend on the seed of a hash.
var estimates = regexp.MustCompile(` \(~\S+ rows\)`)

// golden compares a text with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	got = strings.TrimSpace(got) + "\n"
	if os.Getenv("RADISH_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(raw) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// TestRangesOfGroups has groups whose keys the slices of a table divide into ranges, and groups whose keys are everywhere.
func TestRangesOfGroups(t *testing.T) {
	c := newCatalog(t)
	for sql, want := range map[string]int{
		"SELECT order_id, COUNT(*) FROM line GROUP BY order_id":   3,
		"SELECT big_id, COUNT(*) FROM fact GROUP BY big_id":       0,
		"SELECT id, MIN(size) FROM big GROUP BY id":               0,
		"SELECT order_id, MAX(price) FROM line GROUP BY order_id": 3,
	} {
		d, reason := distribute.Plan(lower(t, c, sql), 3, tuning(t, ""))
		if d == nil {
			t.Fatalf("%s: %s", sql, reason)
		}
		most := 0
		for _, p := range d.Plan.Pipelines {
			if a, ok := p.Sink.(*physical.Aggregate); ok {
				most = max(most, a.Ranges)
			}
		}
		if most != want {
			t.Errorf("%s: %d ranges, want %d", sql, most, want)
		}
	}
}
