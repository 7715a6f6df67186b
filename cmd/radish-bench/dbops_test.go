package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
)

// Every answer is that of the totals, at several sizes, and the figures are written.
func TestDBOps(t *testing.T) {
	dir := t.TempDir()
	table, figures := filepath.Join(dir, "table.md"), filepath.Join(dir, "figures.json")
	var out bytes.Buffer
	args := []string{"--rows", "1000,1e5", "--device", "cpu", "--runs", "2", "--compare", "cpu", "--markdown", table, "--json", figures}
	if err := runDBOps(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	questions := len(dbopsQuestions())
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
	if err := runDBOps(t.Context(), []string{"--rows", "2e4", "--device", "emulated", "--runs", "1", "--compare", "cpu"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), " gpu ") {
		t.Errorf("nothing ran on the device\n%s", out.String())
	}
}

// DuckDB, which reads the tables from files, gives the same answers.
func TestDBOpsDuckDB(t *testing.T) {
	python := os.Getenv(duckDBPython)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb", duckDBPython)
	}
	old := partRows
	partRows = 4000 // so that a table has several files
	defer func() { partRows = old }()
	var out bytes.Buffer
	if err := runDBOps(t.Context(), []string{"--rows", "2e4", "--device", "cpu", "--runs", "1", "--duckdb-python", python}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n := strings.Count(out.String(), "✓ totals, duckdb\n"); n != len(dbopsQuestions()) {
		t.Errorf("%d answers are marked as right\n%s", n, out.String())
	}
}

// A wrong number in any column of any answer is noticed.
func TestDBOpsTotals(t *testing.T) {
	db, err := openDatabase(settings{device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	data := newDBOpsData(5000)
	totals := newDBOpsTotals(data)
	if err := data.create(t.Context(), db, totals); err != nil {
		t.Fatal(err)
	}
	for _, q := range dbopsQuestions() {
		rows, _, err := db.query(t.Context(), q.sql)
		if err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		want := q.totals(totals)
		if err := meets(rows, want); err != nil {
			t.Errorf("%s: %v", q.name, err)
		}
		if meets(nil, want) == nil {
			t.Errorf("%s: no row passed", q.name)
		}
		for c, v := range rows[0] {
			f, err := strconv.ParseFloat(v.Text(), 64)
			if err != nil {
				t.Fatalf("%s: column %d is %s", q.name, c+1, v.Text())
			}
			rows[0][c] = types.FloatValue(f*(1+1e-8) + 1e-8)
			if meets(rows, want) == nil {
				t.Errorf("%s: a wrong column %d passed", q.name, c+1)
			}
			rows[0][c] = v
		}
	}
}

// The tables have the values that the benchmark's text says, each column drawn for itself, the same each time.
func TestDBOpsTables(t *testing.T) {
	const rows = 20_000
	db, err := openDatabase(settings{device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	digest := func() string {
		if err := dbopsTables(t.Context(), db, rows); err != nil {
			t.Fatal(err)
		}
		got, _, err := db.query(t.Context(), "SELECT SUM(id6 * v1), SUM(v2 * id4), SUM(v3), MAX(id3) FROM g")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(textRows(got))
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
		got, _, err := db.query(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if text := strings.Join(textRows(got)[0], " "); text != want {
			t.Errorf("%s: %s, want %s", sql, text, want)
		}
	}
	// Independent columns: the correlation of 20,000 pairs has a standard deviation of 0.007.
	d := newDBOpsData(rows)
	for name, tables := range map[string]*drawnTable{"g": d.g, "x": d.x, "big": d.joined[2].table()} {
		numbers := tables.numbers(0, rows)
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

func TestPermutation(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 7, 64, 65, 1000, 4097} {
		p := newPermutation(uint64(n), n)
		var all []int64
		fixed := 0
		for i := range n {
			x := p.of(i)
			if back := p.inverse(x); back != i {
				t.Fatalf("of %d: %d becomes %d, which comes from %d", n, i, x, back)
			}
			if x == i {
				fixed++
			}
			all = append(all, x)
		}
		slices.Sort(all)
		for i, x := range all {
			if x != int64(i) {
				t.Fatalf("of %d: place %d of the sorted values is %d", n, i, x)
			}
		}
		if n > 60 && fixed > 10 { // one is to be expected
			t.Errorf("of %d: %d values stay where they are", n, fixed)
		}
	}
}

func TestAgree(t *testing.T) {
	row := [][]types.Value{{types.IntValue(1_000_000_000_000), types.FloatValue(0.1), types.StringValue("1e5"), types.NullOf(types.Double)}}
	for _, c := range []struct {
		other []string
		same  bool
	}{
		{[]string{"1000000000000", "0.1", "1e5", ""}, true},
		{[]string{"1000000000000.0", "0.10000000001", "1e5", ""}, true},
		{[]string{"1000000000001", "0.1", "1e5", ""}, false},
		{[]string{"1000000000000", "0.1001", "1e5", ""}, false},
		{[]string{"1000000000000", "0.1", "id1", ""}, false},
		{[]string{"1000000000000", "0.1", "1e5", "0"}, false},
		{[]string{"1000000000000", "", "1e5", ""}, false},
		{[]string{"1000000000000", "0.1", "1e5"}, false},
	} {
		if err := agree(row, [][]string{c.other}, closeEnough); (err == nil) != c.same {
			t.Errorf("%q: %v", c.other, err)
		}
	}
	if agree(row, nil, closeEnough) == nil {
		t.Error("no row passed for one")
	}
}

func TestDBOpsCommandLine(t *testing.T) {
	for _, args := range [][]string{
		{"dbops", "--rows", "999"}, {"dbops", "--rows", "2e9"}, {"dbops", "--rows", "1e5,"}, {"dbops", "--rows", "1e5.5"}, {"dbops", "--question", "g9"},
		{"dbops", "--runs", "0"}, {"dbops", "--compare", "duckdb"}, {"dbops", "stray"},
	} {
		if status := run(t.Context(), args); status != exitUsage {
			t.Errorf("%q: exit status %d, want %d", args, status, exitUsage)
		}
	}
	picked, err := pickQuestions(dbopsQuestions(), "j2, g1")
	if err != nil || len(picked) != 2 || picked[0].name != "j2" || picked[1].name != "g1" {
		t.Errorf("picked %v, %v", picked, err)
	}
	for n, want := range map[int64]string{10_000_000: "1e7", 100_000: "1e5", 1000: "1000", 250_000: "250000", 123_456: "123456"} {
		if got := rowsText(n); got != want {
			t.Errorf("%d rows are written %s, want %s", n, got, want)
		}
	}
}
