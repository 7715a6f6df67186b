package windows

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/sql/types"
)

// Both engines load one file and agree in every case.
func TestWindows(t *testing.T) {
	python := os.Getenv(peers.PythonVariable)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb", peers.PythonVariable)
	}
	dir := t.TempDir()
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--rows", "20000", "--runs", "1", "--dir", dir, "--duckdb-python", python, "--markdown", dir + "/table.md"}, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(dir + "/table.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "✓ equal |\n"); n != len(Cases) {
		t.Errorf("%d of %d results are equal\n%s", n, len(Cases), text)
	}
}

// Without DuckDB: every statement runs and looks at rows.
func TestWindowStatements(t *testing.T) {
	path := t.TempDir() + "/w.parquet"
	if err := ExportTable(t.Context(), path, 3000); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(database.Settings{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := Comparison{DB: db}
	if err := c.LoadRadish(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for _, x := range Cases {
		for _, sql := range []string{x.Timed(), x.checked()} {
			rows, _, err := db.Query(t.Context(), sql)
			if err != nil {
				t.Errorf("%s: %v", sql, err)
			} else if len(rows) != 1 || rows[0][0].I == 0 {
				t.Errorf("%s gives %v", sql, rows)
			}
		}
	}
}

func TestSameNumbers(t *testing.T) {
	integer, double, decimal := types.IntValue(12), types.FloatValue(0.1), types.Value{Type: types.Decimal(10, 2), I: 1250}
	null := types.NullOf(types.Int64)
	for _, c := range []struct {
		value types.Value
		duck  string
		exact bool
		same  bool
	}{
		{integer, "12", true, true}, {integer, "13", true, false}, {integer, "12.0", true, true}, {integer, "", true, false}, {null, "", true, true}, {null, "0", true, false},
		{double, "0.1", true, true}, {double, "0.10000000001", true, true}, {double, "0.1001", true, false}, {double, "abc", true, false},
		{decimal, "12.5", true, true}, {decimal, "12.500000001", true, false}, {decimal, "12.500000001", false, true}, {decimal, "12.51", false, false},
	} {
		err := sameNumbers([][]types.Value{{c.value}}, [][]string{{c.duck}}, c.exact)
		if (err == nil) != c.same {
			t.Errorf("%s and %q, exact %v: %v", c.value.Text(), c.duck, c.exact, err)
		}
	}
	if sameNumbers(nil, [][]string{{"1"}}, true) == nil {
		t.Error("no row passed for one")
	}
}
