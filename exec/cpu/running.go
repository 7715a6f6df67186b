package cpu

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/exec/cpu/join"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/scan"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// IsSmall says whether a result's rows are so few that all may be kept before the client reads the first.
func (pl *prepared) IsSmall() bool { return pl.q.shared.IsSmall(pl.bound()) }

// Run runs the pipeline and, if it is the last that ends in its sink, finishes the sink.
func (pl *prepared) Run() error {
	q := pl.q
	begin, held := time.Now(), q.Memory.Used()
	if _, ok := pl.sink.(*result); ok {
		q.shared.Out.Start(q.seq)
	}
	if err := q.run(pl); err != nil {
		return err
	}
	ran := time.Now()
	q.forgetSource(pl)
	if pl.last {
		if err := sqlerr.Guard(pl.sink.Finish); err != nil {
			return err
		}
	}
	pl.reportCost(begin, ran, q.Memory.Used()-held)
	return q.Check()
}

// run runs one pipeline to its end, without finishing its sink.
func (q *execution) run(p *prepared) error {
	n := p.source.Morsels()
	base := q.seq
	q.seq += n
	rows, scanned := p.counted(n)
	workers := max(1, min(q.Threads, n))
	if p.serial {
		workers = 1
	}
	p.workers = workers
	deal := deal{kind: p.dealing, morsels: n, workers: workers}
	var stop atomic.Bool
	work := func(id int) error {
		w := q.NewWorker(id)
		defer w.Close()
		r, out, err := p.chain(w)
		if err != nil {
			return err
		}
		for turn := 0; ; turn++ {
			from, end, step := deal.next(id, turn)
			if from >= end {
				return nil
			}
			for morsel := from; morsel < end; morsel += step {
				if stop.Load() {
					return nil
				}
				if err := q.Check(); err != nil {
					return err
				}
				out.Begin(base + morsel)
				err := r.Read(morsel)
				switch {
				case errors.Is(err, pipeline.ErrFull):
					return q.Check()
				case errors.Is(err, schedule.ErrStop):
					stop.Store(true)
					err = q.Check()
				}
				if err == nil {
					err = out.End(base + morsel)
				}
				if err != nil {
					return err
				}
				q.shared.Progress.Add(rows, scanned)
			}
			if s, ok := out.(pipeline.Sharer); ok && p.dealing == shared {
				if err := s.EndShare(); err != nil {
					return err
				}
			}
		}
	}
	return q.Spawn(workers, work)
}

// counted is what each morsel of a pipeline counts as: its part of the source's rows, and of the table's.
func (pl *prepared) counted(morsels int) (rows, scanned int64) {
	n := int64(max(1, morsels))
	if _, again := pl.source.(*join.Partitioned); again {
		return 0, 0
	}
	if pl.scan != nil {
		return pl.scan.RowsExpected() / n, schedule.ScannedRows(pl.p) / n
	}
	return int64(pl.source.Rows()) / n, schedule.ScannedRows(pl.p) / n
}

// forgetSource lets go of the stored rows that a pipeline has read if it is their only reader.
func (q *execution) forgetSource(pl *prepared) {
	source, ok := pl.source.(*scan.Stored)
	if !ok || !slices.Contains(q.shared.Plan.Pipelines, pl.of) {
		return // a recursion's pipelines run again
	}
	from := pl.p.Source.(*physical.SinkScan).From
	for _, p := range q.shared.Plan.All() {
		if s, ok := p.Source.(*physical.SinkScan); ok && s.From == from && p != pl.of {
			return
		}
	}
	source.Rel.Forget()
}

// bound returns an upper bound of the rows that the pipeline gives.
func (pl *prepared) bound() int {
	rows := pl.source.Rows()
	for _, t := range pl.p.Transforms {
		switch t := t.(type) {
		case *physical.Probe:
			switch t.Kind {
			case logical.InnerJoin, logical.LeftJoin, logical.FullJoin:
				if b := pl.q.builds[t.Build]; !b.Aligned() {
					rows *= max(1, b.N)
				}
			}
		case *physical.Repeat, *physical.Unnest:
			return schedule.SyncRows + 1
		case *physical.Limit:
			if t.Count >= 0 {
				rows = min(rows, int(min(t.Count, schedule.SyncRows+1)))
			}
		}
		if rows > schedule.SyncRows {
			return rows
		}
	}
	return rows
}
