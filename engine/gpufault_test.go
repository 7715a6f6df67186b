package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/tpch"
)

// faultQueries have, together, every kind of sink and of what crosses between the devices. All are over the tables of faultTables.
var faultQueries = []struct{ name, sql string }{
	{"filter, strings", "SELECT a, b, f FROM t WHERE a > 20 AND f LIKE '%1%'"},
	{"values", "SELECT 1 AS x, 'one' AS y UNION ALL SELECT 2, NULL"},
	{"dense join", "SELECT t.a, u.b, u.c FROM t JOIN u ON t.a = u.a WHERE t.c < 9"},
	{"hash join", "SELECT t.a, u.d FROM t JOIN u ON t.f = u.f AND t.e = u.e"},
	{"left join", "SELECT t.a, u.f FROM t LEFT JOIN u ON t.d = u.d AND u.a > 3"},
	{"full join", "SELECT x.a, y.a FROM (SELECT a FROM t WHERE a < 30) AS x RIGHT JOIN (SELECT a FROM u WHERE a > 10) AS y ON x.a = y.a"},
	{"nested loop", "SELECT COUNT(*) FROM t JOIN u ON t.c < u.c AND t.b <> u.b"},
	{"semi and anti join", "SELECT a, f FROM t WHERE a IN (SELECT a FROM u WHERE c > 2) AND f NOT IN (SELECT f FROM u WHERE f IS NOT NULL AND a < 5)"},
	{"scalar aggregate", "SELECT COUNT(*), SUM(a), MIN(f), MAX(d), AVG(c) FROM t"},
	{"dense aggregate", "SELECT b, COUNT(*), SUM(d), MIN(f) FROM t GROUP BY b"},
	{"hash aggregate", "SELECT f, e, COUNT(*), SUM(a), MAX(c) FROM t GROUP BY f, e"},
	{"aggregate that grows", "SELECT x, COUNT(*) FROM (SELECT t.a * 1000 + u.a * 7919 AS x FROM t, u) AS y GROUP BY x"},
	{"variances", "SELECT b, ROUND(VAR_POP(a), 6), ROUND(STDDEV_SAMP(c), 6) FROM t GROUP BY b"},
	{"made strings", "SELECT CONCAT(f, '-', b) AS x, MAX(CONCAT(a, f)) FROM t GROUP BY x"},
	{"distinct", "SELECT DISTINCT b, a % 7 FROM t"},
	{"distinct aggregate", "SELECT b, COUNT(DISTINCT a) FROM t GROUP BY b"},
	{"sort", "SELECT f, d, e FROM t ORDER BY f DESC, e"},
	{"top-N", "SELECT b, f FROM t ORDER BY f, e LIMIT 9 OFFSET 3"},
	{"union all", "SELECT a, f FROM t UNION ALL SELECT a + 1, b FROM u"},
	{"union", "SELECT a, b FROM t UNION SELECT a, b FROM u"},
	{"except", "SELECT a, b FROM t EXCEPT SELECT a, b FROM u"},
	{"window on the CPU", "SELECT b, n, ROW_NUMBER() OVER (PARTITION BY b ORDER BY n, a) FROM (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b) AS g"},
	{"join of what the CPU gives", "SELECT w.b, SUM(w.n), MAX(w.f) FROM (SELECT a, b, f, ROW_NUMBER() OVER (PARTITION BY b ORDER BY e) AS n FROM t) AS w JOIN u ON u.a = w.a GROUP BY w.b"},
	{"several aggregates of joins", "SELECT t.b, COUNT(*), MAX(u.f) FROM t JOIN u ON t.a = u.a JOIN t AS v ON v.c = u.c GROUP BY t.b ORDER BY t.b"},
}

// faultTables makes small tables of all kinds of columns.
func faultTables(t *testing.T, s *Session) {
	t.Helper()
	mustRun(t, s, "CREATE TABLE t (a INT, b VARCHAR(20), c DOUBLE, d DECIMAL(30, 2), e DATE, f VARCHAR(40))")
	var rows []string
	for i := range 150 {
		null := "NULL"
		if i%5 > 0 {
			null = fmt.Sprint(i % 61)
		}
		rows = append(rows, fmt.Sprintf("(%s, 'word %d', %d / 8, %d * 12345678901234567890.25, '2024-01-01' + INTERVAL %d DAY, CONCAT('text of its own ', %d))", null, i%4, i%90, i%70-20, i, i*7919%131))
	}
	mustRun(t, s, "INSERT INTO t VALUES "+strings.Join(rows, ", "))
	mustRun(t, s, "CREATE TABLE u AS SELECT * FROM t WHERE a IS NOT NULL AND a % 3 > 0; DELETE FROM u WHERE a = 8")
}

// sortedLines is a result without its order.
func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// faultAnswers are the CPU's.
func faultAnswers(t *testing.T, s *Session) []string {
	t.Helper()
	mustRun(t, s, "SET radish_device = 'cpu'")
	var out []string
	for _, q := range faultQueries {
		out = append(out, sortedLines(mustRun(t, s, q.sql)))
	}
	return out
}

func theGPU(t *testing.T, e *Engine) *gpu.Device {
	t.Helper()
	d, err := e.GPU()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A lack of device memory, at whichever of a query's allocations, gives the right answer, by giving up columns that nobody uses, or an error
// that says where with radish_device = 'gpu_strict'; with 'gpu' and 'auto' the CPU takes over, and says so. Nothing stays allocated.
func TestGPUOutOfMemory(t *testing.T) { eachGPU(t, testGPUOutOfMemory) }

func testGPUOutOfMemory(t *testing.T, e *Engine) {
	s := e.NewSession()
	faultTables(t, s)
	answers := faultAnswers(t, s)
	d := theGPU(t, e)
	before := queryBytes(t, d)
	e.Auto.Instead = gpu.Eager
	mustRun(t, s, "CREATE TABLE idle (x INT); INSERT INTO idle VALUES (1), (2)")
	for i, q := range faultQueries {
		for _, mode := range []string{"gpu_strict", "gpu", "auto"} {
			strict := mode == "gpu_strict"
			if !strict && i%4 != 0 && (testing.Short() || mode == "gpu") { // which differ in what EXPLAIN says
				continue
			}
			mustRun(t, s, "SET radish_device = 'gpu'")
			if strict && strings.Contains(mustRun(t, s, "EXPLAIN "+q.sql), " on cpu:") {
				continue
			}
			mustRun(t, s, "SET radish_device = '"+mode+"'")
			if got := sortedLines(mustRun(t, s, q.sql)); got != answers[i] {
				t.Fatalf("%s: got\n%s\nwant\n%s", q.name, got, answers[i])
			}
			failed, evicted, fell := 0, 0, 0
			untouched := 0
			for n := 1; untouched < 5; n++ {
				idle := n%2 == 0 // something that can be given up
				d.EvictColumns()
				if idle {
					mustRun(t, s, "SELECT MAX(x) FROM idle")
				}
				if err := d.FailAllocation(n); err != nil {
					t.Fatal(err)
				}
				out, err := run(context.Background(), s, q.sql)
				if ferr := d.FailAllocation(0); ferr != nil {
					t.Fatal(ferr)
				}
				notes := ""
				for _, w := range s.Warnings() {
					notes += w.Message
				}
				var e *sqlerr.Error
				switch {
				case err == nil && sortedLines(out) != answers[i]:
					t.Fatalf("%s, allocation %d failing gives\n%s\nwant\n%s", q.name, n, out, answers[i])
				case err != nil && (!strict || !errors.As(err, &e) || e.Kind != sqlerr.Resource || !strings.Contains(e.Error(), "on the GPU ran out of memory")):
					t.Fatalf("%s with %s, allocation %d failing: %v", q.name, mode, n, err)
				case err != nil:
					failed++
					untouched = 0
				case strings.Contains(notes, "ran on the CPU"):
					if strict {
						t.Errorf("%s with %s, allocation %d failing: %s", q.name, mode, n, notes)
					}
					fell++
					untouched = 0
				case idle && !holdsIdle(t, s, d):
					evicted++
					untouched = 0
				default:
					untouched++
				}
				if after := settled(t, d, before); after != before {
					t.Fatalf("%s, allocation %d failing leaves %d bytes", q.name, n, after-before)
				}
				if n > 500 {
					t.Fatalf("%s: 500 allocations have failed", q.name)
				}
			}
			t.Logf("%s with %s: of the allocations %d failing were errors, %d were made good by giving up columns, %d by the CPU", q.name, mode, failed, evicted, fell)
			if strict && failed == 0 || !strict && fell == 0 {
				t.Errorf("%s with %s: no allocation failed", q.name, mode)
			}
		}
	}
}

// settled is queryBytes, a little later if it is not what it should be: columns whose query has ended are uploaded to their end.
func settled(t *testing.T, d *gpu.Device, want int64) int64 {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if n := queryBytes(t, d); n == want || time.Now().After(deadline) {
			return n
		}
	}
}

// holdsIdle says whether the table idle is on the device.
func holdsIdle(t *testing.T, s *Session, d *gpu.Device) bool {
	t.Helper()
	v, _, err := s.engine.Catalog.Load().Lookup(database.DefaultDatabase, "idle")
	if err != nil {
		t.Fatal(err)
	}
	return d.ResidentBytes(v) > 0
}

// A cancelled query ends soon and frees what it holds, on a GPU within 100 ms, also while a kernel of another session is loaded: the driver then lets calls
// wait until the kernels that run have ended.
func TestGPUCancellation(t *testing.T) { eachGPU(t, testGPUCancellation) }

func testGPUCancellation(t *testing.T, e *Engine) {
	d := theGPU(t, e)
	before := queryBytes(t, d)
	r := rand.New(rand.NewPCG(1, 2))
	s := e.NewSession()
	sf, rounds, limit := 0.05, 6, busyLimit
	if !d.Emulated() {
		sf, rounds, limit = 1, 20, cancelLimit
	}
	if testing.Short() {
		sf, rounds = 0.01, 3
	}
	mustRun(t, s, fmt.Sprintf("CALL tpch_generate(%v); SET radish_device = 'gpu'", sf))
	type long struct {
		name, sql string
		takes     time.Duration
	}
	var queries []long
	for _, q := range tpch.Queries(sf) {
		if n := q.Number; n == 1 || n == 9 || n == 21 {
			mustRun(t, s, q.SQL) // compiles
			begin := time.Now()
			mustRun(t, s, q.SQL)
			queries = append(queries, long{fmt.Sprint("Q", n), q.SQL, time.Since(begin)})
		}
	}
	for _, q := range []long{ // without an end
		{name: "nested loop", sql: "SELECT COUNT(*) FROM lineitem a, lineitem b WHERE a.l_comment < b.l_comment"},
		{name: "nested loop of numbers", sql: "SELECT SUM(a.l_tax + b.l_tax) FROM lineitem a, lineitem b WHERE a.l_extendedprice < b.l_quantity"},
		{name: "join of many pairs", sql: "SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_suppkey = b.l_suppkey AND a.l_tax > b.l_quantity"},
		{name: "join of very many pairs", sql: "SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_linenumber = b.l_linenumber AND a.l_tax > b.l_quantity"},
		{name: "groups of very many pairs", sql: "SELECT a.l_partkey, COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_returnflag = b.l_returnflag AND a.l_linenumber = b.l_linenumber GROUP BY 1"},
		{name: "pairs of pairs", sql: "SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_suppkey = b.l_suppkey LEFT JOIN lineitem c ON b.l_quantity = c.l_quantity AND c.l_tax > a.l_quantity"},
		{name: "a match that is not there", sql: "SELECT COUNT(*) FROM lineitem a WHERE NOT EXISTS (SELECT 1 FROM lineitem b WHERE a.l_returnflag = b.l_returnflag AND b.l_tax > a.l_quantity)"},
	} {
		mustRun(t, s, fmt.Sprintf(`PREPARE p FROM "%s"`, q.sql)) // compiles
		q.takes = 400 * time.Millisecond
		queries = append(queries, q)
	}
	for _, q := range queries {
		worst, ended := time.Duration(0), 0
		for round, tries := 0, 0; round < rounds; round++ {
			loaded := loadsKernel(e, d)
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan time.Time, 1)
			go func() {
				time.Sleep(time.Duration(r.Int64N(int64(q.takes))))
				done <- time.Now()
				cancel()
			}()
			_, err := run(ctx, s, q.sql)
			at := time.Now()
			if err := <-loaded; err != nil {
				t.Error(err)
			}
			ended++
			if err == nil { // it was faster
				<-done
				continue
			}
			late := at.Sub(<-done)
			if tries++; late > limit && tries < 4*rounds { // other programs may delay it, but not each time
				round--
			} else {
				worst = max(worst, late)
			}
			if !errors.Is(err, sqlerr.Cancelled) {
				t.Errorf("%s: %v", q.name, err)
			}
			if after := settled(t, d, before); after != before {
				t.Errorf("%s: a cancelled query leaves %d bytes", q.name, after-before)
			}
		}
		t.Logf("%-28s at most %6.1f ms of %d cancellations (a run takes %v)", q.name, worst.Seconds()*1e3, ended, q.takes.Round(time.Millisecond))
		if worst > limit {
			t.Errorf("%s took %v to be cancelled", q.name, worst)
		}
	}
}

// loadsKernel has another session compile and load a kernel that was not there before, and gives its error then. An emulated device, which needs a second for
// that, has none.
func loadsKernel(e *Engine, d *gpu.Device) <-chan error {
	ended := make(chan error, 1)
	if d.Emulated() {
		ended <- nil
		return ended
	}
	go func() {
		s := e.NewSession()
		_, err := run(context.Background(), s, "SET radish_device = 'gpu'")
		if err == nil {
			terms := strings.NewReplacer("0", " + l_linenumber", "1", " - l_suppkey").Replace(strconv.FormatInt(kernelsLoaded.Add(1), 2))
			_, err = run(context.Background(), s, fmt.Sprintf(`PREPARE p FROM "SELECT SUM(l_orderkey%s) FROM lineitem"`, terms))
		}
		ended <- err
	}()
	return ended
}

// kernelsLoaded numbers the kernels of loadsKernel.
var kernelsLoaded atomic.Int64

// 64 sessions share a device, some of them losing patience: every answer is right, and in the end nothing is held.
func TestGPUSessions(t *testing.T) { eachGPU(t, testGPUSessions) }

func testGPUSessions(t *testing.T, e *Engine) {
	s := e.NewSession()
	faultTables(t, s)
	answers := faultAnswers(t, s)
	mustRun(t, s, "SET radish_device = 'gpu'")
	for _, q := range faultQueries {
		mustRun(t, s, q.sql) // compiles
	}
	d := theGPU(t, e)
	before := queryBytes(t, d)
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	right, cancelled := 0, 0
	for w := range uint64(64) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(w, 64))
			own := e.NewSession()
			if _, err := run(context.Background(), own, "SET radish_device = 'gpu'"); err != nil {
				t.Error(err)
				return
			}
			for range rounds {
				k := r.IntN(len(faultQueries))
				ctx, cancel := context.Background(), context.CancelFunc(func() {})
				if r.IntN(4) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(5000))*time.Microsecond)
				}
				got, err := run(ctx, own, faultQueries[k].sql)
				patient := ctx.Err() == nil
				cancel()
				mu.Lock()
				switch {
				case err == nil && sortedLines(got) != answers[k]:
					t.Errorf("%s: got\n%s\nwant\n%s", faultQueries[k].name, got, answers[k])
				case err == nil:
					right++
				case patient || !errors.Is(err, sqlerr.Cancelled) && !errors.Is(err, context.DeadlineExceeded):
					t.Errorf("%s: %v", faultQueries[k].name, err)
				default:
					cancelled++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d answers, %d cancelled", right, cancelled)
	if after := settled(t, d, before); after != before {
		t.Errorf("%d bytes are held", after-before)
	}
}

// After a thousand queries the device's memory is as it was after the first ones.
func TestGPUManyQueries(t *testing.T) { eachGPU(t, testGPUManyQueries) }

func testGPUManyQueries(t *testing.T, e *Engine) {
	s := e.NewSession()
	faultTables(t, s)
	mustRun(t, s, "SET radish_device = 'gpu'")
	d := theGPU(t, e)
	memory := func() gpu.Memory {
		m, err := d.Memory()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, q := range faultQueries {
		mustRun(t, s, q.sql)
	}
	start := memory()
	count := 1000
	if testing.Short() {
		count = 200
	}
	for i := range count {
		mustRun(t, s, faultQueries[i%len(faultQueries)].sql)
	}
	end := memory()
	if start.Used-start.Resident != end.Used-end.Resident || end.Resident > start.Resident { // tables of other tests may have gone meanwhile
		t.Errorf("%d bytes are used and %d resident after %d queries, %d and %d before", end.Used, end.Resident, count, start.Used, start.Resident)
	}
	if end.Held > start.Held {
		t.Errorf("the pool holds %d bytes after %d queries, %d before", end.Held, count, start.Held)
	}
	d.EvictColumns()
	if m := memory(); m.Used-m.Resident != start.Used-start.Resident {
		t.Errorf("%d bytes are left", m.Used-m.Resident)
	}
}

// loseVariable tells the test binary to lose its GPU, which ends that for the whole process; its value is the library.
const loseVariable = "RADISH_TEST_LOSE_GPU"

// A kernel that fails takes the device with it: what runs there then, and later on, says so, or runs on the CPU.
func TestGPULost(t *testing.T) {
	if library := os.Getenv(loseVariable); library != "" {
		loseGPU(t, library)
		return
	}
	gputest.EachLibrary(t, func(t *testing.T, lib *gpukernels.Library) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGPULost$", "-test.v", "-test.timeout=15m")
		cmd.Env = append(os.Environ(), loseVariable+"="+lib.Path())
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
	})
}

func loseGPU(t *testing.T, library string) {
	e, err := New(database.Options{Threads: 2, Device: gpu.Never, GPULibrary: library})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.NewSession()
	faultTables(t, s)
	mustRun(t, s, "CALL tpch_generate(0.02)")
	answers := faultAnswers(t, s)
	const big = "SELECT l_returnflag, COUNT(*), SUM(l_quantity) FROM lineitem GROUP BY 1 ORDER BY 1"
	want := mustRun(t, s, big)
	d := theGPU(t, e)

	var wg sync.WaitGroup
	begun := make(chan bool, 8)
	for w := range 8 {
		wg.Go(func() {
			own := e.NewSession()
			_, err := run(context.Background(), own, "SET radish_device = 'gpu'")
			for i := w; err == nil; i++ {
				k := i % len(faultQueries)
				var got string
				if got, err = run(context.Background(), own, faultQueries[k].sql); err == nil && sortedLines(got) != answers[k] {
					t.Errorf("%s: got\n%s", faultQueries[k].name, got)
				}
				select {
				case begun <- true:
				default:
				}
			}
			var x *sqlerr.Error
			if !errors.As(err, &x) || x.Kind != sqlerr.Resource || !strings.Contains(err.Error(), "broken") {
				t.Errorf("a query meets the lost GPU: %v", err)
			}
		})
	}
	<-begun
	err = d.Break(context.Background())
	if !errors.Is(err, gpukernels.ErrDeviceLost) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("the kernel that traps gives %v", err)
	}
	wg.Wait()

	mustRun(t, s, "SET radish_device = 'gpu'")
	for _, sql := range []string{"SELECT SUM(a) FROM t", big, "EXPLAIN " + big, "SELECT /*+ SET_VAR(radish_device='gpu_strict') */ 1"} {
		var x *sqlerr.Error
		if _, err := run(context.Background(), s, sql); !errors.As(err, &x) || x.Kind != sqlerr.Resource || !strings.Contains(err.Error(), "cannot be used until the program restarts") || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s on a lost GPU: %v", sql, err)
		}
	}
	if got := mustRun(t, s, "SELECT status FROM information_schema.radish_devices WHERE device = 'gpu0'"); !strings.Contains(got, "lost") || !strings.Contains(got, "broken") {
		t.Errorf("radish_devices says %s", got)
	}
	mustRun(t, s, "SET radish_device = 'auto'")
	for i := range 2 {
		if got := mustRun(t, s, big); got != want {
			t.Errorf("with auto: got\n%s\nwant\n%s", got, want)
		}
		if w := s.Warnings(); len(w) != 1-i || i == 0 && !strings.Contains(w[0].Message, "the GPU failed and cannot be used") {
			t.Errorf("run %d with auto warns of %v", i, w)
		}
	}
	if got := mustRun(t, s, "EXPLAIN "+big); !strings.Contains(got, "the GPU failed and cannot be used") {
		t.Errorf("EXPLAIN does not say that the GPU is lost:\n%s", got)
	}
}

// memoryVariable tells the test binary that its emulated device has little memory; its value is the library.
const memoryVariable = "RADISH_TEST_LITTLE_MEMORY"

// emulatedMemory is the variable that says how many bytes of memory an emulated device has.
const emulatedMemory = "RADISH_EMULATED_MEMORY"

// Of 4 MB the columns of a query take more, which is known before it starts; they fit 6.5 MB, and what the query makes of them does not.
const tooLittleForColumns, tooLittleForQueries = "4000000", "6500000"

// What does not fit the device's memory is an error that says where and how much, or runs on the CPU; what crosses to the CPU counts against
// the query's own limit.
func TestGPUMemoryBound(t *testing.T) {
	if library := os.Getenv(memoryVariable); library != "" {
		boundMemory(t, library, os.Getenv(emulatedMemory) == tooLittleForColumns)
		return
	}
	for _, memory := range []string{tooLittleForColumns, tooLittleForQueries} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGPUMemoryBound$", "-test.v", "-test.timeout=15m")
		cmd.Env = append(os.Environ(), memoryVariable+"="+gputest.EmulatedLibrary(t).Path(), emulatedMemory+"="+memory)
		out, err := cmd.CombinedOutput()
		t.Logf("%s bytes: %s", memory, out)
		if err != nil {
			t.Error(err)
		}
	}
}

// boundMemory runs queries that do not fit; known says that it is known before they start.
func boundMemory(t *testing.T, library string, known bool) {
	e, err := New(database.Options{Threads: 2, Device: gpu.Never, GPULibrary: library})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.NewSession()
	mustRun(t, s, "CALL tpch_generate(0.02)")
	d := theGPU(t, e)
	e.Auto.Instead = gpu.Eager
	message := "on the GPU ran out of memory"
	if known {
		message = "it would run out of GPU memory"
	}
	for _, sql := range []string{
		"SELECT l_comment, COUNT(*) FROM lineitem GROUP BY l_comment ORDER BY 2 DESC, 1 LIMIT 3",
		"SELECT l_orderkey, l_linenumber, l_comment FROM lineitem ORDER BY l_comment, 1, 2",
		"SELECT COUNT(*) FROM lineitem AS a JOIN lineitem AS b ON a.l_comment = b.l_comment",
	} {
		want := textOnCPU(t, s, sql, "gpu_strict")
		_, err := run(context.Background(), s, sql)
		var x *sqlerr.Error
		if !errors.As(err, &x) || x.Kind != sqlerr.Resource || x.Code != sqlerr.CodeCapacityExceeded || !strings.Contains(err.Error(), message) || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%s: %v", sql, err)
		}
		t.Log(err)
		for _, mode := range []string{"gpu", "auto"} {
			mustRun(t, s, "SET radish_device = '"+mode+"'")
			if got := mustRun(t, s, sql); got != want {
				t.Errorf("%s with %s: the CPU takes over and gives %d bytes, want %d", sql, mode, len(got), len(want))
			}
			if w := s.Warnings(); !known && (len(w) != 1 || !strings.Contains(w[0].Message, message)) || known && len(w) != 0 {
				t.Errorf("%s with %s: the warnings are %v", sql, mode, w)
			}
			if got := mustRun(t, s, "EXPLAIN "+sql); known && !strings.Contains(got, "on cpu: it would run out of GPU memory") || !known && strings.Contains(got, "GPU memory") {
				t.Errorf("%s with %s: the plan is\n%s", sql, mode, got)
			}
		}
		if n := settled(t, d, 0); n != 0 {
			t.Errorf("%s: %d bytes are left", sql, n)
		}
	}
	// What fits goes on working, and a query's limit holds for what crosses over.
	mustRun(t, s, "SET radish_device = 'gpu'")
	if got := mustRun(t, s, "SELECT COUNT(*) FROM orders WHERE o_orderkey > 0"); got != "30000\n" {
		t.Errorf("got %s", got)
	}
	mustRun(t, s, "SET radish_memory_limit = '64KB'")
	const crossing = "SELECT o_orderkey, n, ROW_NUMBER() OVER (ORDER BY n, o_orderkey) FROM (SELECT o_orderkey, COUNT(*) AS n FROM orders GROUP BY o_orderkey) AS g"
	if got := mustRun(t, s, "EXPLAIN "+crossing); !strings.Contains(got, " on gpu:") || !strings.Contains(got, " on cpu:") {
		t.Errorf("the plan is not on both devices:\n%s", got)
	}
	var x *sqlerr.Error
	if _, err := run(context.Background(), s, crossing); !errors.As(err, &x) || x.Kind != sqlerr.Resource || !strings.Contains(err.Error(), "KiB") || strings.Contains(err.Error(), "GPU memory") {
		t.Errorf("more rows cross over than the limit allows: %v", err)
	} else {
		t.Log(err)
	}
	if n := settled(t, d, 0); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}
