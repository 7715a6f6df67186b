package engine

import (
	"context"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestColumnsComeAhead wants the columns of both sides of a join on the device before the first of its kernels is compiled, and nothing to be held
// when the query is cancelled then.
func TestColumnsComeAhead(t *testing.T) {
	e := gpuEngine(t, gputest.EmulatedLibrary(t))
	s := e.NewSession()
	mustRun(t, s, "SET radish_device = 'gpu_strict'; CREATE TABLE a (k INT, v INT); CREATE TABLE b (k INT, w INT);"+
		"INSERT INTO a VALUES (1, 2), (3, 4); INSERT INTO b VALUES (1, 5), (3, 6)")
	const sql = "SELECT SUM(v - w) FROM a JOIN b ON a.k = b.k WHERE v <> w"
	const columns = 4
	d, err := e.GPU()
	if err != nil {
		t.Fatal(err)
	}
	if got := mustRun(t, s, sql); got != "-5\n" {
		t.Fatalf("%s gives %s", sql, got)
	}
	d.ForgetKernels()
	d.EvictColumns()
	before := d.FirstRun()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := run(ctx, s, sql)
		ended <- err
	}()
	for {
		paid := d.FirstRun().Sub(before)
		if paid.Compiled.Tasks > 0 {
			t.Errorf("a kernel was compiled when %d of %d columns had come", paid.Uploads.Tasks, columns)
			break
		}
		if paid.Uploads.Tasks == columns {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the query ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the cancelled query gave its rows")
	}
	d.EvictColumns()
	if m, err := d.Memory(); err != nil || m.Resident != 0 {
		t.Errorf("%d bytes of columns are held (%v)", m.Resident, err)
	}
}
