package dbops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
)

// Every answer is that of the totals, at several sizes, and the figures are written.
func TestDBOps(t *testing.T) {
	dir := t.TempDir()
	table, figures := filepath.Join(dir, "table.md"), filepath.Join(dir, "figures.json")
	var out bytes.Buffer
	args := []string{"--rows", "1000,1e5", "--device", "cpu", "--runs", "2", "--compare", "cpu", "--markdown", table, "--json", figures}
	if err := Run(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	questions := len(Questions())
	if questions != 19 {
		t.Errorf("%d questions", questions)
	}
	if n := strings.Count(out.String(), "✓ totals, cpu\n"); n != 2*questions {
		t.Errorf("%d answers are marked as right, want %d\n%s", n, 2*questions, out.String())
	}
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "✓ totals, cpu |\n"); n != 2*questions {
		t.Errorf("%d rows of tables, want %d\n%s", n, 2*questions, text)
	}
	if text, err = os.ReadFile(figures); err != nil {
		t.Fatal(err)
	}
	var report dbopsReport
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Sizes) != 2 || report.Sizes[1].Rows != 100_000 || report.Sizes[1].GeometricMeans["cpu"] <= 0 {
		t.Errorf("figures\n%s", text)
	}
	for _, q := range report.Sizes[1].Questions {
		if q.Median <= 0 || len(q.Hot) != 2 || len(q.Peers["cpu"]) != 2 || q.Error != "" || q.Device != "cpu" {
			t.Errorf("figures of %s: %+v", q.Name, q)
		}
	}
}

// The emulated device answers as the totals and the CPU do.
func TestDBOpsDevice(t *testing.T) {
	gputest.Emulated(t)
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--rows", "2e4", "--device", "emulated", "--runs", "1", "--compare", "cpu"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), " gpu ") {
		t.Errorf("nothing ran on the device\n%s", out.String())
	}
}

// DuckDB, which reads the tables from files, gives the same answers.
func TestDBOpsDuckDB(t *testing.T) {
	python := os.Getenv(peers.PythonVariable)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb", peers.PythonVariable)
	}
	old := peers.PartRows
	peers.PartRows = 4000 // so that a table has several files
	defer func() { peers.PartRows = old }()
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--rows", "2e4", "--device", "cpu", "--runs", "1", "--duckdb-python", python}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n := strings.Count(out.String(), "✓ totals, duckdb\n"); n != len(Questions()) {
		t.Errorf("%d answers are marked as right\n%s", n, out.String())
	}
}

// A wrong number in any column of any answer is noticed.
func TestDBOpsTotals(t *testing.T) {
	db, err := database.Open(database.Settings{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	data := newDBOpsData(5000)
	totals := newDBOpsTotals(data)
	if err := data.create(t.Context(), db, totals); err != nil {
		t.Fatal(err)
	}
	for _, q := range Questions() {
		rows, _, err := db.Query(t.Context(), q.SQL)
		if err != nil {
			t.Fatalf("%s: %v", q.Name, err)
		}
		want := q.totals(totals)
		if err := meets(rows, want); err != nil {
			t.Errorf("%s: %v", q.Name, err)
		}
		if meets(nil, want) == nil {
			t.Errorf("%s: no row passed", q.Name)
		}
		for c, v := range rows[0] {
			f, err := strconv.ParseFloat(v.Text(), 64)
			if err != nil {
				t.Fatalf("%s: column %d is %s", q.Name, c+1, v.Text())
			}
			rows[0][c] = types.FloatValue(f*(1+1e-8) + 1e-8)
			if meets(rows, want) == nil {
				t.Errorf("%s: a wrong column %d passed", q.Name, c+1)
			}
			rows[0][c] = v
		}
	}
}

// The tables have the values that the benchmark's text says, each column drawn for itself, the same each time.
func TestDBOpsTables(t *testing.T) {
	const rows = 20_000
	db, err := database.Open(database.Settings{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	digest := func() string {
		if err := Tables(t.Context(), db, rows); err != nil {
			t.Fatal(err)
		}
		got, _, err := db.Query(t.Context(), "SELECT SUM(id6 * v1), SUM(v2 * id4), SUM(v3), MAX(id3) FROM g")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(answers.TextRows(got))
	}
	if a, b := digest(), digest(); a != b {
		t.Errorf("the table g has other rows the second time: %s, %s", a, b)
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*), MIN(id1), MAX(id2), MIN(id3), MAX(id3) FROM g":                                    "20000 id001 id100 id0000000001 id0000000200",
		"SELECT MIN(id4), MAX(id5), MIN(id6), MAX(id6), MIN(v1), MAX(v1), MIN(v2), MAX(v2) FROM g":          "1 100 1 200 1 5 1 15",
		"SELECT MIN(v3) >= 0, MIN(v3) < 0.1, MAX(v3) <= 100, MAX(v3) > 99.9 FROM g":                         "1 1 1 1",
		"SELECT COUNT(*), MIN(id1), MAX(id1), MIN(id2), MAX(id2), MAX(id3) <= 22000 FROM x":                 "20000 1 1 1 22 1",
		"SELECT COUNT(*) FROM x WHERE id5 <> CONCAT('id', id2) OR id6 <> CONCAT('id', id3)":                 "0",
		"SELECT COUNT(*), COUNT(DISTINCT id1), MIN(id2), MAX(id2), COUNT(DISTINCT id3) FROM big":            "20000 20000 1 20000 20000",
		"SELECT COUNT(*) FROM big WHERE id5 <> CONCAT('id', id2) OR id6 <> CONCAT('id', id3)":               "0",
		"SELECT (SELECT COUNT(*) FROM small), (SELECT COUNT(*) FROM medium), (SELECT MAX(id1) FROM medium)": "1 20 20",
	} {
		got, _, err := db.Query(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if text := strings.Join(answers.TextRows(got)[0], " "); text != want {
			t.Errorf("%s: %s, want %s", sql, text, want)
		}
	}
	// Independent columns: the correlation of 20,000 pairs has a standard deviation of 0.007.
	d := newDBOpsData(rows)
	for name, tables := range map[string]*drawn.Table{"g": d.g, "x": d.x, "big": d.joined[2].table()} {
		numbers := tables.Numbers(0, rows)
		order := make([]int64, rows)
		for i := range order {
			order[i] = int64(i)
		}
		numbers = append(numbers, order)
		for a := range numbers {
			for b := range a {
				if &numbers[a][0] != &numbers[b][0] && math.Abs(correlation(numbers[a], numbers[b])) > 0.035 {
					t.Errorf("columns %d and %d of %s correlate: %v", b, a, name, correlation(numbers[a], numbers[b]))
				}
			}
		}
	}
}

func correlation(a, b []int64) float64 {
	var sa, sb, saa, sbb, sab float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		sa, sb, saa, sbb, sab = sa+x, sb+y, saa+x*x, sbb+y*y, sab+x*y
	}
	n := float64(len(a))
	va, vb := saa-sa*sa/n, sbb-sb*sb/n
	if va == 0 || vb == 0 {
		return 0
	}
	return (sab - sa*sb/n) / math.Sqrt(va*vb)
}

func TestDBOpsCommandLine(t *testing.T) {
	for _, args := range [][]string{
		{"--rows", "999"}, {"--rows", "2e9"}, {"--rows", "1e5,"}, {"--rows", "1e5.5"}, {"--question", "g9"},
		{"--runs", "0"}, {"--compare", "duckdb"}, {"stray"},
	} {
		if err := Run(t.Context(), args, io.Discard); !errors.Is(err, cli.ErrUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
	picked, err := pickQuestions(Questions(), "j2, g1")
	if err != nil || len(picked) != 2 || picked[0].Name != "j2" || picked[1].Name != "g1" {
		t.Errorf("picked %v, %v", picked, err)
	}
	for n, want := range map[int64]string{10_000_000: "1e7", 100_000: "1e5", 1000: "1000", 250_000: "250000", 123_456: "123456"} {
		if got := rowsText(n); got != want {
			t.Errorf("%d rows are written %s, want %s", n, got, want)
		}
	}
}
