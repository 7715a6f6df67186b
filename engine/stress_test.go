package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestStress lets 100 goroutines read, write, cancel and close at once, for RADISH_STRESS_SECONDS (2 without). Each
// write moves an amount between rows of one table, so every snapshot has the same sum; afterwards no goroutine and no byte is
// left over.
func TestStress(t *testing.T) {
	seconds := 2
	if v := os.Getenv("RADISH_STRESS_SECONDS"); v != "" {
		var err error
		if seconds, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	const accounts, total = 50, 50 * 1000
	e, err := New(database.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	setup := e.NewSession()
	mustRun(t, setup, "CREATE TABLE account (id INT PRIMARY KEY, amount BIGINT); CREATE TABLE log (worker INT, n BIGINT)")
	for i := range accounts {
		mustRun(t, setup, fmt.Sprintf("INSERT INTO account VALUES (%d, 1000)", i))
	}
	goroutines := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for w := range 100 {
		wg.Go(func() {
			seed := uint64(w) + 1
			r := rand.New(rand.NewPCG(seed, 7))
			for n := 0; ctx.Err() == nil; n++ {
				s := e.NewSession()
				if err := stressStep(ctx, s, r, w, n, accounts, total); err != nil && ctx.Err() == nil {
					t.Errorf("worker %d (seed %d), step %d: %v", w, seed, n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := mustRun(t, setup, "SELECT sum(amount), count(*) FROM account"); got != fmt.Sprintf("%d|%d\n", total, accounts) {
		t.Errorf("in the end: %q", got)
	}
	if used := e.MemoryUsed(); used != 0 {
		t.Errorf("%d bytes are still held", used)
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d at the start\n%s", runtime.NumGoroutine(), goroutines, buf[:runtime.Stack(buf, true)])
		}
	}
}

func stressStep(ctx context.Context, s *Session, r *rand.Rand, worker, n, accounts, total int) error {
	switch k := r.IntN(10); {
	case k < 5: // a snapshot is never torn
		out, err := run(ctx, s, "SELECT sum(amount) FROM account a JOIN (SELECT id FROM account) b USING (id)")
		if err != nil {
			return err
		}
		if out != fmt.Sprintf("%d\n", total) {
			return fmt.Errorf("sum is %q, want %d", out, total)
		}
	case k < 7: // a transfer in one statement
		from, to, x := r.IntN(accounts), r.IntN(accounts), r.IntN(100)
		_, err := run(ctx, s, fmt.Sprintf("UPDATE account SET amount = amount + CASE WHEN %d = %d THEN 0 WHEN id = %d THEN -%d ELSE %d END WHERE id IN (%d, %d)", from, to, from, x, x, from, to))
		return err
	case k < 8:
		if _, err := run(ctx, s, fmt.Sprintf("INSERT INTO log VALUES (%d, %d)", worker, n)); err != nil {
			return err
		}
		if n%20 == 0 {
			_, err := run(ctx, s, fmt.Sprintf("DELETE FROM log WHERE worker = %d", worker))
			return err
		}
	case k < 9: // a query that is cancelled
		short, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(3000))*time.Microsecond)
		defer cancel()
		_, err := run(short, s, "SELECT count(*) FROM account a, account b, account c WHERE a.amount + b.amount > c.amount")
		if err != nil && !errors.Is(err, sqlerr.Cancelled) {
			return err
		}
	default: // a result that is closed before its end
		stmts, err := s.Parse("SELECT a.id FROM account a, account b, account c")
		if err != nil {
			return err
		}
		res, err := s.Execute(ctx, stmts[0], nil)
		if err != nil {
			return err
		}
		if _, err := res.Next(ctx); err != nil {
			return err
		}
		return res.Close()
	}
	return nil
}

// A statement that waits for its turn to write can be cancelled, and a write ends in the table in which it began.
func TestWritersTakeTurns(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT); CREATE TABLE u (b INT); INSERT INTO u VALUES (7)")
	// slow starts a write that holds its turn for some seconds.
	slow := func(ctx context.Context, seconds int) (done chan error) {
		done = make(chan error, 1)
		other := s.engine.NewSession()
		go func() {
			_, err := run(ctx, other, fmt.Sprintf("INSERT INTO t SELECT SLEEP(%d)", seconds))
			done <- err
		}()
		for len(s.engine.Writing) == 0 {
			time.Sleep(time.Millisecond)
		}
		return done
	}
	long, end := context.WithCancel(context.Background())
	defer end()
	done := slow(long, 600)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := run(ctx, s, "INSERT INTO u VALUES (8)"); !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("a writer that waits: %v", err)
	}
	if len(done) > 0 {
		t.Error("the cancelled writer waited for the one before it")
	}
	end()
	if err := <-done; !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("the writer before it: %v", err)
	}
	done = slow(context.Background(), 1)
	mustRun(t, s, "RENAME TABLE t TO old, u TO t")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := mustRun(t, s, "SELECT (SELECT count(*) FROM old), b FROM t"); got != "1|7\n" {
		t.Errorf("after RENAME TABLE: %q", got)
	}
}
