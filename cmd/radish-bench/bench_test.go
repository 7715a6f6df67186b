package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

// answersDir holds the published answers, in a folder beside the repository.
const answersDir = "../../../shared/tpch/answers"

// duckDBPython names a Python interpreter that can import duckdb.
const duckDBPython = "RADISH_DUCKDB_PYTHON"

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
				if err := runTPCH(t.Context(), append([]string{"--sf", sf, "--runs", "1"}, args...), &out); err != nil {
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
	if err := runDemo(t.Context(), []string{"--sf", "0.01"}, &out); err != nil {
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
	err := runTPCH(t.Context(), []string{"--sf", "0.01", "--runs", "0", "--query", "1,6", "--verify", dir}, &out)
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
	err := runTPCH(t.Context(), []string{"--sf", "0.01", "--runs", "1", "--query", "1,6", "--device", "emulated", "--cold", "2", "--json", path}, &out)
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
	if err := runTPCH(t.Context(), []string{"--sf", "0.01", "--device", "cpu", "--cold", "1"}, &out); !errors.Is(err, errUsage) {
		t.Errorf("--cold on the CPU: %v", err)
	}
}

// TestCalls wants the calls of a hot run in the order of their times: memory, kernels, a copy of the result, and no compilation.
func TestCalls(t *testing.T) {
	gputest.Emulated(t)
	var out bytes.Buffer
	if err := runTPCH(t.Context(), []string{"--sf", "0.01", "--device", "emulated", "--calls", "6"}, &out); err != nil {
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
	if err := runTPCH(t.Context(), []string{"--sf", "0.01", "--device", "cpu", "--calls", "6"}, &out); !errors.Is(err, errUsage) {
		t.Errorf("--calls on the CPU: %v", err)
	}
}

// TestTimelines wants a timeline of a join on one GPU and on two: text, then a trace, with kernels of both and rows that move.
func TestTimelines(t *testing.T) {
	gputest.Emulated(t)
	for _, name := range []string{"timeline.txt", "timeline.json"} {
		path := filepath.Join(t.TempDir(), name)
		var out bytes.Buffer
		if err := runJoin(t.Context(), []string{"--large", "12", "--device", "emulated", "--devices", "2", "--runs", "1", "--cases", "unique", "--timeline", path}, &out); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"unique on 1 GPUs", "unique on 2 GPUs", "gpu0.0", "gpu0.1", "pipeline 0", "move_rows", "device"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
		var events []traceEvent
		if isTrace := strings.HasSuffix(name, ".json"); isTrace && json.Unmarshal(text, &events) != nil {
			t.Errorf("no trace:\n%s", text)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := runTPCH(ctx, []string{"--sf", "0.01"}, &bytes.Buffer{}); err == nil {
		t.Error("a cancelled run reported success")
	}
}

// Both engines read what export wrote, and agree.
func TestOracle(t *testing.T) {
	python := os.Getenv(duckDBPython)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb", duckDBPython)
	}
	dir := t.TempDir()
	var out bytes.Buffer
	if err := runExport(t.Context(), []string{"--sf", "0.01", "--dir", dir}, &out); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(dir, "table.md")
	args := []string{"--sf", "0.01", "--runs", "1", "--dir", dir, "--reuse", "--duckdb-python", python, "--markdown", table}
	if err := runOracle(t.Context(), args, &out); err != nil {
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
	python := os.Getenv(duckDBPython)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb", duckDBPython)
	}
	for _, more := range [][]string{nil, {"--duckdb-compress", "--duckdb-memory", "1GB"}} {
		var out bytes.Buffer
		args := append([]string{"--sf", "0.01", "--runs", "1", "--query", "1,6,13", "--compare", "cpu,duckdb", "--duckdb-python", python}, more...)
		if err := runTPCH(t.Context(), args, &out); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}

// TestKeyRanges wants ranges that have each row once, and a GPU to which nothing was brought to find them.
func TestKeyRanges(t *testing.T) {
	gputest.Emulated(t)
	ctx := t.Context()
	db, err := openDatabase(settings{device: "emulated"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	if _, err := generate(ctx, db, 0.01, nil); err != nil {
		t.Fatal(err)
	}
	one, err := aside(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	defer one.session.Close()
	defer func(rows int64) { partRows = rows }(partRows)
	partRows = 700
	before := db.firstRuns()
	for _, table := range tpch.Tables() {
		ranges, err := keyRanges(ctx, db, table)
		if err != nil {
			t.Fatal(err)
		}
		count := func(where string) int64 {
			rows, _, err := one.query(ctx, "SELECT COUNT(*) FROM "+table.Name+where)
			if err != nil {
				t.Fatal(err)
			}
			return rows[0][0].I
		}
		n := int64(0)
		for _, r := range ranges {
			n += count(fmt.Sprintf(" WHERE %s BETWEEN %d AND %d", table.PrimaryKey[0], r[0], r[1]))
		}
		if all := count(""); n != all {
			t.Errorf("%s: ranges %v have %d rows of %d", table.Name, ranges, n, all)
		}
	}
	if brought := db.firstRuns().Sub(before); brought.Uploaded != 0 || brought.Compiled.Tasks != 0 {
		t.Errorf("%d bytes were uploaded and %d kernels compiled", brought.Uploaded, brought.Compiled.Tasks)
	}
}

func TestSameResult(t *testing.T) {
	q := tpch.Queries(1)[5]
	value := func(unscaled int64) [][]types.Value {
		return [][]types.Value{{{Type: types.Decimal(15, 2), I: unscaled}}}
	}
	if err := sameResult(q, value(12345), [][]string{{"123.45"}}); err != nil {
		t.Error(err)
	}
	if err := sameResult(q, value(12346), [][]string{{"123.45"}}); err == nil {
		t.Error("123.46 passed for 123.45")
	}
	if err := sameResult(q, value(12345), nil); err == nil {
		t.Error("a row passed for none")
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
		"a result not looked": broken(func(r *queryRun) { r.check = checkNothing }),
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
	if err := runDemo(t.Context(), []string{"--sf", "0.01", "--record", path}, &bytes.Buffer{}); !errors.Is(err, errUsage) {
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

func TestFigures(t *testing.T) {
	const ms = time.Millisecond
	if m := median([]time.Duration{9 * ms, 1 * ms, 2 * ms}); m != 2*ms {
		t.Errorf("median of three: %v", m)
	}
	if m := median([]time.Duration{9 * ms, 1 * ms, 2 * ms, 4 * ms}); m != 3*ms {
		t.Errorf("median of four: %v", m)
	}
	if m := median(nil); m != 0 {
		t.Errorf("median of none: %v", m)
	}
	if g := geometricMean([]float64{0.5, 2, 8}); math.Abs(g-2) > 1e-12 {
		t.Errorf("geometric mean: %v", g)
	}
	if n := parseHighWater("VmPeak:\t  10 kB\nVmHWM:\t   2048 kB\nVmRSS:\t 1 kB\n"); n != 2<<20 {
		t.Errorf("VmHWM: %d", n)
	}
	if n := parseHighWater("VmRSS:\t 1 kB\n"); n != 0 {
		t.Errorf("no VmHWM: %d", n)
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{
		{"tpch", "--query", "23"}, {"tpch", "stray"}, {"tpch", "--nosuch"}, {"export"}, {"oracle"}, {"nosuch"}, nil,
	} {
		if status := run(t.Context(), args); status != exitUsage {
			t.Errorf("%q: exit status %d, want %d", args, status, exitUsage)
		}
	}
	if err := runTPCH(t.Context(), []string{"-h"}, &bytes.Buffer{}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}
