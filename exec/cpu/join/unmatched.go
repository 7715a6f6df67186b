package join

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/spill"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// unmatchedScan reads the rows of a build that no probe matched.
type unmatchedScan struct {
	b      *Build
	scan   *physical.UnmatchedScan
	layout *pipeline.Layout
	parts  []pipeline.Morsel
	hit    column.Bitmap
	left   int
	slots  []int // of the payload
	nulls  []int
}

// NewUnmatched returns the source of the rows of a build that no probe matched.
func NewUnmatched(l *pipeline.Layout, b *Build, s *physical.UnmatchedScan) (pipeline.Source, error) {
	if b == nil || !b.p.KeepUnmatched {
		return nil, sqlerr.Bug("an unmatched scan of a build that does not keep its unmatched rows")
	}
	if b.IsSpilled() {
		return newSpilledUnmatched(l, b, s), nil
	}
	u := &unmatchedScan{b: b, scan: s, layout: l, hit: column.NewBitmap(b.N, false)}
	for _, m := range b.hits.byWorker {
		for i := range m {
			u.hit[i] |= m[i]
		}
	}
	u.left = b.N
	for _, w := range u.hit {
		u.left -= bits.OnesCount64(w)
	}
	u.slots, u.nulls = unmatchedSlots(l, s)
	if b.hits.isCut {
		u.left = 0
	}
	if u.left > 0 {
		u.parts = pipeline.CutMorsels(nil, 0, b.N, b.q.Tuning.MorselRows)
	}
	return u, nil
}

// unmatchedSlots returns the slots of the build's payload, and of the columns that are NULL.
func unmatchedSlots(l *pipeline.Layout, s *physical.UnmatchedScan) (payload, nulls []int) {
	for _, c := range s.Build.Payload {
		payload = append(payload, l.Slot(c.ID))
	}
	for _, c := range s.Nulls {
		nulls = append(nulls, l.Slot(c.ID))
	}
	return payload, nulls
}

func (u *unmatchedScan) Morsels() int { return len(u.parts) }

func (u *unmatchedScan) Rows() int { return u.left }

func (u *unmatchedScan) Open(w *task.Worker, next pipeline.Op) (pipeline.Reader, error) {
	r := &unmatchedReader{w: w, u: u, next: next, vecs: make([]column.Vector, len(u.slots))}
	r.b.Cols = make([]*column.Vector, len(u.layout.Slots))
	for i, c := range u.scan.Nulls {
		r.b.Cols[u.nulls[i]] = column.ConstVector(types.NullOf(c.Typ))
	}
	return r, nil
}

type unmatchedReader struct {
	w    *task.Worker
	u    *unmatchedScan
	next pipeline.Op
	vecs []column.Vector
	rows []int32
	b    column.Batch
}

func (r *unmatchedReader) Read(k int) error {
	part := r.u.parts[k]
	for from := part.From; from < part.To; from += column.VectorSize {
		if err := r.w.Check(); err != nil {
			return err
		}
		r.rows = r.rows[:0]
		for i := from; i < min(from+column.VectorSize, part.To); i++ {
			if !r.u.hit.Get(i) {
				r.rows = append(r.rows, int32(i))
			}
		}
		if len(r.rows) == 0 {
			continue
		}
		for i, s := range r.u.slots {
			r.u.b.payload[i].Gather(&r.vecs[i], len(r.rows), nil, r.rows)
			r.b.Cols[s] = &r.vecs[i]
		}
		r.b.N, r.b.Sel = len(r.rows), nil
		if err := r.next.Push(&r.b); err != nil {
			return err
		}
	}
	return nil
}

// spilledUnmatched reads those of a build in the temporary file.
type spilledUnmatched struct {
	b      *Build
	scan   *physical.UnmatchedScan
	layout *pipeline.Layout
	left   int
	slots  []int // of the payload
	nulls  []int
}

func newSpilledUnmatched(l *pipeline.Layout, b *Build, s *physical.UnmatchedScan) *spilledUnmatched {
	u := &spilledUnmatched{b: b, scan: s, layout: l, left: b.N}
	for _, w := range b.disk.hits {
		u.left -= bits.OnesCount64(w)
	}
	if b.hits.isCut {
		u.left = 0
	}
	u.slots, u.nulls = unmatchedSlots(l, s)
	return u
}

func (u *spilledUnmatched) Morsels() int {
	if u.left == 0 {
		return 0
	}
	return spill.Partitions
}

func (u *spilledUnmatched) Rows() int { return u.left }

func (u *spilledUnmatched) Open(_ *task.Worker, next pipeline.Op) (pipeline.Reader, error) {
	r := &spilledUnmatchedReader{u: u, batches: newBatches(u.layout, u.slots, u.b.stored.payAt, next)}
	for i, c := range u.scan.Nulls {
		r.batches.b.Cols[u.nulls[i]] = column.ConstVector(types.NullOf(c.Typ))
	}
	return r, nil
}

type spilledUnmatchedReader struct {
	u       *spilledUnmatched
	batches *batches
	sel     []int32
}

func (r *spilledUnmatchedReader) Read(partition int) error {
	number := len(r.u.b.stored.types) // the column behind them
	for _, rows := range r.u.b.disk.rows {
		err := rows.Read(spill.Partition(partition), func(cols []*column.Vector, sel []int32, n int) error {
			r.sel = r.sel[:0]
			for _, p := range sel {
				if !r.u.b.disk.hits.Get(int(cols[number].I64[p])) {
					r.sel = append(r.sel, p)
				}
			}
			return r.batches.push(cols, r.sel, n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
