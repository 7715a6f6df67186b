package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// binary is the built command.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "radish")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "radish")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// runRadish runs the command.
func runRadish(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFormats prints one result in every format. The values are those that could go wrong.
func TestFormats(t *testing.T) {
	const query = "SELECT 1 AS n, 'a,b' AS s, '' AS s, NULL AS z, -1.50 AS d, 'x|\"\\n\\t\\\\' AS q, '日本' AS w, DATE '2020-01-02' AS day UNION ALL " +
		"SELECT 200, 'c', 'd', NULL, 10.25, 'e', 'f', DATE '1999-12-31' ORDER BY 1"
	for format, want := range map[string]string{
		"table": `
+-----+-----+---+------+-------+----------+------+------------+
|   n | s   | s | z    |     d | q        | w    | day        |
+-----+-----+---+------+-------+----------+------+------------+
|   1 | a,b |   | NULL | -1.50 | x|"\n\t\ | 日本 | 2020-01-02 |
| 200 | c   | d | NULL | 10.25 | e        | f    | 1999-12-31 |
+-----+-----+---+------+-------+----------+------+------------+
`,
		"csv": `
n,s,s,z,d,q,w,day
1,"a,b","",,-1.50,"x|""
	\",日本,2020-01-02
200,c,d,,10.25,e,f,1999-12-31
`,
		"tsv": `
n	s	s	z	d	q	w	day
1	a,b		\N	-1.50	x|"\n\t\\	日本	2020-01-02
200	c	d	\N	10.25	e	f	1999-12-31
`,
		"json": `
[
{"n":1,"s":"a,b","s_2":"","z":null,"d":-1.50,"q":"x|\"\n\t\\","w":"日本","day":"2020-01-02"},
{"n":200,"s":"c","s_2":"d","z":null,"d":10.25,"q":"e","w":"f","day":"1999-12-31"}
]
`,
		"jsonlines": `
{"n":1,"s":"a,b","s_2":"","z":null,"d":-1.50,"q":"x|\"\n\t\\","w":"日本","day":"2020-01-02"}
{"n":200,"s":"c","s_2":"d","z":null,"d":10.25,"q":"e","w":"f","day":"1999-12-31"}
`,
		"markdown": `
| n | s | s | z | d | q | w | day |
| ---: | --- | --- | --- | ---: | --- | --- | --- |
| 1 | a,b |  | NULL | -1.50 | x\|"<br>	\ | 日本 | 2020-01-02 |
| 200 | c | d | NULL | 10.25 | e | f | 1999-12-31 |
`,
		"vertical": `
*************************** 1. row ***************************
  n: 1
  s: a,b
  s: 
  z: NULL
  d: -1.50
  q: x|"
	\
  w: 日本
day: 2020-01-02
*************************** 2. row ***************************
  n: 200
  s: c
  s: d
  z: NULL
  d: 10.25
  q: e
  w: f
day: 1999-12-31
`,
	} {
		got, stderr, code := runRadish(t, "", "--format", format, "-c", query)
		if code != 0 || stderr != "" {
			t.Errorf("%s: exit %d, %s", format, code, stderr)
		}
		if "\n"+got != want {
			t.Errorf("%s: got\n%s\nwant%s", format, got, want)
		}
	}
}

// TestSeveralResults prints two results one behind the other: they stay apart where the format has no heads of its own.
func TestSeveralResults(t *testing.T) {
	for format, want := range map[string]string{
		"markdown": "| a |\n| --- |\n| &lt;b> |\n\n| 2 |\n| ---: |\n| 2 |\n",
		"html":     "<table>\n<tr><th>a</th></tr>\n<tr><td>&lt;b&gt;</td></tr>\n</table>\n<table>\n<tr><th>2</th></tr>\n<tr><td align=\"right\">2</td></tr>\n</table>\n",
	} {
		got, stderr, code := runRadish(t, "", "--format", format, "-c", "SELECT '<b>' AS a; DO 1; SELECT 2")
		if code != 0 || got != want {
			t.Errorf("%s: exit %d, %s\ngot\n%s\nwant\n%s", format, code, stderr, got, want)
		}
	}
}

// TestJSONIsValid lets encoding/json read what is printed, for every type and for results without rows.
func TestJSONIsValid(t *testing.T) {
	out, stderr, code := runRadish(t, `
		CREATE TABLE t (a DECIMAL(38,10), b DOUBLE, c FLOAT, d YEAR, e BLOB, f JSON, g TIME, h BIGINT UNSIGNED, i BOOLEAN);
		INSERT INTO t VALUES (-0.5, -1e300, 1e20, '2001', x'00ff', '{"k": [1, null]}', '-01:02:03', 18446744073709551615, true),
			(NULL, 1e-7, NULL, NULL, 'text', '"s"', NULL, NULL, NULL);
		SELECT * FROM t;
		SELECT * FROM t WHERE FALSE;`, "--format=json")
	if code != 0 {
		t.Fatal(stderr)
	}
	decoder := json.NewDecoder(strings.NewReader(out))
	var first, second []map[string]any
	if err := decoder.Decode(&first); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if err := decoder.Decode(&second); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(first) != 2 || len(second) != 0 || first[0]["b"] != -1e300 || first[0]["e"] != "0x00FF" || first[1]["e"] != "text" ||
		fmt.Sprint(first[0]["f"]) != "map[k:[1 <nil>]]" || first[0]["d"] != 2001.0 || first[1]["a"] != nil {
		t.Errorf("got %v and %v", first, second)
	}
}

func TestExitCodes(t *testing.T) {
	good := writeFile(t, "good.sql", "SELECT 1;")
	for _, tt := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"-c", "SELECT 1"}, 0, ""},
		{[]string{"-c", ""}, 0, ""},
		{[]string{"-c", "SELECT nosuch"}, 1, "Unknown column 'nosuch'"},
		{[]string{"-c", "SELEC 1"}, 1, "syntax"},
		{[]string{good}, 0, ""},
		{[]string{good, "--format", "csv"}, 0, ""},
		{[]string{"nosuch.sql"}, 1, "nosuch.sql"},
		{[]string{t.TempDir()}, 1, "is a directory"},
		{[]string{"--nosuch"}, 2, "nosuch"},
		{[]string{"--format", "jsn"}, 2, "did you mean json?"},
		{[]string{"--format", "xml"}, 2, "table, box"},
		{[]string{"--threads", "many"}, 2, "threads"},
		{[]string{"--threads", "-1"}, 2, "between 1 and 1024"},
		{[]string{"--threads", "2000"}, 2, "between 1 and 1024"},
		{[]string{"--memory-limit", "much"}, 2, "memory-limit"},
		{[]string{"--gpu-memory-limit", "much"}, 2, "gpu-memory-limit"},
		{[]string{"--device", "abacus"}, 2, "it can be auto, cpu, gpu or gpu_strict"},
		{[]string{"-c"}, 2, "-c"},
		{[]string{"--help"}, 0, ""},
		{[]string{"--version"}, 0, ""},
	} {
		stdout, stderr, code := runRadish(t, "", tt.args...)
		if code != tt.code || !strings.Contains(stderr, tt.stderr) || tt.code != 0 && stdout != "" {
			t.Errorf("%q: exit %d, want %d; stdout %q, stderr %q", tt.args, code, tt.code, stdout, stderr)
		}
	}
}

// TestInputsInOrder mixes -c, -f, files and standard input; all run in one session.
func TestInputsInOrder(t *testing.T) {
	a := writeFile(t, "a.sql", "\ufeffINSERT INTO t VALUES (2); SET sql_mode = 'ANSI_QUOTES';")
	b := writeFile(t, "b.sql", `INSERT INTO "t" VALUES (3) -- no semicolon`)
	out, stderr, code := runRadish(t, "SELECT GROUP_CONCAT(a ORDER BY a) AS list FROM t", "--format", "csv",
		"-c", "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)", "-f", a, b, "-")
	if want := "list\n\"1,2,3\"\n"; out != want || code != 0 {
		t.Errorf("got %q, exit %d, %s", out, code, stderr)
	}
}

func TestErrorPlaces(t *testing.T) {
	file := writeFile(t, "query.sql", "SELECT 1;\n\n/* a\n comment */ SELECT 2; SELECT a,\n  nosuch\nFROM (SELECT 1 AS a) t;\nSELECT 3;\n")
	out, stderr, code := runRadish(t, "", "--format", "csv", file)
	if code != 1 || out != "1\n1\n2\n2\n" {
		t.Errorf("exit %d, %q", code, out)
	}
	want := file + ": ERROR 1054 (42S22) at line 5, column 3: Unknown column 'nosuch' in 'field list'\n    nosuch\n    ^\n"
	if stderr != want {
		t.Errorf("got  %q\nwant %q", stderr, want)
	}
	// An error that comes while a statement runs has the statement's position at least.
	_, stderr, code = runRadish(t, "SELECT 1;\nSELECT 2; CREATE TABLE t (a INT PRIMARY KEY);\n INSERT INTO t VALUES (7), (7);")
	if code != 1 || !strings.HasPrefix(stderr, "stdin: ERROR 1062 (23000) at line 3, column 2: ") || !strings.Contains(stderr, "\n   INSERT INTO") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	_, stderr, _ = runRadish(t, "SELECT 1;\n SELECT 'abc")
	if !strings.HasPrefix(stderr, "stdin: ERROR 1064 (42000) at line 2, column 9") {
		t.Errorf("got %q", stderr)
	}
}

func TestWarnings(t *testing.T) {
	out, stderr, code := runRadish(t, "SELECT 1;\nSELECT 1/0 AS x", "--format", "csv")
	if code != 0 || out != "1\n1\nx\n\"\"\n" && out != "1\n1\nx\n\n" {
		t.Errorf("exit %d, %q", code, out)
	}
	if stderr != "stdin:2: Warning 1365: Division by 0\n" {
		t.Errorf("got %q", stderr)
	}
	if _, stderr, _ = runRadish(t, "CREATE TABLE t (a TINYINT); INSERT IGNORE INTO t VALUES (300), (301), (302), (303), (304), (305), (306)"); strings.Count(stderr, "Warning 1264") != 5 || !strings.HasSuffix(stderr, "... and 2 more\n") {
		t.Errorf("seven warnings: %q", stderr)
	}
	// SHOW WARNINGS prints them on standard output, once.
	out, stderr, _ = runRadish(t, "SELECT 1/0 AS x; SHOW WARNINGS", "--format", "tsv")
	if out != "x\n\\N\nLevel\tCode\tMessage\nWarning\t1365\tDivision by 0\n" || strings.Count(stderr, "1365") != 1 {
		t.Errorf("got %q and %q", out, stderr)
	}
}

// TestExplainIsPlain checks that a plan is printed without a box, and in the other formats as any result.
func TestExplainIsPlain(t *testing.T) {
	out, stderr, _ := runRadish(t, "EXPLAIN SELECT 1; SELECT 2")
	if !strings.HasPrefix(out, "rows  plan\n  ~1  result\n      └─ project 1\n") || !strings.HasSuffix(out, "\n+---+\n| 2 |\n+---+\n| 2 |\n+---+\n") {
		t.Errorf("got\n%s%s", out, stderr)
	}
	out, stderr, _ = runRadish(t, "EXPLAIN FORMAT=JSON SELECT 1")
	if !json.Valid([]byte(out)) {
		t.Errorf("got\n%s%s", out, stderr)
	}
	out, _, _ = runRadish(t, "EXPLAIN SELECT 1", "--format", "csv")
	if !strings.HasPrefix(out, "EXPLAIN\nrows  plan\n") {
		t.Errorf("got\n%s", out)
	}
	out, stderr, _ = runRadish(t, "CREATE TABLE t (a INT); DESCRIBE t; EXPLAIN t")
	if n := strings.Count(out, "| Field "); n != 2 {
		t.Errorf("got\n%s%s", out, stderr)
	}
}

// TestFlushAfterEachStatement speaks to the command through pipes: it waits for each answer before it goes on.
func TestFlushAfterEachStatement(t *testing.T) {
	cmd := exec.Command(binary, "--format", "csv")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer watchdog.Stop()
	for i, text := range []string{"SELECT 1;\n", "SELECT\n 2; SELECT", " 3;", "SELECT ';", "4';"} {
		want := []string{"1\n1\n", "2\n2\n", "3\n3\n", "", ";4\n;4\n"}[i]
		if _, err := io.WriteString(in, text); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != want {
			t.Fatalf("after %q: %q, %v", text, got, err)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// slowQuery compares every pair of 60,000 rows.
const slowQuery = "CALL tpch_generate(0.01); SELECT 'ready'; SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_extendedprice + b.l_discount < b.l_extendedprice * a.l_tax;"

func TestInterrupt(t *testing.T) {
	for try := range 8 {
		stderr := interruptSlowQuery(t, 200*time.Millisecond<<try)
		if strings.Contains(stderr, "interrupted") {
			return
		}
		t.Logf("stderr is %q: the command may not have come to the slow statement", stderr)
	}
	t.Error("no statement was interrupted")
}

// interruptSlowQuery interrupts a command so long after it has come to its slow statement or nearly so, and returns what the command says of it.
func interruptSlowQuery(t *testing.T, after time.Duration) string {
	t.Helper()
	cmd := exec.Command(binary, "--format", "tsv", "-c", slowQuery)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seen []byte
	for buf := make([]byte, 1024); !bytes.Contains(seen, []byte("ready\nready")); {
		n, err := out.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q: %s", err, seen, stderr.String())
		}
		seen = append(seen, buf[:n]...)
	}
	time.Sleep(after)
	start := time.Now()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d, %s", code, stderr.String())
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	return stderr.String()
}

// TestBrokenPipe closes the pipe that results go to: the command ends at once and says nothing.
func TestBrokenPipe(t *testing.T) {
	cmd := exec.Command(binary, "--format", "csv", "-c", "CALL tpch_generate(0.01); SELECT a.l_orderkey FROM lineitem a, lineitem b")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100_000)); err != nil {
		t.Fatal(err, stderr.String())
	}
	out.Close()
	watchdog := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer watchdog.Stop()
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGPIPE {
		t.Errorf("it ended with %v", err)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr is %q", stderr.String())
	}
}
