package window

import (
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/orderby"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

var _ pipeline.Stored = (*Sink)(nil)

// Sink is the sink of a Window. It stores rows and sorts them by the partition's and the order's keys as a sort does. Then
// functions are computed for blocks of the sorted rows, none of which waits for another: what lies before a block in its rows'
// frames is found in trees of partial results (fold.go). Within a block frames' bounds never move backwards.
//
// Functions whose result is some row's string or 128-bit value (FIRST_VALUE, MIN, ...) give that row's number; the values are gathered at the end.
type Sink struct {
	q    *task.Query
	p    *physical.Window
	sort *orderby.Sink
	at   map[expr.ColumnID]int // where the sort keeps each column
	rel  rowstore.Relation
}

// New returns the sink for a Window, into which about so many rows come.
func New(q *task.Query, p *physical.Window, rows float64) *Sink {
	w := &Sink{q: q, p: p, at: map[expr.ColumnID]int{}}
	s := &physical.Sort{Count: logical.NoLimit}
	for _, e := range p.Partition {
		s.Keys = append(s.Keys, logical.SortKey{Expr: e})
	}
	s.Keys = append(s.Keys, p.Order...)
	seen := pipeline.IDSet{}
	keep := func(c *expr.Column) {
		if !seen.Has(c.ID) {
			seen.Add(c.ID)
			s.Cols = append(s.Cols, c)
		}
	}
	for _, c := range p.Cols {
		keep(c)
	}
	for _, e := range p.Exprs() {
		if c, ok := e.(*expr.Column); ok {
			keep(c)
		}
	}
	w.sort = orderby.New(q, s)
	w.sort.Name = "window functions"
	for i, c := range s.Cols {
		w.at[c.ID] = w.sort.ColAt[i]
	}
	if p.Top > 0 && !slices.ContainsFunc(p.Items, func(it logical.WindowItem) bool { return !looksBack(it.Fn.Kind) }) {
		w.sort.KeepRanks(p.Top, len(p.Partition), rows)
	}
	return w
}

// looksBack says whether a function depends on no row that comes after the row's peers.
func looksBack(kind expr.WindowKind) bool {
	return kind == expr.WinRowNumber || kind == expr.WinRank || kind == expr.WinDenseRank
}

func (w *Sink) Local(wk *task.Worker, l *pipeline.Layout) (pipeline.LocalSink, error) {
	return w.sort.Local(wk, l)
}

func (w *Sink) Relation() *rowstore.Relation { return &w.rel }

// windowRows is the rows of a Window in order.
type windowRows struct {
	w     *Sink
	n     int
	cols  []*column.Vector // as they were stored
	order []int32          // of each row, its position in cols; nil: they were stored in order
	// Bit i says that a partition or a group of peers begins at row i; row n, which there is not, begins both.
	partitions, peers column.Bitmap
	largest           int     // the most rows of a partition, or a bound of it
	groups            []int32 // the first row of each group of peers, and n; nil if no frame counts groups
	sorted            map[expr.ColumnID]*column.Vector
	ranks             []*ranked
}

func (w *Sink) Finish() error {
	cols, n, err := w.sort.Stored()
	if err != nil {
		return err
	}
	addRelationIDs(&w.rel, w.p)
	if n == 0 {
		return nil
	}
	r := &windowRows{w: w, n: n, cols: cols, sorted: map[expr.ColumnID]*column.Vector{}}
	if err := r.arrange(); err != nil {
		return err
	}
	r.forgetKeys()
	outs, err := r.compute()
	if err != nil {
		return err
	}
	for _, o := range outs {
		o.begin, o.arg, o.key, o.start, o.end, o.compared = nil, nil, nil, nil, nil, nil
	}
	r.forgetRanks()
	return r.assemble(outs)
}

func addRelationIDs(rel *rowstore.Relation, p *physical.Window) {
	for i := range p.Items {
		rel.IDs = append(rel.IDs, p.Items[i].Col.ID)
	}
	for _, c := range p.Cols {
		rel.IDs = append(rel.IDs, c.ID)
	}
}

// arrange sorts the rows and finds where partitions and peers begin.
func (r *windowRows) arrange() error {
	q, s := r.w.q, r.w.sort
	r.partitions, r.peers = newEdges(r.n), newEdges(r.n)
	if len(s.P.Keys) == 0 {
		r.largest = r.n
		return nil
	}
	sorted, err := s.Sorted(r.cols, r.n, q)
	if err != nil {
		return err
	}
	if err := r.findEdges(sorted); err != nil {
		return err
	}
	kept := int64(0)
	if !sorted.AsInput {
		if r.order, err = sorted.Order(q.ParallelBlocks); err != nil {
			return err
		}
		kept = 4
	}
	q.Memory.Release((16 - kept) * int64(r.n))
	return nil
}

// forgetKeys lets go of the stored columns that nothing but the sort has needed.
func (r *windowRows) forgetKeys() {
	needed := make([]bool, len(r.cols))
	need := func(e expr.Expr) {
		if c, ok := e.(*expr.Column); ok {
			needed[r.w.at[c.ID]] = true
		}
	}
	for _, c := range r.w.p.Cols {
		need(c)
	}
	for i := range r.w.p.Items {
		it := &r.w.p.Items[i]
		for _, e := range slices.Concat(it.Args, it.Frame.Exprs()) {
			need(e)
		}
	}
	for at := range r.cols {
		if !needed[at] {
			r.drop(at)
		}
	}
}

// drop lets go of a stored column.
func (r *windowRows) drop(at int) {
	if v := r.cols[at]; v != nil {
		r.w.q.Memory.Release(int64(r.n) * v.Width())
		r.cols[at] = nil
	}
}

// findEdges finds where partitions and peers begin: by the sorted codes where they hold the keys, else by comparing these.
func (r *windowRows) findEdges(sorted *rowsort.Sorted) error {
	s := r.w.sort
	parts := len(r.w.p.Partition)
	partShift, partCoded := sorted.Shift(parts)
	peerShift, peerCoded := sorted.Shift(len(s.KeyAt))
	differ := func(keys []int, i int) bool {
		x, y := int(sorted.Row(i-1)), int(sorted.Row(i))
		for _, k := range keys {
			if vec.CompareNullsFirst(r.cols[k], x, y) != 0 {
				return true
			}
		}
		return false
	}
	words := sorted.Words
	var largest atomic.Int64
	err := r.w.q.ParallelBlocks(r.n, func(from, to int) {
		for i := max(from, 1); i < to; i++ {
			x := words[i] ^ words[i-1]
			other := x>>partShift != 0
			if !partCoded {
				other = differ(s.KeyAt[:parts], i)
			}
			if other {
				r.partitions[i>>6] |= 1 << (i & 63)
			}
			if other || x>>peerShift != 0 || !peerCoded && differ(s.KeyAt[parts:], i) {
				r.peers[i>>6] |= 1 << (i & 63)
			}
		}
	})
	if err != nil {
		return err
	}
	err = r.w.q.ParallelBlocks(r.n, func(from, to int) {
		most := int64(0)
		for i := nextEdge(r.partitions, from); i < to; {
			end := nextEdge(r.partitions, i+1)
			most = max(most, int64(end-i))
			i = end
		}
		for old := largest.Load(); most > old && !largest.CompareAndSwap(old, most); old = largest.Load() {
		}
	})
	r.largest = int(largest.Load())
	return err
}

// inOrder returns the values of a column or constant in the order of the rows.
func (r *windowRows) inOrder(e expr.Expr) (*column.Vector, error) {
	c, ok := e.(*expr.Column)
	if !ok {
		v := column.New(e.Type(), r.n)
		for i := range r.n {
			v.Set(i, r.n, e.(*expr.Const).Value)
		}
		return v, r.w.q.Memory.Reserve(r.w.sort.Name, int64(r.n)*v.Width())
	}
	if v := r.sorted[c.ID]; v != nil {
		return v, nil
	}
	src := r.column(c)
	if r.order == nil {
		return src, nil
	}
	if err := r.w.q.Memory.Reserve(r.w.sort.Name, int64(r.n)*src.Width()); err != nil {
		return nil, err
	}
	v, err := r.gather(src)
	r.sorted[c.ID] = v
	return v, err
}

// gather returns all values of a stored column in the order of the rows.
func (r *windowRows) gather(src *column.Vector) (*column.Vector, error) {
	v := &column.Vector{Type: src.Type}
	if src.Dict != nil {
		v.ReserveCodes(src.Dict, r.n)
	} else {
		v.Reserve(r.n)
	}
	if src.Valid != nil {
		v.Valid = column.NewBitmap(r.n, true)
	}
	err := r.w.q.Parallel((r.n+rowstore.MaxSegment-1)/rowstore.MaxSegment, r.n, func(k int) error {
		from := k * rowstore.MaxSegment
		n := min(rowstore.MaxSegment, r.n-from)
		var part column.Vector
		vec.Slice(&part, v, from, n)
		(&vec.Packed{V: src}).Gather(&part, n, nil, r.order[from:from+n])
		if part.Valid != nil {
			copy(v.Valid[from/64:], part.Valid)
		}
		return nil
	})
	return v, err
}

// column returns the values of a column or constant as they were stored.
func (r *windowRows) column(e expr.Expr) *column.Vector {
	if c, ok := e.(*expr.Column); ok {
		return r.cols[r.w.at[c.ID]]
	}
	return column.ConstVector(e.(*expr.Const).Value)
}

// compute runs the functions.
func (r *windowRows) compute() ([]*windowOut, error) {
	w := r.w
	outs := make([]*windowOut, len(w.p.Items))
	for i := range w.p.Items {
		it := &w.p.Items[i]
		if it.Frame.Unit == logical.FrameGroups && r.groups == nil {
			groups := countEdges(r.peers, 0, r.n)
			if err := w.q.Memory.Reserve(w.sort.Name, 4*int64(groups+1)); err != nil {
				return nil, err
			}
			r.groups = make([]int32, 0, groups+1)
			for k := 0; k < r.n; k = nextEdge(r.peers, k+1) {
				r.groups = append(r.groups, int32(k))
			}
			r.groups = append(r.groups, int32(r.n))
		}
		var err error
		if outs[i], err = r.newOut(it); err != nil {
			return nil, err
		}
		if outs[i].begin, err = outs[i].prepare(); err != nil {
			return nil, err
		}
	}
	task := w.q.Tuning.WindowTaskRows
	err := w.q.Parallel((r.n+task-1)/task, r.n*len(outs), func(k int) error {
		return r.run(k*task, min((k+1)*task, r.n), outs)
	})
	return outs, err
}

// run computes functions over the rows from .. to-1.
func (r *windowRows) run(from, to int, outs []*windowOut) error {
	b := newWindowBlock(r, outs)
	var frames []*framer
	fns := make([]windowFunc, len(outs))
	frameOf := make([]*framer, len(outs))
	for i, o := range outs {
		fns[i] = o.begin()
		if !o.item.Fn.Framed {
			continue
		}
		at := slices.IndexFunc(frames, func(f *framer) bool { return f.frame.Equal(&o.item.Frame) })
		if at < 0 {
			at = len(frames)
			frames = append(frames, r.newFramer(o))
		}
		frameOf[i] = frames[at]
	}
	for block := r.w.q.Tuning.WindowBlockRows; from < to; from += block {
		if err := r.w.q.Check(); err != nil {
			return err
		}
		b.set(from, min(block, to-from))
		for _, f := range frames {
			f.block(b)
		}
		for i, fn := range fns {
			if err := fn(b, frameOf[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// top returns the rows whose rank is not above the Window's Top, in order; nil stands for all.
func (r *windowRows) top() []int32 {
	most := r.w.p.Top
	if most == 0 {
		return nil
	}
	kept := []int32{}
	for i := 0; i < r.n; {
		end := nextEdge(r.partitions, i+1)
		last := end
		if most < int64(end-i) {
			last = nextEdge(r.peers, i+int(most))
		}
		kept = vec.CountFrom(kept, i, last-i)
		i = end
	}
	return kept
}

// position returns where row i lies in cols.
func (r *windowRows) position(i int) int {
	if r.order == nil {
		return i
	}
	return int(r.order[i])
}

// stored returns where the n rows from on, or those of part, lie; nil: at from and behind it.
func (r *windowRows) stored(from, n int, part []int32) []int32 {
	switch {
	case part == nil && r.order == nil:
		return nil
	case part == nil:
		return r.order[from : from+n]
	case r.order == nil:
		return part
	}
	stored := make([]int32, n)
	vec.GatherAt(stored, r.order, nil, part)
	return stored
}

// assemble puts the kept columns and the functions' results together, in order.
func (r *windowRows) assemble(outs []*windowOut) error {
	w := r.w
	kept := r.top()
	n := r.n
	if kept != nil {
		n = len(kept)
	}
	w.rel.N = n
	w.rel.Segs = make([]*rowstore.Segment, (n+rowstore.MaxSegment-1)/rowstore.MaxSegment)
	for k := range w.rel.Segs {
		n := min(rowstore.MaxSegment, n-k*rowstore.MaxSegment)
		w.rel.Segs[k] = &rowstore.Segment{N: n, Cap: n}
	}
	// Column by column, so that a stored one can go when it has been gathered.
	each := func(bytes int64, f func(from, n int, part []int32) *column.Vector) error {
		if err := w.q.Memory.Reserve(w.sort.Name, bytes*int64(n)); err != nil {
			return err
		}
		return w.q.Parallel(len(w.rel.Segs), n, func(k int) error {
			seg, from := w.rel.Segs[k], k*rowstore.MaxSegment
			part := kept
			if kept != nil {
				part = kept[from : from+seg.N]
			}
			seg.Cols = append(seg.Cols, f(from, seg.N, part))
			return nil
		})
	}
	for _, o := range outs {
		bytes := int64(0)
		if o.rows != nil {
			bytes = o.from.Width()
		} else if kept != nil {
			bytes = o.values.Width()
		}
		if err := each(bytes, o.segment); err != nil {
			return err
		}
	}
	for i, c := range w.p.Cols {
		src, ordered := r.column(c), r.sorted[c.ID]
		if r.order == nil {
			ordered = src
		}
		bytes := src.Width()
		if ordered != nil && kept == nil {
			bytes = 0
		}
		err := each(bytes, func(from, n int, part []int32) *column.Vector {
			v := &column.Vector{}
			switch {
			case ordered == nil:
				(&vec.Packed{V: src}).Gather(v, n, nil, r.stored(from, n, part))
			case part == nil:
				vec.Slice(v, ordered, from, n)
			default:
				(&vec.Packed{V: ordered}).Gather(v, n, nil, part)
			}
			return v
		})
		if err != nil {
			return err
		}
		delete(r.sorted, c.ID)
		if r.order != nil && !slices.Contains(w.p.Cols[i+1:], c) {
			r.drop(w.at[c.ID])
		}
	}
	return nil
}
