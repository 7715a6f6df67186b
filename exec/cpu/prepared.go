package cpu

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/groupby"
	"github.com/radish-sql/radish/exec/cpu/join"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/scan"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// prepared is a physical pipeline made ready to run.
type prepared struct {
	q       *execution
	p       *physical.Pipeline
	of      *physical.Pipeline // the plan's; p may be a piece of it
	layout  *pipeline.Layout
	source  pipeline.Source
	sink    pipeline.Sink
	scan    *scan.Table // the source, if it is one
	serial  bool        // one worker: a LIMIT takes rows in order, and so does a sequence of random numbers
	dealing dealing
	dense   int  // first transform that makes new batches, so that columns cannot be loaded after it
	last    bool // no later pipeline ends in the sink
	limits  []*limitState
	workers int
	stats   *pipelineStats         // nil: not profiled
	report  func(profile.Pipeline) // takes what it cost; nil: the query does
}

// prepare makes a pipeline ready whose dependencies have run.
func (q *execution) prepare(p *physical.Pipeline, last bool) (*prepared, error) {
	return q.preparePiece(p, p, last)
}

// preparePiece does so for p, a piece of the pipeline of.
func (q *execution) preparePiece(p, of *physical.Pipeline, last bool) (*prepared, error) {
	pl := &prepared{q: q, p: p, of: of, last: last, serial: hasSequence(p)}
	numbered := !slices.ContainsFunc(q.shared.Plan.Pipelines, func(other *physical.Pipeline) bool { return other != of && other.Sink == p.Sink })
	var err error
	if pl.layout, err = pipeline.NewLayout(p, numbered); err != nil {
		return nil, err
	}
	src, err := q.source(pl)
	if err != nil {
		return nil, err
	}
	pl.source = src
	var noting []noter
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				pl.layout.Slot(it.Col.ID)
			}
		case *physical.Probe:
			if t.Build.KeepUnmatched {
				noting = append(noting, q.builds[t.Build])
			}
			for _, c := range t.Build.Payload {
				pl.layout.Slot(c.ID)
			}
			if t.Mark != nil {
				pl.layout.Slot(t.Mark.ID)
			}
		case *physical.Unnest:
			for _, c := range t.Cols {
				pl.layout.Slot(c.ID)
			}
		case *physical.Limit:
			pl.serial = true
			pl.limits = append(pl.limits, &limitState{skip: t.Offset, left: t.Count, noting: slices.Clip(noting)})
		}
	}
	pl.dense = len(p.Transforms)
	for i, t := range p.Transforms {
		if q.makesBatches(t) {
			pl.dense = i
			break
		}
	}
	if pl.sink, err = q.sink(p.Sink); err != nil {
		return nil, err
	}
	if a, ok := pl.sink.(*groupby.Sink); ok {
		switch {
		case a.Shares:
			pl.dealing = shared
		case a.Ordered && a.First:
			pl.dealing = divided
		case a.Ordered:
			pl.dealing = inTurn
		}
	}
	if q.shared.Profiled {
		pl.stats = newPipelineStats(p)
	}
	return pl, nil
}

// makesBatches says whether a transform gives batches whose positions are not those of its input.
func (q *execution) makesBatches(t physical.Transform) bool {
	switch t := t.(type) {
	case *physical.Probe:
		b := q.builds[t.Build]
		switch t.Kind {
		case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
			return false
		}
		return !b.Aligned()
	case *physical.Repeat, *physical.Unnest:
		return true
	}
	return false
}

// chain builds a worker's operators, from the sink back to the source.
func (pl *prepared) chain(w *task.Worker) (pipeline.Reader, pipeline.LocalSink, error) {
	out, err := pl.sink.Local(w, pl.layout)
	if err != nil {
		return nil, nil, err
	}
	n := len(pl.p.Transforms)
	var scan *scan.Reader
	if pl.scan != nil {
		scan = pl.scan.NewReader(w)
		scan.Cutoff = pl.cutoffFor(out)
	}
	var next pipeline.Op = out
	next = pl.stats.wrap(n+1, next)
	next = pl.loads(scan, n, next)
	limit := len(pl.limits)
	for i := n - 1; i >= 0; i-- {
		switch t := pl.p.Transforms[i].(type) {
		case *physical.Filter:
			next, err = newFilter(w, pl.layout, t.Preds, next)
		case *physical.Project:
			next, err = newProject(w, pl.layout, t, next)
		case *physical.Probe:
			if partitioned, ok := pl.source.(*join.Partitioned); ok && i == 0 {
				next = partitioned.NewPartProbe(w, pipeline.Stage{Layout: pl.layout, Next: next})
				break
			}
			next, err = join.NewProbe(w, pl.q.builds[t.Build], t, pipeline.Stage{Layout: pl.layout, Index: i, Late: pl.late(scan, i), Next: next})
		case *physical.Limit:
			limit--
			next = &limitOp{state: pl.limits[limit], next: next}
		case *physical.Unnest:
			next, err = newUnnest(w, t, pipeline.Stage{Layout: pl.layout, Index: i, Late: pl.late(scan, i), Next: next})
		case *physical.Repeat:
			next, err = newRepeat(w, t, pipeline.Stage{Layout: pl.layout, Index: i, Late: pl.late(scan, i), Next: next})
		}
		if err != nil {
			return nil, nil, err
		}
		next = pl.stats.wrap(i+1, next)
		next = pl.loads(scan, i, next)
	}

	if scan != nil {
		scan.Next = next
		return pl.stats.wrapReader(scan), out, nil
	}
	r, err := pl.source.Open(w, next)
	return pl.stats.wrapReader(r), out, err
}

// loads puts a step before stage i that decodes the scan's columns which that stage is the first to read, at the
// positions that are still selected then.
func (pl *prepared) loads(r *scan.Reader, i int, next pipeline.Op) pipeline.Op {
	if r == nil || i > pl.dense {
		return next
	}
	return r.LoadBefore(next, func(id expr.ColumnID) bool { return pl.layout.LoadStage(id) == i })
}

// late returns what decodes the scan's columns that are first read after transform i, which makes new batches: it has to load
// them for the rows that it lets through. nil: there are none.
func (pl *prepared) late(r *scan.Reader, i int) func(b *column.Batch, sel []int32) error {
	if r == nil || i != pl.dense {
		return nil
	}
	return r.Loader(func(id expr.ColumnID) bool { return pl.layout.LoadStage(id) > i })
}
