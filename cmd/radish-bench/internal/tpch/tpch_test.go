package tpch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/storage/tpch"
)

// answersDir holds the published answers, in a folder beside the repository.
const answersDir = "../../../../../shared/tpch/answers"

func answersAt(t *testing.T, sf string) string {
	dir := filepath.Join(answersDir, "sf"+sf)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no published answers: %v", err)
	}
	return dir
}

// All 22 queries give the published answers, and so do the recorded digests.
func TestPublishedAnswers(t *testing.T) {
	for _, sf := range []string{"0.01", "0.1"} {
		if testing.Short() && sf != "0.01" {
			continue
		}
		t.Run(sf, func(t *testing.T) {
			dir := answersAt(t, sf)
			for _, args := range [][]string{{"--verify", dir}, nil} {
				var out bytes.Buffer
				if err := Run(t.Context(), append([]string{"--sf", sf, "--runs", "1"}, args...), &out); err != nil {
					t.Errorf("%v: %v\n%s", args, err, out.String())
				}
				if n := strings.Count(out.String(), "✓"); n != 22 {
					t.Errorf("%v: %d of 22 results are marked as right\n%s", args, n, out.String())
				}
			}
		})
	}
}

func TestDemo(t *testing.T) {
	var out bytes.Buffer
	if err := RunDemo(t.Context(), []string{"--sf", "0.01"}, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if n := strings.Count(out.String(), "✓"); n != 22 {
		t.Errorf("%d of 22 results are marked as right\n%s", n, out.String())
	}
}

// A result that is not the recorded one fails the command: the answers of another scale factor must not pass.
func TestDifferenceFails(t *testing.T) {
	dir := answersAt(t, "0.1")
	var out bytes.Buffer
	err := Run(t.Context(), []string{"--sf", "0.01", "--runs", "0", "--query", "1,6", "--verify", dir}, &out)
	if err == nil || !strings.Contains(err.Error(), "2 of 2") {
		t.Errorf("error %v, want that 2 of 2 queries gave another result\n%s", err, out.String())
	}
	if n := strings.Count(out.String(), "✗"); n != 2 {
		t.Errorf("%d results are marked as wrong, want 2\n%s", n, out.String())
	}
}

// TestCold wants cold runs to compile what the first run compiled, uploading nothing, and first runs to tell what they brought.
func TestCold(t *testing.T) {
	gputest.Emulated(t)
	t.Setenv(gpukernels.CacheVariable, "off") // set back in the end: --cold makes it another
	path := filepath.Join(t.TempDir(), "figures.json")
	var out bytes.Buffer
	err := Run(t.Context(), []string{"--sf", "0.01", "--runs", "1", "--query", "1,6", "--device", "emulated", "--cold", "2", "--json", path}, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report tpchReport
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	for _, q := range report.Queries {
		if q.Kernels == 0 || q.Compiling <= 0 || q.CompileSum < q.Compiling || q.Query == 1 && (q.Uploaded == 0 || q.Uploading <= 0) {
			t.Errorf("Q%d's first run: %d kernels in %v ms (%v one by one), %d bytes in %v ms", q.Query, q.Kernels, q.Compiling, q.CompileSum, q.Uploaded, q.Uploading)
		}
		if len(q.Cold) != 2 {
			t.Fatalf("Q%d has %d cold runs, want 2", q.Query, len(q.Cold))
		}
		for _, c := range q.Cold {
			if c.Kernels != q.Kernels || c.Uploaded != 0 || c.Compiling <= 0 || c.Clock < c.Compiling {
				t.Errorf("a cold run of Q%d: %+v; the first compiled %d kernels", q.Query, c, q.Kernels)
			}
		}
	}
	if len(report.Queries) != 2 || !strings.Contains(out.String(), "the longest run without compiled kernels") {
		t.Errorf("printed\n%s", out.String())
	}
	if err := Run(t.Context(), []string{"--sf", "0.01", "--device", "cpu", "--cold", "1"}, &out); !errors.Is(err, cli.ErrUsage) {
		t.Errorf("--cold on the CPU: %v", err)
	}
}

// TestCalls wants the calls of a hot run in the order of their times: memory, kernels, a copy of the result, and no compilation.
func TestCalls(t *testing.T) {
	gputest.Emulated(t)
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--sf", "0.01", "--device", "emulated", "--calls", "6"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var names []string
	last := 0.0
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[2:] {
		fields := strings.Fields(line)
		at, err := strconv.ParseFloat(fields[0], 64)
		if err != nil || at < last {
			t.Errorf("%q comes after %v", line, last)
		}
		last = at
		names = append(names, fields[2])
	}
	all := strings.Join(names, " ")
	if !strings.HasPrefix(all, "alloc ") || !strings.Contains(all, " launch download_begin stream_query ") || strings.Contains(all, "module") {
		t.Errorf("printed\n%s", out.String())
	}
	if err := Run(t.Context(), []string{"--sf", "0.01", "--device", "cpu", "--calls", "6"}, &out); !errors.Is(err, cli.ErrUsage) {
		t.Errorf("--calls on the CPU: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, []string{"--sf", "0.01"}, &bytes.Buffer{}); err == nil {
		t.Error("a cancelled run reported success")
	}
}

// Both engines read what export wrote, and agree.
func TestOracle(t *testing.T) {
	python := os.Getenv(peers.PythonVariable)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb", peers.PythonVariable)
	}
	dir := t.TempDir()
	var out bytes.Buffer
	if err := RunExport(t.Context(), []string{"--sf", "0.01", "--dir", dir}, &out); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(dir, "table.md")
	args := []string{"--sf", "0.01", "--runs", "1", "--dir", dir, "--reuse", "--duckdb-python", python, "--markdown", table}
	if err := RunOracle(t.Context(), args, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "✓ equal |\n"); n != 22 {
		t.Errorf("%d of 22 results are equal\n%s", n, text)
	}
}

// DuckDB gets the tables of a database that made them itself.
func TestCompare(t *testing.T) {
	python := os.Getenv(peers.PythonVariable)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb", peers.PythonVariable)
	}
	for _, more := range [][]string{nil, {"--duckdb-compress", "--duckdb-memory", "1GB"}} {
		var out bytes.Buffer
		args := append([]string{"--sf", "0.01", "--runs", "1", "--query", "1,6,13", "--compare", "cpu,duckdb", "--duckdb-python", python}, more...)
		if err := Run(t.Context(), args, &out); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digests.json")
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	var runs []queryRun
	for _, q := range tpch.Queries(1) {
		runs = append(runs, queryRun{query: q, check: checkPublished, digest: q.Title})
	}
	broken := func(f func(r *queryRun)) []queryRun {
		c := slices.Clone(runs)
		f(&c[3])
		return c
	}
	for name, bad := range map[string][]queryRun{
		"a query missing":     runs[1:],
		"a digest only":       broken(func(r *queryRun) { r.check = checkDigest }),
		"a different result":  broken(func(r *queryRun) { r.err = errors.New("differs") }),
		"a result not looked": broken(func(r *queryRun) { r.check = answers.Unchecked }),
	} {
		if err := record(path, 1, bad); err == nil {
			t.Errorf("%s: recorded", name)
		}
	}
	if text, _ := os.ReadFile(path); string(text) != "{}" {
		t.Errorf("a refusal changed the file: %s", text)
	}
	if err := record(path, 1, runs); err != nil {
		t.Fatal(err)
	}
	if err := record(path, 0.1, runs); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := loadDigests(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(d) != 2 || d["1"][3] != runs[3].digest || d["0.1"][21] != runs[21].digest {
		t.Errorf("recorded %v", d)
	}
	if err := RunDemo(t.Context(), []string{"--sf", "0.01", "--record", path}, &bytes.Buffer{}); !errors.Is(err, cli.ErrUsage) {
		t.Errorf("--record without --verify: %v", err)
	}
}

func TestPickQueries(t *testing.T) {
	picked, err := pickQueries(1, "6, q1,22,6")
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, q := range picked {
		numbers = append(numbers, q.Number)
	}
	if !slices.Equal(numbers, []int{1, 6, 22}) {
		t.Errorf("picked %v", numbers)
	}
	for _, bad := range []string{"0", "23", "x", "1,,2", "-1"} {
		if _, err := pickQueries(1, bad); err == nil {
			t.Errorf("%q was taken for queries", bad)
		}
	}
}
