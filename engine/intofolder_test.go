package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// filesBelow lists the files and folders below a folder.
func filesBelow(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if below, relErr := filepath.Rel(dir, path); relErr == nil && below != "." {
			list = append(list, below)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Folders of partitions give the rows that were written into them, in all formats, whatever the values of keys.
func TestPartitionsRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE p (n BIGINT, t VARCHAR(40), y INT, d DATE, f DOUBLE, k VARCHAR(40))")
	mustRun(t, s, "INSERT INTO p SELECT n, IF(n % 7 = 0, NULL, MD5(n)), 2000 + n % 3, "+
		"IF(n % 11 = 0, NULL, DATE '2024-01-01' + INTERVAL n % 5 DAY), n / 4, ELT(1 + n % 8, 'a', 'A', 'a/b=c', '100% é', '', '..', ' x:y ', NULL) FROM generate_series(1, 20000) AS c(n)")
	const query = "SELECT COUNT(*), SUM(n), COUNT(t), MIN(t), CAST(SUM(f) * 4 AS SIGNED), y, d, HEX(k) FROM %s GROUP BY y, d, HEX(k) ORDER BY y, d, HEX(k)"
	want := mustRun(t, s, fmt.Sprintf(query, "p"))
	for i, format := range []string{"", "FORMAT parquet", "FORMAT 'csv.gz'", "FORMAT jsonl", "FORMAT arrow"} {
		if testing.Short() && i%2 > 0 { // each writes 144 files
			continue
		}
		name := filepath.Join(dir, fmt.Sprint("out", i))
		mustRun(t, s, "SELECT * FROM p INTO OUTFILE '"+name+"' "+format+" PARTITION BY (y, D, `k`)")
		ending := strings.Trim(strings.TrimPrefix(format, "FORMAT "), "'")
		if ending == "" {
			ending = "parquet"
		}
		pattern := "`" + name + "/**/*." + ending + "`"
		if got := mustRun(t, s, fmt.Sprintf(query, pattern)); got != want {
			t.Errorf("%s:\n%.600s\nwant\n%.600s", format, got, want)
		}
		if got := strings.TrimSpace(mustRun(t, s, "SELECT COUNT(*), SUM(n), COUNT(t) FROM "+pattern+" WHERE y = 2001 AND d = '2024-01-02'")); got != strings.TrimSpace(mustRun(t, s, "SELECT COUNT(*), SUM(n), COUNT(t) FROM p WHERE y = 2001 AND d = '2024-01-02'")) {
			t.Errorf("%s: one partition has %s", format, got)
		}
		if folder := filepath.Join(name, "y=2001", "d=__HIVE_DEFAULT_PARTITION__", "k=a%2Fb%3Dc"); len(filesBelow(t, folder)) != 1 {
			t.Errorf("%s: no one file in %s", format, folder)
		}
	}
	// What another reader finds in a file: the columns that name no folder.
	f, err := file.OpenParquetFile(filepath.Join(dir, "out0", "y=2001", "d=2024-01-02", "k=A", "data_0.parquet"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for i := range f.MetaData().Schema.NumColumns() {
		names = append(names, f.MetaData().Schema.Column(i).Name())
	}
	if !slices.Equal(names, []string{"n", "t", "f"}) {
		t.Errorf("the file has the columns %v", names)
	}
	if rest := slices.DeleteFunc(filesBelow(t, dir), func(name string) bool { return !strings.Contains(name, ".tmp") }); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
}

// Little memory makes more files of the same rows, and many folders no more open ones.
func TestPartitionsInLittleMemory(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 2, MemoryLimit: 24 << 20})
	rows := "SELECT n, n % 3 AS few, n % 400 AS many, MD5(n) AS a, MD5(n + 1) AS b, REPEAT(MD5(n), 4) AS c FROM generate_series(1, 40000) AS c(n)"
	for _, key := range []string{"few", "many"} {
		name := filepath.Join(dir, key)
		mustRun(t, s, rows+" INTO OUTFILE '"+name+"' PARTITION BY ("+key+")")
		list := slices.DeleteFunc(filesBelow(t, name), func(f string) bool { return !strings.HasSuffix(f, ".parquet") })
		if key == "few" && len(list) <= 3 || key == "many" && len(list) < 400 {
			t.Errorf("%s: %d files", key, len(list))
		}
		if got := strings.TrimSpace(mustRun(t, s, "SELECT COUNT(*), SUM(n), COUNT(DISTINCT "+key+") FROM `"+name+"/*/*.parquet`")); got != fmt.Sprintf("40000|800020000|%d", map[string]int{"few": 3, "many": 400}[key]) {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// Writing partitions is all or nothing, and replaces nothing but partitions.
func TestPartitionsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "SET cte_max_recursion_depth = 100000000")
	name := filepath.Join(dir, "out")
	into := " INTO OUTFILE '" + name + "' PARTITION BY (k)"
	for _, c := range []struct{ sql, want string }{
		{"SELECT n, k, POW(10, 300 + n) FROM (SELECT 1 n, 1 k UNION ALL SELECT 200, 2) x" + into, "out of range"},
		{"SELECT 1 AS a" + into, "Unknown column 'k' in 'PARTITION BY'"},
		{"SELECT 1 AS k" + into, "none is left"},
		{"SELECT 1 AS k, 2 AS K, 3 AS a" + into, "ambiguous"},
		{"SELECT 1 AS k, 2 AS a INTO OUTFILE '" + name + "' PARTITION BY (k, k)", "twice"},
		{"SELECT 1 AS a INTO OUTFILE '" + name + ".csv' FORMAT csv", "FORMAT without PARTITION BY"},
		{"SELECT 1 AS k, 2 AS a INTO OUTFILE '" + name + "' FORMAT xlsx PARTITION BY (k)", "FORMAT xlsx"},
		{"SELECT 1 AS k, 2 AS a INTO OUTFILE '" + name + ".csv' PARTITION BY (k)", "name a folder"},
		{"SELECT 1 AS k, 2 AS a" + into + " FIELDS TERMINATED BY ','", "FIELDS and LINES"},
		{"SELECT '__HIVE_DEFAULT_PARTITION__' AS k, 2 AS a" + into, "means NULL"},
		{"SELECT REPEAT('x', 300) AS k, 2 AS a" + into, "name too long"},
	} {
		if _, err := run(context.Background(), s, c.sql); err == nil || !strings.Contains(err.Error()+sqlerr.From(err).Hint, c.want) {
			t.Errorf("%s: %v, want %s", c.sql, err, c.want)
		}
		if list := filesBelow(t, dir); len(list) > 0 {
			t.Fatalf("%s left %v", c.sql, list)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := run(ctx, s, "WITH RECURSIVE c AS (SELECT 1 n UNION ALL SELECT n + 1 FROM c WHERE n < 90000000) SELECT n, n % 10 AS k FROM c"+into); !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("not cancelled: %v", err)
	}
	if list := filesBelow(t, dir); len(list) > 0 {
		t.Errorf("what was cancelled left %v", list)
	}
	mustRun(t, s, "SELECT 1 AS k, 2 AS a"+into)
	if _, err := run(context.Background(), s, "SELECT 3 AS k, 4 AS a"+into); !errors.Is(err, sqlerr.CodeFileExists) {
		t.Errorf("it was overwritten: %v", err)
	}
	mustRun(t, s, "SELECT 3 AS k, 4 AS a"+into+" OVERWRITE")
	if got, want := filesBelow(t, dir), []string{"out", "out/k=3", "out/k=3/data_0.parquet"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := os.WriteFile(filepath.Join(name, "k=3", "thesis.doc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(context.Background(), s, "SELECT 5 AS k, 6 AS a"+into+" OVERWRITE"); err == nil || !strings.Contains(err.Error(), "it has 'k=3/thesis.doc' in it") {
		t.Errorf("a folder with other files: %v", err)
	}
	if got := strings.TrimSpace(mustRun(t, s, "SELECT a, k FROM `"+name+"/*/*.parquet`")); got != "4|3" {
		t.Errorf("%s", got)
	}
	odd := filepath.Join(dir, "odd")
	mustRun(t, s, "SELECT 1 AS `y=1 /%41`, 2 AS a INTO OUTFILE '"+odd+"/' PARTITION BY (`y=1 /%41`)")
	if got := strings.TrimSpace(mustRun(t, s, "SELECT `y=1 /%41`, a FROM `"+odd+"/*/*.parquet`")); got != "1|2" {
		t.Errorf("a key of odd characters: %s", got)
	}
	if err := os.RemoveAll(odd); err != nil {
		t.Fatal(err)
	}
	// What is being written matches no pattern.
	if err := os.Rename(name, filepath.Join(dir, ".radish-0123.tmp")); err != nil {
		t.Fatal(err)
	}
	if _, err := run(context.Background(), s, "SELECT * FROM `"+dir+"/**/*.parquet`"); !errors.Is(err, sqlerr.CodeFileNotFound) {
		t.Errorf("half of a folder was read: %v", err)
	}
}
