package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Whatever of text or JSON lines OUTFILE writes, compressed or not, can be read by FROM, and by IMPORT INTO or LOAD DATA.
func TestTextFilesRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, s TEXT, d DECIMAL(15,2), day DATE, j JSON)")
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf("(%d, 'line\\n\"%d\" ä, %d', %d.25, '2024-01-%02d', '{\"k\":[%d]}')", i, i, i%7, i, i%28+1, i))
	}
	mustRun(t, s, "INSERT INTO t VALUES "+strings.Join(rows, ", ")+", (3000, NULL, NULL, NULL, NULL)")
	want := mustRun(t, s, "SELECT * FROM t ORDER BY id")
	path := func(name string) string { return filepath.Join(dir, name) }
	check := func(name, load string) {
		t.Helper()
		mustRun(t, s, "CREATE TABLE u LIKE t")
		mustRun(t, s, load)
		if got := mustRun(t, s, "SELECT * FROM u ORDER BY id"); got != want {
			t.Errorf("%s: %.200s", name, got)
		}
		mustRun(t, s, "DROP TABLE u")
	}
	for _, name := range []string{"a.csv", "a.csv.gz", "a.tsv.zst", "a.psv.gz", "a.jsonl", "a.jsonl.gz", "a.ndjson.zst"} {
		mustRun(t, s, "SELECT * FROM t INTO OUTFILE '"+path(name)+"'")
		check(name, "INSERT INTO u SELECT * FROM `"+path(name)+"`")
		if strings.Contains(name, "json") {
			check(name, "IMPORT INTO u FROM '"+path(name)+"'")
			check(name, "IMPORT INTO u (j, day, d, s, id) FROM '"+path(name)+"'")
		}
	}
	for _, name := range []string{"m.gz", "m.txt.zst", "m.csv.GZ"} {
		mustRun(t, s, "SELECT * FROM t INTO OUTFILE '"+path(name)+"' FIELDS TERMINATED BY ';' ENCLOSED BY '\\''")
		check(name, "LOAD DATA INFILE '"+path(name)+"' INTO TABLE u FIELDS TERMINATED BY ';' ENCLOSED BY '\\''")
		check(name, "IMPORT INTO u FROM '"+path(name)+"' FORMAT 'csv' WITH fields_terminated_by = ';', fields_enclosed_by = '\\''")
	}
	plain, err := os.ReadFile(path("a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	writeGzip(t, path("b.csv.gz"), string(plain))
	if got := mustRun(t, s, "SELECT COUNT(*), COUNT(DISTINCT id), COUNT(DISTINCT s) FROM `"+path("[ab].csv.gz")+"`"); got != "6002|3001|3000\n" {
		t.Errorf("two files: %q", got)
	}
	for _, name := range []string{"x.parquet.gz", "x.arrow.zst"} {
		for _, sql := range []string{"SELECT * FROM `" + path(name) + "`", "SELECT * FROM t INTO OUTFILE '" + path(name) + "'"} {
			if _, err := run(context.Background(), s, sql); !errors.Is(err, sqlerr.NotSupported) || !strings.Contains(err.Error(), "only the parts of") {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
}

// writeGzip writes a file with the standard library's gzip.
func writeGzip(t *testing.T, path, text string) {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A file that is damaged, or far larger than it looks, is an error that names it, leaves the table as it is and no memory taken.
func TestCompressedFilesThatFail(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 2, MemoryLimit: 12 << 20})
	mustRun(t, s, "CREATE TABLE t (a TEXT)")
	before := s.engine.MemoryStored()
	path := func(name string) string { return filepath.Join(dir, name) }
	var rows strings.Builder
	for i := range 200000 {
		fmt.Fprintf(&rows, "line %d of a table with lines as long as they are wont to be\n", i)
	}
	writeGzip(t, path("rows.csv.gz"), rows.String())
	writeGzip(t, path("line.csv.gz"), strings.Repeat("x", 16<<20))
	writeGzip(t, path("line.jsonl.gz"), "{\"a\":\""+strings.Repeat("x", 16<<20))
	writeGzip(t, path("long.csv.gz"), strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 16))
	whole, err := os.ReadFile(path("rows.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("short.csv.gz"), whole[:len(whole)/40], 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"rows.csv.gz": "memory", "line.csv.gz": "memory", "line.jsonl.gz": "memory", "long.csv.gz": "memory", "short.csv.gz": "is cut short, behind "} {
		for i, sql := range []string{"SELECT DISTINCT * FROM `" + path(name) + "`", "INSERT INTO t SELECT * FROM `" + path(name) + "`", "LOAD DATA INFILE '" + path(name) + "' INTO TABLE t", "IMPORT INTO t FROM '" + path(name) + "'"} {
			if testing.Short() && i%2 != 0 { // INSERT reads as SELECT does, and IMPORT as LOAD DATA
				continue
			}
			_, err := run(context.Background(), s, sql)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", sql, err, want)
			}
		}
	}
	if got := mustRun(t, s, "SELECT COUNT(*) FROM t"); got != "0\n" {
		t.Errorf("%s rows are left", got)
	}
	if after := s.engine.MemoryStored(); after != before+s.engine.Files.Cached() {
		t.Errorf("%d bytes are taken, %d were before, %d are cached", after, before, s.engine.Files.Cached())
	}
}

// A pipe, which cannot be read again, is loaded whole though its fields are not written as their types are.
func TestLoadDataFromAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		t.Skipf("no pipe can be made: %v %s", err, out)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("1\n 2\n+3\n"), 0o600) }()
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT)")
	mustRun(t, s, "LOAD DATA INFILE '"+path+"' INTO TABLE t")
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if got := mustRun(t, s, "SELECT a FROM t ORDER BY a"); got != "1\n2\n3\n" {
		t.Errorf("%q", got)
	}
}

// TIMESTAMPs leave in the session's time zone, as in MySQL, so that they come back as they were.
func TestOutfileInTheSessionsZone(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "SET time_zone = '+02:00'; CREATE TABLE t (x TIMESTAMP(3)); INSERT INTO t VALUES ('2024-01-01 02:00:00.5'), (NULL)")
	for _, name := range []string{"a.csv", "a.jsonl", "a.txt.gz", "a", "a.pq", "a.parquet", "a.arrow"} {
		path := filepath.Join(dir, name)
		mustRun(t, s, "SELECT * FROM t INTO OUTFILE '"+path+"'; CREATE TABLE u LIKE t")
		load := "INSERT INTO u SELECT * FROM `" + path + "`"
		if name == "a" {
			load = "LOAD DATA INFILE '" + path + "' INTO TABLE u"
			if text, err := os.ReadFile(path); err != nil || string(text) != "2024-01-01 02:00:00.500\n\\N\n" {
				t.Errorf("%q, %v", text, err)
			}
		}
		mustRun(t, s, load)
		if got := mustRun(t, s, "SELECT UNIX_TIMESTAMP(x) FROM u ORDER BY x IS NULL"); got != "1704067200.500\nNULL\n" {
			t.Errorf("%s: %q", name, got)
		}
		mustRun(t, s, "DROP TABLE u")
	}
}

// A file's format is the one that its name's ending tells, or an error with what could be written: nothing is guessed. OVERWRITE takes the
// place of a file, whole or not at all.
func TestOutfileEndings(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 1})
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, want := range map[string]string{
		"o.xlsx": ".parquet, .pq", "o.csv.bz2": "bzip2", "o.jsonl.xz": "text is compressed by gzip (.gz) or zstd (.zst)", "o.tgz": "tar", "o.parquet.gz": "only the parts",
		"o.dat": "FIELDS TERMINATED BY", "o.cvs": "no format has the ending '.cvs'",
	} {
		_, err := run(context.Background(), s, "SELECT 1 AS a INTO OUTFILE '"+path(name)+"'")
		if e := sqlerr.From(err); !errors.Is(err, sqlerr.NotSupported) || !strings.Contains(e.Message+e.Hint, want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path(name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	for name, want := range map[string]string{
		"o": "1\tx\n\\N\ty\n", "o.csv": "a,b\n1,x\n,y\n", "o.tsv": "a\tb\n1\tx\n\ty\n", "o.psv": "a|b\n1|x\n|y\n", "o.jsonl": "{\"a\":1,\"b\":\"x\"}\n{\"a\":null,\"b\":\"y\"}\n",
		"o.json": "[\n{\"a\":1,\"b\":\"x\"},\n{\"a\":null,\"b\":\"y\"}\n]\n",
	} {
		mustRun(t, s, "SELECT 1 AS a, 'x' AS b UNION ALL SELECT NULL, 'y' INTO OUTFILE '"+path(name)+"'")
		if text, err := os.ReadFile(path(name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		again := "SELECT 2 AS a FROM (SELECT 1) AS x WHERE FALSE INTO OUTFILE '" + path(name) + "'"
		if _, err := run(context.Background(), s, again); !errors.Is(err, sqlerr.CodeFileExists) || !strings.Contains(sqlerr.From(err).Hint, "OVERWRITE") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := run(context.Background(), s, "SELECT POWER(10, 400) INTO OUTFILE '"+path(name)+"' OVERWRITE"); err == nil {
			t.Errorf("%s: no error", name)
		}
		if text, _ := os.ReadFile(path(name)); string(text) != want {
			t.Errorf("%s: a statement that fails leaves %q", name, text)
		}
		mustRun(t, s, again+" OVERWRITE")
		if text, _ := os.ReadFile(path(name)); strings.Contains(string(text), "x") {
			t.Errorf("%s is still %q", name, text)
		}
	}
	mustRun(t, s, "SELECT 3 AS a INTO OUTFILE '"+path("o.csv")+"' FIELDS TERMINATED BY ';' OVERWRITE; SELECT 4 AS overwrite; PREPARE p FROM \"SELECT 5 AS a INTO OUTFILE '"+path("o.pq")+"' OVERWRITE\"; EXECUTE p; EXECUTE p")
	if got := mustRun(t, s, "SELECT a FROM `"+path("o.pq")+"`"); got != "5\n" {
		t.Error(got)
	}
	if text, _ := os.ReadFile(path("o.csv")); string(text) != "3\n" {
		t.Errorf("%q", text)
	}
	mustRun(t, s, "SELECT 1 AS a, 'x' AS b UNION ALL SELECT NULL, 'y' INTO OUTFILE '"+path("p.json")+"'")
	if got := mustRun(t, s, "SELECT * FROM `"+path("p.json")+"`"); got != "1|x\nNULL|y\n" {
		t.Error(got)
	}
	if _, err := run(context.Background(), s, "SELECT 1 INTO OUTFILE '"+dir+"' OVERWRITE"); err == nil {
		t.Error("a folder was overwritten")
	}
	left, err := filepath.Glob(path(".radish*"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// A query that writes to a file is all that its statement is: elsewhere INTO was passed over in silence.
func TestOutfileOfUnions(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 1})
	name := filepath.Join(dir, "u.csv")
	into := " INTO OUTFILE '" + name + "'"
	for _, sql := range []string{
		"SELECT * FROM (SELECT 1" + into + ") AS x", "CREATE TABLE t AS SELECT 1" + into, "(SELECT 1" + into + ") UNION SELECT 2", "SELECT 1 UNION (SELECT 2" + into + ")",
		"SELECT 1" + into + " UNION SELECT 2", "SELECT (SELECT 1" + into + ")", "SELECT 1 UNION SELECT nope" + into,
	} {
		if _, err := run(context.Background(), s, sql); err == nil {
			t.Errorf("%s: no error", sql)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
	mustRun(t, s, "EXPLAIN SELECT 1 UNION SELECT 2"+into)
	for _, sql := range []string{"SELECT 1 AS a UNION ALL SELECT 2 AS a ORDER BY a DESC" + into, "(SELECT 1 AS a) UNION ALL SELECT 2" + into + " OVERWRITE", "WITH w AS (SELECT 2 AS a) SELECT 1 AS a UNION SELECT a FROM w" + into + " OVERWRITE"} {
		if got := mustRun(t, s, sql+"; SELECT SUM(a), COUNT(*) FROM `"+name+"`"); !strings.HasSuffix(got, "3|2\n") {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// A large result is written in little memory: row groups end early, and what they hold is counted.
func TestOutfileInLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	s := newSession(t, database.Options{Threads: 2, MemoryLimit: 1 << 30})
	mustRun(t, s, "SET radish_memory_limit = '24MB'")
	const rows = "WITH RECURSIVE d AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM d WHERE n < 299) SELECT a.n * 300 + b.n AS n, REPEAT(CHAR(65 + b.n % 26), 2000) AS s FROM d AS a, d AS b"
	mustRun(t, s, rows+" INTO OUTFILE '"+path+"'")
	mustRun(t, s, "SET radish_memory_limit = 0")
	if got := mustRun(t, s, "SELECT COUNT(*), COUNT(DISTINCT n), SUM(LENGTH(s)) FROM `"+path+"`"); got != "90000|90000|180000000\n" {
		t.Error(got)
	}
	mustRun(t, s, "SET radish_memory_limit = '1MB'")
	if _, err := run(context.Background(), s, rows+" INTO OUTFILE '"+path+"' OVERWRITE"); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("no error in too little memory: %v", err)
	}
}
