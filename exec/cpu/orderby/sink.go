// Package orderby is the sink of ORDER BY, with or without LIMIT: rows go in, and come out in order.
//
// New makes the sink. Workers store rows; of a top-N they drop those that come after the last that is kept so far, and for filters on ranks those
// whose rank is too high (ranks.go; best.go is what the workers know together). Finish sorts with package rowsort. Window functions (package
// window) store and sort their rows in the same way.
package orderby

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

var _ pipeline.Stored = (*Sink)(nil)

// Sink stores rows and orders them. Rows stay where they are. What is sorted is an index, by one word per row into which
// as many keys as fit are packed (integers and dictionary ranks by their range, else the leading bits). So most
// comparisons are of single words. Where a word has the whole keys nothing is compared: a radix sort. Ties follow the order of
// the input.
type Sink struct {
	q      *task.Query
	P      *physical.Sort
	types  []types.Type // of the stored columns: keys, then those of Cols that are no keys; last the position, if rows are tagged
	KeyAt  []int
	ColAt  []int
	top    int // rows to keep; -1: all
	ranks  rankFilter
	best   *best // of a filter on ranks; nil: it does not help
	tagged bool  // rows are stored with their positions in the input
	locals []*Local
	rel    rowstore.Relation
	Name   string // of the operator, for the budget

	reordered bool // stored rows are not in the order of the input
}

// compactStrings is how many bytes of strings a top-N keeps beside those of twice its rows.
const compactStrings = 4 << 20

// topLimit is the largest top-N that is kept in a bounded store.
const topLimit = 1 << 16

func New(q *task.Query, p *physical.Sort) *Sink {
	s := &Sink{q: q, P: p, top: -1, Name: "sort", locals: make([]*Local, q.Threads)}
	byID := map[expr.ColumnID]int{}
	for _, k := range p.Keys {
		if c, ok := k.Expr.(*expr.Column); ok {
			if _, twice := byID[c.ID]; !twice {
				byID[c.ID] = len(s.types)
			}
		}
		s.KeyAt = append(s.KeyAt, len(s.types))
		s.types = append(s.types, k.Expr.Type())
	}
	for _, c := range p.Cols {
		at, ok := byID[c.ID]
		if !ok {
			at = len(s.types)
			s.types = append(s.types, c.Typ)
		}
		s.ColAt = append(s.ColAt, at)
	}
	if p.Count >= 0 && p.Count < topLimit && p.Offset < topLimit {
		s.top = int(p.Count + p.Offset)
		s.tag()
	}
	return s
}

func (s *Sink) tag() {
	s.tagged = true
	s.types = append(s.types, types.Int64)
}

type Local struct {
	rowstore.Store
	s     *Sink
	w     *task.Worker
	keys  *expr.ProgramSet
	slots []int
	cols  []*column.Vector
	// Of a top-N.
	seq    int
	row    int64 // position in the morsel
	tag    column.Vector
	cutoff []column.Vector // keys of the last row that is kept, as constants; nil: none yet
	sel    []int32

	compacted int // how often the cutoff has changed
	ranked    rankedRows
}

func (s *Sink) Local(w *task.Worker, l *pipeline.Layout) (pipeline.LocalSink, error) {
	x := s.locals[w.ID]
	if x == nil {
		x = &Local{s: s, tag: column.Vector{Type: types.Int64}, ranked: rankedRows{limit: s.q.Tuning.RankedRows}}
		x.Types = s.types
		x.Mem = memory.Account{Budget: s.q.Memory, Operator: s.Name}
		s.locals[w.ID] = x
	}
	x.w = w
	x.cols = make([]*column.Vector, len(s.types))
	es := make([]expr.Expr, len(s.P.Keys))
	for i, k := range s.P.Keys {
		es[i] = k.Expr
	}
	var err error
	if x.keys, err = expr.CompileAll(es, l.Slots); err != nil {
		return nil, err
	}
	x.slots = x.slots[:0]
	for i, c := range s.P.Cols {
		if s.ColAt[i] >= len(s.P.Keys) {
			slot, err := l.Lookup(c)
			if err != nil {
				return nil, err
			}
			x.slots = append(x.slots, slot)
		}
	}
	return x, nil
}

func (x *Local) Begin(seq int) {
	x.seq, x.row = seq, 0
	if x.s.top < 0 && !x.ranked.dropped || len(x.Marks) == 0 {
		x.Store.Begin(seq)
	}
}

func (x *Local) End(int) error { return nil }

func (x *Local) Push(b *column.Batch) error {
	if x.s.top == 0 {
		return schedule.ErrStop
	}
	keys, err := x.keys.Eval(x.w.Expr, b)
	if err != nil {
		return err
	}
	copy(x.cols, keys)
	for i, slot := range x.slots {
		x.cols[len(keys)+i] = b.Cols[slot]
	}
	sel := b.Sel
	if x.s.tagged {
		x.tag.Reserve(b.N)
		if sel == nil {
			sel = vec.Ascending(b.N)
		}
		for i, p := range sel {
			x.tag.I64[p] = int64(x.seq)<<32 + x.row + int64(i)
		}
		x.row += int64(len(sel))
		x.cols[len(x.cols)-1] = &x.tag
		if sel = x.worthKeeping(x.belowCutoff(keys, sel)); len(sel) == 0 {
			return nil
		}
	}
	if err := x.Append(x.cols, sel, b.N); err != nil {
		return err
	}
	if x.s.top >= 0 && (x.N >= max(4*x.s.top, 4*column.VectorSize) || x.Strings.Bytes > compactStrings && x.N >= 2*x.s.top) {
		return x.compact()
	}
	if x.s.ranks.most > 0 && x.N >= x.ranked.limit {
		return x.dropRanks()
	}
	return nil
}

// belowCutoff drops the rows that come after the last one kept so far. Rows of equal keys stay: their position
// decides later.
func (x *Local) belowCutoff(keys []*column.Vector, sel []int32) []int32 {
	if x.cutoff == nil {
		return sel
	}
	out := x.sel[:0]
	first, c := keys[0], &x.cutoff[0]
	if k := x.s.P.Keys[0]; first.Valid == nil && !first.Const && first.Type.Phys() == types.PhysInt64 && c.Valid == nil {
		limit := c.I64[0]
		for _, p := range sel {
			if y := first.I64[p]; y < limit != k.Desc || y == limit {
				out = append(out, p)
			}
		}
		x.sel = out
		return out
	}
	for _, p := range sel {
		if x.compareKeys(keys, int(p)) <= 0 {
			out = append(out, p)
		}
	}
	x.sel = out
	return out
}

// TopKeys returns the keys of a top-N; nil: all rows are kept, or none.
func (x *Local) TopKeys() []logical.SortKey {
	if x.s.top <= 0 {
		return nil
	}
	return x.s.P.Keys
}

func (x *Local) LastKept() (key *column.Vector, version int) {
	if x.cutoff == nil {
		return nil, 0
	}
	return &x.cutoff[0], x.compacted
}

// compareKeys orders a row against the cutoff.
func (x *Local) compareKeys(keys []*column.Vector, p int) int {
	for i, k := range x.s.P.Keys {
		v, c := keys[i], &x.cutoff[i]
		at := p
		if v.Const {
			at = 0
		}
		vn, cn := v.IsNull(at), c.IsNull(0)
		r := 0
		switch {
		case vn && cn:
			continue
		case vn:
			r = -1
		case cn:
			r = 1
		default:
			r = vec.CompareValues(v, at, c, 0)
		}
		if r != 0 {
			if k.Desc {
				return -r
			}
			return r
		}
	}
	return 0
}

// compact keeps the first rows only.
func (x *Local) compact() error {
	n := x.N
	cols, _, err := rowstore.Concat(x.s.q, []*rowstore.Store{{Types: x.Types, Segs: x.Segs, N: n, Marks: []rowstore.Mark{{}}, Mem: memory.Account{Operator: x.s.Name}}}, x.Types)
	if err != nil {
		return err
	}
	order, err := x.s.order(cols, n, nil)
	if err != nil {
		return err
	}
	order = order[:min(len(order), x.s.top)]
	last := order[len(order)-1]
	x.compacted++
	x.cutoff = make([]column.Vector, len(x.s.P.Keys))
	for i, at := range x.s.KeyAt {
		vec.GatherVector(&x.cutoff[i], cols[at], []int32{last})
		x.cutoff[i].Const = true
	}
	if len(x.Segs) > 1 {
		size := int64(0)
		for _, v := range cols {
			size += int64(n) * v.Width()
		}
		defer x.s.q.Memory.Release(size)
	}
	rowstore.Loosen(cols, &x.Strings)
	x.Segs, x.N = nil, 0
	x.Mem.Close()
	return x.Append(cols, order, n)
}

func (s *Sink) Finish() error {
	for _, c := range s.P.Cols {
		s.rel.IDs = append(s.rel.IDs, c.ID)
	}
	cols, n, err := s.Stored()
	if err != nil {
		return err
	}
	order, err := s.order(cols, n, s.q)
	if err != nil {
		return err
	}
	from := int(min(s.P.Offset, int64(n)))
	to := n
	if s.P.Count >= 0 {
		to = int(min(int64(n-from), s.P.Count)) + from
	}
	s.rel.Order = order[from:to]
	if s.rel.Order == nil {
		s.rel.Order = []int32{}
	}
	s.rel.N = to - from
	for _, at := range s.ColAt {
		s.rel.Cols = append(s.rel.Cols, vec.Packed{V: cols[at]})
	}
	return nil
}

// Stored takes the workers' rows together.
func (s *Sink) Stored() ([]*column.Vector, int, error) {
	var stores []*rowstore.Store
	if s.best != nil {
		if err := s.dropLast(); err != nil {
			return nil, 0, err
		}
	}
	for _, x := range s.locals {
		if x != nil {
			stores = append(stores, &x.Store)
			s.reordered = s.reordered || x.ranked.dropped
		}
	}
	s.locals = nil
	return rowstore.Concat(s.q, stores, s.types)
}

func (s *Sink) Relation() *rowstore.Relation { return &s.rel }

// order returns the rows of cols in order. With a query, sorting uses its workers.
func (s *Sink) order(cols []*column.Vector, n int, q *task.Query) ([]int32, error) {
	sorted, err := s.Sorted(cols, n, q)
	if err != nil {
		return nil, err
	}
	defer s.q.Memory.Release(int64(12 * n))
	each := s.q.Blocks
	if q != nil {
		each = q.ParallelBlocks
	}
	return sorted.Order(each)
}

// Sorted returns the rows of cols in order. 16 bytes a row are reserved for it.
func (s *Sink) Sorted(cols []*column.Vector, n int, q *task.Query) (*rowsort.Sorted, error) {
	if err := s.q.Memory.Reserve(s.Name, int64(16*n)); err != nil {
		return nil, err
	}
	r := &rowsort.Sorter{Q: s.q, Name: s.Name, Parallel: q != nil && q.IsParallel(n)}
	for i, k := range s.P.Keys {
		key, err := rowsort.NewKey(s.q, cols[s.KeyAt[i]], k.Desc, n)
		if err != nil {
			return nil, err
		}
		r.Keys = append(r.Keys, key)
	}
	if s.top >= 0 || s.reordered {
		// The input's order is that of the positions, not of the rows.
		r.Keys = append(r.Keys, rowsort.Key{V: cols[len(cols)-1]})
	}
	return r.Sort(n)
}
