package cpu

import (
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// sortSink stores rows and orders them. Rows stay where they are: what is sorted is an index, by one word per row into which
// as many keys as fit are packed (integers and dictionary ranks by their range, else the leading bits), so that most
// comparisons are of single words and whole keys need no comparison at all: a radix sort. Ties follow the order of
// the input.
type sortSink struct {
	q      *query
	p      *physical.Sort
	types  []types.Type // of the stored columns: keys, then those of Cols that are no keys; last the position, for a top-N
	keyAt  []int
	colAt  []int
	top    int // rows to keep; -1: all
	locals []*sortLocal
	rel    relation
	name   string // of the operator, for the budget
}

// topLimit is the largest top-N that is kept in a bounded store.
const topLimit = 1 << 16

func (q *query) newSort(p *physical.Sort) *sortSink {
	s := &sortSink{q: q, p: p, top: -1, name: "sort", locals: make([]*sortLocal, q.cfg.Threads)}
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
		s.types = append(s.types, types.Int64)
	}
	return s
}

type sortLocal struct {
	rowStore
	s     *sortSink
	w     *worker
	keys  *expr.ProgramSet
	slots []int
	cols  []*column.Vector
	// Of a top-N.
	seq    int
	row    int64 // position in the morsel
	tag    column.Vector
	cutoff []column.Vector // keys of the last row that is kept, as constants; nil: none yet
	sel    []int32
}

func (s *sortSink) local(w *worker, l *layout) (localSink, error) {
	x := s.locals[w.id]
	if x == nil {
		x = &sortLocal{s: s, tag: column.Vector{Type: types.Int64}}
		x.types = s.types
		x.mem = memory.Account{Budget: s.q.mem, Operator: s.name}
		s.locals[w.id] = x
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
	if x.s.top < 0 || len(x.marks) == 0 {
		x.rowStore.begin(seq)
	}
}

func (x *sortLocal) end(int) error { return nil }

func (x *sortLocal) push(b *batch) error {
	if x.s.top == 0 {
		return errStop
	}
	keys, err := x.keys.Eval(x.w.expr, b)
	if err != nil {
		return err
	}
	copy(x.cols, keys)
	for i, slot := range x.slots {
		x.cols[len(keys)+i] = b.Cols[slot]
	}
	sel := b.Sel
	if x.s.top >= 0 {
		x.tag.Reserve(b.N)
		if sel == nil {
			sel = ascending(b.N)
		}
		for i, p := range sel {
			x.tag.I64[p] = int64(x.seq)<<32 + x.row + int64(i)
		}
		x.row += int64(len(sel))
		x.cols[len(x.cols)-1] = &x.tag
		if sel = x.belowCutoff(keys, sel); len(sel) == 0 {
			return nil
		}
	}
	if err := x.append(x.cols, sel, b.N); err != nil {
		return err
	}
	if x.s.top >= 0 && x.n >= max(4*x.s.top, 4*column.VectorSize) {
		return x.compact()
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
	cols, _, err := concat(x.s.q, []*rowStore{{types: x.types, segs: x.segs, n: n, marks: []mark{{0, 0}}}}, x.types)
	if err != nil {
		return err
	}
	order, err := x.s.order(cols, n, nil)
	if err != nil {
		return err
	}
	order = order[:min(len(order), x.s.top)]
	last := order[len(order)-1]
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
		defer x.s.q.mem.Release(size)
	}
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
		}
	}
	s.locals = nil
	return concat(s.q, stores, s.types)
}

func (s *sortSink) relation() *relation { return &s.rel }

// sortItem is a row to be sorted: its packed keys and its number.
type sortItem struct {
	key uint64
	row int32
}

// order returns the rows of cols in order. With a query, sorting uses its workers.
func (s *sortSink) order(cols []*column.Vector, n int, q *query) ([]int32, error) {
	items, _, err := s.sorted(cols, n, q)
	if err != nil {
		return nil, err
	}
	defer s.q.mem.Release(int64(28 * n))
	return rowsOf(items), nil
}

func rowsOf(items []sortItem) []int32 {
	order := make([]int32, len(items))
	for i := range items {
		order[i] = items[i].row
	}
	return order
}

// sorted returns the rows of cols in order, and how their keys are packed. 32 bytes a row are reserved for it.
func (s *sortSink) sorted(cols []*column.Vector, n int, q *query) ([]sortItem, packedWords, error) {
	items := make([]sortItem, n)
	if err := s.q.mem.Reserve(s.name, int64(32*n)); err != nil {
		return nil, packedWords{}, err
	}
	for i := range items {
		items[i].row = int32(i)
	}
	packed := s.packKeys(items, cols, n)
	width, exact := packed.width, packed.exact
	compare := s.comparator(cols)
	sortRun := func(run []sortItem) error {
		if len(run) < 128 {
			slices.SortStableFunc(run, func(a, b sortItem) int {
				if a.key != b.key {
					return compareOrdered(a.key, b.key)
				}
				if exact {
					return 0
				}
				return compare(a.row, b.row)
			})
			return nil
		}
		if err := radixSort(s.q, run, width); err != nil {
			return err
		}
		if exact {
			return nil
		}
		for i := 0; i < len(run); {
			j := i + 1
			for j < len(run) && run[j].key == run[i].key {
				j++
			}
			if j-i > 1 {
				if err := s.q.check(); err != nil {
					return err
				}
				slices.SortStableFunc(run[i:j], func(a, b sortItem) int { return compare(a.row, b.row) })
			}
			i = j
		}
		return nil
	}
	if s.top >= 0 {
		// The input's order is that of the positions, not of the rows.
		tags := cols[len(cols)-1].I64
		slices.SortFunc(items, func(a, b sortItem) int {
			if a.key != b.key {
				return compareOrdered(a.key, b.key)
			}
			if !exact {
				if c := compare(a.row, b.row); c != 0 {
					return c
				}
			}
			return compareOrdered(tags[a.row], tags[b.row])
		})
	} else if q == nil || q.cfg.Threads == 1 || n < inParallel {
		if err := sortRun(items); err != nil {
			return nil, packed, err
		}
	} else {
		runs := q.cfg.Threads
		size := (n + runs - 1) / runs
		err := q.parallel(runs, n, func(i int) error { return sortRun(items[min(i*size, n):min((i+1)*size, n)]) })
		if err != nil {
			return nil, packed, err
		}
		less := func(a, b *sortItem) bool {
			if a.key != b.key {
				return a.key < b.key
			}
			return !exact && compare(a.row, b.row) < 0
		}
		if items, err = mergeRuns(q, items, size, less); err != nil {
			return nil, packed, err
		}
	}
	return items, packed, nil
}

// mergeRuns merges sorted runs of the given size, two by two; of equal rows the earlier run's come first.
func mergeRuns(q *query, items []sortItem, size int, less func(a, b *sortItem) bool) ([]sortItem, error) {
	n := len(items)
	out := make([]sortItem, n)
	for ; size < n; size *= 2 {
		pairs := (n + 2*size - 1) / (2 * size)
		err := q.parallel(pairs, n, func(i int) error {
			lo, mid, hi := 2*i*size, min((2*i+1)*size, n), min((2*i+2)*size, n)
			a, b := lo, mid
			for k := lo; k < hi; k++ {
				if a < mid && (b == hi || !less(&items[b], &items[a])) {
					out[k] = items[a]
					a++
				} else {
					out[k] = items[b]
					b++
				}
				if k&0xffff == 0 {
					if err := q.check(); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		items, out = out, items
	}
	return items, nil
}

// radixSort orders items by the low width bits of their keys, stably, a byte at a time from the lowest (LSD).
func radixSort(q *query, items []sortItem, width int) error {
	tmp := make([]sortItem, len(items))
	from, to := items, tmp
	for shift := uint(0); shift < uint(width); shift += 8 {
		if err := q.check(); err != nil {
			return err
		}
		var count [256]int
		for i := range from {
			count[from[i].key>>shift&255]++
		}
		if count[from[0].key>>shift&255] == len(from) {
			continue
		}
		sum := 0
		for d := range count {
			c := count[d]
			count[d] = sum
			sum += c
		}
		for i := range from {
			d := from[i].key >> shift & 255
			to[count[d]] = from[i]
			count[d]++
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
	return nil
}

// packedWords says what the words of sorted rows hold.
type packedWords struct {
	width int   // bits in use
	exact bool  // equal words mean equal keys
	ends  []int // of the leading keys that are packed whole: the bits in use up to each
}

// packKeys packs leading keys into items' words, the first into the highest bits.
func (s *sortSink) packKeys(items []sortItem, cols []*column.Vector, n int) (p packedWords) {
	left := 64
	for i, k := range s.p.Keys {
		code, bits, whole := sortCodes(cols[s.keyAt[i]], n, left)
		if bits > left || code == nil {
			p.width = 64 - left
			return p
		}
		if bits > 0 {
			mask := uint64(math.MaxUint64) >> (64 - uint(bits))
			for j := range items {
				c := code(j)
				if k.Desc {
					c = ^c & mask
				}
				items[j].key = items[j].key<<uint(bits) | c // a shift by 64 gives 0
			}
		}
		left -= bits
		p.width = 64 - left
		if !whole {
			return p
		}
		p.ends = append(p.ends, p.width)
	}
	p.exact = true
	return p
}

// sortCodes returns a function that gives each row's code of so many bits, whose order is that of the values, NULLs
// first, and says whether equal codes mean equal values. The code is nil if left bits do not do.
func sortCodes(v *column.Vector, n, left int) (code func(i int) uint64, width int, whole bool) {
	null := uint64(0)
	if v.Valid != nil {
		null = 1
	}
	valid := func(i int) bool { return v.Valid == nil || v.Valid.Get(i) }
	switch v.Type.Phys() {
	case types.PhysInt64:
		lo, hi, any := intRange(v, n)
		if !any {
			return func(int) uint64 { return 0 }, 0, true
		}
		span := uint64(hi) - uint64(lo)
		if span+null < span {
			return nil, 0, false
		}
		width = bits.Len64(span + null)
		return func(i int) uint64 {
			if !valid(i) {
				return 0
			}
			return uint64(v.I64[i]) - uint64(lo) + null
		}, width, true
	case types.PhysString:
		if v.Dict != nil && v.Dict.Len() <= 4*n+1024 {
			values := v.Dict.Values()
			order := countFrom(nil, 0, len(values))
			slices.SortFunc(order, func(a, b int32) int { return compareOrdered(values[a], values[b]) })
			rank := make([]uint64, len(values))
			for r, c := range order {
				rank[c] = uint64(r) + null
			}
			return func(i int) uint64 {
				if !valid(i) {
					return 0
				}
				return rank[v.Codes[i]]
			}, bits.Len64(uint64(len(values)) + null), true
		}
		size := (left - int(null)) / 8
		if size < 2 {
			return nil, 0, false
		}
		width = 8*size + int(null)
		return func(i int) uint64 {
			if !valid(i) {
				return 0
			}
			return stringPrefix(v.StringAt(i), size) | null<<uint(8*size)
		}, width, false
	case types.PhysFloat64, types.PhysUint64:
		if left < 64 {
			return nil, 0, false
		}
		return func(i int) uint64 {
			if !valid(i) {
				return 0
			}
			var x uint64
			if v.Type.Phys() == types.PhysFloat64 {
				x = math.Float64bits(v.F64[i])
				if v.F64[i] == 0 {
					x = 0
				}
				if x>>63 != 0 {
					x = ^x
				} else {
					x |= 1 << 63
				}
			} else {
				x = uint64(v.I64[i])
			}
			return x>>null | null<<63
		}, 64, null == 0
	}
	if left < 64 {
		return nil, 0, false
	}
	return func(i int) uint64 {
		if !valid(i) {
			return 0
		}
		return (uint64(v.I128[i].Hi)^1<<63)>>null | null<<63
	}, 64, false
}

// stringPrefix returns the first size bytes as a big-endian number, zeros after the string's end.
func stringPrefix(s string, size int) uint64 {
	x := uint64(0)
	for i := range size {
		x <<= 8
		if i < len(s) {
			x |= uint64(s[i])
		}
	}
	return x
}

// comparator orders rows by all keys.
func (s *sortSink) comparator(cols []*column.Vector) func(x, y int32) int {
	return func(x, y int32) int {
		for i, k := range s.p.Keys {
			c := compareNullsFirst(cols[s.keyAt[i]], int(x), int(y))
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
}
