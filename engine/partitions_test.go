package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// Folders named key=value give columns, whose conditions leave files out, whether scans read the files or memory does.
func TestPartitions(t *testing.T) {
	for _, ending := range []string{"parquet", "csv", "jsonl", "csv.gz", "arrow", "arrows"} {
		t.Run(ending, func(t *testing.T) { testPartitions(t, ending) })
	}
}

func testPartitions(t *testing.T, ending string) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE x (id INT, amount DECIMAL(10,2), year BIGINT, month BIGINT, region TEXT, day DATE)")
	mustRun(t, s, `INSERT INTO x
		SELECT n, n / 4, 2020 + n % 3, 1 + n % 2, IF(n % 5 = 0, NULL, IF(n % 5 = 1, 'a/b', 'süd')), DATE '2024-01-01' + INTERVAL n % 2 DAY FROM generate_series(1, 2400) AS r(n)`)
	for year := 2020; year < 2023; year++ {
		for month := 1; month < 3; month++ {
			for region, folder := range map[string]string{"region IS NULL": "__HIVE_DEFAULT_PARTITION__", "region = 'a/b'": "a%2Fb", "region = 'süd'": "süd"} {
				day := fmt.Sprintf("2024-01-%02d", 1+(month-1)%2)
				folder = filepath.Join(dir, fmt.Sprintf("year=%d/month=%02d/region=%s/day=%s", year, month, folder, day))
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				mustRun(t, s, fmt.Sprintf("SELECT id, amount FROM x WHERE year = %d AND month = %d AND %s ORDER BY id INTO OUTFILE '%s'", year, month, region, filepath.Join(folder, "x."+ending)))
			}
		}
	}
	file := "`" + filepath.Join(dir, "**/x."+ending) + "`"
	for _, streams := range []bool{false, true} {
		f := newSession(t, database.Options{Threads: 2})
		if streams && ending == "csv.gz" {
			continue // what is compressed has to be read from its start
		}
		if streams {
			streamAll(f.engine)
		}
		reads := recordReads(f.engine)
		for _, q := range []string{
			"SELECT year, month, region, day, COUNT(*), SUM(amount), MIN(id) FROM {x} x GROUP BY year, month, region, day ORDER BY 1, 2, 3, 4",
			"SELECT SUM(id), COUNT(region), MAX(region), MIN(day) FROM {x} x WHERE year = 2021",
			"SELECT COUNT(*) FROM {x} x WHERE region IS NULL AND month = 2", "SELECT COUNT(*) FROM {x} x", "SELECT COUNT(*) FROM {x} x WHERE year > 3000",
			"SELECT COUNT(*), MAX(amount) FROM {x} x WHERE region LIKE 'a%' AND day = DATE '2024-01-02'", "SELECT id, year, region FROM {x} x WHERE id IN (7, 1000, 2399) ORDER BY id",
			"SELECT a.id, b.year FROM {x} a JOIN {x} b ON a.id = b.id + 1 AND a.year = b.year + 1 ORDER BY a.id LIMIT 9", "SELECT * FROM {x} x ORDER BY id DESC LIMIT 5",
		} {
			want, got := mustRun(t, s, strings.ReplaceAll(q, "{x}", "x")), mustRun(t, f, strings.ReplaceAll(q, "{x}", file))
			if got != want {
				t.Errorf("streams %v, %s: %.300s, want %.300s", streams, q, got, want)
			}
		}
		if streams == (len(*reads) > 0) {
			t.Errorf("streams %v: columns were read into memory: %v", streams, *reads)
		}
		mustRun(t, f, "CREATE TABLE copied AS SELECT * FROM "+file)
		if want, got := mustRun(t, s, "SELECT SUM(year), COUNT(region), MIN(day), SUM(amount) FROM x"), mustRun(t, f, "SELECT SUM(year), COUNT(region), MIN(day), SUM(amount) FROM copied"); got != want {
			t.Errorf("copied: %s, want %s", got, want)
		}
		one := mustRun(t, f, "EXPLAIN ANALYZE SELECT COUNT(*) FROM "+file+" x WHERE year = 2021 AND month = 1 AND region = 'süd'")
		if (ending == "parquet" || ending == "arrow" || ending == "arrows") && !strings.Contains(one, "[240 rows,") {
			t.Errorf("no file was left out: %s", one)
		}
	}
	function := map[string]string{"parquet": "read_parquet", "csv": "read_csv", "csv.gz": "read_csv", "jsonl": "read_ndjson", "arrow": "read_arrow", "arrows": "read_arrow"}[ending]
	names := mustRun(t, s, "DESCRIBE `"+function+"('"+filepath.Join(dir, "*/*/*/*/x."+ending)+"', hive_partitioning = false)`")
	if strings.Contains(names, "year") {
		t.Errorf("columns: %s", names)
	}
}

// A column that the files have, too, has the value of the folder, as in DuckDB; so it has where only some have it. Keys may have leading zeros.
func TestPartitionsOfFilesColumns(t *testing.T) {
	for _, ending := range []string{"parquet", "csv", "jsonl", "arrow", "arrows"} {
		dir := t.TempDir()
		s := newSession(t, database.Options{Threads: 2})
		for folder, query := range map[string]string{"y=01": "SELECT 7 AS Y, 1 AS v", "y=2": "SELECT 2 AS v"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
				t.Fatal(err)
			}
			mustRun(t, s, query+" INTO OUTFILE '"+filepath.Join(dir, folder, "a."+ending)+"'")
		}
		function := map[string]string{"parquet": "read_parquet", "csv": "read_csv", "jsonl": "read_ndjson", "arrow": "read_arrow", "arrows": "read_arrow"}[ending]
		file := "`" + function + "('" + filepath.Join(dir, "*/a."+ending) + "', union_by_name = true)`"
		if got := mustRun(t, s, "SELECT y, v FROM "+file+" AS f ORDER BY v"); got != "1|1\n2|2\n" {
			t.Errorf("%s: %q", ending, got)
		}
		if got := mustRun(t, s, "SELECT v FROM "+file+" AS f WHERE y = 1"); got != "1\n" {
			t.Errorf("%s: %q", ending, got)
		}
	}
}
