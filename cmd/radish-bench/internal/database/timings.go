package database

import (
	"context"
	"time"
)

// Timings are the hot runs of a query.
type Timings struct {
	Clock []time.Duration
	CPU   []time.Duration // of all threads
}

func (t *Timings) Add(clock, cpu time.Duration) {
	t.Clock, t.CPU = append(t.Clock, clock), append(t.CPU, cpu)
}

// Measure adds a run in Radish.
func (t *Timings) Measure(ctx context.Context, db *DB, sql string) error {
	cpu := CPUTime()
	took, err := db.Measure(ctx, sql, nil)
	if err != nil {
		return err
	}
	t.Add(took, CPUTime()-cpu)
	return nil
}
