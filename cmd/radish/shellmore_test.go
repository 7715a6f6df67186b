package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

const (
	tab   = "\t"
	ctrlR = "\x12"
	upKey = "\x1b[A"
)

// do types a line and waits for what comes of it, then for the prompt.
func (s *terminal) do(keys, want string) {
	s.t.Helper()
	s.write(keys + "\r")
	s.expect(want)
	s.expect(defaultPrompt)
}

// TestShellModes prints one result in every mode.
func TestShellModes(t *testing.T) {
	s := startShell(t)
	s.do("CREATE TABLE m (n INT, s VARCHAR(20)); INSERT INTO m VALUES (7, 'a<b'), (NULL, '日本');", "OK, 2 rows")
	s.do("TABLE m;", "|    n | s       |\r\n|  int | varchar |")
	s.do(".types off", "")
	for _, m := range [][2]string{
		{"table", "|    n | s    |\r\n+------+------+\r\n|    7 | a<b  |\r\n| NULL | 日本 |\r\n"},
		{"box", "┌──────┬──────┐\r\n│    n │ s    │\r\n├──────┼──────┤\r\n│    7 │ a<b  │\r\n│ NULL │ 日本 │\r\n└──────┴──────┘\r\n"},
		{"vertical", "n: 7\r\ns: a<b\r\n"},
		{"csv", "n,s\r\n7,a<b\r\n,日本\r\n"},
		{"tsv", "n\ts\r\n7\ta<b\r\n\\N\t日本\r\n"},
		{"json", "[\r\n{\"n\":7,\"s\":\"a<b\"},\r\n{\"n\":null,\"s\":\"日本\"}\r\n]\r\n"},
		{"jsonlines", "{\"n\":7,\"s\":\"a<b\"}\r\n{\"n\":null,\"s\":\"日本\"}\r\n"},
		{"markdown", "| n | s |\r\n| ---: | --- |\r\n| 7 | a&lt;b |\r\n| NULL | 日本 |\r\n"},
		{"html", "<table>\r\n<tr><th>n</th><th>s</th></tr>\r\n<tr><td align=\"right\">7</td><td>a&lt;b</td></tr>\r\n"},
		{"insert other", "INSERT INTO `other` (`n`, `s`) VALUES\r\n(7, 'a<b'),\r\n(NULL, '日本');\r\n"},
	} {
		s.write(".mode " + m[0] + "\r")
		s.expect(defaultPrompt)
		s.do("TABLE m;", m[1])
	}
	s.do(".mode", "insert")
	s.write(ctrlD)
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestShellWidths resizes the terminal: tables fit it, and say what they leave out.
func TestShellWidths(t *testing.T) {
	s := startShell(t)
	resize := func(columns uint16) {
		if err := pty.Setsize(s.file, &pty.Winsize{Rows: 40, Cols: columns}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.do("CREATE TABLE w AS SELECT REPEAT('日', 30) AS wide, 12345 AS n, REPEAT('x', 20) AS narrow;", "OK")
	s.do("TABLE w;", "| "+strings.Repeat("日", 30)+" |  12345 | "+strings.Repeat("x", 20)+" |")
	resize(60)
	s.do("TABLE w;", "| "+strings.Repeat("日", 11)+"… ")
	resize(200)
	s.do("TABLE w;", strings.Repeat("日", 30))
	s.write(".width 6\r")
	s.expect(defaultPrompt)
	s.do("TABLE w;", "…  |  12345 |")
	s.do("TABLE w;", "values cut to fit; .mode vertical shows them whole")
	s.do(".width", "")
	resize(60)
	var columns []string
	for i := range 40 {
		columns = append(columns, fmt.Sprintf("%d AS c%02d", i, i))
	}
	many := ".read " + writeFile(t, "many.sql", "SELECT "+strings.Join(columns, ", ")+";")
	s.do(many, "|    c00 |    c01 |    c02 | … |    c37 |    c38 |    c39 |\r\n| bigint | bigint | bigint | … | bigint | bigint | bigint |")
	s.do(many, "|      0 |      1 |      2 | … |     37 |     38 |     39 |\r\n+--------+--------+--------+---+--------+--------+--------+\r\n")
	s.do(many, "1 row, 34 columns left out; .mode vertical shows all")
	resize(110)
	s.do(".tpch 0.01", "rows affected")
	s.do("SELECT * FROM lineitem ORDER BY l_orderkey, l_linenumber LIMIT 1;", "|     bigint |    bigint |    bigint |          int | … | char(25)          |")
	s.do("SELECT * FROM lineitem ORDER BY l_orderkey, l_linenumber LIMIT 1;", "| DELIVER IN PERSON | TRUCK      | ") // whole values
	s.do("SELECT * FROM lineitem ORDER BY l_orderkey, l_linenumber LIMIT 1;", "1 row, strings cut and 9 columns left out; .mode vertical shows all")
	s.do("SELECT l_shipdate, REPEAT('x', 300) AS x, l_commitdate FROM lineitem ORDER BY l_orderkey, l_linenumber LIMIT 1;", "| 1996-03-13 | xxx")
	resize(200)
	s.write(".maxrows 2\r")
	s.expect(defaultPrompt)
	s.do("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3;", "|      1 |\r\n|      … |\r\n|      3 |\r\n+--------+")
	s.do("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3;", "3 rows, the first 1 and the last 1 shown; .maxrows 0 shows all")
	s.do("SELECT 1 UNION ALL SELECT 2;", "|      1 |\r\n|      2 |\r\n+--------+")
	s.do(".maxrows 5", "")
	s.do("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT a.n * 1000 + b.n AS n FROM r a, r b ORDER BY n;", "|   1001 |\r\n|   1002 |\r\n|   1003 |\r\n|      … |\r\n| 900899 |\r\n| 900900 |")
	s.do("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT n FROM r;", "900 rows, the first 3 and the last 2 shown")
	s.do(".maxrows 0", "")
	s.do("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3;", "|      3 |\r\n+--------+")
}

// TestShellCompletion presses Tab.
func TestShellCompletion(t *testing.T) {
	s := startShell(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "numbers_file.csv"), []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do("CREATE TABLE harvest (weight INT, orchard VARCHAR(9)); INSERT INTO harvest VALUES (41, 'o');", "OK, 1 row")
	s.do("sel"+tab+" weig"+tab+" + 1 fro"+tab+" harv"+tab+";", "42 |")
	s.do("SELECT weight + 3 FROM "+tab+";", "44 |") // the only table
	s.do("SELECT SUBSTRING_IN"+tab+"'a,b', ',', 1) AS k;", "| a ")
	s.do("CREATE TEMPORARY TABLE mytemps (passing INT); INSERT INTO mytemps VALUES (43);", "OK, 1 row")
	s.do("SELECT passi"+tab+" + 1 FROM mytem"+tab+";", "44 |")
	s.do("SELECT z.pass"+tab+" + 2 FROM mytemps z;", "45 |")
	s.do("SELECT row_nu"+tab+") OVER () + 45 AS r, bit_a"+tab+"passing) + 4 AS b FROM mytemps GROUP BY passing;", " 46 |              47 |")
	s.do("SELECT h.orch"+tab+" FROM harvest h WHERE h.wei"+tab+" > 1;", "| o ")
	s.do(".cd "+dir, "")
	s.do("SELECT SUM(a) + 100 FROM `numb"+tab+"`;", "103 |")
	s.do(".mo"+tab+" jsonl"+tab, "")
	s.do("SELECT 5 AS five;", `{"five":5}`)
	s.do(".device c"+tab, "")
	s.do("SET radish_dev"+tab+" = 'gpu_s"+tab+"'; SELECT 'set' AS done;", "radish_device = 'gpu_strict'") // the line as it is completed
	s.do("SELECT @@radish_dev"+tab+" AS d;", "radish_device AS d")
	s.do(".sch"+tab+" har"+tab, "CREATE TABLE `harvest`")
	s.write("SELECT w" + tab + tab)
	s.expect("weight")
	s.write(ctrlC)
	s.expect(defaultPrompt)
}

// TestShellSearch looks a statement up in the history with Ctrl-R.
func TestShellSearch(t *testing.T) {
	s := startShell(t)
	s.do("SELECT 11 + 31\r;", "42 |")
	s.do("SELECT 2;", "2 |")
	s.do(".timer off", "")
	s.write(ctrlR + "11 +")
	s.expect("SELECT 11 + 31\r\n" + promptMore + ";")
	s.expect("bck-i-search: 11 +")
	s.write("\r")
	s.expect("42 |")
	s.expect(defaultPrompt)
	s.write(upKey + upKey + upKey + upKey + "\r") // the first two in the statement that has run
	s.expect("2 |")
}

// TestShellClears drops what is typed with \c, and leaves with \q.
func TestShellClears(t *testing.T) {
	s := startShell(t)
	s.write("SELECT 'open\r")
	s.expect(promptMore)
	s.write("more \\c\r")
	s.expect(defaultPrompt)
	s.do("SELECT 6 * 7;", "42 |")
	s.do("CREATE DATABASE elsewhere;", "OK")
	s.do("use elsewhere", "OK") // as in MySQL's client
	s.do("\\s", "database: elsewhere")
	s.write("\\q\r")
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestShellColors types with colours, which NO_COLOR and a dumb terminal turn off.
func TestShellColors(t *testing.T) {
	s := startShell(t, "NO_COLOR=")
	s.write("SELECT 'x', 12;\r")
	s.expect(colorKeyword + "SELECT" + colorReset)
	s.expect(colorString + "'x'" + colorReset + ", " + colorNumber + "12" + colorReset)
	s.expect(defaultPrompt)
	s.write("SELEC 1;\r")
	s.expect(colorError + "ERROR 1064" + colorReset)
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		s := startShell(t, "NO_COLOR=", env)
		s.do("SELEC 1;", "ERROR 1064")
		s.mu.Lock()
		if seen := s.seen.String(); strings.Contains(seen, colorKeyword) || strings.Contains(seen, colorError) {
			t.Errorf("%s: colours in %q", env, seen)
		}
		s.mu.Unlock()
	}
}

// TestShellProgress waits for the progress of a long query, and cancels it.
func TestShellProgress(t *testing.T) {
	s := startShell(t)
	s.do(".tpch 0.01", " s)")
	s.write("SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_extendedprice + b.l_discount < b.l_extendedprice * a.l_tax;\r")
	s.expect(" rows/s on cpu, part ")
	s.write(ctrlC)
	s.expect("\r\x1b[K")
	s.expect("Query execution was interrupted")
	s.expect(defaultPrompt)
	s.do("SELECT 6 * 7;", "42 |")
}

// TestShellDotCommands walks through the commands that TestShellCommands does not.
func TestShellDotCommands(t *testing.T) {
	dir := t.TempDir()
	s := startShell(t, "HOME="+dir)
	s.do(".cd "+dir, "")
	for _, step := range [][2]string{
		{"CREATE TABLE d (id INT PRIMARY KEY, s VARCHAR(20)); INSERT INTO d VALUES (1, 'it''s'), (2, NULL);", "OK, 2 rows"},
		{"CREATE VIEW v AS SELECT id FROM d;", "OK"},
		{".indexes d", "PRIMARY"},
		{".indexes", "PRIMARY"},
		{".dump", "INSERT INTO `d` (`id`, `s`) VALUES\r\n(1, 'it\\'s'),\r\n(2, NULL);\r\nCREATE "},
		{".output 'all of it.sql'", ""},
		{".dump d", ""},
		{".output", ""},
		{".shell grep -c INSERT 'all of it.sql'", "\r\n1\r\n"},
		{".once one.csv", ""},
		{".mode csv", ""},
		{"SELECT id FROM d;", "2 rows"},
		{"SELECT id + 40 AS x FROM d;", "x\r\n41\r\n42\r\n"},
		{".shell cat one.csv", "id\r\n1\r\n2\r\n"},
		{".headers off", ""},
		{"SELECT 'no' 'header';", "noheader\r\n1 row"},
		{".headers on", ""},
		{".nullvalue (none)", ""},
		{"SELECT s AS k FROM d WHERE id = 2;", "k\r\n(none)\r\n"},
		{".nullvalue", ""},
		{".import one.csv fresh", "OK, 2 rows"},
		{".import one.csv fresh", "fresh had rows before: 2, and has 4 now\r\n"},
		{".dump fresh d.sql.gz", ".once d.sql.gz before it writes them there"},
		{"SELECT COUNT(*) + 100 AS x FROM fresh;", "x\r\n104\r\n"},
		{".export fresh out.parquet", "OK, 4 rows"},
		{"SELECT COUNT(*) + 200 AS x FROM `out.parquet`;", "x\r\n204\r\n"},
		{".export fresh out.jsonl.gz", "OK, 4 rows"},
		{".shell zcat out.jsonl.gz | head -1", "{\"id\":1}\r\n"},
		{".import out.jsonl.gz d2", "OK, 4 rows"},
		{".import out.jsonl.gz d2", "OK, 4 rows"},
		{"CREATE TABLE d3 (extra INT, id INT); ", "OK"},
		{".import out.jsonl.gz d3", "OK, 4 rows"},
		{"SELECT SUM(id) + 300 AS x, COUNT(extra) FROM d3;", "x,COUNT(extra)\r\n306,0\r\n"},
		{".output packed.csv.gz", ""},
		{"SELECT id + 60 AS x FROM d;", "2 rows"},
		{".output", ""},
		{".shell zcat packed.csv.gz", "x\r\n61\r\n62\r\n"},
		{".once |tr a-z A-Z", ""},
		{"SELECT 'abc' AS x;", "X\r\nABC\r\n"},
		{".once |head -1", ""},
		{"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT REPEAT(n, 3000) FROM r;", "900 rows"},
		{".output |exit 3", ""},
		{"SELECT 1 AS gone;", "1 row"},
		{".output", "|exit 3: exit status 3"},
		{".explain SELECT * FROM d", "└─ scan main.d"},
		{".summarize d", "null_percentage"},
		{".profile on", ""},
		{"SELECT COUNT(*) AS n FROM d;", "scan d"},
		{".profile off", ""},
		{".echo on", ""},
		{"SELECT 1 AS q;", "SELECT 1 AS q;\r\nq\r\n1\r\n"},
		{".echo off", ".echo off"},
		{".print 'hello  there' x", "hello  there x\r\n"},
		{".device cpu", ""},
		{".device", "cpu"},
		{".device abacus", "radish_device"},
		{".devices", "cpu"},
		{".tpch 0.01", "rows affected"},
		{".tpch q6", "revenue\r\n1193053.2253"},
		{".tpch q99", "q1 to q22"},
		{".show", "mode: csv"},
		{".chart bar SELECT id, id * 10 FROM d", "2 20 ████"},
		{".chart line SELECT n_nationkey * n_nationkey FROM nation", "576 ┤"},
		{".chart line SELECT n_name, n_nationkey * n_nationkey FROM nation ORDER BY n_nationkey", "└──────────"},
		{".chart line SELECT n_name, n_nationkey * n_nationkey FROM nation ORDER BY n_nationkey", "ALGERIA  "},
		{".chart line SELECT n_name, n_nationkey * n_nationkey FROM nation ORDER BY n_nationkey", " UNITED STATES\r\n"},
		{".chart line SELECT 3 UNION ALL SELECT 5 UNION ALL SELECT 4", " 3\r\n"},
		{".chart pie SELECT 1", "usage: .chart"},
		{".bail off", ""},
		{".read nothere.sql", "no such file"},
		{".help chart", ".chart bar|line QUERY"},
		{".open elsewhere", "tables of this database would be gone (customer, d, d2, ...)"},
		{".open --discard elsewhere", ""},
		{".tables", "0 rows"},
		{".output /nonexistent/x", "no such file"},
		{".once", "usage: .once FILE"},
		{".width x", "not \"x\""},
		{".prompt 'sql>'", "sql> "},
	} {
		s.write(step[0] + "\r")
		s.expect(step[1])
		if !strings.HasPrefix(step[0], ".prompt") {
			s.expect(defaultPrompt)
		}
	}
	s.write(ctrlD)
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestShellInit runs a file before the first prompt, unless there is to be none.
func TestShellInit(t *testing.T) {
	config := t.TempDir()
	if err := os.MkdirAll(filepath.Join(config, "radish"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "radish", "init.sql"), []byte(".mode csv\nCREATE TABLE fromrc (a INT);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startShell(t, "XDG_CONFIG_HOME="+config)
	s.do(".tables", "fromrc")
	cmd := exec.Command(binary, "-c", "SHOW TABLES")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "fromrc") {
		t.Errorf("a batch reads the shell's file: %s, %v", out, err)
	}
}
