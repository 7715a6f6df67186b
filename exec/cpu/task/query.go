// Package task holds what the operators of one query share: threads, memory, cancellation, and the sizes at which they change how they work.
//
// The runner, package cpu, makes a Query for a statement and a Worker for each thread of a pipeline. Operators take memory from Query.Memory,
// run work on all threads with Parallel and Spawn, and look with Check whether the query has been stopped: at least once a vector, or a block
// of stored rows (Blocks). Nothing here knows of plans or rows.
package task

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/exec/cpu/tempfile"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Query is what the operators of a running query share.
type Query struct {
	*schedule.State
	Threads int
	Memory  *memory.Budget
	Ctx     context.Context
	Expr    expr.Context
	Tuning  *Tuning
	Temp    *tempfile.File // nil: nothing may be written to disk
}

// Worker runs one chain of operators at a time. It serves one goroutine.
type Worker struct {
	Query *Query
	ID    int // below the query's threads
	Expr  *expr.Context

	strings memory.Account // and vectors, that expressions hold
	checks  int
	yielded time.Time
}

// NewWorker returns a worker. Close it.
func (q *Query) NewWorker(id int) *Worker {
	w := &Worker{Query: q, ID: id, yielded: time.Now(), strings: memory.Account{Budget: q.Memory, Operator: "the values of expressions"}}
	w.Expr = q.Expr.ForWorker(w.hold)
	return w
}

// hold counts what expressions hold. Once the query has been stopped they get no more: what another worker gives back is still in memory then.
func (w *Worker) hold(bytes int64) error {
	if bytes > w.strings.Used() {
		if err := w.Check(); err != nil {
			return err
		}
	}
	return w.strings.Set(bytes)
}

// Close gives back the memory that expressions held, whose strings are gone then.
func (w *Worker) Close() {
	w.Expr.LetGo()
	w.strings.Close()
}

// Where more workers want to run than there are processors, each gives way to the others after a timeSlice, much sooner than the
// scheduler would make it. Otherwise a worker that has to end would wait 10 ms for each of the others.
const timeSlice = time.Millisecond

// Check returns the query's error once it has been stopped. Workers call it at least once a vector.
func (w *Worker) Check() error {
	if w.Query.Stopped.Load() {
		return w.Query.Check()
	}
	if w.checks++; w.checks&7 == 0 && time.Since(w.yielded) > timeSlice {
		runtime.Gosched()
		w.yielded = time.Now()
	}
	return nil
}

// IsParallel says whether work on so many rows pays for several workers, if the query may have them.
func (q *Query) IsParallel(rows int) bool { return q.Threads > 1 && rows >= q.Tuning.ParallelRows }

// Parallel calls f(0), ..., f(n-1), on several workers if there are rows enough to make that worth while.
func (q *Query) Parallel(n, rows int, f func(i int) error) error {
	workers := min(n, q.Threads)
	if rows < q.Tuning.ParallelRows || workers <= 1 {
		for i := range n {
			if err := q.Check(); err != nil {
				return err
			}
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	return q.Spawn(workers, func(int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return nil
			}
			if err := q.Check(); err != nil {
				return err
			}
			if err := f(i); err != nil {
				return err
			}
		}
	})
}

// Spawn runs f(0) .. f(n-1) at once, f(0) in the calling goroutine, waits for all, and returns the first error.
func (q *Query) Spawn(n int, f func(id int) error) error {
	if n == 1 {
		return sqlerr.Guard(func() error { return f(0) })
	}
	var wg sync.WaitGroup
	run := func(id int) {
		if err := sqlerr.Guard(func() error { return f(id) }); err != nil && !errors.Is(err, schedule.ErrStop) {
			q.Fail(err)
		}
	}
	for id := 1; id < n; id++ {
		wg.Go(func() { run(id) })
	}
	run(0)
	wg.Wait()
	return q.Check()
}

// IntegerVariable returns a system variable's value, or standard where it has no number.
func (q *Query) IntegerVariable(name string, standard int64) int64 {
	if q.Expr.Variables == nil {
		return standard
	}
	v, ok := q.Expr.Variables.SystemVariable(name)
	switch {
	case !ok || v.Null:
		return standard
	case !v.Type.IsString():
		return v.I
	}
	n, err := strconv.ParseInt(v.S, 10, 64)
	if err != nil {
		return standard
	}
	return n
}
