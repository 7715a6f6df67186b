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
	"github.com/radish-sql/radish/storage/textfile"
)

// setBlockSize makes blocks of text of n bytes for a test.
func setBlockSize(t *testing.T, n int) {
	old := textfile.BlockSize
	textfile.BlockSize = n
	t.Cleanup(func() { textfile.BlockSize = old })
}

// Scans that read pieces of files give what tables give: fields in quotes over lines, NULLs, strings that operators keep.
func TestStreamedTexts(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 3})
	mustRun(t, s, "CREATE TABLE x (id BIGINT, g BIGINT, word TEXT, d DATE, amount DECIMAL(15,3), f DOUBLE, ts DATETIME)")
	mustRun(t, s, `INSERT INTO x SELECT n, IF(n % 5 = 0, NULL, n % 17), IF(n % 7 = 0, NULL, concat('a "word", ', n % 1000, repeat('\n', n % 3), repeat('y', n % 9))),
		DATE '2000-01-01' + INTERVAL n DAY, n / 8, n / 3e0, TIMESTAMP '2000-01-01 00:00:00' + INTERVAL n SECOND FROM generate_series(1, 6000) AS r(n)`)
	for _, ending := range []string{"csv", "psv", "jsonl", "ndjson"} {
		for i := range 2 {
			mustRun(t, s, fmt.Sprintf("SELECT * FROM x WHERE id > %d AND id <= %d ORDER BY id INTO OUTFILE '%s'", i*3000, i*3000+3000, filepath.Join(dir, fmt.Sprint("x", i, ".", ending))))
		}
		for _, size := range []int{3000, 40000} {
			setBlockSize(t, size)
			f := newSession(t, database.Options{Threads: 3})
			streamAll(f.engine)
			reads := recordReads(f.engine)
			file := "`" + filepath.Join(dir, "x*."+ending) + "`"
			for _, q := range []string{
				"SELECT COUNT(g), COUNT(word), SUM(amount), MIN(word), MAX(word), MIN(d), MAX(ts), SUM(f) > 0 FROM {x} x",
				"SELECT g, COUNT(*), MIN(word), SUM(amount) FROM {x} x GROUP BY g ORDER BY g",
				"SELECT word, COUNT(*), MAX(id) FROM {x} x GROUP BY word ORDER BY word, 2",
				"SELECT a.id, b.word FROM {x} a JOIN {x} b ON a.word = b.word AND a.id = b.id + 3000 ORDER BY a.id LIMIT 50",
				"SELECT id, word FROM {x} x ORDER BY word DESC, id LIMIT 30",
				"SELECT id, LAG(word) OVER (ORDER BY id) FROM {x} x WHERE id % 1000 = 7 ORDER BY id",
				"SELECT id, word FROM {x} x WHERE word LIKE '%99%' LIMIT 7", "SELECT COUNT(d) FROM {x} x WHERE id = 2345", "SELECT COUNT(id) FROM {x} x WHERE d >= DATE '2010-01-01'",
				"SELECT id FROM {x} x LIMIT 5 OFFSET 5990", "SELECT * FROM {x} x",
			} {
				want, got := mustRun(t, s, strings.ReplaceAll(q, "{x}", "x")), mustRun(t, f, strings.ReplaceAll(q, "{x}", file))
				if got != want {
					t.Errorf("%s, pieces of %d: %s: %.300s, want %.300s", ending, size, q, got, want)
				}
			}
			if len(*reads) > 0 {
				t.Errorf("%s: columns were read into memory: %v", ending, *reads)
			}
			if held := f.engine.Budget.Used(); held != 0 {
				t.Errorf("%s: %d bytes are counted", ending, held)
			}
			textfile.BlockSize = 4 << 20
		}
	}
}

// A value or key that the sample does not show widens the types, if no row has left before; then running the statement again does.
func TestStreamedTextsThatWiden(t *testing.T) {
	setBlockSize(t, 1<<20)
	dir := t.TempDir()
	for _, c := range []struct{ ending, head, row, odd, position, keys string }{
		{"csv", "a,b\n", "1,2\n", "1.5,x\n", "line 30002: '1.5' does not fit column 'a', which has the type BIGINT", ""},
		{"jsonl", "", `{"a":1,"b":2}` + "\n", `{"a":1.5,"b":"x"}` + "\n", "line 30001: '1.5' does not fit column 'a', which has the type BIGINT", ""},
		{"ndjson", "", `{"a":1,"b":2}` + "\n", `{"a":1,"b":2,"c":3}` + "\n", "line 30001: the columns were chosen from a sample of the objects, none of which has the key 'c'", ",3"},
	} {
		path := filepath.Join(dir, "x."+c.ending)
		text := c.head + strings.Repeat(c.row, 30000) + c.odd + strings.Repeat(c.row, 150000)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := newSession(t, database.Options{Threads: 2})
		streamAll(s.engine)
		if got := mustRun(t, s, "DESCRIBE `"+path+"`"); !strings.HasPrefix(got, "a|bigint|") {
			t.Errorf("%s: %s", c.ending, got)
		}
		var want string
		if c.keys == "" {
			want = "1.5|x|180001\n"
		} else {
			want = "1|2|180001\n"
		}
		if got := mustRun(t, s, "SELECT MAX(a), MAX(b), COUNT(a) FROM `"+path+"`"); got != want {
			t.Errorf("%s: %s, want %s", c.ending, got, want)
		}
		s = newSession(t, database.Options{Threads: 2})
		streamAll(s.engine)
		_, err := run(context.Background(), s, "SELECT a, b FROM `"+path+"`")
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Kind != sqlerr.User || !strings.Contains(err.Error(), c.position) || !strings.Contains(err.Error(), "run the statement again") {
			t.Errorf("%s: %v, want %s", c.ending, err, c.position)
		}
		if got := mustRun(t, s, "SELECT * FROM `"+path+"` LIMIT 1 OFFSET 30000"); c.keys == "" && got != "1.5|x\n" || c.keys != "" && got != "1|2|3\n" {
			t.Errorf("%s: %s", c.ending, got)
		}
	}
}

// Types follow from records, however long the first of them is. A column that the sample has no value of is TEXT, and takes strings only.
func TestStreamedTextsOfLateValues(t *testing.T) {
	setBlockSize(t, 1<<20)
	long, dir := strings.Repeat("x", 3*textfile.BlockSize), t.TempDir()
	empty := strings.Repeat(",1\n", 30000)
	many := strings.Repeat(",1\n", 150000)
	for _, c := range []struct{ name, text, sql, want, describe string }{
		{"longfirst.csv", "a,b\n1," + long + "\n" + strings.Repeat("2,y\n", 3), "SELECT a, LENGTH(b) FROM {x}", fmt.Sprintf("1|%d\n2|1\n2|1\n2|1\n", len(long)), "a|bigint|YES||NULL|\nb|text|YES||NULL|\n"},
		{"longall.csv", "a,b\n" + strings.Repeat("1,"+long+"\n", 3), "SELECT a, LENGTH(b) FROM {x}", strings.Repeat(fmt.Sprintf("1|%d\n", len(long)), 3), "a|bigint|YES||NULL|\nb|text|YES||NULL|\n"},
		{"longall.jsonl", strings.Repeat(`{"a":1,"b":"`+long+`"}`+"\n", 3), "SELECT a, LENGTH(b) FROM {x}", strings.Repeat(fmt.Sprintf("1|%d\n", len(long)), 3), "a|bigint|YES||NULL|\nb|text|YES||NULL|\n"},
		{"text.csv", "a,b\n" + empty + "late,1\n" + many, "SELECT a FROM {x} WHERE a IS NOT NULL", "late\n", "a|text|YES||NULL|\nb|bigint|YES||NULL|\n"},
		{"text.jsonl", strings.Repeat(`{"a":null,"b":1}`+"\n", 30000) + `{"a":"late","b":1}` + "\n" + strings.Repeat(`{"a":null,"b":1}`+"\n", 150000), "SELECT a FROM {x} WHERE a IS NOT NULL", "late\n", "a|text|YES||NULL|\nb|bigint|YES||NULL|\n"},
		{"number.csv", "a,b\n" + empty + "10,1\n9,1\n" + many, "SELECT MAX(a) FROM {x}", "10\n", "a|bigint|YES||NULL|\nb|bigint|YES||NULL|\n"},
		{"rows.csv", "a,b\n" + empty + "10,1\n9,1\n" + many, "SELECT * FROM {x}", "line 30002: '10' does not fit column 'a', which has the type TEXT because all its values in a sample", "a|bigint|YES||NULL|\nb|bigint|YES||NULL|\n"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := newSession(t, database.Options{Threads: 2})
		streamAll(s.engine)
		got, err := run(context.Background(), s, strings.ReplaceAll(c.sql, "{x}", "`"+path+"`"))
		if err != nil && strings.Contains(err.Error(), c.want) {
			got = c.want
		}
		if got != c.want {
			t.Errorf("%s: %.300q, %v, want %q", c.name, got, err, c.want)
		}
		if got := mustRun(t, s, "DESCRIBE `"+path+"`"); got != c.describe {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// Long records count once as text and once as values, in each of the threads that read them.
func TestLongRecordsOfTextsWithinMemory(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("0123456789", 2_000_000)
	for name, text := range map[string]string{
		"x.csv":   "a,b\n" + strings.Repeat("1,"+long+"\n", 4),
		"x.jsonl": strings.Repeat(`{"a":1,"b":"`+long+`"}`+"\n", 4),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, all := range []string{"", ", sample_size = -1"} {
			s := newSession(t, database.Options{Threads: 2, MemoryLimit: 130_000_000})
			streamAll(s.engine)
			function := "read_csv"
			if name == "x.jsonl" {
				function = "read_ndjson"
			}
			if got := mustRun(t, s, fmt.Sprintf("SELECT COUNT(*), SUM(LENGTH(b)) FROM `%s('%s'%s)` x", function, path, all)); got != "4|80000000\n" {
				t.Errorf("%s%s: %s", name, all, got)
			}
			if held := s.engine.Budget.Used(); held != 0 {
				t.Errorf("%s%s: %d bytes are counted", name, all, held)
			}
		}
	}
}

// The error of a malformed record is that of the first one, though what follows an open quote looks malformed too.
func TestStreamedTextsThatAreMalformed(t *testing.T) {
	setBlockSize(t, 1000)
	for _, c := range []struct{ ending, text, want string }{
		{"csv", "a,b\n" + strings.Repeat("1,x\n", 30000) + "1,x\"\n" + strings.Repeat("1,\"x\"\n", 3000), "line 30002, column 4: a quote inside a field"},
		{"csv", "a,b\n" + strings.Repeat("1,x\n", 30000) + "1\n" + strings.Repeat("1,\"x\"\n", 3000), "line 30002, column 1: the record ends after 1 fields"},
		{"csv", "a,b\n" + strings.Repeat("1,\"x\"\n", 30000) + "1,\"x\n" + strings.Repeat("1,\"x\"\n", 3000), "line 30003, column 4: text after a closing quote"},
		{"jsonl", strings.Repeat("{\"a\":1,\"b\":2}\n", 30000) + "{\"a\":1\n" + strings.Repeat("{\"a\":1,\"b\":2}\n", 3000), "line 30001, column 7: the line ends within an object"},
	} {
		path := filepath.Join(t.TempDir(), "x."+c.ending)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := newSession(t, database.Options{Threads: 3})
		streamAll(s.engine)
		if _, err := run(context.Background(), s, "SELECT MAX(a) FROM `"+path+"`"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Options that say what types follow from.
func TestSampleOptions(t *testing.T) {
	dir := t.TempDir()
	csv, lines := filepath.Join(dir, "x.csv"), filepath.Join(dir, "x.jsonl")
	if err := os.WriteFile(csv, []byte("a,b\n"+strings.Repeat("1,2024-01-01\n", 25000)+"x,007\n"+strings.Repeat("1,2024-01-01\n", 50000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lines, []byte(strings.Repeat("{\"a\":1}\n", 25000)+"{\"a\":1.5,\"b\":true}\n"+strings.Repeat("{\"a\":1}\n", 90000)), 0o644); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, database.Options{Threads: 2})
	for _, c := range []struct{ sql, want string }{
		{"DESCRIBE `" + csv + "`", "a|bigint|YES||NULL|\nb|date|YES||NULL|\n"},
		{"DESCRIBE `read_csv('" + csv + "', sample_size = -1)`", "a|text|YES||NULL|\nb|text|YES||NULL|\n"},
		{"DESCRIBE `read_csv('" + csv + "', all_varchar = true)`", "a|text|YES||NULL|\nb|text|YES||NULL|\n"},
		{"SELECT a, MIN(b) FROM `read_csv('" + csv + "', all_varchar = true)` x GROUP BY a ORDER BY a", "1|2024-01-01\nx|007\n"},
		{"DESCRIBE `" + lines + "`", "a|bigint|YES||NULL|\n"},
		{"DESCRIBE `read_ndjson('" + lines + "', sample_size = -1)`", "a|decimal(15,1)|YES||NULL|\nb|boolean|YES||NULL|\n"},
	} {
		if got := mustRun(t, s, c.sql); got != c.want {
			t.Errorf("%s: %q, want %q", c.sql, got, c.want)
		}
	}
	if _, err := run(context.Background(), s, "SELECT * FROM `read_csv('"+csv+"', sample_size = 10)` x"); err == nil || !strings.Contains(err.Error(), "sample_size is -1") {
		t.Error(err)
	}
}
