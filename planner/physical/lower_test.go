package physical_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tabletest"
)

// newCatalog makes a fact table of 10,000 rows, a dimension of 100 with a primary key, a small table without keys, and one of
// 80,000 rows whose first column ascends.
func newCatalog(t *testing.T) plantest.Tables {
	num := func(n int) types.Value { return types.IntValue(int64(n)) }
	return plantest.Tables{
		"fact": tabletest.Make(t, "fact", 10_000, false, []table.ColumnDef{
			{Name: "dim_id", Type: types.Int64}, {Name: "amount", Type: types.Decimal(15, 2), Nullable: true},
			{Name: "flag", Type: types.Char(1)}, {Name: "wide", Type: types.Int64},
		}, func(r, c int) types.Value {
			switch c {
			case 0:
				return num(r%100 + 1)
			case 1:
				return types.Value{Type: types.Decimal(15, 2), I: int64(r), Null: r%7 == 0}
			case 2:
				return types.Value{Type: types.Char(1), S: string(rune('A' + r%3))}
			}
			return num(r * 1_000_003)
		}),
		"dim": tabletest.Make(t, "dim", 100, true, []table.ColumnDef{{Name: "id", Type: types.Int64}, {Name: "name", Type: types.Varchar(10)}},
			func(r, c int) types.Value {
				if c == 0 {
					return num(r + 1)
				}
				return types.StringValue("name " + string(rune('a'+r%26)))
			}),
		"small": tabletest.Make(t, "small", 8, false, []table.ColumnDef{{Name: "x", Type: types.Int64, Nullable: true}, {Name: "y", Type: types.Int64}},
			func(r, c int) types.Value {
				if c == 0 && r == 3 {
					return types.NullOf(types.Int64)
				}
				return num(r * (c + 1))
			}),
		"line": tabletest.Make(t, "line", 80_000, false, []table.ColumnDef{{Name: "ord", Type: types.Int64}, {Name: "part", Type: types.Int64}},
			func(r, c int) types.Value {
				if c == 0 {
					return num(r - r/8)
				}
				return num((r*7919 + 13) % 80_000 * 3)
			}),
	}
}

func text(t *testing.T, plan *physical.Plan) string {
	t.Helper()
	out, err := physical.Text(plan, physical.OnCPU("no GPU is in use"), nil, nil)
	if err != nil {
		t.Error(err)
	}
	return out
}

func lower(t *testing.T, c plantest.Tables, sql string, opts physical.Options) *physical.Plan {
	t.Helper()
	q := optimize(t, c, sql)
	opts.Estimator = stats.NewEstimator()
	plan, err := physical.Lower(q, opts)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if err := physical.Check(plan); err != nil {
		t.Errorf("%s: %v\n%s", sql, err, text(t, plan))
	}
	return plan
}

func optimize(t *testing.T, c plantest.Tables, sql string) *logical.Query {
	t.Helper()
	ctx := plantest.Context()
	q, err := c.Bind(sql, ctx)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if q, _, err = rules.Optimize(q, rules.Options{Context: ctx, Checks: true}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return q
}

// TestPipelines compares the pipelines of each statement in testdata/pipelines.txt with what stands below it. Every
// algorithm has a statement that is given it and, beside it, one that is not. RADISH_UPDATE=1 writes the file anew.
func TestPipelines(t *testing.T) {
	const file = "testdata/pipelines.txt"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := newCatalog(t)
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		sql, _, _ := strings.Cut(block, "\n----\n")
		lines := strings.Split(sql, "\n")
		out.WriteString(sql + "\n----\n" + text(t, lower(t, c, lines[len(lines)-1], physical.Options{})) + "\n")
	}
	if os.Getenv("RADISH_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := strings.TrimSpace(out.String()); got != strings.TrimSpace(string(raw)) {
		t.Errorf("the pipelines differ; got:\n%s", got)
	}
}

// Without runtime filters no scan has one, and the plan is still sound.
func TestNoRuntimeFilters(t *testing.T) {
	c := newCatalog(t)
	const sql = "SELECT sum(amount) FROM fact JOIN dim ON dim_id = id WHERE name = 'name a'"
	with, without := 0, 0
	for n, opts := range map[*int]physical.Options{&with: {}, &without: {NoRuntimeFilters: true}} {
		for _, p := range lower(t, c, sql, opts).Pipelines {
			if scan, ok := p.Source.(*physical.TableScan); ok {
				*n += len(scan.RuntimeFilters)
			}
		}
	}
	if with != 1 || without != 0 {
		t.Errorf("%d runtime filters with them and %d without, want 1 and 0", with, without)
	}
}

// Lowering and printing end with the error that says that the statement has been cancelled, whichever time they ask, and ask before
// each operator of wide plans.
func TestInterrupted(t *testing.T) {
	c := newCatalog(t)
	var windows []string
	for i := range 30 {
		windows = append(windows, fmt.Sprintf("sum(amount) OVER (PARTITION BY wide + %d ORDER BY dim_id)", i))
	}
	q := optimize(t, c, "SELECT "+strings.Join(windows, ", ")+" FROM fact")
	cancelled := errors.New("cancelled")
	var plan *physical.Plan
	for _, step := range []struct {
		name  string
		polls int // at each of the 31 pipelines
		run   func(interrupted func() error) error
	}{
		{"lowering", 3, func(interrupted func() error) (err error) {
			plan, err = physical.Lower(q, physical.Options{Estimator: stats.NewEstimator(), Interrupted: interrupted})
			return err
		}},
		{"text", 1, func(interrupted func() error) error {
			_, err := physical.Text(plan, physical.Placement{}, nil, interrupted)
			return err
		}},
		{"JSON", 1, func(interrupted func() error) error {
			_, err := physical.JSON(plan, physical.Placement{}, nil, interrupted)
			return err
		}},
	} {
		polls := 0
		if err := step.run(func() error { polls++; return nil }); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if len(plan.Pipelines) != 31 || polls < 31*step.polls {
			t.Errorf("%s asks %d times in %d pipelines", step.name, polls, len(plan.Pipelines))
		}
		whole := plan
		for last := range polls {
			asked := 0
			err := step.run(func() error {
				if asked++; asked > last {
					return cancelled
				}
				return nil
			})
			if !errors.Is(err, cancelled) || asked != last+1 {
				t.Errorf("%s: %v after asking %d times; it was cancelled at %d", step.name, err, asked, last+1)
			}
			plan = whole
		}
	}
}

// A scan is filtered by a later build, too, whose key a join before has found equal to a column of the scan. Each filter is worth the share of the
// rows that it drops by itself.
func TestFiltersOfEqualColumns(t *testing.T) {
	plan := lower(t, newCatalog(t), "SELECT sum(amount) FROM fact JOIN dim ON dim_id = id WHERE EXISTS (SELECT 1 FROM small WHERE x = id AND y <> amount)", physical.Options{})
	drops := map[string]float64{}
	for _, p := range plan.Pipelines {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok {
			continue
		}
		for _, use := range scan.RuntimeFilters {
			key := use.Build.Keys[use.Key].(*expr.Column)
			drops[key.Table+"."+key.Name] = use.Drops
			if worth := use.Build.FilterDrops[use.Key]; worth != use.Drops {
				t.Errorf("the filter of %s.%s is worth %g, its use drops %g", key.Table, key.Name, worth, use.Drops)
			}
		}
	}
	if len(drops) != 2 || drops["dim.id"] > 0.1 || drops["small.x"] < 0.9 {
		t.Errorf("the filters drop %v, want little by dim.id and most by small.x:\n%s", drops, text(t, plan))
	}
}
