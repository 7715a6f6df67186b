package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Small statements beside the workload's queries: what they take then is compared with what they take alone. They stay on the CPU, whose cores the queries leave to
// them as far as these run on the GPU.

const (
	smallSessions = 4
	smallRows     = 10_000
	smallPause    = time.Millisecond // of a session between two statements
	mixedBar      = 1.5              // times as long as alone
)

// smallStatements are a point lookup and an aggregate over few rows; %d is a number that changes.
var smallStatements = []question{
	{name: "lookups", sql: "SELECT v FROM small_rows WHERE id = %d"},
	{name: "aggregates", sql: "SELECT g, COUNT(*), SUM(v) FROM small_rows WHERE id > %d GROUP BY g"},
}

// smallTable makes their table.
func smallTable(ctx context.Context, db *database) error {
	rows := make([]string, smallRows)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %d, %d)", i, i%10, i*7919%10_007)
	}
	for _, sql := range []string{
		"DROP TABLE IF EXISTS small_rows",
		"CREATE TABLE small_rows (id INT PRIMARY KEY, g INT NOT NULL, v INT NOT NULL)",
		"INSERT INTO small_rows VALUES " + strings.Join(rows, ", "),
	} {
		if err := db.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// mixed measures small statements alone and beside n sessions of the workload's queries, all under auto.
func (b *autoBench) mixed(ctx context.Context, size float64, n int, length time.Duration) error {
	alone, err := b.small(ctx, length)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	rate := make(chan float64, 1)
	failed := make(chan error, 1)
	go func() {
		r, err := b.rate(ctx, b.w.queries(size), "auto", n, length+length/4)
		failed <- err
		rate <- r
	}()
	time.Sleep(length / 8)
	beside, err := b.small(ctx, length)
	if err != nil {
		return err
	}
	if err := <-failed; err != nil {
		return err
	}
	text := fmt.Sprintf("%d sessions of the queries (%.1f a second) beside %d of small statements:", n, <-rate, smallSessions)
	for i, q := range smallStatements {
		ratio := float64(median(beside[i])) / float64(max(median(alone[i]), 1))
		verdict := "within the bar"
		if ratio > mixedBar {
			verdict = fmt.Sprintf("above %.1f", mixedBar)
		}
		text += fmt.Sprintf(" %s %s ms, alone %s (%.2f, %s), the slowest 5%% from %s, alone %s;",
			q.name, millis(median(beside[i])), millis(median(alone[i])), ratio, verdict, millis(slowest(beside[i])), millis(slowest(alone[i])))
	}
	text = strings.TrimSuffix(text, ";")
	fmt.Fprintln(b.out, text)
	fmt.Fprintf(&b.tables, "%s\n\n", text)
	return nil
}

// slowest is the time that one run in twenty exceeds.
func slowest(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)*19/20]
}

// small runs the small statements by some sessions for a while, and returns the times of each.
func (b *autoBench) small(ctx context.Context, length time.Duration) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(smallStatements))
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make(chan error, smallSessions)
	begin := time.Now()
	for i := range smallSessions {
		s, err := b.newSession(ctx, "auto")
		if err != nil {
			return nil, err
		}
		wg.Go(func() {
			for at := i; time.Since(begin) < length; at++ {
				k := at % len(smallStatements)
				_, took, err := s.query(ctx, fmt.Sprintf(smallStatements[k].sql, at*101%smallRows))
				if err != nil {
					errs <- err
					return
				}
				mu.Lock()
				times[k] = append(times[k], took)
				mu.Unlock()
				time.Sleep(smallPause)
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return nil, err
	default:
		return times, nil
	}
}
