package cpu

import (
	"context"
	"slices"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Elsewhere runs the pipelines of a plan whose Device is not the CPU. All pipelines that end in one sink run on one side, and so do a
// build and what probes it: only the rows that a SinkScan reads cross over.
type Elsewhere interface {
	// Pipeline runs a pipeline to its end; last says that no further one ends in its sink. here gives the rows of sinks that were filled
	// on the CPU.
	Pipeline(ctx context.Context, p *physical.Pipeline, last bool, here func(physical.Sink) (Stored, error)) (profile.Pipeline, error)
	// Rows hands over what a sink holds once its last pipeline has run, in its order. The batches have no selections and are the receiver's;
	// of a Result they have its columns.
	Rows(ctx context.Context, s physical.Sink, give func(*column.Batch) error) error
	// Count is the number of rows that Rows will give.
	Count(s physical.Sink) int64
	// Close gives everything back. It is called once, when nothing of the query runs any more.
	Close()
}

// Stored is what a sink holds, for the other side: batches without selections, in order.
type Stored struct {
	Columns []expr.ColumnID
	Types   []column.Vector // one empty vector a column, for its type
	Batches []*column.Batch
	Rows    int64
}

// here says whether a pipeline runs on the CPU.
func (q *execution) here(p *physical.Pipeline) bool {
	return p.Device == physical.CPU || q.cfg.Elsewhere == nil
}

// ordered returns the pipelines in the order in which they run. Where some run elsewhere, those that end in the result come last: until one
// of them has begun the query can be run again on the CPU alone.
func (q *execution) ordered() []*physical.Pipeline {
	pipelines := q.plan.Pipelines
	if q.cfg.Elsewhere == nil || !slices.ContainsFunc(pipelines, func(p *physical.Pipeline) bool { return !q.here(p) }) {
		return pipelines
	}
	pipelines = slices.Clone(pipelines)
	slices.SortStableFunc(pipelines, func(a, b *physical.Pipeline) int { return resultRank(a) - resultRank(b) })
	return pipelines
}

func resultRank(p *physical.Pipeline) int {
	if _, ok := p.Sink.(*physical.Result); ok {
		return 1
	}
	return 0
}

// runElsewhere runs a pipeline that is not the CPU's. done says that its rows are being handed to the client in the background.
func (q *execution) runElsewhere(p *physical.Pipeline, c *Cursor) (background bool, err error) {
	q.feeding[p.Sink]--
	last := q.feeding[p.Sink] == 0
	q.cfg.Progress.Begin(p.ID, true)
	prof, err := q.cfg.Elsewhere.Pipeline(q.Ctx, p, last, q.storedHere)
	if err != nil {
		return false, err
	}
	rows := scannedRows(p)
	q.cfg.Progress.Add(rows, rows)
	q.cfg.Progress.End()
	if q.cfg.Profile {
		q.out.mu.Lock()
		q.prof.Pipelines = append(q.prof.Pipelines, prof)
		q.out.mu.Unlock()
	}
	if err := q.Check(); err != nil {
		return false, err
	}
	if _, ok := p.Sink.(*physical.Result); !ok || !last {
		return false, nil
	}
	if q.cfg.Elsewhere.Count(p.Sink) <= syncRows {
		return false, q.deliver(p.Sink)
	}
	c.done = make(chan struct{})
	c.r.wait = true
	go func() {
		defer close(c.done)
		defer c.r.end()
		if err := sqlerr.Guard(func() error { return q.deliver(p.Sink) }); err != nil && err != task.ErrStop {
			q.Fail(err)
		}
		q.out.mu.Lock()
		q.prof.Wall = time.Since(q.started)
		q.out.mu.Unlock()
	}()
	return true, nil
}

// deliver hands the rows of a result that was computed elsewhere to the client.
func (q *execution) deliver(s physical.Sink) error {
	r := q.out
	r.startPipeline(q.seq)
	seq := q.seq
	q.seq++
	err := q.cfg.Elsewhere.Rows(q.Ctx, s, func(b *column.Batch) error {
		if len(b.Cols) != len(r.types) {
			return sqlerr.Bug("a result of %d columns is given %d", len(r.types), len(b.Cols))
		}
		return r.put(seq, queued{Batch: b})
	})
	if err != nil {
		return err
	}
	r.complete(seq)
	return nil
}

// fetch brings the rows of a sink that was filled elsewhere here, once.
func (q *execution) fetch(s physical.Sink, ids []expr.ColumnID) (*rowstore.Relation, error) {
	if rel := q.fetched[s]; rel != nil {
		return rel, nil
	}
	rel := &rowstore.Relation{IDs: ids}
	err := q.cfg.Elsewhere.Rows(q.Ctx, s, func(b *column.Batch) error {
		seg := &rowstore.Segment{N: b.N, Cap: b.N, Cols: b.Cols}
		bytes := int64(0)
		for _, v := range b.Cols {
			bytes += int64(b.N) * vec.Width(v)
		}
		if err := q.Memory.Reserve("rows from another device", bytes); err != nil {
			return err
		}
		rel.Segs = append(rel.Segs, seg)
		rel.N += b.N
		return q.Check()
	})
	if err != nil {
		return nil, err
	}
	if q.fetched == nil {
		q.fetched = map[physical.Sink]*rowstore.Relation{}
	}
	q.fetched[s] = rel
	return rel, nil
}

// storedElsewhere says whether a sink's rows are not here.
func (q *execution) storedElsewhere(s physical.Sink) bool {
	if q.cfg.Elsewhere == nil {
		return false
	}
	return slices.ContainsFunc(q.plan.Pipelines, func(p *physical.Pipeline) bool { return p.Sink == s && !q.here(p) })
}

// SinkColumns lists the columns of the rows that a SinkScan can read of a sink.
func SinkColumns(s physical.Sink) []*expr.Column {
	switch s := s.(type) {
	case *physical.Materialize:
		return s.Cols
	case *physical.Sort:
		return s.Cols
	case *physical.Recursion:
		return s.Cols
	case *physical.Window:
		cols := slices.Clone(s.Cols)
		for _, it := range s.Items {
			cols = append(cols, it.Col)
		}
		return cols
	case *physical.Aggregate:
		var cols []*expr.Column
		for _, it := range s.Groups {
			cols = append(cols, it.Col)
		}
		for _, it := range s.Aggs {
			cols = append(cols, it.Col)
		}
		return cols
	}
	return nil
}

// crossingRows is how many rows of a sink in order go into one batch for another device.
const crossingRows = 1 << 16

// storedHere gives the rows of a sink that was filled on the CPU.
func (q *execution) storedHere(s physical.Sink) (Stored, error) {
	from, err := q.sink(s)
	if err != nil {
		return Stored{}, err
	}
	r, ok := from.(pipeline.Stored)
	if !ok {
		return Stored{}, sqlerr.Bug("another device reads %T", s)
	}
	rel := r.Relation()
	out := Stored{Columns: rel.IDs, Rows: int64(rel.N)}
	byID := map[expr.ColumnID]*expr.Column{}
	for _, c := range SinkColumns(s) {
		byID[c.ID] = c
	}
	for _, id := range rel.IDs {
		if byID[id] == nil {
			return Stored{}, sqlerr.Bug("a sink stores column #%d, which is none of its own", id)
		}
		out.Types = append(out.Types, column.Vector{Type: byID[id].Typ})
	}
	if rel.Order == nil {
		for _, seg := range rel.Segs {
			out.Batches = append(out.Batches, &column.Batch{N: seg.N, Cols: seg.Cols})
		}
		return out, nil
	}
	for from := 0; from < len(rel.Order); from += crossingRows {
		rows := rel.Order[from:min(from+crossingRows, len(rel.Order))]
		b := &column.Batch{N: len(rows)}
		for i := range rel.Cols {
			v := &column.Vector{}
			rel.Cols[i].Gather(v, len(rows), nil, rows)
			b.Cols = append(b.Cols, v)
		}
		out.Batches = append(out.Batches, b)
	}
	return out, nil
}
