package cpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// sortSink stores rows and orders them. Rows stay where they are: what is sorted is an index, by one word per row into which
// as many keys as fit are packed (integers and dictionary ranks by their range, else the leading bits), so that most
// comparisons are of single words and whole keys need no comparison at all: a radix sort. Ties follow the order of
// the input.
type sortSink struct {
	q      *Query
	p      *physical.Sort
	types  []types.Type // of the stored columns: keys, then those of Cols that are no keys; last the position, if rows are tagged
	keyAt  []int
	colAt  []int
	top    int // rows to keep; -1: all
	ranks  rankFilter
	tagged bool // rows are stored with their positions in the input
	locals []*sortLocal
	rel    relation
	name   string // of the operator, for the budget

	reordered bool // stored rows are not in the order of the input
}

// compactTexts is how many bytes of texts a top-N keeps beside those of twice its rows.
const compactTexts = 4 << 20

// topLimit is the largest top-N that is kept in a bounded store.
const topLimit = 1 << 16

func newSort(q *Query, p *physical.Sort) *sortSink {
	s := &sortSink{q: q, p: p, top: -1, name: "sort", locals: make([]*sortLocal, q.Threads)}
	byID := map[expr.ColumnID]int{}
	for _, k := range p.Keys {
		if c, ok := k.Expr.(*expr.Column); ok {
			if _, twice := byID[c.ID]; !twice {
				byID[c.ID] = len(s.types)
			}
		}
		s.keyAt = append(s.keyAt, len(s.types))
		s.types = append(s.types, k.Expr.Type())
	}
	for _, c := range p.Cols {
		at, ok := byID[c.ID]
		if !ok {
			at = len(s.types)
			s.types = append(s.types, c.Typ)
		}
		s.colAt = append(s.colAt, at)
	}
	if p.Count >= 0 && p.Count < topLimit && p.Offset < topLimit {
		s.top = int(p.Count + p.Offset)
		s.tag()
	}
	return s
}

func (s *sortSink) tag() {
	s.tagged = true
	s.types = append(s.types, types.Int64)
}

type sortLocal struct {
	rowStore
	s     *sortSink
	w     *Worker
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

func (s *sortSink) local(w *Worker, l *layout) (localSink, error) {
	x := s.locals[w.ID]
	if x == nil {
		x = &sortLocal{s: s, tag: column.Vector{Type: types.Int64}, ranked: rankedRows{limit: s.q.Tuning.RankedRows}}
		x.types = s.types
		x.mem = memory.Account{Budget: s.q.Memory, Operator: s.name}
		s.locals[w.ID] = x
	}
	x.w = w
	x.cols = make([]*column.Vector, len(s.types))
	es := make([]expr.Expr, len(s.p.Keys))
	for i, k := range s.p.Keys {
		es[i] = k.Expr
	}
	var err error
	if x.keys, err = expr.CompileAll(es, l.slots); err != nil {
		return nil, err
	}
	x.slots = x.slots[:0]
	for i, c := range s.p.Cols {
		if s.colAt[i] >= len(s.p.Keys) {
			slot, err := l.lookup(c)
			if err != nil {
				return nil, err
			}
			x.slots = append(x.slots, slot)
		}
	}
	return x, nil
}

func (x *sortLocal) begin(seq int) {
	x.seq, x.row = seq, 0
	if x.s.top < 0 && !x.ranked.dropped || len(x.marks) == 0 {
		x.rowStore.begin(seq)
	}
}

func (x *sortLocal) end(int) error { return nil }

func (x *sortLocal) push(b *batch) error {
	if x.s.top == 0 {
		return ErrStop
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
			sel = ascending(b.N)
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
	if err := x.append(x.cols, sel, b.N); err != nil {
		return err
	}
	if x.s.top >= 0 && (x.n >= max(4*x.s.top, 4*column.VectorSize) || x.texts.bytes > compactTexts && x.n >= 2*x.s.top) {
		return x.compact()
	}
	if x.s.ranks.most > 0 && x.n >= x.ranked.limit {
		return x.dropRanks()
	}
	return nil
}

// belowCutoff drops the rows that come after the last one kept so far. Rows of equal keys stay: their position
// decides later.
func (x *sortLocal) belowCutoff(keys []*column.Vector, sel []int32) []int32 {
	if x.cutoff == nil {
		return sel
	}
	out := x.sel[:0]
	first, c := keys[0], &x.cutoff[0]
	if k := x.s.p.Keys[0]; first.Valid == nil && !first.Const && first.Type.Phys() == types.PhysInt64 && c.Valid == nil {
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

// topKeys returns the keys of a top-N; nil: all rows are kept, or none.
func (x *sortLocal) topKeys() []logical.SortKey {
	if x.s.top <= 0 {
		return nil
	}
	return x.s.p.Keys
}

func (x *sortLocal) lastKept() (key *column.Vector, version int) {
	if x.cutoff == nil {
		return nil, 0
	}
	return &x.cutoff[0], x.compacted
}

// compareKeys orders a row against the cutoff.
func (x *sortLocal) compareKeys(keys []*column.Vector, p int) int {
	for i, k := range x.s.p.Keys {
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
			r = compareValues(v, at, c, 0)
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
func (x *sortLocal) compact() error {
	n := x.n
	cols, _, err := concat(x.s.q, []*rowStore{{types: x.types, segs: x.segs, n: n, marks: []mark{{0, 0}}, mem: memory.Account{Operator: x.s.name}}}, x.types)
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
	x.cutoff = make([]column.Vector, len(x.s.p.Keys))
	for i, at := range x.s.keyAt {
		gatherVector(&x.cutoff[i], cols[at], []int32{last})
		x.cutoff[i].Const = true
	}
	if len(x.segs) > 1 {
		size := int64(0)
		for _, v := range cols {
			size += int64(n) * width(v)
		}
		defer x.s.q.Memory.Release(size)
	}
	loosen(cols, &x.texts)
	x.segs, x.n = nil, 0
	x.mem.Close()
	return x.append(cols, order, n)
}

func (s *sortSink) finish() error {
	for _, c := range s.p.Cols {
		s.rel.ids = append(s.rel.ids, c.ID)
	}
	cols, n, err := s.stored()
	if err != nil {
		return err
	}
	order, err := s.order(cols, n, s.q)
	if err != nil {
		return err
	}
	from := int(min(s.p.Offset, int64(n)))
	to := n
	if s.p.Count >= 0 {
		to = int(min(int64(n-from), s.p.Count)) + from
	}
	s.rel.order = order[from:to]
	if s.rel.order == nil {
		s.rel.order = []int32{}
	}
	s.rel.n = to - from
	for _, at := range s.colAt {
		s.rel.cols = append(s.rel.cols, packedColumn{v: cols[at]})
	}
	return nil
}

// stored takes the workers' rows together.
func (s *sortSink) stored() ([]*column.Vector, int, error) {
	var stores []*rowStore
	for _, x := range s.locals {
		if x != nil {
			stores = append(stores, &x.rowStore)
			s.reordered = s.reordered || x.ranked.dropped
		}
	}
	s.locals = nil
	return concat(s.q, stores, s.types)
}

func (s *sortSink) relation() *relation { return &s.rel }

// order returns the rows of cols in order. With a query, sorting uses its workers.
func (s *sortSink) order(cols []*column.Vector, n int, q *Query) ([]int32, error) {
	sorted, err := s.sorted(cols, n, q)
	if err != nil {
		return nil, err
	}
	defer s.q.Memory.Release(int64(12 * n))
	each := s.q.Blocks
	if q != nil {
		each = q.ParallelBlocks
	}
	return sorted.order(each)
}

// sorted returns the rows of cols in order. 16 bytes a row are reserved for it.
func (s *sortSink) sorted(cols []*column.Vector, n int, q *Query) (*sortedRows, error) {
	if err := s.q.Memory.Reserve(s.name, int64(16*n)); err != nil {
		return nil, err
	}
	r := &rowSorter{q: s.q, name: s.name, parallel: q != nil && q.IsParallel(n)}
	for i, k := range s.p.Keys {
		key, err := newSortKey(s.q, cols[s.keyAt[i]], k.Desc, n)
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, key)
	}
	if s.top >= 0 || s.reordered {
		// The input's order is that of the positions, not of the rows.
		r.keys = append(r.keys, sortKey{v: cols[len(cols)-1]})
	}
	return r.sort(n)
}
