package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/tpch"
)

// streamAll makes all scans of Parquet files read them themselves.
func streamAll(e *Engine) { e.Files.Share = 0 }

// TPC-H over Parquet files that scans read a row group at a time gives what it gives over tables.
func TestStreamedTPCH(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 3})
	mustRun(t, s, "CALL tpch_generate(0.01)")
	f := newSession(t, database.Options{Threads: 3})
	streamAll(f.engine)
	reads := recordReads(f.engine)
	for _, name := range []string{"region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"} {
		path := filepath.Join(dir, name+".parquet")
		mustRun(t, s, "SELECT * FROM "+name+" INTO OUTFILE '"+path+"'")
		mustRun(t, f, "CREATE VIEW "+name+" AS SELECT * FROM `"+path+"`")
	}
	views := f.engine.Budget.Used() // for their definitions
	for _, q := range tpch.Queries(1) {
		if testing.Short() && q.Number%4 != 1 {
			continue
		}
		if q.Number == 15 { // of several statements
			continue
		}
		want, got := mustRun(t, s, q.SQL), mustRun(t, f, q.SQL)
		if got != want {
			t.Errorf("query %d: %s, want %s", q.Number, got, want)
		}
	}
	if len(*reads) > 0 {
		t.Errorf("columns were read into memory: %v", *reads)
	}
	if held := f.engine.Budget.Used(); held != views {
		t.Errorf("%d bytes are counted, %d before the queries", held, views)
	}
}

// Strings, NULLs and row groups that conditions rule out, of several files; operators keep what they need of rows whose memory goes.
func TestStreamedScans(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 3})
	mustRun(t, s, "CREATE TABLE x (id INT NOT NULL, g INT, word VARCHAR(40), d DATE, amount DECIMAL(20,3), f DOUBLE, u BIGINT UNSIGNED, w DECIMAL(30,2), ts DATETIME(6))")
	mustRun(t, s, `INSERT INTO x SELECT n, IF(n % 5 = 0, NULL, n % 17), IF(n % 7 = 0, NULL, concat('word ', n % 1000, repeat('y', n % 9))),
		DATE '2000-01-01' + INTERVAL n DAY, n / 8, n / 3, n + 18446744073709500000, n * 100000000000000, TIMESTAMP '2000-01-01 00:00:00' + INTERVAL n SECOND FROM generate_series(1, 30000) AS r(n)`)
	for _, ending := range []string{".parquet", ".arrow", ".arrows"} {
		for i := range 6 {
			mustRun(t, s, fmt.Sprintf("SELECT * FROM x WHERE id > %d AND id <= %d ORDER BY id INTO OUTFILE '%s'", i*5000, i*5000+5000, filepath.Join(dir, fmt.Sprint("x", i, ending))))
		}
		f := newSession(t, database.Options{Threads: 3})
		streamAll(f.engine)
		reads := recordReads(f.engine)
		compareStreamed(t, s, f, "`"+filepath.Join(dir, "x*"+ending)+"`")
		if len(*reads) > 0 {
			t.Errorf("%s: columns were read into memory: %v", ending, *reads)
		}
	}
}

// compareStreamed asks queries of the table x and of the files that hold its rows.
func compareStreamed(t *testing.T, s, f *Session, file string) {
	t.Helper()
	for _, q := range []string{
		"SELECT COUNT(*), COUNT(g), COUNT(word), SUM(amount), MIN(word), MAX(word), MIN(d), MAX(ts), SUM(w), MAX(u) FROM {x} x",
		"SELECT g, COUNT(*), MIN(word), SUM(amount) FROM {x} x GROUP BY g ORDER BY g",
		"SELECT word, COUNT(*), MAX(id) FROM {x} x GROUP BY word ORDER BY word, 2",
		"SELECT DISTINCT word FROM {x} x ORDER BY word",
		"SELECT a.id, b.word FROM {x} a JOIN {x} b ON a.word = b.word AND a.id = b.id + 9000 ORDER BY a.id LIMIT 50",
		"SELECT id, word FROM {x} x ORDER BY word DESC, id LIMIT 30",
		"SELECT GROUP_CONCAT(word ORDER BY id) FROM {x} x WHERE id BETWEEN 4990 AND 5010",
		"SELECT id, LAG(word) OVER (ORDER BY id) FROM {x} x WHERE id % 1000 = 7 ORDER BY id",
		"SELECT id FROM {x} x LIMIT 5", "SELECT id, word FROM {x} x WHERE word LIKE 'word 99%' ORDER BY id LIMIT 7",
		"SELECT COUNT(*) FROM {x} x WHERE id = 12345", "SELECT COUNT(*) FROM {x} x WHERE id < 0", "SELECT COUNT(*) FROM {x} x WHERE id IN (1, 29999)",
		"SELECT COUNT(*) FROM {x} x WHERE d >= DATE '2080-01-01'", "SELECT COUNT(*) FROM {x} x WHERE d IS NULL", "SELECT COUNT(*) FROM {x} x WHERE g IS NULL AND id > 29000",
		"SELECT COUNT(*) FROM {x} x WHERE u > 18446744073709529000", "SELECT COUNT(*) FROM {x} x WHERE w > 2900000000000000000", "SELECT COUNT(*) FROM {x} x WHERE f > 9999.5",
		"SELECT COUNT(*) FROM {x} x WHERE ts < TIMESTAMP '2000-01-01 00:10:00'", "SELECT COUNT(*) FROM {x} x WHERE word = 'word 77yyy'", "SELECT COUNT(*) FROM {x} x WHERE NOT id <= 25000",
		"SELECT COUNT(*) FROM {x} a WHERE NOT EXISTS (SELECT 1 FROM {x} b WHERE b.id = a.id + 1 AND b.id < 100)",
	} {
		want, got := mustRun(t, s, strings.ReplaceAll(q, "{x}", "x")), mustRun(t, f, strings.ReplaceAll(q, "{x}", file))
		if got != want {
			t.Errorf("%s: %.300s, want %.300s", strings.ReplaceAll(q, "{x}", file), got, want)
		}
	}
}

// A table that does not fit the limit of memory can be read all the same, if what the statement keeps fits it.
func TestStreamedWithinTheMemoryLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("generates and writes 600,000 rows; smaller files are streamed by several threads in TestStreamedTPCH and TestStreamedScans")
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	big := newSession(t, database.Options{Threads: 2})
	mustRun(t, big, "CALL tpch_generate(0.1)")
	mustRun(t, big, "SELECT * FROM lineitem INTO OUTFILE '"+path+"'")
	for _, sql := range []string{"SELECT COUNT(l_comment), MIN(l_comment), SUM(l_tax), MAX(l_shipinstruct) FROM FILE", "SELECT l_returnflag, SUM(l_quantity * l_extendedprice), COUNT(DISTINCT l_shipdate), MAX(l_comment) FROM FILE GROUP BY l_returnflag ORDER BY 1"} {
		want := mustRun(t, big, strings.ReplaceAll(sql, "FILE", "lineitem"))
		s := newSession(t, database.Options{Threads: 2, MemoryLimit: 40 << 20})
		if got := mustRun(t, s, strings.ReplaceAll(sql, "FILE", "`"+path+"`")); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
		if peak := s.engine.Budget.Peak(); peak > 40<<20 || peak < 1<<20 {
			t.Errorf("%s: %d bytes were counted", sql, peak)
		}
	}
}

// A file that is written while scans read it is an error.
func TestStreamedFileThatChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	s := newSession(t, database.Options{Threads: 1})
	streamAll(s.engine)
	mustRun(t, s, "CALL tpch_generate(0.05)")
	mustRun(t, s, "SELECT * FROM lineitem INTO OUTFILE '"+path+"'")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return os.WriteFile(path, whole, 0o644) }, // the same bytes, but nobody could know
		func() error { return os.Truncate(path, int64(len(whole)/8)) },
	} {
		stmts, err := s.Parse("SELECT l_orderkey, l_comment FROM `" + path + "` WHERE l_quantity < 40")
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Execute(context.Background(), stmts[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := res.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			b, next := res.Next(context.Background())
			if err = next; b == nil && err == nil {
				t.Fatal("no error")
			}
		}
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Kind != sqlerr.Resource || !strings.Contains(e.Error(), "changes while it is read") {
			t.Error(err)
		}
		res.Close()
	}
}

// A statement that scans a file twice streams it if conditions hold back rows of both scans, and else reads it into memory, as one whose join holds none back.
func TestStreamedTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs a file of 12 MB")
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	options := database.Options{Threads: 2, Device: "cpu"}
	s := newSession(t, options)
	mustRun(t, s, "SELECT n AS id, n * 7919 % 100003 AS g, CONCAT(MD5(n), MD5(n + 1), MD5(n + 2), MD5(n + 3)) AS w FROM generate_series(1, 100002) AS r(n) INTO OUTFILE '"+path+"'")
	// 100003 is a prime: g is another order of the numbers.
	for _, c := range []struct{ sql, want, reads string }{
		{"SELECT COUNT(*), MIN(y.id), MAX(y.id), SUM(LENGTH(x.w) + LENGTH(y.w)) FROM FILE x JOIN FILE y ON x.id = y.g WHERE y.id < 10", "9|1|9|2304\n", ""},
		{"SELECT COUNT(*), SUM(LENGTH(x.w) + LENGTH(y.w)) FROM FILE x JOIN FILE y ON x.id = y.g", "100002|25600512\n", "x(id,g,w)"},
	} {
		f := newSession(t, options)
		reads := recordReads(f.engine)
		if got := mustRun(t, f, strings.ReplaceAll(c.sql, "FILE", "`"+path+"`")); got != c.want || strings.Join(*reads, " ") != c.reads {
			t.Errorf("%s gives %s and reads %q into memory, want %s and %q", c.sql, got, *reads, c.want, c.reads)
		}
	}
}
