package cpu

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/column"
)

// window is the sink of a Window. It stores rows and sorts them by the partition's and the order's keys as a sort does; then
// each function walks the sorted rows once, block by block, over frames whose bounds never move backwards, so that no frame
// is ever looked at as a whole. Workers take whole partitions; where there are too few, functions.
//
// Functions whose result is some row's value (FIRST_VALUE, LAG, MIN, ...) give that row's number, and the values are gathered
// when the result is put together; the others store numbers.
type window struct {
	q    *query
	p    *physical.Window
	sort *sortSink
	at   map[expr.ColumnID]int // where the sort keeps each column
	rel  relation
}

func (q *query) newWindow(p *physical.Window) *window {
	w := &window{q: q, p: p, at: map[expr.ColumnID]int{}}
	s := &physical.Sort{Count: logical.NoLimit}
	for _, e := range p.Partition {
		s.Keys = append(s.Keys, logical.SortKey{Expr: e})
	}
	s.Keys = append(s.Keys, p.Order...)
	seen := idSet{}
	keep := func(c *expr.Column) {
		if !seen.has(c.ID) {
			seen.add(c.ID)
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
	w.sort = q.newSort(s)
	w.sort.name = "window functions"
	for i, c := range s.Cols {
		w.at[c.ID] = w.sort.colAt[i]
	}
	return w
}

func (w *window) local(wk *worker, l *layout) (localSink, error) { return w.sort.local(wk, l) }

func (w *window) relation() *relation { return &w.rel }

// windowRows is the rows of a Window in order.
type windowRows struct {
	w     *window
	n     int
	cols  []*column.Vector // as they were stored
	order []int32          // of each row, its place in cols
	// edges[i] says what begins at row i; row n, which there is not, begins a partition.
	edges  []uint8
	groups []int32 // the first row of each group of peers, and n; nil if no frame counts groups
	sorted map[expr.ColumnID]*column.Vector
}

// What may begin at a row.
const (
	beginsPeers = 1 << iota
	beginsPartition
)

func (w *window) finish() error {
	cols, n, err := w.sort.stored()
	if err != nil {
		return err
	}
	addRelationIDs(&w.rel, w.p)
	if n == 0 {
		return nil
	}
	items, packed, err := w.sort.sorted(cols, n, w.q)
	if err != nil {
		return err
	}
	r := &windowRows{w: w, n: n, cols: cols, order: rowsOf(items), sorted: map[expr.ColumnID]*column.Vector{}}
	if err := r.findEdges(items, packed); err != nil {
		return err
	}
	w.q.mem.Release(int64(27 * n)) // order and edges stay
	outs, err := r.compute()
	if err != nil {
		return err
	}
	return r.assemble(outs)
}

func addRelationIDs(rel *relation, p *physical.Window) {
	for _, c := range p.Cols {
		rel.ids = append(rel.ids, c.ID)
	}
	for i := range p.Items {
		rel.ids = append(rel.ids, p.Items[i].Col.ID)
	}
}

// findEdges finds where partitions and peers begin: by the sorted words where they hold the keys, else by comparing them.
func (r *windowRows) findEdges(items []sortItem, packed packedWords) error {
	s := r.w.sort
	parts := len(r.w.p.Partition)
	r.edges = make([]uint8, r.n+1)
	r.edges[0], r.edges[r.n] = beginsPeers|beginsPartition, beginsPeers|beginsPartition
	if len(s.p.Keys) == 0 {
		return nil
	}
	shift := -1 // by which a word gives the partition's keys alone
	switch {
	case parts == 0:
		shift = 64
	case len(packed.ends) >= parts:
		shift = packed.width - packed.ends[parts-1]
	}
	differ := func(keys []int, x, y int32) bool {
		for _, k := range keys {
			if compareNullsFirst(r.cols[k], int(x), int(y)) != 0 {
				return true
			}
		}
		return false
	}
	const chunk = 1 << 16
	return r.w.q.parallel((r.n+chunk-1)/chunk, r.n, func(c int) error {
		for i := max(1, c*chunk); i < min(r.n, (c+1)*chunk); i++ {
			a, b := &items[i-1], &items[i]
			other := false
			if shift >= 0 {
				other = a.key>>uint(shift) != b.key>>uint(shift)
			} else {
				other = differ(s.keyAt[:parts], a.row, b.row)
			}
			switch {
			case other:
				r.edges[i] = beginsPeers | beginsPartition
			case a.key != b.key || !packed.exact && differ(s.keyAt[parts:], a.row, b.row):
				r.edges[i] = beginsPeers
			}
		}
		return nil
	})
}

// inOrder returns the values of a column or constant in the order of the rows.
func (r *windowRows) inOrder(e expr.Expr) (*column.Vector, error) {
	c, ok := e.(*expr.Column)
	if !ok {
		v := column.New(e.Type(), r.n)
		for i := range r.n {
			v.Set(i, r.n, e.(*expr.Const).Value)
		}
		return v, r.w.q.mem.Reserve(r.w.sort.name, int64(r.n)*width(v))
	}
	if v := r.sorted[c.ID]; v != nil {
		return v, nil
	}
	src := r.column(c)
	if err := r.w.q.mem.Reserve(r.w.sort.name, int64(r.n)*width(src)); err != nil {
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
	err := r.w.q.parallel((r.n+maxSegment-1)/maxSegment, r.n, func(k int) error {
		from := k * maxSegment
		n := min(maxSegment, r.n-from)
		var part column.Vector
		slice(&part, v, from, n)
		(&packedColumn{v: src}).gather(&part, n, nil, r.order[from:from+n])
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

// windowTaskRows is the least number of rows that a worker takes at a time.
var windowTaskRows = 1 << 15 // tests lower it

// tasks cuts the rows into runs of whole partitions and returns where each ends.
func (r *windowRows) tasks() (ends []int) {
	from := 0
	for i := 1; i <= r.n; i++ {
		if r.edges[i]&beginsPartition != 0 && (i == r.n || i-from >= windowTaskRows) {
			ends = append(ends, i)
			from = i
		}
	}
	return ends
}

// compute runs the functions.
func (r *windowRows) compute() ([]*windowOut, error) {
	w := r.w
	outs := make([]*windowOut, len(w.p.Items))
	for i := range w.p.Items {
		it := &w.p.Items[i]
		if it.Frame.Unit == logical.FrameGroups && r.groups == nil {
			for k, e := range r.edges {
				if e&beginsPeers != 0 {
					r.groups = append(r.groups, int32(k))
				}
			}
		}
		var err error
		if outs[i], err = r.newOut(it); err != nil {
			return nil, err
		}
	}
	ends := r.tasks()
	// Functions that run together share the bounds of partitions and frames; with few tasks it is better that each is one.
	split := 1
	if len(ends) < w.q.cfg.Threads {
		split = len(outs)
	}
	err := w.q.parallel(len(ends)*split, r.n*len(outs), func(k int) error {
		task, part := k/split, k%split
		from := 0
		if task > 0 {
			from = ends[task-1]
		}
		mine := outs
		if split > 1 {
			mine = outs[part : part+1]
		}
		return r.run(from, ends[task], mine)
	})
	return outs, err
}

// run computes functions over the rows from .. to-1, which are whole partitions.
func (r *windowRows) run(from, to int, outs []*windowOut) error {
	b := newWindowBlock(r, from)
	var frames []*framer
	fns := make([]windowFunc, len(outs))
	frameOf := make([]*framer, len(outs))
	for i, o := range outs {
		var err error
		if fns[i], err = o.begin(); err != nil {
			return err
		}
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
	for b.next(to) {
		if err := r.w.q.check(); err != nil {
			return err
		}
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
	var kept []int32
	partition, peers := 0, 0
	for i := range r.n {
		if e := r.edges[i]; e != 0 {
			peers = i
			if e&beginsPartition != 0 {
				partition = i
			}
		}
		if int64(peers-partition) < most {
			kept = append(kept, int32(i))
		}
	}
	return kept
}

// assemble puts the kept columns and the functions' results together, in order.
func (r *windowRows) assemble(outs []*windowOut) error {
	w := r.w
	kept := r.top()
	n := r.n
	if kept != nil {
		n = len(kept)
	}
	bytes := int64(0)
	for _, c := range w.p.Cols {
		bytes += width(r.column(c))
	}
	for _, o := range outs {
		if o.rows != nil {
			bytes += width(o.from)
		} else if kept != nil {
			bytes += width(o.values)
		}
	}
	if err := w.q.mem.Reserve(w.sort.name, bytes*int64(n)); err != nil {
		return err
	}
	w.rel.n = n
	w.rel.segs = make([]*segment, (n+maxSegment-1)/maxSegment)
	return w.q.parallel(len(w.rel.segs), n*len(w.rel.ids), func(k int) error {
		from := k * maxSegment
		n := min(maxSegment, n-from)
		seg := &segment{n: n, cap: n}
		stored := r.order[from:min(from+n, r.n)]
		var part []int32
		if kept != nil {
			part = kept[from : from+n]
			stored = make([]int32, n)
			gatherAt(stored, r.order, nil, part)
		}
		for _, c := range w.p.Cols {
			v := &column.Vector{}
			(&packedColumn{v: r.column(c)}).gather(v, n, nil, stored)
			seg.cols = append(seg.cols, v)
		}
		for _, o := range outs {
			seg.cols = append(seg.cols, o.segment(from, n, part, stored))
		}
		w.rel.segs[k] = seg
		return nil
	})
}
