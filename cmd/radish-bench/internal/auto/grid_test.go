package auto

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/workload"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
)

// gridDatabase is a database on a device, with the grid's tables.
func gridDatabase(t *testing.T, device string, rows int64) *database.DB {
	t.Helper()
	db, err := database.Open(database.Settings{Device: device})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := gridTables(t.Context(), db, rows); err != nil {
		t.Fatal(err)
	}
	return db
}

func askGrid(t *testing.T, db *database.DB, q workload.Question) [][]types.Value {
	t.Helper()
	rows, _, err := db.Query(t.Context(), q.SQL)
	if err != nil {
		t.Fatalf("%s: %v\n%s", q.Name, err, q.SQL)
	}
	return rows
}

// Every statement runs, gives few rows, and reads, groups and matches as many as its name says.
func TestGrid(t *testing.T) {
	const rows = 200_000
	db := gridDatabase(t, "cpu", rows)
	all := gridQuestions()
	if len(all) < 80 || len(all) > 120 {
		t.Errorf("%d statements", len(all))
	}
	grouped := gridGrouped(rows)
	numbers := grouped.Numbers(0, rows)
	distinct := func(columns string) int64 {
		seen := map[[2]int64]bool{}
		for i := range rows {
			var key [2]int64
			for k, name := range strings.Split(columns, ", ") {
				for c := range grouped.Columns {
					if grouped.Columns[c].Name == name {
						key[k] = numbers[c][i]
					}
				}
			}
			seen[key] = true
		}
		return int64(len(seen))
	}
	names := map[string]bool{}
	for _, q := range all {
		if names[q.Name] {
			t.Errorf("two statements are named %s", q.Name)
		}
		names[q.Name] = true
		got := askGrid(t, db, q)
		if len(got) < 1 || len(got) > 10 {
			t.Errorf("%s gives %d rows", q.Name, len(got))
			continue
		}
		for c, v := range got[0] {
			if v.Null || c > 0 && v.Text() == "0" && q.What != "sort" {
				t.Errorf("%s gives %s in column %d", q.Name, v.Text(), c+1)
			}
		}
		count, _ := strconv.ParseFloat(got[0][0].Text(), 64)
		fields := strings.Fields(q.Name)
		after := func(word string) float64 {
			for i, f := range fields[:len(fields)-1] {
				if f == word {
					x, _ := strconv.ParseFloat(fields[i+1], 64)
					return x
				}
			}
			return 0
		}
		switch share := 0.0; q.What {
		case "scan":
			share = after("of")
			fallthrough
		case "join", "exists", "not exists":
			if share == 0 {
				share = after("matching")
			}
			if q.What == "not exists" {
				share = 1 - share
			}
			// Five standard deviations of so many rows are 0.0034 of all.
			if off := math.Abs(count/rows - share); off > 0.0044 || share < 0.01 && off > 0.0004 || share == 1 && q.What == "join" && count != rows {
				t.Errorf("%s reads or matches %v of %d rows", q.Name, count, int64(rows))
			}
		case "group":
			keys := q.SQL[strings.Index(q.SQL, "GROUP BY ")+len("GROUP BY ") : strings.LastIndex(q.SQL, ")")]
			want := map[string]int64{"RIGHT(r5, 1)": 10, "RIGHT(r5, 3)": 1000}[keys]
			if want == 0 {
				want = distinct(keys)
			}
			if int64(count) != want {
				t.Errorf("%s makes %v groups, want %d", q.Name, count, want)
			}
		}
	}
	if err := gridTables(t.Context(), db, gridLeast-1); err == nil {
		t.Error("tables of too few rows were made")
	}
}

// Strings are dictionary-coded, or not, as the names say.
func TestGridStrings(t *testing.T) {
	// 10^6 rows: then keys of rows/10 values, too, are too many for a dictionary.
	for _, d := range []*drawn.Table{gridScanned(1_000_000), gridGrouped(1_000_000)} {
		v, err := d.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for c, col := range d.Columns {
			if !col.Typ.IsString() {
				continue
			}
			for i, g := range v.Groups() {
				if coded := g.Columns[c].Dict != nil; coded != (col.Name[0] == 's') {
					t.Errorf("row group %d of %s.%s: dictionary-coded %v", i, d.Name, col.Name, coded)
				}
			}
		}
	}
}

// Some statements of each kind give the same rows on the emulated device.
func TestGridDevice(t *testing.T) {
	gputest.Emulated(t)
	db := gridDatabase(t, "emulated", gridLeast)
	kinds, onDevice := map[string]int{}, 0
	for _, q := range gridQuestions() {
		if kinds[q.What]++; kinds[q.What]%9 != 1 {
			continue
		}
		got := askGrid(t, db, q)
		devices, err := db.Devices(t.Context(), q.SQL)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(devices, "gpu") {
			onDevice++
		}
		if err := db.SetDevice(t.Context(), "cpu"); err != nil {
			t.Fatal(err)
		}
		if err := answers.Agree(askGrid(t, db, q), answers.TextRows(got), answers.CloseEnough); err != nil {
			t.Errorf("%s: the CPU and the device give %v", q.Name, err)
		}
		if err := db.SetDevice(t.Context(), db.Device); err != nil {
			t.Fatal(err)
		}
	}
	if onDevice < 10 {
		t.Errorf("%d statements ran on the device", onDevice)
	}
}

// DuckDB gives the same rows.
func TestGridDuckDB(t *testing.T) {
	python := os.Getenv(peers.PythonVariable)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb", peers.PythonVariable)
	}
	const rows = 20_000
	db := gridDatabase(t, "cpu", rows)
	duck, err := peers.Start(t.Context(), python, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer duck.Close()
	if err := drawn.HandOver(t.Context(), gridDrawn(rows), duck, 1, false); err != nil {
		t.Fatal(err)
	}
	for _, q := range gridQuestions() {
		reply, err := duck.Do(q.SQL, true, false)
		if err != nil {
			t.Errorf("%s: %v", q.Name, err)
			continue
		}
		if err := answers.Agree(askGrid(t, db, q), reply.Rows, answers.CloseEnough); err != nil {
			t.Errorf("%s: Radish and DuckDB give %v", q.Name, err)
		}
	}
}
