package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOutputFollowsTheName writes a result to a file of every ending, by each way that there is, and reads the data back.
func TestOutputFollowsTheName(t *testing.T) {
	const query = "SELECT 1 AS a, 'x' AS b, NULL AS c UNION ALL SELECT 2, 'it''s', 2.5"
	starts := map[string]string{
		"o.md": "| a | b | c |", "o.html": "<table>", "o.sql": "INSERT INTO ", "o.json": "[\n{\"a\":1", "o.txt": "+---+", "o": "+---+", "o.csv": "a,b,c\n1,x,\n", "o.tsv": "a\tb\tc\n1\tx\t\n", "o.psv": "a|b|c\n",
		"o.jsonl": "{\"a\":1", "o.parquet": "PAR1", "o.pq": "PAR1", "o.arrow": "ARROW1", "o.csv.gz": "\x1f\x8b", "o.jsonl.zst": "\x28\xb5\x2f\xfd", "o.txt.gz": "\x1f\x8b",
	}
	for name, start := range starts {
		for way, run := range map[string]func(path string) (string, int){
			"--output": func(path string) (string, int) {
				_, stderr, code := runRadish(t, "", "--output", path, "-c", query)
				return stderr, code
			},
			".output": func(path string) (string, int) {
				_, stderr, code := runRadish(t, ".output "+path+"\n"+query+";\n.output\nSELECT 7;")
				return stderr, code
			},
			".once": func(path string) (string, int) {
				_, stderr, code := runRadish(t, ".once "+path+"\n"+query+";\nSELECT 7;")
				return stderr, code
			},
		} {
			path := filepath.Join(t.TempDir(), name)
			for range 2 { // the second takes the place of the first
				if stderr, code := run(path); code != 0 || stderr != "" {
					t.Fatalf("%s %s: exit %d, %s", way, name, code, stderr)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil || !strings.HasPrefix(string(text), start) {
				t.Errorf("%s %s: %.40q, %v", way, name, text, err)
			}
			if strings.HasPrefix(name, "o.txt") || slices.Contains([]string{"o.md", "o.html", "o.sql", "o"}, name) {
				continue
			}
			if got, stderr, _ := runRadish(t, "", "--format", "csv", "-c", "SELECT SUM(a) AS a, MIN(b) AS b, COUNT(c) AS c, SUM(c) AS d FROM `"+path+"`"); got != "a,b,c,d\n3,it's,1,2.5\n" {
				t.Errorf("%s %s is read as %q %s", way, name, got, stderr)
			}
		}
	}
	for name, want := range map[string]string{"o.xlsx": "no format has the ending '.xlsx'", "o.csv.bz2": "bzip2 is not supported", "o.parquet.gz": "only the parts"} {
		path := filepath.Join(t.TempDir(), name)
		for _, args := range [][]string{{"--output", path, "-c", "SELECT 1"}, {"-c", ".output " + path}, {"-c", ".once " + path}, {"-c", "CREATE TABLE t (a INT);\n.export t " + path}, {"-c", "SELECT 1 INTO OUTFILE '" + path + "'"}} {
			if _, stderr, code := runRadish(t, "", args...); code == 0 || !strings.Contains(stderr, want) {
				t.Errorf("%q: exit %d, %s", args, code, stderr)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	path := filepath.Join(t.TempDir(), "o.dat")
	if _, stderr, code := runRadish(t, "", "--format", "csv", "--output", path, "-c", "SELECT 1 AS a"); code != 0 {
		t.Errorf("a format by its name: %s", stderr)
	}
	for _, tc := range [][]string{
		{"--format", "json", "--output", filepath.Join(t.TempDir(), "o.csv"), "-c", "SELECT 1"}, {"--format", "csv", "--output", filepath.Join(t.TempDir(), "o.parquet"), "-c", "SELECT 1"},
		{"-c", ".output " + filepath.Join(t.TempDir(), "o.csv") + "\n.mode json"}, {"-c", ".output " + filepath.Join(t.TempDir(), "o.parquet") + "\nSELECT 1; SELECT 2"},
		{"--output", filepath.Join(t.TempDir(), "o.parquet"), "-c", "DO 1"},
	} {
		if _, stderr, code := runRadish(t, "", tc...); code == 0 || stderr == "" {
			t.Errorf("%q: exit %d, %q", tc, code, stderr)
		}
	}
}

// TestOutputIsWholeOrNotThere ends runs by errors and by a signal while they write: what was there before is there after, and nothing else.
func TestOutputIsWholeOrNotThere(t *testing.T) {
	const made = "CALL tpch_generate(0.01);\n"
	for _, name := range []string{"o.txt", "o.csv.gz", "o.parquet", "o.sql"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		for script, says := range map[string]string{
			".output " + path + "\nSELECT 1;\nSELECT nope;\n":                                                                "is not written",
			".once " + path + "\nSELECT nope;\n":                                                                             "nope",
			made + ".once " + path + "\nSELECT 9223372036854725807 + l_orderkey FROM lineitem;\n":                            "out of range",
			made + ".output " + path + "\nSELECT 9223372036854725807 + l_orderkey FROM lineitem;\n":                          "is not written",
			".bail off\n" + made + ".output " + path + "\nSELECT 9223372036854725807 + l_orderkey FROM lineitem;\n.output\n": "is not w",
		} {
			if _, stderr, code := runRadish(t, script); code != 1 || !strings.Contains(stderr, says) {
				t.Errorf("%s, %q: exit %d, %s", name, script, code, stderr)
			}
		}
		if name == "o.sql" {
			interrupt(t, dir, exec.Command(binary, "-c", "CALL tpch_generate(0.3);\n.output "+path+"\n.dump\n"))
		} else {
			interrupt(t, dir, exec.Command(binary, "--output", path, "-c", made+"SELECT a.l_comment, b.l_orderkey FROM lineitem a, lineitem b"))
		}
		text, err := os.ReadFile(path)
		list, _ := os.ReadDir(dir)
		if err != nil || len(list) != 1 || string(text) != "before" {
			t.Errorf("%s: %.20q, %v, %v", name, text, err, list)
		}
	}
}

// interrupt sends a SIGINT to a command that writes a file of a folder.
func interrupt(t *testing.T, dir string, cmd *exec.Cmd) {
	t.Helper()
	end(t, dir, cmd, exitInterrupted, syscall.SIGINT)
}

// end sends signals to a command that writes something into a folder.
func end(t *testing.T, dir string, cmd *exec.Cmd, code int, signals ...os.Signal) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := func() bool {
		list, err := filepath.Glob(filepath.Join(dir, ".radish-*.tmp"))
		return err == nil && len(list) > 0
	}
	for end := time.Now().Add(time.Minute); !begun() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(time.Second) // the file is there before the statement runs
	for _, s := range signals {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%q: exit %d, want %d", cmd.Args, got, code)
	}
}

// TestEndedWhileWriting ends commands that write files and folders: nothing of these is left.
func TestEndedWhileWriting(t *testing.T) {
	const many = "CALL tpch_generate(0.01);\n"
	const product = "SELECT a.l_comment, b.l_orderkey FROM lineitem a, lineitem b"
	for _, script := range []string{
		many + product + " INTO OUTFILE '$o.csv'", many + product + " INTO OUTFILE '$o.parquet'",
		many + "SELECT a.l_comment, b.l_orderkey, a.l_returnflag FROM lineitem a, lineitem b INTO OUTFILE '$o' FORMAT 'parquet' PARTITION BY (l_returnflag)",
		many + "CREATE VIEW v AS " + product + ";\n.export v $o.jsonl\n",
	} {
		for code, signals := range map[int][]os.Signal{
			exitTerminated: {syscall.SIGTERM}, exitHungUp: {syscall.SIGHUP}, exitInterrupted: {syscall.SIGINT, syscall.SIGINT},
		} {
			dir := t.TempDir()
			end(t, dir, exec.Command(binary, "-c", strings.ReplaceAll(script, "$o", filepath.Join(dir, "o"))), code, signals...)
			if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
				t.Errorf("%q, %v: %v is left, error %v", script, signals, list, err)
			}
		}
	}
}

// TestScriptsInFiles reads scripts that are compressed, from wherever they come, and says of other files what they are.
func TestScriptsInFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path(name)
	}
	for _, ending := range []string{".gz", ".zst"} {
		dump := path("dump.sql" + ending)
		if _, stderr, code := runRadish(t, "CREATE TABLE t (a INT); INSERT INTO t VALUES (20), (22);\n.output "+dump+"\n.dump\n"); code != 0 {
			t.Fatal(stderr)
		}
		packed, err := os.ReadFile(dump)
		if err != nil || strings.HasPrefix(string(packed), "SET") {
			t.Fatalf("%.10q, %v", packed, err)
		}
		misnamed := write("misnamed"+ending+".sql", string(packed))
		for _, run := range [][]string{{"", dump, "-c", "SELECT SUM(a) AS s FROM t"}, {".read " + dump + "\nSELECT SUM(a) AS s FROM t;"}, {".read " + misnamed + "\nSELECT SUM(a) AS s FROM t;"}, {string(packed), "-", "-c", "SELECT SUM(a) AS s FROM t"}} {
			if stdout, stderr, code := runRadish(t, run[0], append(run[1:], "--format", "csv")...); stdout != "s\n42\n" || code != 0 {
				t.Errorf("%.30q %q: exit %d, %q, %s", run[0], run[1:], code, stdout, stderr)
			}
		}
		write("cut"+ending, string(packed[:len(packed)-9]))
		if _, stderr, code := runRadish(t, "", path("cut"+ending)); code != 1 || !strings.Contains(stderr, "is cut short") {
			t.Errorf("exit %d, %s", code, stderr)
		}
	}
	for file, want := range map[string]string{
		write("lite", "SQLite format 3\x00..."): "a database of SQLite", write("duck", "12345678DUCK\x00"): "a database of DuckDB", write("data", "PAR1...."): "data, no statements", write("zeros.sql", "SELECT\x00"): "binary, no statements",
		"my.db": "a database is no file", "https://example.com/x.sql": "an address is not supported", dir: "is a directory",
	} {
		if _, stderr, code := runRadish(t, "", file); code != 1 || !strings.Contains(stderr, want) || strings.Contains(stderr, "ERROR 1064") {
			t.Errorf("%s: exit %d, %s", file, code, stderr)
		}
	}
}

// TestDataFilesAsArguments opens data files by naming them.
func TestDataFilesAsArguments(t *testing.T) {
	dir := t.TempDir()
	sales := filepath.Join(dir, "sales.2024.parquet")
	if _, stderr, code := runRadish(t, "", "-c", "SELECT 20 AS amount UNION ALL SELECT 22 INTO OUTFILE '"+sales+"'"); code != 0 {
		t.Fatal(stderr)
	}
	more := writeFile(t, "more.csv", "x\n1\n")
	const sum = "SELECT SUM(amount) AS s FROM `sales.2024`"
	for _, tc := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{sales}, "amount\n20\n22\n"}, {"", []string{sales, more}, "amount\n20\n22\nx\n1\n"}, {sum, []string{sales}, "s\n42\n"}, {"", []string{sales, "-c", sum}, "s\n42\n"},
		{"", []string{more, sales, writeFile(t, "q.sql", sum+"; SELECT x FROM more;")}, "s\n42\nx\n1\n"},
	} {
		if stdout, stderr, code := runRadish(t, tc.stdin, append(tc.args, "--format", "csv")...); stdout != tc.want || code != 0 {
			t.Errorf("%q: exit %d, %q, %s", tc.args, code, stdout, stderr)
		}
	}
	for file, want := range map[string]string{filepath.Join(dir, "none.csv"): "no such file", writeFile(t, "x.json", "[]"): "has no keys"} {
		if _, stderr, code := runRadish(t, "", file); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s", file, code, stderr)
		}
	}
}

// TestForgottenVariable: a script that reads a variable which --var should have set fails, and check says so before.
func TestForgottenVariable(t *testing.T) {
	script := writeFile(t, "day.sql", "SELECT 1 AS a;\nSELECT 2 AS b WHERE @day = 7;")
	for _, args := range [][]string{{script}, {"-c", ".read " + script}} {
		if _, stderr, code := runRadish(t, "", args...); code != 1 || !strings.Contains(stderr, "at line 2, column 21: the user variable '@day' is not set") || !strings.Contains(stderr, "--var day=VALUE") {
			t.Errorf("exit %d, %s", code, stderr)
		}
	}
	if stdout, stderr, code := runRadish(t, "", "--var", "day=7", "--format", "csv", script); code != 0 || stdout != "a\n1\nb\n2\n" {
		t.Errorf("exit %d, %q, %s", code, stdout, stderr)
	}
	if _, stderr, code := runRadish(t, "", "check", script); code != 1 || !strings.Contains(stderr, "'@day'") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if _, stderr, code := runRadish(t, "", "check", "--var", "day=8", script); code != 0 {
		t.Errorf("exit %d, %s", code, stderr)
	}
	s := startShell(t)
	s.do("SELECT @day AS day;", "| NULL |")
}

// TestCheckFindsWhatIsWritten: files that a script writes itself are there for what follows.
func TestCheckFindsWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	script := strings.ReplaceAll(`CREATE TABLE t (a INT, b TEXT);
.export t DIR/t.parquet
SELECT a, b FROM DIR/t.parquet;
.once DIR/once.csv
SELECT b AS word FROM t;
SELECT word FROM DIR/once.csv;
.output DIR/o.jsonl
SHOW TABLES;
SELECT a AS n FROM t;
.output
.import DIR/o.jsonl u
SELECT n FROM u;
SELECT nope FROM DIR/once.csv;
SELECT 1 FROM DIR/none.csv;
`, "FROM DIR/", "FROM `DIR/")
	script = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(script, ".parquet;", ".parquet`;"), ".csv;", ".csv`;"), "DIR", dir)
	_, stderr, code := runRadish(t, "", "check", writeFile(t, "s.sql", script))
	if code != 1 || !strings.Contains(stderr, "at line 13") || !strings.Contains(stderr, "at line 14") || !strings.Contains(stderr, " 2 wrong\n") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Error(list)
	}
}
