package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
)

// zeros is an endless row of the digit 0.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

// Scripts with long statements, and the commands that read and write whole files, stay within the memory limit and 100 MB, or are refused.
func TestMemoryOfScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector needs memory of its own")
	}
	const limit, slack = 100 << 20, 100_000_000
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	const rows = "SET cte_max_recursion_depth = 1000; CREATE TABLE t AS WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 10) SELECT i, REPEAT(MD5(i), 62500) AS b FROM r;\n"
	var columns, many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&columns, ", a.i * %d + b.i AS c%d", i, i)
	}
	for i := range 300 {
		fmt.Fprintf(&many, "CREATE TABLE t%d AS SELECT 1 AS i, REPEAT('a', 10000) AS b;\n", i)
	}
	wide := rows + "CREATE TABLE wide AS SELECT a.i" + columns.String() + " FROM t a, t b, t c, t d LIMIT 5000; DROP TABLE t;\n"
	refused := 0
	for _, tc := range []struct {
		name, script string
		zeros        int64 // the length of a literal in place of the script's %
	}{
		{"a literal of 150 MB", "SELECT LENGTH('%');", 150_000_000},
		{"a hexadecimal literal of 120 MB", "SELECT LENGTH(x'%');", 120_000_000},
		{"a literal of 30 MB", "SELECT LENGTH('%') AS n;", 30_000_000},
		{".dump and .backup", fmt.Sprintf("%s.output %s\n.dump\n.output\n.backup %s\n", rows, file("dump.sql"), file("kept")), 0},
		{".read", ".read " + file("dump.sql") + "\n", 0},
		{".restore", ".restore " + file("kept") + "\n", 0},
		{".output to Parquet", fmt.Sprintf("%s.output %s\nSELECT a.i, CONCAT(LEFT(a.b, 16000), a.i, x.i, y.i, z.i) FROM t a, t x, t y, t z;\n", rows, file("out.parquet")), 0},
		{".export of 500 columns", fmt.Sprintf("%s.export wide %s\n", wide, file("wide.parquet")), 0},
		{".dump of 500 columns", wide + ".once " + file("wide.sql.gz") + "\n.dump\n", 0},
		{".dump of 300 tables", many.String() + ".once " + file("many.sql") + "\n.dump\n", 0},
		{".import", fmt.Sprintf("%sSELECT * FROM t INTO OUTFILE '%s';\n.import %s u\n", rows, file("t.csv"), file("t.csv")), 0},
	} {
		command := exec.Command(binary, "--memory-limit", fmt.Sprint(limit))
		before, after, _ := strings.Cut(tc.script, "%") // this process stays small: a child's peak begins with its parent's
		command.Stdin = io.MultiReader(strings.NewReader(before), io.LimitReader(zeros{}, tc.zeros), strings.NewReader(after))
		debug.FreeOSMemory() // what earlier tests left, too
		out, err := command.CombinedOutput()
		if err != nil {
			if refused++; !strings.Contains(string(out), "out of memory") {
				t.Errorf("%s: %v: %.500s", tc.name, err, out)
			}
		}
		usage, _ := command.ProcessState.SysUsage().(*syscall.Rusage)
		if peak := usage.Maxrss << 10; peak > limit+slack {
			t.Errorf("%s: %d MB were resident under a limit of %d", tc.name, peak/1_000_000, limit/1_000_000)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused: the limit did nothing")
	}
}
