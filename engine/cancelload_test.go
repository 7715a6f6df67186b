package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// lateStatement is how long a statement went on after it had been cancelled.
type lateStatement struct {
	name string
	late time.Duration
}

// Statements that are cancelled at random moments, while other sessions keep the machine busy, end with nothing but a cancellation's error and give
// everything back. RADISH_CANCEL_STATEMENTS says how many are run, RADISH_CANCEL_SESSIONS by how many sessions at once. With -v it is
// printed how many ended later than 100 and 300 ms, and the latest: no test, since it depends on what else runs. RADISH_CANCEL_STACKS names a
// file for the stacks of all goroutines when a statement is 300 ms late.
func TestCancellationUnderLoad(t *testing.T) {
	statements, sessions := int(setting(t, "RADISH_CANCEL_STATEMENTS", 200)), int(setting(t, "RADISH_CANCEL_SESSIONS", 4))
	seed := uint64(setting(t, "RADISH_CANCEL_SEED", float64(time.Now().UnixNano()%1e6)))
	t.Logf("RADISH_CANCEL_SEED=%d RADISH_CANCEL_STATEMENTS=%d RADISH_CANCEL_SESSIONS=%d", seed, statements, sessions)
	s := newSession(t, database.Options{Threads: 2})
	dir := t.TempDir()
	mustRun(t, s, fmt.Sprintf("CALL tpch_generate(%v)", setting(t, "RADISH_CANCEL_SF", 0.01)))
	for _, f := range []string{"lineitem.csv", "lineitem.parquet"} {
		mustRun(t, s, "SELECT * FROM lineitem INTO OUTFILE '"+filepath.Join(dir, f)+"'")
	}
	slow := slices.DeleteFunc(slowStatements(dir), func(st struct{ name, sql string }) bool {
		return !strings.HasPrefix(st.sql, "SELECT") || strings.Contains(st.sql, "OUTFILE")
	})
	before := heldBytes(s)

	var mu sync.Mutex
	var all []lateStatement
	ended := 0
	stacks := lateStacks{file: os.Getenv("RADISH_CANCEL_STACKS")}
	jobs := make(chan int)
	var wg sync.WaitGroup
	for w := range sessions {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			own := s.engine.NewSession()
			defer own.Close()
			for range jobs {
				st := slow[r.IntN(len(slow))]
				after := time.Duration(r.Int64N(int64(60 * time.Millisecond)))
				stop := stacks.watch(st.name, after+300*time.Millisecond)
				late, err := cancelledAfter(own, st.sql, after)
				stop()
				mu.Lock()
				switch {
				case err == nil:
					ended++ // by itself
				case !errors.Is(err, sqlerr.Cancelled):
					t.Errorf("%s: %v", st.name, err)
				default:
					all = append(all, lateStatement{st.name, late})
				}
				mu.Unlock()
			}
		})
	}
	for i := range statements {
		jobs <- i
	}
	close(jobs)
	wg.Wait()

	if after := heldBytes(s); after != before {
		t.Errorf("%d bytes are held, %d before", after, before)
	}
	if len(all) == 0 {
		t.Fatalf("%d statements ended by themselves, none was cancelled", ended)
	}
	slices.SortFunc(all, func(a, b lateStatement) int { return int(b.late - a.late) })
	later := func(d time.Duration) int {
		return len(all) - len(slices.DeleteFunc(slices.Clone(all), func(l lateStatement) bool { return l.late > d }))
	}
	t.Logf("%d were cancelled, %d ended by themselves; %d ended later than 100 ms, %d later than 300; half within %.1f ms", len(all), ended,
		later(100*time.Millisecond), later(300*time.Millisecond), millis(all[len(all)/2].late))
	for _, l := range all[:min(len(all), 12)] {
		t.Logf("%8.1f ms %s", millis(l.late), l.name)
	}
}

// cancelledAfter runs a statement, cancels it after a time, and returns how much longer it took.
func cancelledAfter(s *Session, sql string, after time.Duration) (late time.Duration, err error) {
	stmts, err := s.Parse(sql)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at := make(chan time.Time, 1)
	timer := time.AfterFunc(after, func() {
		at <- time.Now()
		cancel()
	})
	res, err := s.Execute(ctx, stmts[0], nil)
	if err == nil {
		_, err = lines(ctx, res)
	}
	end := time.Now()
	if timer.Stop() {
		return 0, err
	}
	return end.Sub(<-at), err
}

// lateStacks writes a few times what all goroutines do when a statement is late. Without a file it does nothing.
type lateStacks struct {
	file    string
	mu      sync.Mutex
	written int
	last    time.Time
}

// watch has the stacks written unless stop is called within the time.
func (l *lateStacks) watch(name string, within time.Duration) (stop func()) {
	if l.file == "" {
		return func() {}
	}
	timer := time.AfterFunc(within, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.written == 6 || time.Since(l.last) < time.Second {
			return
		}
		l.written, l.last = l.written+1, time.Now()
		f, err := os.OpenFile(l.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			return
		}
		defer f.Close()
		fmt.Fprintf(f, "== %s: %s is late\n", l.last.Format(time.TimeOnly), name)
		_ = pprof.Lookup("goroutine").WriteTo(f, 2)
	})
	return func() { timer.Stop() }
}
