package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tabletest"
	"github.com/radish-sql/radish/storage/tpch"
)

// deviceList lists so many devices of an engine's library: the first one again where there are fewer.
func deviceList(t *testing.T, e *Engine, n int) string {
	t.Helper()
	lib, err := gpukernels.Open(gpukernels.Options{Path: e.Opts.GPULibrary})
	if err != nil {
		t.Fatal(err)
	}
	devices, err := lib.Devices()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint(i%len(devices)))
	}
	return strings.Join(list, ",")
}

// fleetSession is a session whose queries run on so many devices if they can be shared, however few rows they read.
func fleetSession(t *testing.T, e *Engine, devices int) *Session {
	t.Helper()
	s := e.NewSession()
	mustRun(t, s, "SET radish_gpu_devices = '"+deviceList(t, e, devices)+"'; SET radish_gpu_share = 'always'; SET radish_device = 'gpu'")
	return s
}

// fleetDevices are the devices of a session.
func fleetDevices(t *testing.T, s *Session) []*gpu.Device {
	t.Helper()
	devices, err := s.Vars.Fleet().Wait()
	if err != nil {
		t.Fatal(err)
	}
	return devices
}

// splitTables makes row groups of an engine's tables so small that each has seven or eight of them.
func splitTables(t *testing.T, e *Engine, tables ...string) {
	t.Helper()
	for _, name := range tables {
		v, _, err := e.Catalog.Load().Lookup(database.DefaultDatabase, name)
		if err != nil {
			t.Fatal(err)
		}
		var small *table.Version
		if small, err = tabletest.Regroup(v, int(v.Rows())/7+1); err == nil {
			mustRun(t, e.NewSession(), "DROP TABLE "+name)
			err = e.Register(small)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// isShared says whether several devices run a query, and has the exchanges of its plan counted.
func isShared(t *testing.T, s *Session, sql string, exchanges map[string]int) bool {
	t.Helper()
	plan := mustRun(t, s, "EXPLAIN "+sql)
	for _, kind := range []string{"gather", "broadcast", "repartition"} {
		exchanges[kind] += strings.Count(plan, ", then "+kind)
	}
	return strings.Contains(plan, ", then ")
}

// TestTPCHOnGPUs runs the 22 queries on three devices and compares them with the CPU's results.
func TestTPCHOnGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles some 300 kernels")
	}
	eachGPU(t, func(t *testing.T, e *Engine) { testTPCHOnFleet(t, e, 3) })
}

func testTPCHOnFleet(t *testing.T, e *Engine, devices int) {
	s := e.NewSession()
	mustRun(t, s, "CALL tpch_generate(0.01)")
	splitTables(t, e, "customer", "lineitem", "orders", "part", "partsupp", "supplier")
	f := fleetSession(t, e, devices)
	shared, exchanges := 0, map[string]int{}
	for _, q := range tpch.Queries(0.01) {
		mustRun(t, s, "SET radish_device = 'cpu'")
		want := rowTexts(values(t, s, q.SQL))
		got := rowTexts(values(t, f, q.SQL))
		if w := f.Warnings(); len(w) > 0 {
			t.Errorf("Q%d: %s", q.Number, w[0].Message)
		}
		sameRowsAsCPU(t, fmt.Sprintf("Q%d", q.Number), fmt.Sprintf("%d GPUs", devices), got, want)
		if isShared(t, f, q.SQL, exchanges) {
			shared++
		}
	}
	t.Logf("%d devices shared %d queries, with exchanges: %v", devices, shared, exchanges)
	if shared < 15 || exchanges["gather"] == 0 || exchanges["repartition"] == 0 {
		t.Error("too few")
	}
}

// apartVariable tells the test binary to run tests on devices that do not reach each other; its value is the library.
const apartVariable = "RADISH_TEST_APART"

// TestGPUsApart has devices share queries that cannot reach each other's memory: a kernel that touches it nevertheless stops.
func TestGPUsApart(t *testing.T) {
	if library := os.Getenv(apartVariable); library != "" {
		e, err := New(database.Options{Threads: 2, Device: gpu.Never, GPULibrary: library})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		s := fleetSession(t, e, 3)
		if d := fleetDevices(t, s); len(d) != 3 || d[0] == d[1] {
			t.Fatalf("the devices are %v", d)
		}
		testFaultQueriesOnFleet(t, e, s)
		return
	}
	lib := gputest.EmulatedLibrary(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestGPUsApart$", "-test.v", "-test.timeout=15m")
	cmd.Env = append(os.Environ(), apartVariable+"="+lib.Path(), gputest.EmulatedDevicesVariable+"=3", "RADISH_EMULATED_PEERS=0")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// testFaultQueriesOnFleet compares what devices that share them give for queries with all kinds of columns.
func testFaultQueriesOnFleet(t *testing.T, e *Engine, s *Session) {
	t.Helper()
	c := e.NewSession()
	faultTables(t, c)
	splitTables(t, e, "t", "u")
	answers := faultAnswers(t, c)
	shared, exchanges := 0, map[string]int{}
	for i, q := range faultQueries {
		if got := sortedLines(mustRun(t, s, q.sql)); got != answers[i] {
			t.Errorf("%s: got\n%s\nwant\n%s", q.name, got, answers[i])
		}
		for _, w := range s.Warnings() {
			if strings.Contains(w.Message, "ran on the CPU") {
				t.Errorf("%s: %s", q.name, w.Message)
			}
		}
		if isShared(t, s, q.sql, exchanges) {
			shared++
		}
	}
	t.Logf("%d of %d queries were shared, with exchanges: %v", shared, len(faultQueries), exchanges)
	if shared < len(faultQueries)/2 {
		t.Error("too few")
	}
}

// TestGPUsOutOfMemory: a lack of memory at any of the devices, at whichever allocation, gives the right answer or an error that says where. Nothing stays allocated on any of them.
func TestGPUsOutOfMemory(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		c := e.NewSession()
		faultTables(t, c)
		splitTables(t, e, "t", "u")
		answers := faultAnswers(t, c)
		s := fleetSession(t, e, 2)
		devices := fleetDevices(t, s)
		var before []int64
		for _, d := range devices {
			before = append(before, queryBytes(t, d))
		}
		for i, q := range faultQueries {
			if i%3 != 0 || testing.Short() && i%9 != 0 || gputest.TimeUp(t) {
				continue
			}
			mustRun(t, s, "SET radish_device = 'gpu'; "+q.sql)
			if strings.Contains(mustRun(t, s, "EXPLAIN "+q.sql), " on cpu:") {
				continue
			}
			mustRun(t, s, "SET radish_device = 'gpu_strict'")
			for at, d := range devices {
				failed, untouched := 0, 0
				for n := 1; untouched < 3; n++ {
					for _, d := range devices {
						d.EvictColumns()
					}
					if err := d.FailAllocation(n); err != nil {
						t.Fatal(err)
					}
					out, err := run(context.Background(), s, q.sql)
					if ferr := d.FailAllocation(0); ferr != nil {
						t.Fatal(ferr)
					}
					var x *sqlerr.Error
					switch {
					case err == nil && sortedLines(out) != answers[i]:
						t.Fatalf("%s, allocation %d of device %d failing gives\n%s\nwant\n%s", q.name, n, at, out, answers[i])
					case err != nil && (!errors.As(err, &x) || x.Kind != sqlerr.Resource || !strings.Contains(err.Error(), "ran out of memory")):
						t.Fatalf("%s, allocation %d of device %d failing: %v", q.name, n, at, err)
					case err != nil:
						failed++
						untouched = 0
					default:
						untouched++
					}
					for k, d := range devices {
						if after := settled(t, d, before[k]); after != before[k] {
							t.Fatalf("%s, allocation %d of device %d failing leaves %d bytes on device %d", q.name, n, at, after-before[k], k)
						}
					}
				}
				if failed == 0 {
					t.Errorf("%s: no allocation of device %d failed", q.name, at)
				}
			}
		}
	})
}

// TestGPUsSessions has two sessions exchange rows at once, over and over, with 1,000 queries on GPUs: both get their answers, neither waits for the other for ever, and nothing stays allocated.
func TestGPUsSessions(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		c := e.NewSession()
		faultTables(t, c)
		splitTables(t, e, "t", "u")
		answers := faultAnswers(t, c)
		devices := fleetDevices(t, fleetSession(t, e, 3))
		var before []int64
		for _, d := range devices {
			before = append(before, queryBytes(t, d))
		}
		rounds := 3
		switch {
		case !devices[0].Emulated():
			rounds = 500/len(faultQueries) + 1
		case testing.Short():
			rounds = 1
		}
		var all sync.WaitGroup
		for w := range 2 {
			s := fleetSession(t, e, 3)
			all.Go(func() {
				for i := range rounds * len(faultQueries) {
					k := (i*(w+1) + w) % len(faultQueries)
					got, err := run(context.Background(), s, faultQueries[k].sql)
					if err != nil || sortedLines(got) != answers[k] {
						t.Errorf("%s: %v, got\n%s", faultQueries[k].name, err, got)
					}
				}
			})
		}
		all.Wait()
		for i, d := range devices {
			if after := settled(t, d, before[i]); after != before[i] {
				t.Errorf("%d bytes stay on device %d", after-before[i], i)
			}
		}
	})
}

// TestGPUsSkipPipelines has rows sorted to which the first device alone adds some: the others' are in order nevertheless, and there are none where a table is empty.
func TestGPUsSkipPipelines(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		c := e.NewSession()
		mustRun(t, c, "SET radish_device = 'cpu'; CREATE TABLE none (k INT, a BIGINT); CREATE TABLE some (k INT, a BIGINT); INSERT INTO some SELECT k, k * 7919 % 1009 FROM (WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM r WHERE k < 900) SELECT k FROM r) AS x")
		splitTables(t, e, "some")
		s := fleetSession(t, e, 3)
		for _, table := range []string{"none", "some"} {
			for _, sql := range []string{
				"SELECT COUNT(*) AS n FROM %s AS x GROUP BY x.a WITH ROLLUP ORDER BY 1 LIMIT 2 OFFSET 2",
				"SELECT a FROM %s UNION ALL SELECT COUNT(*) - 3 FROM %s ORDER BY 1 DESC LIMIT 12 OFFSET 3",
				"SELECT a FROM %s UNION ALL SELECT MAX(a) - 3 FROM %s ORDER BY 1 LIMIT 5",
			} {
				sql = strings.ReplaceAll(sql, "%s", table)
				if got, want := mustRun(t, s, sql), mustRun(t, c, sql); got != want {
					t.Errorf("%s: got\n%s\nwant\n%s", sql, got, want)
				}
			}
		}
	})
}

// TestGPUsCancelled cancels queries that several devices share at all moments: each ends soon, on all of them, and leaves nothing.
func TestGPUsCancelled(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		c := e.NewSession()
		mustRun(t, c, "CALL tpch_generate(0.01)")
		splitTables(t, e, "lineitem", "orders")
		s := fleetSession(t, e, 3)
		devices := fleetDevices(t, s)
		var before []int64
		for _, d := range devices {
			before = append(before, queryBytes(t, d))
		}
		limit := busyLimit
		if !devices[0].Emulated() {
			limit = cancelLimit
		}
		for _, sql := range []string{
			"SELECT l_orderkey, l_linenumber, SUM(l_quantity) FROM lineitem GROUP BY 1, 2",
			"SELECT o_orderpriority, COUNT(*), MAX(l_comment) FROM lineitem JOIN orders ON l_suppkey = o_custkey GROUP BY 1",
			"SELECT COUNT(*) FROM lineitem a, lineitem b WHERE a.l_comment < b.l_comment", // without an end
		} {
			mustRun(t, s, fmt.Sprintf(`PREPARE p FROM "%s"`, sql)) // compiles
			if !isShared(t, s, sql, map[string]int{}) {
				t.Errorf("not shared: %s", sql)
			}
			worst := time.Duration(0)
			for round, tries := 0, 0; round < 6; round++ {
				ctx, cancel := context.WithCancel(context.Background())
				at := make(chan time.Time, 1)
				go func() {
					time.Sleep(time.Duration(round*round) * 2 * time.Millisecond)
					at <- time.Now()
					cancel()
				}()
				_, err := run(ctx, s, sql)
				ended := time.Now()
				cancelled := <-at
				if err == nil { // it was faster
					continue
				}
				late := ended.Sub(cancelled)
				if tries++; late > limit && tries < 20 { // other programs may delay it, but not each time
					round--
				} else {
					worst = max(worst, late)
				}
				if !errors.Is(err, sqlerr.Cancelled) {
					t.Errorf("%s: %v", sql, err)
				}
				for k, d := range devices {
					if after := settled(t, d, before[k]); after != before[k] {
						t.Errorf("%s: a cancelled query leaves %d bytes on device %d", sql, after-before[k], k)
					}
				}
			}
			t.Logf("at most %.1f ms: %s", worst.Seconds()*1e3, sql)
			if worst > limit {
				t.Errorf("%s took %v to be cancelled", sql, worst)
			}
		}
	})
}

// loseOneVariable tells the test binary to lose one of its GPUs; its value is the library.
const loseOneVariable = "RADISH_TEST_LOSE_ONE_GPU"

// A device that is lost takes the queries with it that it has a part in. Later ones run on those that are left.
func TestOneOfGPUsLost(t *testing.T) {
	if library := os.Getenv(loseOneVariable); library != "" {
		loseOneGPU(t, library)
		return
	}
	lib := gputest.EmulatedLibrary(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestOneOfGPUsLost$", "-test.v", "-test.timeout=15m")
	cmd.Env = append(os.Environ(), loseOneVariable+"="+lib.Path(), gputest.EmulatedDevicesVariable+"=3")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

func loseOneGPU(t *testing.T, library string) {
	e, err := New(database.Options{Threads: 2, Device: gpu.Never, GPULibrary: library})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c := e.NewSession()
	faultTables(t, c)
	splitTables(t, e, "t", "u")
	answers := faultAnswers(t, c)
	s := e.NewSession()
	mustRun(t, s, "SET radish_gpu_share = 'always'; SET radish_device = 'gpu'")
	devices, err := e.Fleet().Wait()
	if err != nil || len(devices) != 3 {
		t.Fatalf("the devices are %v (%v)", devices, err)
	}
	lost, ended := make(chan bool), make(chan error, 1)
	go func() {
		begun := false
		for i := 0; ; i++ {
			k := i % len(faultQueries)
			got, err := run(context.Background(), s, faultQueries[k].sql)
			if err == nil && sortedLines(got) != answers[k] {
				t.Errorf("%s: got\n%s", faultQueries[k].name, got)
			}
			if err != nil || devices[1].Lost() != nil {
				ended <- err
				return
			}
			if !begun {
				begun = true
				close(lost)
			}
		}
	}()
	<-lost
	if err := devices[1].Break(context.Background()); err == nil {
		t.Fatal("the device is not lost")
	}
	if err := <-ended; err != nil && !strings.Contains(err.Error(), "lost") && !strings.Contains(err.Error(), "a test asked for it") {
		t.Errorf("a query meets the lost GPU: %v", err)
	}
	if open := e.Fleet().Open(); len(open) != 2 || open[0] != devices[0] || open[1] != devices[2] {
		t.Errorf("the devices that are left are %v", open)
	}
	for i, q := range faultQueries {
		if got := sortedLines(mustRun(t, s, q.sql)); got != answers[i] {
			t.Errorf("%s on those that are left: got\n%s", q.name, got)
		}
	}
	status := mustRun(t, s, "SELECT device, status FROM information_schema.radish_devices WHERE device LIKE 'gpu%' ORDER BY 1")
	if !strings.HasPrefix(status, "gpu0|usable\ngpu1|lost: ") || !strings.Contains(status, "gpu2|usable\n") {
		t.Errorf("radish_devices says %s", status)
	}
}

// TestFleetUnions stores rows of all devices and of the first one alone in one result: the others have no rows of the second kind.
func TestFleetUnions(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the kernels of 18 plans")
	}
	e := gpuEngine(t, gputest.EmulatedLibrary(t))
	c := e.NewSession()
	mustRun(t, c, "CREATE TABLE empty (k INT, v BIGINT); CREATE TABLE some (k INT, v BIGINT); INSERT INTO some VALUES (1, 5), (1, 7), (2, NULL), (NULL, 3), (4, 4)")
	splitTables(t, e, "some")
	s := fleetSession(t, e, 3)
	for _, table := range []string{"empty", "some"} {
		for _, query := range []string{
			"SELECT COUNT(*) AS n FROM %[1]s GROUP BY v WITH ROLLUP ORDER BY 1 LIMIT 2 OFFSET 2",
			"SELECT NULL AS x FROM %[1]s GROUP BY k WITH ROLLUP ORDER BY 1 DESC LIMIT 2",
			"SELECT k, SUM(v) FROM %[1]s GROUP BY k WITH ROLLUP ORDER BY 2 DESC, 1",
			"SELECT v FROM %[1]s UNION ALL SELECT * FROM (SELECT v + 10 FROM %[1]s ORDER BY v LIMIT 3) AS d ORDER BY 1 LIMIT 6",
			"SELECT v FROM %[1]s UNION ALL SELECT * FROM (SELECT v + 10 FROM %[1]s ORDER BY v LIMIT 3) AS d ORDER BY 1",
			"SELECT v FROM %[1]s UNION SELECT MAX(v) FROM %[1]s ORDER BY 1 LIMIT 4",
			"SELECT k, v, COUNT(*) FROM %[1]s GROUP BY k, v WITH ROLLUP ORDER BY 1, 2, 3 LIMIT 20",
			"SELECT n, COUNT(*) FROM (SELECT COUNT(*) AS n FROM %[1]s UNION ALL SELECT v FROM %[1]s) AS d JOIN %[1]s AS s ON s.v = d.n GROUP BY n ORDER BY 1 LIMIT 3",
			"SELECT COUNT(*), SUM(v) FROM (SELECT v FROM %[1]s UNION ALL SELECT MAX(v) FROM %[1]s UNION ALL SELECT * FROM (SELECT v FROM %[1]s ORDER BY v LIMIT 2) AS d) AS u",
		} {
			sql := fmt.Sprintf(query, table)
			if got, want := mustRun(t, s, sql), mustRun(t, c, "SET radish_device = 'cpu'; "+sql); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", sql, got, want)
			}
		}
	}
}
