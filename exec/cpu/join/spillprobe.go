package join

import (
	"errors"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/spill"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Partitioned cuts a pipeline in front of a probe whose build is in the temporary file. It is the sink of the first piece: the rows that come to the probe
// go to the file too, in the same partitions. And it is the source of the second, whose first step is the probe: a worker makes a part of the build
// of each partition that it takes, and then reads the partition's rows of the probe's side. A partition that does not fit is read in halves.
type Partitioned struct {
	q      *task.Query
	b      *Build
	t      *physical.Probe
	cols   []*expr.Column      // alive in front of the probe
	at     []int               // of the file's columns, each of cols
	types  []types.Type        // of the file's columns: the keys come first
	locals []*partitionedLocal // by worker
	rows   []*spill.Rows
	n      int64
	bytes  int64
	reads  []partitionedReads // by worker of the second piece
	layout *pipeline.Layout
	slots  []int // of cols
}

// partitionedReads is what a worker's probe looks up in.
type partitionedReads struct {
	part   *Build
	blocks *blocks // nil: part has all rows of its keys
}

// NewPartitioned returns the sink and source between the pieces of a pipeline that are cut in front of t, where cols are alive.
func NewPartitioned(q *task.Query, b *Build, t *physical.Probe, cols []*expr.Column) *Partitioned {
	p := &Partitioned{q: q, b: b, t: t, cols: cols, locals: make([]*partitionedLocal, q.Threads), reads: make([]partitionedReads, q.Threads)}
	byID := map[expr.ColumnID]int{}
	for i, k := range t.Keys {
		p.types = append(p.types, k.Type())
		if c, ok := k.(*expr.Column); ok {
			byID[c.ID] = i
		}
	}
	for _, c := range cols {
		at, ok := byID[c.ID]
		if !ok {
			at = len(p.types)
			p.types = append(p.types, c.Typ)
		}
		p.at = append(p.at, at)
	}
	return p
}

// partitionedLocal writes a worker's rows.
type partitionedLocal struct {
	p     *Partitioned
	w     *task.Worker
	keys  *expr.ProgramSet
	slots []int // of those of p.cols that are no keys
	rows  *spill.Rows
	flat  vec.Flattener
	cols  []*column.Vector
	sel   []int32
}

func (p *Partitioned) Local(w *task.Worker, l *pipeline.Layout) (pipeline.LocalSink, error) {
	x := &partitionedLocal{p: p, w: w, rows: spill.NewRows(p.q, "join", p.types, len(p.t.Keys))}
	p.locals[w.ID] = x
	var err error
	if x.keys, err = expr.CompileAll(p.t.Keys, l.Slots); err != nil {
		return nil, err
	}
	for i, c := range p.cols {
		if p.at[i] >= len(p.t.Keys) {
			s, err := l.Lookup(c)
			if err != nil {
				return nil, err
			}
			x.slots = append(x.slots, s)
		}
	}
	return x, nil
}

func (x *partitionedLocal) Begin(int)     {}
func (x *partitionedLocal) End(int) error { return nil }

func (x *partitionedLocal) Push(b *column.Batch) error {
	if e := x.p.b.failure.Load(); e != nil {
		return e
	}
	keys, err := x.keys.Eval(x.w.Expr, b)
	if err != nil {
		return err
	}
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	for i, v := range keys {
		if v.Valid == nil || x.p.b.nullSafe(i) {
			continue
		}
		switch x.p.t.Kind {
		case logical.InnerJoin, logical.SemiJoin: // a NULL has no match
			if sel = dropNulls(&x.sel, v, sel, b.N); len(sel) == 0 {
				return nil
			}
		case logical.MarkJoin:
			if !x.p.b.oneNullDecides() && slices.ContainsFunc(sel, func(p int32) bool { return v.IsNull(int(p)) }) {
				return sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "IN or NOT IN looks rows with NULLs up in rows that do not fit the memory limit").
					WithHint("raise radish_memory_limit, or use EXISTS or NOT EXISTS")
			}
		}
	}
	x.cols = x.cols[:0]
	for i, v := range keys {
		x.cols = append(x.cols, x.flat.Flatten(i, v, sel, b.N))
	}
	for _, s := range x.slots {
		x.cols = append(x.cols, x.flat.Flatten(len(x.cols), b.Cols[s], sel, b.N))
	}
	return x.rows.Add(x.cols, sel, b.N)
}

// Finish ends the writing of the rows.
func (p *Partitioned) Finish() error {
	for _, x := range p.locals {
		if x == nil {
			continue
		}
		if err := x.rows.End(); err != nil {
			return err
		}
		p.rows = append(p.rows, x.rows)
		p.n += x.rows.N
		p.bytes += x.rows.Bytes
	}
	p.locals = nil
	return nil
}

// Describe says what was written.
func (p *Partitioned) Describe() (rows int64, note string) { return p.n, spilledNote(p.n, p.bytes) }

// Close gives back what is held for rows that nobody reads any more.
func (p *Partitioned) Close() {
	for _, r := range p.rows {
		r.Close()
	}
	p.rows = nil
}

// Source makes p the source of the second piece, which has a layout of its own.
func (p *Partitioned) Source(l *pipeline.Layout) pipeline.Source {
	p.layout = l
	for _, c := range p.cols {
		p.slots = append(p.slots, l.Slot(c.ID))
	}
	return p
}

// Morsels returns the number of partitions.
func (p *Partitioned) Morsels() int { return spill.Partitions }

// Rows returns how many rows there are.
func (p *Partitioned) Rows() int { return int(p.n) }

// Open returns what reads partitions for a worker.
func (p *Partitioned) Open(w *task.Worker, next pipeline.Op) (pipeline.Reader, error) {
	return &partitionedReader{p: p, w: w, batches: newBatches(p.layout, p.slots, p.at, next)}, nil
}

// NewPartProbe returns a worker's operator that looks up the rows that p gives.
func (p *Partitioned) NewPartProbe(w *task.Worker, at pipeline.Stage) pipeline.Op {
	return &partProbe{p: p, w: w, at: at}
}

// partProbe looks rows up in the part that the worker has made last.
type partProbe struct {
	p      *Partitioned
	w      *task.Worker
	at     pipeline.Stage
	probes [3]*probeOp // by what is asked of the part
}

// What is asked of a part: what the probe asks of a build, all pairs, or which rows have a match.
const (
	asProbe = iota
	asPairs
	asMatches
)

func (o *partProbe) Push(b *column.Batch) error {
	if s := o.p.reads[o.w.ID].blocks; s != nil {
		return s.push(o, b)
	}
	return o.ask(asProbe, o.p.t, o.at.Next, b)
}

// ask looks a batch's rows up as t says.
func (o *partProbe) ask(what int, t *physical.Probe, next pipeline.Op, b *column.Batch) error {
	part := o.p.reads[o.w.ID].part
	x := o.probes[what]
	if x == nil {
		at := o.at
		at.Next = next
		var err error
		if x, err = newProbe(&task.Worker{Query: part.q, Expr: o.w.Expr}, part, t, at); err != nil {
			return err
		}
		o.probes[what] = x
	}
	if x.b != part {
		x.lookIn(part)
	}
	return x.Push(b)
}

// lookIn makes part, of the same build, the one that rows are looked up in.
func (o *probeOp) lookIn(part *Build) {
	o.w = &task.Worker{Query: part.q, Expr: o.w.Expr}
	o.b, o.nulls, o.finder = part, nil, finder{} // which fits one kind of table
	o.hits = part.hitsOf(0)
}

// partitionedReader reads partitions for one worker.
type partitionedReader struct {
	p       *Partitioned
	w       *task.Worker
	batches *batches
}

// Read gives the rows of a partition, once a part of the build is there for them.
func (r *partitionedReader) Read(partition int) error {
	if of := spill.Partition(partition); slices.ContainsFunc(r.p.rows, func(rows *spill.Rows) bool { return !rows.IsEmpty(of) }) {
		return r.read(of)
	}
	return nil
}

// read does so for a range of keys, in halves if its part of the build does not fit the memory, and at last in blocks.
func (r *partitionedReader) read(of spill.Range) error {
	part, free, err := r.p.b.part(of, window{})
	if err != nil {
		if !errors.Is(err, sqlerr.CodeCapacityExceeded) {
			return err
		}
		halves, ok := of.Halves()
		if !ok {
			return r.readBlocks(of)
		}
		for _, half := range halves {
			if err := r.read(half); err != nil {
				return err
			}
		}
		return nil
	}
	defer free()
	if kind := r.p.t.Kind; part.N == 0 && (kind == logical.InnerJoin || kind == logical.SemiJoin) {
		return nil
	}
	return r.lookUp(of, part, nil)
}

// lookUp looks the rows of a range up in a part of the build.
func (r *partitionedReader) lookUp(of spill.Range, part *Build, s *blocks) error {
	if s != nil {
		s.number = 0
	}
	r.p.reads[r.w.ID] = partitionedReads{part, s}
	for _, rows := range r.p.rows {
		if err := rows.Read(of, r.batches.push); err != nil {
			return err
		}
	}
	r.p.b.noteHits(part)
	return nil
}

// readBlocks gives the rows of a range whose keys, most likely a single one, have too many rows in the build: a block of these after the other is the part.
func (r *partitionedReader) readBlocks(of spill.Range) error {
	rows, err := rowsWithin(r.p.b.disk.rows, of)
	if err != nil {
		return err
	}
	probes, err := rowsWithin(r.p.rows, of)
	if err != nil {
		return err
	}
	bytes := int64(probes/8 + 8)
	if err := r.p.q.Memory.Reserve("join", bytes); err != nil {
		return err
	}
	defer r.p.q.Memory.Release(bytes)
	s := &blocks{matched: column.NewBitmap(probes, false)}
	for from, size := 0, max(1, rows/2); from < rows; {
		part, free, err := r.p.b.part(of, window{from, size})
		if errors.Is(err, sqlerr.CodeCapacityExceeded) && size > leastPart {
			size /= 2
			continue
		}
		if err != nil {
			return err
		}
		err = r.lookUp(of, part, s)
		free()
		if err != nil {
			return err
		}
		from += size
	}
	if kind := r.p.t.Kind; kind == logical.InnerJoin || kind == logical.SemiJoin {
		return nil
	}
	s.isLast = true
	part, free, err := r.p.b.part(of, window{from: rows, size: 1})
	if err != nil {
		return err
	}
	defer free()
	return r.lookUp(of, part, s)
}

// leastPart is how many rows of a build make a block at least.
const leastPart = 16

// rowsWithin counts the rows of a range.
func rowsWithin(all []*spill.Rows, of spill.Range) (n int, err error) {
	for _, rows := range all {
		err := rows.ReadKeys(of, func(_ []*column.Vector, sel []int32, _ int) error {
			n += len(sel)
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// blocks is the state of a range whose rows are looked up in one block of the build after the other, and then, those without a match, in none: a part
// that has at most the build's rows with NULLs.
type blocks struct {
	matched column.Bitmap // by number of the probe's row in the range
	number  int           // of the next row
	isLast  bool
	open    []int32 // positions of the batch's rows for which a match is news
	numbers []int32 // and their numbers
}

// push looks up the rows of a batch.
func (s *blocks) push(o *partProbe, b *column.Batch) error {
	kind, all := o.p.t.Kind, b.Sel
	if all == nil {
		all = vec.Ascending(b.N)
	}
	s.open, s.numbers = s.open[:0], s.numbers[:0]
	for i, p := range all {
		if isSingle := kind == logical.SingleJoin && !s.isLast; isSingle || !s.matched.Get(s.number+i) {
			s.open, s.numbers = append(s.open, p), append(s.numbers, int32(s.number+i))
		}
	}
	s.number += len(all)
	pairs := kind == logical.InnerJoin || kind == logical.LeftJoin || kind == logical.FullJoin
	if pairs && !s.isLast {
		t := *o.p.t
		t.Kind = logical.InnerJoin
		if err := o.ask(asPairs, &t, o.at.Next, b); err != nil || kind == logical.InnerJoin {
			return err
		}
	}
	if len(s.open) == 0 {
		return nil
	}
	b.Sel = s.open
	if s.isLast {
		return o.ask(asProbe, o.p.t, o.at.Next, b)
	}
	t := *o.p.t
	t.Kind, t.Mark = logical.SemiJoin, nil
	return o.ask(asMatches, &t, &matches{o}, b)
}

// matches notes which rows of a batch have a match in the block, and passes them on where the first match decides.
type matches struct{ o *partProbe }

func (m *matches) Push(b *column.Batch) error {
	s, t := m.o.p.reads[m.o.w.ID].blocks, m.o.p.t
	k := 0
	for i, p := range s.open {
		if k < len(b.Sel) && b.Sel[k] == p {
			if t.Kind == logical.SingleJoin && s.matched.Get(int(s.numbers[i])) {
				return sqlerr.SubqueryNo1Row()
			}
			s.matched.Set(int(s.numbers[i]))
			k++
		}
	}
	switch t.Kind {
	case logical.SingleJoin:
		return m.o.ask(asPairs, t, m.o.at.Next, b)
	case logical.MarkJoin:
		b.Cols[m.o.at.Layout.Slots[t.Mark.ID]] = column.ConstVector(types.Value{Type: types.Bool, I: 1})
	case logical.SemiJoin:
	default:
		return nil
	}
	return m.o.at.Next.Push(b)
}

// batches pushes rows that are read from a temporary file.
type batches struct {
	from    []int // the file's column of each slot
	slots   []int
	vectors []column.Vector
	sel     []int32
	b       column.Batch
	next    pipeline.Op
}

func newBatches(l *pipeline.Layout, slots, from []int, next pipeline.Op) *batches {
	return &batches{from: from, slots: slots, vectors: make([]column.Vector, len(slots)), b: column.Batch{Cols: make([]*column.Vector, len(l.Slots))}, next: next}
}

// push pushes the rows at sel of flat columns of n positions, at most a vector at a time.
func (x *batches) push(cols []*column.Vector, sel []int32, n int) error {
	for from := 0; len(sel) > 0; from += column.VectorSize {
		size := min(column.VectorSize, n-from)
		k, _ := slices.BinarySearch(sel, int32(from+size))
		some := sel[:k]
		if sel = sel[k:]; k == 0 {
			continue
		}
		for i, c := range x.from {
			v := &x.vectors[i]
			vec.Slice(v, cols[c], from, size)
			v.Loose = v.Str != nil
			x.b.Cols[x.slots[i]] = v
		}
		x.b.N, x.b.Sel = size, nil
		if k < size {
			x.sel = x.sel[:0]
			for _, p := range some {
				x.sel = append(x.sel, p-int32(from))
			}
			x.b.Sel = x.sel
		}
		if err := x.next.Push(&x.b); err != nil {
			return err
		}
	}
	return nil
}
