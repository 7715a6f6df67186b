package database

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/storage/tpch"
)

// waiting is the call that asks whether a stream's work has ended, again and again.
const waiting = "stream_query"

// call is a call of the GPU's library, or several that waited for the same.
type call struct {
	name        string
	count       int
	begin, took time.Duration // since the query's text was given
}

// TraceQueries prints, for each query, when a hot run called the GPU's library, and how long each call took. Between two calls the program works itself. Before the first one it parses and
// plans.
func TraceQueries(ctx context.Context, out io.Writer, db *DB, queries []tpch.Query) error {
	const hot = 4
	for _, q := range queries {
		for range hot {
			if err := db.Exec(ctx, q.SQL); err != nil {
				return err
			}
		}
		if err := TraceStatement(ctx, out, db, fmt.Sprintf("Q%d", q.Number), q.SQL); err != nil {
			return err
		}
	}
	return nil
}

// TraceStatement prints the calls of one run of a statement. Several goroutines may call.
func TraceStatement(ctx context.Context, out io.Writer, db *DB, title, sql string) error {
	device := db.GPU()
	var mu sync.Mutex
	var calls []call // guarded by mu
	start := time.Now()
	device.Trace(func(name string, begin time.Time, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if n := len(calls); n > 0 && calls[n-1].name == name && name == waiting {
			calls[n-1].count++
			calls[n-1].took = begin.Add(took).Sub(start) - calls[n-1].begin
			return
		}
		calls = append(calls, call{name, 1, begin.Sub(start), took})
	})
	took, err := db.Measure(ctx, sql, nil)
	device.Trace(nil)
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	fmt.Fprintf(out, "%s: %s ms\n%10s %10s  call\n", title, report.Millis(took), "at µs", "took µs")
	for _, c := range calls {
		times := ""
		if c.count > 1 {
			times = fmt.Sprintf(" × %d", c.count)
		}
		fmt.Fprintf(out, "%10.1f %10.1f  %s%s\n", float64(c.begin)/1e3, float64(c.took)/1e3, c.name, times)
	}
	return nil
}
