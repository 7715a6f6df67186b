package join

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// band finds the rows of a run that meet one or two inequalities, as of a.x BETWEEN b.lo AND b.hi, without testing each row. The rows
// ascend by the first inequality's word, so those that meet it are the run's beginning. Those of them that meet the second are found by a
// tree of the greatest words of 16 rows, of 256 rows, and so on, in O(log n) steps each. A run is the rows of one key, or all rows without an equality.
type band struct {
	conds  []bandCondition
	n      int       // keyless: rows that have a key
	first  []int64   // words by index in the runs, as the bits of unsigned ones
	second []int64   // of the second condition
	most   [][]int64 // the greatest of each 16 of second, of each 16 of those, ...
	exact  bool      // the residual says no more
}

// bandCondition is `probe op column`. The first condition's words are such that it is met up to a limit, the second's such that it is
// met from one on.
type bandCondition struct {
	op    expr.Op
	probe expr.Expr
	col   *column.Vector
	ranks *bandRanks // nil: values have words of their own
}

const (
	bandFan  = 16
	bandBits = 4
	bandRun  = 16 // so many rows a key have to have on average to be sorted
)

// flips says whether words are complements, so that the i-th condition of an operator has the bound on its side.
func (c *bandCondition) flips(i int) bool {
	above := c.op == expr.LT || c.op == expr.LE // the column is above what probes it
	return above == (i == 0)
}

// bound returns the limit for a word of the probe side; none says that no row meets the condition.
func (c *bandCondition) bound(word uint64, i int) (limit uint64, none bool) {
	if c.flips(i) {
		word = ^word
	}
	strict := c.op == expr.LT || c.op == expr.GT
	switch {
	case !strict:
		return word, false
	case i == 0:
		return word - 1, word == 0
	}
	return word + 1, word == math.MaxUint64
}

// onlyProbe returns the one probe of b, or nil if there are several or its kind asks for more than matches.
func (b *Build) onlyProbe() *physical.Probe {
	var only *physical.Probe
	if len(b.probes) == 1 {
		only = b.probes[0]
	}
	if only == nil || only.Kind == logical.MarkJoin || only.Kind == logical.SingleJoin {
		return nil
	}
	return only
}

// bandConditions returns a band with the inequalities of p's residual that compare columns of the two sides, at most two; nil if there are
// none.
func (b *Build) bandConditions(p *physical.Probe) *band {
	x := &band{exact: true}
	if b.keyless {
		x.conds = append(x.conds, bandCondition{op: b.p.RangeOp, probe: p.Keys[0], col: b.keys[0]})
	}
	payload := map[expr.ColumnID]int{}
	for i, c := range b.p.Payload {
		payload[c.ID] = i
	}
	for _, e := range p.Residual {
		cmp, ok := e.(*expr.Compare)
		if !ok || cmp.Op < expr.LT || cmp.Op > expr.GE {
			x.exact = false
			continue
		}
		if b.keyless && (cmp.Op == b.p.RangeOp && expr.Equal(cmp.Left, p.Keys[0]) && expr.Equal(cmp.Right, b.p.Keys[0]) ||
			cmp.Op.Swap() == b.p.RangeOp && expr.Equal(cmp.Right, p.Keys[0]) && expr.Equal(cmp.Left, b.p.Keys[0])) {
			continue
		}
		left, ok := cmp.Left.(*expr.Column)
		right, ok2 := cmp.Right.(*expr.Column)
		op := cmp.Op
		if ok && ok2 {
			if _, of := payload[left.ID]; of {
				left, right, op = right, left, op.Swap()
			}
		}
		if !ok || !ok2 || len(x.conds) == 2 || left.Typ.Phys() != right.Typ.Phys() ||
			left.Typ.Kind == types.KindDecimal && left.Typ.Scale != right.Typ.Scale {
			x.exact = false
			continue
		}
		at, of := payload[right.ID]
		if _, both := payload[left.ID]; !of || both {
			x.exact = false
			continue
		}
		v := b.payloadColumn(at)
		if v == nil {
			return nil // the query has ended
		}
		x.conds = append(x.conds, bandCondition{op: op, probe: left, col: v})
	}
	if len(x.conds) == 0 {
		return nil
	}
	for _, c := range x.conds {
		x.exact = x.exact && c.col.Valid == nil
	}
	return x
}

// payloadColumn returns a payload column as it was before it was packed, or nil if the query has ended.
func (b *Build) payloadColumn(at int) *column.Vector {
	c := &b.payload[at]
	if isRanked(c.V.Type) {
		v := &column.Vector{}
		c.Gather(v, b.N, nil, vec.CountFrom(nil, 0, b.N))
		return v
	}
	v := column.New(c.V.Type, b.N)
	if err := b.q.ParallelBlocks(b.N, func(from, to int) { c.CopyTo(v, from, to) }); err != nil {
		return nil
	}
	v.Valid = c.V.Valid
	return v
}

// makeBand sorts the rows of each run if that spares comparing pairs, and says whether it has. The runs are there.
func (b *Build) makeBand() (made bool, err error) {
	p := b.onlyProbe()
	if p == nil || b.direct || b.N == 0 {
		return false, nil
	}
	n := b.N
	if b.keyless {
		n -= len(b.keyNulls.rows)
	} else if n = int(b.runs.starts[len(b.runs.starts)-1]); n < bandRun*(len(b.runs.starts)-1) || len(p.Residual) == 0 {
		return false, nil
	}
	x := b.bandConditions(p)
	if x == nil {
		return false, b.q.Check()
	}
	if err := b.q.Memory.Reserve("join build", int64(8*b.N*(len(x.conds)+1))); err != nil {
		return false, err
	}
	words := make([]*column.Vector, len(x.conds))
	for i := range x.conds {
		if words[i], err = x.words(b.q, i, b.N); err != nil {
			return false, err
		}
	}
	order, err := b.bandOrder(words[0], n)
	if err != nil {
		return false, err
	}
	for i := range b.payload {
		if err := b.payload[i].Permute(b.q, order); err != nil {
			return false, err
		}
	}
	if b.keyless {
		b.keyNulls.rows = vec.CountFrom(nil, n, len(b.keyNulls.rows))
		b.keys = nil
	}
	x.n = n
	sorted := make([][]int64, len(words))
	for i, w := range words {
		sorted[i] = make([]int64, b.N)
		err := b.q.ParallelBlocks(b.N, func(from, to int) { vec.GatherAt(sorted[i][from:to], w.I64, nil, order[from:to]) })
		if err != nil {
			return false, err
		}
		x.conds[i].col = nil
	}
	if x.first = sorted[0]; len(sorted) > 1 {
		x.second = sorted[1]
		if err := x.makeTree(b.q); err != nil {
			return false, err
		}
	}
	b.band = x
	return true, b.q.Check()
}

// words returns the i-th condition's words by row.
func (x *band) words(q *task.Query, i, n int) (*column.Vector, error) {
	c := &x.conds[i]
	out := &column.Vector{Type: types.Uint64}
	flip := uint64(0)
	if c.flips(i) {
		flip = math.MaxUint64
	}
	if isRanked(c.col.Type) {
		var err error
		if c.ranks, out.I64, err = newBandRanks(q, c.col, n); err != nil {
			return nil, err
		}
		return out, q.ParallelBlocks(n, func(from, to int) {
			for j := from; j < to; j++ {
				out.I64[j] ^= int64(flip)
			}
		})
	}
	out.I64 = make([]int64, n)
	code := rowsort.Code{Key: &rowsort.Key{V: c.col}}
	err := q.ParallelBlocks(n, func(from, to int) {
		buf := make([]uint64, to-from)
		code.Words(buf, rowsort.Rows{From: from})
		for j, w := range buf {
			out.I64[from+j] = int64(w ^ flip)
		}
	})
	return out, err
}

// bandOrder returns the rows in the order of their runs, n rows in all, and within runs of first; rows of no run go last.
func (b *Build) bandOrder(first *column.Vector, n int) ([]int32, error) {
	if err := b.q.Memory.Reserve("join build", int64(24*b.N)); err != nil {
		return nil, err
	}
	defer b.q.Memory.Release(int64(24 * b.N))
	s := &rowsort.Sorter{Q: b.q, Name: "join build", Parallel: b.q.IsParallel(n)}
	if b.keyless {
		rows := b.keyedRows()
		if len(b.keyNulls.rows) > 0 {
			own := &column.Vector{Type: types.Uint64, I64: make([]int64, n)}
			vec.GatherAt(own.I64, first.I64, nil, rows)
			first = own
		}
		s.Keys = []rowsort.Key{{V: first}}
		sorted, err := s.Sort(n)
		if err != nil {
			return nil, err
		}
		order, err := sorted.Order(b.q.ParallelBlocks)
		if err != nil {
			return nil, err
		}
		for i, r := range order {
			order[i] = rows[r]
		}
		return append(order, b.keyNulls.rows...), nil
	}
	groups := &column.Vector{Type: types.Int64, I64: make([]int64, n)}
	for g := range len(b.runs.starts) - 1 {
		for r := b.runs.starts[g]; r < b.runs.starts[g+1]; r++ {
			groups.I64[r] = int64(g)
		}
	}
	s.Keys = []rowsort.Key{{V: groups}, {V: first}}
	sorted, err := s.Sort(n)
	if err != nil {
		return nil, err
	}
	order, err := sorted.Order(b.q.ParallelBlocks)
	return append(order, vec.CountFrom(nil, n, b.N-n)...), err
}

// makeTree fills most.
func (x *band) makeTree(q *task.Query) error {
	for below := x.second; len(below) > bandFan; {
		level := make([]int64, (len(below)+bandFan-1)/bandFan)
		err := q.ParallelBlocks(len(level), func(from, to int) {
			for i := from; i < to; i++ {
				most := uint64(0)
				for _, w := range below[i*bandFan : min((i+1)*bandFan, len(below))] {
					most = max(most, uint64(w))
				}
				level[i] = int64(most)
			}
		})
		if err != nil {
			return err
		}
		x.most = append(x.most, level)
		below = level
	}
	return nil
}

// end returns the index behind those of lo .. hi-1 that meet the first condition.
func (x *band) end(lo, hi int32, limit uint64) int32 {
	for lo < hi {
		mid := int32(uint32(lo+hi) >> 1)
		if uint64(x.first[mid]) <= limit {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// next returns the first index of lo .. hi-1 whose second word is at least least, or hi.
func (x *band) next(lo, hi int32, least uint64) int32 {
	for lo < hi {
		skip := int32(0)
		for l, level := range x.most {
			shift := bandBits * uint(l+1)
			if lo&(1<<shift-1) != 0 || uint64(level[lo>>shift]) >= least {
				break
			}
			skip = 1 << shift
		}
		switch {
		case skip > 0:
			lo += min(skip, hi-lo)
		case uint64(x.second[lo]) >= least:
			return lo
		default:
			lo++
		}
	}
	return hi
}

// probeBand finds the matches of b's rows by the build's band.
func (o *probeOp) probeBand(b *column.Batch, keys []*column.Vector) error {
	x := o.b.band
	in, err := o.band.keys.Eval(o.w.Expr, b)
	if err != nil {
		return err
	}
	var pos, groups []int32
	if o.b.keyless {
		if pos = b.Sel; pos == nil {
			pos = vec.Ascending(b.N)
		}
	} else {
		pos, groups = o.b.table.find(&o.finder, keys, b.Sel, b.N)
	}
	for i, v := range in {
		if v = o.finder.flat.Flatten(len(keys)+i, v, pos, b.N); len(o.band.bounds[i]) < len(pos) {
			o.band.bounds[i] = make([]uint64, max(len(pos), b.N))
		}
		in[i] = v
		if ranks := x.conds[i].ranks; ranks != nil {
			ranks.words(o.band.bounds[i], v, pos)
			continue
		}
		(&rowsort.Code{Key: &rowsort.Key{V: v}}).Words(o.band.bounds[i][:len(pos)], rowsort.Rows{Rows: pos})
	}
	if o.band.decides {
		hits := o.pairs.sel[1][:0]
		for i, p := range pos {
			lo, hi, least := o.bandRange(in, groups, i, p)
			if lo < hi && x.second != nil {
				lo = x.next(lo, hi, least)
			}
			if lo < hi {
				hits = append(hits, p)
			}
		}
		o.pairs.sel[1] = hits
		return o.decide(b, keys, hits)
	}
	if err := o.beginPairs(b, pos); err != nil {
		return err
	}
	o.pairs.lo, o.pairs.hi, o.band.least = o.pairs.lo[:0], o.pairs.hi[:0], o.band.least[:0]
	for i, p := range pos {
		lo, hi, least := o.bandRange(in, groups, i, p)
		o.pairs.lo, o.pairs.hi, o.band.least = append(o.pairs.lo, lo), append(o.pairs.hi, hi), append(o.band.least, least)
	}
	err = o.eachRow(b, pos, func(i int, p, most int32) (more bool, err error) { return o.addBand(b, i, p, most) })
	if err != nil {
		return err
	}
	return o.endPairs(b, keys)
}

// addBand collects up to most candidates of the i-th row, which is at p, and says whether there may be more.
func (o *probeOp) addBand(b *column.Batch, i int, p, most int32) (more bool, err error) {
	x, lo, hi := o.b.band, o.pairs.lo[i], o.pairs.hi[i]
	for lo < hi && most > 0 {
		from, to := lo, lo+min(hi-lo, most)
		if x.second != nil {
			least := o.band.least[i]
			if from = x.next(lo, hi, least); from == hi {
				lo = hi
				break
			}
			end := from + min(hi-from, most)
			for to = from + 1; to < end && uint64(x.second[to]) >= least; to++ {
			}
		}
		done, err := o.addRun(b, p, from, to)
		if err != nil || done {
			return false, err
		}
		lo, most = to, most-(to-from)
	}
	o.pairs.lo[i] = lo
	return lo < hi, nil
}

// bandRange returns the indices in the runs that meet the first condition for the row at pos[i] = p, and the least word of the second.
func (o *probeOp) bandRange(in []*column.Vector, groups []int32, i int, p int32) (lo, hi int32, least uint64) {
	x := o.b.band
	if in[0].IsNull(int(p)) || len(in) > 1 && in[1].IsNull(int(p)) {
		return 0, 0, 0
	}
	limit, none := x.conds[0].bound(o.band.bounds[0][i], 0)
	if len(in) > 1 {
		var never bool
		least, never = x.conds[1].bound(o.band.bounds[1][i], 1)
		none = none || never
	}
	if none {
		return 0, 0, 0
	}
	if hi = int32(x.n); groups != nil {
		lo, hi = o.b.run(groups[i])
	}
	return lo, x.end(lo, hi, limit), least
}
