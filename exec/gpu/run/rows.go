package run

import (
	"context"
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/measure"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Rows gives what a sink holds, once its pipelines have run.
func (q *Query) Rows(s physical.Sink) *results.Rows {
	r := q.outputs.rows[s]
	if r == nil {
		return nil
	}
	out := &results.Rows{
		Env:   &results.Env{Memory: q.memory, Pool: q.runner.Residency, Tuning: q.runner.tuning.Results},
		Count: r.count, Order: r.sorted.Numbers, IsWhole: !q.memory.Apart && len(r.memory) <= 1, Copied: r.copied,
	}
	r.copied = results.Copy{} // the receiver's now
	for i := range r.form.Cols {
		c := &r.form.Cols[i].Form
		out.Columns = append(out.Columns, results.Column{Class: c.Class, Dict: c.Dict, Data: r.data[i], Valid: r.valid[i]})
	}
	return out
}

// PutRows makes rows of the host a sink's: those of a Materialize, Sort, Window or Aggregate that was computed there, in the order of the
// batches.
func (q *Query) PutRows(s physical.Sink, batches []*column.Batch, ids []expr.ColumnID) error {
	form, err := q.program.Form(s)
	if err != nil {
		return err
	}
	n := int64(0)
	for _, b := range batches {
		n += int64(b.Rows())
	}
	if err := q.outputs.openArrays(s, max(n, 1)); err != nil {
		return err
	}
	r := q.outputs.rows[s]
	r.count = n
	for i := range form.Cols {
		c := &form.Cols[i]
		from := i
		for k, id := range ids {
			if id == c.ID {
				from = k
			}
		}
		if err := q.outputs.putColumn(r, i, from, batches); err != nil {
			return err
		}
	}
	return nil
}

// putColumn uploads one column of batches.
func (out *outputs) putColumn(r *storedRows, at, from int, batches []*column.Batch) error {
	c := &r.form.Cols[at].Form
	var ints []int64
	var floats []float64
	var wides [][2]uint64
	var text []byte
	var ends []int64
	var valid []byte
	for _, b := range batches {
		v := b.Cols[from]
		for i := range b.Rows() {
			p := i
			if b.Sel != nil {
				p = int(b.Sel[i])
			}
			null := v.IsNull(p)
			if null {
				valid = append(valid, 0)
			} else {
				valid = append(valid, 1)
			}
			var x types.Value
			if !null {
				x = v.Value(p)
			}
			switch c.Class {
			case form.Float:
				floats = append(floats, x.F)
			case form.Wide:
				wides = append(wides, form.WordsOf(x.D))
			case form.View:
				text = append(text, x.S...)
				ends = append(ends, int64(len(text)))
			default:
				ints = append(ints, x.I)
			}
		}
	}
	if len(valid) == 0 {
		return nil
	}
	var data []byte
	switch c.Class {
	case form.Float:
		data = gpukernels.Bytes(floats)
	case form.Wide:
		data = gpukernels.Bytes(wides)
	case form.View:
		base, err := out.memory.Alloc("strings of the CPU's rows", int64(len(text))+1)
		if err != nil {
			return err
		}
		if len(text) > 0 {
			if err := out.memory.Stream.Upload(base, text); err != nil {
				return err
			}
		}
		views := make([]uint64, 0, 2*len(ends))
		last := int64(0)
		for _, e := range ends {
			views = append(views, uint64(base)+uint64(last), uint64(e-last))
			last = e
		}
		data = gpukernels.Bytes(views)
	default:
		data = gpukernels.Bytes(ints)
	}
	if err := out.memory.Stream.Upload(r.data[at], data); err != nil {
		return err
	}
	if r.valid[at] != 0 {
		return out.memory.Stream.Upload(r.valid[at], valid)
	}
	return nil
}

// openValues computes the rows of a ValuesScan and uploads them.
func (q *Query) openValues(src *physical.ValuesScan) error {
	sink := program.ValuesSink(src)
	if q.outputs.rows[sink] != nil {
		return nil
	}
	b := &column.Batch{N: len(src.Rows)}
	for i, c := range src.Cols {
		v := column.New(c.Typ, len(src.Rows))
		for r, row := range src.Rows {
			x, err := expr.Eval1(row[i], q.program.Ctx)
			if err != nil {
				return err
			}
			v.Set(r, len(src.Rows), x)
		}
		b.Cols = append(b.Cols, v)
	}
	return q.PutRows(sink, []*column.Batch{b}, nil)
}

// sourceRows is the number of rows that a kernel goes over, or the most that there can be. It is none that scans a table.
func (q *Query) sourceRows(k *kernel.Kernel) int64 {
	switch {
	case k.Rows.Of != nil:
		if s := q.outputs.partitioned(k.Rows.Of); s != nil {
			return s.last().capacity()
		}
		return q.outputs.most(k.Rows.Of)
	case k.Rows.Groups != nil:
		g := q.outputs.groups[k.Rows.Groups]
		return g.form.Size(g.capacity)
	}
	return k.Rows.Count
}

// rangeOf is the tiles of a window, or the rows, that a kernel goes over.
func (q *Query) rangeOf(k *kernel.Kernel, w *scanWindow) (from, to int64) {
	switch {
	case w == nil:
		return 0, q.sourceRows(k) << q.sharers(k)
	case k.Rows.Scan == nil: // one by one
		return w.first, w.end
	}
	return 0, w.tiles
}

// sourceBound is the number of the source's rows.
func (q *Query) sourceBound(k *kernel.Kernel) int64 {
	if scan, ok := k.Pipeline.Source.(*physical.TableScan); ok && q.inputs.spanned[scan] != nil {
		return min(q.inputs.spanned[scan].rows, q.inputs.rows(scan))
	}
	return q.sourceRows(k)
}

// countSink is how many rows or groups a sink has for EXPLAIN ANALYZE: stored, unless that is not counted as they come. Scans that read it tell as many.
func (q *Query) countSink(ctx context.Context, s physical.Sink, stored int64) (rows int64, err error) {
	switch s := s.(type) {
	case *physical.Aggregate:
		if !q.progress.finished(s) {
			return stored, nil
		}
		rows, err = q.countGroups(ctx, s)
		q.outputs.groups[s].taken = rows
	case *physical.Build:
		rows, err = q.countBuild(ctx, s)
		q.outputs.builds[s].taken = rows
	default:
		rows = stored
	}
	return rows, err
}

// countTaken counts what is taken among some items.
func (q *Query) countTaken(ctx context.Context, items gpukernels.Ptr, count int64, kind int) (int64, error) {
	block := int64(q.runner.Device.Block(measure.Threads))
	return q.count(ctx, "count_taken", (count+block-1)/block, uint64(items), uint64(count), uint64(kind))
}

// count is what a kernel that counts adds to the counter that its last parameter is.
func (q *Query) count(ctx context.Context, kernel string, blocks int64, params ...uint64) (int64, error) {
	counter, err := q.memory.Filled("counters", 1, 8, 0)
	if err != nil {
		return 0, err
	}
	defer q.memory.Free(counter)
	if err := measure.Launch(ctx, q.memory.Stream, kernel, min(max(blocks, 1), 1<<14), append(params, uint64(counter))); err != nil {
		return 0, err
	}
	count := make([]uint64, 1)
	err = q.memory.Stream.Download(ctx, gpukernels.Bytes(count), counter)
	return int64(count[0]), err
}

// countBuild is the number of rows of a build whose pipelines have been waited for; uncounted if that is not to be found out.
func (q *Query) countBuild(ctx context.Context, b *physical.Build) (int64, error) {
	f := q.program.Builds[b]
	if f.Radix == nil {
		key, keys := f.Bits()
		switch {
		case !f.ByKey():
			return q.outputs.rows[b].count, nil
		case key == nil || !b.Unique: // rows of one key share a bit
			return uncounted, nil
		}
		return q.countTaken(ctx, *q.outputs.builds[b].arrays[key], (keys+31)/32, measure.Bits)
	}
	side := f.Radix.BuildSide()
	s := q.outputs.sides[side]
	if s.sorted != nil {
		return s.sorted.count, nil
	}
	x, wide := s.last(), uint64(0)
	if f.Radix.RadixKeyBytes() == 8 {
		wide = 1
	}
	parts := int64(len(x.given))
	return q.count(ctx, "count_rows", parts, uint64(x.rows), uint64(x.begins), uint64(x.counts), uint64(parts), uint64(side.Form().RowBytes/8), wide)
}

// countGroups is the number of groups of an aggregation whose pipelines have run.
func (q *Query) countGroups(ctx context.Context, p *physical.Aggregate) (int64, error) {
	g := q.outputs.groups[p]
	x, slots := g.form.Occupied(), g.form.Size(g.capacity)
	if x.Array == nil {
		return slots, nil
	}
	return q.countTaken(ctx, *g.arrays[x.Array], slots, measure.Items(x.Unit, x.Free))
}

// Threads that share the copies of a row, as log2. They are a warp's always, so that a row with very many copies is not one thread's, and of few rows more, up to so many
// that all rows together have sharersAll a multiprocessor. They are few enough that some of their turns ask whether the query was cancelled (kernel.Kernel.AskStop).
const (
	sharersLeast, sharersMost = 5, 16
	sharersAll                = 1 << 14
)

// sharersOf is log2 of how many threads share the copies or matches of each of so many rows.
func (q *Query) sharersOf(rows int64) int {
	each := int64(q.runner.multiprocessors()*sharersAll) / max(rows, 1)
	return min(max(bits.Len64(uint64(each))-1, sharersLeast), sharersMost)
}

// sharers is log2 of how many threads share the copies of a row.
func (q *Query) sharers(k *kernel.Kernel) int {
	switch {
	case q.launch.later != nil:
		return q.sharersOf(q.launch.later.runs)
	case k.Rows.SharedBy == nil:
		return 0
	}
	return q.sharersOf(q.sourceRows(k))
}
