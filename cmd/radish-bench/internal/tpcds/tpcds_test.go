package tpcds

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/sql/types"
)

// TestUntied adds all columns to the order of the whole query, and to no other.
func TestUntied(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a, b FROM t":                                                "SELECT a, b FROM t ORDER BY 1, 2",
		"SELECT a, b FROM t\nORDER BY b DESC\nLIMIT 100":                    "SELECT a, b FROM t\nORDER BY b DESC, 1, 2\nLIMIT 100",
		"SELECT a, b FROM t LIMIT 10":                                       "SELECT a, b FROM t ORDER BY 1, 2 LIMIT 10",
		"SELECT a, (SELECT x FROM u ORDER BY x LIMIT 1) FROM t":             "SELECT a, (SELECT x FROM u ORDER BY x LIMIT 1) FROM t ORDER BY 1, 2",
		"SELECT a, RANK() OVER (ORDER BY a) FROM t order by coalesce(a, 1)": "SELECT a, RANK() OVER (ORDER BY a) FROM t order by coalesce(a, 1), 1, 2",
	} {
		if got := untied(sql, 2); got != want {
			t.Errorf("%q becomes\n%q, want\n%q", sql, got, want)
		}
	}
}

// TestSameDSRows takes DuckDB's strings for the same rows, and no others.
func TestSameDSRows(t *testing.T) {
	decimal := func(n int64) types.Value { return types.Value{Type: types.Decimal(10, 2), I: n} }
	text := func(s string) types.Value { return types.StringValue(s) }
	rows := [][]types.Value{{decimal(12345), text("a"), types.NullOf(types.Text)}, {decimal(-5), text("b"), types.FloatValue(1.0 / 3)}}
	for _, x := range []struct {
		duck    string // rows by semicolons, values by commas
		rounded bool
		same    bool
	}{
		{"123.45,a,;-0.05,b,0.3333333333333333", false, true},
		{"-0.05,b,0.33333333333;123.45,a,", false, true}, // rows in another order
		{"123.4541,a,;-0.05,b,0.3333333333333333", false, true},
		{"123.47,a,;-0.05,b,0.3333333333333333", false, false},
		{"123.45,a,;-0.05,b,0.33334", false, false},
		{"123.45,a,;-0.05,b,0.33334", true, true},
		{"123.45,b,;-0.05,b,0.3333333333333333", false, false},
		{"123.45,a,x;-0.05,b,0.3333333333333333", false, false},
		{"123.45,a,;-0.05,b,", false, false},
		{"123.45,a,", false, false},
	} {
		var duck [][]string
		for row := range strings.SplitSeq(x.duck, ";") {
			duck = append(duck, strings.Split(row, ","))
		}
		if err := sameDSRows(rows, duck, x.rounded); (err == nil) != x.same {
			t.Errorf("%s, rounded %v: %v", x.duck, x.rounded, err)
		}
	}
}

// TestTPCDS runs two queries over files of two small tables.
func TestTPCDS(t *testing.T) {
	ctx := context.Background()
	data, queries := t.TempDir(), t.TempDir()
	db, err := database.Open(database.Settings{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, sql := range []string{
		"SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y' INTO OUTFILE '" + filepath.Join(data, "t.parquet") + "'",
		"SELECT 2 AS a, 3.5 AS c INTO OUTFILE '" + filepath.Join(data, "u.parquet") + "'",
	} {
		if err := db.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	for name, sql := range map[string]string{"q01.sql": "SELECT b FROM t ORDER BY b LIMIT 1;", "q12.sql": "SELECT b, c FROM t JOIN u ON t.a = u.a;\n"} {
		if err := os.WriteFile(filepath.Join(queries, name), []byte(sql), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--data", data, "--queries", queries, "--device", "cpu", "--runs", "1"}
	var out strings.Builder
	if err := Run(ctx, args, &out); err != nil || !strings.Contains(out.String(), "Q12 ") || strings.Count(out.String(), answers.Unchecked) != 2 {
		t.Errorf("%v:\n%s", err, out.String())
	}
	out.Reset()
	if err := Run(ctx, append(args, "--query", "12"), &out); err != nil || strings.Contains(out.String(), "Q1 ") {
		t.Errorf("Q12 alone: %v:\n%s", err, out.String())
	}
	for _, wrong := range [][]string{append(args, "--query", "7"), {"--data", queries, "--queries", queries}, {"--data", data, "--queries", data}, append(args, "--runs", "0")} {
		if err := Run(ctx, wrong, io.Discard); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

// TestMisestimates compares operators' estimates with their rows, but for those that runtime filters and LIMIT cut short.
func TestMisestimates(t *testing.T) {
	const plan = `{"pipelines": [
		{"pipeline": 0, "operators": [
			{"operator": "scan", "detail": "t, runtime filter from 1 on a", "estimated_rows": 1000, "actual": {"rows": 1}},
			{"operator": "hash inner join", "detail": "with 1 on a = b", "estimated_rows": 10, "actual": {"rows": 40}},
			{"operator": "hash aggregate", "estimated_rows": 30, "actual": {"rows": 40, "groups": 10}},
			{"operator": "filter", "actual": {"rows": 5}}]},
		{"pipeline": 1, "operators": [
			{"operator": "scan", "detail": "t, runtime filter from 4 on a", "estimated_rows": 1000, "actual": {"rows": 1}},
			{"operator": "hash inner join", "detail": "with 3 on a = b", "estimated_rows": 1000, "actual": {"rows": 1}},
			{"operator": "hash inner join", "detail": "with 4 on a = b", "estimated_rows": 2, "actual": {"rows": 0}}]},
		{"pipeline": 2, "operators": [{"operator": "scan", "detail": "t", "estimated_rows": 500, "actual": {"rows": 3}}, {"operator": "limit", "detail": "limit 3"}]}]}`
	got, err := misestimates("Q1", plan)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{4, 3, 2}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, x := range got {
		if x.error != want[i] {
			t.Errorf("%s is %g times off, not %g", x.operator, x.error, want[i])
		}
	}
}
