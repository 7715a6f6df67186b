package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// runTables has a table in which few keys have very many rows, one in which one of many keys has, and one that is joined with either.
const runTables = `
	CREATE TABLE digit (d INT); INSERT INTO digit VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
	CREATE TABLE few AS SELECT (a.d * 7 + b.d) % 20 * 1000003 AS k, a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS p FROM digit a, digit b, digit c, digit e;
	CREATE TABLE hot AS SELECT CASE WHEN p % 2 = 0 THEN 3000009 ELSE p * 1000003 END AS k, p FROM few;
	CREATE TABLE probe AS SELECT k, p AS q FROM few WHERE p % 100 < 60 UNION ALL SELECT NULL, 1 UNION ALL SELECT -5, 2;
	DELETE FROM probe WHERE q = 107;
	CREATE TABLE other (k BIGINT UNSIGNED, w INT); INSERT INTO other SELECT k, p FROM few WHERE p < 500;`

var runQueries = []string{
	"SELECT COUNT(*), SUM(p), SUM(q) FROM few JOIN probe ON few.k = probe.k",
	"SELECT COUNT(*), SUM(p), SUM(q) FROM hot JOIN probe ON hot.k = probe.k",
	"SELECT COUNT(*), SUM(a.p), MAX(b.p) FROM hot a JOIN hot b ON a.k = b.k WHERE a.p % 3 <> 5 AND b.p < 9990",
	"SELECT COUNT(*), SUM(p), SUM(w), SUM(q) FROM probe JOIN few ON few.k = probe.k JOIN other ON other.k = few.k WHERE q < 2000",
	"SELECT COUNT(*), SUM(p), SUM(q) FROM probe LEFT JOIN few ON few.k = probe.k",
	"SELECT COUNT(*), SUM(p) FROM few JOIN probe ON few.k = probe.k AND p % 7 > q % 7 WHERE q > 5",
	"SELECT q, COUNT(*), SUM(p) FROM few JOIN probe ON few.k = probe.k GROUP BY q ORDER BY q",
	"SELECT p, q FROM few JOIN probe ON few.k = probe.k WHERE p + q < 120 AND q > -2 ORDER BY p, q",
	"SELECT COUNT(*), SUM(p) FROM (SELECT k, MIN(q) AS q FROM probe GROUP BY k) g JOIN few ON few.k = g.k",
	"SELECT COUNT(*) FROM (SELECT p FROM few JOIN probe ON few.k = probe.k LIMIT 777) l",
	"SELECT COUNT(*), SUM(w) FROM (SELECT k, q FROM probe GROUP BY k, q) g JOIN other ON other.w > g.q AND other.w <= g.k",
	"SELECT COUNT(*), SUM(w) FROM (SELECT DISTINCT q FROM probe) g JOIN other ON other.w <> g.q",
}

// Joins in which a row has very many matches give what they give on the CPU, whichever allocation fails, and end when they are cancelled.
func TestGPURuns(t *testing.T) { eachGPU(t, testGPURuns) }

func testGPURuns(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "SET radish_device = 'cpu';"+runTables)
	d := theGPU(t, e)
	before := queryBytes(t, d)
	shared := 0
	least := 6
	if testing.Short() {
		least = 3
	}
	for i, sql := range runQueries {
		if testing.Short() && i%2 > 0 {
			continue
		}
		want := textOnCPU(t, s, sql, "gpu_strict")
		if strings.Contains(mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+sql), "put_off_run(") {
			shared++
		}
		for range 2 {
			if got := mustRun(t, s, sql); got != want {
				t.Errorf("%s gives\n%s\nwant\n%s", sql, got, want)
			}
		}
		if i > 1 || testing.Short() && i > 0 {
			continue
		}
		failed := 0
		for n, untouched := 1, 0; untouched < 3 && n < 100; n++ {
			d.EvictColumns()
			if err := d.FailAllocation(n); err != nil {
				t.Fatal(err)
			}
			got, err := run(context.Background(), s, sql)
			if err := d.FailAllocation(0); err != nil {
				t.Fatal(err)
			}
			var x *sqlerr.Error
			switch untouched++; {
			case err == nil && got != want:
				t.Errorf("%s, allocation %d failing gives\n%s\nwant\n%s", sql, n, got, want)
			case err != nil && (!errors.As(err, &x) || x.Kind != sqlerr.Resource):
				t.Errorf("%s, allocation %d failing: %v", sql, n, err)
			case err != nil:
				failed++
				untouched = 0
			}
		}
		if failed < 5 {
			t.Errorf("%s: only %d allocations failed", sql, failed)
		}
		for wait := range 8 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(wait)*time.Millisecond)
			var x *sqlerr.Error
			if got, err := run(ctx, s, sql); err == nil && got != want || err != nil && (!errors.As(err, &x) || x.Kind != sqlerr.Cancelled) {
				t.Errorf("%s, cancelled: %q, %v", sql, got, err)
			}
			cancel()
		}
	}
	if shared < least {
		t.Errorf("only %d queries share long runs", shared)
	}
	if after := settled(t, d, before); after != before {
		t.Errorf("%d bytes of device memory are left", after-before)
	}
}

// A probe with very many matches ends soon when it is cancelled, though one launch goes over all of them.
func TestGPURunsCancelled(t *testing.T) {
	gputest.EachLibrary(t, func(t *testing.T, lib *gpukernels.Library) {
		e := gpuEngine(t, lib)
		s := e.NewSession()
		mustRun(t, s, "SET radish_device = 'cpu';"+runTables)
		mustRun(t, s, "CREATE TABLE one AS SELECT 1 AS k, p FROM few; SET radish_device = 'gpu_strict'")
		const sql = "SELECT COUNT(*), SUM(a.p * b.p % 7 + c.p) FROM one a JOIN one b ON a.k = b.k JOIN one c ON b.k = c.k"
		mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+sql)
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer cancel()
		_, err := run(ctx, s, sql) // 10^12 rows
		var x *sqlerr.Error
		if !errors.As(err, &x) || x.Kind != sqlerr.Cancelled {
			t.Errorf("cancelled: %v", err)
		}
	})
}
