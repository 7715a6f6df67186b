package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestCheckEverything has an error of nearly every kind of statement and command, and work that check must not do. The comment behind
// a line says that check has to report it.
func TestCheckEverything(t *testing.T) {
	dir := t.TempDir()
	script := `CREATE TABLE t (a INT, b VARCHAR(10));
LOAD DATA INFILE 'f' INTO TABLE t (zz); -- wrong
LOAD DATA INFILE 'f' INTO TABLE t (a, @v) SET b = UPPER(@v);
LOAD DATA INFILE 'f' INTO TABLE t (a, @v) SET b = NOPE(@v); -- wrong
SHOW COLUMNS FROM nope; -- wrong
EXPLAIN SELECT nope FROM t; -- wrong
EXPLAIN ANALYZE SELECT SLEEP(9);
SHOW TABLES WHERE SLEEP(9);
DO nope(); -- wrong
DO SLEEP(9);
TRUNCATE nope; -- wrong
EXECUTE q; -- wrong
PREPARE p FROM 'SELECT a FROM t WHERE a = ?';
EXECUTE p; -- wrong
EXECUTE p USING @never; -- wrong
PREPARE p FROM @never; -- wrong
SET @a = 1, @text = (SELECT 'SELECT 1');
EXECUTE p USING @a;
PREPARE p FROM @text;
EXECUTE p;
ROLLBACK TO b; -- wrong
GRANT ALL ON *.* TO a; -- wrong
SET @a = (SELECT SLEEP(9)), @b = SLEEP(9);
SET @x = 3, @y = nope(); -- wrong
SET SESSION max_execution_time = SLEEP(9);
SHOW TABLES WHERE SLEEP(9);
CREATE TABLE s AS SELECT SLEEP(9) AS x, (SELECT SLEEP(9)) AS y;
SELECT x, y FROM s;
SELECT z FROM s; -- wrong
CALL radish_calibrate();
SELECT * FROM lineitem; -- wrong
CALL nope(); -- wrong
CALL tpch_generate(-1); -- wrong
CALL tpch_generate(1000);
SELECT l_orderkey FROM lineitem;
/*!50000 CREATE TABLE x (b INT) */; SELECT b FROM x;
SELECT nope FROM t INTO OUTFILE 'DIR/never'; -- wrong
SELECT a FROM t INTO OUTFILE 'DIR/never';
IMPORT INTO t (zz) FROM 'x.csv'; -- wrong
IMPORT INTO t FROM SELECT nope, 1 FROM t; -- wrong
UPDATE t SET nope = 1; -- wrong
KILL 5;
.mode foo
.read DIR/other.sql
.read nothere.sql
.import nothere.csv u
.export nope DIR/never.csv
.explain SELECT nope FROM t
.chart bar SELECT nope FROM t
.chart bar SELECT a, SLEEP(9) FROM t
.tables nope
.schema nope
.indexes nope
.tpch x
.shell touch DIR/never
.output DIR/never
.once DIR/never
.quit
SELECT nope FROM t; -- wrong
`
	wrongCommands := []string{".mode foo", ".read nothere", ".import", ".export", ".explain", ".chart bar SELECT nope", ".schema", ".indexes", ".tpch"}
	var want []string
	for i, line := range strings.Split(script, "\n") {
		if strings.HasSuffix(line, "-- wrong") || slices.ContainsFunc(wrongCommands, func(c string) bool { return strings.HasPrefix(line, c) }) {
			want = append(want, "script.sql "+strconv.Itoa(i+1))
		}
		if strings.HasPrefix(line, ".read DIR") {
			want = append(want, "other.sql 2")
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "other.sql"), []byte("SELECT a FROM t;\nSELECT nope FROM t;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := runRadish(t, "", "check", writeFile(t, "script.sql", strings.ReplaceAll(script, "DIR", dir)))
	if code != exitFailed {
		t.Errorf("exit %d", code)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\S*?(\w+\.sql)(?:: ERROR .* at line (\d+)|:(\d+): )`).FindAllStringSubmatch(stderr, -1) {
		got = append(got, m[1]+" "+m[2]+m[3])
	}
	if !slices.Equal(got, want) {
		t.Errorf("errors at\n%v\nwant\n%v\nin\n%s", got, want, stderr)
	}
	if !strings.Contains(stderr, strconv.Itoa(len(want))+" wrong\n") {
		t.Errorf("the count is wrong in\n%s", stderr)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("files were written: %v, %v", list, err)
	}
}

func TestCommandMistakes(t *testing.T) {
	file := writeFile(t, "there.txt", "")
	for _, tc := range []struct{ script, stdout, stderr string }{
		{"SELECT 1 AS a\\g SELECT 2 AS b\\G SELECT 3 /* ; \\g */ AS c\\g\n.print end", "a\n1\n*************************** 1. row ***************************\nb: 2\nc\n3\nend\n", ""},
		{".\n.  \n.1\n.print end", "end\n", "SCRIPT:1: there is no command .; .help lists them\nSCRIPT:2: there is no command .; .help lists them\nSCRIPT:3: there is no command .1; .help lists them\n"},
		{"SELECT 1 AS a;\n.indexes nope\n", "a\n1\n", "SCRIPT:2: ERROR 1146 (42S02): Table 'main.nope' doesn't exist\n"},
		{"\n.import /nothere.csv t\n.export nope x.csv\n.read\n", "", "SCRIPT:2: ERROR 1017 (HY000): cannot read '/nothere.csv': no such file or directory\nSCRIPT:3: ERROR 1146 (42S02): Table 'main.nope' doesn't exist\nSCRIPT:4: usage: .read FILE\n"},
		{"SELECT 1 AS a;\n  .explain SELECT nope\n", "a\n1\n", "SCRIPT: ERROR 1054 (42S22) at line 2, column 19: Unknown column 'nope' in 'field list'\n    .explain SELECT nope\n                    ^\n"},
		{".chart bar SELECT NULL, 2 UNION ALL SELECT 'x', NULL", "NULL    2 ██", ""},
		{".chart bar SELECT 1e308 UNION ALL SELECT -1e308", "  1e+308                     ", ""},
		{".chart line SELECT 1e308 UNION ALL SELECT -1e308", "     1e+308 ┼╮", ""},
		{".chart line SELECT 0.001 UNION ALL SELECT 0.002", "     0.002 ┤", ""},
		{".chart line SELECT NULL", "", "no numbers to draw"},
		{".chart bar SELECT DATE '2024-01-01', 3 UNION ALL SELECT DATE '2024-01-02', 1", "2024-01-01 3 ██", ""},
		{".open x.db", "", "SCRIPT:1: x.db looks like a file, but databases are kept in memory only"},
		{".open " + file, "", "looks like a file"},
		{".open a/b", "", "looks like a file"},
		{"CREATE TABLE oak (a INT); CREATE TABLE ash (a INT); CREATE DATABASE d; CREATE TABLE d.elm (a INT);\n.tables 'o%'\n.tables D\n.databases\n.system echo ok", "Tables_in_main\noak\nTables_in_d\nelm\nDatabase\nd\nmain\ninformation_schema\nok\n", ""},
		{"CREATE TABLE t (a INT);\n.open --discard plain\nSHOW TABLES;", "", ""},
	} {
		name := writeFile(t, "s.sql", tc.script)
		stdout, stderr, _ := runRadish(t, "", "--format", "csv", "--no-bail", name)
		tc.stderr, stderr = strings.ReplaceAll(tc.stderr, "SCRIPT", name), strings.ReplaceAll(stderr, "SCRIPT.csv", name+".csv")
		if strings.HasPrefix(tc.script, ".chart") || strings.HasPrefix(tc.script, ".open") {
			if !strings.HasPrefix(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("%q: %q, %q", tc.script, stdout, stderr)
			}
			continue
		}
		if tc.stdout != "" && stdout != tc.stdout || stderr != tc.stderr {
			t.Errorf("%q:\n%s%s\nwant\n%s%s", tc.script, stdout, stderr, tc.stdout, tc.stderr)
		}
	}
	for script, want := range map[string]int{".quit 3": 3, "SELECT nope;\n.exit 0": 0, "SELECT nope;\n.quit": 1, ".quit": 0, ".quit x": 1, ".quit 256": 1} {
		if _, stderr, code := runRadish(t, script, "--no-bail"); code != want {
			t.Errorf("%q: exit %d, want %d: %s", script, code, want, stderr)
		}
	}
}

// TestDumpRoundTrip reads a dump in a session with other settings, and dumps that: the two are the same.
func TestDumpRoundTrip(t *testing.T) {
	const made = `SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '+02:00', foreign_key_checks = 0;
CREATE TABLE zero (id INT PRIMARY KEY AUTO_INCREMENT, v DATE); INSERT INTO zero VALUES (1, '2024-01-01'), (0, '2024-01-02');
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id));
CREATE TABLE parent (id INT PRIMARY KEY, t TIMESTAMP, s VARCHAR(20), g INT AS (id * 2));
INSERT INTO parent (id, t, s) VALUES (7, '2024-07-01 12:00:00', 'it''s \\ "x" \n'); INSERT INTO child VALUES (1, 7);
CREATE TABLE t (a INT); CREATE TABLE f (f FLOAT); INSERT INTO f VALUES (16777217), (1.2345678), (3.4028234e38), (1e-45), (0.1), (-2e9);
CREATE VIEW v1 AS SELECT a FROM t; CREATE VIEW v2 AS SELECT a FROM v1; CREATE VIEW a0 AS SELECT v1.a FROM v1 JOIN (SELECT a FROM v2) AS x ON TRUE;
`
	first, stderr, code := runRadish(t, made+".dump\n", "--format", "csv")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"(0, '2024-01-02')", "(7, '2024-07-01 10:00:00', 'it\\'s", "CREATE VIEW `v1`", "SET time_zone = @old_time_zone;\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is missing in\n%s", want, first)
		}
	}
	second, stderr, code := runRadish(t, "SET time_zone = '-05:00';\n"+first+".dump\n", "--format", "csv")
	if code != 0 || stderr != "" || second != first {
		t.Errorf("exit %d, %s: the dump of what a dump makes is\n%s\nnot\n%s", code, stderr, second, first)
	}
	if _, stderr, _ := runRadish(t, "CREATE TABLE s (a INT); CREATE TEMPORARY TABLE s (b INT);\n.dump\n", "--format", "csv"); !strings.Contains(stderr, "a TEMPORARY table hides the table `s`") {
		t.Errorf("a table that is hidden: %s", stderr)
	}
	exact, _, _ := runRadish(t, made+"CREATE TABLE before_it AS SELECT f FROM f; DROP TABLE f;\n"+first[strings.Index(first, "CREATE TABLE `f`"):strings.Index(first, "CREATE TABLE `parent`")]+
		"SELECT COUNT(*) AS n FROM f JOIN before_it AS b ON f.f = b.f;", "--format", "csv")
	if exact != "n\n6\n" {
		t.Errorf("FLOATs that are the same after a dump: %s", exact)
	}
	special, stderr, code := runRadish(t, "CREATE TABLE x (d DOUBLE DEFAULT 'nan', f FLOAT); INSERT INTO x VALUES ('NaN', '-inf'), ('Infinity', 'nan'), (-0e0, -0e0), (0, 0), (5e-324, 1e-45), (-1.7976931348623157e308, 3);\n.dump\n", "--format", "csv")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	again, stderr, code := runRadish(t, special+"SELECT * FROM x;\n.dump\n", "--format", "csv")
	if want := "d,f\nNaN,-Infinity\nInfinity,NaN\n-0,-0\n0,0\n5e-324,1.4013e-45\n-1.7976931348623157e308,3\n" + special; code != 0 || again != want {
		t.Errorf("exit %d, %s: special doubles after a dump:\n%s\nwant\n%s", code, stderr, again, want)
	}
	mode, _, _ := runRadish(t, first+"SELECT @@time_zone = 'SYSTEM' AND @@sql_mode LIKE '%STRICT%' AND @@foreign_key_checks AS same;", "--format", "csv")
	if mode != "same\n1\n" {
		t.Errorf("settings after a dump: %s", mode)
	}
	_, stderr, _ = runRadish(t, "\n\nPREPARE p FROM 'SELECT nope FROM nope';", "--format", "csv")
	if !strings.HasPrefix(stderr, "stdin:3: ERROR 1146 (42S02) at line 1, column 18") {
		t.Errorf("an error in the text of PREPARE: %s", stderr)
	}
}

// TestImportByNames appends files to a table: columns go by their names, whatever the order, by their positions if the file knows none of the names, and
// an error tells of files between the two.
func TestImportByNames(t *testing.T) {
	const table = "CREATE TABLE t (id INT, name VARCHAR(9), n INT DEFAULT 9);\n"
	for text, want := range map[string]string{
		"name,ID,n\nx,1,2\n": "1,x,2\n", "name,id\nx,1\n": "1,x,9\n", "1,x,2\n": "1,x,2\n", "a,b,c\n1,x,2\n": "1,x,2\n",
		"name,id,m\nx,1,2\n": "the table has no 'm'", "1,x\n": "Column count doesn't match",
	} {
		stdout, stderr, code := runRadish(t, table+".import "+writeFile(t, "f.csv", text)+" t\nSELECT * FROM t;", "--format", "csv")
		if code == 0 && stdout != "id,name,n\n"+want || code != 0 && !strings.Contains(stderr, want) {
			t.Errorf("%q: exit %d, %q, %s", text, code, stdout, stderr)
		}
	}
}

// TestBackupRoundTrip restores a backup in a session with other settings: a dump of it is the one of what was backed up.
func TestBackupRoundTrip(t *testing.T) {
	const made = `SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '+02:00', foreign_key_checks = 0;
CREATE TABLE zero (id INT PRIMARY KEY AUTO_INCREMENT, v DATE); INSERT INTO zero VALUES (1, '2024-01-01'), (0, '2024-01-02');
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id));
CREATE TABLE parent (id INT PRIMARY KEY, t TIMESTAMP(3), s VARCHAR(20), g INT AS (id * 2));
INSERT INTO parent (id, t, s) VALUES (7, '2024-07-01 12:00:00.25', 'it''s \\ "x" \n'); INSERT INTO child VALUES (1, 7);
CREATE TABLE ` + "`a/b c`" + ` (t TIME(2), d DECIMAL(38,10), e ENUM('x','y'), j JSON, b BLOB, f FLOAT, x DOUBLE, y YEAR, u BIGINT UNSIGNED, dt DATETIME(6));
INSERT INTO ` + "`a/b c`" + ` VALUES ('-30:15:10.25', -0.0000000001, 'y', '{"a": [1]}', x'00ff', 1.2345678, -1e-300, 2001, 18446744073709551615, '2024-02-29 23:59:59.999999'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE none (a INT); CREATE VIEW v2 AS SELECT a FROM none; CREATE VIEW a0 AS SELECT id FROM zero;
`
	folder := filepath.Join(t.TempDir(), "saved")
	first, stderr, code := runRadish(t, made+".backup '"+folder+"'\n.dump\n", "--format", "csv")
	if code != 0 || !strings.Contains(stderr, "5 tables and 2 views") {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	second, stderr, code := runRadish(t, "SET time_zone = '-05:00';\n.restore "+folder+"\n.dump\n", "--format", "csv")
	if code != 0 || second != first {
		t.Errorf("exit %d, %s: what is restored is\n%s\nnot\n%s", code, stderr, second, first)
	}
	for script, want := range map[string]string{
		".backup " + folder: "is not empty", ".restore " + t.TempDir(): "has no schema.sql", ".restore /nothere": "no such file", "CREATE TABLE zero (a INT);\n.restore " + folder: "already exists", ".backup": "usage",
	} {
		if _, stderr, code := runRadish(t, script); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s", script, code, stderr)
		}
	}
	// What is in the way is named before anything is made, and the way that the message tells works.
	out, stderr, code := runRadish(t, "CREATE TABLE Zero (a INT);\n.restore "+folder+"\n", "--format", "csv")
	if code != 1 || !strings.Contains(stderr, "`Zero` already exists") || !strings.Contains(stderr, "CREATE DATABASE copy; USE copy;") {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
	out, stderr, code = runRadish(t, "CREATE TABLE Zero (a INT); CREATE DATABASE copy; USE copy;\n.restore "+folder+"\nSELECT CONCAT('rows: ', COUNT(*)) FROM zero;\n", "--format", "csv")
	if code != 0 || !strings.Contains(out, "rows: 2") {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
	for line, want := range map[string]string{".backup " + folder + "2": "is refused", ".restore " + folder: "is refused"} {
		if _, stderr, code := runRadish(t, line, "--safe"); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s", line, code, stderr)
		}
	}
	if _, stderr, code := runRadish(t, ".restore "+folder+"\nSELECT u FROM `a/b c`;\n", "check", "-"); code != 0 {
		t.Errorf("check: exit %d, %s", code, stderr)
	}
}

func TestOutputFlagCompresses(t *testing.T) {
	for _, name := range []string{"a.csv.gz", "a.jsonl.zst", "a.csv"} {
		path := filepath.Join(t.TempDir(), name)
		format := "csv"
		if strings.Contains(name, "json") {
			format = "jsonlines"
		}
		if _, stderr, code := runRadish(t, "", "--format", format, "--output", path, "-c", "SELECT 7 AS x UNION ALL SELECT 8"); code != 0 || stderr != "" {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		if stdout, stderr, _ := runRadish(t, "SELECT SUM(x) AS s FROM `"+path+"`", "--format", "csv"); stdout != "s\n15\n" {
			t.Errorf("%s: %s%s", name, stdout, stderr)
		}
		text, err := os.ReadFile(path)
		if err != nil || strings.HasPrefix(string(text), "x\n") != (name == "a.csv") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestRowsAsTheyCome reads the first rows of a result that has no end in sight, and goes.
func TestRowsAsTheyCome(t *testing.T) {
	for _, format := range []string{"csv", "tsv", "jsonlines", "json", "vertical"} {
		cmd := exec.Command(binary, "--format", format, "-c", "CALL tpch_generate(0.01); SELECT a.l_orderkey, a.l_comment, b.l_comment FROM lineitem a, lineitem b")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		if n, err := io.ReadFull(out, make([]byte, 1<<20)); err != nil {
			t.Errorf("%s: %d bytes, %v", format, n, err)
		}
		_ = out.Close() // now it ends, as TestBrokenPipe has it
		_ = cmd.Wait()
		timer.Stop()
	}
}
