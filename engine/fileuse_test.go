package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// recordReads notes which columns of files are read, in the order of reading.
func recordReads(e *Engine) *[]string {
	var reads []string
	load := e.Files.Load
	e.Files.Load = func(ctx context.Context, set *files.Set, title string, ordinals []int) (*table.Version, error) {
		var names []string
		for _, o := range ordinals {
			names = append(names, set.Columns[o].Name)
		}
		reads = append(reads, title+"("+strings.Join(names, ",")+")")
		return load(ctx, set, title, ordinals)
	}
	return &reads
}

// writeWide writes 4 columns of n rows in several formats, and returns the files' names.
func writeWide(t *testing.T, s *Session, dir string, n int) map[string]string {
	t.Helper()
	out := map[string]string{}
	mustRun(t, s, "CREATE TABLE wide (a INT NOT NULL, b INT, c VARCHAR(20), d DECIMAL(10,2))")
	mustRun(t, s, fmt.Sprintf("INSERT INTO wide SELECT n, n %% 7, concat('c', n %% 11), n / 4 FROM generate_series(1, %d) AS r(n)", n))
	for _, ending := range []string{"parquet", "arrow", "arrows", "csv", "tsv", "csv.gz"} {
		out[ending] = filepath.Join(dir, "wide."+ending)
		mustRun(t, s, "SELECT * FROM wide ORDER BY a INTO OUTFILE '"+out[ending]+"'")
	}
	return out
}

// Only the columns that a statement wants are read of a file, and what has to be known to plan or describe it is known without any.
func TestColumnsThatAreRead(t *testing.T) {
	setup := newSession(t, database.Options{Threads: 2})
	for ending, path := range writeWide(t, setup, t.TempDir(), 5000) {
		text := !slices.Contains([]string{"parquet", "arrow", "arrows"}, ending)
		for _, c := range []struct{ sql, reads, text string }{ // text: what is read of texts, if that is more
			{"DESCRIBE FILE", "", ""},
			{"EXPLAIN SELECT a, SUM(b) FROM FILE GROUP BY a", "", ""},
			{"SELECT COUNT(*) FROM FILE", "", "wide()"},
			{"SELECT 1 FROM FILE WHERE 1 = 0", "", ""},
			{"SELECT SUM(b) FROM FILE", "wide(b)", ""},
			{"SELECT MAX(x) FROM (SELECT c x, d y FROM FILE) t", "wide(c)", ""},
			{"WITH t AS (SELECT * FROM FILE) SELECT MIN(d) FROM t WHERE b > 3", "wide(b,d)", ""},
			{"SELECT COUNT(*) FROM FILE x JOIN FILE y ON x.a = y.b", "wide(a,b)", ""},
			{"SELECT COUNT(*) FROM FILE x WHERE EXISTS (SELECT 1 FROM FILE y WHERE y.a = x.b AND y.c = 'c1')", "wide(a,b,c)", ""},
			{"SELECT (SELECT MAX(c) FROM FILE y WHERE y.b = x.a) FROM (SELECT 1 a) x", "wide(b,c)", ""},
			{"SELECT SUM(a) FROM FILE; SELECT SUM(b) FROM FILE; SELECT SUM(a + b), COUNT(*) FROM FILE", "wide(a) wide(b)", ""},
			{"SELECT SUM(a) FROM FILE; SELECT SUM(a + b + d) FROM FILE", "wide(a) wide(b,d)", ""},
			{"SELECT COUNT(c) FROM FILE; SELECT COUNT(*) FROM FILE", "wide(c)", ""},
			{"SELECT * FROM FILE ORDER BY a", "wide(a,b,c,d)", ""},
			{"CREATE TABLE z AS SELECT c, a FROM FILE", "wide(a,c)", ""},
			{"CREATE TABLE z (x INT, y INT); INSERT INTO z SELECT b, a FROM FILE", "wide(a,b)", ""},
			{"CREATE VIEW z AS SELECT * FROM FILE; SELECT SUM(a) FROM z", "wide(a)", ""},
		} {
			s := newSession(t, database.Options{Threads: 2})
			reads := recordReads(s.engine)
			var got, want string
			for _, sql := range strings.Split(c.sql, ";") {
				got = mustRun(t, s, strings.ReplaceAll(sql, "FILE", "`"+path+"`"))
				if strings.HasPrefix(strings.TrimSpace(sql), "SELECT") {
					want = mustRun(t, setup, strings.ReplaceAll(strings.ReplaceAll(sql, "FILE", "wide"), "FROM z", "FROM wide"))
					if got != want {
						t.Errorf("%s: %s: %q, want %q", ending, sql, got, want)
					}
				}
			}
			expected := c.reads
			if text && c.text != "" {
				expected = c.text
			}
			if list := strings.Join(*reads, " "); list != expected {
				t.Errorf("%s: %s: read %q, want %q", ending, c.sql, list, expected)
			}
			if held, kept := s.engine.MemoryStored(), s.engine.Files.Cached(); held < kept {
				t.Errorf("%s: %s: %d bytes are counted, %d are cached", ending, c.sql, held, kept)
			}
		}
	}
}

// LIMIT reads the beginning of a file; EXPLAIN ANALYZE tells of reading.
func TestBeginningsOfFiles(t *testing.T) {
	setup := newSession(t, database.Options{Threads: 2})
	for ending, path := range writeWide(t, setup, t.TempDir(), 60000) {
		s := newSession(t, database.Options{Threads: 2})
		reads := recordReads(s.engine)
		for _, sql := range []string{"SELECT * FROM FILE LIMIT 3", "SELECT d, a + 1 FROM FILE LIMIT 2 OFFSET 59990", "SELECT c FROM FILE LIMIT 0", "SELECT a FROM FILE LIMIT 70000"} {
			want := mustRun(t, setup, strings.ReplaceAll(sql, "FILE", "(SELECT * FROM wide ORDER BY a) x"))
			if got := mustRun(t, s, strings.ReplaceAll(sql, "FILE", "`"+path+"`")); got != want {
				t.Errorf("%s: %s: %.200q, want %.200q", ending, sql, got, want)
			}
		}
		if len(*reads) > 0 || s.engine.Budget.Used() > 0 {
			t.Errorf("%s: read %v, %d bytes are counted", ending, *reads, s.engine.Budget.Used())
		}
		if got := mustRun(t, s, "EXPLAIN ANALYZE SELECT SUM(b) FROM `"+path+"`"); !strings.Contains(got, " of files took ") {
			t.Errorf("%s: %s", ending, got)
		}
		if got := mustRun(t, s, "EXPLAIN ANALYZE SELECT SUM(b) FROM `"+path+"`"); strings.Contains(got, " KiB of files took ") {
			t.Errorf("%s, again: %s", ending, got)
		}
	}
}

// A value far down that does not fit the type of those before is found by the statement that reads its column, which has the wider type then, and warns.
func TestTypesThatLaterValuesWiden(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "late.csv")
	var text strings.Builder
	text.WriteString("id,day,amount\n")
	for i := range 60000 {
		switch {
		case i == 50001:
			text.WriteString("50001,oops,1\n")
		case i == 50002:
			text.WriteString("50002,2024-01-01,1.25\n")
		default:
			fmt.Fprintf(&text, "%d,2024-01-%02d,1\n", i, 1+i%28)
		}
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	warning := "Incorrect DATE value: 'oops' for column 'day' at '" + path + "', line 50003; the column is TEXT for it"
	for _, c := range []struct{ sql, want, warns string }{
		{"SELECT SUM(id), COUNT(*) FROM FILE", "1799970000|60000\n", ""},
		{"SELECT MAX(day), SUM(amount) FROM FILE", "oops|60000.25\n", warning},
		{"SELECT SUM(amount) FROM FILE", "60000.25\n", ""},
		{"SELECT COUNT(*) FROM FILE WHERE day LIKE '2024%'", "59999\n", warning},
		{"CREATE TABLE t AS SELECT day, amount FROM FILE", "", warning},
		{"DESCRIBE FILE", "id|bigint|YES||NULL|\nday|text|YES||NULL|\namount|decimal(15,2)|YES||NULL|\n", warning},
	} {
		s := newSession(t, database.Options{Threads: 2})
		for range 2 {
			if got := mustRun(t, s, strings.ReplaceAll(c.sql, "FILE", "`"+path+"`")); got != c.want {
				t.Errorf("%s: %q, want %q", c.sql, got, c.want)
			}
			got := mustRun(t, s, "SHOW WARNINGS")
			if c.warns == "" && got != "" || !strings.Contains(got, c.warns) || strings.Count(got, "\n") > 1 {
				t.Errorf("%s warns %q, want %q", c.sql, got, c.warns)
			}
			if strings.HasPrefix(c.sql, "CREATE") {
				if got := mustRun(t, s, "SHOW CREATE TABLE t"); !strings.Contains(got, "`day` TEXT") || !strings.Contains(got, "`amount` DECIMAL(15,2)") {
					t.Errorf("%s made %s", c.sql, got)
				}
				mustRun(t, s, "DROP TABLE t")
			}
		}
	}
}

// Where a GPU is open, too, EXPLAIN reads nothing, LIMIT the beginning, and what does not fit the cache is read as the query runs. Other columns are read into
// memory, and the GPU may run the query.
func TestFilesBesideAGPU(t *testing.T) {
	e, d, s := autoEngine(t)
	autoTables(t, s)
	path := filepath.Join(t.TempDir(), "facts.parquet")
	mustRun(t, s, "SELECT * FROM facts INTO OUTFILE '"+path+"'")
	reads := recordReads(e)
	file := "`" + path + "`"
	const sum = "SELECT k, SUM(h) FROM FILE GROUP BY k ORDER BY k"
	want := mustRun(t, s, strings.ReplaceAll(sum, "FILE", "facts"))
	of := strings.ReplaceAll(sum, "FILE", file)

	if plan := mustRun(t, s, "EXPLAIN "+of); !strings.Contains(plan, query.UnreadFiles) {
		t.Error(plan)
	}
	mustRun(t, s, "SELECT * FROM "+file+" LIMIT 3")
	share := e.Files.Share
	e.Files.Share = 1000
	if plan := mustRun(t, s, "EXPLAIN ANALYZE "+of); !strings.Contains(plan, query.UnreadFiles) {
		t.Error(plan)
	}
	if got := mustRun(t, s, of); got != want {
		t.Errorf("streamed: %.200s, want %.200s", got, want)
	}
	mustRun(t, s, "PREPARE p FROM '"+of+"'")
	if n := e.Auto.Ahead.Count(); n > 0 || len(*reads) > 0 {
		t.Errorf("%v were read into memory, %d statements are compiled ahead", *reads, n)
	}

	e.Files.Share = share
	if got := mustRun(t, s, of); got != want {
		t.Errorf("from memory: %.200s, want %.200s", got, want)
	}
	if list := strings.Join(*reads, " "); list != "facts(k,h)" {
		t.Errorf("read %q", list)
	}
	if plan := mustRun(t, s, "EXPLAIN "+of); strings.Contains(plan, query.UnreadFiles) {
		t.Error(plan)
	}
	teach(t, s, d, of, time.Second, time.Millisecond)
	settleAuto(t, e, d)
	if got := mustRun(t, s, of); got != want {
		t.Errorf("known to be faster on the GPU: %.200s, want %.200s", got, want)
	}
}

// A statement over a text whose errors are ignored says how many records are missing, once however often it reads the file.
func TestIgnoredErrorsAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(path, []byte("id,price\n1,2\n2,abc\n3\n4,5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, database.Options{Threads: 2})
	file := "`read_csv('" + path + "', types = {'price': 'INT'}, ignore_errors = true)`"
	for sql, want := range map[string]string{
		"SELECT * FROM " + file + " AS a":                                              "1|2\n4|5\n",
		"SELECT COUNT(*) FROM " + file + " AS a":                                       "2\n",
		"SELECT id FROM " + file + " AS a LIMIT 1":                                     "1\n",
		"SELECT SUM(a.price) FROM " + file + " AS a JOIN " + file + " AS b USING (id)": "7\n",
	} {
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("%s: %q", sql, got)
		}
		warnings := mustRun(t, s, "SHOW WARNINGS")
		if strings.Count(warnings, "2 records of") != 1 || !strings.Contains(warnings, "line 3, column 3: 'abc' is no INT") || strings.Count(warnings, "\n") != 1 {
			t.Errorf("%s: %s", sql, warnings)
		}
	}
}
