package auto

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/workload"
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
var smallStatements = []workload.Question{
	{Name: "lookups", SQL: "SELECT v FROM small_rows WHERE id = %d"},
	{Name: "aggregates", SQL: "SELECT g, COUNT(*), SUM(v) FROM small_rows WHERE id > %d GROUP BY g"},
}

// smallTable makes their table.
func smallTable(ctx context.Context, db *database.DB) error {
	rows := make([]string, smallRows)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %d, %d)", i, i%10, i*7919%10_007)
	}
	for _, sql := range []string{
		"DROP TABLE IF EXISTS small_rows",
		"CREATE TABLE small_rows (id INT PRIMARY KEY, g INT NOT NULL, v INT NOT NULL)",
		"INSERT INTO small_rows VALUES " + strings.Join(rows, ", "),
	} {
		if err := db.Exec(ctx, sql); err != nil {
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
		r, err := b.rate(ctx, b.w.Queries(size), "auto", n, length+length/4)
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
		ratio := float64(report.Median(beside[i])) / float64(max(report.Median(alone[i]), 1))
		verdict := "within the bar"
		if ratio > mixedBar {
			verdict = fmt.Sprintf("above %.1f", mixedBar)
		}
		text += fmt.Sprintf(" %s %s ms, alone %s (%.2f, %s), the slowest 5%% from %s, alone %s;",
			q.Name, report.Millis(report.Median(beside[i])), report.Millis(report.Median(alone[i])), ratio, verdict, report.Millis(slowest(beside[i])), report.Millis(slowest(alone[i])))
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
				_, took, err := s.Query(ctx, fmt.Sprintf(smallStatements[k].SQL, at*101%smallRows))
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
