package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestCompiledAhead: what PREPARE, CREATE VIEW and a driver's Prepare name has its kernels compiled before it runs, and nothing else of the GPU is touched.
func TestCompiledAhead(t *testing.T) {
	// A device that other tests do not have, and a cache that is empty: else its kernels may be there.
	t.Setenv(gpukernels.CacheVariable, t.TempDir())
	shared := gputest.EmulatedLibrary(t).Path()
	data, err := os.ReadFile(shared)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(shared))
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	library, err := gpukernels.Open(gpukernels.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	e, d, s := autoEngineOn(t, library)
	// Kernels that the tables are filled by would be compiled in the background, and counted when they are made: between others, as the machine is busy.
	mustRun(t, s, "SET radish_device = 'cpu'")
	autoTables(t, s)
	mustRun(t, s, "SET radish_device = 'auto'")
	settleAuto(t, e, d)
	d.EvictColumns()
	v, _, err := e.Catalog.Load().Lookup(database.DefaultDatabase, "facts")
	if err != nil {
		t.Fatal(err)
	}
	compiled := func() int64 { return int64(d.FirstRun().Compiled.Tasks) }
	if n := compiled(); n != 0 {
		t.Fatalf("%d kernels were compiled for the tables", n)
	}
	for _, x := range []struct{ prepare, run string }{
		{"PREPARE p FROM 'SELECT k, SUM(n * 3 + h), MIN(n - 11 * h) FROM facts WHERE h > ? GROUP BY k ORDER BY k'", "SELECT k, SUM(n * 3 + h), MIN(n - 11 * h) FROM facts WHERE h > 1 GROUP BY k ORDER BY k"},
		{"CREATE VIEW ahead AS SELECT w, MAX(n * 5 - h) AS m, SUM(k * 13) AS x FROM facts GROUP BY w", "SELECT * FROM ahead"},
		{"", "SELECT COUNT(*), SUM(n * 17 - 3 * h) FROM facts WHERE k * 3 < n"},
	} {
		before := compiled()
		prepare := func() {
			t.Helper()
			if x.prepare != "" {
				mustRun(t, s, x.prepare)
				return
			}
			statements, err := s.Parse(x.run)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Prepare(t.Context(), statements[0]); err != nil {
				t.Fatal(err)
			}
		}
		prepare()
		for end := time.Now().Add(time.Minute); e.Auto.Ahead.Count() > 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		teach(t, s, d, x.run, time.Second, time.Millisecond)
		plan := mustRun(t, s, "EXPLAIN "+x.run)
		for end := time.Now().Add(time.Minute); strings.Contains(plan, "kernels") && time.Now().Before(end); {
			plan = mustRun(t, s, "EXPLAIN "+x.run)
		}
		if !strings.Contains(plan, "not yet on the GPU: ") || strings.Contains(plan, "kernels") {
			t.Errorf("%s: columns are to be missing, kernels not:\n%s", x.run, plan)
		}
		after := compiled()
		if after == before {
			t.Errorf("%s: nothing was compiled", x.run)
		}
		if n := d.ResidentBytes(v); n > 0 {
			t.Errorf("%s: %d bytes of columns were uploaded", x.run, n)
		}
		if n := settled(t, d, 0); n != 0 {
			t.Errorf("%s: %d bytes are held", x.run, n)
		}
		if strings.HasPrefix(x.prepare, "CREATE") {
			mustRun(t, s, "DROP VIEW ahead")
		}
		prepare() // once more
		if n := e.Auto.Ahead.Count(); n > 0 {
			t.Errorf("%s is prepared for the GPU again", x.run)
		}
		mustRun(t, s, "SET radish_device = 'gpu_strict'; "+x.run+"; SET radish_device = 'auto'")
		if n := compiled(); n != after {
			t.Errorf("%s compiles %d kernels after all", x.run, n-after)
		}
		d.EvictColumns()
	}
	before := e.Auto.Ahead.Known()
	mustRun(t, s, "SET radish_device = 'cpu'; PREPARE p FROM 'SELECT h, SUM(n * 19) FROM facts GROUP BY h'")
	mustRun(t, s, "SET radish_device = 'auto'; PREPARE p FROM 'SELECT SUM(d * 19) FROM digits'")
	if n := e.Auto.Ahead.Known(); n != before {
		t.Errorf("%d statements are prepared for a GPU that do not run there", n-before)
	}
}

// TestCompilesNothingWithoutGPU: preparing leaves nothing behind where there is no GPU.
func TestCompilesNothingWithoutGPU(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, GPULibrary: "/nosuch/lib.so"})
	if _, err := s.engine.GPU(); err == nil {
		t.Fatal("there is such a library")
	}
	autoTables(t, s)
	mustRun(t, s, "PREPARE p FROM 'SELECT h, SUM(n * 19) FROM facts GROUP BY h'")
	if s.engine.Auto.Ahead.Known() > 0 {
		t.Error("a statement is prepared for a GPU")
	}
}
