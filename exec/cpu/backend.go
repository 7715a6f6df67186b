package cpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/join"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/tempfile"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// execution is a query's part on the CPU.
type execution struct {
	*task.Query // own
	own         task.Query
	shared      *schedule.Query
	sinks       map[physical.Sink]pipeline.Sink
	builds      map[*physical.Build]*join.Build
	seq         int // the number of the next pipeline's first morsel

	received map[physical.Sink]*rowstore.Relation // rows that came from another device
}

// Open begins a query on the CPU.
func Open(q *schedule.Query) (schedule.Run, error) { return OpenTuned(q, &task.Default) }

// OpenTuned is Open with other sizes than task.Default's; tests use it.
func OpenTuned(q *schedule.Query, tuning *task.Tuning) (schedule.Run, error) {
	x := &execution{
		own:    task.Query{State: q.State, Threads: q.Threads, Memory: q.Memory, Ctx: q.Ctx, Expr: q.Expr, Tuning: tuning, Temp: tempfile.New(q.TempFolder)},
		shared: q, sinks: make(map[physical.Sink]pipeline.Sink, len(q.Plan.Pipelines)), builds: map[*physical.Build]*join.Build{},
	}
	x.Query = &x.own
	return x, nil
}

// Begin makes a pipeline ready whose dependencies have run.
func (q *execution) Begin(p *physical.Pipeline, last bool) (schedule.Step, error) {
	if cuts := q.spilledProbes(p); cuts != nil {
		return &staged{q: q, p: p, cuts: cuts, last: last}, nil
	}
	pl, err := q.prepare(p, last)
	if err != nil {
		return nil, err
	}
	return pl, nil
}

// Close removes the temporary file. All else that the query holds is its budget's.
func (q *execution) Close() { q.Temp.Close() }

// Put takes the rows of a sink that another device has filled.
func (q *execution) Put(_ *physical.Pipeline, s physical.Sink, from schedule.Run) error {
	rel := &rowstore.Relation{}
	for _, c := range physical.SinkColumns(s) {
		rel.IDs = append(rel.IDs, c.ID)
	}
	err := from.Rows(s, func(b *column.Batch) error {
		seg := &rowstore.Segment{N: b.N, Cap: b.N, Cols: b.Cols}
		bytes := int64(0)
		for _, v := range b.Cols {
			bytes += int64(b.N) * v.Width()
		}
		if err := q.Memory.Reserve("rows from another device", bytes); err != nil {
			return err
		}
		rel.Segs = append(rel.Segs, seg)
		rel.N += b.N
		return q.Check()
	})
	if err != nil {
		return err
	}
	if q.received == nil {
		q.received = map[physical.Sink]*rowstore.Relation{}
	}
	q.received[s] = rel
	return nil
}

// crossingRows is how many rows of a sink in order go into one batch for another device.
const crossingRows = 1 << 16

// Rows gives the rows of a sink for another device. Rows that have an order are copied for it, and count until the query ends.
func (q *execution) Rows(s physical.Sink, give func(*column.Batch) error) error {
	from, err := q.sink(s)
	if err != nil {
		return err
	}
	r, ok := from.(pipeline.Stored)
	if !ok {
		return sqlerr.Bug("another device reads %T", s)
	}
	rel := r.Relation()
	if rel.N == 0 {
		return nil
	}
	columns := physical.SinkColumns(s)
	at, err := columnsAt(rel, columns)
	if err != nil {
		return err
	}
	if rel.Later != nil {
		for k := range rel.Later.Parts() {
			err := rel.Later.Read(k, func(seg *rowstore.Segment) error {
				b := batchOf(seg, at, columns)
				bytes := int64(0)
				for _, v := range b.Cols {
					bytes += int64(b.N) * v.Width()
					for _, s := range v.Str {
						bytes += int64(len(s))
					}
				}
				if err := q.Memory.Reserve("rows for another device", bytes); err != nil {
					return err
				}
				return give(b)
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if rel.Order == nil {
		for _, seg := range rel.Segs {
			if err := give(batchOf(seg, at, columns)); err != nil {
				return err
			}
		}
		return nil
	}
	for from := 0; from < len(rel.Order); from += crossingRows {
		rows := rel.Order[from:min(from+crossingRows, len(rel.Order))]
		b := &column.Batch{N: len(rows)}
		bytes := int64(0)
		for _, c := range at {
			bytes += int64(len(rows)) * rel.Cols[c].V.Width()
		}
		if err := q.Memory.Reserve("rows for another device", bytes); err != nil {
			return err
		}
		for _, c := range at {
			v := &column.Vector{}
			rel.Cols[c].Gather(v, len(rows), nil, rows)
			b.Cols = append(b.Cols, v)
		}
		if err := give(b); err != nil {
			return err
		}
	}
	return nil
}

// batchOf returns a segment's rows with the columns at the given positions.
func batchOf(seg *rowstore.Segment, at []int, columns []*expr.Column) *column.Batch {
	b := &column.Batch{N: seg.N}
	for i, c := range at {
		v := seg.Cols[c]
		if v == nil { // nobody reads it
			v = column.New(columns[i].Typ, seg.N)
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

// columnsAt returns where a relation has the given columns.
func columnsAt(rel *rowstore.Relation, cols []*expr.Column) ([]int, error) {
	at := make([]int, len(cols))
	for i, c := range cols {
		at[i] = -1
		for k, id := range rel.IDs {
			if id == c.ID {
				at[i] = k
			}
		}
		if at[i] < 0 {
			return nil, sqlerr.Bug("a sink does not store its column %s (#%d)", c, c.ID)
		}
	}
	return at, nil
}
