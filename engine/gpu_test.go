package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

// gpuEngine is an engine whose GPU is of a library. What its queries take of the device has to be given back when the test ends.
func gpuEngine(t *testing.T, lib *gpukernels.Library) *Engine {
	t.Helper()
	e, err := New(database.Options{Threads: 2, Device: gpu.Never, GPULibrary: lib.Path()})
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.GPU()
	if err != nil {
		t.Fatal(err)
	}
	d.Tune(rowByRow(0, 0))     // small tables are scanned as large ones are
	d.UseClock(time.Now)       // an earlier test may have used up the memory, which has queries leave the device alone for a while
	before := settled(t, d, 0) // an earlier test's uploads may still run
	t.Cleanup(func() {
		_ = e.Close()
		if after := settled(t, d, before); after != before {
			t.Errorf("queries hold %d bytes of device memory, %d before the test", after, before)
		}
	})
	return e
}

// queryBytes is the device memory that is not table columns'.
func queryBytes(t *testing.T, d *gpu.Device) int64 {
	t.Helper()
	m, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	return m.Used - m.Resident
}

// eachGPU runs a test on an engine whose GPU is emulated, and on one with a real one.
func eachGPU(t *testing.T, f func(t *testing.T, e *Engine)) {
	gputest.EachLibrary(t, func(t *testing.T, lib *gpukernels.Library) { f(t, gpuEngine(t, lib)) })
}

// values runs one statement and returns its rows.
func values(t *testing.T, s *Session, sql string) [][]types.Value {
	t.Helper()
	stmts, err := s.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Execute(context.Background(), stmts[0], nil)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer res.Close()
	var rows [][]types.Value
	for {
		b, err := res.Next(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if b == nil {
			return rows
		}
		for i := range b.N {
			row := make([]types.Value, len(b.Cols))
			for c, v := range b.Cols {
				row[c] = v.Value(i)
			}
			rows = append(rows, row)
		}
	}
}

func rowTexts(rows [][]types.Value) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		for _, v := range row {
			if v.Null {
				out[i] += "NULL|"
			} else {
				out[i] += v.Text() + "|"
			}
		}
	}
	return out
}

// rowsOnCPU returns a statement's rows from the CPU, and leaves the session on a device.
func rowsOnCPU(t *testing.T, s *Session, sql, device string) []string {
	t.Helper()
	mustRun(t, s, "SET radish_device = 'cpu'")
	rows := rowTexts(values(t, s, sql))
	mustRun(t, s, "SET radish_device = '"+device+"'")
	return rows
}

// textOnCPU is rowsOnCPU for a statement's output.
func textOnCPU(t *testing.T, s *Session, sql, device string) string {
	t.Helper()
	mustRun(t, s, "SET radish_device = 'cpu'")
	text := mustRun(t, s, sql)
	mustRun(t, s, "SET radish_device = '"+device+"'")
	return text
}

// sameRowsAsCPU compares rows that GPUs give with those of the CPU, in any order: rows that agree in what orders them may come in either. how says which GPUs.
func sameRowsAsCPU(t *testing.T, sql, how string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s on %s gives\n%s\non the CPU\n%s", sql, how, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTPCHOnGPU runs the 22 queries wholly by kernels and compares them with the CPU's results and, if the files are there, with the
// published answers.
func TestTPCHOnGPU(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles some 150 kernels")
	}
	eachGPU(t, testTPCH)
}

func testTPCH(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CALL tpch_generate(0.01)")
	answers := publishedAnswers(t)
	for _, q := range tpch.Queries(0.01) {
		want := rowsOnCPU(t, s, q.SQL, "gpu_strict")
		rows := values(t, s, q.SQL)
		if w := s.Warnings(); len(w) > 0 {
			t.Errorf("Q%d: %s", q.Number, w[0].Message)
		}
		sameRowsAsCPU(t, fmt.Sprintf("Q%d", q.Number), "the GPU", rowTexts(rows), want)
		if answers == "" {
			continue
		}
		answer, err := tpch.LoadAnswer(answers, q)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Compare(rows); err != nil {
			t.Errorf("Q%d on the GPU: %v", q.Number, err)
		}
	}
	testTPCHInWindows(t, s)
}

// publishedAnswers is the folder of TPC-H's answers at scale factor 0.01: beside the source tree, or in the bundle for GPU hosts. It is empty
// where there is none.
func publishedAnswers(t *testing.T) string {
	for _, folder := range []string{filepath.Join("..", "..", "shared", "tpch", "answers"), filepath.Join("..", "answers")} {
		if path := filepath.Join(folder, "sf0.01"); exists(path) {
			return path
		}
	}
	t.Log("TPC-H's published answers are not here: the CPU's are compared with")
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestKernelsCompile compiles the kernels of the 22 queries with NVRTC, which needs no GPU.
func TestKernelsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	compilers := gputest.CUDALibrary(t).NewCompilers(90, 0)
	defer compilers.Close()
	s := gpuEngine(t, gputest.EmulatedLibrary(t)).NewSession()
	mustRun(t, s, "CALL tpch_generate(0.01); SET radish_device = 'gpu'")
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	compiled := 0
	for _, q := range tpch.Queries(0.01) {
		for _, source := range gpu.SplitKernels(mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+q.SQL)) {
			compiled++
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				if _, _, err := compilers.Compile(gpukernels.NewTurn(), 90, source); err != nil {
					t.Errorf("Q%d: %v\n%s", q.Number, err, source)
				}
			})
		}
	}
	wg.Wait()
	if compiled < 22 {
		t.Errorf("%d kernels for 22 queries", compiled)
	}
	t.Logf("%d kernels", compiled)
}

// A plan whose pipelines are on both devices gives what the CPU alone gives, whichever side reads the other's rows.
func TestMixedPlans(t *testing.T) { eachGPU(t, testMixedPlans) }

func testMixedPlans(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CREATE TABLE t (a INT, b VARCHAR(20), c DOUBLE, d DECIMAL(30, 2), e DATE)")
	for i := range 40 {
		null := "NULL"
		if i%3 > 0 {
			null = fmt.Sprint(i % 7)
		}
		mustRun(t, s, fmt.Sprintf("INSERT INTO t VALUES (%s, 'word %d', %d / 8, %d * 12345678901234567890.25, '2024-01-01' + INTERVAL %d DAY)", null, i%5, i, i-20, i))
	}
	mustRun(t, s, "CREATE TABLE u AS SELECT * FROM t WHERE a IS NOT NULL ORDER BY e LIMIT 20")
	for _, sql := range []string{
		// GROUP_CONCAT and windows run on the CPU only.
		"SELECT b, GROUP_CONCAT(a ORDER BY a) FROM (SELECT b, a, COUNT(*) AS n FROM t GROUP BY b, a) AS g GROUP BY b",
		"SELECT a, n, ROW_NUMBER() OVER (ORDER BY n, a) FROM (SELECT a, COUNT(*) AS n, MAX(b) AS m FROM t GROUP BY a) AS g",
		"SELECT a, SUM(n) FROM (SELECT a, b, ROW_NUMBER() OVER (PARTITION BY a ORDER BY e) AS n FROM t) AS w GROUP BY a",
		"SELECT w.b, SUM(w.n) FROM (SELECT a, b, ROW_NUMBER() OVER (PARTITION BY b ORDER BY e DESC) AS n FROM t) AS w JOIN u ON u.a = w.a WHERE w.n < 9 GROUP BY w.b",
		"SELECT x.a, x.d, g FROM (SELECT a, b, d, e FROM t ORDER BY d DESC, e LIMIT 7 OFFSET 2) AS x JOIN (SELECT b, GROUP_CONCAT(c ORDER BY c) AS g FROM u GROUP BY b) AS y ON x.b = y.b",
		"SELECT b, d FROM t UNION ALL SELECT GROUP_CONCAT(b), MAX(d) FROM u GROUP BY a",
	} {
		want := rowsOnCPU(t, s, sql, "gpu")
		plan := mustRun(t, s, "EXPLAIN "+sql)
		if !strings.Contains(plan, " on gpu:") || !strings.Contains(plan, " on cpu:") {
			t.Errorf("%s is not on both devices:\n%s", sql, plan)
		}
		sameRowsAsCPU(t, sql, "both devices", rowTexts(values(t, s, sql)), want)
		mustRun(t, s, "SET radish_device = 'gpu_strict'")
		_, err := run(context.Background(), s, sql)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.CodeNotSupported || !strings.Contains(e.Message, "pipeline") {
			t.Errorf("%s with gpu_strict: %v", sql, err)
		}
	}
}

// Statements that kernels once answered otherwise than the CPU.
func TestSameOnGPU(t *testing.T) { eachGPU(t, testSameOnGPU) }

func testSameOnGPU(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CREATE TABLE p (x INT, y VARCHAR(4)); INSERT INTO p VALUES (1, 'a'), (2, 'b'), (2, NULL), (NULL, 'c'), (3, 'd'), (NULL, 'a'), (3, 'd')")
	mustRun(t, s, "CREATE TABLE q (x INT); INSERT INTO q VALUES (2), (2), (3), (NULL), (1)")
	mustRun(t, s, "CREATE TABLE n AS WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT a.n * 1000 + b.n AS n FROM r AS a JOIN r AS b ON b.n <= 40")
	members := make([]string, 1000)
	for i := range members {
		members[i] = fmt.Sprintf("'member %d'", i)
	}
	mustRun(t, s, "CREATE TABLE m (e ENUM("+strings.Join(members, ",")+"), f VARCHAR(12)); INSERT INTO m VALUES (900, 'member 899'), (NULL, 'a'), (3, NULL), (NULL, NULL)")
	mustRun(t, s, "CREATE TABLE days AS SELECT DATE_ADD(DATE '1999-12-20', INTERVAL n % 400 DAY) AS d FROM n WHERE n % 40 = 1; CREATE TABLE none (a INT, b INT)")
	for _, sql := range []string{
		// What stands where a NULL is says nothing, and is no slot of a table.
		"SELECT e, f, CONCAT('', NULLIF(e, f)), CAST(e AS CHAR), e = f FROM m",
		"SELECT COALESCE(NULLIF(a.e, 'member 2'), b.f, b.e) FROM m AS a LEFT JOIN m AS b ON a.e = b.e",
		// The numbers of a list of rows are never NULL, by their type, but lie as if they were.
		"SELECT IF(a > 1, a * a * b, 5), CASE a WHEN 2 THEN b % a WHEN 3 THEN a DIV b ELSE a END FROM (VALUES ROW(1, 2), ROW(2, 3), ROW(3, 7)) AS v (a, b)",
		// Two ordered sets of rows end in one.
		"(SELECT x FROM p ORDER BY x DESC LIMIT 1) UNION ALL (SELECT x FROM q ORDER BY x LIMIT 2)",
		// Rows in order, of which some are dropped before they are limited.
		"SELECT COUNT(*), MIN(x) > 1 FROM (SELECT x FROM (SELECT x FROM p ORDER BY x LIMIT 100) AS a WHERE x > 1 LIMIT 3) AS b",
		"SELECT COUNT(*) FROM (SELECT x FROM (SELECT x FROM p ORDER BY x LIMIT 100) AS a WHERE x > 1 LIMIT 3 OFFSET 2) AS b",
		// Limits of rows that several pipelines give.
		"SELECT 1 FROM p UNION ALL SELECT 1 FROM q LIMIT 4",
		"SELECT COUNT(*) FROM (SELECT x FROM p UNION ALL SELECT x FROM q LIMIT 9 OFFSET 2) AS a",
		"SELECT COUNT(*) FROM (SELECT p.x FROM p FULL JOIN q ON p.x = q.x LIMIT 9 OFFSET 3) AS a",
		"SELECT COUNT(*) FROM (SELECT x FROM p ORDER BY x LIMIT 9223372036854775807 OFFSET 9223372036854775807) AS a",
		// Each row of a full join finds its partner, also where a limit needs a few.
		"SELECT COUNT(*), COUNT(a), COUNT(b) FROM (SELECT r.n AS a, s.n AS b FROM n AS r FULL JOIN n AS s ON r.n = s.n LIMIT 30000 OFFSET 9) AS t",
		"SELECT COUNT(*), COUNT(a), COUNT(b) FROM (SELECT r.n AS a, s.n AS b FROM n AS r FULL JOIN n AS s ON r.n = s.n LIMIT 3) AS t",
		// A join that needs no column of a build with several rows of a key.
		"SELECT p.y, COUNT(*) FROM p JOIN q ON p.x = q.x GROUP BY p.y",
		"SELECT p.y, COUNT(*) FROM p LEFT JOIN q ON p.x = q.x GROUP BY p.y",
		// Dates as numbers, and as times, lie elsewhere than the days that they are stored as.
		"SELECT d + 0, (d + 0) * 200, COUNT(*) FROM days GROUP BY d + 0, (d + 0) * 200",
		"SELECT CAST(d AS DATETIME), MAX(CAST(d AS SIGNED)) FROM days GROUP BY CAST(d AS DATETIME)",
		"SELECT YEAR(d), MONTH(d), MIN(TIMESTAMP(d)), MAX(CAST(d AS DATETIME)), SUM(CAST(d AS DECIMAL(10, 0))) FROM days GROUP BY YEAR(d), MONTH(d)",
		// An aggregation of no rows gives one, and a join that keeps rows without a match gives them where it has nothing to match.
		"SELECT c, COUNT(*) FROM (SELECT n % 3, COUNT(*) AS c FROM n WHERE n >= (SELECT COUNT(*) FROM none) GROUP BY n % 3) AS g GROUP BY c",
		"SELECT c, COUNT(*) FROM (SELECT n % 50, COUNT(*) AS c FROM n, (SELECT COUNT(*) AS w FROM none) AS o GROUP BY n % 50) AS g GROUP BY c",
		"SELECT c, COUNT(*), SUM(m) FROM (SELECT n % 3, COUNT(*) AS c, COUNT(a) AS m FROM n LEFT JOIN none ON n < a GROUP BY n % 3) AS g GROUP BY c",
		"SELECT c, COUNT(*), SUM(m) FROM (SELECT n % 3, COUNT(*) AS c, COUNT(a) AS m FROM n FULL JOIN none ON n = a GROUP BY n % 3) AS g GROUP BY c",
		"SELECT c, COUNT(*) FROM (SELECT k, COUNT(*) AS c FROM (SELECT n % 50 AS k FROM n UNION ALL SELECT COUNT(*) FROM none) AS u GROUP BY k) AS g GROUP BY c",
		"SELECT c + 5, COUNT(*) FROM (SELECT w + 5, COUNT(*) AS c FROM (SELECT COUNT(*) AS w FROM none) AS o GROUP BY w + 5) AS g GROUP BY c + 5",
		// Copies of rows, which several threads share, are grouped, joined and counted.
		"SELECT k, COUNT(*), SUM(k), SUM(v), MAX(v), COUNT(v) FROM (SELECT n % 7 AS k, NULLIF(n % 5, 2) AS v FROM n EXCEPT ALL SELECT n % 7, n % 5 FROM n WHERE n % 3 = 0) AS a GROUP BY k",
		"SELECT COUNT(*), SUM(b.n) FROM (SELECT n % 7 AS k FROM n INTERSECT ALL SELECT n % 9 FROM n) AS a JOIN n AS b ON a.k + 1010 = b.n",
		"SELECT COUNT(*), SUM(b.n), SUM(a.k) FROM n AS b LEFT JOIN (SELECT n % 40 AS k, n % 2 AS o FROM n EXCEPT ALL SELECT n % 40, 1 FROM n) AS a ON a.k + 1010 = b.n",
		"SELECT COUNT(*) FROM (SELECT n % 7 AS k FROM n EXCEPT ALL SELECT n % 9 FROM n LIMIT 777 OFFSET 3) AS a WHERE k < 9",
		"SELECT COUNT(*), SUM(k) FROM (SELECT NULLIF(n % 7, 8) AS k FROM n EXCEPT ALL SELECT n % 9 FROM n WHERE CAST(n AS CHAR) REGEXP '1$') AS a",
		// What is always NULL adds nothing.
		"SELECT COUNT(NULL), SUM(NULL), MAX(IF(FALSE, n, NULL)), BIT_AND(NULL), COUNT(*) FROM n",
		"SELECT n % 3, COUNT(NULL), SUM(NULL), AVG(NULL), MIN(NULL), BIT_OR(NULL) FROM n GROUP BY n % 3",
		// A number of strings is a number.
		"SELECT c % 2, c - 1 FROM (SELECT COUNT(CASE WHEN x > 2 THEN 'a' WHEN x = 2 THEN 'b' END) AS c FROM p) AS g",
	} {
		want := sortedLines(textOnCPU(t, s, sql, "gpu"))
		if got := sortedLines(mustRun(t, s, sql)); got != want {
			t.Errorf("%s gives\n%s\nwant\n%s", sql, got, want)
		}
	}
}

// An error that a kernel meets is the CPU's error; a warning is the CPU's too, and the query says where it ran.
func TestErrorsOnGPU(t *testing.T) { eachGPU(t, testErrorsOnGPU) }

func testErrorsOnGPU(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CREATE TABLE t (a BIGINT, b VARCHAR(10)); INSERT INTO t VALUES (1, '1'), (9223372036854775807, 'x'), (3, '3')")
	// Sums that leave 128 bits: of four terms, the last 38 digits of what is left would look like a result.
	mustRun(t, s, "CREATE TABLE w (k INT, d DECIMAL(38, 0)); INSERT INTO w SELECT a % 2, 99999999999999999999999999999999999999 FROM (VALUES ROW(1), ROW(3), ROW(5), ROW(7), ROW(2)) v (a)")
	mustRun(t, s, "CREATE TABLE none (a DECIMAL(38, 0))")
	for _, sql := range []string{
		"SELECT SUM(d) FROM w WHERE d >= (SELECT COUNT(*) FROM none)", "SELECT SUM(d), MAX(a) FROM w LEFT JOIN none ON d < a",
		"SELECT SUM(d) FROM w, (SELECT COUNT(*) AS n FROM none) AS o WHERE d >= n",
		"SELECT a + a FROM t", "SELECT a, (SELECT b FROM t) FROM t", "SELECT SUM(a * a) FROM t",
		"SELECT SUM(d) FROM w WHERE k = 1", "SELECT AVG(d) FROM w", "SELECT k, SUM(d) FROM w GROUP BY k", "SELECT d, k, SUM(d) FROM w GROUP BY d, k",
	} {
		mustRun(t, s, "SET radish_device = 'cpu'")
		_, want := run(context.Background(), s, sql)
		mustRun(t, s, "SET radish_device = 'gpu'")
		_, err := run(context.Background(), s, sql)
		if want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", sql, err, want)
		}
	}
	mustRun(t, s, "SET radish_device = 'gpu'")
	if got := mustRun(t, s, "SELECT a / (a - 3) FROM t WHERE b <> 'x'"); !strings.Contains(got, "NULL") {
		t.Errorf("division by zero gives %q", got)
	}
	text := ""
	for _, w := range s.Warnings() {
		text += w.Message + "\n"
	}
	if !strings.Contains(text, "Division by 0") {
		t.Errorf("the warnings are %q", text)
	}
}

func TestGPUDevices(t *testing.T) { eachGPU(t, testGPUDevices) }

func testGPUDevices(t *testing.T, e *Engine) {
	s := e.NewSession()
	got := mustRun(t, s, "SELECT device, status, memory_bytes > 0, library = '"+e.Opts.GPULibrary+"' FROM information_schema.radish_devices WHERE device IN ('cpu', 'gpu0') ORDER BY device")
	if got != "cpu|in use|NULL|NULL\ngpu0|usable|1|1\n" {
		t.Errorf("radish_devices has\n%s", got)
	}
	compilers := mustRun(t, s, "SELECT compilers FROM information_schema.radish_devices WHERE device = 'gpu0'")
	if e.Opts.GPULibrary != "" && !strings.HasPrefix(compilers, "this process") && !strings.Contains(compilers, " processes, and this one") {
		t.Errorf("radish_devices says of what compiles %s", compilers)
	}
	mustRun(t, s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)")
	if got := mustRun(t, s, "SELECT /*+ SET_VAR(radish_device='gpu') */ SUM(a) FROM t"); got != "3\n" {
		t.Errorf("the sum is %s", got)
	}
	if got := mustRun(t, s, "EXPLAIN ANALYZE SELECT /*+ SET_VAR(radish_device='gpu') */ SUM(a) FROM t"); !strings.Contains(got, "kernel ") {
		t.Errorf("EXPLAIN ANALYZE is\n%s", got)
	}
}

// TestGPUCountedSums groups so many rows that a block's sums, which count them, move what they have to the groups of all, some of them with the very
// last row: three blocks of the emulated device get 2^15 rows of one key each.
func TestGPUCountedSums(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 511) SELECT n FROM r")
		mustRun(t, s, "CREATE TABLE c AS SELECT 7 AS k, CAST((a.n * 512 + b.n) * 39041 % 1000003 AS SIGNED) AS v FROM d AS a JOIN d AS b ON a.n < 192")
		for _, keys := range []string{"k", "k + v % 3", "v % 2 * 100000000 + v % 3 * 7919"} { // an array of one slot, of three, a table
			sql := "SELECT " + keys + " AS g, SUM(v), COUNT(*), MIN(v), MAX(v), AVG(v) FROM c GROUP BY " + keys + " ORDER BY g"
			sameOnGPU(t, s, sql)
		}
	})
}

// sameOnGPU compares what a statement gives on the CPU and on the GPU.
func sameOnGPU(t *testing.T, s *Session, sql string) {
	t.Helper()
	want := rowsOnCPU(t, s, sql, "gpu_strict")
	if got := rowTexts(values(t, s, sql)); !slices.Equal(got, want) {
		t.Errorf("%s on the GPU gives\n%s\non the CPU\n%s", sql, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestGPUSumsByPieces sums, in few groups, values whose offsets from the least one are nearly all the largest ones of 16, 32 and 48 bits, in more rows than
// words of 32 bits can take of them.
func TestGPUSumsByPieces(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 511) SELECT n FROM r")
		mustRun(t, s, `CREATE TABLE c AS SELECT x.n % 100 = 7 AS k,
			IF(x.n % 100 = 7 AND y.n = 0, -5, 65530) AS a, IF(x.n % 100 = 8 AND y.n = 0, -2147483648, 2147483647) AS b,
			IF(x.n % 100 = 9 AND y.n = 0, -140737488355328, 140737488355327) AS c, IF(x.n % 3 = 0, NULL, IF(y.n = 9, 3, 65538)) AS d
			FROM d AS x JOIN d AS y`)
		for _, sql := range []string{
			"SELECT k, SUM(a), SUM(b), SUM(c), SUM(d), COUNT(*), COUNT(d), AVG(d), MIN(a), MAX(b) FROM c GROUP BY k ORDER BY k",
			"SELECT k, SUM(a), MIN(c), MAX(a), MIN(d), MAX(d) FROM c WHERE a > 0 GROUP BY k ORDER BY k",
			"SELECT k, SUM(a + 5), SUM(b * 2), SUM(c + a) FROM c GROUP BY k ORDER BY k",
			"SELECT d, SUM(a), SUM(c) FROM c GROUP BY d ORDER BY d",
			"SELECT k, SUM(a) FROM c WHERE a > 70000 GROUP BY k",
			"SELECT x.k, SUM(x.a), SUM(y.b) FROM c AS x JOIN (SELECT DISTINCT b FROM c) AS y GROUP BY x.k ORDER BY x.k",
		} {
			sameOnGPU(t, s, sql)
		}
	})
}

// TestGPUShortArithmetic computes with numbers whose sums, differences and products are the last that 32 bits hold, and the first that they do not.
func TestGPUShortArithmetic(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE n (i BIGINT, j INT, k SMALLINT, p DECIMAL(15,2), q DECIMAL(12,4), u INT UNSIGNED, z BIGINT);
			INSERT INTO n VALUES (1073741823, 1073741824, 1, 10737418.23, 1.0000, 4294967295, 2), (-1073741824, -1073741824, -1, -10737418.24, -1.0000, 0, -2),
				(46340, 46341, 2, 463.40, 0.0002, 7, 2), (-46341, -46340, -2, -463.41, -0.0002, 1, -2), (NULL, 5, NULL, NULL, 0.5, NULL, NULL), (0, 0, 0, 0, 0, 0, 0)`)
		exprs := []string{
			"i + i", "i - 1073741824", "i + j", "i - j", "j - i", "i * z", "i * 2", "j * k", "j * j", "i * i", "i + k * z", "k * z - i", "-(i * z)",
			"p + p", "p - 10737418.24", "p - p", "p * k", "p * 2", "p * q", "q * q", "p + q", "q - p", "p * (1 - q) * (1 + q)", "p * 3 - q", "CAST(u AS SIGNED) + i", "CAST(u AS SIGNED) * z + 5", "CAST(u AS SIGNED) - 1000",
			"(i + z) * (z - 4)", "i * z * z * z", "(i * z) / 3", "(j - i) % 7", "CASE WHEN k > 0 THEN i * z ELSE j - i END",
		}
		sameOnGPU(t, s, "SELECT "+strings.Join(exprs, ", ")+" FROM n")
		sameOnGPU(t, s, "SELECT k, SUM("+strings.Join(exprs, "), SUM(")+") FROM n GROUP BY k ORDER BY k")
		sameOnGPU(t, s, "SELECT MIN("+strings.Join(exprs, "), MAX(")+"), COUNT(*) FROM n")
	})
}

// TestGPUManySums runs queries of so many sums that their groups' addresses exceed the parameters of a launch, and of as many as fit.
func TestGPUManySums(t *testing.T) { eachGPU(t, testGPUManySums) }

func testGPUManySums(t *testing.T, e *Engine) {
	s := e.NewSession()
	var columns, numbers, sums []string
	for i := range 95 {
		columns = append(columns, fmt.Sprintf("d%d DOUBLE NOT NULL", i))
		numbers = append(numbers, fmt.Sprintf("%d.25e0", i))
		sums = append(sums, fmt.Sprintf("SUM(d%d)", i))
	}
	row := "(" + strings.Join(numbers, ", ") + ")"
	mustRun(t, s, "CREATE TABLE w ("+strings.Join(columns, ", ")+"); INSERT INTO w VALUES "+row+", "+row)
	for _, n := range []int{30, 95} {
		if n > 30 && testing.Short() {
			break
		}
		sameOnGPU(t, s, "SELECT "+strings.Join(sums[:n], ", ")+" FROM w")
	}
}

// A sort-merge join takes rows one by one and gives more than it reads: what they come to has memory for all of them.
func TestGPUSortMergeMultiplies(t *testing.T) { eachGPU(t, testGPUSortMergeMultiplies) }

func testGPUSortMergeMultiplies(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CREATE TABLE m (k INT, v INT); INSERT INTO m VALUES "+strings.Repeat("(3, 1), ", 40)+"(NULL, 2), (9, 3), (-5, 4); SET radish_gpu_join_sorted = 'always'")
	for _, sql := range []string{
		"SELECT a.v, b.v, a.k FROM m AS a JOIN m AS b ON a.k = b.k ORDER BY 1, 2, 3",
		"SELECT COUNT(*), COUNT(DISTINCT b.v) FROM m AS a JOIN m AS b ON a.k = b.k GROUP BY b.k, b.v WITH ROLLUP",
		"SELECT a.v, b.v FROM m AS a LEFT JOIN m AS b ON a.k = b.k ORDER BY 1, 2",
	} {
		want := sortedLines(textOnCPU(t, s, sql, "gpu_strict"))
		if got := sortedLines(mustRun(t, s, sql)); got != want {
			t.Errorf("%s: %d bytes of rows, want %d:\n%.300s", sql, len(got), len(want), got)
		}
	}
}
