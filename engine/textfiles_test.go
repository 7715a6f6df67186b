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

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Whatever of text or JSON lines OUTFILE writes, compressed or not, can be read by FROM, and by IMPORT INTO or LOAD DATA.
func TestTextFilesRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := session(t, Options{Threads: 2})
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
	s := session(t, Options{Threads: 2, MemoryLimit: 12 << 20})
	mustRun(t, s, "CREATE TABLE t (a TEXT)")
	before := s.engine.MemoryStored()
	path := func(name string) string { return filepath.Join(dir, name) }
	var rows strings.Builder
	for i := range 400000 {
		fmt.Fprintf(&rows, "line %d of a table with lines as long as they are wont to be\n", i)
	}
	writeGzip(t, path("rows.csv.gz"), rows.String())
	writeGzip(t, path("line.csv.gz"), strings.Repeat("x", 40<<20))
	writeGzip(t, path("line.jsonl.gz"), "{\"a\":\""+strings.Repeat("x", 40<<20))
	writeGzip(t, path("long.csv.gz"), strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 40))
	whole, err := os.ReadFile(path("rows.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("short.csv.gz"), whole[:len(whole)/40], 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"rows.csv.gz": "memory", "line.csv.gz": "memory", "line.jsonl.gz": "memory", "long.csv.gz": "memory", "short.csv.gz": "is cut short, behind "} {
		for i, sql := range []string{"SELECT COUNT(*) FROM `" + path(name) + "`", "INSERT INTO t SELECT * FROM `" + path(name) + "`", "LOAD DATA INFILE '" + path(name) + "' INTO TABLE t", "IMPORT INTO t FROM '" + path(name) + "'"} {
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
	if after := s.engine.MemoryStored(); after != before+s.engine.files.cached() {
		t.Errorf("%d bytes are taken, %d were before, %d are cached", after, before, s.engine.files.cached())
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
	s := session(t, Options{Threads: 1})
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
	s := session(t, Options{Threads: 1})
	mustRun(t, s, "SET time_zone = '+02:00'; CREATE TABLE t (x TIMESTAMP(3)); INSERT INTO t VALUES ('2024-01-01 02:00:00.5'), (NULL)")
	for _, name := range []string{"a.csv", "a.jsonl", "a.txt.gz", "a.my", "a.parquet", "a.arrow"} {
		path := filepath.Join(dir, name)
		mustRun(t, s, "SELECT * FROM t INTO OUTFILE '"+path+"'; CREATE TABLE u LIKE t")
		load := "INSERT INTO u SELECT * FROM `" + path + "`"
		if name == "a.my" {
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
